package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveOffsetDelete(r *wire.Request) {
	req := kmsg.NewPtrOffsetDeleteRequest()
	if !r.Decode(req) {
		return
	}
	img := b.Image()
	in := &group.DeleteOffsets{Group: req.Group}
	resp := kmsg.NewPtrOffsetDeleteResponse()
	resp.Topics = make([]kmsg.OffsetDeleteResponseTopic, len(req.Topics))
	var at []*int16
	for i, t := range req.Topics {
		out := &resp.Topics[i]
		out.Topic, out.Partitions = t.Topic, make([]kmsg.OffsetDeleteResponseTopicPartition, len(t.Partitions))
		w := find(img, false, t.Topic, noID)
		for j, p := range t.Partitions {
			out := &out.Partitions[j]
			out.Partition = p.Partition
			if code := w.has(p.Partition); code != kerr.None {
				out.ErrorCode = int16(code)
				continue
			}
			in.Partitions = append(in.Partitions, group.TopicPartition{Topic: t.Topic, Partition: p.Partition})
			at = append(at, &out.ErrorCode)
		}
	}
	coordinate(b, req.Group, in, func(out *group.Codes) {
		if resp.ErrorCode = int16(out.Code); out.Code != kerr.None {
			resp.Topics = nil
		} else {
			for i, code := range at {
				*code = int16(out.Each[i])
			}
		}
		r.Reply(resp)
	})
}
