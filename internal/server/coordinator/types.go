package coordinator

import (
	"log/slog"
	"time"

	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/obs"
)

// Log is the partition under a shard. The broker's Partition is one. Every method may be called from any
// goroutine.
type Log interface {
	// AppendLocal appends one batch, stamping offsets and leader epoch, if this node leads and enough replicas
	// are in sync. It doesn't keep the slice.
	AppendLocal(b []byte) (base batch.Offset, code kerr.Code)
	// AppendTxn is AppendLocal for a batch of a producer's transaction, which guard lets in if it is the first.
	AppendTxn(b []byte, guard replica.Guard) (base batch.Offset, code kerr.Code)
	// AppendMarker appends the marker that ends a producer's transaction.
	AppendMarker(b []byte, version int8) (base batch.Offset, code kerr.Code)
	// Await calls fn once, with None when everything below offset is committed, or with the reason why that
	// won't be known here. It may call fn before it returns, or later while holding locks: fn only takes note.
	Await(offset batch.Offset, fn func(kerr.Code))
	// ReadLocal appends whole batches from the one that holds from to dst: about max bytes, at least one batch
	// if there is one.
	ReadLocal(from batch.Offset, max int, dst []byte) ([]byte, error)
	LogStart() batch.Offset
	LEO() batch.Offset
}

// Input is a request that a core understands. Reject is its reply when the runtime or the log can't serve it;
// codes of failed appends come as coordinator outcomes (broker.md 6.1), MessageTooLarge for whatever didn't
// fit.
type Input[Out any] interface{ Reject(kerr.Code) Out }

// Reply answers the request that came with Ref.
type Reply[Out any] struct {
	Ref uint64
	Out Out
}

// Effects are what a core wants done: append, wait for the commit, go on, reply.
type Effects[Out any] struct {
	Append  []batch.Record
	Txn     *Txn     // whose transaction Append is part of, or ends; nil: none's
	Then    []func() // to be run when everything drained so far is committed, on the shard's goroutine
	Replies []Reply[Out]
}

// Txn is a producer's transaction. Marker says that the records end it.
type Txn struct {
	ProducerID    int64
	ProducerEpoch int16
	Guard         replica.Guard
	Marker        bool
	Version       int8 // of a marker: transaction.version
}

// Core is the state machine of a shard. One goroutine at a time calls it.
type Core[In Input[Out], Out any] interface {
	// Replay applies a record of the log. producer is -1 outside of transactions.
	Replay(offset, producer int64, key, value []byte) error
	// ReplayEnd applies a transaction's marker.
	ReplayEnd(producer int64, commit bool)
	// Loaded is called once, after the last replay.
	Loaded(now time.Time)
	Step(now time.Time, ref uint64, in In)
	// Tick does what time alone makes due. Deadline is when that will be next; zero is never.
	Tick(now time.Time)
	Deadline() time.Time
	// Drain hands over what Step and Tick left to do.
	Drain() Effects[Out]
	// Mark names the present; Rollback goes back to a mark after an append failed; Forget drops what Rollback
	// would need.
	Mark() int
	Rollback(now time.Time, mark int)
	Forget()
}

// Clock is time for a Runtime; the simulator has its own.
type Clock interface {
	Now() time.Time
	// AfterFunc runs f in its own goroutine after d.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a pending AfterFunc.
type Timer interface {
	Stop() bool
	Reset(d time.Duration) bool
}

// Config bounds a Runtime.
type Config struct {
	Name         string        // of the topic, for logs
	QueueSize    int           // requests queued per shard; past it COORDINATOR_NOT_AVAILABLE
	LoadBuffer   int           // bytes read at once when loading: offsets.load.buffer.size
	WriteTimeout time.Duration // how long replies wait for a commit: offsets.commit.timeout.ms
	MaxBatch     int           // bytes of one append, as the topic's max.message.bytes
	Codec        batch.Codec   // offsets.topic.compression.codec
	Sequence     int32         // base sequence of plain batches: 0, or -1 as in __transaction_state
	Clock        Clock         // nil: the real one
	Log          *slog.Logger  // nil: slog.Default()
}

func (c *Config) fill() {
	if c.QueueSize <= 0 {
		c.QueueSize = 10_000
	}
	if c.LoadBuffer <= 0 {
		c.LoadBuffer = 5 << 20
	}
	if c.WriteTimeout <= 0 {
		c.WriteTimeout = 5 * time.Second
	}
	if c.MaxBatch <= 0 {
		c.MaxBatch = 1<<20 + 12
	}
	if c.Clock == nil {
		c.Clock = realClock{}
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Metrics is what a Runtime counts. The zero value is ready.
type Metrics struct {
	Loading, Active, Failed obs.Gauge     // shards: partition-count by state
	Requests, Rejected      obs.Counter   // taken, and refused before a core saw them
	Appends, Records        obs.Counter   // batches and their records
	AppendFailures          obs.Counter   // batches that the log refused
	WriteTimeouts           obs.Counter   // replies that waited too long for a commit
	LoadTime                obs.Histogram // microseconds
	LoadedRecords, Skipped  obs.Counter   // Skipped couldn't be understood
}
