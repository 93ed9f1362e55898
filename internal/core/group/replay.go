package group

import (
	"fmt"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// Replay applies a record read from the log. producer is the transaction's, or -1. Records of kinds that
// don't exist yet are skipped with a warning, as is what can't be decoded: one bad record mustn't take all
// groups of the partition away.
func (c *Core) Replay(at, producer int64, key, value []byte) error {
	k, err := record.DecodeGroupKey(key)
	if err != nil {
		return fmt.Errorf("offset %d: %w", at, err)
	}
	switch {
	case !k.Known():
		c.cfg.Warn("record of an unknown kind skipped", "kind", int16(k.Kind), "offset", at)
	case k.Kind <= record.KindOffsetCommit:
		err = c.replayOffset(&k, producer, value)
	case k.Kind == record.KindClassicGroup:
		err = c.replayGroup(k.Group, value)
	case k.Kind <= record.KindConsumerLast || k.Kind == record.KindConsumerRegex:
		err = c.replayConsumer(&k, value)
	default:
		c.replayForeign(&k, key, value)
	}
	if err != nil {
		return fmt.Errorf("offset %d, group %q: %w", at, k.Group, err)
	}
	return nil
}

func (c *Core) replayOffset(k *record.GroupKey, producer int64, value []byte) error {
	tp := TopicPartition{k.Topic, k.Partition}
	g := c.group(k.Group)
	c.order++
	if value == nil {
		if g != nil {
			delete(g.offsets, tp)
			c.dropUnstable(g, tp)
			c.dropIfBare(g)
		}
		return nil
	}
	v, err := record.DecodeOffsetValue(value)
	if err != nil {
		return err
	}
	if g == nil {
		g = c.newGroup(k.Group)
	}
	o := &offset{
		at:        v.Offset,
		epoch:     v.LeaderEpoch,
		metadata:  v.Metadata,
		committed: v.CommitTimestamp,
		expires:   v.ExpireTimestamp,
		topicID:   v.TopicID,
		order:     c.order,
	}
	if producer < 0 {
		g.offsets[tp] = o
		return nil
	}
	c.pend(g, tp, producer, o)
	return nil
}

// ReplayEnd ends the producer's transaction: its offsets count, or never happened. An offset that was
// committed later in the log, outside of the transaction, stays.
func (c *Core) ReplayEnd(producer int64, commit bool) {
	pending := c.txns[producer]
	delete(c.txns, producer)
	for gp, o := range pending { // every one is about another partition: the order doesn't matter
		g := c.group(gp.group)
		if g == nil {
			continue
		}
		if g.unstable[gp.TopicPartition]--; g.unstable[gp.TopicPartition] <= 0 {
			delete(g.unstable, gp.TopicPartition)
		}
		if old := g.offsets[gp.TopicPartition]; commit && (old == nil || old.order < o.order) {
			g.offsets[gp.TopicPartition] = o
		}
		c.dropIfBare(g)
	}
}

// dropUnstable takes a partition out of all open transactions, and returns what it took by producer.
func (c *Core) dropUnstable(g *group, tp TopicPartition) (taken map[int64]*offset) {
	if g.unstable[tp] == 0 {
		return nil
	}
	taken = map[int64]*offset{}
	delete(g.unstable, tp)
	for producer, p := range c.txns {
		if o := p[groupPartition{g.id, tp}]; o != nil {
			delete(p, groupPartition{g.id, tp})
			taken[producer] = o
		}
	}
	return taken
}

// pend makes o what the producer's transaction will commit.
func (c *Core) pend(g *group, tp TopicPartition, producer int64, o *offset) {
	if c.txns[producer] == nil {
		c.txns[producer] = pendingOffsets{}
	}
	gp := groupPartition{g.id, tp}
	if c.txns[producer][gp] == nil {
		if g.unstable == nil {
			g.unstable = map[TopicPartition]int{}
		}
		g.unstable[tp]++
	}
	c.txns[producer][gp] = o
}

// classic says whether a record of the classic protocol stands for the group.
func (g *group) classic() bool { return g.recorded || len(g.members) > 0 }

func (c *Core) replayGroup(id string, value []byte) error {
	g := c.group(id)
	if value == nil {
		if g != nil {
			c.clearGroup(g)
			c.dropIfBare(g)
		}
		return nil
	}
	v, err := record.DecodeGroupValue(value)
	if err != nil {
		return err
	}
	if g == nil {
		g = c.newGroup(id)
	}
	c.clearGroup(g)
	g.recorded, g.consumers = true, nil
	g.protocolType, g.generation, g.protocol = v.ProtocolType, v.Generation, v.Protocol
	for i := range v.Members {
		c.replayMember(g, &v, &v.Members[i])
	}
	g.leader = ""
	if v.Leader != nil {
		g.leader = *v.Leader
	}
	g.protocolType = v.ProtocolType
	g.become(empty, v.StateTimestamp)
	if len(g.members) > 0 {
		g.state = stable
	}
	g.subscribe()
	return nil
}

func (c *Core) replayMember(g *group, v *record.GroupValue, r *record.GroupMember) {
	if g.member(r.ID) != nil {
		return
	}
	m := &member{
		id:               r.ID,
		instance:         r.InstanceID,
		clientID:         r.ClientID,
		clientHost:       r.ClientHost,
		sessionTimeout:   time.Duration(r.SessionTimeout) * time.Millisecond,
		rebalanceTimeout: time.Duration(r.RebalanceTimeout) * time.Millisecond,
		assignment:       append([]byte{}, r.Assignment...),
	}
	if r.RebalanceTimeout < 0 {
		m.rebalanceTimeout = m.sessionTimeout
	}
	if v.Protocol != nil {
		m.protocols = []Protocol{{strings.Clone(*v.Protocol), append([]byte{}, r.Subscription...)}}
	}
	m.session = newTimer(func() { c.onSession(g, m) })
	g.add(m, v.ProtocolType)
}

// clearGroup forgets what the classic protocol knows of a group.
func (c *Core) clearGroup(g *group) {
	for len(g.members) > 0 {
		c.removeMember(g, g.members[0], kerr.UnknownMemberID)
	}
	g.recorded, g.state, g.generation, g.protocolType, g.protocol = false, empty, 0, "", nil
	g.subscribe()
}

// Loaded starts the clocks after the last replay. Members have a whole session to find the new coordinator.
func (c *Core) Loaded(now time.Time) {
	c.now = now
	c.groups.Scan(func(_ string, g *group) bool {
		for _, m := range g.members {
			c.touch(m)
		}
		if g.consumers != nil {
			c.loadedConsumers(g)
		}
		if len(g.members) > c.cfg.MaxSize {
			c.prepare(g)
		}
		return true
	})
	c.armSweep()
}
