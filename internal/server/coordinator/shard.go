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

// held are replies that wait until everything below upTo is committed.
type held[Out any] struct {
	upTo     batch.Offset
	deadline time.Time
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
	replies []Reply[Out] // and the replies that go with it
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
			s.lastRef++
			s.refs[s.lastRef] = q[i]
			mark := s.core.Mark()
			s.core.Step(now, s.lastRef, q[i].in)
			s.take(now, mark)
		}
		if d := s.core.Deadline(); !d.IsZero() && !d.After(now) {
			mark := s.core.Mark()
			s.core.Tick(now)
			s.take(now, mark)
		}
		_ = s.flush(now) // a failure has been told to whom it concerns
		_ = s.flush(now) // what a failure left to be written
		s.core.Forget()
	}
	s.release(now)
	s.alarm(now)
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
	if n > 0 && !s.fits(n) {
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
	}
	s.replies = append(s.replies, e.Replies...)
}

func (s *shard[In, Out]) fits(n int) bool {
	return len(s.recs) == 0 || batch.HeaderSize+s.size+n <= s.rt.cfg.MaxBatch
}

// flush appends the gathered batch. Its replies wait for the commit; if the log refuses it the core goes back
// to where it was, and the replies become rejections.
func (s *shard[In, Out]) flush(now time.Time) kerr.Code {
	replies := s.replies
	s.replies = nil
	if len(s.recs) == 0 {
		s.hold(now, replies)
		return kerr.None
	}
	code := s.append(now)
	clear(s.recs)
	s.recs, s.size = s.recs[:0], 0
	if code == kerr.None {
		s.mark = s.core.Mark()
		s.hold(now, replies)
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
	m.BaseSequence = 0 // as Kafka's coordinators write it
	m.Codec = s.rt.cfg.Codec
	b, err := batch.Build(s.buf[:0], m, s.recs)
	if err != nil {
		s.rt.cfg.Log.Error("batch not built", "topic", s.rt.cfg.Name, "partition", s.n, "error", err)
		return kerr.UnknownServerError
	}
	s.buf = b
	if cap(b) > keepBuffer {
		s.buf = nil
	}
	base, code := s.log.AppendLocal(b)
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

// hold keeps replies until all that was appended before them is committed.
func (s *shard[In, Out]) hold(now time.Time, replies []Reply[Out]) {
	if len(replies) == 0 {
		return
	}
	if len(s.held) == 0 && int64(s.end) <= s.committed.Load() {
		s.deliver(replies)
		return
	}
	s.held = append(s.held, held[Out]{s.end, now.Add(s.rt.cfg.WriteTimeout), replies})
}

// release gives out what has been committed, and gives up on what wasn't in time. Its records may be
// committed later: the state stays, and the client asks again.
func (s *shard[In, Out]) release(now time.Time) {
	code := kerr.Code(s.lost.Swap(int32(kerr.None)))
	if code != kerr.None {
		defer s.committed.Store(int64(s.end)) // later replies have nothing to wait for
	}
	committed := batch.Offset(s.committed.Load())
	i := 0
	for ; i < len(s.held); i++ {
		h := &s.held[i]
		switch {
		case h.upTo <= committed:
			s.deliver(h.replies)
		case code != kerr.None:
			s.reject(h.replies, outcome(code))
		case !now.Before(h.deadline):
			s.rt.Metrics.WriteTimeouts.Add(int64(len(h.replies)))
			s.reject(h.replies, outcome(kerr.RequestTimedOut))
		default:
			s.held = slices.Delete(s.held, 0, i)
			return
		}
	}
	s.held = slices.Delete(s.held, 0, i)
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
	if len(s.held) > 0 && (at.IsZero() || s.held[0].deadline.Before(at)) {
		at = s.held[0].deadline
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
	s.core, s.held, s.replies, s.recs, s.buf = nil, nil, nil, nil, nil
}
