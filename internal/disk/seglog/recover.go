package seglog

import (
	"fmt"
	"math"

	"github.com/kalda/kalda/internal/format/batch"
)

// scan is one pass over a segment's batches.
type scan struct {
	l    *Log
	s    *segment
	next batch.Offset // where the next segment starts

	end     batch.Offset // after the last batch taken
	gapPos  int64        // of the last batch that didn't follow its predecessor without a gap; -1 for none
	gapEnd  batch.Offset // and the end before it
	back    bool         // a batch was refused that starts before the end
	modern  bool         // there was a batch of the current format: none of those before it follows
	prev    header       // the last batch taken
	excused int64        // position of a batch that may be odd
}

// take enters a batch in the indexes and the epochs, if it can be the next one.
func (c *scan) take(b *header) bool {
	if b.last >= c.next || c.modern && b.magic < 2 || b.odd && b.pos != c.excused && !c.l.cfg.Load().Compact {
		return false
	}
	c.modern = b.magic == 2
	if b.last < c.end || b.magic == 2 && b.base < c.end {
		c.back = true
		return false
	}
	if b.pos == 0 && b.base > c.end { // as after compaction; if a later batch goes back, it was damage
		c.gapPos, c.gapEnd = 0, c.end
	} else if b.base > c.end && c.end > 0 {
		c.gapPos, c.gapEnd = b.pos, c.end
		if !c.l.cfg.Load().Compact {
			c.l.dir.warn("offsets jump in the log: a batch's base offset may be damaged, which no checksum covers",
				"file", c.s.name(suffixLog), "position", b.pos, "from", c.end, "to", b.base)
		}
	}
	c.s.note(b, c.l.cfg.Load().IndexIntervalBytes)
	if b.epoch > c.l.epochs.latest() {
		c.l.epochs.assign(b.epoch, b.base)
	}
	c.end, c.prev = b.last+1, *b
	return true
}

// scanSegment makes the indexes, believed up to offset trusted, complete and finds the end, verifying
// batches from verifyFrom on. Not whole: it was cut.
func (l *Log) scanSegment(s *segment, trusted, verifyFrom, next batch.Offset) (batch.Offset, bool, error) {
	h, err := s.open()
	if err != nil {
		return 0, false, err
	}
	defer h.release()
	info, err := h.Stat()
	if err != nil {
		return 0, false, err
	}
	size := info.Size()
	s.size.Store(size)
	s.synced = size
	pos, err := s.trustIndexes(h, trusted)
	if err != nil {
		return 0, false, err
	}
	return l.scanFrom(h, s, next, pos, scanRules{
		believe: func(b *header) bool { return b.last < verifyFrom },
		verify:  verifyFrom < math.MaxInt64, synced: true,
	})
}

// scanRules say what of a segment is taken as it is, and what is verified.
type scanRules struct {
	believe func(*header) bool // a batch by its header alone
	verify  bool               // else: all that isn't believed
	synced  bool               // what is believed was synced
}

// scanFrom takes the batches from pos on, mends what can be, and cuts the rest.
func (l *Log) scanFrom(h *handle, s *segment, next batch.Offset, pos int64, r scanRules) (
	batch.Offset, bool, error,
) {
	size := s.size.Load()
	c := scan{l: l, s: s, next: next, end: s.base, gapPos: -1, excused: -1}
	if first, ok, err := headerAt(h, pos, size); err != nil {
		return 0, false, err
	} else if pos > 0 && ok { // as the index says
		c.end = first.base
	}
	for corrected := 0; ; {
		var err error
		if pos, err = c.walk(h, pos, r); err != nil || pos == size {
			return c.end, err == nil, err
		}
		if l.dir.standalone {
			return l.cutSegment(h, &c, pos)
		}
		at := pos
		if pos, err = l.mend(h, &c, pos); err != nil {
			return 0, false, err
		}
		switch pos {
		case nothing:
			return l.cutSegment(h, &c, at)
		case startOver, at:
			if corrected++; corrected > mostCorrected {
				return 0, false, fmt.Errorf("%s: %w: offsets out of order at position %d", s.name(suffixLog),
					ErrCorrupt, at)
			}
			if pos == startOver {
				if pos, err = 0, s.forgetIndexes(); err != nil {
					return 0, false, err
				}
				c = scan{l: l, s: s, next: next, end: s.base, gapPos: -1, excused: -1}
			}
		}
	}
}

// walk takes batches from pos on, up to the first that isn't to be taken.
func (c *scan) walk(h *handle, pos int64, r scanRules) (int64, error) {
	size := c.s.size.Load()
	pos, err := walk(h, pos, size, func(b *header) bool { return r.believe(b) && c.take(b) })
	if err != nil || pos == size || !r.verify {
		return pos, err
	}
	if r.synced {
		c.s.synced = min(c.s.synced, pos)
	}
	return walkBatches(h, pos, size, func(b *header, raw []byte) bool {
		if verify(b, raw) != nil {
			return false
		}
		b.odd = false // so it was compacted once
		return c.take(b)
	})
}

