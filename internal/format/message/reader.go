// Package message is the hot messages of the Kafka protocol, Produce and Fetch, decoded and encoded by hand.
//
// A decoder fills a struct that its owner keeps and reuses, so that a request costs no allocation: names
// and record bytes alias the request's frame and are valid as long as that is. An encoder appends to a
// buffer; Fetch's is cut where record bytes go, so that they can leave from a file. Everything else of the
// protocol goes through kmsg.
package message

import (
	"encoding/binary"
	"errors"
	"unsafe"
)

// ErrTruncated says that a body ends early or that a length in it lies.
var ErrTruncated = errors.New("truncated request body")

// reader walks a body; after the first fault everything reads as zero and bad stays set.
type reader struct {
	b    []byte
	flex bool
	bad  bool
}

func (r *reader) fail() {
	r.b, r.bad = nil, true
}

func (r *reader) span(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail()
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) int8() int8 {
	if v := r.span(1); v != nil {
		return int8(v[0])
	}
	return 0
}

func (r *reader) int16() int16 {
	if v := r.span(2); v != nil {
		return int16(binary.BigEndian.Uint16(v))
	}
	return 0
}

func (r *reader) int32() int32 {
	if v := r.span(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (r *reader) int64() int64 {
	if v := r.span(8); v != nil {
		return int64(binary.BigEndian.Uint64(v))
	}
	return 0
}

func (r *reader) uuid() (id [16]byte) {
	copy(id[:], r.span(16))
	return id
}

// uvarint reads an unsigned varint of at most 32 bits.
func (r *reader) uvarint() uint32 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > 1<<32-1 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return uint32(v)
}

// length reads a length: -1 is null.
func (r *reader) length() int {
	if r.flex {
		return int(r.uvarint()) - 1
	}
	return int(r.int32())
}

// count reads an array's length; each element takes at least size bytes, or the length lies. Null is none.
func (r *reader) count(size int) int {
	n := r.length()
	if n > len(r.b)/size {
		r.fail()
		return 0
	}
	return max(n, 0)
}

// string reads a string that aliases the body; null is "", false.
func (r *reader) string() (string, bool) {
	var n int
	if r.flex {
		n = int(r.uvarint()) - 1
	} else {
		n = int(r.int16())
	}
	if n < 0 {
		return "", false
	}
	v := r.span(n)
	return unsafe.String(unsafe.SliceData(v), len(v)), !r.bad
}

// bytes reads bytes that alias the body; null is nil.
func (r *reader) bytes() []byte {
	n := r.length()
	if n < 0 {
		return nil
	}
	return r.span(n)
}

// tags reads the tagged fields and hands those that f knows to it. Unknown ones are skipped.
func (r *reader) tags(f func(tag uint32, v *reader)) {
	if !r.flex {
		return
	}
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		tag := r.uvarint()
		v := reader{b: r.span(int(r.uvarint())), flex: true}
		if f != nil && !r.bad {
			f(tag, &v)
			if v.bad {
				r.fail()
			}
		}
	}
}

// skipTags is tags for those who know none: it takes no closure.
func (r *reader) skipTags() {
	if !r.flex {
		return
	}
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		r.uvarint()
		r.span(int(r.uvarint()))
	}
}

func (r *reader) err() error {
	if r.bad {
		return ErrTruncated
	}
	return nil
}

func appendString(b []byte, flex bool, s string) []byte {
	if flex {
		b = binary.AppendUvarint(b, uint64(len(s))+1)
	} else {
		b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
	}
	return append(b, s...)
}

// appendNullable is appendString with "" as null.
func appendNullable(b []byte, flex bool, s string) []byte {
	if s != "" {
		return appendString(b, flex, s)
	}
	if flex {
		return append(b, 0)
	}
	return append(b, 0xff, 0xff)
}

func appendCount(b []byte, flex bool, n int) []byte {
	if flex {
		return binary.AppendUvarint(b, uint64(n)+1)
	}
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

func appendNull(b []byte, flex bool) []byte {
	if flex {
		return append(b, 0)
	}
	return append(b, 0xff, 0xff, 0xff, 0xff)
}

func appendTag(b []byte, tag, size int) []byte {
	b = binary.AppendUvarint(b, uint64(tag))
	return binary.AppendUvarint(b, uint64(size))
}

// Node is where a leader listens, for the responses that name the right one.
type Node struct {
	ID   int32
	Host string
	Port int32
	Rack string // "" is none
}

// appendNodes appends the tagged fields of a response: the endpoints of the nodes, if there are any.
func appendNodes(b []byte, nodes []Node) []byte {
	if len(nodes) == 0 {
		return append(b, 0)
	}
	v := appendCount(nil, true, len(nodes))
	for _, n := range nodes {
		v = binary.BigEndian.AppendUint32(v, uint32(n.ID))
		v = appendString(v, true, n.Host)
		v = binary.BigEndian.AppendUint32(v, uint32(n.Port))
		v = appendNullable(v, true, n.Rack)
		v = append(v, 0)
	}
	b = append(b, 1)
	return append(appendTag(b, 0, len(v)), v...)
}
