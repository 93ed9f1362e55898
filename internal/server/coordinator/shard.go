package coordinator

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// call is a request that hasn't been answered.
type call[In Input[Out], Out any] struct {
	in   In
	done func(Out)
}

// held is what waits until everything below upTo is committed. Replies don't wait past the deadline.
type held[Out any] struct {
	upTo     batch.Offset
	deadline time.Time
	then     []func()
	replies  []Reply[Out]
}

type status int8

const (
	loading status = iota
	active
	failed
	closed
)

// shard is one partition. Fields above the line are guarded by mu; those below belong to the goroutine that
// runs it, which is whoever set running.
type shard[In Input[Out], Out any] struct {
	rt        *Runtime[In, Out]
	n         int32
	epoch     int32 // guarded by rt.mu
	log       Log
	committed atomic.Int64 // everything below is
	lost      atomic.Int32 // why what isn't committed yet won't be known to be; None normally

	mu      sync.Mutex
	queue   []call[In, Out]
	state   status
	running bool
	wake    bool // something other than the queue wants attention
	busy    bool // has, or had, a core

	// ------

	core    Core[In, Out] // nil until needed
	refs    map[uint64]call[In, Out]
	lastRef uint64
	spare   []call[In, Out]

	recs    []batch.Record // the batch being gathered,
	size    int
	mark    int          // the core's mark before it,
	txn     *Txn         // whose transaction it belongs to
	then    []func()     // what goes with it,
	replies []Reply[Out] // and the replies
	buf     []byte
	end     batch.Offset // of what was appended
	held    []held[Out]

	timer   Timer
	timerAt time.Time // when it will fire, zero if it won't
}

func (s *shard[In, Out]) used() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy || s.state != active || len(s.queue) > 0
}

// submit queues a call, or tells why not. A patient call waits for the end of loading.
func (s *shard[In, Out]) submit(in In, patient bool, done func(Out)) kerr.Code {
	s.mu.Lock()
	code := kerr.None
	switch {
	case s.state == loading && !patient:
		code = kerr.CoordinatorLoadInProgress
	case s.state == closed:
		code = kerr.NotCoordinator
	case s.state == failed || len(s.queue) >= s.rt.cfg.QueueSize:
		code = kerr.CoordinatorNotAvailable
	default:
		s.queue = append(s.queue, call[In, Out]{in, done})
	}
	s.startLocked(code == kerr.None)
	s.mu.Unlock()
	return code
}

// startLocked makes sure that a goroutine looks after the shard, if there is something to look at.
func (s *shard[In, Out]) startLocked(work bool) {
	if work && !s.running {
		s.running = true
		s.rt.wg.Add(1)
		go s.run()
	}
}

// poke is how timers and commits get attention.
func (s *shard[In, Out]) poke() {
	s.mu.Lock()
	s.wake = true
	s.startLocked(s.state == active)
	s.mu.Unlock()
}

func (s *shard[In, Out]) close() {
	s.mu.Lock()
	if s.state != closed {
		s.count(-1)
		s.state, s.wake = closed, true
		s.startLocked(true)
	}
	s.mu.Unlock()
}

// count keeps the gauge of the shard's state.
func (s *shard[In, Out]) count(by int64) {
	m := &s.rt.Metrics
	switch s.state {
	case loading:
		m.Loading.Add(by)
	case active:
		m.Active.Add(by)
	case failed:
		m.Failed.Add(by)
	}
}

// run is the shard's goroutine while there is work.
func (s *shard[In, Out]) run() {
	defer s.rt.wg.Done()
	for {
		s.mu.Lock()
		if len(s.queue) == 0 && !s.wake {
			s.running = false
			s.mu.Unlock()
			return
		}
		q := s.queue
		s.queue, s.spare, s.wake = s.spare[:0], nil, false
		state := s.state
		if s.busy = s.busy || len(q) > 0; state == closed {
			s.queue = nil
		}
		s.mu.Unlock()
		if state == closed {
			s.shut(q)
			continue
		}
		s.turn(q)
		clear(q)
		if cap(q) <= 1024 {
			s.spare = q[:0]
		}
	}
}

// turn is the loop's body: step everything that is queued, append once, reply, and set the alarm.
func (s *shard[In, Out]) turn(q []call[In, Out]) {
	now := s.rt.cfg.Clock.Now()
	if s.core == nil && len(q) > 0 {
		s.core = s.rt.newCore()
		s.core.Loaded(now)
	}
	if s.core != nil {
		for i := range q {
			s.tick(now) // first and by itself: what follows may belong to a transaction
			s.lastRef++
			s.refs[s.lastRef] = q[i]
			mark := s.core.Mark()
			s.core.Step(now, s.lastRef, q[i].in)
			s.take(now, mark)
		}
		s.tick(now)
		_ = s.flush(now) // a failure has been told to whom it concerns
		_ = s.flush(now) // what a failure left to be written
		s.core.Forget()
	}
	s.release(now)
	s.alarm(now)
}

