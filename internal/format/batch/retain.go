package batch

import (
	"encoding/binary"
	"fmt"
)

// Span is one record as compaction sees it: enough to decide on it, and where its bytes lie among those of
// Reader.Bytes.
type Span struct {
	OffsetDelta    int32
	TimestampDelta int64
	Key            []byte // nil is null; aliases the records
	HasValue       bool

	start, rest, end int // rest is what follows the timestamp delta
}

// NextSpan is Next for who wants to know of a record no more than that. It doesn't look at headers.
func (r *Reader) NextSpan(s *Span) bool {
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
	s.start, s.end = r.p, p+int(n)
	b := r.b[:s.end]
	s.TimestampDelta, s.rest = varint(b, p+1)
	od, p := varint(b, s.rest)
	if od != int64(int32(od)) {
		return r.fail("offset delta")
	}
	s.OffsetDelta = int32(od)
	s.Key, p = field(b, p)
	size, p := varint(b, p)
	if p < 0 || size < -1 || size > int64(len(b)-p) {
		return r.fail("record structure")
	}
	s.HasValue = size >= 0
	r.p = s.end
	r.left--
	return true
}

// NoHorizon is the horizon of a batch that has none.
const NoHorizon int64 = -1

// Horizon is when the batch's tombstones or its marker may go (KIP-534).
func (v View) Horizon() int64 {
	if v.HasDeleteHorizon() {
		return v.BaseTimestamp()
	}
	return NoHorizon
}

// AppendRetained appends to dst the batch with only those of its records that kept lists, at least one, and
// with that delete horizon. raw is its records, decompressed. What tells of the batch as a whole stays:
// offsets, leader epoch, producer, sequence, codec. Byte for byte it is what Apache's cleaner writes: times
// count from the horizon or else from the first record kept.
func (v View) AppendRetained(dst, raw []byte, kept []Span, horizon int64) ([]byte, error) {
	m := v.Meta()
	base := v.BaseTimestamp() + kept[0].TimestampDelta
	if m.LogAppendTime {
		base = v.MaxTimestamp()
	}
	if horizon >= 0 {
		base = horizon
	}
	shift := v.BaseTimestamp() - base
	newest := int64(-1)
	for i := range kept {
		newest = max(newest, v.BaseTimestamp()+kept[i].TimestampDelta)
	}
	if m.LogAppendTime {
		newest = v.MaxTimestamp()
	}
	start := len(dst)
	var header [HeaderSize]byte
	dst = append(dst, header[:]...)
	out := dst
	if m.Codec != None {
		scratch := getBuffer()
		defer putBuffer(scratch)
		out = (*scratch)[:0]
		defer func() { *scratch = out }()
	}
	switch {
	case m.LogAppendTime:
		out = appendShifted(out, raw, kept, func(*Span) int64 { return newest - base })
	case shift != 0:
		out = appendShifted(out, raw, kept, func(s *Span) int64 { return s.TimestampDelta + shift })
	default:
		out = appendRuns(out, raw, kept)
	}
	if m.Codec == None {
		dst = out
	} else {
		var err error
		if dst, err = Compress(dst, m.Codec, DefaultLevel, out); err != nil {
			return dst[:start], err
		}
	}
	m.BaseTimestamp = base
	n := View(dst[start:])
	n.putHeader(&m)
	if horizon >= 0 {
		binary.BigEndian.PutUint16(n[posAttributes:], uint16(n.Attributes()|attrDeleteHorizon))
	}
	n.putCounts(v.LastOffsetDelta(), int32(len(kept)))
	binary.BigEndian.PutUint64(n[posMaxTimestamp:], uint64(newest))
	n.SetCRC()
	return dst, nil
}

// appendRuns copies records as they are, neighbours at once.
func appendRuns(out, raw []byte, kept []Span) []byte {
	for i := 0; i < len(kept); {
		start, end := kept[i].start, kept[i].end
		for i++; i < len(kept) && kept[i].start == end; i++ {
			end = kept[i].end
		}
		out = append(out, raw[start:end]...)
	}
	return out
}

// appendShifted copies records with other timestamp deltas.
func appendShifted(out, raw []byte, kept []Span, delta func(*Span) int64) []byte {
	for i := range kept {
		s := &kept[i]
		d := delta(s)
		out = binary.AppendVarint(out, int64(1+varintLen(d)+s.end-s.rest))
		out = append(out, 0)
		out = binary.AppendVarint(out, d)
		out = append(out, raw[s.rest:s.end]...)
	}
	return out
}

// AppendEmpty appends to dst the batch without any record: it keeps offsets and the producer's sequence known
// after everything in it was compacted away.
func (v View) AppendEmpty(dst []byte) []byte {
	m := v.Meta()
	m.Codec, m.BaseTimestamp = None, -1
	start := len(dst)
	var header [HeaderSize]byte
	dst = append(dst, header[:]...)
	n := View(dst[start:])
	n.putHeader(&m)
	n.putCounts(v.LastOffsetDelta(), 0)
	binary.BigEndian.PutUint64(n[posMaxTimestamp:], uint64(v.MaxTimestamp()))
	n.SetCRC()
	return dst
}
