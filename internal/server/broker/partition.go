package broker

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// Partition is one partition that this node hosts.
//
// mu serialises whoever changes it: appends, and changes of its role. Readers take what they need from
// atomics and from the log, which has its own rules. Lock order: mu, then the log's, then waits.mu.
type Partition struct {
	b     *Broker
	topic string
	id    meta.UUID
	n     int32

	log   *seglog.Log // nil: its directory failed, and the partition is offline
	dir   *logDir
	role  atomic.Pointer[role]
	rules atomic.Pointer[topicRules]
	hw    atomic.Int64
	lso   atomic.Int64 // meaningful once known
	known atomic.Bool  // producers are loaded

	mu        sync.Mutex
	gone      bool // deleted, or the broker closes
	producers *replica.Producers
	followers map[meta.NodeID]follower // the other replicas' logs, while leading
	snapshot  batch.Offset             // up to which a producer snapshot was written
	awaits    []await                  // by offset
	lows      []*await                 // who waits for the low watermark, in no order

	waits waiters
}

// role is what metadata says about the partition. Immutable.
type role struct {
	meta.Partition
	leading    bool
	epochStart batch.Offset // end of the log when this node began to lead in this epoch
}

// follower is how far another replica's log reaches, from its last fetch.
type follower struct{ start, end batch.Offset }

// await is somebody who waits for the high watermark.
type await struct {
	offset batch.Offset
	fn     func(kerr.Code)
}

func (a await) compare(o batch.Offset) int { return cmp.Compare(a.offset, o) }

// Topic is the topic's name.
func (p *Partition) Topic() string { return p.topic }

// ID is the topic's id.
func (p *Partition) ID() meta.UUID { return p.id }

// Number is the partition's number in its topic.
func (p *Partition) Number() int32 { return p.n }

func (p *Partition) String() string { return fmt.Sprintf("%s-%d", p.topic, p.n) }

// Log is the partition's log; nil if its directory failed.
func (p *Partition) Log() *seglog.Log { return p.log }

// LEO is the offset that the next record gets.
func (p *Partition) LEO() batch.Offset {
	if p.log == nil {
		return -1
	}
	return p.log.EndOffset()
}

// HW is the high watermark: everything below it is committed.
func (p *Partition) HW() batch.Offset { return batch.Offset(p.hw.Load()) }

// LogStart is the first offset.
func (p *Partition) LogStart() batch.Offset {
	if p.log == nil {
		return -1
	}
	return p.log.StartOffset()
}

// IsLeader tells whether this node leads the partition.
func (p *Partition) IsLeader() bool { return p.role.Load().leading }

// LeaderEpoch is the epoch of the leader that is known here.
func (p *Partition) LeaderEpoch() int32 { return p.role.Load().LeaderEpoch }

// fence checks the leader epoch that a request was made with; -1 is none (broker.md 3.12).
func (r *role) fence(epoch int32) kerr.Code {
	switch {
	case epoch < 0 || epoch == r.LeaderEpoch:
		return kerr.None
	case epoch < r.LeaderEpoch:
		return kerr.FencedLeaderEpoch
	}
	return kerr.UnknownLeaderEpoch
}

// minISR is the effective min.insync.replicas.
func (p *Partition) minISR(r *role) int { return min(p.rules.Load().minISR, len(r.Replicas)) }

// lead begins or goes on with leading, as metadata now says. Under mu.
func (p *Partition) lead(r *role, old *role) {
	if old == nil || !old.leading || old.LeaderEpoch != r.LeaderEpoch {
		p.followers = nil
		r.epochStart = p.log.EndOffset()
		p.log.AssignEpoch(batch.Epoch(r.LeaderEpoch), r.epochStart)
	} else {
		r.epochStart = old.epochStart
	}
	p.role.Store(r)
	p.fireLows()
	wake(p.advance(0))
}

// setRole takes what metadata says. It reports whether leadership began or ended.
func (p *Partition) setRole(m *meta.Partition) (began, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.role.Load()
	r := &role{Partition: *m}
	r.leading = m.Leader == p.b.cfg.NodeID && p.log != nil && !p.gone
	was := old != nil && old.leading
	if r.leading {
		p.lead(r, old)
		return !was || old.LeaderEpoch != r.LeaderEpoch, false
	}
	p.role.Store(r)
	if was {
		p.release(kerr.NotLeaderOrFollower)
	}
	return false, was
}

// release tells everybody who waits that it is of no use. Under mu.
func (p *Partition) release(code kerr.Code) {
	for i := range p.awaits {
		p.awaits[i].fn(code)
	}
	for i := range p.lows {
		p.lows[i].fn(code)
	}
	p.awaits, p.lows = nil, nil
	p.waits.wakeAll()
}

// advance moves the high watermark to where the in-sync replicas are, and wakes whoever waited for it, but
// for one fetch (see waiters.wake); bytes is how much more there is to read. Under mu, leading.
func (p *Partition) advance(bytes int) (resume *wire.Conn) {
	r := p.role.Load()
	end := p.log.EndOffset()
	if len(r.ISR) > 1 {
		for _, id := range r.ISR {
			if id != p.b.cfg.NodeID {
				end = min(end, p.followers[id].end)
			}
		}
	}
	if end <= p.HW() || len(r.ISR) < p.minISR(r) {
		return nil
	}
	p.hw.Store(int64(end))
	p.stable()
	if len(p.awaits) > 0 {
		p.fireAwaits(end)
	}
	return p.waits.wake(bytes)
}

func (p *Partition) fireAwaits(end batch.Offset) {
	n := 0
	for n < len(p.awaits) && p.awaits[n].offset <= end {
		p.awaits[n].fn(kerr.None)
		n++
	}
	p.awaits = slices.Delete(p.awaits, 0, n)
}

// Await calls fn once: with None when everything below offset is committed, with NotLeaderOrFollower when
// this node stops leading. It may call fn before it returns, or later while locks are held: fn only takes
// note.
func (p *Partition) Await(offset batch.Offset, fn func(kerr.Code)) {
	if p.HW() >= offset && p.IsLeader() {
		fn(kerr.None)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.IsLeader():
		fn(kerr.NotLeaderOrFollower)
	case p.HW() >= offset:
		fn(kerr.None)
	default:
		i, _ := slices.BinarySearchFunc(p.awaits, offset+1, await.compare)
		p.awaits = slices.Insert(p.awaits, i, await{offset, fn})
	}
}

// followed notes where a follower's log starts and ends, from its fetch.
func (p *Partition) followed(id meta.NodeID, f follower) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.role.Load()
	if !r.leading || !slices.Contains(r.Replicas, id) {
		return
	}
	if p.followers == nil {
		p.followers = make(map[meta.NodeID]follower, len(r.Replicas))
	}
	p.followers[id] = f
	p.fireLows()
	wake(p.advance(1))
}
