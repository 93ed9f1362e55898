package broker

import (
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// Partition is one partition that this node hosts.
type Partition struct {
	topic string
	id    meta.UUID
	n     int32
}

// Topic, ID and Number tell which partition it is.
func (p *Partition) Topic() string { return p.topic }

// ID is the topic's id.
func (p *Partition) ID() meta.UUID { return p.id }

// Number is the partition's number in its topic.
func (p *Partition) Number() int32 { return p.n }

// AppendLocal appends one batch that a coordinator built: it stamps offsets and leader epoch, checks what acks=all checks
// before it writes, and doesn't keep the slice. See Await for when it is committed.
func (p *Partition) AppendLocal(b []byte) (base batch.Offset, code kerr.Code) {
	return -1, kerr.NotLeaderOrFollower
}

// Await calls fn once: with None when everything below offset is committed, with NotLeaderOrFollower when this node stops
// leading. It may call fn before it returns, or later while locks are held: fn only takes note.
func (p *Partition) Await(offset batch.Offset, fn func(kerr.Code)) { fn(kerr.NotLeaderOrFollower) }

// ReadLocal appends whole batches from the one that holds from to dst, about max bytes of them, at least one if there is one.
func (p *Partition) ReadLocal(from batch.Offset, max int, dst []byte) ([]byte, error) {
	return dst, nil
}

// LEO is the offset that the next record gets.
func (p *Partition) LEO() batch.Offset { return 0 }

// HW is the high watermark: everything below it is committed.
func (p *Partition) HW() batch.Offset { return 0 }

// LSO is the last stable offset.
func (p *Partition) LSO() batch.Offset { return 0 }

// LogStart is the first offset.
func (p *Partition) LogStart() batch.Offset { return 0 }

// IsLeader tells whether this node leads the partition.
func (p *Partition) IsLeader() bool { return false }

// LeaderEpoch is the epoch of the leader that is known here.
func (p *Partition) LeaderEpoch() int32 { return -1 }
