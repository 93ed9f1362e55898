package layout

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// ErrShort says that the bytes end before the layout does.
var ErrShort = errors.New("the record ends too early")

// Values replaces the text of single values: a path of field names, without arrays' indexes, and a function
// from
// the raw value to JSON. Integers come as 8 bytes.
type Values map[string]func(raw []byte) (json []byte, ok bool)

// JSON decodes b as a record of that version and appends its JSON to dst. It returns what it didn't need.
func (l *Layout) JSON(dst, b []byte, version int16, special Values) (json, rest []byte, err error) {
	d := &decoder{b: b, version: version, flexible: l.flexible >= 0 && version >= l.flexible, special: special}
	dst = d.object(dst, l, "")
	if d.err != nil {
		return nil, nil, d.err
	}
	return dst, d.b, nil
}

type decoder struct {
	b        []byte
	version  int16
	flexible bool
	special  Values
	err      error
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.b) {
		if d.err == nil {
			d.err = ErrShort
		}
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) uvarint() uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > math.MaxUint32 {
		d.err = ErrShort
		return 0
	}
	d.b = d.b[n:]
	return v
}

// length reads the length of a string, of bytes or of an array; -1 is null.
func (d *decoder) length(short bool) int {
	if d.flexible {
		return int(d.uvarint()) - 1
	}
	if short {
		if b := d.take(2); b != nil {
			return int(int16(binary.BigEndian.Uint16(b)))
		}
		return 0
	}
	if b := d.take(4); b != nil {
		return int(int32(binary.BigEndian.Uint32(b)))
	}
	return 0
}

// object appends a structure's fields. Those with tags stand last in the bytes and anywhere in the schema, so
// all values are made first.
func (d *decoder) object(dst []byte, l *Layout, path string) []byte {
	values := make([][]byte, len(l.fields))
	for i := range l.fields {
		f := &l.fields[i]
		if d.version < f.from || d.version > f.to || f.tag >= 0 && d.flexible {
			continue
		}
		values[i] = d.value(nil, f, path)
	}
	if d.flexible {
		d.tags(l, values, path)
	}
	dst = append(dst, '{')
	first := true
	for i, v := range values {
		if v == nil {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(appendString(dst, l.fields[i].name), ':')
		dst = append(dst, v...)
	}
	return append(dst, '}')
}

func (d *decoder) tags(l *Layout, values [][]byte, path string) {
	for n := d.uvarint(); n > 0 && d.err == nil; n-- {
		tag, size := d.uvarint(), int(d.uvarint())
		data := d.take(size)
		for i := range l.fields {
			f := &l.fields[i]
			if f.tag < 0 || uint64(f.tag) != tag || d.version < f.from || d.version > f.to || d.err != nil {
				continue
			}
			inner := &decoder{b: data, version: d.version, flexible: d.flexible, special: d.special}
			values[i] = inner.value(nil, f, path)
			d.err = inner.err
			if string(values[i]) == f.omitted || f.kind == kindUUID && string(values[i]) == `"`+f.omitted+`"` {
				values[i] = nil
			}
		}
	}
}

func (d *decoder) value(dst []byte, f *field, path string) []byte {
	path += "/" + f.name
	if !f.array {
		return d.one(dst, f, path)
	}
	n := d.length(false)
	if n < 0 {
		return append(dst, "null"...)
	}
	if n > len(d.b) {
		d.err = ErrShort // each element takes a byte or more
	}
	dst = append(dst, '[')
	for i := 0; i < n && d.err == nil; i++ {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = d.one(dst, f, path)
	}
	return append(dst, ']')
}

func (d *decoder) one(dst []byte, f *field, path string) []byte {
	var raw []byte
	switch f.kind {
	case kindStruct:
		return d.object(dst, f.inner, path)
	case kindMaybeStruct:
		if b := d.take(1); b == nil || int8(b[0]) <= 0 { // 0 in a tag, else -1
			return append(dst, "null"...)
		}
		return d.object(dst, f.inner, path)
	case kindString, kindBytes:
		n := d.length(f.kind == kindString)
		if n < 0 {
			return append(dst, "null"...)
		}
		raw = d.take(n)
	default:
		raw = d.take(width(f.kind))
	}
	if d.err != nil {
		return dst
	}
	if show := d.special[path]; show != nil {
		if json, ok := show(raw); ok {
			return append(dst, json...)
		}
	}
	return appendValue(dst, f.kind, raw)
}

func width(k kind) int {
	switch k {
	case kindBool, kindInt8:
		return 1
	case kindInt16, kindUint16:
		return 2
	case kindInt32:
		return 4
	case kindUUID:
		return 16
	}
	return 8
}

// appendValue appends a value of the full width of its kind.
func appendValue(dst []byte, k kind, raw []byte) []byte {
	be := binary.BigEndian
	switch k {
	case kindBool:
		return strconv.AppendBool(dst, raw[0] != 0)
	case kindInt8:
		return strconv.AppendInt(dst, int64(int8(raw[0])), 10)
	case kindInt16:
		return strconv.AppendInt(dst, int64(int16(be.Uint16(raw))), 10)
	case kindUint16:
		return strconv.AppendUint(dst, uint64(be.Uint16(raw)), 10)
	case kindInt32:
		return strconv.AppendInt(dst, int64(int32(be.Uint32(raw))), 10)
	case kindInt64:
		return strconv.AppendInt(dst, int64(be.Uint64(raw)), 10)
	case kindFloat64:
		return append(dst, Double(math.Float64frombits(be.Uint64(raw)))...)
	case kindString:
		return appendString(dst, string(raw))
	case kindUUID:
		return appendString(dst, base64.RawURLEncoding.EncodeToString(raw))
	}
	return appendString(dst, base64.StdEncoding.EncodeToString(raw))
}

// appendString quotes as Apache's JSON writer does: only quotes, backslashes and control characters are
// escaped.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if at := indexByte("\"\\\b\f\n\r\t", c); at >= 0 {
			dst = append(dst, '\\', `"\bfnrt`[at])
		} else if c < 0x20 {
			dst = fmt.Appendf(dst, `\u%04X`, c)
		} else {
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

func indexByte(s string, c byte) int {
	for i := range len(s) {
		if s[i] == c {
			return i
		}
	}
	return -1
}

// Quote is a JSON string as Apache's JSON writer makes it.
func Quote(s string) string { return string(appendString(nil, s)) }
