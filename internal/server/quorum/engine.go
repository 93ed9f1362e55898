package quorum

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/kalda/kalda/internal/core/kraft"
)

// Outbox is where an Engine's messages go. It must not call back.
type Outbox interface {
	Send(s kraft.Send)
	Reply(r kraft.Reply)
}

// EngineConfig is what an Engine needs beside the core's own settings.
type EngineConfig struct {
	Core             kraft.Config
	SnapshotBytes    int64
	SnapshotInterval time.Duration
	RetentionBytes   int64
	Retention        time.Duration
	Logger           *slog.Logger
	// Spawn runs work elsewhere and then, on the engine's goroutine, what it returned.
	Spawn func(work func() (done func()))
}

// Engine is the driver without goroutine, clock and sockets: Quorum gives it those, and the simulation its
// own. Step any number of inputs, then Flush: that is one round, with one write and one sync.
type Engine struct {
	cfg   EngineConfig
	core  *kraft.Core
	store Store
	m     Machine
	out   Outbox
	now   time.Time

	applied   kraft.Offset // the machine has everything below
	lastEpoch kraft.Epoch  // of the record before applied
	lastTime  int64        // its batch's append time
	recent    recent
	loose     bool // what was loaded or decided isn't durable yet, and nobody may hear of it before it is

	told    roleTold
	touched bool // the machine was called since its last Tick
	tickAt  time.Time

	sinceBytes  int64 // applied since the last snapshot
	sinceTime   time.Time
	snapshoting bool
	cleanAt     time.Time
}

// roleTold is what the machine was last told.
type roleTold struct {
	leading bool
	leader  kraft.ID
	epoch   kraft.Epoch
	any     bool
}

// cleanPeriod is how often old snapshots are looked at.
const cleanPeriod = time.Minute

// NewEngine loads the store. The machine isn't called before Begin, nothing is sent before the first Flush.
func NewEngine(cfg EngineConfig, store Store, m Machine, out Outbox, now time.Time) (*Engine, error) {
	disk, err := store.Load()
	if err != nil {
		return nil, err
	}
	core, err := kraft.New(cfg.Core, disk, now)
	if err != nil {
		return nil, err
	}
	return &Engine{
		cfg: cfg, core: core, store: store, m: m, out: out, now: now, sinceTime: now, cleanAt: now.Add(cleanPeriod),
		applied: disk.Log.Start, loose: cfg.Core.CanVote,
	}, nil
}

// Begin restores the machine from the newest snapshot.
func (e *Engine) Begin(now time.Time) error {
	e.now = now
	ids := e.core.State().Log.Snapshots
	if len(ids) == 0 {
		return nil
	}
	return e.restore(ids[len(ids)-1])
}

// Core is the engine's core, for looking at.
func (e *Engine) Core() *kraft.Core { return e.core }

// Applied is the offset up to which the machine has seen the log.
func (e *Engine) Applied() kraft.Offset { return e.applied }

// Step hands the core one input.
func (e *Engine) Step(now time.Time, in kraft.Input) {
	e.now = now
	e.core.Step(now, in)
}

// Do runs fn as the machine would be run.
func (e *Engine) Do(now time.Time, fn func(w Writer)) {
	e.now = now
	e.touched = true
	fn((*writer)(e))
}

