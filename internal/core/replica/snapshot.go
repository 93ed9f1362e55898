package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/kalda/kalda/internal/format/batch"
)

// ErrCorrupt marks bytes that can't be a producer snapshot.
var ErrCorrupt = errors.New("corrupt producer snapshot")

const (
	snapshotVersion = 1
	snapshotHeader  = 2 + 4 + 4                     // version, crc, count
	snapshotEntry   = 8 + 2 + 4 + 8 + 4 + 8 + 4 + 8 // one producer
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Snapshot encodes the state as a %020d.snapshot file holds it (broker.md 4.1): of each producer the last
// batch only.
func (p *Producers) Snapshot() []byte {
	b := make([]byte, snapshotHeader, snapshotHeader+len(p.byID)*snapshotEntry)
	binary.BigEndian.PutUint16(b, snapshotVersion)
	binary.BigEndian.PutUint32(b[6:], uint32(len(p.byID)))
	for q := p.oldest; q != nil; q = q.newer {
		b = appendProducer(b, q)
	}
	binary.BigEndian.PutUint32(b[2:], crc32.Checksum(b[6:], castagnoli))
	return b
}

func appendProducer(b []byte, q *producer) []byte {
	e := entry{lastSeq: -1, lastOffset: -1}
	if last := q.last(); last != nil {
		e = *last
	}
	b = binary.BigEndian.AppendUint64(b, uint64(q.id))
	b = binary.BigEndian.AppendUint16(b, uint16(q.epoch))
	b = binary.BigEndian.AppendUint32(b, uint32(e.lastSeq))
	b = binary.BigEndian.AppendUint64(b, uint64(e.lastOffset))
	b = binary.BigEndian.AppendUint32(b, uint32(e.delta))
	b = binary.BigEndian.AppendUint64(b, uint64(q.timestamp))
	b = binary.BigEndian.AppendUint32(b, uint32(q.coordinatorEpoch))
	return binary.BigEndian.AppendUint64(b, uint64(q.txnFirst))
}

// Load replaces the state by a snapshot's. On an error the state is empty.
func (p *Producers) Load(b []byte) error {
	p.Truncate()
	if len(b) < snapshotHeader {
		return fmt.Errorf("%w: %d bytes", ErrCorrupt, len(b))
	}
	if v := binary.BigEndian.Uint16(b); v != snapshotVersion {
		return fmt.Errorf("%w: version %d", ErrCorrupt, v)
	}
	if got, want := crc32.Checksum(b[6:], castagnoli), binary.BigEndian.Uint32(b[2:]); got != want {
		return fmt.Errorf("%w: crc %08x, want %08x", ErrCorrupt, got, want)
	}
	n := int64(binary.BigEndian.Uint32(b[6:]))
	b = b[snapshotHeader:]
	if int64(len(b)) != n*snapshotEntry {
		return fmt.Errorf("%w: %d producers in %d bytes", ErrCorrupt, n, len(b))
	}
	for ; len(b) > 0; b = b[snapshotEntry:] {
		p.loadProducer(b)
	}
	return nil
}

func (p *Producers) loadProducer(b []byte) {
	q := p.touch(int64(binary.BigEndian.Uint64(b)))
	q.epoch = int16(binary.BigEndian.Uint16(b[8:]))
	q.timestamp = int64(binary.BigEndian.Uint64(b[26:]))
	q.coordinatorEpoch = int32(binary.BigEndian.Uint32(b[34:]))
	e := entry{
		lastSeq:    int32(binary.BigEndian.Uint32(b[10:])),
		lastOffset: batch.Offset(binary.BigEndian.Uint64(b[14:])),
		delta:      int32(binary.BigEndian.Uint32(b[22:])),
		timestamp:  q.timestamp,
	}
	q.n = 0
	if e.lastOffset >= 0 && e.lastSeq >= 0 {
		q.remember(e)
	}
	q.txnFirst = batch.Offset(binary.BigEndian.Uint64(b[38:]))
	if q.txnFirst >= 0 {
		p.open = insert(p.open, txn{id: q.id, first: q.txnFirst, last: -1})
	}
}
