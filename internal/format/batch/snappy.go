package batch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/klauspost/compress/snappy"
)

// Java's snappy clients frame blocks with a header of their own (xerial's): magic, version, lowest
// compatible version, then blocks of i32 length + snappy block. Others send one bare block; both are read,
// the framed one is written.
const (
	xerialMagic  = "\x82SNAPPY\x00"
	xerialHeader = "\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
	xerialBlock  = 32 << 10
)

func snappyTo(dst, src []byte) []byte {
	dst = append(dst, xerialHeader...)
	for len(src) > 0 {
		n := min(len(src), xerialBlock)
		at := len(dst)
		dst = slices.Grow(dst, 4+snappy.MaxEncodedLen(n))
		enc := snappy.Encode(dst[at+4:cap(dst)], src[:n])
		dst = dst[:at+4+len(enc)]
		binary.BigEndian.PutUint32(dst[at:], uint32(len(enc)))
		src = src[n:]
	}
	return dst
}

func unsnappy(dst, src []byte, limit int) ([]byte, error) {
	end := len(dst) + limit
	if !bytes.HasPrefix(src, []byte(xerialMagic)) {
		return unsnappyBlock(dst, src, end)
	}
	if len(src) < len(xerialHeader) {
		return dst, fmt.Errorf("%w: snappy header", ErrCorrupt)
	}
	start := len(dst)
	for src = src[len(xerialHeader):]; len(src) > 0; {
		if len(src) < 4 {
			return dst[:start], fmt.Errorf("%w: snappy block length", ErrCorrupt)
		}
		n := binary.BigEndian.Uint32(src)
		if src = src[4:]; uint64(n) > uint64(len(src)) {
			return dst[:start], fmt.Errorf("%w: snappy block of %d bytes", ErrCorrupt, n)
		}
		var err error
		if dst, err = unsnappyBlock(dst, src[:n], end); err != nil {
			return dst[:start], err
		}
		src = src[n:]
	}
	return dst, nil
}

// unsnappyBlock appends one decoded block, up to a length of end.
func unsnappyBlock(dst, src []byte, end int) ([]byte, error) {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return dst, fmt.Errorf("%w: snappy: %w", ErrCorrupt, err)
	}
	if n > end-len(dst) {
		return dst, ErrTooBig
	}
	// A copy of up to 64 bytes takes three: what announces more is a lie, and buys no memory.
	if n > 32*len(src)+64 {
		return dst, fmt.Errorf("%w: snappy block of %d bytes says %d", ErrCorrupt, len(src), n)
	}
	at := len(dst)
	dst = slices.Grow(dst, n)
	if _, err = snappy.Decode(dst[at:at+n], src); err != nil {
		return dst[:at], fmt.Errorf("%w: snappy: %w", ErrCorrupt, err)
	}
	return dst[:at+n], nil
}
