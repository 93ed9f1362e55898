package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveUpdateFeatures leaves all of it to the controller.
func (b *Broker) serveUpdateFeatures(r *wire.Request) {
	b.forward(r, kmsg.NewPtrUpdateFeaturesRequest())
}
