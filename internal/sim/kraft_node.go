package sim

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/kalda/kalda/internal/core/kraft"
	"github.com/kalda/kalda/internal/server/quorum"
)

// kraftNode is one replica: a disk that outlives its engines.
type kraftNode struct {
	k       *KRaft
	id      kraft.ID
	cfg     kraft.Config
	store   *quorum.MemStore
	engine  *quorum.Engine // nil: down
	m       *machine
	boots   int
	doomed  int // disk operations until the power fails; 0: it doesn't
	pending map[uint64]func(kraft.Response)
	tags    uint64
	timer   time.Time
}

var errPower = errors.New("the power failed")

// boot starts an engine on the disk.
func (n *kraftNode) boot() {
	if n.engine != nil || n.k.failure != nil {
		return
	}
	n.boots++
	n.pending, n.m = map[uint64]func(kraft.Response){}, &machine{n: n}
	cfg := quorum.EngineConfig{
		Core: n.cfg, SnapshotBytes: 8000, SnapshotInterval: time.Hour, RetentionBytes: 1, Retention: -1,
		Logger: slog.New(slog.DiscardHandler), Spawn: n.spawn,
	}
	cfg.Core.Seed += uint64(n.boots)
	e, err := quorum.NewEngine(cfg, &riskyStore{n.store, n}, n.m, n, n.k.now)
	if err != nil {
		n.k.fail("node %d doesn't start: %v", n.id, err)
		return
	}
	n.engine = e
	if err := e.Begin(n.k.now); err != nil {
		n.k.fail("node %d doesn't start: %v", n.id, err)
		return
	}
	n.flush()
}

// spawn writes snapshots later, as another thread would.
func (n *kraftNode) spawn(work func() func()) {
	boot := n.boots
	n.k.after(n.k.between(0, 50*time.Millisecond), func() {
		if n.engine == nil || n.boots != boot {
			return
		}
		work()()
		n.flush()
	})
}

// crash loses everything that isn't synced, or all but a part of it.
func (n *kraftNode) crash() {
	if n.engine == nil {
		return
	}
	n.engine, n.doomed = nil, 0
	keep := 0
	if u := n.store.Unsynced(); u > 0 {
		keep = n.k.rng.IntN(u + 1)
	}
	n.store = n.store.Crash(keep)
}

func (n *kraftNode) flush() {
	if n.engine == nil {
		return
	}
	if err := n.engine.Flush(n.k.now); err != nil {
		if !errors.Is(err, errPower) {
			n.k.fail("node %d stops: %v", n.id, err)
		}
		n.crash()
		n.k.after(n.k.between(0, 3*time.Second), n.boot)
		return
	}
	n.arm()
}

// arm wakes the engine at its deadline.
func (n *kraftNode) arm() {
	at := n.engine.Deadline()
	if at.IsZero() || at.Equal(n.timer) {
		return
	}
	n.timer = at
	boot := n.boots
	n.k.after(max(0, at.Sub(n.k.now)), func() {
		if n.engine != nil && n.boots == boot && n.timer.Equal(at) {
			n.timer = time.Time{}
			n.flush()
		}
	})
}

func (n *kraftNode) step(in kraft.Input) {
	if n.engine == nil {
		return
	}
	n.engine.Step(n.k.now, in)
	if n.k.chance(80) {
		n.flush()
		return
	}
	n.k.after(time.Millisecond, n.flush) // more inputs may share this round
}

// Send implements quorum.Outbox.
func (n *kraftNode) Send(s kraft.Send) {
	to := n.k.nodes[s.At.Port-1]
	boot := n.boots
	answer := func(r kraft.Response) {
		n.k.carry(to.id, n.id, func() {
			if n.boots == boot {
				n.step(kraft.Answered{Tag: s.Tag, Body: received(r)})
			}
		})
	}
	n.k.carry(n.id, to.id, func() {
		if to.engine == nil {
			if n.k.chance(70) {
				n.k.carry(to.id, n.id, func() {
					if n.boots == boot {
						n.step(kraft.Failed{Tag: s.Tag})
					}
				})
			}
			return
		}
		to.tags++
		to.pending[to.tags] = answer
		to.step(kraft.Received{Tag: to.tags, Body: s.Body})
	})
}

// Reply implements quorum.Outbox.
func (n *kraftNode) Reply(r kraft.Reply) {
	if fn := n.pending[r.Tag]; fn != nil {
		delete(n.pending, r.Tag)
		fn(r.Body)
	}
}

// received is what a response is on the other side.
func received(r kraft.Response) kraft.Response {
	f, ok := r.(*kraft.FetchResponse)
	if !ok {
		return r
	}
	c := *f
	var err error
	c.Batches, err = kraft.Split(slices.Clone(f.Records))
	c.Bad = err != nil
	return &c
}

// carry is the network.
func (k *KRaft) carry(from, to kraft.ID, deliver func()) {
	if k.blocked[[2]kraft.ID{from, to}] || k.Faults && k.chance(2) {
		return
	}
	k.after(k.between(time.Millisecond, 15*time.Millisecond), deliver)
	if k.Faults && k.chance(2) {
		k.after(k.between(time.Millisecond, 3*time.Second), deliver)
	}
}

// riskyStore is the disk while the power may fail: before an operation, or in its middle.
type riskyStore struct {
	*quorum.MemStore
	n *kraftNode
}

func (s *riskyStore) fails() bool {
	if s.n.doomed == 0 {
		return false
	}
	s.n.doomed--
	return s.n.doomed == 0
}

func (s *riskyStore) SaveElection(e kraft.Election) error {
	if s.fails() {
		return errPower
	}
	return s.MemStore.SaveElection(e)
}

func (s *riskyStore) Append(b []kraft.Batch) error {
	if s.fails() {
		return errPower
	}
	return s.MemStore.Append(b)
}

func (s *riskyStore) Sync() error {
	if s.fails() {
		return errPower
	}
	return s.MemStore.Sync()
}

func (s *riskyStore) Truncate(to kraft.Offset) error {
	if s.fails() {
		return errPower
	}
	return s.MemStore.Truncate(to)
}

func (s *riskyStore) Install(id kraft.SnapshotID) error {
	if s.fails() {
		return errPower
	}
	return s.MemStore.Install(id)
}
