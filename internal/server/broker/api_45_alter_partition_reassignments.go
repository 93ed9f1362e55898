package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveAlterPartitionReassignments leaves all of it to the controller.
func (b *Broker) serveAlterPartitionReassignments(r *wire.Request) {
	b.forward(r, kmsg.NewPtrAlterPartitionAssignmentsRequest())
}
