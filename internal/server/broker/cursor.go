package broker

import (
	"encoding/binary"

	"github.com/kalda/kalda/internal/wire"
)

// cursor reads a request's body in place. After something was cut off it is bad and reads zeros. flex tells
// whether the version has compact lengths and tagged fields.
type cursor struct {
	b    []byte
	flex bool
	bad  bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.bad, c.b = true, nil
		return nil
	}
	v := c.b[:n:n]
	c.b = c.b[n:]
	return v
}

func (c *cursor) i8() int8 {
	if v := c.take(1); v != nil {
		return int8(v[0])
	}
	return 0
}

func (c *cursor) i16() int16 {
	if v := c.take(2); v != nil {
		return int16(binary.BigEndian.Uint16(v))
	}
	return 0
}

func (c *cursor) i32() int32 {
	if v := c.take(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (c *cursor) i64() int64 {
	if v := c.take(8); v != nil {
		return int64(binary.BigEndian.Uint64(v))
	}
	return 0
}

func (c *cursor) uuid() (id [16]byte) {
	copy(id[:], c.take(16))
	return id
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.bad, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return v
}

// length reads the length of a string (short) or of bytes; -1 is null.
func (c *cursor) length(short bool) int {
	switch {
	case c.flex:
		return int(min(c.uvarint(), 1<<31)) - 1
	case short:
		return int(c.i16())
	}
	return int(c.i32())
}

// str reads a string; null is nil, empty is not.
func (c *cursor) str() []byte {
	n := c.length(true)
	if n == -1 {
		return nil
	}
	return c.take(n)
}

// bytes reads a field of bytes; null is nil.
func (c *cursor) bytes() []byte {
	n := c.length(false)
	if n == -1 {
		return nil
	}
	return c.take(n)
}

// count reads the length of an array whose elements have at least size bytes; null counts as empty.
func (c *cursor) count(size int) int {
	n := c.length(false)
	if n < -1 || n > len(c.b)/size {
		c.bad, c.b = true, nil
	}
	if c.bad {
		return 0
	}
	return max(n, 0)
}

// tags skips tagged fields.
func (c *cursor) tags() {
	if !c.flex || c.bad {
		return
	}
	rest, ok := wire.SkipTags(c.b)
	if !ok {
		c.bad, rest = true, nil
	}
	c.b = rest
}

// tagged calls fn with every tagged field.
func (c *cursor) tagged(fn func(tag uint64, v *cursor)) {
	if !c.flex {
		return
	}
	for n := c.uvarint(); n > 0 && !c.bad; n-- {
		tag := c.uvarint()
		v := cursor{b: c.take(int(min(c.uvarint(), 1<<31))), flex: true}
		if !c.bad {
			fn(tag, &v)
			c.bad = v.bad
		}
	}
}

// Appending what replies are made of; flex as above.

func appendCount(b []byte, n int, flex bool) []byte {
	if flex {
		return binary.AppendUvarint(b, uint64(n+1))
	}
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

func appendString(b []byte, s string, flex bool) []byte {
	if flex {
		b = binary.AppendUvarint(b, uint64(len(s)+1))
	} else {
		b = binary.BigEndian.AppendUint16(b, uint16(len(s)))
	}
	return append(b, s...)
}

// appendText appends a nullable string, null if it is empty.
func appendText(b []byte, s string, flex bool) []byte {
	switch {
	case s != "":
		return appendString(b, s, flex)
	case flex:
		return append(b, 0)
	}
	return append(b, 0xff, 0xff)
}

func appendTags(b []byte, flex bool) []byte {
	if flex {
		return append(b, 0)
	}
	return b
}

func append16(b []byte, v int16) []byte { return binary.BigEndian.AppendUint16(b, uint16(v)) }
func append32(b []byte, v int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(v)) }
func append64(b []byte, v int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(v)) }
