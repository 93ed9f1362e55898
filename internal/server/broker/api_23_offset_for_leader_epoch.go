package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// serveOffsetForLeaderEpoch tells where the leader's log ends for an epoch, so that the one who asks sees
// where its own log or position diverges (KIP-101, KIP-320).
func (b *Broker) serveOffsetForLeaderEpoch(r *wire.Request) {
	req := kmsg.NewPtrOffsetForLeaderEpochRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrOffsetForLeaderEpochResponse()
	for i := range req.Topics {
		t := &req.Topics[i]
		out := kmsg.NewOffsetForLeaderEpochResponseTopic()
		out.Topic = t.Topic
		for j := range t.Partitions {
			ask := &t.Partitions[j]
			p := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			p.Partition, p.LeaderEpoch, p.EndOffset = ask.Partition, -1, -1
			p.ErrorCode = int16(b.epochEnd(t.Topic, ask, &p))
			out.Partitions = append(out.Partitions, p)
		}
		resp.Topics = append(resp.Topics, out)
	}
	r.Reply(resp)
}

// epochEnd answers for one partition. Only the leader does, and it doesn't hold back what is above the high
// watermark: followers ask, too.
func (b *Broker) epochEnd(
	topic string, ask *kmsg.OffsetForLeaderEpochRequestTopicPartition,
	out *kmsg.OffsetForLeaderEpochResponseTopicPartition,
) kerr.Code {
	p := b.Partition(topic, ask.Partition)
	if p == nil {
		if t := b.Image().Topic(topic); t != nil {
			return notHosted(len(t.Partitions), ask.Partition)
		}
		return kerr.UnknownTopicOrPartition
	}
	role := p.role.Load()
	switch {
	case p.offline():
		return kerr.KafkaStorageError
	case !role.leading:
		return kerr.NotLeaderOrFollower
	}
	if code := role.fence(ask.CurrentLeaderEpoch); code != kerr.None {
		return code
	}
	epoch, end, err := p.log.EndOffsetForEpoch(batch.Epoch(ask.LeaderEpoch))
	if err != nil {
		return p.failed("offset for leader epoch", err).code
	}
	out.LeaderEpoch, out.EndOffset = int32(epoch), int64(end)
	return kerr.None
}
