package quorum

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/kraft"
)

// Quorum is this node's part of the metadata quorum: a voter or an observer.
type Quorum struct {
	cfg       Config
	store     Store
	engine    *Engine // the loop's, once started
	peers     *peers
	bootstrap [][]byte

	tags    uint64                   // the loop's
	pending map[uint64]pendingAnswer // the loop's: requests that the core holds
	seen    atomic.Pointer[view]

	wake    chan struct{} // holds one: there is something in the inbox
	done    chan struct{} // closed when the loop has ended
	quit    chan struct{} // closed when the loop shall wait for nothing any more
	started atomic.Bool

	mu     sync.Mutex
	inbox  []func(now time.Time)
	closed bool
	stop   bool  // the loop should end
	err    error // why it ended by itself

	spawned sync.WaitGroup
}

type pendingAnswer struct {
	req   kmsg.Request
	reply func(kmsg.Response)
}

// view is what other goroutines may know.
type view struct {
	leader NodeID
	epoch  int32
	at     Endpoint
	known  bool
	status Status
}

// Status is what monitoring wants to know of a quorum.
type Status struct {
	Role          string // unattached, prospective, candidate, leader, follower, resigned
	Observer      bool   // not a voter now
	Leader        NodeID
	Epoch         int32
	LogStart      int64
	LogEnd        int64
	HighWatermark int64 // -1: not known
	Applied       int64 // the Machine has everything below
	KRaftVersion  int16
}

// Open reads and validates what is on disk. Nothing runs yet, and the Machine hasn't been called.
func Open(cfg Config, m Machine) (*Quorum, error) {
	cfg.setDefaults()
	store, err := openDiskStore(&cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the metadata log in %s: %w", cfg.Dir, err)
	}
	q, err := open(cfg, m, store)
	if err != nil {
		_ = store.Close()
		return nil, fmt.Errorf("opening the metadata log in %s: %w", cfg.Dir, err)
	}
	if q.engine.Core().State().Log.End == 0 {
		if q.bootstrap, err = store.bootstrapRecords(); err != nil {
			_ = store.Close()
			return nil, err
		}
	}
	return q, nil
}

func open(cfg Config, m Machine, store Store) (*Quorum, error) {
	core, err := cfg.core()
	if err != nil {
		return nil, err
	}
	q := &Quorum{
		cfg: cfg, store: store, pending: map[uint64]pendingAnswer{},
		wake: make(chan struct{}, 1), done: make(chan struct{}),
		quit: make(chan struct{}),
	}
	if s, ok := store.(*diskStore); ok {
		s.quit = q.quit
	}
	q.peers = newPeers(&q.cfg, func(in kraft.Input) { q.post(func(now time.Time) { q.engine.Step(now, in) }) })
	q.engine, err = NewEngine(EngineConfig{
		Core: core, SnapshotBytes: cfg.SnapshotBytes, SnapshotInterval: cfg.SnapshotInterval,
		RetentionBytes: cfg.RetentionBytes, Retention: cfg.Retention, Logger: cfg.Logger, Spawn: q.spawn,
	}, store, m, (*outbox)(q), time.Now())
	if err != nil {
		return nil, err
	}
	q.publish()
	return q, nil
}

func (c *Config) listener() string {
	if len(c.Endpoints) > 0 && c.Endpoints[0].Listener != "" {
		return c.Endpoints[0].Listener
	}
	if c.ControllerListener != "" {
		return c.ControllerListener
	}
	return "CONTROLLER"
}

