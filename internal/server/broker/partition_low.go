package broker

import (
	"slices"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// LowWatermark is the offset below which no live replica has anything any more (KIP-107).
func (p *Partition) LowWatermark() batch.Offset {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.low()
}

// low is LowWatermark under mu. A follower that never fetched may have everything.
func (p *Partition) low() batch.Offset {
	o := p.LogStart()
	img := p.b.Image()
	for _, id := range p.role.Load().Replicas {
		if id == p.b.cfg.NodeID || !img.Broker(id).Active() {
			continue
		}
		f, known := p.followers[id]
		if !known {
			return -1
		}
		o = min(o, f.start)
	}
	return o
}

// awaitLow calls fn once, as Await does: when the low watermark has come to offset. Not if leave, which it
// returns, is called first.
func (p *Partition) awaitLow(offset batch.Offset, fn func(kerr.Code)) (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.IsLeader():
		fn(kerr.NotLeaderOrFollower)
	case p.low() >= offset:
		fn(kerr.None)
	default:
		w := &await{offset, fn}
		p.lows = append(p.lows, w)
		return func() { p.leaveLows(w) }
	}
	return func() {}
}

func (p *Partition) leaveLows(w *await) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lows = slices.DeleteFunc(p.lows, func(a *await) bool { return a == w })
}

// fireLows answers those for whom the low watermark has come far enough. Under mu.
func (p *Partition) fireLows() {
	if len(p.lows) == 0 {
		return
	}
	low := p.low()
	p.lows = slices.DeleteFunc(p.lows, func(a *await) bool {
		if a.offset > low {
			return false
		}
		a.fn(kerr.None)
		return true
	})
}
