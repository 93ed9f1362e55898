package broker

import (
	"iter"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// serveDescribeTopicPartitions tells of topics page by page, by name: at most so many partitions, and where
// to go on.
func (b *Broker) serveDescribeTopicPartitions(r *wire.Request) {
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrDescribeTopicPartitionsResponse()
	if !validCursor(req) {
		for _, q := range req.Topics {
			t := kmsg.NewDescribeTopicPartitionsResponseTopic()
			t.Topic, t.ErrorCode = &q.Topic, int16(kerr.InvalidRequest)
			resp.Topics = append(resp.Topics, t)
		}
		r.Reply(resp)
		return
	}
	pg := &page{
		view: view{img: b.Image(), listener: r.Conn.Listener, version: 13},
		left: int(max(min(b.cfg.MaxRequestPartitions, req.ResponsePartitionLimit), 1)),
		resp: resp,
	}
	from := ""
	if req.Cursor != nil {
		from, pg.first = req.Cursor.Topic, req.Cursor.Partition
		pg.firstTopic = from
	}
	for name, t := range pg.wanted(req.Topics, from) {
		if !pg.add(name, t) {
			break
		}
	}
	r.Reply(resp)
}

// validCursor tells whether a cursor points to a partition of a topic that is asked for.
func validCursor(req *kmsg.DescribeTopicPartitionsRequest) bool {
	c := req.Cursor
	return c == nil || c.Partition >= 0 && (len(req.Topics) == 0 ||
		slices.ContainsFunc(req.Topics,
			func(t kmsg.DescribeTopicPartitionsRequestTopic) bool { return t.Topic == c.Topic }))
}

// page is one answer being filled.
type page struct {
	view
	left       int    // partitions that still fit
	firstTopic string // where the cursor points
	first      int32
	resp       *kmsg.DescribeTopicPartitionsResponse
}

// wanted are the topics to describe, from a name on: those asked for, or all.
func (p *page) wanted(
	asked []kmsg.DescribeTopicPartitionsRequestTopic, from string,
) iter.Seq2[string, *meta.Topic] {
	return func(yield func(string, *meta.Topic) bool) {
		if len(asked) == 0 {
			for t := range p.img.TopicsFrom(from) {
				if !yield(t.Name, t) {
					return
				}
			}
			return
		}
		names := make([]string, len(asked))
		for i := range asked {
			names[i] = asked[i].Topic
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if name >= from && !yield(name, p.img.Topic(name)) {
				return
			}
		}
	}
}

// add describes a topic as far as it fits. False: the page is full and the cursor is set.
func (p *page) add(name string, t *meta.Topic) bool {
	if p.left == 0 {
		p.cursor(name, 0)
		return false
	}
	out := kmsg.NewDescribeTopicPartitionsResponseTopic()
	out.Topic, out.IsInternal = &name, isInternal(name)
	out.AuthorizedOperations = topicOperations
	if t == nil {
		out.ErrorCode = int16(kerr.UnknownTopicOrPartition)
		if badName(name) != "" {
			out.ErrorCode = int16(kerr.InvalidTopicException)
		}
		p.resp.Topics = append(p.resp.Topics, out)
		return true
	}
	out.TopicID = t.ID
	start := int32(0)
	if name == p.firstTopic {
		start = min(p.first, int32(len(t.Partitions)))
	}
	end := min(int(start)+p.left, len(t.Partitions))
	for n := start; n < int32(end); n++ {
		out.Partitions = append(out.Partitions, p.partition(n, t.Partitions[n]))
	}
	p.left -= len(out.Partitions)
	p.resp.Topics = append(p.resp.Topics, out)
	if end < len(t.Partitions) {
		p.cursor(name, int32(end))
		return false
	}
	return true
}

func (p *page) cursor(topic string, partition int32) {
	c := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	c.Topic, c.Partition = topic, partition
	p.resp.NextCursor = &c
}

func (p *page) partition(n int32, m *meta.Partition) kmsg.DescribeTopicPartitionsResponseTopicPartition {
	o := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
	o.Partition, o.LeaderEpoch = n, m.LeaderEpoch
	o.LeaderID, o.ErrorCode = p.leader(m)
	o.Replicas, o.ISR = ids(m.Replicas), ids(m.ISR)
	o.EligibleLeaderReplicas, o.LastKnownELR = ids(m.ELR), ids(m.LastELR)
	o.OfflineReplicas = p.offline(m)
	return o
}

func ids(nodes []meta.NodeID) []int32 {
	list := make([]int32, len(nodes))
	for i, n := range nodes {
		list[i] = int32(n)
	}
	return list
}
