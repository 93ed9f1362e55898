package record

import (
	"encoding/binary"
	"fmt"
)

// controlReader takes fields off the front of b. After the first failure everything reads as zero, and done
// tells.
type controlReader struct {
	b   []byte
	bad bool
}

func (r *controlReader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad = true
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *controlReader) int16() int16 {
	if v := r.take(2); v != nil {
		return int16(binary.BigEndian.Uint16(v))
	}
	return 0
}

func (r *controlReader) int32() int32 {
	if v := r.take(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (r *controlReader) uint64() uint64 {
	if v := r.take(8); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func (r *controlReader) uuid() (id [16]byte) {
	copy(id[:], r.take(16))
	return id
}

func (r *controlReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count is an array's length; no more elements, of at least size bytes each, than the rest can hold.
func (r *controlReader) count(size int) int {
	n := r.uvarint()
	if n == 0 {
		return 0
	}
	if n--; n > uint64(len(r.b)/size) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *controlReader) string() string {
	n := r.uvarint()
	if n == 0 || n-1 > uint64(len(r.b)) {
		r.bad = true
		return ""
	}
	return string(r.take(int(n - 1)))
}

// tags skips tagged fields: none is known yet, and unknown ones must not be refused.
func (r *controlReader) tags() {
	n := r.uvarint()
	for ; n > 0 && !r.bad; n-- {
		r.uvarint()
		size := r.uvarint()
		if size > uint64(len(r.b)) {
			r.bad = true
			return
		}
		r.take(int(size))
	}
}

func (r *controlReader) done(what string) error {
	if r.bad {
		return fmt.Errorf("%w: %s", ErrCorrupt, what)
	}
	if len(r.b) != 0 {
		return fmt.Errorf("%w: %s has %d bytes too many", ErrCorrupt, what, len(r.b))
	}
	return nil
}
