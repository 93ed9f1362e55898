package broker

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// serveDescribeLogDirs tells what lies in each log directory. A directory that failed is named with its error
// and without partitions: what lies there can't be known.
func (b *Broker) serveDescribeLogDirs(r *wire.Request) {
	req := kmsg.NewPtrDescribeLogDirsRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrDescribeLogDirsResponse()
	found := b.partitionsByDir(logDirFilter(req.Topics))
	for _, d := range b.logs.dirs {
		dir := kmsg.NewDescribeLogDirsResponseDir()
		dir.Dir = d.path
		if d.failed.Load() {
			dir.ErrorCode = int16(kerr.KafkaStorageError)
		} else {
			dir.TotalBytes, dir.UsableBytes = diskSpace(d.path)
			dir.Topics = logDirTopics(found[d])
		}
		resp.Dirs = append(resp.Dirs, dir)
	}
	r.Reply(resp)
}

// logDirFilter says which partitions were asked for: all without a list.
func logDirFilter(topics []kmsg.DescribeLogDirsRequestTopic) func(*Partition) bool {
	if topics == nil {
		return func(*Partition) bool { return true }
	}
	type key struct {
		topic string
		n     int32
	}
	wanted := make(map[key]bool)
	for _, t := range topics {
		for _, n := range t.Partitions {
			wanted[key{t.Topic, n}] = true
		}
	}
	return func(p *Partition) bool { return wanted[key{p.topic, p.n}] }
}

func (b *Broker) partitionsByDir(wanted func(*Partition) bool) map[*logDir][]*Partition {
	found := make(map[*logDir][]*Partition)
	b.each(func(p *Partition) {
		if wanted(p) {
			found[p.dir] = append(found[p.dir], p)
		}
	})
	return found
}

// logDirTopics lists partitions by topic. One whose log can't be read any more is left out.
func logDirTopics(parts []*Partition) []kmsg.DescribeLogDirsResponseDirTopic {
	slices.SortFunc(parts, func(a, b *Partition) int {
		if c := strings.Compare(a.topic, b.topic); c != 0 {
			return c
		}
		return int(a.n) - int(b.n)
	})
	var topics []kmsg.DescribeLogDirsResponseDirTopic
	for _, p := range parts {
		size, err := p.log.Size()
		if err != nil {
			continue
		}
		if len(topics) == 0 || topics[len(topics)-1].Topic != p.topic {
			t := kmsg.NewDescribeLogDirsResponseDirTopic()
			t.Topic = p.topic
			topics = append(topics, t)
		}
		k := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
		k.Partition, k.Size, k.OffsetLag = p.n, size, max(p.hw.Load()-int64(p.log.EndOffset()), 0)
		t := &topics[len(topics)-1]
		t.Partitions = append(t.Partitions, k)
	}
	return topics
}
