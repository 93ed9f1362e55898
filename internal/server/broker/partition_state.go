package broker

import (
	"errors"

	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/format/batch"
)

// replayed is how many offsets may be read again after a start without writing a snapshot at once: a node
// that is killed again before its next checkpoint would read them once more, and those that came since.
const replayed = 1000

// loadProducers makes the producers' state from the newest snapshot and what the log holds after it, when it
// is first needed: a partition that nobody writes to costs nothing at start. Under mu.
func (p *Partition) loadProducers() error {
	if p.known.Load() {
		return nil
	}
	from, snap, err := p.log.LatestProducers(p.log.EndOffset())
	if err != nil {
		return err
	}
	s := replica.NewProducers(p.b.cfg.MaxProducers)
	if from == seglog.NoOffset {
		from = p.log.StartOffset()
	} else if err := s.Load(snap); err != nil {
		p.b.log.Warn("unreadable producer snapshot: reading the log instead", "partition", p.String(), "error", err)
		from = p.log.StartOffset()
	}
	if from < p.log.EndOffset() {
		err = p.log.VisitHeaders(from, func(v batch.View) error {
			if v.BaseOffset() < from {
				return nil
			}
			return p.noteAborted(s.Append(v))
		})
	}
	if err != nil && !errors.Is(err, seglog.ErrOffsetOutOfRange) {
		return err
	}
	s.Expire(p.b.cfg.Now().UnixMilli(), p.b.cfg.ProducerExpiry.Milliseconds())
	p.producers, p.snapshot = s, from
	p.known.Store(true)
	p.stable()
	if end := p.log.EndOffset(); end-from > replayed {
		p.saveProducers(end)
	}
	return nil
}

// ensureProducers is loadProducers for who doesn't hold mu.
func (p *Partition) ensureProducers() error {
	if p.known.Load() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loadProducers()
}

// noteProducer enters an appended batch in the producers' state. Under mu.
func (p *Partition) noteProducer(v batch.View) {
	if err := p.noteAborted(p.producers.Append(v)); err != nil {
		p.b.log.Error("recording an aborted transaction failed", "partition", p.String(), "error", err)
	}
}

// noteAborted enters an aborted transaction, if there is one, in the transaction index, which may know it.
func (p *Partition) noteAborted(a *replica.Aborted) error {
	if a == nil {
		return nil
	}
	return p.log.AppendAborted(seglog.AbortedTxn{
		ProducerID: a.ProducerID, First: a.First, Last: a.Last, LastStable: a.LastStableOffset,
	})
}

// stable computes the last stable offset again. Under mu.
func (p *Partition) stable() {
	if p.known.Load() {
		p.lso.Store(int64(p.producers.LastStable(p.HW(), p.log.StartOffset())))
	}
}

// LSO is the last stable offset. Where producers aren't loaded it is told as the high watermark; who reads
// only what is committed calls ensureProducers first.
func (p *Partition) LSO() batch.Offset {
	if !p.known.Load() {
		return p.HW()
	}
	return batch.Offset(p.lso.Load())
}

// snapshotProducers encodes the producers for a snapshot at the log's end. The log calls it inside Append and
// Close, with mu held by the former. nil: they were never loaded, so nothing was appended and the snapshot on
// disk is good.
func (p *Partition) snapshotProducers(upTo batch.Offset) []byte {
	if !p.known.Load() {
		return nil
	}
	p.snapshot = upTo
	return p.producers.Snapshot()
}

// putProducers writes a snapshot now and then, so that a start after a crash has little to read again.
func (p *Partition) putProducers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone || p.log == nil || !p.known.Load() || p.snapshot == p.log.EndOffset() {
		return
	}
	p.saveProducers(p.log.EndOffset())
}

// saveProducers writes a snapshot at the log's end. Under mu.
func (p *Partition) saveProducers(end batch.Offset) {
	if err := p.log.PutProducers(end, p.producers.Snapshot()); err != nil {
		p.b.log.Warn("writing a producer snapshot failed", "partition", p.String(), "error", err)
		return
	}
	p.snapshot = end
}

// expireProducers forgets producers that have been idle for too long.
func (p *Partition) expireProducers(now int64) {
	if !p.known.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.producers.Expire(now, p.b.cfg.ProducerExpiry.Milliseconds())
}
