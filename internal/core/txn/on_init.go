package txn

import (
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// onInit gives out a producer id and epoch (broker.md 7.2). fresh is an unused producer id, -1 for none.
func (c *Core) onInit(ref Ref, in *Init, fresh int64) {
	if in.Timeout <= 0 || in.Timeout > c.cfg.MaxTimeout {
		c.reply(ref, in.Reject(kerr.InvalidTransactionTimeout))
		return
	}
	if _, waits := c.parked[in.ID]; waits {
		c.reply(ref, in.Reject(kerr.ConcurrentTransactions))
		return
	}
	s := c.get(in.ID)
	if fresh < 0 && (s == nil || s.rotates(in)) {
		c.park(ref, in.ID, in)
		return
	}
	if s == nil {
		s = &state{producer: fresh, epoch: -1, lastEpoch: -1, previous: fresh, next: -1, start: -1}
	}
	next, code := c.planInit(s, in, fresh)
	if next != nil {
		c.change(in.ID, next)
	}
	if code != kerr.None {
		if next != nil && next.preparing() {
			c.send(in.ID, next)
		}
		c.reply(ref, in.Reject(code))
		return
	}
	c.reply(ref, &Inited{ProducerID: next.producer, Epoch: next.epoch})
}

// park has a request wait for a producer id.
func (c *Core) park(ref Ref, id string, in Input) {
	c.parked[id] = parked{ref, in}
	c.effects.NeedIDs = append(c.effects.NeedIDs, id)
}

// onGotID goes on with who waited: from the start, because much may have happened.
func (c *Core) onGotID(in *GotID) {
	p, waits := c.parked[in.ID]
	if !waits {
		return
	}
	delete(c.parked, in.ID)
	if in.Code != kerr.None {
		c.reply(p.ref, p.in.Reject(in.Code))
		return
	}
	c.again(p, in.ProducerID)
}

func (c *Core) again(p parked, fresh int64) {
	switch in := p.in.(type) {
	case *Init:
		c.onInit(p.ref, in, fresh)
	case *End:
		c.onEnd(p.ref, in, fresh)
	}
}

// rotates says whether the id needs another producer id, because this one has no more epochs.
func (s *state) rotates(in *Init) bool {
	idle := !s.preparing() && !s.open()
	return idle && s.exhausted() && s.owns(in) && (in.ProducerID < 0 || in.Epoch == s.epoch)
}

// owns says whether the client may speak for the transactional id: it has nothing yet, or the current
// producer id, or the one before whose epochs are used up, when the answer with the new one got lost.
func (s *state) owns(in *Init) bool {
	return in.ProducerID < 0 || s.epoch < 0 || in.ProducerID == s.producer ||
		in.ProducerID == s.previous && in.Epoch >= lastEpoch
}

// planInit decides what becomes of the id; with a state and an error, the state is written all the same.
func (c *Core) planInit(s *state, in *Init, fresh int64) (*state, kerr.Code) {
	switch {
	case !s.owns(in):
		return nil, kerr.ProducerFenced
	case s.preparing():
		return nil, kerr.ConcurrentTransactions
	case s.open():
		// The transaction is aborted first, with an epoch that nobody is told. The client comes again.
		return c.planFence(s), kerr.ConcurrentTransactions
	}
	n := *s
	n.timeout = int32(in.Timeout.Milliseconds())
	n.status, n.topics, n.start, n.updated = record.TxnEmpty, nil, -1, c.now.UnixMilli()
	n.previous, n.next, n.client = s.producer, -1, 0
	asserts := in.ProducerID >= 0
	switch {
	case s.rotates(in):
		n.producer, n.epoch, n.lastEpoch = fresh, 0, -1
		if asserts {
			n.lastEpoch = s.epoch
		}
	case !asserts:
		n.epoch, n.lastEpoch = s.epoch+1, -1
	case s.epoch < 0, in.Epoch == s.epoch:
		n.epoch, n.lastEpoch = s.epoch+1, s.epoch
	case in.Epoch == s.lastEpoch:
		n.previous = s.previous // again: its first answer got lost
	default:
		return nil, kerr.ProducerFenced
	}
	return &n, kerr.None
}

// planFence aborts a transaction over its producer's head: the epoch is bumped, once in every
// transaction.version (KAFKA-19367).
func (c *Core) planFence(s *state) *state {
	n := *s
	n.status, n.updated = record.TxnPrepareAbort, c.now.UnixMilli()
	n.epoch, n.lastEpoch, n.previous, n.next = s.epoch+1, -1, s.producer, -1
	return &n
}
