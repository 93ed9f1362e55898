package replica

import "github.com/kalda/kalda/internal/format/batch"

// Snapshot encodes the state as a %020d.snapshot file holds it (broker.md 4.1): of each producer the last
// batch only.
func (p *Producers) Snapshot() []byte {
	return batch.AppendProducers(nil, p.Active())
}

func (p *producer) entry() batch.ProducerEntry {
	e := entry{lastSeq: -1, lastOffset: -1}
	if last := p.last(); last != nil {
		e = *last
	}
	return batch.ProducerEntry{
		ID: p.id, Epoch: p.epoch, LastSequence: e.lastSeq, LastOffset: e.lastOffset, OffsetDelta: e.delta,
		Timestamp: p.timestamp, CoordinatorEpoch: p.coordinatorEpoch, TxnFirstOffset: p.txnFirst,
	}
}

// Load replaces the state by a snapshot's. On an error, which is batch.ErrCorrupt, the state is empty.
func (p *Producers) Load(b []byte) error {
	p.Truncate()
	entries, err := batch.DecodeProducers(b)
	if err != nil {
		return err
	}
	for i := range entries {
		p.loadProducer(&entries[i])
	}
	return nil
}

func (p *Producers) loadProducer(s *batch.ProducerEntry) {
	q := p.touch(s.ID)
	q.epoch, q.timestamp, q.coordinatorEpoch = s.Epoch, s.Timestamp, s.CoordinatorEpoch
	q.n = 0
	if s.LastOffset >= 0 && s.LastSequence >= 0 {
		q.remember(entry{
			lastSeq: s.LastSequence, lastOffset: s.LastOffset, delta: s.OffsetDelta, timestamp: s.Timestamp,
		})
	}
	q.txnFirst = s.TxnFirstOffset
	if q.txnFirst >= 0 {
		p.open = insert(p.open, txn{id: q.id, first: q.txnFirst, last: -1})
	}
}
