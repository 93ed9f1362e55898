package group

import (
	"slices"
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
)

// Members of the classic protocol in a group of the consumer protocol: while a group is upgraded or
// downgraded one client at a time. To them every epoch of theirs is a generation of which they are
// the only member; what the others do they learn by REBALANCE_IN_PROGRESS.

// joinConsumers is JoinGroup to such a group.
func (c *Core) joinConsumers(g *group, ref Ref, in *Join) {
	s := g.consumers
	sub, ok := consumerSubscription{}, false
	if len(in.Protocols) > 0 {
		sub, ok = parseSubscription(in.Protocols[0].Metadata)
	}
	if !ok || in.ProtocolType != consumerType || !s.accepts(in) {
		c.reply(ref, &Joined{Code: kerr.InconsistentGroupProtocol, Generation: -1})
		return
	}
	old, m, code := c.classicOf(g, in)
	if code != kerr.None {
		out := &Joined{Code: code, Generation: -1}
		if code == kerr.MemberIDRequired {
			out.Member = c.newMemberID(in.ClientID)
		}
		c.reply(ref, out)
		return
	}
	n := *m
	n.instance, n.clientID, n.clientHost = in.Instance, in.ClientID, in.ClientHost
	n.topics, n.regex, n.assignor, n.rebalanceTimeout = sub.topics, "", "", in.RebalanceTimeout
	if in.RebalanceTimeout < 0 {
		n.rebalanceTimeout = in.SessionTimeout
	}
	n.classic = &classicConsumer{in.SessionTimeout, cloneProtocols(in.Protocols)}
	r := reconciling{told: true, owned: byID(c.image, sub.owned)}
	now := c.advance(g, old, &n, &r)
	k := c.clock(g, now.id)
	c.timers.cancel(k.rebalance)
	c.timers.set(k.sync, c.now.Add(now.rebalanceTimeout))
	t, p := consumerType, in.Protocols[0].Name
	c.reply(ref, &Joined{Generation: now.epoch, ProtocolType: &t, Protocol: &p, Member: now.id})
}

// accepts says whether all classic members can go on together should the group be downgraded.
func (s *consumers) accepts(in *Join) bool {
	return slices.ContainsFunc(in.Protocols, func(p Protocol) bool {
		all := true
		s.members.Scan(func(id string, m *consumer) bool {
			all = m.classic == nil || id == in.Member || in.Instance != nil && equal(in.Instance, m.instance) ||
				m.classic.speaks(p.Name)
			return all
		})
		return all
	})
}

func (k *classicConsumer) speaks(protocol string) bool {
	return slices.ContainsFunc(k.protocols, func(p Protocol) bool { return p.Name == protocol })
}

// classicOf finds the member that joins. old is what stands in the group under its id now.
func (c *Core) classicOf(g *group, in *Join) (old, m *consumer, code kerr.Code) {
	s := g.consumers
	id := in.Member
	if in.Instance != nil {
		m = s.instance(*in.Instance)
		switch {
		case m != nil && id == "":
			m = c.takePlace(g, m, c.newMemberID(*in.Instance))
			return m, m, kerr.None
		case m != nil && m.id != id:
			return nil, nil, kerr.FencedInstanceID
		case m == nil && id != "":
			return nil, nil, kerr.UnknownMemberID
		case id == "":
			id = c.newMemberID(*in.Instance)
		}
	} else if m = s.member(id); id == "" {
		if in.RequireMember {
			return nil, nil, kerr.MemberIDRequired
		}
		id = c.newMemberID(in.ClientID)
	}
	if m != nil {
		return m, m, kerr.None
	}
	if s.members.Len() >= c.cfg.ConsumerMaxSize {
		return nil, nil, kerr.GroupMaxSizeReached
	}
	return nil, &consumer{id: id}, kerr.None
}

