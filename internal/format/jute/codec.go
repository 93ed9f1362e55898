package jute

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
	"unsafe"
)

// ErrMalformed says that bytes are no such record: too short, a length that cannot be, a null where none may
// be.
var ErrMalformed = errors.New("jute: malformed record")

// Record is what has a form in bytes.
type Record interface {
	// Append adds the record's bytes to dst.
	Append(dst []byte) []byte
	// Decode reads the record; the Decoder keeps the error.
	Decode(d *Decoder)
}

// Decoder reads fields off a slice. The zero value with Reset is ready.
//
// Buffers alias the slice that was given. Strings are copies, or alias it too with Alias.
type Decoder struct {
	buf   []byte
	off   int
	max   int
	bad   bool
	alias bool
}

// NewDecoder reads b. A string or buffer longer than limit is malformed; 0: bounded by b alone.
func NewDecoder(b []byte, limit int) *Decoder { return &Decoder{buf: b, max: limit} }

// Reset starts over with b, keeping limit and Alias.
func (d *Decoder) Reset(b []byte) { d.buf, d.off, d.bad = b, 0, false }

// Limit sets the longest string or buffer; 0 is none.
func (d *Decoder) Limit(n int) { d.max = n }

// Alias makes strings alias the bytes too, for records that do not outlive their frame.
func (d *Decoder) Alias(on bool) { d.alias = on }

// Err is ErrMalformed when anything so far was.
func (d *Decoder) Err() error {
	if d.bad {
		return ErrMalformed
	}
	return nil
}

// Remaining is how many bytes are left.
func (d *Decoder) Remaining() int { return len(d.buf) - d.off }

// Rest is what is left, unread.
func (d *Decoder) Rest() []byte { return d.buf[d.off:] }

// Offset is how many bytes were read.
func (d *Decoder) Offset() int { return d.off }

// Fail marks what was read as malformed.
func (d *Decoder) Fail() { d.bad = true }

func (d *Decoder) take(n int) []byte {
	if d.bad || n > len(d.buf)-d.off {
		d.bad = true
		return nil
	}
	b := d.buf[d.off : d.off+n : d.off+n]
	d.off += n
	return b
}

// Bool reads one byte; any but 0 is true.
func (d *Decoder) Bool() bool {
	b := d.take(1)
	return b != nil && b[0] != 0
}

// Int reads 4 bytes.
func (d *Decoder) Int() int32 {
	if b := d.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// Long reads 8 bytes.
func (d *Decoder) Long() int64 {
	if b := d.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Buffer reads a length and its bytes, which alias the input; nil for null.
func (d *Decoder) Buffer() []byte {
	n := int(d.Int())
	if d.bad || n == -1 {
		return nil
	}
	if n < 0 || d.max > 0 && n > d.max {
		d.bad = true
		return nil
	}
	return d.take(n)
}

// Text reads a string and whether it was there (not null).
func (d *Decoder) Text() (string, bool) {
	b := d.Buffer()
	if b == nil {
		return "", false
	}
	if !utf8.Valid(b) {
		return repair(b), true
	}
	if d.alias && len(b) > 0 {
		return unsafe.String(&b[0], len(b)), true
	}
	return string(b), true
}

// String reads a string; null is "".
func (d *Decoder) String() string {
	s, _ := d.Text()
	return s
}

// Path reads a string that must not be null.
func (d *Decoder) Path() string {
	s, ok := d.Text()
	if !ok {
		d.bad = true
	}
	return s
}

// Count reads a vector's length and bounds it by what the rest can hold, elements being at least size bytes;
// null: -1. As with Apache, any other negative length is a vector of none.
func (d *Decoder) Count(size int) int {
	n := int(d.Int())
	switch {
	case d.bad || n == -1:
		return -1
	case n < 0:
		return 0
	case n > d.Remaining()/size:
		d.bad = true
		return -1
	}
	return n
}

// Strings reads a vector of strings; nil for null.
func (d *Decoder) Strings() []string {
	n := d.Count(4)
	if n < 0 {
		return nil
	}
	out := make([]string, 0, n)
	for range n {
		out = append(out, d.String())
	}
	if d.bad {
		return nil
	}
	return out
}

// repair makes a string of bytes that are no UTF-8. Apache's writers send what is beyond 16 bits as two
// surrogates of three bytes each: these become the character they mean. Any other byte that fits nowhere
// becomes U+FFFD.
func repair(b []byte) string {
	out := make([]byte, 0, len(b)+8)
	for len(b) > 0 {
		if hi, lo := surrogate(b), rune(0); hi >= 0xd800 && hi < 0xdc00 {
			if lo = surrogate(b[3:]); lo >= 0xdc00 {
				out = utf8.AppendRune(out, (hi-0xd800)<<10|(lo-0xdc00)+0x10000)
				b = b[6:]
				continue
			}
		}
		r, n := utf8.DecodeRune(b)
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return string(out)
}

// surrogate decodes one surrogate of three bytes, 0 when there is none.
func surrogate(b []byte) rune {
	if len(b) < 3 || b[0] != 0xed || b[1]&0xe0 != 0xa0 || b[2]&0xc0 != 0x80 {
		return 0
	}
	return 0xd000 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f)
}

// AppendBool adds one byte.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendInt adds 4 bytes.
func AppendInt(dst []byte, v int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(v)) }

// AppendLong adds 8 bytes.
func AppendLong(dst []byte, v int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(v)) }

// AppendBuffer adds a length and the bytes; nil is null.
func AppendBuffer(dst, b []byte) []byte {
	if b == nil {
		return AppendInt(dst, -1)
	}
	return append(AppendInt(dst, int32(len(b))), b...)
}

// AppendString adds a length and the string.
func AppendString(dst []byte, s string) []byte { return append(AppendInt(dst, int32(len(s))), s...) }

// AppendNull adds a null string, buffer or vector.
func AppendNull(dst []byte) []byte { return AppendInt(dst, -1) }

// AppendStrings adds a vector of strings; nil is null.
func AppendStrings(dst []byte, v []string) []byte {
	if v == nil {
		return AppendNull(dst)
	}
	dst = AppendInt(dst, int32(len(v)))
	for _, s := range v {
		dst = AppendString(dst, s)
	}
	return dst
}

// Text is a string that may be null, where the difference is kept.
type Text struct {
	S     string
	Valid bool
}

// TextOf is a string that is there.
func TextOf(s string) Text { return Text{s, true} }

// Append adds the string or null.
func (t Text) Append(dst []byte) []byte {
	if !t.Valid {
		return AppendNull(dst)
	}
	return AppendString(dst, t.S)
}

// Decode reads the string or null.
func (t *Text) Decode(d *Decoder) { t.S, t.Valid = d.Text() }
