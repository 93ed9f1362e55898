package broker

import (
	"slices"
	"sync/atomic"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// The versions of Produce whose clients know TRANSACTION_ABORTABLE, and from which on a batch adds its
// partition to the transaction by itself (KIP-890).
const (
	produceAbortable = 11
	produceAdds      = 12
)

// mustVerify decides about a transaction's batch: whether it must wait until the coordinator was asked. If it
// can't be appended at all, its code is set.
func (q *produce) mustVerify(p *producePart, v batch.View) bool {
	if q.txn == nil {
		p.appended = refused(kerr.TransactionalIDAuthorizationFailed)
		return true
	}
	g, needed, code := p.part.verify(v.ProducerID(), v.ProducerEpoch(), v)
	if code != kerr.None {
		p.appended = refused(code)
		return true
	}
	p.guard = g
	if !needed {
		return false
	}
	if q.verify == nil {
		q.verify = &verification{
			id: string(q.txn), producer: v.ProducerID(), epoch: v.ProducerEpoch(), add: q.version >= produceAdds,
		}
	}
	if q.verify.producer != v.ProducerID() || q.verify.epoch != v.ProducerEpoch() {
		p.appended = refused(kerr.InvalidProducerIDMapping) // a request is one producer's
		return true
	}
	q.verify.parts = append(q.verify.parts, unverified{p.part, g})
	p.records = slices.Clone(p.records) // the request's bytes end with this call
	p.unsure = true
	return true
}

// parkVerify waits for the coordinator, and then appends what waited for it.
func (q *produce) parkVerify(r *wire.Request) {
	q.keepNames()
	v := q.verify
	var codes atomic.Pointer[[]kerr.Code]
	conn := r.Waker()
	q.b.verify(v, func(c []kerr.Code) {
		codes.Store(&c)
		conn.Wake()
	})
	resume := func(r *wire.Request) {
		c := codes.Load()
		if c == nil {
			return
		}
		q.verify = nil
		q.appendVerified(*c)
		q.goOn(r)
	}
	if codes.Load() != nil {
		resume(r)
		return
	}
	r.Park(q.until, resume)
}

// appendVerified appends what the coordinator knows of. codes are by the order of the parts that waited.
func (q *produce) appendVerified(codes []kerr.Code) {
	now := q.b.cfg.Now().UnixMilli()
	for i := range q.parts {
		p := &q.parts[i]
		if !p.unsure {
			continue
		}
		p.unsure = false
		code := codes[0]
		codes = codes[1:]
		if code == kerr.TransactionAbortable && q.version < produceAbortable {
			code = kerr.InvalidTxnState
		}
		if code == kerr.None {
			v, _, _ := batch.Next(p.records) // as append did
			q.put(p, v, now)
		} else {
			p.appended = refused(code)
		}
		if p.code != kerr.None {
			q.count(p)
		}
	}
}
