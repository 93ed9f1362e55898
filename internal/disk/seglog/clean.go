package seglog

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/kalda/kalda/internal/format/batch"
)

// A compaction replaces segments by ones with less in them, while the log is used. Its owner decides what
// stays; here is how segments are read and exchanged. The exchange is Apache's, so that either recovers
// what the other left (broker.md 3.8): what is to come is written as .cleaned, made durable, and renamed
// to .swap, from where on a start finishes what is left to do.

// Cleaned is up to which offset the log is compacted, -1 if it never was.
func (l *Log) Cleaned() batch.Offset { return batch.Offset(l.cleaned.Load()) }

// SetCleaned notes durably up to where the log is compacted.
func (l *Log) SetCleaned(o batch.Offset) error {
	l.mu.Lock()
	err := l.usable()
	if err == nil {
		l.cleaned.Store(int64(min(o, l.EndOffset())))
	}
	l.mu.Unlock()
	if err != nil || l.dir.standalone {
		return err
	}
	return l.dir.saveCheckpoints()
}

// SegmentInfo is what an owner that compacts the log needs to know of a segment.
type SegmentInfo struct {
	Base             batch.Offset
	Size             int64
	Index, TimeIndex int64 // bytes
}

// Cleaning sees the segments that a log has at one moment.
type Cleaning struct {
	l     *Log
	segs  []*segment
	chunk int64
}

// StartCleaning takes down which segments there are. It reads, and writes, chunk bytes at once.
func (l *Log) StartCleaning(chunk int) (*Cleaning, error) {
	if err := l.wake(); err != nil {
		return nil, err
	}
	c := &Cleaning{l: l, segs: l.segments(), chunk: int64(max(chunk, 1<<10))}
	for _, s := range c.segs {
		if s.size.Load() < 0 {
			if err := s.stat(); err != nil {
				return nil, l.fault("clean", err)
			}
		}
	}
	return c, nil
}

// Segments lists the segments, the last of which is being written to.
func (c *Cleaning) Segments() []SegmentInfo {
	out := make([]SegmentInfo, len(c.segs))
	for i, s := range c.segs {
		out[i] = SegmentInfo{
			Base: s.base, Size: s.size.Load(),
			Index: int64(s.offsets.count()) * offsetWidth, TimeIndex: int64(s.times.count()) * timeWidth,
		}
	}
	return out
}

// Times tells a segment's largest timestamp and that of its first batch, -1 where there is none.
func (c *Cleaning) Times(i int) (first, largest int64, err error) {
	s := c.segs[i]
	if largest, _, err = s.largest(); err != nil {
		return 0, 0, c.l.fault("clean", err)
	}
	h, err := s.open()
	if err != nil {
		return 0, 0, c.l.fault("clean", err)
	}
	defer h.release()
	hd, ok, err := headerAt(h, 0, s.size.Load())
	if !ok {
		return -1, largest, c.l.fault("clean", err)
	}
	return hd.maxTimestamp, largest, nil
}

// Modified is when the segment's records were written, in ms.
func (c *Cleaning) Modified(i int) (int64, error) {
	info, err := c.segs[i].fs().Stat(c.segs[i].name(suffixLog))
	if err != nil {
		return 0, c.l.fault("clean", err)
	}
	return info.ModTime().UnixMilli(), nil
}

// Changed says that segment i or a later one isn't in the log any more: an error met on the way need not
// mean anything.
func (c *Cleaning) Changed(i int) bool {
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	segs := c.l.segments()
	at := slices.Index(segs, c.segs[i])
	left := c.segs[i:]
	return c.l.closed || at < 0 || at+len(left) > len(segs) || !slices.Equal(segs[at:at+len(left)], left)
}

// Walk calls fn with every batch of segment i, of any magic, from the one that holds offset from on, until
// fn returns an error; io.EOF ends the walk without one. A batch whose checksum is wrong ends it with
// ErrCorrupt: what is written again would look good.
func (c *Cleaning) Walk(i int, from batch.Offset, fn func(b []byte) error) error {
	s := c.segs[i]
	h, err := s.open()
	if err != nil {
		return c.l.fault("clean", err)
	}
	defer h.release()
	size := s.size.Load()
	pos, err := s.position(from)
	if err != nil {
		return c.l.fault("clean", err)
	}
	var stop error
	at, err := walkChunks(h, pos, size, c.chunk, func(hd *header, b []byte) bool {
		if stop = verify(hd, b); stop == nil {
			stop = fn(b)
		}
		return stop == nil
	})
	switch {
	case err != nil:
		return c.l.fault("clean", err)
	case errors.Is(stop, io.EOF):
		return nil
	case stop != nil:
		return stop
	case at < size:
		return fmt.Errorf("%s: %w: no batch at position %d of %d", s.name(suffixLog), ErrCorrupt, at, size)
	}
	return nil
}
