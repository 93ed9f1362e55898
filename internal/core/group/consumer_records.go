package group

import (
	"maps"
	"slices"
	"time"

	"github.com/kalda/kalda/internal/format/record"
)

func (c *Core) writeConsumer(g *group, kind record.GroupKind, name string, value []byte) {
	k := record.GroupKey{Kind: kind, Group: g.id, Name: name}
	c.write(k.Encode(), value)
}

func (c *Core) writeConsumerGroup(g *group) {
	v := record.ConsumerGroup{Epoch: g.consumers.epoch, MetadataHash: g.consumers.hash}
	c.writeConsumer(g, record.KindConsumerGroup, "", v.Encode())
}

func (c *Core) writeTarget(g *group) {
	v := record.ConsumerTarget{Epoch: g.consumers.assignmentEpoch, Timestamp: g.consumers.assignedAt}
	c.writeConsumer(g, record.KindConsumerTarget, "", v.Encode())
}

func (c *Core) writeTargetOf(g *group, id string) {
	v := record.ConsumerTargetOf{Topics: g.consumers.target[id].asTopics()}
	c.writeConsumer(g, record.KindConsumerTargetOf, id, v.Encode())
}

func (c *Core) writeMember(g *group, m *consumer) {
	v := record.ConsumerMember{
		InstanceID: m.instance, RackID: m.rack, ClientID: m.clientID, ClientHost: m.clientHost,
		Topics: m.topics, Regex: &m.regex, RebalanceTimeout: int32(m.rebalanceTimeout.Milliseconds()),
	}
	if m.assignor != "" {
		v.Assignor = &m.assignor
	}
	if m.classic != nil {
		v.Classic = &record.ClassicMember{SessionTimeout: int32(m.classic.session.Milliseconds())}
		for _, p := range m.classic.protocols {
			v.Classic.Protocols = append(v.Classic.Protocols, record.ClassicProtocol{
				Name: p.Name, Metadata: p.Metadata,
			})
		}
	}
	c.writeConsumer(g, record.KindConsumerMember, m.id, v.Encode())
}

func (c *Core) writeCurrent(g *group, m *consumer) {
	v := record.ConsumerCurrent{
		Epoch: m.epoch, PreviousEpoch: m.previous, State: m.state,
		Assigned: m.assigned.asTopics(), Revoking: m.revoking.asTopics(),
	}
	c.writeConsumer(g, record.KindConsumerCurrent, m.id, v.Encode())
}

// buryConsumers takes everything of the protocol out of the log, members first, as a later reader wants it.
func (c *Core) buryConsumers(g *group) {
	s := g.consumers
	ids := map[string]struct{}{}
	for id := range s.target {
		ids[id] = struct{}{}
	}
	for _, m := range s.all() {
		ids[m.id] = struct{}{}
	}
	for _, kind := range []record.GroupKind{
		record.KindConsumerCurrent, record.KindConsumerTargetOf, record.KindConsumerMember,
	} {
		for _, id := range slices.Sorted(maps.Keys(ids)) {
			c.writeConsumer(g, kind, id, nil)
		}
	}
	for _, re := range slices.Sorted(maps.Keys(s.regexes)) {
		c.writeConsumer(g, record.KindConsumerRegex, re, nil)
	}
	c.writeConsumer(g, record.KindConsumerTarget, "", nil)
	c.writeConsumer(g, record.KindConsumerPartitions, "", nil) // what nodes before 4.1 may have left
	c.writeConsumer(g, record.KindConsumerGroup, "", nil)
}

// replayConsumer applies a record of kinds 3 to 8 and 16.
func (c *Core) replayConsumer(k *record.GroupKey, value []byte) error {
	g := c.group(k.Group)
	if value == nil {
		if g != nil && g.consumers != nil {
			c.replayConsumerGone(g, k)
			c.dropIfBare(g)
		}
		return nil
	}
	if g == nil {
		g = c.newGroup(k.Group)
	}
	if g.consumers == nil {
		c.clearGroup(g)
		g.consumers = newConsumers()
	}
	err := c.replayConsumerValue(g, k, value)
	c.dropIfBare(g)
	return err
}

