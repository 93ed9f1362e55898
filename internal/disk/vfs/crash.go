package vfs

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Crash is what a power cut now could leave on the disk, chosen by seed. What was synced is there. What
// wasn't: with seed 0 it is lost, with seed 1 it is kept; with any other, each directory keeps its first few
// changes, and of each file's writes some are kept, some lost (leaving a hole of zeros if a later one is
// kept), some torn. The file system itself goes on.
func (m *Mem) Crash(seed uint64) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &crash{seed: seed, rnd: rand.New(rand.NewPCG(seed, 0)), done: map[*node]*node{}}
	return &Mem{root: c.clone(m.root), locks: map[string]bool{}, now: m.now, boot: m.boot + 1}
}

// Kill is what the death of all processes would leave: everything that was written, durable or not.
func (m *Mem) Kill() *Mem {
	c := m.Crash(1)
	c.boot = m.boot
	return c
}

type crash struct {
	seed uint64
	rnd  *rand.Rand
	done map[*node]*node // a file may be reached under two names
}

// keep is how many of n ordered steps survive.
func (c *crash) keep(n int) int {
	switch c.seed {
	case 0:
		return 0
	case 1:
		return n
	}
	return c.rnd.IntN(n + 1)
}

func (c *crash) clone(n *node) *node {
	if o := c.done[n]; o != nil {
		return o
	}
	o := &node{mode: n.mode, mtime: n.mtime}
	c.done[n] = o
	if n.names == nil {
		o.data = c.content(n)
		o.disk = slices.Clone(o.data)
		return o
	}
	names := maps.Clone(n.diskNames)
	for _, e := range n.edits[:c.keep(len(n.edits))] {
		applyEdit(names, e)
	}
	o.names = map[string]*node{}
	for _, name := range slices.Sorted(maps.Keys(names)) { // in order, for the seed's sake
		o.names[name] = c.clone(names[name])
	}
	o.diskNames = maps.Clone(o.names)
	return o
}

func (c *crash) content(n *node) []byte {
	b := slices.Clone(n.disk)
	for _, w := range n.writes {
		switch {
		case c.seed == 0:
			continue
		case c.seed == 1:
		case c.rnd.IntN(3) == 0:
			continue
		case len(w.data) > 1 && c.rnd.IntN(3) == 0:
			w.data = w.data[:c.rnd.IntN(len(w.data))]
		}
		b = applyWrite(b, w)
	}
	return b
}
