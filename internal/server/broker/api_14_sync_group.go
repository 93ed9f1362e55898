package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveSyncGroup(r *wire.Request) {
	req := kmsg.NewPtrSyncGroupRequest()
	if !r.Decode(req) {
		return
	}
	if req.Version >= 5 && (req.ProtocolType == nil || req.Protocol == nil) {
		resp := kmsg.NewPtrSyncGroupResponse()
		resp.ErrorCode = int16(kerr.InconsistentGroupProtocol)
		r.Reply(resp)
		return
	}
	in := &group.Sync{
		Group:        req.Group,
		Member:       req.MemberID,
		Instance:     req.InstanceID,
		Generation:   req.Generation,
		ProtocolType: req.ProtocolType,
		Protocol:     req.Protocol,
	}
	for _, a := range req.GroupAssignment {
		in.Assignments = append(in.Assignments, group.Assignment{Member: a.MemberID, Data: a.MemberAssignment})
	}
	coordinate(b, in.Group, in, func(out *group.Synced) {
		resp := kmsg.NewPtrSyncGroupResponse()
		resp.ErrorCode, resp.ProtocolType, resp.Protocol = int16(out.Code), out.ProtocolType, out.Protocol
		resp.MemberAssignment = out.Assignment
		r.Reply(resp)
	})
}