// tick does what time alone makes due.
func (s *shard[In, Out]) tick(now time.Time) {
	if d := s.core.Deadline(); !d.IsZero() && !d.After(now) {
		mark := s.core.Mark()
		s.core.Tick(now)
		s.take(now, mark)
	}
}

// take gathers what the core drained after its mark. What doesn't fit into the batch any more starts the next
// one, and what is larger than a batch is split: the log's limit is no limit for the number of offsets that
// can be deleted together.
func (s *shard[In, Out]) take(now time.Time, mark int) {
	e := s.core.Drain()
	n := 0
	for i := range e.Append {
		n += recordSize(&e.Append[i])
	}
	if n > 0 && (!s.fits(n) || len(s.recs) > 0 && !s.same(e.Txn)) {
		if code := s.flush(now); code != kerr.None {
			s.reject(e.Replies, code) // rolled back with the rest
			return
		}
	}
	if len(s.recs) == 0 {
		s.mark = mark
	}
	for i := range e.Append {
		n := recordSize(&e.Append[i])
		if !s.fits(n) {
			if code := s.flush(now); code != kerr.None {
				s.reject(e.Replies, code)
				return
			}
			s.mark = mark
		}
		s.recs = append(s.recs, e.Append[i])
		s.size += n
		s.txn = e.Txn
	}
	s.then = append(s.then, e.Then...)
	s.replies = append(s.replies, e.Replies...)
}

func (s *shard[In, Out]) fits(n int) bool {
	return len(s.recs) == 0 || batch.HeaderSize+s.size+n <= s.rt.cfg.MaxBatch
}

// same says whether records of t can go into the batch being gathered. A marker is alone in its batch.
func (s *shard[In, Out]) same(t *Txn) bool {
	if t == nil || s.txn == nil {
		return t == s.txn
	}
	return *t == *s.txn && !t.Marker
}

// flush appends the gathered batch. Its replies wait for the commit; if the log refuses it the core goes back
// to where it was, and the replies become rejections.
func (s *shard[In, Out]) flush(now time.Time) kerr.Code {
	then, replies := s.then, s.replies
	s.then, s.replies = nil, nil
	if len(s.recs) == 0 {
		s.hold(now, then, replies)
		return kerr.None
	}
	code := s.append(now)
	clear(s.recs)
	s.recs, s.size = s.recs[:0], 0
	if code == kerr.None {
		s.mark = s.core.Mark()
		s.hold(now, then, replies)
		return kerr.None
	}
	s.rt.Metrics.AppendFailures.Inc()
	s.rt.cfg.Log.Warn("append failed", "topic", s.rt.cfg.Name, "partition", s.n, "error", code)
	s.core.Rollback(now, s.mark)
	code = outcome(code)
	s.reject(replies, code)
	s.take(now, s.core.Mark())
	return code
}

func (s *shard[In, Out]) append(now time.Time) kerr.Code {
	for i := range s.recs {
		s.recs[i].OffsetDelta = int32(i)
	}
	m := batch.NoProducer(0, 0, now.UnixMilli())
	m.BaseSequence = s.rt.cfg.Sequence
	m.Codec = s.rt.cfg.Codec
	if t := s.txn; t != nil {
		m.ProducerID, m.ProducerEpoch, m.Transactional = t.ProducerID, t.ProducerEpoch, true
		if m.Control = t.Marker; t.Marker {
			m.BaseSequence, m.Codec = -1, batch.None
		}
	}
	b, err := batch.Build(s.buf[:0], m, s.recs)
	if err != nil {
		s.rt.cfg.Log.Error("batch not built", "topic", s.rt.cfg.Name, "partition", s.n, "error", err)
		return kerr.UnknownServerError
	}
	s.buf = b
	if cap(b) > keepBuffer {
		s.buf = nil
	}
	base, code := s.put(b)
	if code != kerr.None {
		return code
	}
	s.rt.Metrics.Appends.Inc()
	s.rt.Metrics.Records.Add(int64(len(s.recs)))
	s.end = base + batch.Offset(len(s.recs))
	end := s.end
	s.log.Await(end, func(code kerr.Code) { s.onCommit(end, code) })
	return kerr.None
}

func (s *shard[In, Out]) put(b []byte) (batch.Offset, kerr.Code) {
	switch {
	case s.txn == nil:
		return s.log.AppendLocal(b)
	case s.txn.Marker:
		return s.log.AppendMarker(b, s.txn.Version)
	}
	return s.log.AppendTxn(b, s.txn.Guard)
}

