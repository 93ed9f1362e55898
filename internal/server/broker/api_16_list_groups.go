package broker

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveListGroups(r *wire.Request) {
	req := kmsg.NewPtrListGroupsRequest()
	if !r.Decode(req) {
		return
	}
	in := &group.List{States: lowered(req.StatesFilter), Types: lowered(req.TypesFilter)}
	b.cfg.Groups.List(in, func(out *group.Listed) {
		resp := kmsg.NewPtrListGroupsResponse()
		resp.ErrorCode = int16(out.Code)
		if out.Code == kerr.None {
			for _, g := range out.Groups {
				resp.Groups = append(resp.Groups, kmsg.ListGroupsResponseGroup{
					Group:        g.Group,
					ProtocolType: g.ProtocolType,
					GroupState:   g.State,
					GroupType:    g.Type,
				})
			}
		}
		r.Reply(resp)
	})
}

// lowered is a filter in lower case, nil if it lets everything pass.
func lowered(filter []string) (out []string) {
	for _, f := range filter {
		out = append(out, strings.ToLower(f))
	}
	return out
}
