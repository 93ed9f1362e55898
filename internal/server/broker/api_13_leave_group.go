package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveLeaveGroup(r *wire.Request) {
	req := kmsg.NewPtrLeaveGroupRequest()
	if !r.Decode(req) {
		return
	}
	in := &group.Leave{Group: req.Group}
	if req.Version < 3 {
		in.Members = []group.LeaveMember{{Member: req.MemberID}}
	}
	for _, m := range req.Members {
		in.Members = append(in.Members, group.LeaveMember{Member: m.MemberID, Instance: m.InstanceID})
	}
	coordinate(b, in.Group, in, func(out *group.Left) {
		resp := kmsg.NewPtrLeaveGroupResponse()
		resp.ErrorCode = int16(out.Code)
		switch {
		case out.Code != kerr.None:
		case req.Version < 3:
			resp.ErrorCode = int16(out.Codes[0])
		default:
			for i, m := range req.Members {
				resp.Members = append(resp.Members, kmsg.LeaveGroupResponseMember{
					MemberID:   m.MemberID,
					InstanceID: m.InstanceID,
					ErrorCode:  int16(out.Codes[i]),
				})
			}
		}
		r.Reply(resp)
	})
}
