package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveDeleteGroups(r *wire.Request) {
	req := kmsg.NewPtrDeleteGroupsRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrDeleteGroupsResponse()
	resp.Groups = make([]kmsg.DeleteGroupsResponseGroup, len(req.Groups))
	part := gather(len(req.Groups), func() { r.Reply(resp) })
	for i, id := range req.Groups {
		coordinate(b, id, &group.Delete{Group: id}, func(out *group.Status) {
			g := &resp.Groups[i]
			if g.Group, g.ErrorCode = id, int16(out.Code); out.Message != "" {
				g.ErrorMessage = &out.Message
			}
			if out.Code == kerr.GroupDeletionFailed && req.Version < 3 {
				g.ErrorCode = int16(kerr.UnknownServerError) // its code is as new as its message
			}
			part()
		})
	}
}