// cutSegment removes what follows pos. If that goes back behind a jump forward, the jump was the damage:
// base offsets are outside the checksum.
func (l *Log) cutSegment(h *handle, c *scan, pos int64) (batch.Offset, bool, error) {
	if err := l.damaged(h, c, pos); err != nil {
		return 0, false, err
	}
	s := c.s
	jumped := c.back && c.gapPos >= 0
	if jumped {
		pos, c.end = c.gapPos, c.gapEnd
	}
	l.dir.warn("cutting what is no whole batch off the log", "file", s.name(suffixLog),
		"position", pos, "bytes", s.size.Load()-pos)
	if err := truncateSync(h, pos); err != nil {
		return 0, false, err
	}
	if err := s.txn.keep(s, c.end); err != nil {
		return 0, false, err
	}
	synced := min(s.synced, pos)
	end := c.end
	if jumped { // and the indexes know it
		if err := s.forgetIndexes(); err != nil {
			return 0, false, err
		}
		var err error
		if end, _, err = l.scanSegment(s, math.MaxInt64, math.MaxInt64, c.next); err != nil {
			return 0, false, err
		}
	}
	s.size.Store(pos)
	s.synced = synced
	return end, false, nil
}

// trustIndexes keeps the beginning of the indexes that makes sense and lies before verifyFrom, and returns
// the position of the last batch that they know.
func (s *segment) trustIndexes(h *handle, verifyFrom batch.Offset) (pos int64, err error) {
	size := s.size.Load()
	limit := int64(math.MaxInt64) // after a clean stop: they are whole
	if verifyFrom < math.MaxInt64 {
		limit = int64(verifyFrom - s.base)
		if err := s.txn.keep(s, verifyFrom); err != nil {
			return 0, err
		}
	}
	if err := s.cutIndexes(limit, size); err != nil {
		return 0, err
	}
	s.topLoaded = true
	s.offsets.dirty, s.times.dirty = true, true // who knows
	if e, ok, err := s.offsets.last(); err != nil {
		return 0, err
	} else if ok {
		if ok, err = s.indexed(h, e); err != nil {
			return 0, err
		} else if ok {
			pos = e.val
		}
	}
	e, ok, err := s.times.last()
	if err != nil {
		return 0, err
	}
	if pos > 0 && ok {
		if _, ok, err = s.timed(h, e); err != nil {
			return 0, err
		}
		s.maxTime, s.maxOffset, s.lastTime = e.key, s.base+batch.Offset(e.val), e.key
	}
	if pos == 0 || !ok {
		return 0, s.forgetIndexes()
	}
	first, ok, err := headerAt(h, 0, size)
	if ok {
		s.firstTime = first.maxTimestamp
	}
	return pos, err
}

// cutIndexes keeps the entries that make sense and are below relative offset limit; all of them if there is
// no limit.
func (s *segment) cutIndexes(limit, size int64) error {
	if limit == math.MaxInt64 {
		if err := s.offsets.load(); err != nil {
			return err
		}
		return s.times.load()
	}
	// An index that wasn't trimmed ends in zeros, which no entry is: the batch at the start of a segment gets
	// none.
	last := math.MaxInt
	if limit >= int64(believed-s.base) {
		last = believedTail
	}
	if err := s.offsets.keep(last, func(prev, e entry) bool {
		return e.key > prev.key && e.val > max(prev.val, 0) && e.key < limit && e.val < size
	}); err != nil {
		return err
	}
	if err := s.times.keep(last, func(prev, e entry) bool {
		return e.key > max(prev.key, 0) && e.val >= max(prev.val, 0) && e.val < limit
	}); err != nil || last < math.MaxInt {
		return err
	}
	// A power cut may have taken more of the times than of the offsets: times are known up to here only.
	newest, _, err := s.times.last()
	if err != nil {
		return err
	}
	return s.offsets.keep(last, func(_, e entry) bool { return e.key <= newest.val })
}

// forgetIndexes empties both indexes, to be made again from the batches.
func (s *segment) forgetIndexes() error {
	s.sinceIndex, s.lastTime = 0, -1
	s.maxTime, s.maxOffset = -1, NoOffset
	none := func(_, _ entry) bool { return false }
	if err := s.offsets.keep(math.MaxInt, none); err != nil {
		return err
	}
	return s.times.keep(math.MaxInt, none)
}

// repair makes the indexes of a segment again from its batches, and steps over damage among those, after one
// was found to be wrong.
func (l *Log) repair(s *segment) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if segs, i := l.segments(), floorSegment(l.segments(), s.base); i < 0 || segs[i] != s {
		return nil // truncated or deleted meanwhile
	}
	h, err := s.open()
	if err != nil {
		return err
	}
	defer h.release()
	s.top.Lock()
	err = s.forgetIndexes()
	s.top.Unlock()
	if err != nil {
		return err
	}
	if err := l.walkAgain(h, s); err != nil {
		return err
	}
	if s == l.active() {
		return nil
	}
	return s.seal()
}

// walkAgain notes all batches of a segment that is in use. Nothing of it is cut.
func (l *Log) walkAgain(h *handle, s *segment) error {
	size, segs := s.size.Load(), l.segments()
	c := scan{l: l, s: s, next: l.EndOffset(), end: s.base, gapPos: -1, excused: -1}
	if i := floorSegment(segs, s.base) + 1; i < len(segs) {
		c.next = segs[i].base
	}
	r := scanRules{believe: func(*header) bool { return true }}
	for pos, corrected := int64(0), 0; pos < size; {
		at, err := c.walk(h, pos, r)
		if err != nil || at == size {
			return err
		}
		if pos, err = l.mend(h, &c, at); err != nil {
			return err
		}
		if pos < 0 || pos == at {
			if corrected++; pos == nothing || corrected > mostCorrected {
				return fmt.Errorf("%s: %w: no batch at position %d", s.name(suffixLog), ErrCorrupt, at)
			}
		}
		if pos == startOver {
			if pos, err = 0, s.forgetIndexes(); err != nil {
				return err
			}
			c = scan{l: l, s: s, next: c.next, end: s.base, gapPos: -1, excused: -1}
		}
	}
	return nil
}