// classicMember is the check of whoever claims to be a classic member.
func (s *consumers) classicMember(id string, instance *string) (*consumer, kerr.Code) {
	if instance != nil {
		m := s.instance(*instance)
		if m == nil {
			return nil, kerr.UnknownMemberID
		}
		if m.id != id {
			return nil, kerr.FencedInstanceID
		}
	}
	m := s.member(id)
	if m == nil || m.classic == nil {
		return nil, kerr.UnknownMemberID
	}
	return m, kerr.None
}

func (c *Core) syncConsumers(g *group, in *Sync) Output {
	m, code := g.consumers.classicMember(in.Member, in.Instance)
	if code == kerr.None {
		code = g.consumers.checkSync(m, in)
	}
	if code != kerr.None {
		return in.Reject(code)
	}
	c.timers.cancel(c.clock(g, m.id).sync)
	c.touchConsumer(g, m)
	first := m.classic.protocols[0]
	sub, _ := parseSubscription(first.Metadata)
	t := consumerType
	return &Synced{
		ProtocolType: &t, Protocol: &first.Name,
		Assignment: encodeAssignment(sub.version, byName(c.image, m.assigned.parts())),
	}
}

func (s *consumers) checkSync(m *consumer, in *Sync) kerr.Code {
	switch {
	case in.Generation != m.epoch:
		return kerr.IllegalGeneration
	case in.ProtocolType != nil && *in.ProtocolType != consumerType ||
		in.Protocol != nil && *in.Protocol != m.classic.protocols[0].Name:
		return kerr.InconsistentGroupProtocol
	case m.epoch < s.epoch && m.state != memberUnrevoked:
		return kerr.RebalanceInProgress // it has to join again; one that revokes does that anyway
	}
	return kerr.None
}

func (c *Core) heartbeatConsumers(g *group, in *Heartbeat) kerr.Code {
	s := g.consumers
	m, code := s.classicMember(in.Member, in.Instance)
	if code != kerr.None {
		return code
	}
	if in.Generation != m.epoch {
		return kerr.IllegalGeneration
	}
	c.touchConsumer(g, m)
	c.refreshHash(g)
	if m.state == memberUnrevoked || m.epoch < s.epoch || m.state == memberUnreleased && !s.blocked(m) {
		if k := c.clock(g, m.id); !k.rebalance.armed() {
			c.timers.set(k.rebalance, c.now.Add(m.rebalanceTimeout))
		}
		return kerr.RebalanceInProgress
	}
	return kerr.None
}

// blocked says that all that m lacks is with others still.
func (s *consumers) blocked(m *consumer) bool {
	for _, p := range s.target[m.id] {
		if _, has := m.assigned.find(p); !has && !s.others(m, p) {
			return false
		}
	}
	return true
}

func (c *Core) leaveConsumers(g *group, l LeaveMember) kerr.Code {
	s := g.consumers
	if l.Member == "" {
		if l.Instance == nil || s.instance(*l.Instance) == nil {
			return kerr.UnknownMemberID
		}
		c.removeConsumers(g, s.static[*l.Instance])
		return kerr.None
	}
	m, code := s.classicMember(l.Member, l.Instance)
	if code == kerr.None {
		c.removeConsumers(g, m.id)
	}
	return code
}

// upgrade makes a classic group one of the consumer protocol, because a member of that joins: the classic
// ones stay. nil: that can't be.
func (c *Core) upgrade(g *group) *group {
	if !c.cfg.Upgrade || len(g.members) >= c.cfg.ConsumerMaxSize {
		return nil
	}
	ms := make([]*consumer, 0, len(g.members))
	for _, m := range g.members {
		n := c.upgraded(g, m)
		if n == nil {
			return nil
		}
		ms = append(ms, n)
	}
	n := c.replaceClassic(g)
	s := n.consumers
	epoch := max(g.generation, 1)
	for _, m := range ms {
		m.epoch, m.previous = epoch, epoch
		for i := range m.assigned {
			m.assigned[i].epoch = epoch
		}
		c.putConsumer(n, m)
		c.writeMember(n, m)
		c.touchConsumer(n, m)
	}
	hash := metadataHash(c.image, s.subscribed())
	c.setEpochs(s, epoch, epoch, hash, 0)
	c.writeConsumerGroup(n)
	for _, m := range s.all() {
		c.setTarget(n, m.id, m.assigned.parts())
	}
	c.writeTarget(n)
	for _, m := range s.all() {
		c.writeCurrent(n, m)
	}
	return n
}

