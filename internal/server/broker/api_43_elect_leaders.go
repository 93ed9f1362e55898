package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveElectLeaders has the controller elect leaders: the first replicas, or any that live.
func (b *Broker) serveElectLeaders(r *wire.Request) {
	b.forward(r, kmsg.NewPtrElectLeadersRequest())
}
