package seglog

import (
	"fmt"
	"math"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// A log of its own (OpenLog) has no replica to fetch from what a cut takes, and all that the node knows hangs
// on it: only what an append left torn may be cut off. Whole batches behind the damage say that it is none.

// damaged says, before anything is cut at pos, that whole batches would go with it.
func (l *Log) damaged(h *handle, c *scan, pos int64) error {
	if !l.dir.standalone {
		return nil
	}
	at, err := nextWhole(h, pos, c.s.size.Load())
	if err != nil {
		return err
	}
	file, found := c.s.name(suffixLog), c.s.name(suffixLog)
	segs := l.segments()
	for i := floorSegment(segs, c.s.base) + 1; at < 0 && i < len(segs); i++ {
		found = segs[i].name(suffixLog)
		if at, err = l.firstWhole(segs[i]); err != nil {
			return err
		}
	}
	if at < 0 {
		return nil
	}
	if c.back && c.gapPos >= 0 { // the jump forward was the damage
		pos = c.gapPos
	}
	return fmt.Errorf("%s: %w: no good batch at position %d, but a whole one at position %d of %s: not cutting "+
		"what isn't a torn end", file, ErrCorrupt, pos, at, found)
}

// firstWhole is nextWhole from the start of a segment.
func (l *Log) firstWhole(s *segment) (int64, error) {
	h, err := s.open()
	if err != nil {
		return -1, err
	}
	defer h.release()
	info, err := h.Stat()
	if err != nil {
		return -1, err
	}
	return nextWhole(h, 0, info.Size())
}

// nextWhole finds the first position from pos on where a batch of the current format passes its checksum; -1
// if there is none. It tries every byte: the damage may be in a length.
func nextWhole(f vfs.File, pos, size int64) (int64, error) {
	buf := make([]byte, readAhead)
	for size-pos >= batch.HeaderSize {
		b := buf[:min(readAhead, size-pos)]
		if err := readFull(f, b, pos); err != nil {
			return -1, err
		}
		tries := len(b) - batch.HeaderSize + 1
		for i := range tries {
			h, ok := parseHeader(b[i:], pos+int64(i), size)
			if !ok || h.magic != 2 || h.size > math.MaxInt32 {
				continue
			}
			whole := b[i:]
			if int64(len(whole)) < h.size {
				whole = make([]byte, h.size)
				if err := readFull(f, whole, h.pos); err != nil {
					return -1, err
				}
			}
			if verify(&h, whole[:h.size]) == nil {
				return h.pos, nil
			}
		}
		pos += int64(tries)
	}
	return -1, nil
}
