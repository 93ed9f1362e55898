package seglog

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/kalda/kalda/internal/format/batch"
)

// Damage in the middle of a partition's log, with good batches behind it, is kept: cutting it off would take
// those with it. It is mended as far as the frame: the header's first fields are written so that whoever
// walks over the log steps over the damage, and its checksum goes on failing. If the damage was in those
// fields alone, which the checksum doesn't cover, the batch is whole again. See docs/adr/0009-damage.md.

// HoleError tells of damaged batches that were kept where they are: what they held can't be read.
type HoleError struct {
	File        string
	Pos, End    int64        // the damaged bytes
	First, Next batch.Offset // held the offsets First to Next-1
}

func (e *HoleError) Error() string {
	return fmt.Sprintf("%s: %v: damaged from position %d to %d: offsets %d to %d can't be read", e.File,
		ErrCorrupt, e.Pos, e.End, e.First, e.Next-1)
}

// Behind is the offset to go on at.
func (e *HoleError) Behind() batch.Offset { return e.Next }

// Unwrap is ErrCorrupt.
func (e *HoleError) Unwrap() error { return ErrCorrupt }

// hole finds the first known hole that ends after offset o; nil if there is none.
func (l *Log) hole(o batch.Offset) *HoleError {
	if p := l.holes.Load(); p != nil {
		for _, h := range *p {
			if h.Next > o {
				return h
			}
		}
	}
	return nil
}

// addHole notes a hole, once, and tells of it.
func (l *Log) addHole(h *HoleError) {
	var all []*HoleError
	if p := l.holes.Load(); p != nil {
		all = slices.Clone(*p)
	}
	at, known := slices.BinarySearchFunc(all, h.First, func(x *HoleError, o batch.Offset) int {
		return int(x.First - o)
	})
	if known {
		return
	}
	all = slices.Insert(all, at, h)
	l.holes.Store(&all)
	l.dir.o.Logger.Error("damaged records in the log: they can't be read, what is before and behind them can; "+
		"kalda doctor tells more", "file", h.File, "position", h.Pos, "bytes", h.End-h.Pos,
		"firstOffset", h.First, "lastOffset", h.Next-1)
}

// dropHoles forgets the holes from offset o on.
func (l *Log) dropHoles(o batch.Offset) {
	if p := l.holes.Load(); p != nil {
		left := slices.DeleteFunc(slices.Clone(*p), func(h *HoleError) bool { return h.First >= o })
		l.holes.Store(&left)
	}
}

// What mend says of a place, besides where to go on.
const (
	nothing   = -1 // is behind it: to be cut
	startOver = -2 // a batch before it was corrected
)

// mostCorrected is how many base offsets of one segment are put right: more are no flipped bits.
const mostCorrected = 16

// mend looks at what a scan didn't take at pos.
func (l *Log) mend(h *handle, c *scan, pos int64) (int64, error) {
	pos, err := c.blame(h, pos)
	if err != nil {
		return 0, err
	}
	at, next, err := l.behind(h, c, pos)
	if err != nil || at < 0 && next < 0 {
		return nothing, err
	}
	if l.unsynced(c.end) {
		return nothing, l.countLost(h, c, pos)
	}
	if c.back {
		return l.correct(h, c, pos)
	}
	if at < 0 {
		at = c.s.size.Load()
	}
	return l.fillHole(h, c, HoleError{File: c.s.name(suffixLog), Pos: pos, End: at, First: c.end, Next: next})
}

// blame finds the damaged batch of a place where a walk stopped: the one there, or the one before it, whose
// length may have led astray if it was believed by its header.
func (c *scan) blame(h *handle, pos int64) (int64, error) {
	if c.prev.size > 0 && c.prev.magic == 2 && c.prev.pos+c.prev.size == pos {
		good, err := whole(h, &c.prev)
		if err != nil {
			return pos, err
		}
		if !good {
			pos, c.end, c.back = c.prev.pos, c.prev.base, false
		}
	}
	if c.back {
		hd, ok, err := headerAt(h, pos, c.s.size.Load())
		if err == nil && ok {
			c.back, err = whole(h, &hd)
		}
		return pos, err
	}
	return pos, nil
}

// whole says whether a batch passes its checksum.
func whole(h *handle, hd *header) (bool, error) {
	raw := make([]byte, hd.size)
	if err := readFull(h.File, raw, hd.pos); err != nil {
		return false, err
	}
	return verify(hd, raw) == nil, nil
}

// unsynced says that the machine may have stopped before what is at offset o was on the disk: damage there is
// what a power cut leaves.
func (l *Log) unsynced(o batch.Offset) bool {
	return l.verifyFrom < math.MaxInt64 && !l.dir.sameBoot && o >= l.verifyFrom
}

