package txn

import (
	"time"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// Config is what the server's configuration says about transactions.
type Config struct {
	MaxTimeout  time.Duration // transaction.max.timeout.ms
	AbortEvery  time.Duration // transaction.abort.timed.out.transaction.cleanup.interval.ms
	ExpireEvery time.Duration // transaction.remove.expired.transaction.cleanup.interval.ms
	Expiration  time.Duration // transactional.id.expiration.ms
	Level       func() int16  // the finalized transaction.version
	Warn        func(msg string, args ...any)
}

// Defaults are Apache's.
func Defaults() Config {
	return Config{
		MaxTimeout:  15 * time.Minute,
		AbortEvery:  10 * time.Second,
		ExpireEvery: time.Hour,
		Expiration:  7 * 24 * time.Hour,
	}
}

// Ref names a request to its driver. 0 is none.
type Ref uint64

// Input is a request, or an event.
type Input interface {
	// Reject is the reply to the request that says only that it failed.
	Reject(kerr.Code) Output
}

// Output is a reply.
type Output interface{ output() }

// Reply answers a request.
type Reply struct {
	Ref Ref
	Out Output
}

// Markers are to be written, once what was drained before is committed, to every partition of Topics. When
// all are, the driver steps MarkersDone.
type Markers struct {
	ID            string
	ProducerID    int64
	ProducerEpoch int16
	Commit        bool
	Client        int16 // transaction.version as the client speaks it
	Topics        []record.TxnTopic
}

// Effects are what the driver does for the core, in this order: append, wait for the commit, send, reply.
type Effects struct {
	Append  []batch.Record
	Send    []Markers
	NeedIDs []string // transactional ids for which GotID brings a fresh producer id; nothing to wait for
	Replies []Reply
}

// Init asks for a producer id and epoch, fencing whoever had the transactional id before.
type Init struct {
	ID         string
	Timeout    time.Duration
	ProducerID int64 // what the client has, -1: nothing
	Epoch      int16
}

// Inited is the reply to Init.
type Inited struct {
	Code       kerr.Code
	ProducerID int64
	Epoch      int16
}

// GotID brings a producer id that nobody ever had, or the reason why there is none.
type GotID struct {
	ID         string
	Code       kerr.Code
	ProducerID int64
}

// Add makes partitions part of the transaction, which it begins if need be; or only looks whether they are.
type Add struct {
	ID         string
	ProducerID int64
	Epoch      int16
	Client     int16 // transaction.version as the client speaks it
	VerifyOnly bool
	Topics     []record.TxnTopic
}

// Added is the reply to Add. With VerifyOnly and Code None, Missing are the partitions that aren't
// part of the transaction.
type Added struct {
	Code    kerr.Code
	Missing []record.TxnTopic
}

// End commits or aborts.
type End struct {
	ID         string
	ProducerID int64
	Epoch      int16
	Commit     bool
	Client     int16
}

// Ended is the reply to End: how it went, and what the client is to use from here on.
type Ended struct {
	Code       kerr.Code
	ProducerID int64
	Epoch      int16
}

// MarkersDone tells that all Markers of a transaction are written.
type MarkersDone struct {
	ID            string
	ProducerID    int64
	ProducerEpoch int16
}

// Done is the reply to events: whether they were taken.
type Done struct{ Code kerr.Code }

// Describe tells about a transactional id.
type Describe struct{ ID string }

// Described is the reply to Describe.
type Described struct {
	Code    kerr.Code
	Timeout time.Duration
	Start   int64 // ms; -1: never
	Listed
	Topics []record.TxnTopic
}

// List names transactional ids. Nil is no filter.
type List struct {
	States      []record.TxnStatus
	ProducerIDs []int64
	LongerThan  time.Duration // running for longer; negative: no filter
	Match       func(id string) bool
}

// Listing is the reply to List, by id.
type Listing struct {
	Code kerr.Code
	IDs  []Listed
}

// Listed is one transactional id.
type Listed struct {
	ID         string
	ProducerID int64
	Epoch      int16
	Status     record.TxnStatus
}

func (*Inited) output()    {}
func (*Added) output()     {}
func (*Ended) output()     {}
func (*Done) output()      {}
func (*Described) output() {}
func (*Listing) output()   {}

// tooLarge is what a client hears whose record didn't fit into a batch.
func tooLarge(c kerr.Code) kerr.Code {
	if c == kerr.MessageTooLarge {
		return kerr.UnknownServerError
	}
	return c
}

// Reject is an Inited.
func (*Init) Reject(c kerr.Code) Output { return &Inited{Code: tooLarge(c), ProducerID: -1, Epoch: -1} }

// Reject is an Added.
func (*Add) Reject(c kerr.Code) Output { return &Added{Code: tooLarge(c)} }

// Reject is an Ended.
func (*End) Reject(c kerr.Code) Output { return &Ended{Code: tooLarge(c), ProducerID: -1, Epoch: -1} }

// Reject is Done.
func (*GotID) Reject(c kerr.Code) Output { return &Done{Code: c} }

// Reject is Done. If this node doesn't coordinate any more, who does sends the markers again.
func (*MarkersDone) Reject(c kerr.Code) Output { return &Done{Code: c} }

// Reject is a Described.
func (*Describe) Reject(c kerr.Code) Output { return &Described{Code: c} }

// Reject is a Listing. A partition that moved away has nothing to list; that is no error.
func (*List) Reject(c kerr.Code) Output {
	if c == kerr.NotCoordinator {
		c = kerr.None
	}
	return &Listing{Code: c}
}
