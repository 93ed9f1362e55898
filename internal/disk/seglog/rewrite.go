package seglog

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/kalda/kalda/internal/format/batch"
)

// ErrChanged says that the segments to be replaced aren't in the log any more: it was cut or its start
// moved.
var ErrChanged = errors.New("the log changed meanwhile")

// Rewriting makes what takes the place of neighbouring segments: one segment, or more if what was kept
// doesn't fit one. To be ended with Finish or Discard.
type Rewriting struct {
	c    *Cleaning
	old  []*segment
	made []*segment
	buf  []byte // batches not yet written
	pos  int64  // where they go in the last one made
}

// Rewrite begins to replace n segments from the ith on; none of them is being written to.
func (c *Cleaning) Rewrite(i, n int) (*Rewriting, error) {
	w := &Rewriting{c: c, old: c.segs[i : i+n]}
	if err := w.add(w.old[0].base); err != nil {
		w.Discard()
		return nil, c.l.fault("clean", err)
	}
	return w, nil
}

// add starts the next segment.
func (w *Rewriting) add(base batch.Offset) error {
	s := newSegment(w.c.l, base)
	s.rename(suffixCleaned)
	f, err := s.fs().OpenFile(s.name(suffixLog), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	s.data.h = &handle{File: f}
	s.data.h.refs.Store(1)
	s.size.Store(0)
	s.topLoaded, s.offsets.loaded, s.times.loaded = true, true, true
	w.made = append(w.made, s)
	w.pos = 0
	for _, suffix := range segmentSuffixes[1:] { // what an earlier attempt left
		if err := s.fs().Remove(s.name(suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (w *Rewriting) last() *segment { return w.made[len(w.made)-1] }

// Append writes whole batches, which come in the order of the log.
func (w *Rewriting) Append(b []byte) error {
	cfg := w.c.l.cfg.Load()
	for len(b) > 0 {
		h, ok := parseHeader(b, 0, int64(len(b)))
		if !ok {
			return fmt.Errorf("%s: %w: what was to be written is no batch", w.c.l, ErrCorrupt)
		}
		if w.full(&h, cfg) {
			if err := w.end(); err != nil {
				return err
			}
			if err := w.add(h.base); err != nil {
				return w.c.l.fault("clean", err)
			}
		}
		h.pos = w.pos + int64(len(w.buf))
		w.last().note(&h, cfg.IndexIntervalBytes)
		w.buf = append(w.buf, b[:h.size]...)
		b = b[h.size:]
		if int64(len(w.buf)) >= w.c.chunk {
			if err := w.write(); err != nil {
				return err
			}
		}
	}
	return nil
}

// full says whether a batch must go to another segment. That is rare: batches written again can be a little
// larger, and logs of old versions may have offsets that lie too far apart (KAFKA-6264).
func (w *Rewriting) full(h *header, cfg *Config) bool {
	s, size := w.last(), w.pos+int64(len(w.buf))
	if int64(h.last-s.base) > math.MaxInt32 {
		return true
	}
	return size > 0 && (size+h.size > cfg.SegmentBytes ||
		int64(s.offsets.count()) >= cfg.IndexBytes/offsetWidth ||
		int64(s.times.count()) >= cfg.IndexBytes/timeWidth-1)
}

func (w *Rewriting) write() error {
	s := w.last()
	h, err := s.open()
	if err != nil {
		return w.c.l.fault("clean", err)
	}
	defer h.release()
	if _, err := h.WriteAt(w.buf, w.pos); err != nil {
		return w.c.l.fault("clean", err)
	}
	w.pos += int64(len(w.buf))
	s.size.Store(w.pos)
	w.buf = w.buf[:0]
	return w.c.l.fault("clean", s.writeIndexes(indexTail))
}

// Aborted notes an aborted transaction whose marker was just written, or is about to be.
func (w *Rewriting) Aborted(t AbortedTxn) error {
	s := w.last()
	return w.c.l.fault("clean", s.txn.add(s, t))
}

// end completes the segment being made and makes it durable, with the age of what it replaces: that is what
// legacy tombstones and records without a time go by.
func (w *Rewriting) end() error {
	s := w.last()
	if err := w.write(); err != nil {
		return err
	}
	err := s.seal()
	if err == nil {
		err = s.sync(true)
	}
	if err != nil {
		return w.c.l.fault("clean", err)
	}
	s.synced = w.pos
	oldest := w.old[len(w.old)-1]
	info, err := oldest.fs().Stat(oldest.name(suffixLog))
	if err == nil {
		err = s.fs().Chtime(s.name(suffixLog), info.ModTime())
	}
	return w.c.l.fault("clean", err)
}

// Discard removes what was made.
func (w *Rewriting) Discard() {
	for _, s := range w.made {
		s.close()
		for _, suffix := range segmentSuffixes {
			_ = s.fs().Remove(s.name(suffix)) // the next start does it, else
		}
	}
	w.made = nil
}

// Finish puts what was made in the place of the old segments. ErrChanged: they aren't there any more, and
// nothing happened.
func (w *Rewriting) Finish() error {
	l := w.c.l
	made := w.end() // the file that it looks at may be gone with its segment, so whether it is comes first
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	segs := l.segments()
	at := slices.Index(segs, w.old[0])
	if err := l.usable(); err != nil {
		w.Discard()
		return err
	}
	if at < 0 || at+len(w.old) >= len(segs) || !slices.Equal(segs[at:at+len(w.old)], w.old) {
		w.Discard()
		return fmt.Errorf("%s: %w", l, ErrChanged)
	}
	if made != nil {
		w.Discard()
		return made
	}
	next := slices.Concat(segs[:at], w.made, segs[at+len(w.old):])
	if err := w.exchange(next); err != nil {
		// Half of the names are the new ones. The next start finishes it; until then nothing more is written.
		l.failed = l.fault("replace segments", err)
		return l.failed
	}
	return l.fault("clean", errors.Join(w.dropSnapshots(next), l.dir.fs.SyncDir(l.Path())))
}

// exchange renames the files and shows readers the new list. Whoever opens one of the files meanwhile waits,
// and then finds it under its new name.
func (w *Rewriting) exchange(next []*segment) error {
	l := w.c.l
	all := slices.Concat(w.old, w.made)
	for _, s := range all {
		s.freeze()
	}
	defer func() {
		for _, s := range all {
			s.thaw()
		}
		for _, s := range w.old {
			s.close()
		}
	}()
	l.namesDirty = true
	// The other way round, so that as long as one is still .cleaned all that are .swap already count for
	// nothing.
	for _, s := range slices.Backward(w.made) {
		if err := s.move(suffixCleaned, suffixSwap); err != nil {
			return err
		}
	}
	for _, s := range w.old {
		if err := s.move("", suffixDeleted); err != nil {
			return err
		}
	}
	for _, s := range w.made {
		if err := s.move(suffixSwap, ""); err != nil {
			return err
		}
	}
	l.segs.Store(&next)
	delay := l.cfg.Load().FileDeleteDelayMs
	for _, s := range w.old {
		for _, suffix := range segmentSuffixes {
			l.dir.discard(s.name(suffix), delay)
		}
	}
	return nil
}

// dropSnapshots removes the producer snapshots at the starts of segments that are no more.
func (w *Rewriting) dropSnapshots(next []*segment) error {
	return w.c.l.dropSnapshots(func(o batch.Offset) bool {
		has := func(s *segment) bool { return s.base == o }
		return slices.ContainsFunc(w.old, has) && !slices.ContainsFunc(next, has)
	})
}

// move renames the segment's files; those of its indexes that there are.
func (s *segment) move(from, to string) error {
	for _, suffix := range segmentSuffixes {
		name := s.log.file(segmentName(s.base) + suffix)
		err := s.fs().Rename(name+from, name+to)
		if err != nil && (suffix == suffixLog || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	s.rename(to)
	return nil
}

// freeze keeps everybody from opening the segment's files until thaw.
func (s *segment) freeze() {
	s.data.mu.Lock()
	s.offsets.slot.mu.Lock()
	s.times.slot.mu.Lock()
	s.txn.mu.Lock()
}

func (s *segment) thaw() {
	s.txn.mu.Unlock()
	s.times.slot.mu.Unlock()
	s.offsets.slot.mu.Unlock()
	s.data.mu.Unlock()
}
