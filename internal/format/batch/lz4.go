package batch

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/pierrec/lz4/v4"
)

// The lz4 frame format, spoken here rather than through the library's streams: a batch is one frame in
// memory, so that blocks decode straight into the result and encode straight out of the source.
const (
	lz4Magic      = 0x184D2204
	lz4Block      = 64 << 10
	lz4Raw        = 1 << 31 // in a block's size: stored, not compressed
	lz4Dictionary = 64 << 10

	lz4FlagDictID       = 0x01
	lz4FlagContentSum   = 0x04
	lz4FlagContentSize  = 0x08
	lz4FlagBlockSum     = 0x10
	lz4FlagIndependent  = 0x20
	lz4FlagVersion      = 0x40
	lz4FlagVersionMask  = 0xC0
	lz4DescriptorLength = 2
)

var lz4Fast, lz4High sync.Pool

func lz4To(dst []byte, level int, src []byte) ([]byte, error) {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, lz4Magic)
	dst = append(dst, lz4FlagVersion|lz4FlagIndependent, 4<<4) // blocks of 64 KiB
	dst = append(dst, byte(xxh32(dst[start+4:])>>8))
	compress, done := lz4Compressor(level)
	defer done()
	for len(src) > 0 {
		n := min(len(src), lz4Block)
		at := len(dst)
		dst = slices.Grow(dst, 4+lz4.CompressBlockBound(n))
		m, err := compress(src[:n], dst[at+4:cap(dst)])
		if err != nil {
			return dst[:start], fmt.Errorf("lz4: %w", err)
		}
		size := uint32(m)
		if m == 0 || m >= n {
			m = copy(dst[at+4:cap(dst)], src[:n])
			size = uint32(m) | lz4Raw
		}
		dst = dst[:at+4+m]
		binary.LittleEndian.PutUint32(dst[at:], size)
		src = src[n:]
	}
	return append(dst, 0, 0, 0, 0), nil
}

// lz4Compressor is a pooled compressor: Kafka's default level 9 is the fast one, others search longer the
// higher they are.
func lz4Compressor(level int) (compress func(src, dst []byte) (int, error), done func()) {
	if level == DefaultLevel || level == 9 {
		c, ok := lz4Fast.Get().(*lz4.Compressor)
		if !ok {
			c = new(lz4.Compressor)
		}
		return c.CompressBlock, func() { lz4Fast.Put(c) }
	}
	c, ok := lz4High.Get().(*lz4.CompressorHC)
	if !ok {
		c = new(lz4.CompressorHC)
	}
	c.Level = lz4.CompressionLevel(1 << (8 + min(max(level, 1), 9)))
	return c.CompressBlock, func() { lz4High.Put(c) }
}

// lz4Frame is what a frame's header says.
type lz4Frame struct {
	flags byte
	block int // largest decoded block
}

func readLZ4Header(src []byte) (f lz4Frame, rest []byte, err error) {
	if len(src) < 7 || binary.LittleEndian.Uint32(src) != lz4Magic {
		return f, src, fmt.Errorf("%w: not an lz4 frame", ErrCorrupt)
	}
	f.flags = src[4]
	n := lz4DescriptorLength
	if f.flags&lz4FlagContentSize != 0 {
		n += 8
	}
	size := src[5] >> 4 & 7
	known := f.flags&lz4FlagVersionMask == lz4FlagVersion && f.flags&lz4FlagDictID == 0 && size >= 4
	if !known || len(src) < 4+n+1 {
		return f, src, fmt.Errorf("%w: lz4 frame descriptor", ErrCorrupt)
	}
	if byte(xxh32(src[4:4+n])>>8) != src[4+n] {
		return f, src, fmt.Errorf("%w: lz4 header checksum", ErrCorrupt)
	}
	f.block = 1 << (8 + 2*size)
	return f, src[4+n+1:], nil
}

// unlz4 appends the first frame's content. Its content checksum is not compared: the batch's own covers the
// same bytes.
func unlz4(dst, src []byte, limit int) ([]byte, error) {
	f, src, err := readLZ4Header(src)
	if err != nil {
		return dst, err
	}
	start := len(dst)
	for {
		if len(src) < 4 {
			return dst[:start], fmt.Errorf("%w: lz4 frame ends early", ErrCorrupt)
		}
		word := binary.LittleEndian.Uint32(src)
		if src = src[4:]; word == 0 {
			return dst, nil
		}
		n := int(word &^ lz4Raw)
		tail := 0
		if f.flags&lz4FlagBlockSum != 0 {
			tail = 4
		}
		if n > f.block || n+tail > len(src) {
			return dst[:start], fmt.Errorf("%w: lz4 block of %d bytes", ErrCorrupt, n)
		}
		if tail > 0 && binary.LittleEndian.Uint32(src[n:]) != xxh32(src[:n]) {
			return dst[:start], fmt.Errorf("%w: lz4 block checksum", ErrCorrupt)
		}
		if dst, err = f.decode(dst, start, src[:n], word&lz4Raw != 0); err != nil {
			return dst[:start], err
		}
		if len(dst)-start > limit {
			return dst[:start], ErrTooBig
		}
		src = src[n+tail:]
	}
}

// decode appends one block; a linked one may refer to the 64 KiB before it.
func (f *lz4Frame) decode(dst []byte, start int, block []byte, raw bool) ([]byte, error) {
	if raw {
		return append(dst, block...), nil
	}
	room := min(f.block, 255*len(block)) // what a block of that size can grow to
	at := len(dst)
	dst = slices.Grow(dst, room)
	var dict []byte
	if f.flags&lz4FlagIndependent == 0 {
		dict = dst[max(start, at-lz4Dictionary):at]
	}
	n, err := lz4.UncompressBlockWithDict(block, dst[at:at+room], dict)
	if err != nil {
		return dst[:at], fmt.Errorf("%w: lz4: %w", ErrCorrupt, err)
	}
	return dst[:at+n], nil
}

// xxh32 is the 32-bit xxHash with seed 0, which lz4 frames use for their checksums.
func xxh32(b []byte) uint32 {
	const p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
	le := binary.LittleEndian.Uint32
	n := uint32(len(b))
	h := uint32(p5)
	if len(b) >= 16 {
		var p1v uint32 = p1 // in a variable: the sums below are meant to wrap
		v1, v2, v3, v4 := p1v+p2, uint32(p2), uint32(0), -p1v
		for ; len(b) >= 16; b = b[16:] {
			v1 = bits.RotateLeft32(v1+le(b)*p2, 13) * p1
			v2 = bits.RotateLeft32(v2+le(b[4:])*p2, 13) * p1
			v3 = bits.RotateLeft32(v3+le(b[8:])*p2, 13) * p1
			v4 = bits.RotateLeft32(v4+le(b[12:])*p2, 13) * p1
		}
		h = bits.RotateLeft32(v1, 1) + bits.RotateLeft32(v2, 7) +
			bits.RotateLeft32(v3, 12) + bits.RotateLeft32(v4, 18)
	}
	h += n
	for ; len(b) >= 4; b = b[4:] {
		h = bits.RotateLeft32(h+le(b)*p3, 17) * p4
	}
	for _, c := range b {
		h = bits.RotateLeft32(h+uint32(c)*p5, 11) * p1
	}
	h = (h ^ h>>15) * p2
	h = (h ^ h>>13) * p3
	return h ^ h>>16
}
