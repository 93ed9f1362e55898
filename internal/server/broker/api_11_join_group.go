package broker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveJoinGroup(r *wire.Request) {
	req := kmsg.NewPtrJoinGroupRequest()
	if !r.Decode(req) {
		return
	}
	in := &group.Join{
		Group:            req.Group,
		Member:           req.MemberID,
		Instance:         req.InstanceID,
		ClientID:         r.ClientID,
		ClientHost:       clientHost(r),
		SessionTimeout:   time.Duration(req.SessionTimeoutMillis) * time.Millisecond,
		RebalanceTimeout: time.Duration(req.RebalanceTimeoutMillis) * time.Millisecond,
		ProtocolType:     req.ProtocolType,
		RequireMember:    req.Version >= 4,
		CanSkip:          req.Version >= 9,
		Image:            b.Image(),
	}
	if req.Version < 1 {
		in.RebalanceTimeout = -1 // as the session's
	}
	for _, p := range req.Protocols {
		in.Protocols = append(in.Protocols, group.Protocol{Name: p.Name, Metadata: p.Metadata})
	}
	coordinate(b, in.Group, in, func(out *group.Joined) {
		resp := kmsg.NewPtrJoinGroupResponse()
		resp.ErrorCode, resp.Generation = int16(out.Code), out.Generation
		resp.ProtocolType, resp.Protocol = out.ProtocolType, out.Protocol
		resp.LeaderID, resp.MemberID, resp.SkipAssignment = out.Leader, out.Member, out.SkipAssignment
		for _, m := range out.Members {
			resp.Members = append(resp.Members, kmsg.JoinGroupResponseMember{
				MemberID:         m.Member,
				InstanceID:       m.Instance,
				ProtocolMetadata: m.Metadata,
			})
		}
		r.Reply(resp)
	})
}
