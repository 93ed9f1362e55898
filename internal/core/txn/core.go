package txn

import (
	"fmt"
	"math"
	"time"

	"github.com/tidwall/btree"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
)

// Core is the transactional ids of one partition of __transaction_state.
type Core struct {
	cfg     Config
	now     time.Time
	ids     btree.Map[string, *state]
	ongoing btree.Set[string]
	parked  map[string]parked // requests that wait for a producer id, by transactional id
	resend  time.Time         // when to send the markers of all that is prepared; zero: they are under way
	abortAt time.Time         // the next look for transactions that take too long; zero: none is open
	expire  time.Time         // the next look for what is unused; zero: there is nothing
	effects Effects
	undo    []undo
}

// state is one transactional id. Immutable: a change is another state, and going back is the old one.
type state struct {
	producer  int64
	epoch     int16
	lastEpoch int16 // before epoch, as its client knew it; -1: unknown. Not on record
	previous  int64 // producer id before the last change
	next      int64 // producer id after the end of the transaction, -1: the same
	timeout   int32 // ms
	status    record.TxnStatus
	topics    []record.TxnTopic // sorted, like their partitions
	updated   int64             // ms
	start     int64             // ms; -1: never
	client    int16
}

// undo is what was before a change; nil was is nothing.
type undo struct {
	id  string
	was *state
}

type parked struct {
	ref Ref
	in  Input
}

// lastEpoch is the last epoch that a client gets; the one after it is for fencing it (KIP-360).
const lastEpoch = math.MaxInt16 - 1

func (s *state) exhausted() bool { return s.epoch >= lastEpoch }

func (s *state) preparing() bool {
	return s.status == record.TxnPrepareCommit || s.status == record.TxnPrepareAbort
}

// resendAfter is how long after a failed append markers are sent again.
const resendAfter = time.Second

// New makes an empty core.
func New(cfg Config) *Core {
	if cfg.Warn == nil {
		cfg.Warn = func(string, ...any) {}
	}
	if cfg.Level == nil {
		cfg.Level = func() int16 { return 2 }
	}
	return &Core{cfg: cfg, parked: map[string]parked{}}
}

// Step takes one input. ref comes back with its reply, now or after a later Step.
func (c *Core) Step(now time.Time, ref Ref, in Input) {
	c.Tick(now)
	switch in := in.(type) {
	case *Add:
		c.reply(ref, c.onAdd(in))
	case *End:
		c.onEnd(ref, in, -1)
	case *MarkersDone:
		c.onMarkersDone(in)
		c.reply(ref, &Done{})
	case *Init:
		c.onInit(ref, in, -1)
	case *GotID:
		c.onGotID(in)
		c.reply(ref, &Done{})
	case *Describe:
		c.reply(ref, c.onDescribe(in))
	case *List:
		c.reply(ref, c.onList(in))
	default:
		panic(fmt.Sprintf("txn: unknown input %T", in))
	}
}

// Tick does what is due.
func (c *Core) Tick(now time.Time) {
	c.now = now
	if due(c.resend, now) {
		c.resend = time.Time{}
		c.ids.Scan(func(id string, s *state) bool {
			if s.preparing() {
				c.send(id, s)
			}
			return true
		})
	}
	if due(c.abortAt, now) {
		c.abortAt = time.Time{}
		c.onTimeouts()
	}
	if due(c.expire, now) {
		c.expire = time.Time{}
		c.onExpiry()
	}
	c.arm()
}

