package group

import (
	"slices"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// Txn is a producer's transaction, as far as the log under the groups needs to know.
type Txn struct {
	ProducerID    int64
	ProducerEpoch int16
	Guard         uint64 // what lets the transaction's first batch in; see replica.Guard
	Marker        bool   // the records end it
	Version       int8   // of a marker: transaction.version
}

// TxnCommit is Commit inside of a producer's transaction: the offsets count when it is committed.
type TxnCommit struct {
	Commit
	ProducerID    int64
	ProducerEpoch int16
	Guard         uint64
}

// EndTxn ends a producer's transaction here.
type EndTxn struct {
	ProducerID       int64
	ProducerEpoch    int16
	Committed        bool
	CoordinatorEpoch int32
	Version          int8
}

// Reject is a Status.
func (*EndTxn) Reject(c kerr.Code) Output { return &Status{Code: tooLarge(c)} }

// onTxnCommit notes offsets that the end of the producer's transaction decides about (broker.md 7.7).
func (c *Core) onTxnCommit(in *TxnCommit) Output {
	if tooLong(in.Group) {
		return &Codes{Code: kerr.InvalidGroupID}
	}
	g := c.group(in.Group)
	if code := c.checkTxnCommit(g, in); code != kerr.None {
		return &Codes{Code: code}
	}
	created := g == nil
	out := &Codes{Each: make([]kerr.Code, len(in.Offsets))}
	var undo []undoPending
	for i := range in.Offsets {
		o := &in.Offsets[i]
		if len(o.Metadata) > c.cfg.MaxMetadata {
			out.Each[i] = kerr.OffsetMetadataTooLarge
			continue
		}
		if g == nil {
			g = c.newGroup(in.Group)
		}
		old := c.txns[in.ProducerID][groupPartition{g.id, o.TopicPartition}]
		undo = append(undo, undoPending{o.TopicPartition, old})
		c.pendOffset(g, o, in.ProducerID)
	}
	if len(undo) == 0 {
		return out
	}
	if m := g.member(in.Member); m != nil && (g.state == stable || g.state == preparing) {
		c.touch(m)
	}
	c.effects.Txn = &Txn{ProducerID: in.ProducerID, ProducerEpoch: in.ProducerEpoch, Guard: in.Guard}
	c.onUndo(func() { c.revertPending(g, in.ProducerID, undo, created) })
	return out
}

// checkTxnCommit is checkCommit with two differences: a producer that asserts no membership may commit in any
// state, as before KIP-447, and the group need not have completed its rebalance.
func (c *Core) checkTxnCommit(g *group, in *TxnCommit) kerr.Code {
	if in.Generation < 0 && in.Member == "" && in.Instance == nil {
		return kerr.None
	}
	if g == nil {
		if in.Generation < 0 {
			return kerr.None
		}
		return kerr.IllegalGeneration
	}
	if len(g.foreign) > 0 {
		return kerr.UnknownMemberID
	}
	if g.consumers != nil {
		return checkConsumerTxnCommit(g.consumers, in)
	}
	if in.Generation < 0 && g.state == empty {
		return kerr.None
	}
	if code := g.validate(in.Member, in.Instance); code != kerr.None {
		return code
	}
	if in.Generation != g.generation {
		return kerr.IllegalGeneration
	}
	return kerr.None
}

// checkConsumerTxnCommit is about a member of the consumer protocol; the reply has no word for a stale epoch.
func checkConsumerTxnCommit(s *consumers, in *TxnCommit) kerr.Code {
	asks := in.Commit
	asks.Epochs = true
	code := s.checkCommit(&asks)
	if code == kerr.StaleMemberEpoch {
		return kerr.IllegalGeneration
	}
	return code
}

func (c *Core) pendOffset(g *group, o *CommitOffset, producer int64) {
	c.order++
	x := &offset{
		at: o.Offset, epoch: o.LeaderEpoch, metadata: o.Metadata, committed: c.millis(),
		expires: record.NoExpiry, topicID: o.TopicID, order: c.order,
	}
	v := record.OffsetValue{
		Version: 4, Offset: x.at, LeaderEpoch: x.epoch, Metadata: x.metadata, CommitTimestamp: x.committed,
		TopicID: x.topicID,
	}
	c.pend(g, o.TopicPartition, producer, x)
	k := record.GroupKey{Kind: record.KindOffsetCommit, Group: g.id, Topic: o.Topic, Partition: o.Partition}
	c.write(k.Encode(), v.Encode())
}

// undoPending is what a transaction wanted to commit before; nil is nothing.
type undoPending struct {
	TopicPartition
	old *offset
}

func (c *Core) revertPending(g *group, producer int64, undo []undoPending, created bool) {
	for _, u := range slices.Backward(undo) {
		if u.old != nil {
			c.pend(g, u.TopicPartition, producer, u.old)
		} else {
			c.unpend(g, u.TopicPartition, producer)
		}
	}
	if created {
		c.dropGroup(g)
	}
}

// unpend takes one offset out of a producer's transaction.
func (c *Core) unpend(g *group, tp TopicPartition, producer int64) {
	delete(c.txns[producer], groupPartition{g.id, tp})
	if len(c.txns[producer]) == 0 {
		delete(c.txns, producer)
	}
	if g.unstable[tp]--; g.unstable[tp] <= 0 {
		delete(g.unstable, tp)
	}
}

// onEndTxn writes the marker, with which the transaction's offsets count or are gone.
func (c *Core) onEndTxn(in *EndTxn) Output {
	r := record.TxnMarker(in.Committed, in.CoordinatorEpoch)
	c.write(r.Key, r.Value)
	c.effects.Txn = &Txn{
		ProducerID: in.ProducerID, ProducerEpoch: in.ProducerEpoch, Marker: true, Version: in.Version,
	}
	pending := c.txns[in.ProducerID]
	var undo []undoEnd
	for gp := range pending { // every one is about another partition: the order doesn't matter
		if g := c.group(gp.group); g != nil {
			undo = append(undo, undoEnd{g, gp.TopicPartition, g.offsets[gp.TopicPartition], pending[gp]})
		}
	}
	c.onUndo(func() { c.revertEnd(in.ProducerID, undo) })
	c.ReplayEnd(in.ProducerID, in.Committed)
	return &Status{}
}

// undoEnd is an offset that the end of a transaction decided about.
type undoEnd struct {
	g *group
	TopicPartition
	old, pending *offset
}

func (c *Core) revertEnd(producer int64, undo []undoEnd) {
	for _, u := range undo {
		if c.group(u.g.id) == nil {
			c.groups.Set(u.g.id, u.g)
		}
		if u.old != nil {
			u.g.offsets[u.TopicPartition] = u.old
		} else {
			delete(u.g.offsets, u.TopicPartition)
		}
		c.pend(u.g, u.TopicPartition, producer, u.pending)
	}
}
