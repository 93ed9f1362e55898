package batch

import (
	"encoding/binary"
	"fmt"
)

// Header is one record header.
type Header struct {
	Key   string
	Value []byte // nil is null
}

// Record is one record of a batch. Key and Value nil are null.
type Record struct {
	OffsetDelta    int32
	TimestampDelta int64
	Key, Value     []byte
	Headers        []Header
}

// Meta is what Build writes into a batch's header beside what the records tell.
type Meta struct {
	BaseOffset    Offset
	LeaderEpoch   Epoch
	BaseTimestamp int64 // ms
	Codec         Codec
	ProducerID    int64 // -1 for none; so are ProducerEpoch and BaseSequence
	ProducerEpoch int16
	BaseSequence  int32
	Transactional bool
	Control       bool
	LogAppendTime bool
}

// NoProducer is the Meta of a batch without idempotence.
func NoProducer(base Offset, epoch Epoch, ms int64) Meta {
	return Meta{
		BaseOffset: base, LeaderEpoch: epoch, BaseTimestamp: ms,
		ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1,
	}
}

// AppendRecord appends r's bytes to b.
func AppendRecord(b []byte, r *Record) []byte {
	n := 1 + varintLen(r.TimestampDelta) + varintLen(int64(r.OffsetDelta)) +
		bytesLen(r.Key) + bytesLen(r.Value) + varintLen(int64(len(r.Headers)))
	for i := range r.Headers {
		h := &r.Headers[i]
		n += varintLen(int64(len(h.Key))) + len(h.Key) + bytesLen(h.Value)
	}
	b = binary.AppendVarint(b, int64(n))
	b = append(b, 0)
	b = binary.AppendVarint(b, r.TimestampDelta)
	b = binary.AppendVarint(b, int64(r.OffsetDelta))
	b = appendBytes(b, r.Key)
	b = appendBytes(b, r.Value)
	b = binary.AppendVarint(b, int64(len(r.Headers)))
	for i := range r.Headers {
		h := &r.Headers[i]
		b = binary.AppendVarint(b, int64(len(h.Key)))
		b = append(b, h.Key...)
		b = appendBytes(b, h.Value)
	}
	return b
}

func appendBytes(b, v []byte) []byte {
	if v == nil {
		return binary.AppendVarint(b, -1)
	}
	b = binary.AppendVarint(b, int64(len(v)))
	return append(b, v...)
}

func bytesLen(v []byte) int {
	if v == nil {
		return 1
	}
	return varintLen(int64(len(v))) + len(v)
}

// Build appends one whole batch to dst: the records as given (their deltas too), compressed by m.Codec at
// the codec's default level, with sizes, times and checksum filled in.
func Build(dst []byte, m Meta, recs []Record) ([]byte, error) {
	if len(recs) == 0 {
		return dst, fmt.Errorf("batch at offset %d without records", m.BaseOffset)
	}
	start := len(dst)
	dst = append(dst, make([]byte, HeaderSize)...)
	maxDelta := recs[0].TimestampDelta
	raw := dst
	var scratch *[]byte
	if m.Codec != None {
		scratch = getBuffer()
		defer putBuffer(scratch)
		raw = (*scratch)[:0]
	}
	for i := range recs {
		maxDelta = max(maxDelta, recs[i].TimestampDelta)
		raw = AppendRecord(raw, &recs[i])
	}
	if m.Codec == None {
		dst = raw
	} else {
		*scratch = raw
		var err error
		if dst, err = Compress(dst, m.Codec, DefaultLevel, raw); err != nil {
			return dst[:start], err
		}
	}
	v := View(dst[start:])
	v.putHeader(&m)
	v.putCounts(recs[len(recs)-1].OffsetDelta, int32(len(recs)))
	binary.BigEndian.PutUint64(v[posMaxTimestamp:], uint64(m.BaseTimestamp+maxDelta))
	v.SetCRC()
	return dst, nil
}

// putHeader writes everything that m tells into v's header.
func (v View) putHeader(m *Meta) {
	a := uint16(m.Codec)
	if m.LogAppendTime {
		a |= attrLogAppendTime
	}
	if m.Transactional {
		a |= attrTransactional
	}
	if m.Control {
		a |= attrControl
	}
	v.SetBaseOffset(m.BaseOffset)
	binary.BigEndian.PutUint32(v[posLength:], uint32(len(v)-LogOverhead))
	v.SetLeaderEpoch(m.LeaderEpoch)
	v[posMagic] = 2
	binary.BigEndian.PutUint16(v[posAttributes:], a)
	binary.BigEndian.PutUint64(v[posBaseTimestamp:], uint64(m.BaseTimestamp))
	binary.BigEndian.PutUint64(v[posProducerID:], uint64(m.ProducerID))
	binary.BigEndian.PutUint16(v[posProducerEpoch:], uint16(m.ProducerEpoch))
	binary.BigEndian.PutUint32(v[posBaseSequence:], uint32(m.BaseSequence))
}

func (v View) putCounts(lastDelta, count int32) {
	binary.BigEndian.PutUint32(v[posLastOffsetDelta:], uint32(lastDelta))
	binary.BigEndian.PutUint32(v[posCount:], uint32(count))
}

// Meta reads back what Build wrote.
func (v View) Meta() Meta {
	return Meta{
		BaseOffset: v.BaseOffset(), LeaderEpoch: v.LeaderEpoch(),
		BaseTimestamp: v.BaseTimestamp(), Codec: v.Codec(),
		ProducerID: v.ProducerID(), ProducerEpoch: v.ProducerEpoch(), BaseSequence: v.BaseSequence(),
		Transactional: v.Transactional(), Control: v.Control(), LogAppendTime: v.LogAppendTime(),
	}
}