// behind finds what shows that the damage at pos isn't the log's torn end: the position and the base offset
// of the next good batch in this segment; or position -1 and the offset up to which the log is known to have
// been. Both -1: nothing.
func (l *Log) behind(h *handle, c *scan, pos int64) (at int64, next batch.Offset, err error) {
	size := c.s.size.Load()
	first, ok, err := headerAt(h, pos, size)
	if err != nil {
		return -1, -1, err
	}
	if c.back && ok {
		return pos, first.base, nil
	}
	from := pos + 1
	if ok && pos+first.size < size { // it may hold a batch in a record: look behind it first
		if b, ok, err := l.goodAt(h, c, pos+first.size); ok || err != nil {
			return b.pos, b.base, err
		}
	}
	for from < size {
		if at, err = nextWhole(h, from, size); at < 0 || err != nil {
			break
		}
		if b, ok, err := l.goodAt(h, c, at); ok || err != nil {
			return at, b.base, err
		}
		from = at + 1
	}
	switch {
	case err != nil:
		return -1, -1, err
	case c.next < math.MaxInt64:
		return -1, c.next, nil
	case l.knownEnd() > c.end:
		return -1, l.knownEnd(), nil
	case l.unsynced(c.end):
		return -1, -1, nil
	case ok || fullLength(h, pos, size): // a write that a kill cut short is shorter than its header says
		return -1, c.end + likelyRecords(h, pos, size-pos), nil
	}
	if n, err := lastWhole(h, pos, size); n > 0 || err != nil {
		return -1, c.end + n, err
	}
	return -1, -1, nil
}

// fullLength says whether the length at pos reaches exactly to the end of the log.
func fullLength(h *handle, pos, size int64) bool {
	b := make([]byte, batch.LogOverhead)
	return readFull(h.File, b, pos) == nil && int64(batch.View(b).Size()) == size-pos
}

// lastWhole says how many offsets the log's last bytes hold if they are a batch but for length and format;
// else 0.
func lastWhole(h *handle, pos, size int64) (batch.Offset, error) {
	if size-pos < batch.HeaderSize || size-pos > math.MaxInt32 {
		return 0, nil
	}
	raw := make([]byte, size-pos)
	if err := readFull(h.File, raw, pos); err != nil {
		return 0, err
	}
	binary.BigEndian.PutUint32(raw[8:], uint32(size-pos-batch.LogOverhead))
	raw[16] = 2
	if err := batch.Verify(raw); err == nil {
		return batch.Offset(batch.View(raw).LastOffsetDelta()) + 1, nil
	}
	return 0, nil
}

// knownEnd is an offset up to which the log is known to have been written.
func (l *Log) knownEnd() batch.Offset {
	if l.verifyFrom == math.MaxInt64 {
		return l.EndOffset() // where the clean shutdown said
	}
	return l.verifyFrom
}

// goodAt reads the batch at pos if it is a whole one that can follow what c has.
func (l *Log) goodAt(h *handle, c *scan, pos int64) (hd header, ok bool, err error) {
	hd, ok, err = headerAt(h, pos, c.s.size.Load())
	if !ok || err != nil || hd.base <= c.end || hd.last >= c.next || hd.magic != 2 {
		return hd, false, err
	}
	ok, err = whole(h, &hd)
	return hd, ok, err
}

// likelyRecords is how many offsets the damaged last batch of a log had: of its two counts, of which one may
// be damaged, the larger that its size allows.
func likelyRecords(h *handle, pos, size int64) batch.Offset {
	b := make([]byte, batch.HeaderSize)
	if readFull(h.File, b, pos) != nil {
		return 1
	}
	n := batch.Offset(1)
	for _, m := range []batch.Offset{
		batch.Offset(batch.View(b).LastOffsetDelta()) + 1, batch.Offset(batch.View(b).Count()),
	} {
		if m > n && int64(m) <= size {
			n = m
		}
	}
	return n
}

