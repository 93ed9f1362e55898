package broker

import (
	"sync"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/wire"
)

// groupAPIs are the rows of the group coordinator.
func (b *Broker) groupAPIs() []wire.API {
	if b.cfg.Groups == nil {
		return nil
	}
	return []wire.API{
		{Key: 8, Min: 2, Max: 10, Serve: b.serveOffsetCommit},
		{Key: 9, Min: 1, Max: 10, Serve: b.serveOffsetFetch},
		{Key: 11, Min: 0, Max: 9, Serve: b.serveJoinGroup},
		{Key: 12, Min: 0, Max: 4, Serve: b.serveHeartbeat},
		{Key: 13, Min: 0, Max: 5, Serve: b.serveLeaveGroup},
		{Key: 14, Min: 0, Max: 5, Serve: b.serveSyncGroup},
		{Key: 15, Min: 0, Max: 6, Serve: b.serveDescribeGroups},
		{Key: 16, Min: 0, Max: 5, Serve: b.serveListGroups},
		{Key: 42, Min: 0, Max: 3, Serve: b.serveDeleteGroups},
		{Key: 47, Min: 0, Max: 0, Serve: b.serveOffsetDelete},
		{Key: 68, Min: 0, Max: 1, Serve: b.serveConsumerGroupHeartbeat},
		{Key: 69, Min: 0, Max: 1, Serve: b.serveConsumerGroupDescribe},
	}
}

// coordinate gives in to the shard of a group. T is the kind of reply that in has.
func coordinate[T group.Output](b *Broker, id string, in group.Input, reply func(T)) {
	n := partitionsOf(b.Image(), offsetsTopic)
	if n == 0 {
		reply(in.Reject(kerr.NotCoordinator).(T))
		return
	}
	b.cfg.Groups.Submit(record.Coordinator(id, n), in, func(out group.Output) { reply(out.(T)) })
}

// partitionsOf is how many partitions a topic really has, 0 if there is no such topic.
func partitionsOf(img *meta.Image, topic string) int32 {
	if t := img.Topic(topic); t != nil {
		return int32(len(t.Partitions))
	}
	return 0
}

// gather calls done after each of n parts has called its part of the returned function once.
func gather(n int, done func()) func() {
	if n == 0 {
		done()
		return func() {}
	}
	var mu sync.Mutex
	return func() {
		mu.Lock()
		n--
		last := n == 0
		mu.Unlock()
		if last {
			done()
		}
	}
}

// clientHost is how Kafka writes a client's address into a group's metadata.
func clientHost(r *wire.Request) string { return "/" + r.Conn.Remote.Addr().Unmap().String() }

// wanted finds the topic that a request names, by id in the versions that do.
type wanted struct {
	topic *meta.Topic
	code  kerr.Code // if there is none
}

func find(img *meta.Image, byID bool, name string, id meta.UUID) wanted {
	if byID {
		if t := img.TopicByID(id); t != nil {
			return wanted{topic: t}
		}
		return wanted{code: kerr.UnknownTopicID}
	}
	if t := img.Topic(name); t != nil {
		return wanted{topic: t}
	}
	return wanted{code: kerr.UnknownTopicOrPartition}
}

// has is the code of one of the topic's partitions.
func (w wanted) has(partition int32) kerr.Code {
	if w.topic == nil {
		return w.code
	}
	if partition < 0 || int(partition) >= len(w.topic.Partitions) {
		return kerr.UnknownTopicOrPartition
	}
	return kerr.None
}
