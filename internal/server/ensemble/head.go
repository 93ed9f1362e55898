package ensemble

import (
	"sync"
	"time"

	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/format/jute"
)

// op is one request on its way.
type op struct {
	kind opKind
	conn *conn // nil: the server's own
	req  ztree.Request
	txn  *jute.Txn
	q    query // of an opQuery
	at   int64 // when it came, by the server's clock
}

type opKind uint8

const (
	opWrite  opKind = iota
	opAttach        // a session comes back on another connection
	opQuery         // a read behind writes: it waits in its connection's line, and never gets to the head's
)

// batch is what one sync makes durable.
type batch struct {
	ops  []*op
	buf  []byte // their transactions' bytes
	ends []int
	roll bool // begins a new log file
}

func (b *batch) reset() {
	clear(b.ops)
	b.ops, b.ends, b.roll = b.ops[:0], b.ends[:0], false
	if cap(b.buf) > maxKeptBatch {
		b.buf = nil
	}
	b.buf = b.buf[:0]
}

// maxKeptBatch is how large a batch's buffer may stay between batches.
const maxKeptBatch = 1 << 20

// head is the goroutine that owns tree, planner and sessions.
type head struct {
	s        *Server
	tree     *ztree.Tree
	planner  *ztree.Planner
	sessions *ztree.Sessions
	owners   map[jute.SessionID]*conn // who serves a session, or did last
	zxid     jute.Zxid                // of the last transaction prepared
	wall     int64                    // its time
	digests  digestLog
	log      journal

	mu    sync.Mutex
	queue []*op
	calls []func()
	wake  chan struct{}

	taken    []*op // of queue
	next     *batch
	inflight *batch // the journal has it
	spare    *batch
	broken   bool

	rd      reader
	now     int64   // by the server's clock, when the chunk at hand began
	touched []*conn // have something staged
	ended   []*conn // to be disconnected after the batch
	frame   []byte
	told    []*conn

	timer *time.Timer
	armed int64
	quit  chan struct{}
	done  chan struct{}
}

func newHead(s *Server, tree *ztree.Tree) *head {
	now := s.clock.now()
	h := &head{
		s: s, tree: tree, sessions: ztree.NewSessions(1, now, s.opts.tick), owners: map[jute.SessionID]*conn{},
		zxid: tree.Zxid(), wake: make(chan struct{}, 1), next: &batch{}, spare: &batch{},
		timer: time.NewTimer(time.Hour), quit: make(chan struct{}), done: make(chan struct{}),
	}
	h.planner = ztree.NewPlanner(tree, h.sessions)
	h.log.init(s)
	for id, timeout := range tree.View().Sessions() {
		h.sessions.Add(id, timeout, 0, now)
	}
	return h
}

func (h *head) start() {
	go h.log.run()
	go h.run()
}

// post gives the head requests, in order.
func (h *head) post(ops ...*op) {
	h.mu.Lock()
	h.queue = append(h.queue, ops...)
	h.mu.Unlock()
	h.poke()
}

func (h *head) poke() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// do runs fn on the head's goroutine and waits for it; it doesn't run when the head has ended.
func (h *head) do(fn func()) {
	ran := make(chan struct{})
	h.mu.Lock()
	h.calls = append(h.calls, func() { fn(); close(ran) })
	h.mu.Unlock()
	h.poke()
	select {
	case <-ran:
	case <-h.done:
	}
}

func (h *head) run() {
	defer close(h.done)
	for {
		h.turn()
		h.arm()
		select {
		case <-h.wake:
		case err := <-h.log.done:
			h.committed(err)
		case <-h.timer.C:
			h.armed = 0
			h.expire()
		case <-h.quit:
			h.drain()
			return
		}
	}
}

// finish lets everything that was accepted reach the disk, and ends the goroutine.
func (h *head) finish() {
	close(h.quit)
	<-h.done
	close(h.log.in)
}

func (h *head) drain() {
	for {
		h.turn()
		if h.inflight == nil {
			return
		}
		h.committed(<-h.log.done)
	}
}

// turn prepares what came. A batch that nobody waits behind is written here and now: nothing could be
// prepared meanwhile. Else the journal's goroutine writes it.
func (h *head) turn() {
	for {
		idle := h.collect()
		if h.inflight != nil || len(h.next.ops) == 0 || h.broken {
			return
		}
		if !idle {
			h.hand()
			continue
		}
		b := h.next
		h.next, h.spare = h.spare, nil
		if err := h.log.write(b); err != nil {
			h.broke(err)
			return
		}
		h.apply(b)
	}
}

// hand gives the next batch to the journal.
func (h *head) hand() {
	h.inflight = h.next
	if h.next, h.spare = h.spare, nil; h.next == nil {
		h.next = &batch{}
	}
	h.log.in <- h.inflight
}

// committed is told by the journal. The next batch goes to the disk before this one is applied.
func (h *head) committed(err error) {
	b := h.inflight
	h.inflight = nil
	if err != nil {
		h.broke(err)
		return
	}
	h.collect()
	if len(h.next.ops) > 0 {
		h.hand()
	}
	h.apply(b)
}

