package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveUnregisterBroker leaves all of it to the controller.
func (b *Broker) serveUnregisterBroker(r *wire.Request) {
	b.forward(r, kmsg.NewPtrUnregisterBrokerRequest())
}
