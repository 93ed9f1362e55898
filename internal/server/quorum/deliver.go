package quorum

import (
	"fmt"
	"slices"
	"time"

	"github.com/kalda/kalda/internal/core/kraft"
	"github.com/kalda/kalda/internal/format/batch"
)

// recent is the newest batches, so that committing them needs no reading. Beyond its bound it forgets
// everything: a node that lags that far behind reads its disk.
type recent struct {
	batches []kraft.Batch
	bytes   int
}

const maxRecentBytes = 16 << 20

func (r *recent) add(b kraft.Batch) {
	if r.bytes += len(b.Data); r.bytes > maxRecentBytes {
		*r = recent{}
		return
	}
	r.batches = append(r.batches, b)
}

func (r *recent) truncate(to kraft.Offset) {
	for n := len(r.batches); n > 0 && r.batches[n-1].Last >= to; n-- {
		r.bytes -= len(r.batches[n-1].Data)
		r.batches = r.batches[:n-1]
	}
	r.batches = slices.Clip(r.batches)
}

// take cuts off what starts at from and ends below bound. nil: not here.
func (r *recent) take(from, bound kraft.Offset) []kraft.Batch {
	i := 0
	for i < len(r.batches) && r.batches[i].Base < from {
		r.bytes -= len(r.batches[i].Data)
		i++
	}
	j := i
	for j < len(r.batches) && r.batches[j].Last < bound {
		r.bytes -= len(r.batches[j].Data)
		j++
	}
	out := r.batches[i:j]
	r.batches = r.batches[j:]
	if len(r.batches) == 0 {
		r.batches = nil
	}
	if len(out) > 0 && out[0].Base != from {
		return nil
	}
	return out
}

// deliver brings the machine up to the high watermark and tells it who leads. again says that it was called.
func (e *Engine) deliver() (again bool, err error) {
	s := e.core.State()
	again = e.tellFollow(&s)
	for e.applied < s.HighWatermark {
		batches := e.recent.take(e.applied, s.HighWatermark)
		if len(batches) == 0 {
			if batches, err = e.readLog(s.HighWatermark); err != nil {
				return again, err
			}
		}
		for i := range batches {
			if err := e.apply(&batches[i]); err != nil {
				return again, err
			}
		}
		again = true
	}
	if s.Role == kraft.Leader && e.applied > s.EpochStart && !e.told.leading {
		e.told = roleTold{leading: true, leader: s.Leader, epoch: s.Epoch, any: true}
		e.touched, again = true, true
		e.m.Lead((*writer)(e))
	}
	return again, nil
}

// tellFollow tells of every change, and of a lost leadership before anything of the next one.
func (e *Engine) tellFollow(s *kraft.State) bool {
	if s.Role == kraft.Leader && (!e.told.leading || e.told.epoch == s.Epoch) {
		return false
	}
	t := roleTold{leader: s.Leader, epoch: s.Epoch, any: true}
	if s.Role == kraft.Resigned || s.Role == kraft.Leader {
		t.leader = kraft.NoID
	}
	if t == e.told {
		return false
	}
	e.told, e.touched = t, true
	e.m.Follow(NodeID(t.leader), int32(t.epoch))
	return true
}

func (e *Engine) readLog(bound kraft.Offset) ([]kraft.Batch, error) {
	raw, err := e.store.Read(e.applied, bound, 1<<20)
	if err != nil {
		return nil, fmt.Errorf("reading the metadata log at %d: %w", e.applied, err)
	}
	batches, err := kraft.Split(raw)
	if err != nil || len(batches) == 0 || batches[0].Base != e.applied {
		return nil, fmt.Errorf("reading the metadata log at %d: %w: %w", e.applied, batch.ErrCorrupt, err)
	}
	return batches, nil
}

func (e *Engine) apply(b *kraft.Batch) error {
	v := batch.View(b.Data)
	if !v.Control() {
		recs, err := values(v)
		if err != nil {
			return fmt.Errorf("the metadata log at %d: %w", b.Base, err)
		}
		e.m.Apply(Batch{
			Base: int64(b.Base), Last: int64(b.Last), Epoch: int32(b.Epoch),
			AppendTime: v.MaxTimestamp(), Records: recs,
		})
		e.touched = true
	}
	e.applied, e.lastEpoch, e.lastTime = b.Last+1, b.Epoch, v.MaxTimestamp()
	e.sinceBytes += int64(len(b.Data))
	return nil
}

