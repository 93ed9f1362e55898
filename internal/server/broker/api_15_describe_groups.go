package broker

import (
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// groupOperations are the bits of all operations that exist on a group: READ, DELETE, DESCRIBE,
// DESCRIBE_CONFIGS and ALTER_CONFIGS. Without an authorizer everybody may do everything.
const groupOperations = 1<<3 | 1<<6 | 1<<8 | 1<<10 | 1<<11

func (b *Broker) serveDescribeGroups(r *wire.Request) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrDescribeGroupsResponse()
	resp.Groups = make([]kmsg.DescribeGroupsResponseGroup, len(req.Groups))
	part := gather(len(req.Groups), func() { r.Reply(resp) })
	for i, id := range req.Groups {
		coordinate(b, id, &group.Describe{Group: id}, func(out *group.Described) {
			g := &resp.Groups[i]
			fillDescribed(g, out, req.Version)
			g.Group, g.AuthorizedOperations = id, math.MinInt32
			if req.IncludeAuthorizedOperations && g.ErrorCode == 0 {
				g.AuthorizedOperations = groupOperations
			}
			part()
		})
	}
}

func fillDescribed(g *kmsg.DescribeGroupsResponseGroup, out *group.Described, version int16) {
	g.ErrorCode, g.State, g.ProtocolType, g.Protocol = int16(out.Code), out.State, out.ProtocolType, out.Protocol
	if out.Message != "" {
		g.ErrorMessage = &out.Message
	}
	if out.Code == kerr.GroupIDNotFound && version < 6 {
		g.ErrorCode = 0 // a Dead group says it
	}
	for _, m := range out.Members {
		g.Members = append(g.Members, kmsg.DescribeGroupsResponseGroupMember{
			MemberID:         m.Member,
			InstanceID:       m.Instance,
			ClientID:         m.ClientID,
			ClientHost:       m.ClientHost,
			ProtocolMetadata: m.Metadata,
			MemberAssignment: m.Assignment,
		})
	}
}
