package record

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/kalda/kalda/internal/format/batch"
)

// ErrCorrupt marks bytes that can't be the record they should be.
var ErrCorrupt = errors.New("corrupt record")

// ControlType is the kind of a control record, the second int16 of its key.
type ControlType int16

// The control records that the metadata log and its snapshots hold. 0 and 1 end transactions of user topics.
const (
	ControlLeaderChange   ControlType = 2
	ControlSnapshotHeader ControlType = 3
	ControlSnapshotFooter ControlType = 4
	ControlKRaftVersion   ControlType = 5
	ControlKRaftVoters    ControlType = 6
)

// ControlKey encodes a control record's key.
func ControlKey(t ControlType) []byte { return binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(t)) }

// DecodeControlKey reads a control record's key. Types that it doesn't know are for the caller to skip.
func DecodeControlKey(key []byte) (ControlType, error) {
	if len(key) < 4 {
		return 0, fmt.Errorf("%w: control key of %d bytes", ErrCorrupt, len(key))
	}
	return ControlType(binary.BigEndian.Uint16(key[2:])), nil
}

// ReplicaKey names a replica of the metadata log. A zero Dir is an absent directory id.
type ReplicaKey struct {
	ID  int32
	Dir [16]byte
}

// LeaderChange is the first record of a leader's epoch. Version 0 has no directory ids.
type LeaderChange struct {
	Version        int16
	Leader         int32
	Voters, Grants []ReplicaKey
}

// Encode encodes the record's value.
func (m *LeaderChange) Encode() []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(m.Version))
	b = binary.BigEndian.AppendUint32(b, uint32(m.Leader))
	for _, keys := range [][]ReplicaKey{m.Voters, m.Grants} {
		b = binary.AppendUvarint(b, uint64(len(keys))+1)
		for _, k := range keys {
			b = binary.BigEndian.AppendUint32(b, uint32(k.ID))
			if m.Version >= 1 {
				b = append(b, k.Dir[:]...)
			}
			b = append(b, 0)
		}
	}
	return append(b, 0)
}

// DecodeLeaderChange decodes a value that Encode, or Apache, made.
func DecodeLeaderChange(b []byte) (*LeaderChange, error) {
	r := controlReader{b: b}
	m := &LeaderChange{Version: r.int16(), Leader: r.int32()}
	for _, keys := range []*[]ReplicaKey{&m.Voters, &m.Grants} {
		for range r.count(5) {
			k := ReplicaKey{ID: r.int32()}
			if m.Version >= 1 {
				k.Dir = r.uuid()
			}
			r.tags()
			*keys = append(*keys, k)
		}
	}
	r.tags()
	return m, r.done("LeaderChange")
}

// EncodeSnapshotHeader encodes the first record's value of a snapshot; ms is the last contained batch's
// append time.
func EncodeSnapshotHeader(ms int64) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{0, 0}, uint64(ms)), 0)
}

// DecodeSnapshotHeader reads a snapshot header's time.
func DecodeSnapshotHeader(b []byte) (ms int64, err error) {
	r := controlReader{b: b}
	r.int16()
	ms = int64(r.uint64())
	r.tags()
	return ms, r.done("SnapshotHeader")
}

// EncodeSnapshotFooter encodes the last record's value of a snapshot.
func EncodeSnapshotFooter() []byte { return []byte{0, 0, 0} }

// EncodeKRaftVersion encodes the finalized kraft.version.
func EncodeKRaftVersion(v int16) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(v)), 0)
}

// DecodeKRaftVersion reads the finalized kraft.version.
func DecodeKRaftVersion(b []byte) (int16, error) {
	r := controlReader{b: b}
	r.int16()
	v := r.int16()
	r.tags()
	return v, r.done("KRaftVersion")
}

// The markers that end transactions, in user topics.
const (
	ControlAbort  ControlType = 0
	ControlCommit ControlType = 1
)

// TxnMarker is the one record of a marker's batch.
func TxnMarker(commit bool, coordinatorEpoch int32) batch.Record {
	t := ControlAbort
	if commit {
		t = ControlCommit
	}
	value := binary.BigEndian.AppendUint32([]byte{0, 0}, uint32(coordinatorEpoch))
	return batch.Record{Key: ControlKey(t), Value: value}
}