func due(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

// arm sets the next looks, where there is something to look at.
func (c *Core) arm() {
	if c.abortAt.IsZero() && c.ongoing.Len() > 0 {
		c.abortAt = c.now.Add(c.cfg.AbortEvery)
	}
	if c.expire.IsZero() && c.ids.Len() > 0 {
		c.expire = c.now.Add(c.cfg.ExpireEvery)
	}
}

// Deadline is when Tick has something to do, zero if never.
func (c *Core) Deadline() time.Time {
	next := c.resend
	for _, at := range []time.Time{c.abortAt, c.expire} {
		if next.IsZero() || !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	return next
}

// Drain hands over the effects since the last Drain. The slices are the caller's.
func (c *Core) Drain() Effects {
	e := c.effects
	c.effects = Effects{}
	return e
}

// Mark names the present for Rollback.
func (c *Core) Mark() int { return len(c.undo) }

// Rollback takes back what the records since mark told, because they weren't appended.
func (c *Core) Rollback(now time.Time, mark int) {
	c.now = now
	for i := len(c.undo) - 1; i >= mark; i-- {
		u := c.undo[i]
		c.set(u.id, u.was)
		if u.was != nil && u.was.preparing() { // its markers are written, but nobody will say so again
			c.resend = now.Add(resendAfter)
		}
	}
	c.undo = c.undo[:min(mark, len(c.undo))]
	c.arm()
}

// Forget says that everything drained so far was appended: there's no way back.
func (c *Core) Forget() {
	clear(c.undo)
	c.undo = c.undo[:0]
}

// Len counts the transactional ids, for metrics.
func (c *Core) Len() int { return c.ids.Len() }

func (c *Core) reply(ref Ref, out Output) {
	if ref != 0 {
		c.effects.Replies = append(c.effects.Replies, Reply{ref, out})
	}
}

// get is an id's state, nil for none.
func (c *Core) get(id string) *state {
	s, _ := c.ids.Get(id)
	return s
}

// set makes s, or nothing, the id's state.
func (c *Core) set(id string, s *state) {
	if s == nil {
		c.ids.Delete(id)
		c.ongoing.Delete(id)
		return
	}
	c.ids.Set(id, s)
	if s.status == record.TxnOngoing {
		c.ongoing.Insert(id)
	} else {
		c.ongoing.Delete(id)
	}
}

// change makes s the id's state and writes it; nil buries the id.
func (c *Core) change(id string, s *state) {
	c.undo = append(c.undo, undo{id, c.get(id)})
	c.set(id, s)
	var value []byte
	if s != nil {
		value = s.record(c.cfg.Level())
	}
	c.effects.Append = append(c.effects.Append, batch.Record{Key: record.TxnKey(id), Value: value})
	c.arm()
}

func (s *state) record(level int16) []byte {
	v := record.TxnValue{
		Version: min(level, 1), ProducerID: s.producer, ProducerEpoch: s.epoch, Timeout: s.timeout,
		Status: s.status, LastUpdate: s.updated, Start: s.start,
		PreviousID: s.previous, NextID: s.next, ClientVersion: s.client, NextEpoch: -1,
	}
	if s.status != record.TxnEmpty {
		v.Topics = s.topics
		if v.Topics == nil {
			v.Topics = []record.TxnTopic{}
		}
	}
	return v.Encode()
}

func (c *Core) send(id string, s *state) {
	c.effects.Send = append(c.effects.Send, Markers{
		ID: id, ProducerID: s.producer, ProducerEpoch: s.epoch,
		Commit: s.status == record.TxnPrepareCommit, Client: s.client, Topics: s.topics,
	})
}

// Replay applies a record read from the log.
func (c *Core) Replay(at, _ int64, key, value []byte) error {
	id, known, err := record.DecodeTxnKey(key)
	switch {
	case err != nil:
		return fmt.Errorf("offset %d: %w", at, err)
	case !known:
		c.cfg.Warn("record of an unknown kind skipped", "offset", at)
		return nil
	case value == nil:
		c.set(id, nil)
		return nil
	}
	v, err := record.DecodeTxnValue(value)
	if err == nil && (v.Status < record.TxnEmpty || v.Status > record.TxnCompleteAbort) {
		err = fmt.Errorf("%w: status %d", record.ErrCorrupt, v.Status)
	}
	if err != nil {
		return fmt.Errorf("offset %d, transactional id %q: %w", at, id, err)
	}
	c.set(id, &state{
		producer: v.ProducerID, epoch: v.ProducerEpoch, lastEpoch: -1,
		previous: v.PreviousID, next: v.NextID, timeout: v.Timeout, status: v.Status, topics: sorted(v.Topics),
		updated: v.LastUpdate, start: v.Start, client: v.ClientVersion,
	})
	return nil
}

// ReplayEnd is for markers, which __transaction_state has none of.
func (c *Core) ReplayEnd(int64, bool) {}

// Loaded is called once, after the last replay. Outcomes that were decided before are carried out now.
func (c *Core) Loaded(now time.Time) {
	c.now, c.resend = now, now
	c.arm()
}
