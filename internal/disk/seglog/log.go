package seglog

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/kalda/kalda/internal/format/batch"
)

// Errors that callers tell apart.
var (
	ErrOffsetOutOfRange = errors.New("offset out of range")
	ErrOutOfOrder       = errors.New("batch out of order")  // an append that starts before the end of the log
	ErrTooLarge         = errors.New("larger than segment") // an append of more than segment.bytes
	ErrClosed           = errors.New("log closed")
	ErrSync             = errors.New("sync failed") // the log takes no more appends: what is durable is unknown
	ErrTopicID          = errors.New("directory belongs to another topic id")
)

// Spec says which log to open.
type Spec struct {
	Topic     string
	ID        [16]byte // zero: unknown, any will do
	Partition int32
	Config    Config

	// Producers encodes (batch.AppendProducers) the state of the producers up to the log's end. It is called
	// inside Append when the log rolls and inside Close, on the caller's goroutine, with whatever locks the
	// caller holds. It returns nil if it has not loaded that state; the newest snapshot stays. No function at
	// all: a log without producers.
	Producers func(upTo batch.Offset) []byte
}

// Log is one partition's log.
type Log struct {
	dir  *Dir
	spec Spec
	path atomic.Pointer[string]
	cfg  atomic.Pointer[Config]

	segs       atomic.Pointer[[]*segment] // by base; the last one is active; empty before the first append
	start, end atomic.Int64
	recovery   atomic.Int64 // all before it is durable
	cleaned    atomic.Int64 // up to where it is compacted; -1: it never was
	epochs     epochCache
	awake      atomic.Bool
	holes      atomic.Pointer[[]*HoleError] // damage that was kept, by offset

	flushing sync.Mutex // held around syncs; before mu

	mu         sync.Mutex
	made       bool         // the directory is there
	newDir     bool         // and its own name isn't durable yet
	namesDirty bool         // names in it aren't
	verifyFrom batch.Offset // what waking has to verify; MaxInt64 after a clean stop
	adopt      bool         // only its tail: what is there is what was written
	early      []EpochEntry // assigned while asleep
	snapshots  []batch.Offset
	cut        int64 // bytes that a failed write left after the end and that are still there
	truncated  int   // how often the end went back: a flush that was overtaken must not move the recovery point
	lastFlush  int64
	closed     bool
	failed     error // a sync failed: what is on the disk is unknown from here on
}

func newLog(d *Dir, s Spec) *Log {
	l := &Log{dir: d, spec: s, verifyFrom: math.MaxInt64}
	path := filepath.Join(d.path, logName(s.Topic, s.Partition))
	l.path.Store(&path)
	l.cfg.Store(&s.Config)
	l.cleaned.Store(-1)
	l.segs.Store(new([]*segment))
	return l
}

func (l *Log) String() string { return logName(l.spec.Topic, l.spec.Partition) }

// Topic is the topic's name; Partition and TopicID tell the rest of whose log it is.
func (l *Log) Topic() string { return l.spec.Topic }

// Partition is the log's partition number.
func (l *Log) Partition() int32 { return l.spec.Partition }

// TopicID is the topic's id.
func (l *Log) TopicID() [16]byte { return l.spec.ID }

// Path is the log's directory.
func (l *Log) Path() string { return *l.path.Load() }

func (l *Log) file(name string) string { return filepath.Join(*l.path.Load(), name) }

// SetConfig changes the configuration from the next append on.
func (l *Log) SetConfig(c Config) { l.cfg.Store(&c) }

// Config is the configuration in force.
func (l *Log) Config() Config { return *l.cfg.Load() }

// StartOffset is the first offset that can be read.
func (l *Log) StartOffset() batch.Offset { return batch.Offset(l.start.Load()) }

// EndOffset is the offset that the next record gets.
func (l *Log) EndOffset() batch.Offset { return batch.Offset(l.end.Load()) }

// RecoveryPoint is the offset up to which everything is durable.
func (l *Log) RecoveryPoint() batch.Offset { return batch.Offset(l.recovery.Load()) }

func (l *Log) segments() []*segment { return *l.segs.Load() }

func (l *Log) active() *segment {
	segs := l.segments()
	if len(segs) == 0 {
		return nil
	}
	return segs[len(segs)-1]
}

// floorSegment is the index of the segment that offset o belongs to; -1 if all start after it.
func floorSegment(segs []*segment, o batch.Offset) int {
	return sort.Search(len(segs), func(i int) bool { return segs[i].base > o }) - 1
}

// usable wakes the log and says whether it takes changes. Under mu.
func (l *Log) usable() error {
	if l.closed {
		return fmt.Errorf("%s: %w", l, ErrClosed)
	}
	if l.failed != nil {
		return l.failed
	}
	return l.wakeLocked()
}

// fault wraps an error with the log and what was done.
func (l *Log) fault(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", l, what, err)
}

// Size is the bytes of all batches.
func (l *Log) Size() (int64, error) {
	if err := l.wake(); err != nil {
		return 0, err
	}
	var n int64
	for _, s := range l.segments() {
		n += max(s.size.Load(), 0)
	}
	return n, nil
}

// Segments is the number of segments.
func (l *Log) Segments() int { return len(l.segments()) }

// AssignEpoch says that this epoch's leader begins at offset o.
func (l *Log) AssignEpoch(e batch.Epoch, o batch.Offset) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.awake.Load() {
		l.early = append(l.early, EpochEntry{e, o})
		return
	}
	l.epochs.assign(e, o)
}

// LatestEpoch is the newest epoch known, NoEpoch without any.
func (l *Log) LatestEpoch() (batch.Epoch, error) {
	if err := l.wake(); err != nil {
		return NoEpoch, err
	}
	return l.epochs.latest(), nil
}

// Epochs is the whole epoch cache, for the caller to read only.
func (l *Log) Epochs() ([]EpochEntry, error) {
	if err := l.wake(); err != nil {
		return nil, err
	}
	return l.epochs.entries(), nil
}

// EndOffsetForEpoch answers OffsetForLeaderEpoch: the largest epoch up to e and the offset where it ends;
// NoEpoch and NoOffset if e is newer than any.
func (l *Log) EndOffsetForEpoch(e batch.Epoch) (batch.Epoch, batch.Offset, error) {
	if err := l.wake(); err != nil {
		return NoEpoch, NoOffset, err
	}
	epoch, end := l.epochs.endOffset(e, l.EndOffset())
	return epoch, end, nil
}

// EpochAt is the leader epoch of the record at offset o, NoEpoch if it isn't known.
func (l *Log) EpochAt(o batch.Offset) (batch.Epoch, error) {
	if err := l.wake(); err != nil {
		return NoEpoch, err
	}
	return l.epochs.at(o), nil
}

// SetStart moves the first offset that can be read, never back. The files before it go at the next Retain.
func (l *Log) SetStart(o batch.Offset) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	if o > l.EndOffset() {
		return fmt.Errorf("%s: start %d after end %d: %w", l, o, l.EndOffset(), ErrOffsetOutOfRange)
	}
	if o > l.StartOffset() {
		l.start.Store(int64(o))
		l.epochs.truncateStart(o)
	}
	return nil
}
