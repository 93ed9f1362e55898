package share

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// States is the share coordinator: what is remembered of the share partitions of one partition of
// __share_group_state. A snapshot has all of one of them, updates what changed since.
//
// Two epochs fence who writes: the state epoch is the group's, and older ones are of before the state was
// deleted or reset; the leader epoch is the partition's, and older ones are of a leader that was replaced.
type States struct {
	perSnapshot int
	states      map[record.ShareKey]*state
	undo        []func()
	effects     Effects
}

// state is one share partition's. It is replaced, never changed.
type state struct {
	record.ShareState
	updates int // since the snapshot
}

// Ref names a request to its driver. 0 is none.
type Ref uint64

// Input is a request to States.
type Input interface {
	// Reject is the reply to the request that says only that it failed.
	Reject(kerr.Code) *Answer
}

// Reply answers a request.
type Reply struct {
	Ref Ref
	Out *Answer
}

// Effects are what the driver does: append, wait for the commit, reply.
type Effects struct {
	Append  []batch.Record
	Replies []Reply
}

// Answer is the reply to every request; State is Read's and Summary's.
type Answer struct {
	Code    kerr.Code
	Message string
	State   record.ShareState
}

// Key names a share partition.
type Key struct {
	Group     string
	TopicID   record.UUID
	Partition int32
}

// Initialize makes the state of a share partition, or resets it.
type Initialize struct {
	Key
	StateEpoch int32
	Start      int64 // -1: the leader will say
}

// Read is a leader's first question.
type Read struct {
	Key
	LeaderEpoch int32
}

// Summary is a question of who only wants to know where the group is.
type Summary struct {
	Key
	LeaderEpoch int32
}

// Write remembers a Plan.
type Write struct {
	Key
	StateEpoch, LeaderEpoch int32
	Start                   int64 // -1: as it was
	Complete                int32
	Batches                 []record.ShareBatch
}

// Delete forgets a share partition.
type Delete struct{ Key }

// Reject is an Answer.
func (*Initialize) Reject(c kerr.Code) *Answer { return &Answer{Code: c} }

// Reject is an Answer.
func (*Read) Reject(c kerr.Code) *Answer { return &Answer{Code: c} }

// Reject is an Answer.
func (*Summary) Reject(c kerr.Code) *Answer { return &Answer{Code: c} }

// Reject is an Answer.
func (*Write) Reject(c kerr.Code) *Answer { return &Answer{Code: c} }

// Reject is an Answer.
func (*Delete) Reject(c kerr.Code) *Answer { return &Answer{Code: c} }

// NewStates makes an empty coordinator that writes a snapshot after so many updates
// (share.coordinator.snapshot.update.records.per.snapshot).
func NewStates(perSnapshot int) *States {
	return &States{perSnapshot: perSnapshot, states: map[record.ShareKey]*state{}}
}

// Step takes one request; its answer comes with the next Drain.
func (s *States) Step(now time.Time, ref Ref, in Input) {
	var out *Answer
	switch in := in.(type) {
	case *Write:
		out = s.onWrite(now, in)
	case *Read:
		out = s.onRead(in)
	case *Summary:
		out = s.onSummary(in)
	case *Initialize:
		out = s.onInitialize(now, in)
	case *Delete:
		out = s.onDelete(in)
	default:
		panic(fmt.Sprintf("share: unknown input %T", in))
	}
	if ref != 0 {
		s.effects.Replies = append(s.effects.Replies, Reply{ref, out})
	}
}

// Drain hands over what Step left to do. The slices are the caller's.
func (s *States) Drain() Effects {
	e := s.effects
	s.effects = Effects{}
	return e
}

// Mark names the present for Rollback.
func (s *States) Mark() int { return len(s.undo) }

// Rollback takes back what wasn't appended since a mark.
func (s *States) Rollback(_ time.Time, mark int) {
	for i := len(s.undo) - 1; i >= mark; i-- {
		s.undo[i]()
	}
	clear(s.undo[min(mark, len(s.undo)):])
	s.undo = s.undo[:min(mark, len(s.undo))]
}

// Forget says that everything drained so far was appended.
func (s *States) Forget() {
	clear(s.undo)
	s.undo = s.undo[:0]
}

// Count is how many share partitions are remembered.
func (s *States) Count() int { return len(s.states) }

func (k *Key) record() record.ShareKey {
	return record.ShareKey{
		Kind: record.KindShareSnapshot, Group: k.Group, TopicID: k.TopicID, Partition: k.Partition,
	}
}

func (s *States) put(key record.ShareKey, x *state) {
	old := s.states[key]
	s.set(key, x)
	s.undo = append(s.undo, func() { s.set(key, old) })
}

func (s *States) set(key record.ShareKey, x *state) {
	if x == nil {
		delete(s.states, key)
	} else {
		s.states[key] = x
	}
}

func (s *States) write(key record.ShareKey, kind record.ShareKind, value []byte) {
	key.Kind = kind
	s.effects.Append = append(s.effects.Append, batch.Record{Key: key.Encode(), Value: value})
}

// snapshot makes x all that is known.
func (s *States) snapshot(now time.Time, key record.ShareKey, x *state) {
	ms := now.UnixMilli()
	if x.updates = 0; x.CreateTimestamp == 0 {
		x.CreateTimestamp = ms
	}
	x.WriteTimestamp = ms
	s.put(key, x)
	s.write(key, record.KindShareSnapshot, x.Encode(record.KindShareSnapshot))
}

