package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// The timestamps of ListOffsets with a meaning of their own (broker.md 3.12).
const (
	tsLatest                = -1
	tsEarliest              = -2
	tsMax                   = -3
	tsEarliestLocal         = -4
	tsLatestTiered          = -5
	tsEarliestPendingUpload = -6
)

// tsSince is the first version that knows a special timestamp, by its negative.
var tsSince = [...]int16{-tsMax: 7, -tsEarliestLocal: 8, -tsLatestTiered: 9, -tsEarliestPendingUpload: 11}

// debugReplica is a client that looks at any replica.
const debugReplica = -2

func (b *Broker) serveListOffsets(r *wire.Request) {
	req := kmsg.NewPtrListOffsetsRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrListOffsetsResponse()
	seen := map[string]map[int32]int{}
	for i := range req.Topics {
		t := &req.Topics[i]
		if seen[t.Topic] == nil {
			seen[t.Topic] = map[int32]int{}
		}
		for j := range t.Partitions {
			seen[t.Topic][t.Partitions[j].Partition]++
		}
	}
	for i := range req.Topics {
		t := &req.Topics[i]
		out := kmsg.NewListOffsetsResponseTopic()
		out.Topic = t.Topic
		for j := range t.Partitions {
			ask := &t.Partitions[j]
			p := kmsg.NewListOffsetsResponseTopicPartition()
			p.Partition, p.Offset, p.Timestamp = ask.Partition, -1, -1
			code := kerr.InvalidRequest
			if seen[t.Topic][ask.Partition] == 1 {
				code = b.listOffset(req, t.Topic, ask, &p)
			}
			p.ErrorCode = int16(code)
			out.Partitions = append(out.Partitions, p)
		}
		resp.Topics = append(resp.Topics, out)
	}
	r.Reply(resp)
}

func (b *Broker) listOffset(
	req *kmsg.ListOffsetsRequest, topic string, ask *kmsg.ListOffsetsRequestTopicPartition,
	out *kmsg.ListOffsetsResponseTopicPartition,
) kerr.Code {
	if ts := -ask.Timestamp; ts > 0 && (ts >= int64(len(tsSince)) || req.Version < tsSince[ts]) {
		return kerr.UnsupportedVersion
	}
	p := b.Partition(topic, ask.Partition)
	if p == nil {
		if t := b.Image().Topic(topic); t != nil {
			return notHosted(len(t.Partitions), ask.Partition)
		}
		return kerr.UnknownTopicOrPartition
	}
	role := p.role.Load()
	epoch := ask.CurrentLeaderEpoch
	if req.Version < 4 {
		epoch = -1
	}
	switch {
	case p.offline():
		return kerr.KafkaStorageError
	case !role.leading && req.ReplicaID != debugReplica:
		return kerr.NotLeaderOrFollower
	}
	if code := role.fence(epoch); code != kerr.None {
		return code
	}
	q := &fetch{replica: req.ReplicaID, committed: req.IsolationLevel == 1 && req.Version >= 2}
	found, code := p.offsetFor(role, ask.Timestamp, q)
	if code == kerr.OffsetNotAvailable && req.Version < 5 {
		code = kerr.LeaderNotAvailable
	}
	if code == kerr.None {
		out.Offset, out.Timestamp, out.LeaderEpoch = int64(found.Offset), found.Timestamp, int32(found.Epoch)
	}
	return code
}

var nowhere = seglog.TimedOffset{Offset: -1, Timestamp: -1, Epoch: seglog.NoEpoch}

// offsetFor answers one timestamp.
func (p *Partition) offsetFor(role *role, ts int64, q *fetch) (seglog.TimedOffset, kerr.Code) {
	if q.committed {
		if err := p.ensureProducers(); err != nil {
			return nowhere, p.failed("loading producers", err).code
		}
	}
	bound := p.bound(q)
	consumer := q.replica == -1
	settled := !consumer || p.HW() >= role.epochStart
	switch ts {
	case tsLatest:
		if !settled {
			return nowhere, kerr.OffsetNotAvailable
		}
		return seglog.TimedOffset{Offset: bound, Timestamp: -1, Epoch: batch.Epoch(role.LeaderEpoch)}, kerr.None
	case tsEarliest, tsEarliestLocal:
		start := p.LogStart()
		epoch, err := p.log.EpochAt(start)
		if err != nil {
			return nowhere, p.failed("list offsets", err).code
		}
		return seglog.TimedOffset{Offset: start, Timestamp: -1, Epoch: epoch}, kerr.None
	case tsLatestTiered, tsEarliestPendingUpload:
		return nowhere, kerr.None // nothing is tiered
	}
	var t seglog.TimedOffset
	var ok bool
	var err error
	codec := &p.rules.Load().codec
	if ts == tsMax {
		t, ok, err = p.log.MaxTimestamp(codec)
	} else {
		t, ok, err = p.log.OffsetForTime(ts, codec)
	}
	switch {
	case err != nil:
		return nowhere, p.failed("list offsets", err).code
	case !ok:
		return nowhere, kerr.None
	case consumer && t.Offset >= bound && !settled:
		return nowhere, kerr.OffsetNotAvailable
	case consumer && t.Offset >= bound:
		return nowhere, kerr.None
	}
	return t, kerr.None
}