func (c *Core) replayConsumerGone(g *group, k *record.GroupKey) {
	s := g.consumers
	switch k.Kind {
	case record.KindConsumerGroup:
		s.recorded = false
	case record.KindConsumerMember:
		s.swap(k.Name, nil)
		c.stopClock(s, k.Name)
	case record.KindConsumerTargetOf:
		delete(s.target, k.Name)
	case record.KindConsumerCurrent:
		if m := s.member(k.Name); m != nil {
			n := *m
			n.epoch, n.previous, n.state, n.assigned, n.revoking = leftForNow, 0, memberStable, nil, nil
			s.swap(k.Name, &n)
		}
	case record.KindConsumerRegex:
		delete(s.regexes, k.Name)
	default: // the target's epoch goes with the group, and kind 4 is nothing to us
	}
	if s.bare() {
		g.consumers = nil
	}
}

func (c *Core) replayConsumerValue(g *group, k *record.GroupKey, value []byte) error {
	s := g.consumers
	switch k.Kind {
	case record.KindConsumerGroup:
		v, err := record.DecodeConsumerGroup(value)
		if err != nil {
			return err
		}
		s.epoch, s.hash, s.recorded = v.Epoch, v.MetadataHash, true
	case record.KindConsumerTarget:
		v, err := record.DecodeConsumerTarget(value)
		if err != nil {
			return err
		}
		s.assignmentEpoch, s.assignedAt = v.Epoch, v.Timestamp
	case record.KindConsumerTargetOf:
		v, err := record.DecodeConsumerTargetOf(value)
		if err != nil {
			return err
		}
		s.target[k.Name] = partsOf(v.Topics)
	case record.KindConsumerMember, record.KindConsumerCurrent:
		return replayConsumerMember(s, k, value)
	case record.KindConsumerRegex:
		v, err := record.DecodeConsumerRegex(value)
		if err != nil {
			return err
		}
		topics := slices.Sorted(slices.Values(v.Topics))
		s.regexes[k.Name] = &regex{topics: topics, version: v.Version, at: v.Timestamp}
	default: // kind 4, of before 4.1: the hash says the same
	}
	return nil
}

// replayConsumerMember applies what a member said, or where it is. After compaction either may come first.
func replayConsumerMember(s *consumers, k *record.GroupKey, value []byte) error {
	m := consumer{id: k.Name}
	if old := s.member(k.Name); old != nil {
		m = *old
	}
	if k.Kind == record.KindConsumerCurrent {
		v, err := record.DecodeConsumerCurrent(value)
		if err != nil {
			return err
		}
		m.epoch, m.previous, m.state = v.Epoch, v.PreviousEpoch, v.State
		m.assigned, m.revoking = holdingOf(v.Assigned, v.Epoch), holdingOf(v.Revoking, v.Epoch)
	} else {
		v, err := record.DecodeConsumerMember(value)
		if err != nil {
			return err
		}
		m.said(&v)
	}
	s.swap(m.id, &m)
	return nil
}

func (m *consumer) said(v *record.ConsumerMember) {
	m.instance, m.rack, m.clientID, m.clientHost = v.InstanceID, v.RackID, v.ClientID, v.ClientHost
	m.topics = slices.Compact(slices.Sorted(slices.Values(v.Topics)))
	m.regex, m.assignor = deref(v.Regex), deref(v.Assignor)
	m.rebalanceTimeout = time.Duration(v.RebalanceTimeout) * time.Millisecond
	m.classic = nil
	if v.Classic != nil {
		m.classic = &classicConsumer{session: time.Duration(v.Classic.SessionTimeout) * time.Millisecond}
		for _, p := range v.Classic.Protocols {
			m.classic.protocols = append(m.classic.protocols, Protocol{p.Name, slices.Clone(p.Metadata)})
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// loadedConsumers starts the clocks of a group.
func (c *Core) loadedConsumers(g *group) {
	for _, m := range g.consumers.all() {
		c.touchConsumer(g, m)
		if m.state == memberUnrevoked {
			c.timers.set(c.clock(g, m.id).rebalance, c.now.Add(m.rebalanceTimeout))
		}
	}
}
