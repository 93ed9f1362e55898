package seglog

import (
	"math"

	"github.com/kalda/kalda/internal/format/batch"
)

// TruncateTo removes all batches that end at offset o or later; the next append is expected at o. A log that
// starts after o becomes empty there.
func (l *Log) TruncateTo(o batch.Offset) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	err := l.truncateTo(o)
	l.mu.Unlock()
	if err != nil {
		return l.fault("truncate", err)
	}
	return l.dir.recoveryLowered(l)
}

func (l *Log) truncateTo(o batch.Offset) error {
	if err := l.usable(); err != nil || o >= l.EndOffset() {
		return err
	}
	segs := l.segments()
	i := floorSegment(segs, o)
	if i < 0 || o <= l.StartOffset() {
		return l.reset(o)
	}
	l.lower(o)
	old := segs[i]
	pos, err := old.position(o)
	if err != nil {
		return err
	}
	// First the shorter list, without the offsets that go: readers are never shown a place that is about to
	// vanish.
	s := newSegment(l, old.base)
	s.txn.exists = old.txn.exists
	h, err := old.open()
	if err != nil {
		return err
	}
	defer h.release()
	if err := l.removeAll(segs[i+1:]); err != nil {
		return err
	}
	if len(segs) > i+1 {
		if err := l.dir.fs.SyncDir(l.Path()); err != nil {
			return err
		}
	}
	if err := old.writeIndexes(0); err != nil {
		return err
	}
	if err := truncateSync(h, pos); err != nil {
		return err
	}
	if err := s.txn.keep(s, o); err != nil {
		return err
	}
	if _, _, err := l.scanSegment(s, o, math.MaxInt64, math.MaxInt64); err != nil {
		return err
	}
	s.synced = min(s.synced, old.synced)
	s.begin(l.dir.now(), l.cfg.Load(), o)
	next := append(segs[:i:i], s)
	l.segs.Store(&next)
	old.close()
	l.epochs.truncateEnd(o)
	return l.dropSnapshots(func(x batch.Offset) bool { return x > o })
}

// truncateSync cuts a file for good: if a crash brought the rest back behind what is written there next,
// whole batches of two histories could follow each other.
func truncateSync(h *handle, size int64) error {
	if err := h.Truncate(size); err != nil {
		return err
	}
	return h.Sync()
}

// lower takes the end and the recovery point back to o.
func (l *Log) lower(o batch.Offset) {
	l.truncated++
	l.end.Store(int64(o))
	l.recovery.Store(min(l.recovery.Load(), int64(o)))
	l.cleaned.Store(min(l.cleaned.Load(), int64(o)))
	l.cut = 0
	l.dropHoles(o)
}

// TruncateFully removes everything: the log is empty and starts at offset o.
func (l *Log) TruncateFully(o batch.Offset) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	err := l.usable()
	if err == nil {
		err = l.reset(o)
	}
	l.mu.Unlock()
	if err != nil {
		return l.fault("truncate", err)
	}
	return l.dir.recoveryLowered(l)
}

// reset is TruncateFully under the mutex.
func (l *Log) reset(o batch.Offset) error {
	segs := l.segments()
	l.lower(o)
	l.recovery.Store(int64(o))
	l.start.Store(int64(o))
	l.segs.Store(new([]*segment))
	if err := l.removeAll(segs); err != nil {
		return err
	}
	if err := l.dropSnapshots(func(batch.Offset) bool { return true }); err != nil {
		return err
	}
	if len(l.epochs.entries()) > 0 {
		l.epochs.set(nil)
	}
	if !l.made {
		return nil
	}
	if err := l.dir.fs.SyncDir(l.Path()); err != nil {
		return err
	}
	return l.addSegment(l.dir.now(), o)
}