// Deadline is when Flush must be called at the latest; zero: no need.
func (e *Engine) Deadline() time.Time {
	next := e.core.Deadline()
	for _, t := range [...]time.Time{e.tickAt, e.cleanAt} {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}

// Flush carries out everything that the core wants and tells the machine what has become of it. An error ends
// the engine: a failed disk, or a quorum that can't be trusted any more.
func (e *Engine) Flush(now time.Time) error {
	e.now = now
	e.core.Step(now, nil)
	ticked := false
	for {
		if err := e.perform(); err != nil {
			return err
		}
		again, err := e.deliver()
		if err != nil {
			return err
		}
		if !ticked && (e.touched || !e.tickAt.IsZero() && !now.Before(e.tickAt)) {
			ticked, e.touched, again = true, false, true
			e.tickAt = e.m.Tick(now, (*writer)(e))
		}
		if !again {
			break
		}
	}
	if e.touched {
		e.tickAt = now // the machine moved after its Tick: ask it again in a round of its own
	}
	e.maybeSnapshot()
	return e.maybeClean()
}

// perform empties the core's effects.
func (e *Engine) perform() error {
	for {
		eff := e.core.Drain()
		if eff.Fatal != nil {
			return eff.Fatal
		}
		if eff.Empty() {
			return e.settle()
		}
		for _, n := range eff.Notes {
			e.cfg.Logger.Info(n)
		}
		if eff.Election != nil {
			if err := e.store.SaveElection(*eff.Election); err != nil {
				return fmt.Errorf("saving the quorum state: %w", err)
			}
			e.loose = true
		}
		appended, err := e.disk(eff.Disk)
		if err != nil {
			return err
		}
		if len(eff.Replies)+len(eff.Sends) > 0 {
			if err := e.settle(); err != nil {
				return err
			}
		}
		e.send(&eff)
		if appended {
			if err := e.sync(); err != nil {
				return err
			}
		}
	}
}

// settle makes votes, and the log that this node found at its start, durable before anything is said that
// rests on them: a vote isn't given twice, and a log that others count on isn't lost. A sole voter has nobody
// to tell: one sync makes its election and the record of its leadership durable.
func (e *Engine) settle() error {
	if !e.loose {
		return nil
	}
	if err := e.store.Sync(); err != nil {
		return fmt.Errorf("syncing the quorum state: %w", err)
	}
	e.loose = false
	return nil
}

// send comes before the sync: followers write while this node's disk does.
func (e *Engine) send(eff *kraft.Effects) {
	for _, r := range eff.Replies {
		e.fill(&r)
		e.out.Reply(r)
	}
	for _, s := range eff.Sends {
		e.out.Send(s)
	}
}

func (e *Engine) sync() error {
	end := e.core.State().Log.End
	if e.cfg.Core.CanVote {
		// A broker's copy backs nobody's promise, and is fetched again if lost.
		if err := e.store.Sync(); err != nil {
			return fmt.Errorf("syncing the metadata log: %w", err)
		}
		e.loose = false
	}
	e.core.Step(e.now, kraft.Synced{End: end})
	return nil
}

// disk does the operations in order, runs of appends in one go.
func (e *Engine) disk(ops []kraft.DiskOp) (appended bool, err error) {
	var run []kraft.Batch
	flush := func() error {
		if len(run) == 0 {
			return nil
		}
		err := e.store.Append(run)
		run = run[:0]
		if err != nil {
			return fmt.Errorf("appending to the metadata log: %w", err)
		}
		return nil
	}
	for _, op := range ops {
		if a, ok := op.(kraft.Append); ok {
			run = append(run, a.Batch)
			e.recent.add(a.Batch)
			appended = true
			continue
		}
		if err := flush(); err != nil {
			return appended, err
		}
		if err := e.other(op); err != nil {
			return appended, fmt.Errorf("%T: %w", op, err)
		}
	}
	return appended, flush()
}

func (e *Engine) other(op kraft.DiskOp) error {
	switch op := op.(type) {
	case kraft.Truncate:
		e.recent.truncate(op.To)
		return e.store.Truncate(op.To)
	case kraft.WritePart:
		return e.store.WritePart(op.ID, op.Position, op.Data)
	case kraft.Discard:
		return e.store.Discard(op.ID)
	case kraft.Install:
		return e.install(op.ID)
	}
	return nil
}

func (e *Engine) install(id kraft.SnapshotID) error {
	if err := e.store.Install(id); err != nil {
		if !errors.Is(err, errBadSnapshot) && !errors.Is(err, errNoSnapshot) {
			return err
		}
		e.cfg.Logger.Error("a fetched snapshot is no good", "snapshot", id.String(), "error", err)
		e.core.Step(e.now, kraft.Installed{ID: id, Broken: true})
		return nil
	}
	e.recent = recent{}
	h, err := e.head(id)
	if err != nil {
		return err
	}
	e.core.Step(e.now, kraft.Installed{ID: id, Control: h.controls()})
	return e.restore(id)
}

// fill reads what a reply promises.
func (e *Engine) fill(r *kraft.Reply) {
	switch b := r.Body.(type) {
	case *kraft.FetchResponse:
		if !b.Read {
			return
		}
		var err error
		if b.Records, err = e.store.Read(b.ReadFrom, e.core.State().Log.End, int(b.MaxBytes)); err != nil {
			e.cfg.Logger.Error("reading the metadata log for a follower", "offset", b.ReadFrom, "error", err)
			b.Error = kraft.Unknown
		}
	case *kraft.SnapshotResponse:
		if b.Error == kraft.None && b.Top == kraft.None {
			b.Error = e.fillSnapshot(b)
		}
	}
}

func (e *Engine) fillSnapshot(b *kraft.SnapshotResponse) kraft.Code {
	f, err := e.store.Open(b.ID)
	if err != nil {
		return kraft.SnapshotNotFound
	}
	defer f.Close()
	if b.Size = f.Size(); b.Position >= b.Size {
		return kraft.PositionOutOfRange
	}
	b.Data = make([]byte, min(int64(b.MaxBytes), b.Size-b.Position))
	if _, err := f.ReadAt(b.Data, b.Position); err != nil {
		e.cfg.Logger.Error("reading a snapshot for a follower", "snapshot", b.ID.String(), "error", err)
		return kraft.Unknown
	}
	return kraft.None
}
