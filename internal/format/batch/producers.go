package batch

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// ProducerEntry is one producer's state in a snapshot file: its last batch and its open transaction.
type ProducerEntry struct {
	ID               int64
	Epoch            int16
	LastSequence     int32 // -1 for none
	LastOffset       Offset
	OffsetDelta      int32 // from the last batch's first record to its last
	Timestamp        int64
	CoordinatorEpoch int32  // -1 for none
	TxnFirstOffset   Offset // -1: no transaction is open
}

// The layout of a producer snapshot file, %020d.snapshot (broker.md 4.1).
const (
	// ProducersHeader is the size of version, checksum and count.
	ProducersHeader = 10
	// ProducerSize is the size of one entry.
	ProducerSize = 46
)

// AppendProducers appends a snapshot file's content to dst: version, CRC-32C of what follows, count, entries.
func AppendProducers(dst []byte, entries []ProducerEntry) []byte {
	start := len(dst)
	be := binary.BigEndian
	dst = be.AppendUint16(dst, 1)
	dst = be.AppendUint32(dst, 0)
	dst = be.AppendUint32(dst, uint32(len(entries)))
	for i := range entries {
		e := &entries[i]
		dst = be.AppendUint64(dst, uint64(e.ID))
		dst = be.AppendUint16(dst, uint16(e.Epoch))
		dst = be.AppendUint32(dst, uint32(e.LastSequence))
		dst = be.AppendUint64(dst, uint64(e.LastOffset))
		dst = be.AppendUint32(dst, uint32(e.OffsetDelta))
		dst = be.AppendUint64(dst, uint64(e.Timestamp))
		dst = be.AppendUint32(dst, uint32(e.CoordinatorEpoch))
		dst = be.AppendUint64(dst, uint64(e.TxnFirstOffset))
	}
	be.PutUint32(dst[start+2:], crc32.Checksum(dst[start+6:], castagnoli))
	return dst
}

// DecodeProducers reads a snapshot file's content.
func DecodeProducers(b []byte) ([]ProducerEntry, error) {
	be := binary.BigEndian
	if len(b) < ProducersHeader || be.Uint16(b) != 1 {
		return nil, fmt.Errorf("%w: producer snapshot version", ErrCorrupt)
	}
	if sum := crc32.Checksum(b[6:], castagnoli); sum != be.Uint32(b[2:]) {
		return nil, fmt.Errorf("%w: producer snapshot checksum %08x, computed %08x", ErrCorrupt,
			be.Uint32(b[2:]), sum)
	}
	n := int64(int32(be.Uint32(b[6:])))
	if n < 0 || n*ProducerSize != int64(len(b)-ProducersHeader) {
		return nil, fmt.Errorf("%w: producer snapshot of %d entries in %d bytes", ErrCorrupt, n, len(b))
	}
	out := make([]ProducerEntry, n)
	for i := range out {
		out[i] = DecodeProducer(b[ProducersHeader+i*ProducerSize:])
	}
	return out, nil
}

// DecodeProducer reads one entry; len(b) >= ProducerSize.
func DecodeProducer(b []byte) ProducerEntry {
	be := binary.BigEndian
	return ProducerEntry{
		ID: int64(be.Uint64(b)), Epoch: int16(be.Uint16(b[8:])), LastSequence: int32(be.Uint32(b[10:])),
		LastOffset: Offset(be.Uint64(b[14:])), OffsetDelta: int32(be.Uint32(b[22:])),
		Timestamp: int64(be.Uint64(b[26:])), CoordinatorEpoch: int32(be.Uint32(b[34:])),
		TxnFirstOffset: Offset(be.Uint64(b[38:])),
	}
}
