package seglog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/kalda/kalda/internal/format/batch"
)

// ProducerEntry is one producer's state in a snapshot file: its last batch and its open transaction.
type ProducerEntry struct {
	ID               int64
	Epoch            int16
	LastSequence     int32 // -1 for none
	LastOffset       batch.Offset
	OffsetDelta      int32 // from the last batch's first record to its last
	Timestamp        int64
	CoordinatorEpoch int32        // -1 for none
	TxnFirstOffset   batch.Offset // -1: no transaction is open
}

const (
	producerHeader = 10 // version, checksum, count
	producerWidth  = 46
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
	be.PutUint32(dst[start+2:], crc32.Checksum(dst[start+6:], crc32.MakeTable(crc32.Castagnoli)))
	return dst
}

// DecodeProducers reads a snapshot file's content.
func DecodeProducers(b []byte) ([]ProducerEntry, error) {
	be := binary.BigEndian
	if len(b) < producerHeader || be.Uint16(b) != 1 {
		return nil, fmt.Errorf("%w: producer snapshot version", ErrCorrupt)
	}
	if sum := crc32.Checksum(b[6:], crc32.MakeTable(crc32.Castagnoli)); sum != be.Uint32(b[2:]) {
		return nil, fmt.Errorf("%w: producer snapshot checksum %08x, computed %08x", ErrCorrupt,
			be.Uint32(b[2:]), sum)
	}
	n := int64(int32(be.Uint32(b[6:])))
	if n < 0 || n*producerWidth != int64(len(b)-producerHeader) {
		return nil, fmt.Errorf("%w: producer snapshot of %d entries in %d bytes", ErrCorrupt, n, len(b))
	}
	out := make([]ProducerEntry, n)
	for i := range out {
		p := b[producerHeader+i*producerWidth:]
		out[i] = ProducerEntry{
			ID: int64(be.Uint64(p)), Epoch: int16(be.Uint16(p[8:])), LastSequence: int32(be.Uint32(p[10:])),
			LastOffset: batch.Offset(be.Uint64(p[14:])), OffsetDelta: int32(be.Uint32(p[22:])),
			Timestamp: int64(be.Uint64(p[26:])), CoordinatorEpoch: int32(be.Uint32(p[34:])),
			TxnFirstOffset: batch.Offset(be.Uint64(p[38:])),
		}
	}
	return out, nil
}
