package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveCreatePartitions leaves all of it to the controller.
func (b *Broker) serveCreatePartitions(r *wire.Request) {
	b.forward(r, kmsg.NewPtrCreatePartitionsRequest())
}
