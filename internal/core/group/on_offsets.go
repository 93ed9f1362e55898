package group

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// offset is one committed offset.
type offset struct {
	at        int64
	epoch     int32
	metadata  string
	committed int64 // ms
	expires   int64 // ms; record.NoExpiry
	topicID   UUID
	order     uint64 // where its record stands in the log, compared with the others
}

// pendingOffsets are what one producer's open transaction will commit.
type pendingOffsets map[groupPartition]*offset

type groupPartition struct {
	group string
	TopicPartition
}

func compareTopicPartition(a, b TopicPartition) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}

func (c *Core) onCommit(in *Commit) Output {
	if tooLong(in.Group) {
		return &Codes{Code: kerr.InvalidGroupID}
	}
	g := c.group(in.Group)
	if code := c.checkCommit(g, in); code != kerr.None {
		return &Codes{Code: code}
	}
	created := g == nil
	out := &Codes{Each: make([]kerr.Code, len(in.Offsets))}
	undo := make([]undoOffset, 0, len(in.Offsets))
	for i := range in.Offsets {
		o := &in.Offsets[i]
		if len(o.Metadata) > c.cfg.MaxMetadata || in.Retention >= 0 && len(o.Metadata) > math.MaxInt16 {
			out.Each[i] = kerr.OffsetMetadataTooLarge
			continue
		}
		if g == nil {
			g = c.newGroup(in.Group)
		}
		undo = append(undo, undoOffset{TopicPartition: o.TopicPartition, old: g.offsets[o.TopicPartition]})
		c.putOffset(g, o, in.Retention)
	}
	if g == nil {
		return out
	}
	if m := g.member(in.Member); m != nil && (g.state == stable || g.state == preparing) {
		c.touch(m)
	}
	if len(undo) > 0 {
		c.onUndo(func() { c.revertOffsets(g, undo, created) })
	}
	return out
}

func (c *Core) checkCommit(g *group, in *Commit) kerr.Code {
	if g == nil {
		switch {
		case in.Generation < 0:
			return kerr.None // a simple group is made
		case in.Epochs:
			return kerr.GroupIDNotFound
		}
		return kerr.IllegalGeneration
	}
	if len(g.foreign) > 0 {
		if in.Generation < 0 && in.Member == "" && !g.foreignMembers() {
			return kerr.None
		}
		return kerr.UnknownMemberID
	}
	if g.consumers != nil {
		return g.consumers.checkCommit(in)
	}
	if in.Generation < 0 && g.state == empty {
		return kerr.None // an administrator, or a consumer that assigns itself
	}
	if in.Generation < 0 && in.Member == "" && in.Instance == nil {
		return kerr.UnknownMemberID // not while somebody else is responsible
	}
	if code := g.validate(in.Member, in.Instance); code != kerr.None {
		return code
	}
	if in.Generation != g.generation {
		return kerr.IllegalGeneration
	}
	if g.state == completing {
		return kerr.RebalanceInProgress
	}
	return kerr.None
}

func (c *Core) putOffset(g *group, o *CommitOffset, retention time.Duration) {
	c.order++
	x := &offset{
		at:        o.Offset,
		epoch:     o.LeaderEpoch,
		metadata:  o.Metadata,
		committed: c.millis(),
		expires:   record.NoExpiry,
		topicID:   o.TopicID,
		order:     c.order,
	}
	v := record.OffsetValue{
		Version:         4,
		Offset:          x.at,
		LeaderEpoch:     x.epoch,
		Metadata:        x.metadata,
		CommitTimestamp: x.committed,
		TopicID:         x.topicID,
	}
	if retention >= 0 {
		x.expires = x.committed + retention.Milliseconds()
		v.Version, v.ExpireTimestamp = 1, x.expires
	}
	g.offsets[o.TopicPartition] = x
	k := record.GroupKey{Kind: record.KindOffsetCommit, Group: g.id, Topic: o.Topic, Partition: o.Partition}
	c.write(k.Encode(), v.Encode())
}

// buryOffset forgets an offset, and what open transactions wanted to make of it.
func (c *Core) buryOffset(g *group, tp TopicPartition) undoOffset {
	k := record.GroupKey{Kind: record.KindOffsetCommit, Group: g.id, Topic: tp.Topic, Partition: tp.Partition}
	c.write(k.Encode(), nil)
	u := undoOffset{tp, g.offsets[tp], c.dropUnstable(g, tp)}
	delete(g.offsets, tp)
	return u
}

// undoOffset is what stood where a commit or a tombstone is now; nil is nothing.
type undoOffset struct {
	TopicPartition
	old     *offset
	pending map[int64]*offset // by producer
}

func (c *Core) revertOffsets(g *group, undo []undoOffset, created bool) {
	for _, u := range slices.Backward(undo) {
		if u := u; u.old != nil {
			g.offsets[u.TopicPartition] = u.old
		} else {
			delete(g.offsets, u.TopicPartition)
		}
		for producer, o := range u.pending {
			c.pend(g, u.TopicPartition, producer, o)
		}
	}
	if created {
		c.dropGroup(g)
	}
}

