package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveListPartitionReassignments leaves all of it to the controller.
func (b *Broker) serveListPartitionReassignments(r *wire.Request) {
	b.forward(r, kmsg.NewPtrListPartitionReassignmentsRequest())
}
