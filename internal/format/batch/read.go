package batch

import (
	"fmt"
	"unsafe"
)

// Reader iterates over the records of one batch. Get one from View.Records, Close it to give its buffer back.
type Reader struct {
	b      []byte
	p      int
	left   int32
	err    error
	pooled *[]byte
}

// Records starts reading the batch's records, decompressed through d if need be (nil: a shared one with
// default bounds).
func (v View) Records(d *Decompressor) (Reader, error) {
	n := v.Count()
	if n < 0 {
		return Reader{}, fmt.Errorf("%w: %d records", ErrCorrupt, n)
	}
	c := v.Codec()
	if c == None {
		return Reader{b: v[HeaderSize:], left: n}, nil
	}
	buf, err := d.decompress(c, v[HeaderSize:])
	if err != nil {
		return Reader{}, err
	}
	return Reader{b: *buf, left: n, pooled: buf}, nil
}

// Next reads the next record into rec, whose Headers slice it reuses. Keys, values and header keys alias the
// batch (or the reader's buffer): they are valid until the batch changes or the reader is closed. False: the
// end, or Err.
func (r *Reader) Next(rec *Record) bool {
	if r.left <= 0 || r.err != nil {
		if r.left == 0 && r.err == nil && r.p != len(r.b) {
			r.err = fmt.Errorf("%w: %d bytes after the last record", ErrCorrupt, len(r.b)-r.p)
		}
		return false
	}
	n, p := varint(r.b, r.p)
	if p < 0 || n < 1 || n > int64(len(r.b)-p) {
		return r.fail("record length")
	}
	b := r.b[:p+int(n)]
	p++ // attributes, unused
	rec.TimestampDelta, p = varint(b, p)
	od, p := varint(b, p)
	if od != int64(int32(od)) {
		return r.fail("offset delta")
	}
	rec.OffsetDelta = int32(od)
	rec.Key, p = field(b, p)
	rec.Value, p = field(b, p)
	if p = rec.readHeaders(b, p); p != len(b) {
		return r.fail("record structure")
	}
	r.p = p
	r.left--
	return true
}

// field reads a nullable byte string; nil is null.
func field(b []byte, p int) (v []byte, next int) {
	n, p := varint(b, p)
	if p < 0 || n < -1 || n > int64(len(b)-p) {
		return nil, -1
	}
	if n < 0 {
		return nil, p
	}
	e := p + int(n)
	return b[p:e:e], e
}

func (rec *Record) readHeaders(b []byte, p int) int {
	rec.Headers = rec.Headers[:0]
	n, p := varint(b, p)
	if p < 0 || n < 0 || n > int64(len(b)-p)/2 { // two bytes a header at least
		return -1
	}
	for range n {
		var k, v []byte
		k, p = field(b, p)
		if k == nil {
			return -1
		}
		if v, p = field(b, p); p < 0 {
			return -1
		}
		rec.Headers = append(rec.Headers, Header{Key: unsafe.String(unsafe.SliceData(k), len(k)), Value: v})
	}
	return p
}

func (r *Reader) fail(what string) bool {
	r.err = fmt.Errorf("%w: %s at byte %d of the records", ErrCorrupt, what, r.p)
	return false
}

// Err says why Next returned false, nil at the proper end.
func (r *Reader) Err() error { return r.err }

// Bytes are the raw records, decompressed.
func (r *Reader) Bytes() []byte { return r.b }

// Close gives the decompression buffer back. What was read must no longer be used.
func (r *Reader) Close() {
	if r.pooled != nil {
		putBuffer(r.pooled)
		*r = Reader{}
	}
}
