package replica

import (
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// Guard stands for one verification of a producer's transaction with its coordinator (KIP-890). It closes a
// hole: a batch that is late, and arrives after the marker that ended its transaction, would open one that
// nobody ever ends. A batch that opens a transaction needs the guard of a verification that no marker has
// crossed.
type Guard uint64

// Trusted is the guard of batches that need none: verification is off.
const Trusted Guard = 1<<64 - 1

type guard struct {
	id    Guard
	since int64 // ms
}

// Verify says whether the producer's transaction must be verified before its next batch is appended, and the
// guard to append it with.
func (p *Producers) Verify(id int64, epoch int16, now int64) (g Guard, needed bool) {
	if p.byID[id].inTxn(epoch) {
		return 0, false
	}
	if old, pending := p.guards[id]; pending {
		return old.id, true
	}
	if p.guards == nil {
		p.guards = map[int64]guard{}
	}
	p.lastGuard++
	p.guards[id] = guard{p.lastGuard, now}
	return p.lastGuard, true
}

// Unverified ends a verification that failed.
func (p *Producers) Unverified(id int64, g Guard) {
	if p.guards[id].id == g {
		delete(p.guards, id)
	}
}

func (p *Producers) verified(id int64, g Guard) bool {
	return g == Trusted || g != 0 && p.guards[id].id == g
}

func (p *Producers) expireGuards(now, retention int64) {
	for id, g := range p.guards {
		if now-g.since >= retention {
			delete(p.guards, id)
		}
	}
}

// CheckMarker decides whether a transaction's marker may be appended: the marker of an older incarnation of
// the producer, or from an older coordinator, may not (broker.md 4.6). Since transaction.version 2 a marker's
// epoch is greater than that of the data; an equal one is the same marker again, whose answer got lost.
func (p *Producers) CheckMarker(id int64, epoch int16, coordinator int32, version int8) kerr.Code {
	known := p.byID[id]
	switch {
	case known == nil:
		return kerr.None
	case epoch < known.epoch, version >= 2 && known.inTxn(epoch):
		return kerr.InvalidProducerEpoch
	case coordinator < known.coordinatorEpoch:
		return kerr.TransactionCoordinatorFenced
	}
	return kerr.None
}

// Active lists the producers, those that appended longest ago first.
func (p *Producers) Active() []batch.ProducerEntry {
	all := make([]batch.ProducerEntry, 0, len(p.byID))
	for q := p.oldest; q != nil; q = q.newer {
		all = append(all, q.entry())
	}
	return all
}
