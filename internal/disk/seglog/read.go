package seglog

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/kalda/kalda/internal/format/batch"
)

// Slice is a range of whole bytes of one segment's file: batches, the last one possibly cut. Its file stays
// open, and its bytes readable, until Release. The zero Slice is empty.
type Slice struct {
	h   *handle
	pos int64
	n   int

	first int64 // size of the first batch, 0 if it isn't known
}

// Len is the number of bytes.
func (s *Slice) Len() int { return s.n }

// Pos is the position of the first byte in the file.
func (s *Slice) Pos() int64 { return s.pos }

// File is the file to send from; nil if it isn't one of the operating system.
func (s *Slice) File() *os.File {
	if s.h == nil {
		return nil
	}
	return s.h.OS()
}

// ReadAt reads inside the slice.
func (s *Slice) ReadAt(b []byte, off int64) (int, error) {
	if off >= int64(s.n) {
		return 0, io.EOF
	}
	var end error
	if int64(len(b)) > int64(s.n)-off {
		b, end = b[:int64(s.n)-off], io.EOF
	}
	n, err := s.h.ReadAt(b, s.pos+off)
	if err == nil || n == len(b) {
		err = end
	}
	return n, err
}

// AppendTo appends the slice's bytes to dst.
func (s *Slice) AppendTo(dst []byte) ([]byte, error) {
	if s.n == 0 {
		return dst, nil
	}
	at := len(dst)
	dst = slices.Grow(dst, s.n)
	if err := readFull(s.h.File, dst[at:at+s.n], s.pos); err != nil {
		return dst[:at], err
	}
	return dst[:at+s.n], nil
}

// Trim makes the slice at most n bytes long.
func (s *Slice) Trim(n int) { s.n = min(s.n, n) }

// Release gives the file back.
func (s *Slice) Release() {
	if s.h != nil {
		s.h.release()
		*s = Slice{}
	}
}

// Read finds the bytes from the batch that holds offset from, or the next one, up to the batch that holds
// bound, or the end of the segment: at most maxBytes unless minOne asks for one whole batch however big.
// Nothing there yet: an empty slice. Before the start or after the end of the log: ErrOffsetOutOfRange.
func (l *Log) Read(from, bound batch.Offset, maxBytes int, minOne bool) (Slice, error) {
	if err := l.wake(); err != nil {
		return Slice{}, err
	}
	for try := 0; ; try++ {
		s, err := l.read(from, bound, maxBytes, minOne)
		// A segment can be deleted between finding and opening it: its successors are in the next list.
		if err == nil || try > 2 || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errMended) {
			return s, err
		}
	}
}

func (l *Log) read(from, bound batch.Offset, maxBytes int, minOne bool) (Slice, error) {
	end := l.EndOffset()
	if from < l.StartOffset() || from > end {
		return Slice{}, ErrOffsetOutOfRange
	}
	bound = min(bound, end)
	if hole := l.hole(from); hole != nil {
		if hole.First <= from {
			return Slice{}, l.fault("read", hole)
		}
		bound = min(bound, hole.First)
	}
	segs := l.segments()
	for i := max(floorSegment(segs, from), 0); i < len(segs) && from < bound && segs[i].base < bound; i++ {
		whole := i+1 < len(segs) && segs[i+1].base <= bound
		s, err := segs[i].slice(from, bound, whole)
		if err != nil {
			return Slice{}, l.fault("read", l.stepOver(segs[i], err))
		}
		if segs[i].bad.CompareAndSwap(true, false) {
			if err := l.repair(segs[i]); err != nil {
				s.Release()
				return s, l.fault("make indexes again", err)
			}
		}
		if s.n > 0 {
			return s, l.fault("read", s.limit(maxBytes, minOne))
		}
	}
	return Slice{}, nil
}

// errMended says that a read is to be tried again.
var errMended = errors.New("damage was stepped over")

