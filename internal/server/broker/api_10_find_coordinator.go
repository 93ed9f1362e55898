package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/wire"
)

// The kinds of coordinators, as FindCoordinator numbers them. 1 is transactions, 2 share groups: both come
// later.
const groupCoordinator = 0

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
	if req.CoordinatorType == groupCoordinator && len(keys) > 0 && b.Image().Topic(offsetsTopic) == nil {
		// Made on demand. Kafka answers COORDINATOR_NOT_AVAILABLE meanwhile and clients back off; a moment's wait
		// is less.
		b.autoCreate([]string{offsetsTopic}, originOf(r), answer)
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
		code, message := findCoordinator(img, nodes, req, &c)
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

func findCoordinator(img *meta.Image, nodes []node, req *kmsg.FindCoordinatorRequest,
	c *kmsg.FindCoordinatorResponseCoordinator,
) (kerr.Code, string) {
	if req.CoordinatorType != groupCoordinator {
		return kerr.InvalidRequest, "This node coordinates groups of consumers only."
	}
	t := img.Topic(offsetsTopic)
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
