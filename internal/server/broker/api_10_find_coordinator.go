package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/wire"
)

// The kinds of coordinators, as FindCoordinator numbers them. 2 is share groups, which come later.
const (
	groupCoordinator = 0
	txnCoordinator   = 1
)

// coordinatorTopic is where coordinators of a kind keep their state, "" if there are none here.
func (b *Broker) coordinatorTopic(kind int8) string {
	switch {
	case kind == groupCoordinator && b.cfg.Groups != nil:
		return offsetsTopic
	case kind == txnCoordinator && b.cfg.Transactions != nil:
		return transactionsTopic
	}
	return ""
}

func (b *Broker) serveFindCoordinator(r *wire.Request) {
	req := kmsg.NewPtrFindCoordinatorRequest()
	if !r.Decode(req) {
		return
	}
	keys := req.CoordinatorKeys
	if req.Version < 4 {
		keys = []string{req.CoordinatorKey}
	}
	answer := func() { r.Reply(b.coordinators(r, req, keys)) }
	if t := b.coordinatorTopic(req.CoordinatorType); t != "" && len(keys) > 0 && b.Image().Topic(t) == nil {
		// Made on demand. Kafka answers COORDINATOR_NOT_AVAILABLE meanwhile and clients back off; a moment's wait
		// is less.
		b.autoCreate([]string{t}, originOf(r), answer)
		return
	}
	answer()
}

func (b *Broker) coordinators(
	r *wire.Request, req *kmsg.FindCoordinatorRequest, keys []string,
) *kmsg.FindCoordinatorResponse {
	img := b.Image()
	nodes := b.nodes(img, r, false)
	resp := kmsg.NewPtrFindCoordinatorResponse()
	for _, k := range keys {
		c := kmsg.NewFindCoordinatorResponseCoordinator()
		c.Key, c.NodeID, c.Port = k, -1, -1
		code, message := findCoordinator(img, nodes, b.coordinatorTopic(req.CoordinatorType), &c)
		if code == kerr.None && req.Version < 4 {
			message = "NONE" // as Kafka's; since v4 it is empty
		}
		c.ErrorCode, c.ErrorMessage = int16(code), &message
		if req.Version < 4 {
			resp.ErrorCode, resp.ErrorMessage = c.ErrorCode, c.ErrorMessage
			resp.NodeID, resp.Host, resp.Port = c.NodeID, c.Host, c.Port
			return resp
		}
		resp.Coordinators = append(resp.Coordinators, c)
	}
	return resp
}

func findCoordinator(
	img *meta.Image, nodes []node, topic string, c *kmsg.FindCoordinatorResponseCoordinator,
) (kerr.Code, string) {
	if topic == "" {
		return kerr.InvalidRequest, "This node has no coordinators of this kind."
	}
	t := img.Topic(topic)
	if t == nil || len(t.Partitions) == 0 {
		return kerr.CoordinatorNotAvailable, "The coordinator is not available."
	}
	leader := t.Partitions[record.Coordinator(c.Key, int32(len(t.Partitions)))].Leader
	for _, n := range nodes {
		if n.id == leader {
			c.NodeID, c.Host, c.Port = int32(n.id), n.host, n.port
			return kerr.None, ""
		}
	}
	return kerr.CoordinatorNotAvailable, "The coordinator is not available."
}