// stepOver mends a segment in which a reader met something else than a batch: err says what. If that works it
// returns errMended. It is tried once: it may take long.
func (l *Log) stepOver(s *segment, err error) error {
	if !s.torn.Load() || s.hopeless.Load() || l.dir.standalone {
		return err
	}
	if again := l.repair(s); again != nil {
		if !s.hopeless.Swap(true) {
			l.dir.o.Logger.Error("damage in the log can't be stepped over", "error", again)
		}
		return errors.Join(err, again)
	}
	s.torn.Store(false)
	s.stepped.Store(true)
	return errMended
}

// slice is all bytes of the segment from offset from to bound, or to its end if whole.
func (s *segment) slice(from, bound batch.Offset, whole bool) (Slice, error) {
	limit := s.size.Load()
	var err error
	if !whole {
		if limit, err = s.position(bound); err != nil {
			return Slice{}, err
		}
	}
	pos, first, err := s.locate(from)
	if err != nil || pos >= limit {
		return Slice{}, err
	}
	h, err := s.open()
	if err != nil {
		return Slice{}, err
	}
	return Slice{h: h, pos: pos, n: int(limit - pos), first: first}, nil
}

// limit cuts the slice to maxBytes, or to its first batch, or to nothing if not even that fits and needn't.
func (s *Slice) limit(maxBytes int, minOne bool) error {
	if s.n <= maxBytes {
		return nil
	}
	first := int(s.first)
	if first == 0 {
		buf := chunks.Get().(*[]byte)
		defer chunks.Put(buf)
		b := (*buf)[:batch.LogOverhead]
		if err := readFull(s.h.File, b, s.pos); err != nil {
			s.Release()
			return err
		}
		first = int(int32(binary.BigEndian.Uint32(b[8:]))) + batch.LogOverhead
	}
	switch {
	case first <= maxBytes:
		s.n = maxBytes
	case minOne:
		s.n = min(s.n, first)
	default:
		s.Release()
	}
	return nil
}

// Visit calls fn with every batch from the one that holds offset from to the end of the log, whole and in
// order, until fn returns an error. The bytes are valid during the call. It is how an owner makes its state
// again from the newest snapshot.
func (l *Log) Visit(from batch.Offset, fn func(v batch.View) error) error {
	if err := l.wake(); err != nil {
		return err
	}
	segs := l.segments()
	for i := max(floorSegment(segs, from), 0); i < len(segs); i++ {
		s := segs[i]
		pos, err := s.position(from)
		if err != nil {
			return l.fault("read", err)
		}
		if err := s.visit(pos, fn); err != nil {
			return l.fault("read", err)
		}
	}
	return nil
}

// VisitHeaders is Visit, but what fn gets of a batch is its header alone, unless it is a control batch.
func (l *Log) VisitHeaders(from batch.Offset, fn func(v batch.View) error) error {
	if err := l.wake(); err != nil {
		return err
	}
	segs := l.segments()
	for i := max(floorSegment(segs, from), 0); i < len(segs); i++ {
		pos, err := segs[i].position(from)
		if err == nil {
			err = segs[i].visitHeaders(pos, fn)
		}
		if err != nil {
			return l.fault("read", err)
		}
	}
	return nil
}

func (s *segment) visitHeaders(pos int64, fn func(v batch.View) error) error {
	size := s.size.Load()
	if pos >= size {
		return nil
	}
	h, err := s.open()
	if err != nil {
		return err
	}
	defer h.release()
	var stop error
	_, err = walkHeaders(h, pos, size, func(hd *header, b []byte) bool {
		if hd.magic != 2 {
			return true
		}
		if batch.View(b).Control() {
			b = make([]byte, hd.size)
			if stop = readFull(h.File, b, hd.pos); stop != nil {
				return false
			}
		}
		stop = fn(b)
		return stop == nil
	})
	return errors.Join(stop, err)
}

func (s *segment) visit(pos int64, fn func(v batch.View) error) error {
	size := s.size.Load()
	if pos >= size {
		return nil
	}
	h, err := s.open()
	if err != nil {
		return err
	}
	defer h.release()
	var stop error
	_, err = walkBatches(h, pos, size, func(hd *header, b []byte) bool {
		if hd.magic == 2 {
			stop = fn(b)
		}
		return stop == nil
	})
	return errors.Join(stop, err)
}