// upgraded is a classic member as one of the consumer protocol, nil if what it said can't be read.
func (c *Core) upgraded(g *group, m *member) *consumer {
	if len(m.protocols) == 0 {
		return nil
	}
	metadata := m.protocols[0].Metadata
	if g.protocol != nil {
		metadata = m.metadata(*g.protocol)
	}
	sub, ok := parseSubscription(metadata)
	as, well := parseAssignment(m.assignment)
	if !ok || !well {
		return nil
	}
	n := &consumer{
		id: m.id, instance: m.instance, clientID: m.clientID, clientHost: m.clientHost, topics: sub.topics,
		rebalanceTimeout: m.rebalanceTimeout, classic: &classicConsumer{m.sessionTimeout, m.protocols},
	}
	for _, p := range byID(c.image, as) {
		n.assigned = append(n.assigned, held{part: p})
	}
	return n
}

// replaceClassic puts a group of the consumer protocol with the same offsets in g's place. Whoever waits in g
// has to come again.
func (c *Core) replaceClassic(g *group) *group {
	n := c.succeed(g)
	n.consumers = newConsumers()
	if g.recorded {
		c.writeGroupValue(g.id, nil)
	}
	return n
}

// succeed makes a group with g's name and offsets, with a way back.
func (c *Core) succeed(g *group) *group {
	c.parked(g, kerr.RebalanceInProgress)
	c.stopGroup(g)
	n := c.newGroup(g.id)
	n.offsets, n.unstable = g.offsets, g.unstable
	if n.unstable == nil {
		n.unstable = map[TopicPartition]int{}
		g.unstable = n.unstable
	}
	c.onUndo(func() {
		c.dropGroup(n)
		c.groups.Set(g.id, g)
		c.resume(g)
	})
	return n
}

// resume starts the clocks of a group that is back.
func (c *Core) resume(g *group) {
	for _, m := range g.members {
		c.touch(m)
	}
	switch {
	case g.consumers != nil:
		c.loadedConsumers(g)
	case g.state == preparing:
		c.timers.set(g.joinTimer, c.now.Add(g.rebalanceTimeout()))
	case g.state == completing:
		c.timers.set(g.syncTimer, c.now.Add(g.rebalanceTimeout()))
	}
}

// downgrade makes the group a classic one, if after those that go only members of the classic protocol are
// left. They rebalance at once.
func (c *Core) downgrade(g *group, gone []string) bool {
	s := g.consumers
	modern := s.modern
	for _, id := range gone {
		if s.member(id).classic == nil {
			modern--
		}
	}
	left := s.members.Len() - len(gone)
	if !c.cfg.Downgrade || modern > 0 || left == 0 || left > c.cfg.MaxSize || s.modern == 0 {
		return false
	}
	c.buryConsumers(g)
	n := c.succeed(g)
	n.generation, n.protocolType = s.epoch, consumerType
	for _, m := range s.all() {
		if !slices.Contains(gone, m.id) {
			x := downgraded(c.image, m)
			x.session = newTimer(func() { c.onSession(n, x) })
			n.add(x, consumerType)
			c.touch(x)
		}
	}
	p := n.selectProtocol()
	n.protocol = &p
	n.become(stable, c.millis())
	n.subscribe()
	c.writeGroup(n)
	c.prepare(n)
	return true
}

func downgraded(img *meta.Image, m *consumer) *member {
	sub, _ := parseSubscription(m.classic.protocols[0].Metadata)
	return &member{
		id: m.id, instance: m.instance, clientID: m.clientID, clientHost: m.clientHost,
		sessionTimeout: m.classic.session, rebalanceTimeout: max(m.rebalanceTimeout, time.Millisecond),
		protocols:  m.classic.protocols,
		assignment: encodeAssignment(sub.version, byName(img, m.assigned.parts())),
	}
}
