package group

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/record"
)

// groupSetting is a group's own value of a key within what the broker allows, else the broker's, which may be
// one that was set at run time.
func (c *Core) groupSetting(id, key string, b *Bounds) time.Duration {
	if c.image == nil {
		return b.Default
	}
	for _, r := range [...]struct {
		kind      meta.ConfigKind
		name, key string
	}{
		{meta.ConfigGroup, id, key},
		{meta.ConfigBroker, c.cfg.Node, "group." + key},
		{meta.ConfigBroker, "", "group." + key},
	} {
		if ms, err := strconv.ParseInt(c.image.Config(r.kind, r.name)[r.key], 10, 32); err == nil {
			return min(max(time.Duration(ms)*time.Millisecond, b.Min), b.Max)
		}
	}
	return b.Default
}

// advance is what a heartbeat, or a join of the classic protocol, does: the member is n now, who was old; the
// group's epoch moves if that matters to the assignment, the assignment is made anew if it is due, and the
// member goes as far towards it as it can.
func (c *Core) advance(g *group, old, n *consumer, r *reconciling) *consumer {
	s := g.consumers
	was := &consumer{}
	if old != nil {
		was = old
	}
	before := ""
	if was.assignor != n.assignor {
		before = s.preferred(&c.cfg)
	}
	if old == nil || !old.saysAs(n) {
		c.putConsumer(g, n)
		c.writeMember(g, n)
	}
	r.changed = !slices.Equal(was.topics, n.topics) || was.regex != n.regex
	if c.resolve(g, was.regex, n.regex) || r.changed || before != "" && s.preferred(&c.cfg) != before {
		c.bump(g)
	} else {
		c.refreshHash(g)
	}
	c.assignIfDue(g)
	r.target, r.epoch = s.target[n.id], s.assignmentEpoch
	r.others = func(p part) bool { return s.others(n, p) }
	topics := s.topicsOf(n)
	r.wants = func(id UUID) bool {
		name, ok := topicName(c.image, id)
		_, sub := slices.BinarySearch(topics, name)
		return ok && sub
	}
	now := r.next(n)
	if now != n {
		c.putConsumer(g, now)
	}
	if now != n || old == nil {
		c.writeCurrent(g, now)
	}
	c.touchConsumer(g, now)
	c.watchRevocation(g, n, now)
	return now
}

// watchRevocation bounds how long a member may take to give partitions up.
func (c *Core) watchRevocation(g *group, before, now *consumer) {
	k := c.clock(g, now.id)
	switch {
	case now.state != memberUnrevoked:
		c.timers.cancel(k.rebalance)
	case before.state != memberUnrevoked || before.epoch != now.epoch || !k.rebalance.armed():
		c.timers.set(k.rebalance, c.now.Add(now.rebalanceTimeout))
	}
}

// bump starts a new epoch of the group.
func (c *Core) bump(g *group) {
	s := g.consumers
	hash := s.hash
	if c.image != nil {
		hash = metadataHash(c.image, s.subscribed())
	}
	c.setEpochs(s, s.epoch+1, s.assignmentEpoch, hash, s.assignedAt)
	s.seen = c.image
	c.writeConsumerGroup(g)
}

// refreshHash bumps the epoch if topics that matter have changed.
func (c *Core) refreshHash(g *group) {
	s := g.consumers
	if c.image == nil || s.seen == c.image {
		return
	}
	s.seen = c.image
	if metadataHash(c.image, s.subscribed()) != s.hash {
		c.bump(g)
	}
}

// assignIfDue makes a target assignment for the group's epoch.
func (c *Core) assignIfDue(g *group) {
	s := g.consumers
	if s.epoch <= s.assignmentEpoch || c.image == nil {
		return
	}
	if since := c.millis() - s.assignedAt; since >= 0 &&
		since < c.assignmentInterval(g.id).Milliseconds() {
		return
	}
	spec, ids := s.spec(c.image)
	next := assignors[s.preferred(&c.cfg)](spec)
	for i, id := range ids {
		if had, ok := s.target[id]; !ok || !slices.Equal(had, next[i]) {
			c.setTarget(g, id, next[i])
		}
	}
	c.setEpochs(s, s.epoch, s.epoch, s.hash, c.millis())
	c.writeTarget(g)
}