func (s *States) onInitialize(now time.Time, in *Initialize) *Answer {
	key := in.record()
	x := &state{ShareState: record.ShareState{
		StateEpoch: in.StateEpoch, StartOffset: in.Start, DeliveryComplete: -1,
	}}
	if old := s.states[key]; old != nil {
		if in.StateEpoch < old.StateEpoch {
			return in.Reject(kerr.FencedStateEpoch)
		}
		x.SnapshotEpoch, x.LeaderEpoch = old.SnapshotEpoch+1, old.LeaderEpoch
	}
	s.snapshot(now, key, x)
	return &Answer{}
}

func (s *States) onWrite(now time.Time, in *Write) *Answer {
	key := in.record()
	old := s.states[key]
	if old == nil {
		old = &state{ShareState: record.ShareState{StartOffset: -1, SnapshotEpoch: -1}, updates: s.perSnapshot}
	}
	switch {
	case in.LeaderEpoch >= 0 && in.LeaderEpoch < old.LeaderEpoch:
		return in.Reject(kerr.FencedLeaderEpoch)
	case in.StateEpoch >= 0 && in.StateEpoch < old.StateEpoch:
		return in.Reject(kerr.FencedStateEpoch)
	}
	u := record.ShareState{
		SnapshotEpoch: old.SnapshotEpoch, LeaderEpoch: max(in.LeaderEpoch, old.LeaderEpoch), StartOffset: in.Start,
		Batches: in.Batches, DeliveryComplete: in.Complete,
	}
	x := old.with(&u)
	x.StateEpoch = max(in.StateEpoch, old.StateEpoch)
	if x.updates > s.perSnapshot || x.StateEpoch != old.StateEpoch {
		x.SnapshotEpoch++ // an update can't tell a state epoch
		s.snapshot(now, key, x)
		return &Answer{}
	}
	s.put(key, x)
	s.write(key, record.KindShareUpdate, u.Encode(record.KindShareUpdate))
	return &Answer{}
}

// with is x after an update.
func (x *state) with(u *record.ShareState) *state {
	n := *x
	n.LeaderEpoch, n.DeliveryComplete = u.LeaderEpoch, u.DeliveryComplete
	if u.StartOffset >= 0 {
		n.StartOffset = u.StartOffset
	}
	n.Batches = combine(x.Batches, u.Batches, n.StartOffset)
	n.updates++
	return &n
}

// combine is old with what is newer over it, from start on, in order.
func combine(old, newer []record.ShareBatch, start int64) []record.ShareBatch {
	out := slices.Clone(old)
	for _, b := range newer {
		var next []record.ShareBatch
		for _, o := range out {
			if o.First < b.First {
				x := o
				x.Last = min(o.Last, b.First-1)
				next = append(next, x)
			}
			if o.Last > b.Last {
				x := o
				x.First = max(o.First, b.Last+1)
				next = append(next, x)
			}
		}
		out = append(next, b)
	}
	slices.SortFunc(out, func(a, b record.ShareBatch) int { return cmp.Compare(a.First, b.First) })
	joined := out[:0]
	for _, b := range out {
		if b.First = max(b.First, start); b.Last < b.First {
			continue
		}
		if n := len(joined); n > 0 && joined[n-1].Last+1 == b.First && joined[n-1].State == b.State &&
			joined[n-1].DeliveryCount == b.DeliveryCount {
			joined[n-1].Last = b.Last
			continue
		}
		joined = append(joined, b)
	}
	return joined
}

// onRead tells a leader what is remembered, and from then on its predecessors are fenced.
func (s *States) onRead(in *Read) *Answer {
	key := in.record()
	x := s.states[key]
	if x == nil {
		return &Answer{State: record.ShareState{StartOffset: -1, DeliveryComplete: -1}}
	}
	if in.LeaderEpoch < x.LeaderEpoch {
		return in.Reject(kerr.FencedLeaderEpoch)
	}
	if in.LeaderEpoch > x.LeaderEpoch {
		u := record.ShareState{
			SnapshotEpoch: x.SnapshotEpoch, LeaderEpoch: in.LeaderEpoch, StartOffset: x.StartOffset,
			DeliveryComplete: x.DeliveryComplete,
		}
		x = x.with(&u)
		s.put(key, x)
		s.write(key, record.KindShareUpdate, u.Encode(record.KindShareUpdate))
	}
	return &Answer{State: x.ShareState}
}

func (s *States) onSummary(in *Summary) *Answer {
	x := s.states[in.record()]
	if x == nil {
		return &Answer{State: record.ShareState{StartOffset: -1, DeliveryComplete: -1}}
	}
	if in.LeaderEpoch >= 0 && in.LeaderEpoch < x.LeaderEpoch {
		return in.Reject(kerr.FencedLeaderEpoch)
	}
	out := &Answer{State: x.ShareState}
	out.State.Batches = nil
	return out
}

func (s *States) onDelete(in *Delete) *Answer {
	key := in.record()
	if s.states[key] != nil {
		s.put(key, nil)
		s.write(key, record.KindShareSnapshot, nil)
	}
	return &Answer{}
}

// Replay applies a record of the log.
func (s *States) Replay(at, _ int64, key, value []byte) error {
	k, err := record.DecodeShareKey(key)
	if err != nil {
		return fmt.Errorf("offset %d: %w", at, err)
	}
	if !k.Known() {
		return nil // a newer node's
	}
	kind := k.Kind
	k.Kind = record.KindShareSnapshot
	if value == nil {
		if kind == record.KindShareSnapshot {
			delete(s.states, k)
		}
		return nil
	}
	v, err := record.DecodeShareState(kind, value)
	if err != nil {
		return fmt.Errorf("offset %d, group %q: %w", at, k.Group, err)
	}
	x := s.states[k]
	switch {
	case kind == record.KindShareSnapshot:
		s.states[k] = &state{ShareState: v}
	case x != nil && v.SnapshotEpoch == x.SnapshotEpoch:
		s.states[k] = x.with(&v)
	}
	return nil
}
