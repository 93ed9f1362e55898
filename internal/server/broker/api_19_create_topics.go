package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveCreateTopics leaves all of it to the controller: it answers once the topics' records are committed
// and, on this node, visible, or when the request's time is up.
func (b *Broker) serveCreateTopics(r *wire.Request) { b.forward(r, kmsg.NewPtrCreateTopicsRequest()) }