// broke ends service: what was prepared is never acknowledged, whether or not it got to the disk.
func (h *head) broke(err error) {
	h.broken = true
	h.next.reset()
	h.s.fail(err)
}

// collect prepares what came, as far as the next batch has room; true when nothing is left.
func (h *head) collect() (idle bool) {
	room := h.s.opts.batch - len(h.next.ops)
	h.mu.Lock()
	n := min(room, len(h.queue))
	h.taken = append(h.taken[:0], h.queue[:n]...)
	rest := copy(h.queue, h.queue[n:])
	clear(h.queue[rest:])
	h.queue = h.queue[:rest]
	calls := h.calls
	h.calls = nil
	h.mu.Unlock()
	for _, fn := range calls {
		fn()
	}
	if len(h.taken) > 0 && !h.broken {
		began := time.Now()
		h.wall = max(h.wall, began.UnixMilli())
		for i, o := range h.taken {
			h.prep(o)
			h.taken[i] = nil
		}
		h.s.metrics.PrepTime.ObserveMs(time.Since(began))
	}
	return rest == 0
}

// prep makes a transaction of a request.
func (h *head) prep(o *op) {
	if o.kind == opAttach {
		h.attach(o)
		return
	}
	if t, ok := o.req.Body.(*jute.CreateSessionTxn); ok && o.conn != nil {
		o.req.Session = h.sessions.NextID()
		h.sessions.Add(o.req.Session, t.Timeout, o.req.Owner, h.s.clock.now())
		h.owners[o.req.Session] = o.conn
	}
	h.zxid++
	o.txn = h.planner.Prep(&o.req, h.zxid, h.wall)
	b := h.next
	b.ops = append(b.ops, o)
	b.buf = o.txn.Append(b.buf)
	b.ends = append(b.ends, len(b.buf))
}

// attach makes a connection the one that serves a session which exists, and answers it. The session's older
// connection is closed: what it has in the pipeline happens, and is answered to nobody.
func (h *head) attach(o *op) {
	c, id := o.conn, o.req.Session
	alive := h.sessions.Own(id, o.req.Owner, h.s.clock.now())
	if old := h.owners[id]; alive && old != c {
		if old != nil {
			old.kill()
		}
		h.owners[id] = c
	}
	h.s.metrics.Revalidated.Inc()
	c.attached(id, alive)
	h.s.outstanding.Add(-1)
}

// expire closes the sessions that nothing was heard of.
func (h *head) expire() {
	now := h.s.clock.now()
	for _, id := range h.sessions.Due(now) {
		if c := h.owners[id]; c != nil {
			heard := c.heard.Load()
			if c.pending.Load() > 0 && !c.dead.Load() {
				heard = now // it isn't read while it waits for us
			}
			if tick := h.s.opts.tick; ((heard+int64(c.timeout))/tick+1)*tick > now {
				h.sessions.Touch(id, heard)
				continue
			}
		}
		h.s.log.Info("session expired", "session", id)
		h.s.metrics.SessionsExpired.Inc()
		h.sessions.Close(id)
		h.s.outstanding.Add(1)
		h.post(&op{req: ztree.Request{Session: id, Op: jute.OpCloseSession}, at: now})
	}
}

// arm sets the timer to when a session may be due.
func (h *head) arm() {
	at, ok := h.sessions.Deadline()
	if !ok || at == h.armed {
		return
	}
	h.armed = at
	h.timer.Reset(time.Duration(max(1, at-h.s.clock.now())) * time.Millisecond)
}

// journal writes batches: here is where a quorum will be asked, and commit come to mean its answer.
type journal struct {
	s    *Server
	in   chan *batch
	done chan error

	entries [][]byte
	txns    int // since the last roll
	bytes   int64
}

func (j *journal) init(s *Server) {
	j.s, j.in, j.done = s, make(chan *batch, 1), make(chan error, 1)
}

func (j *journal) run() {
	for b := range j.in {
		j.done <- j.write(b)
	}
}

// write makes a batch durable. It is called by the head or by the journal's goroutine, never by both.
func (j *journal) write(b *batch) error {
	store := j.s.store
	if b.roll = j.s.snaps.due(j.txns, j.bytes); b.roll {
		j.txns, j.bytes = 0, 0
		if err := store.Roll(); err != nil {
			return err
		}
	}
	j.entries = j.entries[:0]
	start := 0
	for _, end := range b.ends {
		j.entries = append(j.entries, b.buf[start:end:end])
		start = end
	}
	err := store.Append(j.entries...)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := store.Sync(); err != nil {
		return err
	}
	m := &j.s.metrics
	took := time.Since(began)
	m.FsyncTime.ObserveMs(took)
	m.BatchSize.Observe(int64(len(b.ops)))
	if j.s.opts.slowSync > 0 && took > j.s.opts.slowSync {
		m.SlowSyncs.Inc()
		j.s.log.Warn("syncing the transaction log took long: writes wait for it", "ms", took.Milliseconds(),
			"limit", j.s.opts.slowSync.Milliseconds())
	}
	j.txns += len(b.ops)
	j.bytes += int64(len(b.buf))
	if limit := j.s.opts.logSize; limit > 0 && store.FileSize() > limit {
		return store.Roll()
	}
	return nil
}