// fillHole makes one batch of the damaged bytes: a good one, if only fields outside the checksum were wrong.
func (l *Log) fillHole(h *handle, c *scan, hole HoleError) (int64, error) {
	size, n := hole.End-hole.Pos, int64(hole.Next-hole.First)
	if size < batch.HeaderSize || size > math.MaxInt32 || n < 1 || n > math.MaxInt32 {
		return 0, fmt.Errorf("%s: %w: %d bytes that are no batch at position %d, where offsets %d to %d belong",
			hole.File, ErrCorrupt, size, hole.Pos, hole.First, hole.Next-1)
	}
	raw := make([]byte, size)
	if err := readFull(h.File, raw, hole.Pos); err != nil {
		return 0, err
	}
	was := slices.Clone(raw[:batch.HeaderSize])
	v := batch.View(raw)
	binary.BigEndian.PutUint32(raw[8:], uint32(size-batch.LogOverhead))
	raw[16] = 2
	if first := v.BaseOffset(); first < hole.First || first+batch.Offset(v.LastOffsetDelta()) >= hole.Next {
		binary.BigEndian.PutUint64(raw, uint64(hole.First))
	}
	good := batch.Verify(v) == nil && v.LastOffsetDelta() >= 0 && v.LastOffset() < hole.Next
	if !good {
		blank(v, &hole, max(l.epochs.at(hole.First), 0), c.s.maxTime)
	}
	if err := l.rewrite(h, hole.Pos, was, raw[:batch.HeaderSize]); err != nil {
		return 0, err
	}
	hd, _ := parseHeader(raw, hole.Pos, hole.End)
	if good && string(was) != string(raw[:batch.HeaderSize]) {
		l.dir.warn("put a damaged batch header right", "file", hole.File, "position", hole.Pos,
			"was", fmt.Sprintf("%x", was))
	} else if !good {
		l.addHole(&hole)
	}
	c.back, c.excused = false, hole.Pos
	if !c.take(&hd) {
		return 0, fmt.Errorf("%s: %w: batch at position %d", hole.File, ErrCorrupt, hole.Pos)
	}
	return hole.End, nil
}

// blank makes the header of a batch that nobody may take for good. One whose offsets are right stays: the
// damage is more likely elsewhere, and its producer's sequence counts.
func blank(v batch.View, hole *HoleError, epoch batch.Epoch, at int64) {
	be := binary.BigEndian
	if v.BaseOffset() != hole.First || v.LastOffset() != hole.Next-1 {
		be.PutUint64(v, uint64(hole.First))
		be.PutUint32(v[12:], uint32(epoch))
		be.PutUint16(v[21:], 0)
		be.PutUint32(v[23:], uint32(hole.Next-1-hole.First))
		be.PutUint64(v[27:], uint64(at))
		be.PutUint64(v[35:], uint64(at))
		for i := 43; i < 57; i++ { // no producer, epoch or sequence
			v[i] = 0xff
		}
		be.PutUint32(v[57:], uint32(hole.Next-hole.First))
	}
	for batch.Verify(v) == nil {
		v[17] ^= 0xff
	}
}

// rewrite puts a header where was is, if it differs.
func (l *Log) rewrite(h *handle, pos int64, was, header []byte) error {
	if string(was) == string(header) {
		return nil
	}
	if _, err := h.WriteAt(header, pos); err != nil {
		return err
	}
	return h.Sync()
}

// correct puts a base offset right that doesn't follow its predecessor, which no checksum covers: the batches
// around it tell.
func (l *Log) correct(h *handle, c *scan, pos int64) (int64, error) {
	size, file := c.s.size.Load(), c.s.name(suffixLog)
	b, _, err := headerAt(h, pos, size)
	if err != nil {
		return 0, err
	}
	if gap, ok, err := headerAt(h, c.gapPos, size); err != nil {
		return 0, err
	} else if n := gap.last - gap.base; ok && c.gapPos+gap.size == pos && c.gapEnd+n+1 == b.base {
		if err := l.setBase(h, file, c.gapPos, c.gapEnd); err != nil {
			return 0, err
		}
		l.epochs.truncateEnd(c.gapEnd)
		return startOver, nil
	}
	n := b.last - b.base
	next, ok, err := headerAt(h, pos+b.size, size)
	if err != nil {
		return 0, err
	}
	if c.end+n >= c.next || ok && next.base <= c.end+n {
		return 0, fmt.Errorf("%s: %w: the batch at position %d starts at offset %d, after %d", file, ErrCorrupt,
			pos, b.base, c.end-1)
	}
	c.back = false
	return pos, l.setBase(h, file, pos, c.end)
}

func (l *Log) setBase(h *handle, file string, pos int64, base batch.Offset) error {
	l.dir.warn("put a damaged base offset right, as the batches around it tell", "file", file, "position", pos,
		"offset", base)
	if _, err := h.WriteAt(binary.BigEndian.AppendUint64(nil, uint64(base)), pos); err != nil {
		return err
	}
	return h.Sync()
}

// countLost tells what goes with damage that a power cut left, before it is cut.
func (l *Log) countLost(h *handle, c *scan, pos int64) error {
	n, last := 0, c.end-1
	size := c.s.size.Load()
	for n < 1_000_000 {
		at, err := nextWhole(h, pos, size)
		if err != nil || at < 0 {
			break
		}
		hd, _, err := headerAt(h, at, size)
		if err != nil {
			return err
		}
		n, last, pos = n+1, max(last, hd.last), at+hd.size
	}
	if n > 0 || c.next < math.MaxInt64 {
		l.dir.o.Logger.Error("the machine stopped and left damage in what wasn't synced yet: acknowledged "+
			"records behind it go with it", "file", c.s.name(suffixLog), "firstOffset", c.end, "lastOffset", last,
			"batches", n, "laterSegments", c.next < math.MaxInt64)
	}
	return nil
}
