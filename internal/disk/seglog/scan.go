package seglog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// header is what the log needs to know of a batch, or of a message of the formats before (magic 0 and 1),
// which old logs hold.
type header struct {
	pos          int64
	size         int64
	base, last   batch.Offset
	epoch        batch.Epoch
	maxTimestamp int64
	magic        int8
	producer     bool // has a producer id
	odd          bool // has another number of records than offsets: compacted, or damaged
}

const (
	legacyMin = 14 // crc, magic, attributes, two lengths of -1
	peek      = batch.HeaderSize
)

// parseHeader reads the header at the start of b, which is at pos of a file that ends at limit. Not ok: no
// whole batch there.
func parseHeader(b []byte, pos, limit int64) (h header, ok bool) {
	if len(b) < batch.LogOverhead+legacyMin {
		return h, false
	}
	be := binary.BigEndian
	h = header{pos: pos, base: batch.Offset(be.Uint64(b)), magic: int8(b[16]), epoch: -1, maxTimestamp: -1}
	n := int64(int32(be.Uint32(b[8:])))
	h.size = n + batch.LogOverhead
	if n < legacyMin || h.size > limit-pos || h.base < 0 {
		return h, false
	}
	h.last = h.base
	switch h.magic {
	case 2:
		if len(b) < batch.HeaderSize || h.size < batch.HeaderSize {
			return h, false
		}
		v := batch.View(b)
		h.last, h.epoch, h.maxTimestamp = v.LastOffset(), v.LeaderEpoch(), v.MaxTimestamp()
		h.producer = v.ProducerID() >= 0
		h.odd = v.LastOffsetDelta()+1 != v.Count()
		return h, h.last >= h.base
	case 1:
		h.maxTimestamp = int64(be.Uint64(b[18:]))
		return h, true
	}
	return h, h.magic == 0
}

// headerAt reads the header at pos of a file that ends at limit. Not ok: there is no batch.
func headerAt(f io.ReaderAt, pos, limit int64) (h header, ok bool, err error) {
	if pos < 0 || pos >= limit {
		return h, false, nil
	}
	buf := chunks.Get().(*[]byte)
	defer chunks.Put(buf)
	n, err := f.ReadAt((*buf)[:peek], pos)
	if err != nil && err != io.EOF {
		return h, false, err
	}
	h, ok = parseHeader((*buf)[:n], pos, limit)
	return h, ok, nil
}

// chunks are buffers to walk files with.
var chunks = sync.Pool{New: func() any { b := make([]byte, 4096); return &b }}

// walker is what walk works with. It is pooled, because what fn gets to see lives on the heap.
type walker struct {
	b    [4096]byte
	h    header
	many []byte // instead of b where batches are small: it holds the headers of many
}

const (
	manyBytes = 64 << 10
	manyAfter = 64 // batches of less than a page, one after another
)

var walkers = sync.Pool{New: func() any { return new(walker) }}

// walk calls fn with each whole batch's header in [pos, limit), until fn returns false or something else
// than a batch is met. It returns where it stopped: limit if all is well.
func walk(f io.ReaderAt, pos, limit int64, fn func(h *header) bool) (int64, error) {
	return walkHeaders(f, pos, limit, func(h *header, _ []byte) bool { return fn(h) })
}

// walkHeaders is walk with each header's bytes, valid during the call.
func walkHeaders(f io.ReaderAt, pos, limit int64, fn func(h *header, b []byte) bool) (int64, error) {
	w := walkers.Get().(*walker)
	defer walkers.Put(w)
	var have []byte // what was read at pos
	small := 0
	for pos < limit {
		if len(have) < peek {
			want := w.b[:]
			if small >= manyAfter {
				if w.many == nil {
					w.many = make([]byte, manyBytes)
				}
				want = w.many
			}
			want = want[:min(int64(len(want)), limit-pos)]
			n, err := f.ReadAt(want, pos)
			if err != nil && err != io.EOF {
				return pos, err
			}
			have = want[:n]
		}
		var ok bool
		w.h, ok = parseHeader(have, pos, limit)
		if !ok || !fn(&w.h, have[:min(len(have), peek)]) {
			return pos, nil
		}
		pos += w.h.size
		have = have[min(int64(len(have)), w.h.size):]
		if small++; w.h.size > int64(len(w.b)) {
			small = 0
		}
	}
	return pos, nil
}

const readAhead = 1 << 20

// walkBatches is walk with each batch's bytes, valid during the call.
func walkBatches(f io.ReaderAt, pos, limit int64, fn func(h *header, b []byte) bool) (int64, error) {
	return walkChunks(f, pos, limit, readAhead, fn)
}

// walkChunks is walkBatches that reads so many bytes at once, or one batch however big.
func walkChunks(
	f io.ReaderAt, pos, limit, chunk int64, fn func(h *header, b []byte) bool,
) (int64, error) {
	var buf, have []byte // have is what was read at pos
	fill := func(n int64) error {
		n = min(n, limit-pos)
		if int64(cap(buf)) < n {
			buf = make([]byte, n)
		}
		got, err := f.ReadAt(buf[:n], pos)
		have = buf[:got]
		if err == io.EOF {
			err = nil
		}
		return err
	}
	for pos < limit {
		h, ok := parseHeader(have, pos, limit)
		if !ok || int64(len(have)) < h.size {
			if err := fill(chunk); err != nil {
				return pos, err
			}
			if h, ok = parseHeader(have, pos, limit); !ok {
				return pos, nil
			}
		}
		if int64(len(have)) < h.size {
			if err := fill(h.size); err != nil {
				return pos, err
			}
		}
		if int64(len(have)) < h.size || !fn(&h, have[:h.size]) {
			return pos, nil
		}
		pos += h.size
		have = have[h.size:]
	}
	return pos, nil
}

// verify checks a batch's checksum.
func verify(h *header, b []byte) error {
	if h.magic == 2 {
		return batch.Verify(b)
	}
	if sum := crc32.ChecksumIEEE(b[16:]); sum != binary.BigEndian.Uint32(b[12:]) {
		return fmt.Errorf("%w: checksum of message at offset %d", batch.ErrCorrupt, h.base)
	}
	return nil
}

// readFull reads exactly len(b) bytes.
func readFull(f vfs.File, b []byte, pos int64) error {
	n, err := f.ReadAt(b, pos)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
