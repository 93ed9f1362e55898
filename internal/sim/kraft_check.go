package sim

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"github.com/kalda/kalda/internal/core/kraft"
	"github.com/kalda/kalda/internal/server/quorum"
)

// checker holds what has been seen, and what must therefore stay true.
type checker struct {
	k       *KRaft
	leaders map[kraft.Epoch]kraft.ID
	epochs  map[kraft.ID]kraft.Epoch // durable, by node
	hw      kraft.Offset             // the largest high watermark that any leader had
	states  map[kraft.Offset]uint64  // the machine's state at each end of a batch
}

func newChecker(k *KRaft) checker {
	return checker{
		k: k, leaders: map[kraft.Epoch]kraft.ID{}, epochs: map[kraft.ID]kraft.Epoch{},
		states: map[kraft.Offset]uint64{},
	}
}

func (c *checker) committedEnd() kraft.Offset { return c.hw }

// all is run after every event.
func (c *checker) all() {
	for _, n := range c.k.nodes {
		c.durable(n)
		if n.engine != nil {
			c.node(n)
		}
	}
	c.majority()
}

func (c *checker) leads(e kraft.Epoch, id kraft.ID) {
	if old, ok := c.leaders[e]; ok && old != id {
		c.k.fail("two leaders in epoch %d: %d and %d", e, old, id)
	}
	c.leaders[e] = id
}

// durable: an epoch never falls, one leader an epoch, over all disks.
func (c *checker) durable(n *kraftNode) {
	e := n.store.Election()
	if e == nil {
		return
	}
	if e.Epoch < c.epochs[n.id] {
		c.k.fail("the epoch on disk of node %d fell from %d to %d", n.id, c.epochs[n.id], e.Epoch)
	}
	c.epochs[n.id] = e.Epoch
	if e.Leader != kraft.NoID {
		c.leads(e.Epoch, e.Leader)
	}
}

func (c *checker) node(n *kraftNode) {
	s := n.engine.Core().State()
	if s.Role == kraft.Leader {
		c.leads(s.Epoch, n.id)
		if s.Established {
			if s.HighWatermark < c.hw && s.Epoch == c.lastEpoch() {
				c.k.fail("the high watermark fell from %d to %d under leader %d", c.hw, s.HighWatermark, n.id)
			}
			c.hw = max(c.hw, s.HighWatermark)
		}
	}
	if s.HighWatermark > s.Log.End && s.Log.End >= s.Log.Start {
		c.k.fail("node %d: high watermark %d beyond the log's end %d", n.id, s.HighWatermark, s.Log.End)
	}
	if s.Log.Start > 0 && (len(s.Log.Snapshots) == 0 || s.Log.Snapshots[0].Offset != s.Log.Start) {
		c.k.fail("node %d: the log starts at %d, snapshots are %v", n.id, s.Log.Start, s.Log.Snapshots)
	}
}

func (c *checker) lastEpoch() (e kraft.Epoch) {
	for l := range c.leaders {
		e = max(e, l)
	}
	return e
}

// majority: what is committed survives if all power fails now.
func (c *checker) majority() {
	n := 0
	for _, node := range c.k.nodes[:c.k.Voters] {
		if node.store.DurableEnd() >= c.hw {
			n++
		}
	}
	if n <= c.k.Voters/2 {
		c.k.fail("only %d of %d voters have everything below the high watermark %d on disk", n, c.k.Voters, c.hw)
	}
}

// machine is a state that every record changes in a way that depends on all before.
type machine struct {
	n       *kraftNode
	leading bool
	next    int64
	sum     uint64
	count   int
}

func (m *machine) Apply(b quorum.Batch) {
	if b.Base < m.next {
		m.n.k.fail("node %d: batch %d-%d applied twice", m.n.id, b.Base, b.Last)
	}
	h := fnv.New64a()
	fmt.Fprint(h, m.sum)
	for _, r := range b.Records {
		h.Write(r)
	}
	m.next, m.sum, m.count = b.Last+1, h.Sum64(), m.count+1
	m.n.k.check.saw(m.n.id, kraft.Offset(m.next), m.sum)
}

// saw compares one node's state at an offset with everybody's.
func (c *checker) saw(id kraft.ID, at kraft.Offset, sum uint64) {
	if old, ok := c.states[at]; ok && old != sum {
		c.k.fail("committed data differs: node %d at offset %d", id, at)
	}
	c.states[at] = sum
}

func (m *machine) Restore(s *quorum.Snapshot) {
	if m.leading {
		m.n.k.fail("node %d: a snapshot was loaded into a leader", m.n.id)
	}
	recs := slices.Collect(s.Records)
	m.next, m.sum, m.count = s.Offset, 0, 0
	if len(recs) < 2 {
		m.n.k.fail("node %d: snapshot %d has %d records", m.n.id, s.Offset, len(recs))
		return
	}
	m.sum, _ = strconv.ParseUint(string(recs[0]), 10, 64)
	last, _ := strconv.ParseInt(string(recs[1]), 10, 64)
	m.n.k.check.saw(m.n.id, kraft.Offset(last), m.sum)
}

func (m *machine) Lead(w quorum.Writer) {
	if m.leading {
		m.n.k.fail("node %d: told twice that it leads", m.n.id)
	}
	m.leading = true
	if _, err := w.Append([][]byte{[]byte("leading")}); err != nil {
		m.n.k.fail("node %d: a new leader can't write: %v", m.n.id, err)
	}
}

func (m *machine) Follow(quorum.NodeID, int32) { m.leading = false }

func (m *machine) Tick(time.Time, quorum.Writer) time.Time { return time.Time{} }

func (m *machine) Snapshot() func(func([]byte) bool) {
	recs := [][]byte{strconv.AppendUint(nil, m.sum, 10), strconv.AppendInt(nil, m.next, 10)}
	for i := range m.count % 50 {
		recs = append(recs, fmt.Appendf(nil, "filler %d", i))
	}
	return func(yield func([]byte) bool) {
		for _, r := range recs {
			if !yield(r) {
				return
			}
		}
	}
}
