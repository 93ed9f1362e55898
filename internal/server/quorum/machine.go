package quorum

import (
	"errors"
	"iter"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
)

// NodeID is a node.id; -1 is none.
type NodeID = meta.NodeID

// Machine is the state that the quorum replicates. Every method is called from the quorum's one goroutine, in
// log order.
type Machine interface {
	// Apply takes one committed data batch: on followers and on the leader alike, the leader's own included. The
	// batch's bytes may be kept.
	Apply(b Batch)
	// Restore replaces everything with a snapshot. Never called on a leader.
	Restore(s *Snapshot)
	// Lead says that this node leads epoch w.Epoch() and that everything before that epoch is applied. It may
	// append.
	Lead(w Writer)
	// Follow says that this node doesn't lead: what it appended and didn't see in Apply may never come. leader
	// is -1 while unknown.
	Follow(leader NodeID, epoch int32)
	// Tick is for periodic work: called when the time it last returned has come, and after each round in which
	// any other method or a submitted function ran. The zero time asks for no call. w refuses appends unless
	// this node leads.
	Tick(now time.Time, w Writer) time.Time
	// Snapshot cuts the state as it is now: an iterator over its encoded records, run later on another
	// goroutine. nil: not now (inside a metadata transaction), ask again after the next batch.
	Snapshot() func(yield func(record []byte) bool)
}

// Batch is one committed data batch. Last is the offset of its last record.
type Batch struct {
	Base, Last int64
	Epoch      int32
	AppendTime int64 // ms
	Records    [][]byte
}

// Snapshot is the state after every record below Offset.
type Snapshot struct {
	Offset  int64 // end offset: the first one that is not contained
	Epoch   int32 // of record Offset-1
	Time    int64 // append time of the last contained batch, ms
	Records iter.Seq[[]byte]
}

// Writer is the log as the Machine may write to it, valid during the call it was passed to only.
type Writer interface {
	// Now is the time of this round.
	Now() time.Time
	// Epoch is the current epoch.
	Epoch() int32
	// Leading says that Append would work.
	Leading() bool
	// Append adds one batch, atomically, and returns the offset of its last record. It commits when
	// HighWatermark exceeds that, at which point Apply sees it. ErrNotLeader unless this node leads. Several
	// appends of one round share one sync.
	Append(records [][]byte) (last int64, err error)
	// EndOffset is the offset that the next record gets.
	EndOffset() int64
	// HighWatermark is the first offset that isn't known to be committed; -1 before it is known.
	HighWatermark() int64
	// Resign gives up leadership of the current epoch; Follow is called before anything else of a later epoch.
	Resign()
}

// Errors of Submit and Append.
var (
	ErrNotLeader = errors.New("quorum: not the leader")
	ErrTooLarge  = errors.New("quorum: batch too large")
	ErrClosed    = errors.New("quorum: closed")
	ErrBusy      = errors.New("quorum: queue full")
)

// RaftRequest is a request of another node or of a client: Vote, BeginQuorumEpoch, EndQuorumEpoch, Fetch,
// FetchSnapshot, DescribeQuorum. Reply is called exactly once, from any goroutine, and must not block.
type RaftRequest struct {
	Request  kmsg.Request
	Listener string // name of the listener it came in on: answers name the leader's endpoint of that listener
	Reply    func(kmsg.Response)
}