func (c *Core) onFetch(in *Fetch) Output {
	g := c.group(in.Group)
	if g != nil && len(g.foreign) > 0 && in.MemberEpoch >= 0 {
		return &Fetched{Code: kerr.UnknownMemberID}
	}
	if g != nil && g.consumers != nil {
		if code := g.consumers.checkFetch(in); code != kerr.None {
			return &Fetched{Code: code}
		}
	}
	ask := in.Partitions
	if in.All {
		ask = nil
		if g != nil {
			ask = g.committed()
		}
	}
	out := &Fetched{Offsets: make([]FetchedOffset, len(ask))}
	for i, tp := range ask {
		o := &out.Offsets[i]
		*o = FetchedOffset{TopicPartition: tp, Offset: -1, LeaderEpoch: -1}
		if g == nil {
			continue
		}
		if in.RequireStable && g.unstable[tp] > 0 {
			o.Code = kerr.UnstableOffsetCommit
		} else if x := g.offsets[tp]; x != nil {
			o.Offset, o.LeaderEpoch, o.Metadata = x.at, x.epoch, x.metadata
		}
	}
	return out
}

// committed are the partitions that have an offset, in order.
func (g *group) committed() []TopicPartition {
	tps := make([]TopicPartition, 0, len(g.offsets))
	for tp := range g.offsets {
		tps = append(tps, tp)
	}
	slices.SortFunc(tps, compareTopicPartition)
	return tps
}

func (c *Core) onDeleteOffsets(in *DeleteOffsets) Output {
	g := c.group(in.Group)
	if g == nil {
		return &Codes{Code: kerr.GroupIDNotFound}
	}
	if g.state != empty && g.protocolType != consumerType { // never so in groups of the newer protocols
		return &Codes{Code: kerr.NonEmptyGroup}
	}
	out := &Codes{Each: make([]kerr.Code, len(in.Partitions))}
	var gone []TopicPartition
	for i, tp := range in.Partitions {
		if g.wants(tp.Topic) {
			out.Each[i] = kerr.GroupSubscribedToTopic
		} else if g.offsets[tp] != nil {
			gone = append(gone, tp)
		}
	}
	c.buryOffsets(g, gone)
	return out
}

// wants says whether members of whatever protocol may need the group's offsets of a topic.
func (g *group) wants(topic string) bool {
	if len(g.foreign) > 0 {
		return g.foreignMembers()
	}
	if g.consumers != nil {
		return g.consumers.wants(topic)
	}
	return g.state != empty && g.consumes(topic)
}

// buryOffsets writes tombstones, with a way back.
func (c *Core) buryOffsets(g *group, tps []TopicPartition) {
	if len(tps) == 0 {
		return
	}
	undo := make([]undoOffset, 0, len(tps))
	for _, tp := range tps {
		if g.offsets[tp] != nil || g.unstable[tp] > 0 { // not named twice
			undo = append(undo, c.buryOffset(g, tp))
		}
	}
	c.onUndo(func() { c.revertOffsets(g, undo, false) })
}

func (c *Core) onTopicsDeleted(in *TopicsDeleted) {
	c.groups.Scan(func(_ string, g *group) bool {
		var gone []TopicPartition
		for _, tp := range g.committed() {
			if slices.Contains(in.Topics, tp.Topic) {
				gone = append(gone, tp)
			}
		}
		for tp := range g.unstable {
			if g.offsets[tp] == nil && slices.Contains(in.Topics, tp.Topic) {
				gone = append(gone, tp)
			}
		}
		slices.SortFunc(gone, compareTopicPartition)
		c.buryOffsets(g, gone)
		return true
	})
}

// onSweep expires offsets, and forgets groups that have nothing left (broker.md 6.4).
func (c *Core) onSweep() {
	now := c.millis()
	var groups []*group
	c.groups.Scan(func(_ string, g *group) bool {
		groups = append(groups, g)
		return true
	})
	for _, g := range groups {
		var gone []TopicPartition
		for _, tp := range g.committed() {
			if c.expired(g, tp, now) {
				gone = append(gone, tp)
			}
		}
		c.buryOffsets(g, gone)
		if g.state == empty && len(g.pending) == 0 && len(g.offsets) == 0 && len(g.unstable) == 0 &&
			len(g.foreign) == 0 && (g.consumers == nil || g.consumers.members.Len() == 0) {
			c.removeGroup(g)
		}
	}
	c.armSweep()
}

// removeGroup buries a group that has no members.
func (c *Core) removeGroup(g *group) {
	if g.consumers != nil {
		c.buryConsumers(g)
	} else {
		c.writeGroupValue(g.id, nil)
	}
	c.dropGroup(g)
	c.onUndo(func() { c.groups.Set(g.id, g) })
}

func (c *Core) expired(g *group, tp TopicPartition, now int64) bool {
	o := g.offsets[tp]
	if g.unstable[tp] > 0 || g.wants(tp.Topic) {
		return false
	}
	since := o.committed
	switch {
	case len(g.foreign) > 0 || g.consumers != nil || g.protocolType == "":
		// by the time of the commit
	case g.state == empty:
		if g.stateSince >= 0 {
			since = g.stateSince
		}
	case g.state == stable && g.protocolType == consumerType && g.subscribes:
	default:
		return false
	}
	if o.expires != record.NoExpiry {
		return now >= o.expires
	}
	return now-since >= c.cfg.OffsetsRetention.Milliseconds()
}
