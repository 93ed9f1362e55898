package txn

import (
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// onAdd makes partitions part of the transaction (broker.md 7.3).
func (c *Core) onAdd(in *Add) Output {
	s := c.get(in.ID)
	switch {
	case s == nil || s.producer != in.ProducerID:
		return &Added{Code: kerr.InvalidProducerIDMapping}
	case s.epoch != in.Epoch:
		return &Added{Code: kerr.ProducerFenced}
	case s.preparing():
		return &Added{Code: kerr.ConcurrentTransactions}
	}
	missing := without(in.Topics, s.topics)
	if in.VerifyOnly {
		return &Added{Missing: missing}
	}
	if s.status == record.TxnOngoing && len(missing) == 0 {
		return &Added{}
	}
	n := *s
	n.updated = c.now.UnixMilli()
	if s.status != record.TxnOngoing {
		n.status, n.start = record.TxnOngoing, n.updated
	}
	n.previous, n.client = s.producer, in.Client
	n.topics = union(s.topics, missing)
	c.change(in.ID, &n)
	return &Added{}
}

// bumps says whether a client, or a transaction, gets another epoch at each end (KIP-890, part 2).
func bumps(client int16) bool { return client >= 2 }

// onEnd decides a transaction (broker.md 7.4, 7.5). fresh is an unused producer id, -1 for none.
func (c *Core) onEnd(ref Ref, in *End, fresh int64) {
	s := c.get(in.ID)
	code, acts := planEnd(s, in)
	_, waits := c.parked[in.ID]
	switch {
	case code != kerr.None:
		c.reply(ref, in.Reject(code))
	case !acts:
		c.reply(ref, &Ended{ProducerID: s.producer, Epoch: s.epoch})
	case waits:
		c.reply(ref, in.Reject(kerr.ConcurrentTransactions))
	case bumps(in.Client) && s.exhausted() && fresh < 0:
		c.park(ref, in.ID, in) // the next transaction needs another producer id
	default:
		c.end(ref, in, s, fresh)
	}
}

func (c *Core) end(ref Ref, in *End, s *state, fresh int64) {
	n := *s
	n.status = record.TxnPrepareAbort
	if in.Commit {
		n.status = record.TxnPrepareCommit
	}
	n.updated, n.previous, n.client = c.now.UnixMilli(), s.producer, in.Client
	if !s.open() {
		n.start, n.topics = n.updated, nil
	}
	out := &Ended{ProducerID: s.producer, Epoch: s.epoch}
	if bumps(in.Client) {
		n.epoch, n.lastEpoch = s.epoch+1, s.epoch
		out.Epoch = n.epoch
		if s.exhausted() {
			n.next = fresh
			out.ProducerID, out.Epoch = fresh, 0
		}
	}
	c.change(in.ID, &n)
	c.send(in.ID, &n)
	c.reply(ref, out)
}

// planEnd says whether the request changes anything, or why it may not. A retry changes nothing.
func planEnd(s *state, in *End) (code kerr.Code, acts bool) {
	if s == nil {
		return kerr.InvalidProducerIDMapping, false
	}
	if !bumps(in.Client) {
		return planOldEnd(s, in)
	}
	same := s.producer == in.ProducerID && s.epoch == in.Epoch
	bumped := s.producer == in.ProducerID && s.epoch-1 == in.Epoch
	overflowed := s.producer != in.ProducerID && s.epoch == 0 &&
		s.previous == in.ProducerID && in.Epoch == lastEpoch
	switch {
	case s.producer != in.ProducerID && !overflowed:
		return kerr.InvalidProducerIDMapping, false
	case s.preparing() && bumped:
		return s.planAgain(in), false
	case s.completed():
		return s.planNext(in, same, bumped || overflowed)
	case s.preparing() || !same:
		return kerr.ProducerFenced, false
	case !s.open() && in.Commit:
		return kerr.InvalidTxnState, false
	}
	return kerr.None, true
}

// planAgain answers a request that came before: its transaction is about to end, as it wanted or not.
func (s *state) planAgain(in *End) kerr.Code {
	if in.Commit == (s.status == record.TxnPrepareCommit) {
		return kerr.ConcurrentTransactions
	}
	return kerr.InvalidTxnState
}

// planNext is about a transaction that ended: the request is a retry, or about one that was never added to.
// That one is aborted: what was sent, but lost before it was added, must not turn up later.
func (s *state) planNext(in *End, same, retry bool) (code kerr.Code, acts bool) {
	switch {
	case !same && !retry:
		return kerr.ProducerFenced, false
	case (retry || !bumps(s.client)) && s.ended(in.Commit):
		return kerr.None, false
	case retry || !bumps(s.client) || in.Commit:
		return kerr.InvalidTxnState, false
	}
	return kerr.None, true
}

func (s *state) open() bool { return s.status == record.TxnOngoing }

func (s *state) completed() bool {
	return s.status == record.TxnCompleteCommit || s.status == record.TxnCompleteAbort
}

// ended says whether the last transaction had this outcome.
func (s *state) ended(commit bool) bool {
	if commit {
		return s.status == record.TxnCompleteCommit
	}
	return s.status == record.TxnCompleteAbort
}

// planOldEnd is planEnd for clients from before KIP-890's second part.
func planOldEnd(s *state, in *End) (code kerr.Code, acts bool) {
	switch {
	case s.producer != in.ProducerID:
		return kerr.InvalidProducerIDMapping, false
	case s.epoch != in.Epoch:
		return kerr.ProducerFenced, false
	case s.open():
		return kerr.None, true
	case s.preparing():
		return s.planAgain(in), false
	case s.ended(in.Commit):
		return kerr.None, false
	}
	return kerr.InvalidTxnState, false
}

// onMarkersDone completes a transaction. Late news about an older one changes nothing.
func (c *Core) onMarkersDone(in *MarkersDone) {
	s := c.get(in.ID)
	if s == nil || !s.preparing() || s.producer != in.ProducerID || s.epoch != in.ProducerEpoch {
		return
	}
	n := *s
	n.status = record.TxnCompleteAbort
	if s.status == record.TxnPrepareCommit {
		n.status = record.TxnCompleteCommit
	}
	n.topics, n.updated, n.previous = nil, c.now.UnixMilli(), s.producer
	if s.next >= 0 {
		n.producer, n.epoch, n.next = s.next, 0, -1
	}
	c.change(in.ID, &n)
}
