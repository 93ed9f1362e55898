package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveDescribeQuorum has the leader of the metadata quorum tell of it.
func (b *Broker) serveDescribeQuorum(r *wire.Request) {
	b.forward(r, kmsg.NewPtrDescribeQuorumRequest())
}
