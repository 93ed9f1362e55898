package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveUnregisterController leaves all of it to the controller.
func (b *Broker) serveUnregisterController(r *wire.Request) {
	b.forward(r, kmsg.NewPtrUnregisterControllerRequest())
}
