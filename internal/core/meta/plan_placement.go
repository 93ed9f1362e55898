package meta

import (
	"math/rand/v2"
	"slices"

	"github.com/kalda/kalda/internal/format/kerr"
)

// placer spreads replicas over racks and brokers as Apache's striped placement does (kraft.md 4.7):
// partition n starts one rack and one broker further than partition n-1, from a random start, so that
// leaders and replicas are balanced and no rack holds two replicas while another has none.
type placer struct {
	r        *rand.Rand
	racks    []*rack
	offset   int // rack of the next partition's first replica
	brokers  int
	unfenced int
	placed   int // partitions so far
	shuffled int // placed at the last shuffle
}

type rack struct {
	unfenced, fenced ring
	leads            int // place in unfenced of the next first replica
}

// ring is brokers in an order that starts one further for each partition that takes any of them.
type ring struct {
	ids       []NodeID
	partition int // the newest that took one, from 1
	offset    int // of its first
	next      int // how many it took
}

func (l *ring) take(partition int, taken []NodeID) (NodeID, bool) {
	if l.partition != partition && len(l.ids) > 0 {
		l.partition, l.next, l.offset = partition, 0, (l.offset+1)%len(l.ids)
	}
	for l.next < len(l.ids) {
		n := l.ids[(l.offset+l.next)%len(l.ids)]
		l.next++
		if !slices.Contains(taken, n) {
			return n, true
		}
	}
	return NoNode, false
}

func (l *ring) shuffle(r *rand.Rand) {
	r.Shuffle(len(l.ids), func(i, j int) { l.ids[i], l.ids[j] = l.ids[j], l.ids[i] })
	l.offset = 0
	if len(l.ids) > 0 {
		l.offset = r.IntN(len(l.ids))
	}
}

// placer makes a placer over the brokers that may get replicas now.
func (p *Planner) placer() *placer {
	pl := &placer{r: p.Rand}
	byName := map[string]*rack{}
	for b := range p.Image.Brokers() {
		if b.InControlledShutdown || b.allCordoned() {
			continue
		}
		k := byName[b.Rack]
		if k == nil {
			k = &rack{}
			byName[b.Rack] = k
		}
		pl.brokers++
		if b.Fenced {
			k.fenced.ids = append(k.fenced.ids, b.ID)
		} else {
			k.unfenced.ids = append(k.unfenced.ids, b.ID)
			pl.unfenced++
		}
	}
	for _, name := range sortedKeys(byName) {
		pl.racks = append(pl.racks, byName[name])
	}
	pl.shuffle()
	return pl
}

func (b *Broker) allCordoned() bool {
	if len(b.CordonedLogDirs) == 0 || len(b.LogDirs) == 0 {
		return false
	}
	return !slices.ContainsFunc(b.LogDirs, func(d UUID) bool { return !slices.Contains(b.CordonedLogDirs, d) })
}

func (pl *placer) shuffle() {
	pl.shuffled = pl.placed
	for _, k := range pl.racks {
		k.unfenced.shuffle(pl.r)
		k.fenced.shuffle(pl.r)
	}
	if len(pl.racks) > 0 {
		pl.offset = pl.r.IntN(len(pl.racks))
	}
}

func (pl *placer) place(partitions, replicas int) ([][]NodeID, Failure) {
	fail := func(format string, args ...any) ([][]NodeID, Failure) {
		why := failf(kerr.InvalidReplicationFactor, format, args...)
		return nil, failf(why.Code, "Unable to replicate the partition %d time(s): %s", replicas, why.Message)
	}
	switch {
	case replicas < 1:
		return fail("Invalid replication factor %d: the replication factor must be positive.", replicas)
	case pl.unfenced == 0:
		return fail("All brokers are currently fenced, or have all their log directories cordoned.")
	case replicas > pl.brokers:
		return fail("The target replication factor of %d cannot be reached because only %d broker(s) are "+
			"registered or some brokers have all their log directories cordoned.", replicas, pl.brokers)
	}
	out := make([][]NodeID, partitions)
	for i := range out {
		out[i] = pl.one(replicas)
	}
	return out, Failure{}
}

func (pl *placer) one(replicas int) []NodeID {
	if pl.placed-pl.shuffled == pl.unfenced && pl.unfenced > 1 {
		pl.shuffle()
	}
	pl.placed++
	out := make([]NodeID, 0, replicas)
	first := pl.offset
	for {
		// First replicas lead: they go round by themselves, so that each broker of a rack leads equally often.
		if k := pl.racks[first]; len(k.unfenced.ids) > 0 {
			out = append(out, k.unfenced.ids[k.leads%len(k.unfenced.ids)])
			k.leads++
			break
		}
		first = (first + 1) % len(pl.racks)
	}
	for at, skipped := pl.offset, false; len(out) < replicas; at = (at + 1) % len(pl.racks) {
		if at == first && !skipped {
			skipped = true
			continue
		}
		k := pl.racks[at]
		if n, ok := k.unfenced.take(pl.placed, out); ok {
			out = append(out, n)
		} else if n, ok := k.fenced.take(pl.placed, out); ok {
			out = append(out, n)
		}
	}
	pl.offset = (pl.offset + 1) % len(pl.racks)
	return out
}
