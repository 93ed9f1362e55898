package batch

import "encoding/binary"

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
	return Meta{BaseOffset: base, LeaderEpoch: epoch, BaseTimestamp: ms, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1}
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

func varintLen(v int64) int {
	u := uint64(v<<1) ^ uint64(v>>63)
	n := 1
	for u >= 0x80 {
		u >>= 7
		n++
	}
	return n
}
