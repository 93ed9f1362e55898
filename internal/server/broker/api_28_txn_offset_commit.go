package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/wire"
)

// offsetsAdd is the version from which on a commit adds the group's partition to the transaction by itself.
const offsetsAdd = 5

func (b *Broker) serveTxnOffsetCommit(r *wire.Request) {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	if !r.Decode(req) {
		return
	}
	in, resp, at := b.planTxnCommit(req)
	answer := func(out *group.Codes) {
		for i, code := range at {
			*code = int16(out.Code)
			if out.Code == kerr.None {
				*code = int16(out.Each[i])
			}
		}
		r.Reply(resp)
	}
	if len(in.Offsets) == 0 {
		r.Reply(resp)
		return
	}
	fail := func(code kerr.Code) { answer(&group.Codes{Code: code}) }
	n := partitionsOf(b.Image(), offsetsTopic)
	if req.TransactionalID == "" || n == 0 {
		fail(kerr.NotCoordinator)
		return
	}
	p := b.Partition(offsetsTopic, record.Coordinator(req.Group, n))
	if p == nil || !p.IsLeader() {
		fail(kerr.NotCoordinator)
		return
	}
	g, needed, code := p.verify(in.ProducerID, in.ProducerEpoch, nil)
	if code != kerr.None {
		fail(coordinatorCode(code))
		return
	}
	in.Guard = uint64(g)
	commit := func() { coordinate(b, in.Group, in, answer) }
	if !needed {
		commit()
		return
	}
	v := &verification{
		id: req.TransactionalID, producer: in.ProducerID, epoch: in.ProducerEpoch,
		add: req.Version >= offsetsAdd, parts: []unverified{{p, g}},
	}
	b.verify(v, func(codes []kerr.Code) {
		if codes[0] != kerr.None {
			fail(coordinatorCode(codes[0]))
			return
		}
		commit()
	})
}

// coordinatorCode is what a code of a partition or a verification means to who commits offsets.
func coordinatorCode(code kerr.Code) kerr.Code {
	switch code {
	case kerr.NotEnoughReplicas, kerr.UnknownTopicOrPartition:
		return kerr.CoordinatorNotAvailable
	case kerr.NotLeaderOrFollower, kerr.KafkaStorageError:
		return kerr.NotCoordinator
	}
	return code
}

// planTxnCommit is the request without the partitions that don't exist, the reply, and where in it each
// offset's code goes.
func (b *Broker) planTxnCommit(req *kmsg.TxnOffsetCommitRequest) (
	*group.TxnCommit, *kmsg.TxnOffsetCommitResponse, []*int16,
) {
	img := b.Image()
	in := &group.TxnCommit{ProducerID: req.ProducerID, ProducerEpoch: req.ProducerEpoch}
	in.Group, in.Member, in.Instance, in.Generation = req.Group, req.MemberID, req.InstanceID, req.Generation
	in.Retention = -1
	resp := kmsg.NewPtrTxnOffsetCommitResponse()
	resp.Topics = make([]kmsg.TxnOffsetCommitResponseTopic, len(req.Topics))
	var at []*int16
	for i := range req.Topics {
		t, out := &req.Topics[i], &resp.Topics[i]
		out.Topic, out.TopicID = t.Topic, t.TopicID
		out.Partitions = make([]kmsg.TxnOffsetCommitResponseTopicPartition, len(t.Partitions))
		w := find(img, req.Version >= 6, t.Topic, t.TopicID)
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
