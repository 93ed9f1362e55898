package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveDeleteTopics leaves all of it to the controller.
func (b *Broker) serveDeleteTopics(r *wire.Request) { b.forward(r, kmsg.NewPtrDeleteTopicsRequest()) }
