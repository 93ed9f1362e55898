// Package snappystream is the stream that Java's SnappyOutputStream writes: a header, then blocks of
// snappy's own format, each with its length before it. ZooKeeper's compressed snapshots are such streams.
package snappystream

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/snappy"
)

// Magic begins every stream.
const Magic = "\x82SNAPPY\x00"

const (
	header     = Magic + "\x00\x00\x00\x01\x00\x00\x00\x01" // version, lowest compatible version
	writeBlock = 32 << 10
	maxBlock   = 64 << 20 // decoded; Java's default is 32 KiB, and what is larger was asked for
)

// ErrCorrupt says that bytes are no such stream.
var ErrCorrupt = errors.New("snappy stream: malformed")

// Reader decompresses a stream.
type Reader struct {
	r     io.Reader
	in    []byte
	block []byte
	left  []byte
	begun bool
	err   error
}

// NewReader reads from r.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.left) == 0 && r.err == nil {
		r.err = r.next()
	}
	if len(r.left) == 0 {
		return 0, r.err
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// next decodes a block. Streams may be concatenated: a header may stand wherever a block may.
func (r *Reader) next() error {
	var b [4]byte
	if _, err := io.ReadFull(r.r, b[:]); err != nil {
		if err == io.EOF && !r.begun {
			return io.ErrUnexpectedEOF
		}
		return err // EOF between blocks is the end
	}
	if string(b[:]) == header[:4] {
		rest := make([]byte, len(header)-4)
		if _, err := io.ReadFull(r.r, rest); err != nil {
			return unexpected(err)
		}
		if string(rest[:len(Magic)-4]) != Magic[4:] {
			return ErrCorrupt
		}
		r.begun = true
		return nil
	}
	if !r.begun {
		return ErrCorrupt
	}
	return r.decode(int(int32(binary.BigEndian.Uint32(b[:]))))
}

func (r *Reader) decode(n int) error {
	if n <= 0 || n > snappy.MaxEncodedLen(maxBlock) {
		return ErrCorrupt
	}
	var err error
	if r.in, err = readGrowing(r.r, r.in[:0], n); err != nil {
		return unexpected(err)
	}
	size, err := snappy.DecodedLen(r.in)
	if err != nil || size > maxBlock || size > 64*n+64 { // a snappy block grows by less than 64 to 3
		return ErrCorrupt
	}
	if r.block, err = snappy.Decode(r.block[:cap(r.block)], r.in); err != nil {
		return ErrCorrupt
	}
	r.left = r.block
	return nil
}

// readGrowing reads n bytes, taking memory only as they come.
func readGrowing(r io.Reader, dst []byte, n int) ([]byte, error) {
	for len(dst) < n {
		at := len(dst)
		step := min(n-at, 64<<10)
		if cap(dst)-at < step {
			dst = append(dst, make([]byte, step)...)
		}
		dst = dst[:at+step]
		if _, err := io.ReadFull(r, dst[at:]); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Writer compresses to a stream. Close writes what is left.
type Writer struct {
	w     io.Writer
	buf   []byte
	out   []byte
	begun bool
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), writeBlock-len(w.buf))
		w.buf, p = append(w.buf, p[:k]...), p[k:]
		if len(w.buf) == writeBlock {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (w *Writer) flush() error {
	if !w.begun {
		if _, err := io.WriteString(w.w, header); err != nil {
			return err
		}
		w.begun = true
	}
	if len(w.buf) == 0 {
		return nil
	}
	if w.out == nil {
		w.out = make([]byte, 4+snappy.MaxEncodedLen(writeBlock))
	}
	block := snappy.Encode(w.out[4:], w.buf)
	binary.BigEndian.PutUint32(w.out, uint32(len(block)))
	w.buf = w.buf[:0]
	_, err := w.w.Write(w.out[:4+len(block)])
	return err
}

// Close ends the stream; the writer below stays open.
func (w *Writer) Close() error { return w.flush() }
