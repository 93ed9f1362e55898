package batch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// DefaultLevel asks for a codec's default level. Levels count as Kafka's keys do (gzip 1-9, lz4 1-17, zstd
// -131072-22).
const DefaultLevel = -1 << 31

// DefaultMaxBytes bounds what one batch may decompress to unless told otherwise.
const DefaultMaxBytes = 128 << 20

// ErrTooBig says that a batch decompresses to more than the Decompressor's bound.
var ErrTooBig = fmt.Errorf("%w: decompresses to more than allowed", ErrCorrupt)

// Decompressor decodes batches within a bound. The zero value is ready, nil means a shared one; safe for
// concurrent use.
type Decompressor struct {
	MaxBytes int // of one decompressed batch; 0: DefaultMaxBytes. Set before use

	once sync.Once
	zstd *zstd.Decoder
}

var shared Decompressor

// buffers holds *[]byte of decompressed records. Big ones are left to the garbage collector.
var buffers sync.Pool

const (
	minBuffer  = 64 << 10
	keepBuffer = 4 << 20
)

func getBuffer() *[]byte {
	if b, ok := buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, minBuffer)
	return &b
}

func putBuffer(b *[]byte) {
	if cap(*b) > keepBuffer {
		return
	}
	*b = (*b)[:0]
	buffers.Put(b)
}

// decompress decodes src into a pooled buffer, which the caller gives back with putBuffer.
func (d *Decompressor) decompress(c Codec, src []byte) (*[]byte, error) {
	if d == nil {
		d = &shared
	}
	buf := getBuffer()
	out, err := d.Decompress((*buf)[:0], c, src)
	if err != nil {
		putBuffer(buf)
		return nil, err
	}
	*buf = out
	return buf, nil
}

// Decompress appends src decoded to dst. ErrTooBig if that would add more than the bound.
func (d *Decompressor) Decompress(dst []byte, c Codec, src []byte) ([]byte, error) {
	limit := d.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	switch c {
	case None:
		return append(dst, src...), nil
	case Gzip:
		return gunzip(dst, src, limit)
	case Snappy:
		return unsnappy(dst, src, limit)
	case LZ4:
		return unlz4(dst, src, limit)
	case Zstd:
		return d.unzstd(dst, src, limit)
	}
	return dst, fmt.Errorf("%w: codec %d", ErrCorrupt, c)
}

func (d *Decompressor) unzstd(dst, src []byte, limit int) ([]byte, error) {
	d.once.Do(func() {
		// The options are constants: there is no error to get.
		d.zstd, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(limit)),
			zstd.WithDecoderMaxWindow(1<<31), // the window is the output itself
			zstd.WithDecoderLowmem(true), zstd.IgnoreChecksum(true), zstd.WithDecoderConcurrency(0))
	})
	n := len(dst)
	out, err := d.zstd.DecodeAll(src, dst)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) ||
		len(out)-n > limit {
		return dst, ErrTooBig
	}
	if err != nil {
		return dst, fmt.Errorf("%w: zstd: %w", ErrCorrupt, err)
	}
	return out, nil
}

// gzipIn is a pooled gzip decoder with the reader it is fed by.
type gzipIn struct {
	src bytes.Reader
	z   gzip.Reader
}

var gzipIns sync.Pool

func gunzip(dst, src []byte, limit int) ([]byte, error) {
	g, ok := gzipIns.Get().(*gzipIn)
	if !ok {
		g = new(gzipIn)
	}
	defer gzipIns.Put(g)
	g.src.Reset(src)
	defer g.src.Reset(nil)
	if err := g.z.Reset(&g.src); err != nil {
		return dst, fmt.Errorf("%w: gzip: %w", ErrCorrupt, err)
	}
	start := len(dst)
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := g.z.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if len(dst)-start > limit {
			return dst[:start], ErrTooBig
		}
		if errors.Is(err, io.EOF) {
			return dst, nil
		}
		if err != nil {
			return dst[:start], fmt.Errorf("%w: gzip: %w", ErrCorrupt, err)
		}
	}
}

// Compress appends src, encoded, to dst, with the framing that Kafka's clients read.
func Compress(dst []byte, c Codec, level int, src []byte) ([]byte, error) {
	switch c {
	case None:
		return append(dst, src...), nil
	case Gzip:
		return gzipTo(dst, level, src)
	case Snappy:
		return snappyTo(dst, src), nil
	case LZ4:
		return lz4To(dst, level, src)
	case Zstd:
		return zstdTo(dst, level, src), nil
	}
	return dst, fmt.Errorf("codec %d", c)
}

// gzipOut is a pooled gzip encoder with the slice it appends to.
type gzipOut struct {
	out appender
	z   *gzip.Writer
}

type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

var gzipOuts [10]sync.Pool // by level, 0 is the default

func gzipTo(dst []byte, level int, src []byte) ([]byte, error) {
	if level < 1 || level > 9 {
		level = 0
	}
	g, ok := gzipOuts[level].Get().(*gzipOut)
	if !ok {
		g = new(gzipOut)
		l := level
		if l == 0 {
			l = gzip.DefaultCompression
		}
		g.z, _ = gzip.NewWriterLevel(&g.out, l) // the level is in range
	}
	g.out.b = dst
	g.z.Reset(&g.out)
	_, err := g.z.Write(src)
	if err == nil {
		err = g.z.Close()
	}
	dst, g.out.b = g.out.b, nil
	gzipOuts[level].Put(g)
	return dst, err
}

// zstdOuts are encoders by the library's level; each serves any number of callers.
var zstdOuts [zstd.SpeedBestCompression + 1]struct {
	once sync.Once
	z    *zstd.Encoder
}

func zstdTo(dst []byte, level int, src []byte) []byte {
	l := zstd.SpeedDefault
	if level != DefaultLevel {
		l = zstd.EncoderLevelFromZstd(level)
	}
	e := &zstdOuts[l]
	e.once.Do(func() {
		e.z, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(l), zstd.WithLowerEncoderMem(true),
			zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(2))
	})
	return e.z.EncodeAll(src, dst)
}
