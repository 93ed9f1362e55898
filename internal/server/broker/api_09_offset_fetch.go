package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveOffsetFetch(r *wire.Request) {
	req := kmsg.NewPtrOffsetFetchRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrOffsetFetchResponse()
	if req.Version < 8 {
		g := oldFetch(req)
		b.fetchOffsets(req, &g, func(out kmsg.OffsetFetchResponseGroup) {
			fillOldFetch(resp, &g, &out, req.Version)
			r.Reply(resp)
		})
		return
	}
	resp.Groups = make([]kmsg.OffsetFetchResponseGroup, len(req.Groups))
	part := gather(len(req.Groups), func() { r.Reply(resp) })
	for i := range req.Groups {
		b.fetchOffsets(req, &req.Groups[i], func(out kmsg.OffsetFetchResponseGroup) {
			resp.Groups[i] = out
			part()
		})
	}
}

// oldFetch is a request for one group (before v8) as one of many.
func oldFetch(req *kmsg.OffsetFetchRequest) kmsg.OffsetFetchRequestGroup {
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, g.MemberEpoch = req.Group, -1
	if req.Topics == nil && req.Version >= 2 {
		return g
	}
	g.Topics = make([]kmsg.OffsetFetchRequestGroupTopic, len(req.Topics))
	for i, t := range req.Topics {
		g.Topics[i].Topic, g.Topics[i].Partitions = t.Topic, t.Partitions
	}
	return g
}

// fillOldFetch tells a group's error at the top, which exists since v2; before it stood at every partition.
func fillOldFetch(
	resp *kmsg.OffsetFetchResponse, g *kmsg.OffsetFetchRequestGroup, out *kmsg.OffsetFetchResponseGroup,
	version int16,
) {
	resp.ErrorCode = out.ErrorCode
	topics := out.Topics
	if out.ErrorCode != 0 && version < 2 {
		topics = nil
		for _, t := range g.Topics {
			x := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic}
			for _, p := range t.Partitions {
				x.Partitions = append(x.Partitions, noOffset(p, kerr.Code(out.ErrorCode)))
			}
			topics = append(topics, x)
		}
	}
	for _, t := range topics {
		x := kmsg.OffsetFetchResponseTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			x.Partitions = append(x.Partitions, kmsg.OffsetFetchResponseTopicPartition(p))
		}
		resp.Topics = append(resp.Topics, x)
	}
}

func noOffset(partition int32, code kerr.Code) kmsg.OffsetFetchResponseGroupTopicPartition {
	return kmsg.OffsetFetchResponseGroupTopicPartition{
		Partition:   partition,
		Offset:      -1,
		LeaderEpoch: -1,
		Metadata:    new(string),
		ErrorCode:   int16(code),
	}
}

// fetchOffsets asks for one group.
func (b *Broker) fetchOffsets(req *kmsg.OffsetFetchRequest, g *kmsg.OffsetFetchRequestGroup,
	reply func(kmsg.OffsetFetchResponseGroup),
) {
	img := b.Image()
	in := &group.Fetch{Group: g.Group, MemberEpoch: -1, All: g.Topics == nil, RequireStable: req.RequireStable}
	if g.MemberID != nil && req.Version >= 9 {
		in.Member, in.MemberEpoch = *g.MemberID, g.MemberEpoch
	}
	var unknown []kmsg.OffsetFetchResponseGroupTopic
	for _, t := range g.Topics {
		name := t.Topic
		if req.Version >= 10 {
			w := find(img, true, "", t.TopicID)
			if w.topic == nil {
				unknown = append(unknown, unknownTopic(&t, w.code))
				continue
			}
			name = w.topic.Name
		}
		for _, p := range t.Partitions {
			in.Partitions = append(in.Partitions, group.TopicPartition{Topic: name, Partition: p})
		}
	}
	coordinate(b, g.Group, in, func(out *group.Fetched) {
		x := kmsg.NewOffsetFetchResponseGroup()
		x.Group, x.ErrorCode = g.Group, int16(out.Code)
		if out.Code == kerr.None {
			x.Topics = append(fetchedTopics(img, out.Offsets, req.Version >= 10), unknown...)
		}
		reply(x)
	})
}

func unknownTopic(t *kmsg.OffsetFetchRequestGroupTopic, code kerr.Code) kmsg.OffsetFetchResponseGroupTopic {
	x := kmsg.OffsetFetchResponseGroupTopic{Topic: t.Topic, TopicID: t.TopicID}
	for _, p := range t.Partitions {
		x.Partitions = append(x.Partitions, noOffset(p, code))
	}
	return x
}

// fetchedTopics gathers offsets by topic, which they come in the order of. Where topics have ids, those that
// are no more can't be told of.
func fetchedTopics(
	img *meta.Image, offsets []group.FetchedOffset, byID bool,
) (topics []kmsg.OffsetFetchResponseGroupTopic) {
	for i := 0; i < len(offsets); {
		name := offsets[i].Topic
		x := kmsg.OffsetFetchResponseGroupTopic{Topic: name}
		for ; i < len(offsets) && offsets[i].Topic == name; i++ {
			o := &offsets[i]
			x.Partitions = append(x.Partitions, kmsg.OffsetFetchResponseGroupTopicPartition{
				Partition: o.Partition,
				Offset:    o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: &o.Metadata, ErrorCode: int16(o.Code),
			})
		}
		if byID {
			t := img.Topic(name)
			if t == nil {
				continue
			}
			x.TopicID = t.ID
		}
		topics = append(topics, x)
	}
	return topics
}
