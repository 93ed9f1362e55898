package seglog

import (
	"fmt"
	"os"
	"slices"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// span is what an append needs to know of its batches.
type span struct {
	first, last batch.Offset
	maxTime     int64
}

// spanOf walks the batches, which must be whole and in order.
func spanOf(batches []byte, end batch.Offset) (s span, err error) {
	s = span{first: -1, last: end - 1, maxTime: -1}
	for rest := batches; len(rest) > 0; {
		var v batch.View
		if v, rest, err = batch.Next(rest); err != nil {
			return s, err
		}
		if v.BaseOffset() <= s.last || v.LastOffsetDelta() < 0 {
			return s, fmt.Errorf("%w: batch at %d after %d", ErrOutOfOrder, v.BaseOffset(), s.last)
		}
		if s.first < 0 {
			s.first = v.BaseOffset()
		}
		s.last = v.LastOffset()
		s.maxTime = max(s.maxTime, v.MaxTimestamp())
	}
	return s, nil
}

// Append writes whole batches with their final offsets and epochs at the end of the log: stamped by a
// leader, or as fetched from one. Their content was checked before. Offsets may leave gaps, never go back
// (ErrOutOfOrder).
func (l *Log) Append(now int64, batches []byte) error {
	l.mu.Lock()
	err := l.append(now, batches)
	due := err == nil && l.flushDue(now)
	l.mu.Unlock()
	if due {
		return l.flush(now)
	}
	return err
}

func (l *Log) append(now int64, batches []byte) error {
	if err := l.usable(); err != nil {
		return err
	}
	sp, err := spanOf(batches, l.EndOffset())
	if err != nil || len(batches) == 0 {
		return l.fault("append", err)
	}
	s, err := l.room(now, int64(len(batches)), sp)
	if err != nil {
		return err
	}
	size := s.size.Load()
	if err := s.writeIndexes(indexTail); err != nil {
		return l.fault("write index", err)
	}
	if err := l.write(s, batches, size); err != nil {
		l.dir.doubted.Store(true)
		return l.fault("append", err)
	}
	// From here on nothing fails.
	l.noteAll(s, batches, size)
	if l.lastFlush == 0 {
		l.lastFlush = now
	}
	end := sp.last + 1
	s.size.Store(size + int64(len(batches)))
	s.tail.Load().push(end, size+int64(len(batches)))
	l.end.Store(int64(end))
	l.dir.dirty.Store(true)
	return nil
}

// write puts b at the end of the segment. What a failed write left there is cut off, now or before the next
// one.
func (l *Log) write(s *segment, b []byte, size int64) error {
	h, err := s.open()
	if err != nil {
		return err
	}
	defer h.release()
	if l.cut > 0 {
		if err := h.Truncate(size); err != nil {
			return err
		}
		l.cut = 0
	}
	n, err := h.WriteAt(b, size)
	if err != nil && n > 0 && h.Truncate(size) != nil {
		l.cut = int64(n)
	}
	return err
}

// noteAll enters batches, written at pos, in the indexes and the epoch cache.
func (l *Log) noteAll(s *segment, batches []byte, pos int64) {
	interval := l.cfg.Load().IndexIntervalBytes
	for len(batches) > 0 {
		h, _ := parseHeader(batches, pos, pos+int64(len(batches))) // spanOf went the same way
		s.note(&h, interval)
		l.epochs.assign(h.epoch, h.base)
		pos += h.size
		batches = batches[h.size:]
	}
}

// room is the active segment, a new one if n bytes don't go into the one there is.
func (l *Log) room(now, n int64, sp span) (*segment, error) {
	cfg := l.cfg.Load()
	if n > cfg.SegmentBytes {
		return nil, fmt.Errorf("%s: append of %d bytes: %w of %d", l, n, ErrTooLarge, cfg.SegmentBytes)
	}
	s := l.active()
	if s == nil {
		if err := l.materialize(now); err != nil {
			return nil, l.fault("create", err)
		}
		s = l.active()
	}
	if s.full(now, n, sp.last, sp.maxTime, cfg) {
		if err := l.roll(now, max(sp.first, l.EndOffset())); err != nil {
			return nil, l.fault("roll", err)
		}
		s = l.active()
	}
	return s, nil
}

// Materialize makes the log's directory and its first segment now.
func (l *Log) Materialize() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil || l.active() != nil {
		return err
	}
	return l.fault("create", l.materialize(l.dir.now()))
}

func (l *Log) materialize(now int64) error {
	fsys := l.dir.fs
	if !l.made {
		if err := fsys.MkdirAll(l.Path(), 0o755); err != nil {
			return err
		}
		l.made, l.newDir = true, true
	}
	if err := l.writePartition(); err != nil {
		return err
	}
	return l.addSegment(now, l.EndOffset())
}

// writePartition puts partition.metadata there if it isn't. It is durable before the first append: a log
// without it could be taken for that of an older topic of the same name.
func (l *Log) writePartition() error {
	if l.spec.ID == [16]byte{} {
		return nil
	}
	name := l.file(filePartition)
	if absent, err := missing(l.dir.fs, name); err != nil || !absent {
		return err
	}
	return vfs.WriteFile(l.dir.fs, name, encodePartition(l.spec.ID))
}

// addSegment creates a segment and makes it the active one.
func (l *Log) addSegment(now int64, base batch.Offset) error {
	s := newSegment(l, base)
	f, err := l.dir.fs.OpenFile(s.name(suffixLog), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	s.data.h = &handle{File: f}
	s.data.h.refs.Store(1)
	s.size.Store(0)
	s.topLoaded, s.offsets.loaded, s.times.loaded = true, true, true
	l.namesDirty = true
	s.begin(now, l.cfg.Load(), base)
	segs := l.segments()
	next := append(slices.Clip(segs), s)
	l.segs.Store(&next)
	return nil
}

// roll ends the active segment and starts one at base.
func (l *Log) roll(now int64, base batch.Offset) error {
	s := l.active()
	if s.size.Load() == 0 {
		return l.replaceEmpty(now, base)
	}
	if err := s.seal(); err != nil {
		return err
	}
	if err := l.writeProducers(base); err != nil {
		return err
	}
	return l.addSegment(now, base)
}

// replaceEmpty gives an active segment without batches another base, which offset gaps can ask for.
func (l *Log) replaceEmpty(now int64, base batch.Offset) error {
	segs := l.segments()
	s := segs[len(segs)-1]
	if err := l.removeFiles(s, true); err != nil {
		return err
	}
	next := segs[: len(segs)-1 : len(segs)-1]
	l.segs.Store(&next)
	return l.addSegment(now, base)
}

// Roll starts a new segment now, if the active one holds anything.
func (l *Log) Roll(now int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	if s := l.active(); s == nil || s.size.Load() == 0 {
		return nil
	}
	return l.fault("roll", l.roll(now, l.EndOffset()))
}
