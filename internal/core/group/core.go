package group

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tidwall/btree"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// Core is the groups of one partition of __consumer_offsets.
type Core struct {
	cfg     Config
	rng     *rand.ChaCha8
	now     time.Time
	groups  btree.Map[string, *group]
	timers  timers
	sweep   *timer
	effects Effects
	undo    []func()
	order   uint64 // of offsets, as their records stand in the log
	txns    map[int64]pendingOffsets
	image   *meta.Image // the newest that came with a request, nil before the first
}

// New makes an empty core. seed is for member ids.
func New(cfg Config, seed [32]byte) *Core {
	c := &Core{cfg: cfg, rng: rand.NewChaCha8(seed), txns: map[int64]pendingOffsets{}}
	if c.cfg.Warn == nil {
		c.cfg.Warn = func(string, ...any) {}
	}
	c.sweep = newTimer(c.onSweep)
	return c
}

// SetConfig replaces the configuration; running timers keep their times.
func (c *Core) SetConfig(cfg Config) {
	if cfg.Warn == nil {
		cfg.Warn = c.cfg.Warn
	}
	c.cfg = cfg
}

// Step takes one input. ref comes back with its reply, now or after a later Step or Tick.
func (c *Core) Step(now time.Time, ref Ref, in Input) {
	c.Tick(now)
	switch in := in.(type) {
	case *Heartbeat:
		c.reply(ref, &Status{Code: c.onHeartbeat(in)})
	case *Commit:
		c.reply(ref, c.onCommit(in))
	case *TxnCommit:
		c.reply(ref, c.onTxnCommit(in))
	case *EndTxn:
		c.reply(ref, c.onEndTxn(in))
	case *Fetch:
		c.reply(ref, c.onFetch(in))
	case *Join:
		c.onJoin(ref, in)
	case *Sync:
		c.onSync(ref, in)
	case *Leave:
		c.reply(ref, c.onLeave(in))
	case *ConsumerHeartbeat:
		c.reply(ref, c.onConsumerHeartbeat(in))
	case *DescribeConsumers:
		c.reply(ref, c.onDescribeConsumers(in))
	case *List:
		c.reply(ref, c.onList(in))
	case *Describe:
		c.reply(ref, c.onDescribe(in))
	case *Delete:
		c.reply(ref, c.onDelete(in))
	case *DeleteOffsets:
		c.reply(ref, c.onDeleteOffsets(in))
	case *TopicsDeleted:
		c.onTopicsDeleted(in)
		c.reply(ref, &Status{})
	default:
		panic(fmt.Sprintf("group: unknown input %T", in))
	}
	c.armSweep()
}

// Tick fires the timers that are due.
func (c *Core) Tick(now time.Time) {
	c.now = now
	for t := c.timers.next(now); t != nil; t = c.timers.next(now) {
		t.fire()
	}
}

// Deadline is when Tick has something to do, zero if never.
func (c *Core) Deadline() time.Time { return c.timers.deadline() }

// Drain hands over the effects since the last Drain. The slices are the caller's.
func (c *Core) Drain() Effects {
	e := c.effects
	c.effects = Effects{}
	return e
}

// Mark names the present for Rollback.
func (c *Core) Mark() int { return len(c.undo) }

// Rollback takes back what the records since mark told, because they weren't appended. Requests that were
// parked on it are answered, through Drain.
func (c *Core) Rollback(now time.Time, mark int) {
	c.now = now
	for i := len(c.undo) - 1; i >= mark; i-- {
		c.undo[i]()
		c.undo[i] = nil
	}
	c.undo = c.undo[:min(mark, len(c.undo))]
}

// Forget says that everything drained so far was appended: there's no way back.
func (c *Core) Forget() {
	clear(c.undo)
	c.undo = c.undo[:0]
}

// Groups counts the groups, for metrics.
func (c *Core) Groups() int { return c.groups.Len() }

func (c *Core) onUndo(f func()) { c.undo = append(c.undo, f) }

func (c *Core) reply(ref Ref, out Output) {
	if ref != 0 {
		c.effects.Replies = append(c.effects.Replies, Reply{ref, out})
	}
}

func (c *Core) write(key, value []byte) {
	c.effects.Append = append(c.effects.Append, batch.Record{Key: key, Value: value})
}

// writeGroup appends the group's record as it is now.
func (c *Core) writeGroup(g *group) {
	g.recorded = true
	c.writeGroupValue(g.id, g.record())
}

// writeGroupValue with nil buries the group.
func (c *Core) writeGroupValue(id string, value []byte) {
	k := record.GroupKey{Kind: record.KindClassicGroup, Group: id}
	c.write(k.Encode(), value)
}

func (c *Core) group(id string) *group {
	g, _ := c.groups.Get(id)
	return g
}

func (c *Core) newGroup(id string) *group {
	g := &group{id: id, stateSince: c.millis(), offsets: map[TopicPartition]*offset{}}
	g.joinTimer = newTimer(func() { c.onJoinTimer(g) })
	g.syncTimer = newTimer(func() { c.onSyncTimer(g) })
	c.groups.Set(id, g)
	return g
}

// dropGroup forgets the group and its timers.
func (c *Core) dropGroup(g *group) {
	c.groups.Delete(g.id)
	c.stopGroup(g)
}

func (c *Core) stopGroup(g *group) {
	c.timers.cancel(g.joinTimer)
	c.timers.cancel(g.syncTimer)
	for _, m := range g.members {
		c.timers.cancel(m.session)
	}
	for _, p := range g.pending {
		c.timers.cancel(p.timer)
	}
	if g.consumers != nil {
		c.stopClocks(g.consumers)
	}
}

func (c *Core) millis() int64 {
	if c.now.IsZero() {
		return -1
	}
	return c.now.UnixMilli()
}

func (c *Core) armSweep() {
	if !c.sweep.armed() && c.groups.Len() > 0 {
		c.timers.set(c.sweep, c.now.Add(c.cfg.RetentionCheckInterval))
	}
}

// newMemberID is the client's id, or the instance's, with a random UUID.
func (c *Core) newMemberID(prefix string) string {
	var u [16]byte
	_, _ = c.rng.Read(u[:]) // never fails
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	h := hex.EncodeToString(u[:])
	return prefix + "-" + h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// maxString is the longest string that a record can hold, with room for the UUID of a member id.
const maxString = 1<<15 - 1 - 37

func tooLong(s ...string) bool {
	for _, x := range s {
		if len(x) > maxString {
			return true
		}
	}
	return false
}

func checkGroupID(id string) kerr.Code {
	if id == "" || tooLong(id) {
		return kerr.InvalidGroupID
	}
	return kerr.None
}