// keepBuffer is the largest buffer that a quiet shard keeps.
const keepBuffer = 64 << 10

// onCommit takes note, on whatever goroutine.
func (s *shard[In, Out]) onCommit(end batch.Offset, code kerr.Code) {
	if code != kerr.None {
		s.lost.Store(int32(code))
	} else {
		for {
			old := s.committed.Load()
			if int64(end) <= old || s.committed.CompareAndSwap(old, int64(end)) {
				break
			}
		}
	}
	s.poke()
}

// hold keeps what follows an append until all that was appended before it is committed.
func (s *shard[In, Out]) hold(now time.Time, then []func(), replies []Reply[Out]) {
	if len(then) == 0 && len(replies) == 0 {
		return
	}
	if len(s.held) == 0 && int64(s.end) <= s.committed.Load() {
		s.goOn(then, replies)
		return
	}
	s.held = append(s.held, held[Out]{s.end, now.Add(s.rt.cfg.WriteTimeout), then, replies})
}

// goOn does what waited for a commit. What it sets off comes before what the replies make clients ask for.
func (s *shard[In, Out]) goOn(then []func(), replies []Reply[Out]) {
	for _, f := range then {
		f()
	}
	s.deliver(replies)
}

// release gives out what has been committed, and gives up on what wasn't in time. Its records may be
// committed later: the state stays, and so does what follows from it; the client asks again.
func (s *shard[In, Out]) release(now time.Time) {
	code := kerr.Code(s.lost.Swap(int32(kerr.None)))
	if code != kerr.None {
		defer s.committed.Store(int64(s.end)) // later replies have nothing to wait for
	}
	committed := batch.Offset(s.committed.Load())
	kept := s.held[:0]
	for _, h := range s.held {
		switch {
		case h.upTo <= committed:
			s.goOn(h.then, h.replies)
			continue
		case code != kerr.None:
			s.reject(h.replies, outcome(code))
			continue
		case len(h.replies) > 0 && !now.Before(h.deadline):
			s.rt.Metrics.WriteTimeouts.Add(int64(len(h.replies)))
			s.reject(h.replies, outcome(kerr.RequestTimedOut))
			h.replies = nil
		}
		if len(h.then) > 0 || len(h.replies) > 0 {
			kept = append(kept, h)
		}
	}
	clear(s.held[len(kept):])
	s.held = kept
}

// patience is when the first reply has waited for too long, zero if none waits.
func (s *shard[In, Out]) patience() time.Time {
	for i := range s.held {
		if len(s.held[i].replies) > 0 {
			return s.held[i].deadline
		}
	}
	return time.Time{}
}

func (s *shard[In, Out]) deliver(replies []Reply[Out]) {
	for _, r := range replies {
		if c, ok := s.refs[r.Ref]; ok {
			delete(s.refs, r.Ref)
			c.done(r.Out)
		}
	}
}

func (s *shard[In, Out]) reject(replies []Reply[Out], code kerr.Code) {
	for _, r := range replies {
		if c, ok := s.refs[r.Ref]; ok {
			delete(s.refs, r.Ref)
			c.done(c.in.Reject(code))
		}
	}
}

// alarm makes sure that the shard wakes up in time. A timer that is set too early costs one look, so it isn't
// moved for every heartbeat.
func (s *shard[In, Out]) alarm(now time.Time) {
	var at time.Time
	if s.core != nil {
		at = s.core.Deadline()
	}
	if p := s.patience(); !p.IsZero() && (at.IsZero() || p.Before(at)) {
		at = p
	}
	if !s.timerAt.IsZero() && !s.timerAt.After(now) {
		s.timerAt = time.Time{} // it has fired
	}
	if at.IsZero() || !s.timerAt.IsZero() && !at.Before(s.timerAt) {
		return
	}
	s.timerAt = at
	d := max(at.Sub(now), 0)
	if s.timer == nil {
		s.timer = s.rt.cfg.Clock.AfterFunc(d, s.poke)
	} else {
		s.timer.Reset(d)
	}
}

// shut answers everybody when leadership is gone.
func (s *shard[In, Out]) shut(q []call[In, Out]) {
	if s.timer != nil {
		s.timer.Stop()
	}
	for _, ref := range slices.SortedFunc(maps.Keys(s.refs), cmp.Compare[uint64]) {
		c := s.refs[ref]
		c.done(c.in.Reject(kerr.NotCoordinator))
	}
	clear(s.refs)
	for i := range q {
		q[i].done(q[i].in.Reject(kerr.NotCoordinator))
	}
	s.core, s.held, s.then, s.replies, s.recs, s.buf = nil, nil, nil, nil, nil, nil
}
