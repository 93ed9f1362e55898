package batch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Offset is a position in a partition's log.
type Offset int64

// Epoch is a leader epoch.
type Epoch int32

// Codec is the compression of a batch, as in the low three attribute bits.
type Codec int8

// The codecs of the format.
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

// Sizes and positions inside a v2 batch (broker.md 3.2).
const (
	// LogOverhead is the size of baseOffset and batchLength, which batchLength doesn't count.
	LogOverhead = 12
	// HeaderSize is everything before the records.
	HeaderSize = 61

	posLength          = 8
	posLeaderEpoch     = 12
	posMagic           = 16
	posCRC             = 17
	posAttributes      = 21
	posLastOffsetDelta = 23
	posBaseTimestamp   = 27
	posMaxTimestamp    = 35
	posProducerID      = 43
	posProducerEpoch   = 51
	posBaseSequence    = 53
	posCount           = 57
)

const (
	attrCodecMask     = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
	attrDeleteHorizon = 0x40
)

// ErrCorrupt marks bytes that can't be a batch.
var ErrCorrupt = errors.New("corrupt batch")

// ErrShort says that the bytes end before the batch does.
var ErrShort = errors.New("short batch")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// View reads one raw batch in place. Its accessors need len(v) >= HeaderSize; Next makes such views.
type View []byte

// Next cuts the first batch off b. ErrShort: b ends inside it (io keeps reading, a log ends there).
func Next(b []byte) (v View, rest []byte, err error) {
	if len(b) < LogOverhead {
		return nil, b, ErrShort
	}
	n := int64(int32(binary.BigEndian.Uint32(b[posLength:]))) + LogOverhead
	if n < HeaderSize {
		return nil, b, fmt.Errorf("%w: length %d", ErrCorrupt, n-LogOverhead)
	}
	if int64(len(b)) < n {
		return nil, b, ErrShort
	}
	return View(b[:n:n]), b[n:], nil
}

// BaseOffset is the offset of the first record.
func (v View) BaseOffset() Offset { return Offset(binary.BigEndian.Uint64(v)) }

// Size is the whole batch in bytes, as its length field says.
func (v View) Size() int { return int(int32(binary.BigEndian.Uint32(v[posLength:]))) + LogOverhead }

// LeaderEpoch is the epoch of the leader that appended the batch.
func (v View) LeaderEpoch() Epoch { return Epoch(binary.BigEndian.Uint32(v[posLeaderEpoch:])) }

// Magic is the format version, 2 here.
func (v View) Magic() int8 { return int8(v[posMagic]) }

// CRC is the stored checksum.
func (v View) CRC() uint32 { return binary.BigEndian.Uint32(v[posCRC:]) }

// Checksum computes the CRC-32C that CRC should hold.
func (v View) Checksum() uint32 { return crc32.Checksum(v[posAttributes:], castagnoli) }

// Attributes are the flag bits.
func (v View) Attributes() int16 { return int16(binary.BigEndian.Uint16(v[posAttributes:])) }

// Codec is the compression of the records.
func (v View) Codec() Codec { return Codec(v.Attributes() & attrCodecMask) }

// LogAppendTime says that every record's time is MaxTimestamp.
func (v View) LogAppendTime() bool { return v.Attributes()&attrLogAppendTime != 0 }

// Transactional says that the batch belongs to a transaction.
func (v View) Transactional() bool { return v.Attributes()&attrTransactional != 0 }

// Control says that the batch holds control records.
func (v View) Control() bool { return v.Attributes()&attrControl != 0 }

// HasDeleteHorizon says that BaseTimestamp is the delete horizon (KIP-534).
func (v View) HasDeleteHorizon() bool { return v.Attributes()&attrDeleteHorizon != 0 }

// LastOffsetDelta is LastOffset minus BaseOffset.
func (v View) LastOffsetDelta() int32 {
	return int32(binary.BigEndian.Uint32(v[posLastOffsetDelta:]))
}

// LastOffset is the offset of the last record (of the original batch, if compaction removed it).
func (v View) LastOffset() Offset { return v.BaseOffset() + Offset(v.LastOffsetDelta()) }

// BaseTimestamp is the first record's time, or the delete horizon.
func (v View) BaseTimestamp() int64 { return int64(binary.BigEndian.Uint64(v[posBaseTimestamp:])) }

// MaxTimestamp is the largest record time, or the append time.
func (v View) MaxTimestamp() int64 { return int64(binary.BigEndian.Uint64(v[posMaxTimestamp:])) }

// ProducerID is -1 without idempotence.
func (v View) ProducerID() int64 { return int64(binary.BigEndian.Uint64(v[posProducerID:])) }

// ProducerEpoch is -1 without idempotence.
func (v View) ProducerEpoch() int16 { return int16(binary.BigEndian.Uint16(v[posProducerEpoch:])) }

// BaseSequence is -1 without idempotence.
func (v View) BaseSequence() int32 { return int32(binary.BigEndian.Uint32(v[posBaseSequence:])) }

// Count is the number of records.
func (v View) Count() int32 { return int32(binary.BigEndian.Uint32(v[posCount:])) }

// RecordBytes are the bytes after the header, compressed if Codec says so.
func (v View) RecordBytes() []byte { return v[HeaderSize:] }

// SetBaseOffset stamps the offset; it is outside the checksum.
func (v View) SetBaseOffset(o Offset) { binary.BigEndian.PutUint64(v, uint64(o)) }

// SetLeaderEpoch stamps the epoch; it is outside the checksum.
func (v View) SetLeaderEpoch(e Epoch) { binary.BigEndian.PutUint32(v[posLeaderEpoch:], uint32(e)) }

// SetMaxTimestamp stamps the largest time and its kind, and the checksum if that changed anything.
func (v View) SetMaxTimestamp(ms int64, logAppend bool) {
	a := v.Attributes() &^ attrLogAppendTime
	if logAppend {
		a |= attrLogAppendTime
	}
	if ms == v.MaxTimestamp() && a == v.Attributes() {
		return
	}
	binary.BigEndian.PutUint16(v[posAttributes:], uint16(a))
	binary.BigEndian.PutUint64(v[posMaxTimestamp:], uint64(ms))
	v.SetCRC()
}

// SetCRC stamps the checksum of what the batch holds now.
func (v View) SetCRC() { binary.BigEndian.PutUint32(v[posCRC:], v.Checksum()) }
