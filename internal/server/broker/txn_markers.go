package broker

import (
	"sync"
	"time"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/core/txn"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// markerRetry is the pause before markers that couldn't be written are tried again.
const markerRetry = 100 * time.Millisecond

// markers are a transaction's on their way to its partitions.
type markers struct {
	b      *Broker
	txn    *txn.Markers
	shard  *Partition // of __transaction_state
	marker marker

	mu      sync.Mutex
	left    int               // partitions without an answer
	again   []record.TxnTopic // those to be tried again
	stopped bool
}

// WriteMarkers writes a decided transaction's markers until they are all there, or somebody newer has taken
// over. It is part of coordinator.Outbox.
func (b *Broker) WriteMarkers(m *txn.Markers) {
	n := partitionsOf(b.Image(), transactionsTopic)
	if n == 0 {
		return
	}
	shard := b.Partition(transactionsTopic, record.Coordinator(m.ID, n))
	if shard == nil || !shard.IsLeader() {
		return
	}
	j := &markers{b: b, txn: m, shard: shard, marker: marker{
		producer: m.ProducerID, epoch: m.ProducerEpoch, commit: m.Commit, coordinator: shard.LeaderEpoch(),
		version: int8(m.Client),
	}}
	j.write(m.Topics)
}

// write sends to all of topics once.
func (j *markers) write(topics []record.TxnTopic) {
	j.left = 1
	for _, t := range topics {
		j.left += len(t.Partitions)
	}
	for _, t := range topics {
		for _, p := range t.Partitions {
			j.b.writeMarker(&j.marker, t.Topic, p, func(code kerr.Code) { j.wrote(t.Topic, p, code) })
		}
	}
	j.part()
}

// wrote takes the outcome of one partition. It only takes note: locks may be held.
func (j *markers) wrote(topic string, partition int32, code kerr.Code) {
	switch code {
	case kerr.None, kerr.UnsupportedForMessageFormat:
	case kerr.UnknownTopicOrPartition:
		if find(j.b.Image(), false, topic, noID).has(partition) == kerr.None {
			j.retry(topic, partition)
		} // else it was deleted, and nobody misses the marker
	case kerr.InvalidProducerEpoch, kerr.TransactionCoordinatorFenced:
		j.b.log.Info("a marker was refused: somebody newer owns the transaction", "transactional.id", j.txn.ID,
			"producer.id", j.txn.ProducerID, "epoch", j.txn.ProducerEpoch, "topic", topic, "partition", partition,
			"error", code)
		j.mu.Lock()
		j.stopped = true
		j.mu.Unlock()
	default:
		j.retry(topic, partition)
	}
	j.part()
}

func (j *markers) retry(topic string, partition int32) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.again = append(j.again, record.TxnTopic{Topic: topic, Partitions: []int32{partition}})
}

// part counts an answer down, and goes on after the last.
func (j *markers) part() {
	j.mu.Lock()
	j.left--
	last, again, stopped := j.left == 0, j.again, j.stopped
	if last {
		j.again = nil
	}
	j.mu.Unlock()
	switch {
	case !last || stopped:
	case len(again) > 0:
		time.AfterFunc(markerRetry, func() {
			if j.shard.IsLeader() && j.shard.LeaderEpoch() == j.marker.coordinator {
				j.write(again)
			}
		})
	default:
		j.done()
	}
}

// done tells the coordinator. If it is too busy to hear, again: nobody else would.
func (j *markers) done() {
	in := &txn.MarkersDone{ID: j.txn.ID, ProducerID: j.txn.ProducerID, ProducerEpoch: j.txn.ProducerEpoch}
	j.b.cfg.Transactions.Submit(j.shard.n, in, func(out txn.Output) {
		code := out.(*txn.Done).Code
		if code == kerr.CoordinatorNotAvailable || code == kerr.CoordinatorLoadInProgress {
			time.AfterFunc(markerRetry, j.done)
		}
	})
}

// writeMarker writes one partition's marker, if this node leads it, and calls done once: when it is
// committed, or with the reason why it won't be. done may be called while locks are held: it only takes note.
func (b *Broker) writeMarker(m *marker, topic string, partition int32, done func(kerr.Code)) {
	p := b.Partition(topic, partition)
	switch {
	case p == nil:
		code := kerr.UnknownTopicOrPartition
		if t := b.Image().Topic(topic); t != nil {
			code = notHosted(len(t.Partitions), partition)
		}
		done(code)
		return
	case topic == offsetsTopic:
		b.endInGroups(m, partition, done)
		return
	}
	raw, err := m.build(b.cfg.Now().UnixMilli())
	if err != nil {
		b.log.Error("a marker can't be made", "partition", p.String(), "error", err)
		done(kerr.UnknownServerError)
		return
	}
	base, code := p.AppendMarker(raw, m.version)
	if code != kerr.None {
		done(code)
		return
	}
	p.Await(base+batch.Offset(1), done)
}

// endInGroups writes the marker through the group coordinator, whose offsets it decides about.
func (b *Broker) endInGroups(m *marker, partition int32, done func(kerr.Code)) {
	in := &group.EndTxn{
		ProducerID: m.producer, ProducerEpoch: m.epoch, Committed: m.commit, CoordinatorEpoch: m.coordinator,
		Version: m.version,
	}
	b.cfg.Groups.Submit(partition, in, func(out group.Output) {
		switch code := out.(*group.Status).Code; code {
		case kerr.CoordinatorLoadInProgress, kerr.NotCoordinator, kerr.CoordinatorNotAvailable:
			done(kerr.NotLeaderOrFollower) // so that it is sent again
		default:
			done(code)
		}
	})
}
