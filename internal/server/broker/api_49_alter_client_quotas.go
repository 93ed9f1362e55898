package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveAlterClientQuotas has the controller change quotas.
func (b *Broker) serveAlterClientQuotas(r *wire.Request) {
	b.forward(r, kmsg.NewPtrAlterClientQuotasRequest())
}