// values are the record values of a batch, in memory that stays.
func values(v batch.View) ([][]byte, error) {
	r, err := v.Records(nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := make([][]byte, 0, min(int(v.Count()), len(v)/7))
	var rec batch.Record
	for r.Next(&rec) {
		value := rec.Value
		if v.Codec() != batch.None {
			value = slices.Clone(value) // it lies in a buffer that Close gives back
		}
		out = append(out, value)
	}
	return out, r.Err()
}

func (e *Engine) head(id kraft.SnapshotID) (snapshotHead, error) {
	f, err := e.store.Open(id)
	if err != nil {
		return snapshotHead{}, err
	}
	defer f.Close()
	return readSnapshot(f, id, anything)
}

// restore loads a snapshot into the machine.
func (e *Engine) restore(id kraft.SnapshotID) error {
	h, err := e.head(id) // verified whole before the machine sees any of it
	if err != nil {
		return err
	}
	f, err := e.store.Open(id)
	if err != nil {
		return err
	}
	defer f.Close()
	e.m.Restore(&Snapshot{
		Offset: int64(id.Offset), Epoch: int32(id.Epoch), Time: h.appended,
		Records: func(yield func([]byte) bool) { _, err = readSnapshot(f, id, yield) },
	})
	e.applied, e.lastEpoch, e.lastTime = id.Offset, id.Epoch, h.appended
	e.sinceBytes, e.sinceTime, e.touched = 0, e.now, true
	return err
}

// maybeSnapshot starts a snapshot when enough was applied since the last one.
func (e *Engine) maybeSnapshot() {
	if e.snapshoting || e.sinceBytes == 0 || e.applied == 0 {
		return
	}
	due := e.cfg.SnapshotBytes > 0 && e.sinceBytes >= e.cfg.SnapshotBytes ||
		e.cfg.SnapshotInterval > 0 && e.now.Sub(e.sinceTime) >= e.cfg.SnapshotInterval
	if due {
		e.snapshot()
	}
}

func (e *Engine) snapshot() {
	records := e.m.Snapshot()
	if records == nil {
		return
	}
	id := kraft.SnapshotID{Offset: e.applied, Epoch: e.lastEpoch}
	h := snapshotHead{id: id, appended: e.lastTime}
	h.voters, h.version = e.core.ControlAt(id.Offset)
	now := e.now.UnixMilli()
	e.snapshoting, e.sinceBytes, e.sinceTime = true, 0, e.now
	e.cfg.Spawn(func() func() {
		err := e.writeSnapshot(h, now, records)
		return func() {
			e.snapshoting = false
			if err != nil {
				e.cfg.Logger.Error("writing a snapshot", "snapshot", id.String(), "error", err)
				return
			}
			e.core.Step(e.now, kraft.Taken{ID: id})
		}
	})
}

func (e *Engine) writeSnapshot(h snapshotHead, now int64, records func(func([]byte) bool)) error {
	w, err := e.store.Create(h.id)
	if err != nil {
		return err
	}
	if err := writeSnapshot(w, h, now, records); err != nil {
		w.Abort()
		return err
	}
	return w.Commit()
}

// maybeClean removes old snapshots and the log below the oldest that stays: kraft.md 2.9.
func (e *Engine) maybeClean() error {
	if e.now.Before(e.cleanAt) {
		return nil
	}
	e.cleanAt = e.now.Add(cleanPeriod)
	for {
		ids := e.core.State().Log.Snapshots
		if len(ids) < 2 || !e.expired(ids) {
			return nil
		}
		if err := e.store.Trim(ids[1].Offset); err != nil {
			return fmt.Errorf("cleaning the metadata log: %w", err)
		}
		e.core.Step(e.now, kraft.Trimmed{Start: ids[1].Offset})
	}
}

func (e *Engine) expired(ids []kraft.SnapshotID) bool {
	if e.cfg.RetentionBytes >= 0 {
		total := e.store.Usage()
		for _, id := range ids {
			if f, err := e.store.Open(id); err == nil {
				total += f.Size()
				f.Close()
			}
		}
		if total > e.cfg.RetentionBytes {
			return true
		}
	}
	if e.cfg.Retention < 0 {
		return false
	}
	h, err := e.head(ids[0])
	return err == nil && e.now.Sub(time.UnixMilli(h.appended)) > e.cfg.Retention
}
