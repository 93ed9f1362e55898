package ensemble

import (
	"encoding/binary"
	"strconv"
	"sync"

	"github.com/kalda/kalda/internal/format/jute"
)

// Buffers are pooled: a connection that waits holds none.
const (
	smallBuf   = 4 << 10
	largeBuf   = 64 << 10 // what a busy connection reads at once
	maxKeptBuf = 256 << 10
)

var bufs sync.Pool // of *[]byte, for what is sent

var boxes sync.Pool // of *[]byte without anything in them

func takeBuf() []byte {
	if p, ok := bufs.Get().(*[]byte); ok {
		b := *p
		*p = nil
		boxes.Put(p)
		return b[:0]
	}
	return make([]byte, 0, smallBuf)
}

func giveBuf(b []byte) {
	if cap(b) == 0 || cap(b) > maxKeptBuf {
		return
	}
	p, ok := boxes.Get().(*[]byte)
	if !ok {
		p = new([]byte)
	}
	*p = b[:0]
	bufs.Put(p)
}

// appendOut adds to what waits to be sent, which may be in no buffer yet.
func appendOut(out, b []byte) []byte {
	if len(b) == 0 {
		return out
	}
	if out == nil {
		out = takeBuf()
	}
	return append(out, b...)
}

// beginReply starts a frame with a header; endFrame, given where it began, puts its length before it.
func beginReply(dst []byte, xid int32, zxid jute.Zxid, code jute.Code) []byte {
	dst = jute.AppendInt(dst, 0)
	return (&jute.ReplyHeader{Xid: xid, Zxid: zxid, Err: code}).Append(dst)
}

func endFrame(dst []byte, at int) []byte {
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

var smallIns, largeIns sync.Pool // of *[]byte, for what is read

func takeIn(n int) []byte {
	pool := &smallIns
	if n >= largeBuf {
		pool, n = &largeIns, largeBuf
	} else {
		n = smallBuf
	}
	if p, ok := pool.Get().(*[]byte); ok {
		b := *p
		*p = nil
		boxes.Put(p)
		return b
	}
	return make([]byte, n)
}

func giveIn(b []byte) {
	pool := &smallIns
	switch cap(b) {
	case smallBuf:
	case largeBuf:
		pool = &largeIns
	default:
		return
	}
	p, ok := boxes.Get().(*[]byte)
	if !ok {
		p = new([]byte)
	}
	*p = b[:cap(b)]
	pool.Put(p)
}

func itoa(n int) string { return strconv.Itoa(n) }
