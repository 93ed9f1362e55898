package broker

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveOffsetCommit(r *wire.Request) {
	req := kmsg.NewPtrOffsetCommitRequest()
	if !r.Decode(req) {
		return
	}
	in, resp, at := b.planCommit(req)
	if len(in.Offsets) == 0 {
		r.Reply(resp)
		return
	}
	coordinate(b, in.Group, in, func(out *group.Codes) {
		for i, code := range at {
			*code = int16(out.Code)
			if out.Code == kerr.None {
				*code = int16(out.Each[i])
			}
		}
		r.Reply(resp)
	})
}

// planCommit is the request without the partitions that don't exist, the reply, and where in it each offset's
// code goes.
func (b *Broker) planCommit(req *kmsg.OffsetCommitRequest) (
	*group.Commit, *kmsg.OffsetCommitResponse, []*int16,
) {
	img := b.Image()
	in := &group.Commit{
		Group:      req.Group,
		Member:     req.MemberID,
		Instance:   req.InstanceID,
		Generation: req.Generation,
		Epochs:     req.Version >= 9,
		Retention:  -1,
	}
	if req.RetentionTimeMillis >= 0 && req.Version <= 4 {
		in.Retention = time.Duration(min(req.RetentionTimeMillis, maxMillis)) * time.Millisecond
	}
	resp := kmsg.NewPtrOffsetCommitResponse()
	resp.Topics = make([]kmsg.OffsetCommitResponseTopic, len(req.Topics))
	var at []*int16
	for i := range req.Topics {
		t, out := &req.Topics[i], &resp.Topics[i]
		out.Topic, out.TopicID = t.Topic, t.TopicID
		out.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, len(t.Partitions))
		w := find(img, req.Version >= 10, t.Topic, t.TopicID)
		for j := range t.Partitions {
			p, out := &t.Partitions[j], &out.Partitions[j]
			out.Partition = p.Partition
			if code := w.has(p.Partition); code != kerr.None {
				out.ErrorCode = int16(code)
				continue
			}
			o := group.CommitOffset{
				TopicPartition: group.TopicPartition{Topic: w.topic.Name, Partition: p.Partition},
				TopicID:        group.UUID(w.topic.ID), Offset: p.Offset, LeaderEpoch: p.LeaderEpoch,
			}
			if p.Metadata != nil {
				o.Metadata = *p.Metadata
			}
			in.Offsets, at = append(in.Offsets, o), append(at, &out.ErrorCode)
		}
	}
	return in, resp, at
}

// maxMillis keeps a time span of a request from overflowing.
const maxMillis = (1<<63 - 1) / int64(time.Millisecond)