func (c *Core) setTarget(g *group, id string, ps parts) {
	s := g.consumers
	old, had := s.target[id]
	s.target[id] = ps
	c.onUndo(func() {
		if delete(s.target, id); had {
			s.target[id] = old
		}
	})
	c.writeTargetOf(g, id)
}

// spec is what the assignor has to work with.
func (s *consumers) spec(img *meta.Image) (*assignSpec, []string) {
	spec := &assignSpec{}
	byName := map[string]int{}
	var found []*meta.Topic
	for _, name := range s.subscribed() {
		if t := img.Topic(name); t != nil {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b *meta.Topic) int {
		return compareParts(part{topic: UUID(a.ID)}, part{topic: UUID(b.ID)})
	})
	for i, t := range found {
		byName[t.Name] = i
		spec.topics = append(spec.topics, assignTopic{UUID(t.ID), int32(len(t.Partitions))})
	}
	var ids []string
	for _, m := range s.all() {
		a := assignMember{id: m.id, instance: m.instance, had: s.target[m.id]}
		for _, name := range s.topicsOf(m) {
			if i, ok := byName[name]; ok {
				a.topics = append(a.topics, i)
			}
		}
		slices.Sort(a.topics)
		spec.members, ids = append(spec.members, a), append(ids, m.id)
	}
	return spec, ids
}

// resolve brings the group's expressions up to date: a new one at once, all of them when the metadata has
// changed and a while has passed, or after a long time in any case. True: they stand for other topics now.
func (c *Core) resolve(g *group, was, is string) (changed bool) {
	s := g.consumers
	if was != is && s.regexes[was] != nil && !s.uses(was) {
		c.setRegex(g, was, nil)
	}
	if c.image == nil {
		return false
	}
	var due []string
	since := c.now.Sub(s.resolvedAt)
	switch {
	case len(s.regexes) > 0 && (since >= c.cfg.RegexRefresh ||
		since >= regexMinRefresh && s.resolved < c.image.Offset):
		due = slices.Sorted(maps.Keys(s.regexes))
		s.resolved, s.resolvedAt = c.image.Offset, c.now
	case is != "" && s.regexes[is] == nil:
		due = []string{is}
		if len(s.regexes) == 0 {
			s.resolved, s.resolvedAt = c.image.Offset, c.now
		}
	}
	for _, re := range due {
		topics, r := matching(c.image, re), s.regexes[re]
		if r == nil || !slices.Equal(topics, r.topics) {
			c.setRegex(g, re, &regex{topics: topics, version: c.image.Offset, at: c.millis()})
			changed = true
		}
	}
	return changed
}

// regexMinRefresh bounds how often metadata that keeps changing makes us match all names anew.
const regexMinRefresh = 10 * time.Second

func matching(img *meta.Image, re string) (names []string) {
	x, err := compileRegex(re)
	if err != nil {
		return nil // another node took it: it stands for nothing here
	}
	for t := range img.Topics() {
		if x.MatchString(t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// setRegex says what an expression stands for, nil that nobody uses it.
func (c *Core) setRegex(g *group, re string, r *regex) {
	s := g.consumers
	old := s.regexes[re]
	var value []byte
	if r == nil {
		delete(s.regexes, re)
	} else {
		s.regexes[re] = r
		v := record.ConsumerRegex{Topics: r.topics, Version: r.version, Timestamp: r.at}
		value = v.Encode()
	}
	c.writeConsumer(g, record.KindConsumerRegex, re, value)
	c.onUndo(func() {
		if delete(s.regexes, re); old != nil {
			s.regexes[re] = old
		}
	})
}

// removeConsumers takes members out of the group, and makes it a classic one again if only such are left.
func (c *Core) removeConsumers(g *group, ids ...string) {
	if c.downgrade(g, ids) {
		return
	}
	s := g.consumers
	for _, id := range ids {
		was := s.member(id).regex
		c.dropConsumer(g, id)
		if was != "" && s.regexes[was] != nil && !s.uses(was) {
			c.setRegex(g, was, nil)
		}
	}
	if s.members.Len() > 0 {
		c.bump(g)
		return
	}
	c.setEpochs(s, s.epoch+1, s.epoch+1, 0, 0)
	c.writeConsumerGroup(g)
	c.writeTarget(g)
}

func (s *consumers) uses(re string) (used bool) {
	s.members.Scan(func(_ string, m *consumer) bool {
		used = m.regex == re
		return !used
	})
	return used
}