func (c *Config) core() (kraft.Config, error) {
	k := kraft.Config{
		Self: kraft.Key{ID: kraft.ID(c.NodeID), Dir: c.DirectoryID}, CanVote: c.Controller, Listener: c.listener(),
		ElectionTimeout: c.ElectionTimeout, BackoffMax: c.ElectionBackoffMax, FetchTimeout: c.FetchTimeout,
		FetchWait: 500 * time.Millisecond, RequestTimeout: c.RequestTimeout, RetryBackoff: c.RetryBackoff,
		FetchMaxBytes: c.FetchMaxBytes, SnapshotMaxBytes: c.FetchSnapshotMaxBytes, Seed: rand.Uint64(),
	}
	for _, e := range c.Endpoints {
		k.Endpoints = append(k.Endpoints, kraft.Endpoint{Name: e.Listener, Host: e.Host, Port: e.Port})
	}
	for _, v := range c.Voters {
		k.Static = append(k.Static, kraft.Voter{
			ReplicaKey: kraft.Key{ID: kraft.ID(v.ID)},
			Endpoints:  []kraft.Endpoint{{Name: k.Listener, Host: v.Host, Port: v.Port}},
		})
	}
	for _, s := range c.BootstrapServers {
		host, port, err := net.SplitHostPort(strings.TrimSpace(s))
		if err != nil {
			return k, fmt.Errorf("controller.quorum.bootstrap.servers: %w", err)
		}
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return k, fmt.Errorf("controller.quorum.bootstrap.servers: port of %q: %w", s, err)
		}
		k.Bootstrap = append(k.Bootstrap, kraft.Endpoint{Host: host, Port: uint16(n)})
	}
	return k, nil
}

// Start runs the quorum. A sole voter leads when Start returns, and its Machine's Lead has been called.
func (q *Quorum) Start() error {
	if q.started.Swap(true) {
		return fmt.Errorf("quorum: started twice")
	}
	now := time.Now()
	err := q.engine.Begin(now)
	if err == nil {
		err = q.engine.Flush(now)
	}
	if err != nil {
		q.fail(err)
		close(q.done)
		return err
	}
	q.publish()
	go q.loop()
	return nil
}

// loop is the one goroutine: take what is there, step, one write, one sync, send.
func (q *Quorum) loop() {
	defer close(q.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		work, stop := q.take()
		if stop {
			return
		}
		now := time.Now()
		for _, fn := range work {
			fn(now)
		}
		if err := q.engine.Flush(now); err != nil {
			q.cfg.Logger.Error("the metadata quorum stops", "error", err)
			q.fail(err)
			return
		}
		q.publish()
		q.wait(timer)
	}
}

func (q *Quorum) take() (work []func(time.Time), stop bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stop {
		return nil, true // Close answers what is left
	}
	work, q.inbox = q.inbox, nil
	return work, false
}

func (q *Quorum) wait(timer *time.Timer) {
	at := q.engine.Deadline()
	if at.IsZero() {
		<-q.wake
		return
	}
	timer.Reset(time.Until(at))
	select {
	case <-q.wake:
	case <-timer.C:
	}
}

// post queues fn whatever the queue's length: answers and the like, whose number is bounded by what was
// asked.
func (q *Quorum) post(fn func(now time.Time)) {
	q.mu.Lock()
	q.inbox = append(q.inbox, fn)
	q.mu.Unlock()
	q.signal()
}

func (q *Quorum) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// offer queues fn unless too many wait.
func (q *Quorum) offer(fn func(now time.Time)) error {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return ErrClosed
	}
	if len(q.inbox) >= q.cfg.QueueSize {
		q.mu.Unlock()
		return ErrBusy
	}
	q.inbox = append(q.inbox, fn)
	q.mu.Unlock()
	q.signal()
	return nil
}

// Submit runs fn on the quorum's goroutine, soon. ErrBusy when too many wait, ErrClosed after Close.
func (q *Quorum) Submit(fn func(w Writer)) error {
	return q.offer(func(now time.Time) { q.engine.Do(now, fn) })
}

// Handle takes a request of a peer or a client; see RaftRequest.
func (q *Quorum) Handle(r RaftRequest) {
	d := decoder{clusterID: q.cfg.ClusterID}
	body := d.request(r.Request)
	if d.err != kraft.None {
		r.Reply(errorResponse(r.Request, d.err))
		return
	}
	err := q.offer(func(now time.Time) {
		q.tags++
		q.pending[q.tags] = pendingAnswer{r.Request, r.Reply}
		q.engine.Step(now, kraft.Received{Tag: q.tags, Listener: r.Listener, Body: body})
	})
	if err != nil {
		r.Reply(errorResponse(r.Request, codeBrokerNotAvailable))
	}
}

// outbox is where the engine's messages go.
type outbox Quorum

func (o *outbox) Send(s kraft.Send) { o.peers.send(s) }

