package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveHeartbeat(r *wire.Request) {
	req := kmsg.NewPtrHeartbeatRequest()
	if !r.Decode(req) {
		return
	}
	in := &group.Heartbeat{
		Group:      req.Group,
		Member:     req.MemberID,
		Instance:   req.InstanceID,
		Generation: req.Generation,
	}
	coordinate(b, in.Group, in, func(out *group.Status) {
		resp := kmsg.NewPtrHeartbeatResponse()
		resp.ErrorCode = int16(out.Code)
		r.Reply(resp)
	})
}