func (o *outbox) Reply(r kraft.Reply) {
	if p, ok := o.pending[r.Tag]; ok {
		delete(o.pending, r.Tag)
		p.reply(response(p.req, r.Body))
	}
}

// spawn writes snapshots.
func (q *Quorum) spawn(work func() func()) {
	q.spawned.Go(func() {
		done := work()
		q.post(func(time.Time) { done() })
	})
}

func (q *Quorum) publish() {
	s := q.engine.Core().State()
	v := &view{leader: NodeID(s.Leader), epoch: int32(s.Epoch)}
	if s.Role == kraft.Resigned {
		v.leader = -1
	}
	v.status = Status{
		Role: s.Role.String(), Observer: s.Observer, Leader: v.leader, Epoch: v.epoch, LogStart: int64(s.Log.Start),
		LogEnd: int64(s.Log.End), HighWatermark: int64(s.HighWatermark), Applied: int64(q.engine.Applied()),
		KRaftVersion: s.Version,
	}
	if v.leader >= 0 && len(s.LeaderAt) > 0 {
		at := s.LeaderAt[0]
		v.at, v.known = Endpoint{Listener: at.Name, Host: at.Host, Port: at.Port}, true
	}
	q.seen.Store(v)
}

// Leader is the leader known now, -1 if none, and the epoch. Safe from any goroutine.
func (q *Quorum) Leader() (id NodeID, epoch int32) {
	v := q.seen.Load()
	return v.leader, v.epoch
}

// LeaderEndpoint is where the leader's controller listener is, if known. Safe from any goroutine.
func (q *Quorum) LeaderEndpoint() (Endpoint, bool) {
	v := q.seen.Load()
	return v.at, v.known
}

// Bootstrap is the data records of the 0-0 snapshot or, without one, of bootstrap.checkpoint: what the first
// leader of an empty log must write. Empty when there is neither, or the log isn't empty.
func (q *Quorum) Bootstrap() [][]byte { return q.bootstrap }

// HighWatermark is the first offset not known to be committed, -1 when unknown. Safe from any goroutine.
func (q *Quorum) HighWatermark() int64 { return q.seen.Load().status.HighWatermark }

// Status is the state after the last round. Safe from any goroutine.
func (q *Quorum) Status() Status { return q.seen.Load().status }

// Done is closed when the quorum has ended, by Close or because of a fault; Err tells which.
func (q *Quorum) Done() <-chan struct{} { return q.done }

// Err is the fault that ended the quorum: a failed disk, or a quorum that can't be trusted. nil before, and
// after Close.
func (q *Quorum) Err() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

func (q *Quorum) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err, q.closed = err, true
}

// maxFarewell bounds how long Close waits for the others to hear of a resignation, whatever its context says.
const maxFarewell = 5 * time.Second

// Close resigns if leading, stops, and closes the files. ctx bounds how long it waits for another leader.
func (q *Quorum) Close(ctx context.Context) error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	if q.started.Load() {
		q.resign(ctx)
		q.mu.Lock()
		q.stop = true
		q.mu.Unlock()
		q.signal()
		close(q.quit)
		<-q.done
	}
	q.peers.close()
	q.spawned.Wait()
	q.mu.Lock()
	inbox := q.inbox
	q.inbox = nil
	q.mu.Unlock()
	for _, fn := range inbox {
		// The loop is gone, and this node leads no more: appends are refused, requests end up in pending.
		fn(time.Now())
	}
	for tag, p := range q.pending {
		delete(q.pending, tag)
		p.reply(errorResponse(p.req, codeBrokerNotAvailable))
	}
	return q.store.Close()
}

// resign asks the core to end gracefully and waits until the others know, or ctx ends.
func (q *Quorum) resign(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxFarewell)
	defer cancel()
	quiet := make(chan struct{})
	var check func(now time.Time)
	check = func(now time.Time) {
		if q.engine.Core().Quiet() || ctx.Err() != nil {
			close(quiet)
			return
		}
		time.AfterFunc(10*time.Millisecond, func() { q.post(check) })
	}
	q.post(func(now time.Time) {
		q.engine.Step(now, kraft.Shutdown{})
		check(now)
	})
	select {
	case <-quiet:
	case <-q.done:
	case <-ctx.Done():
	}
}
