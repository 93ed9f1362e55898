package group

import (
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/format/kerr"
)

func (c *Core) onJoin(ref Ref, in *Join) {
	c.see(in.Image)
	if code := c.checkJoin(in); code != kerr.None {
		c.reply(ref, in.Reject(code))
		return
	}
	g := c.group(in.Group)
	if g != nil && g.consumers != nil {
		if g.consumers.members.Len() > 0 {
			c.joinConsumers(g, ref, in)
			return
		}
		if in.Member == "" && c.accepts(in) {
			c.buryConsumers(g)
			g = c.succeed(g)
		}
	}
	if (g == nil || g.consumers != nil) && in.Member != "" {
		c.reply(ref, in.Reject(kerr.UnknownMemberID))
		return
	}
	if g != nil && (len(g.foreign) > 0 || g.consumers != nil) { // or it can't take the place of an empty one
		c.reply(ref, in.Reject(kerr.InconsistentGroupProtocol))
		return
	}
	created := g == nil
	if created {
		if !c.accepts(in) {
			c.reply(ref, in.Reject(kerr.InconsistentGroupProtocol))
			return
		}
		g = c.newGroup(in.Group)
	}
	c.joinGroup(g, ref, in)
	if created {
		c.createGroup(g)
	}
}

// createGroup records a group's existence, so that it isn't lost if its coordinator moves before the first
// generation.
func (c *Core) createGroup(g *group) {
	fresh := group{id: g.id, stateSince: g.stateSince}
	g.recorded = true
	c.writeGroupValue(g.id, fresh.record())
	c.onUndo(func() {
		c.parked(g, kerr.CoordinatorNotAvailable)
		c.dropGroup(g)
	})
}

func (c *Core) checkJoin(in *Join) kerr.Code {
	if code := checkGroupID(in.Group); code != kerr.None {
		return code
	}
	if in.SessionTimeout < c.cfg.MinSessionTimeout || in.SessionTimeout > c.cfg.MaxSessionTimeout {
		return kerr.InvalidSessionTimeout
	}
	if in.Instance != nil && tooLong(*in.Instance) || tooLong(in.ClientID, in.ClientHost, in.ProtocolType) {
		return kerr.InvalidRequest
	}
	for _, p := range in.Protocols {
		if tooLong(p.Name) {
			return kerr.InvalidRequest
		}
	}
	return kerr.None
}

func (c *Core) accepts(in *Join) bool { return in.ProtocolType != "" && len(in.Protocols) > 0 }

func (c *Core) joinGroup(g *group, ref Ref, in *Join) {
	switch {
	case !c.hasRoom(g, in.Member):
		if m := g.member(in.Member); m != nil {
			c.removeMember(g, m, kerr.GroupMaxSizeReached)
		}
		c.dropPending(g, in.Member)
		c.reply(ref, &Joined{Code: kerr.GroupMaxSizeReached, Generation: -1})
	case !g.accepts(in.ProtocolType, in.Protocols):
		c.reply(ref, in.Reject(kerr.InconsistentGroupProtocol))
	case in.Member == "":
		c.joinNew(g, ref, in)
	default:
		c.joinKnown(g, ref, in)
	}
	// A join may be what a rebalance waited for; the initial one has its own delay.
	if g.state == preparing && !g.initial {
		c.maybeCompleteJoin(g)
	}
}

// hasRoom applies group.max.size: to those already back when a rebalance gathers members, else to the members
// there are.
func (c *Core) hasRoom(g *group, id string) bool {
	m := g.member(id)
	switch g.state {
	case preparing:
		return m != nil && m.join != 0 || g.awaiting < c.cfg.MaxSize
	case completing, stable:
		return m != nil || len(g.members) < c.cfg.MaxSize
	case empty, dead:
	}
	return true
}

func (c *Core) joinNew(g *group, ref Ref, in *Join) {
	if in.Instance != nil {
		id := c.newMemberID(*in.Instance)
		if m := g.static[*in.Instance]; m != nil {
			c.replaceStatic(g, m, id, ref, in)
		} else {
			c.addMember(g, id, ref, in)
		}
		return
	}
	id := c.newMemberID(in.ClientID)
	if !in.RequireMember {
		c.addMember(g, id, ref, in)
		return
	}
	t := newTimer(func() {
		c.dropPending(g, id)
		c.maybeCompleteJoin(g)
	})
	g.pending = append(g.pending, pendingMember{id, t})
	c.timers.set(t, c.now.Add(in.SessionTimeout))
	c.reply(ref, &Joined{Code: kerr.MemberIDRequired, Generation: -1, Member: id})
}

func (c *Core) dropPending(g *group, id string) bool {
	i := slices.IndexFunc(g.pending, func(p pendingMember) bool { return p.id == id })
	if i < 0 {
		return false
	}
	c.timers.cancel(g.pending[i].timer)
	g.pending = slices.Delete(g.pending, i, i+1)
	return true
}

func (c *Core) joinKnown(g *group, ref Ref, in *Join) {
	if in.Instance == nil && c.dropPending(g, in.Member) {
		c.addMember(g, in.Member, ref, in)
		return
	}
	if code := g.validate(in.Member, in.Instance); code != kerr.None {
		c.reply(ref, in.Reject(code))
		return
	}
	m := g.member(in.Member)
	switch g.state {
	case preparing:
		c.rejoin(g, m, ref, in)
	case completing:
		if !m.speaks(in.Protocols) {
			c.rejoin(g, m, ref, in)
			return
		}
		// The reply to its earlier request got lost.
		c.touch(m)
		c.reply(ref, c.joined(g, m))
	case stable:
		if m.id == g.leader || !m.speaks(in.Protocols) {
			// The leader asks for a rebalance when metadata changed that we can't see.
			c.rejoin(g, m, ref, in)
			return
		}
		c.touch(m)
		out := c.joined(g, m)
		out.Members = nil
		c.reply(ref, out)
	default:
		c.reply(ref, in.Reject(kerr.UnknownMemberID))
	}
}

func (c *Core) addMember(g *group, id string, ref Ref, in *Join) {
	m := &member{
		id:         id,
		instance:   in.Instance,
		clientID:   in.ClientID,
		clientHost: in.ClientHost,
		join:       ref,
		fresh:      true,
	}
	m.configure(in)
	m.protocols = cloneProtocols(in.Protocols)
	m.session = newTimer(func() { c.onSession(g, m) })
	if g.state == preparing && g.initial {
		g.joinedAnew = true
	}
	g.add(m, in.ProtocolType)
	c.timers.set(m.session, c.now.Add(newMemberJoinTimeout))
	c.rebalance(g)
}

func (m *member) configure(in *Join) {
	m.sessionTimeout, m.rebalanceTimeout = in.SessionTimeout, in.RebalanceTimeout
	if m.rebalanceTimeout < 0 {
		m.rebalanceTimeout = in.SessionTimeout
	}
}

// cloneProtocols keeps what a request brought beyond the request's life.
func cloneProtocols(ps []Protocol) []Protocol {
	out := make([]Protocol, len(ps))
	for i, p := range ps {
		out[i] = Protocol{strings.Clone(p.Name), append([]byte{}, p.Metadata...)}
	}
	return out
}

// rejoin parks a member's join, with whatever changed since its last one.
func (c *Core) rejoin(g *group, m *member, ref Ref, in *Join) {
	c.park(g, m, ref, in)
	c.rebalance(g)
}

func (c *Core) park(g *group, m *member, ref Ref, in *Join) {
	g.setProtocols(m, cloneProtocols(in.Protocols))
	m.configure(in)
	// An older join of the same member can only come from a connection that its client gave up.
	c.finishJoin(g, m, &Joined{Code: kerr.RebalanceInProgress, Generation: -1, Member: m.id})
	m.join = ref
	if ref != 0 {
		g.awaiting++
	}
}

// replaceStatic lets a restarted instance take over its member: its old id is fenced (KIP-345). In a stable
// group whose protocol it doesn't change it gets its old assignment without a rebalance (KIP-814).
func (c *Core) replaceStatic(g *group, m *member, id string, ref Ref, in *Join) {
	old := *m
	leader := g.leader
	c.finishJoin(g, m, &Joined{Code: kerr.FencedInstanceID, Generation: -1, Member: old.id})
	c.finishSync(m, &Synced{Code: kerr.FencedInstanceID})
	g.rename(m, id)
	m.fresh = false
	m.clientID, m.clientHost = in.ClientID, in.ClientHost
	g.setProtocols(m, cloneProtocols(in.Protocols))
	m.configure(in)
	c.touch(m)
	if g.state != stable || g.protocol == nil || g.selectProtocol() != *g.protocol {
		c.rejoin(g, m, ref, in)
		return
	}
	out := c.joined(g, m)
	if in.CanSkip {
		out.SkipAssignment = g.leader == id
	} else {
		// The old id makes the client a follower: it won't compute an assignment that nobody asked for.
		out.Leader, out.Members = leader, nil
	}
	c.writeGroup(g)
	c.reply(ref, out)
	c.onUndo(func() { c.revertStatic(g, m, &old) })
}

// revertStatic gives the instance back to the id that is on record.
func (c *Core) revertStatic(g *group, m, old *member) {
	if c.group(g.id) != g || g.member(m.id) != m {
		return
	}
	g.setProtocols(m, old.protocols)
	g.rename(m, old.id)
	m.clientID, m.clientHost = old.clientID, old.clientHost
	m.sessionTimeout, m.rebalanceTimeout = old.sessionTimeout, old.rebalanceTimeout
	c.touch(m)
}

// joined tells m of the generation; the leader also of everybody else.
func (c *Core) joined(g *group, m *member) *Joined {
	t := g.protocolType
	out := &Joined{
		Generation:   g.generation,
		ProtocolType: &t,
		Protocol:     g.protocol,
		Leader:       g.leader,
		Member:       m.id,
	}
	if m.id == g.leader {
		out.Members = make([]JoinedMember, len(g.members))
		for i, x := range g.members {
			out.Members[i] = JoinedMember{Member: x.id, Instance: x.instance}
			if g.protocol != nil {
				out.Members[i].Metadata = x.metadata(*g.protocol)
			}
		}
	}
	return out
}

func (c *Core) finishJoin(g *group, m *member, out *Joined) {
	if m.join != 0 {
		c.reply(m.join, out)
		m.join = 0
		g.awaiting--
	}
}

func (c *Core) finishSync(m *member, out *Synced) {
	if m.sync != 0 {
		c.reply(m.sync, out)
		m.sync = 0
	}
}

// touch restarts a member's session.
func (c *Core) touch(m *member) { c.timers.set(m.session, c.now.Add(m.sessionTimeout)) }

// removeMember takes m out. Whatever it waits for is answered with code.
func (c *Core) removeMember(g *group, m *member, code kerr.Code) {
	c.finishJoin(g, m, &Joined{Code: code, Generation: -1, Member: m.id})
	c.finishSync(m, &Synced{Code: code})
	c.timers.cancel(m.session)
	g.remove(m)
}

// rebalance starts a rebalance, or looks whether the one that runs can be completed.
func (c *Core) rebalance(g *group) {
	switch g.state {
	case empty, completing, stable:
		c.prepare(g)
	default:
		c.maybeCompleteJoin(g)
	}
}

func (c *Core) prepare(g *group) {
	if g.state == completing {
		c.failSyncs(g, kerr.RebalanceInProgress)
	}
	c.timers.cancel(g.syncTimer)
	g.initial = g.state == empty
	g.become(preparing, c.millis())
	if !g.initial {
		c.maybeCompleteJoin(g)
		return
	}
	// More members will come in a moment: without a delay each of them would cause a rebalance of its own
	// (KIP-134).
	g.joinedAnew = false
	g.remaining = max(g.rebalanceTimeout()-c.cfg.InitialRebalanceDelay, 0)
	c.timers.set(g.joinTimer, c.now.Add(c.cfg.InitialRebalanceDelay))
}

func (c *Core) failSyncs(g *group, code kerr.Code) {
	for _, m := range g.members {
		m.assignment = nil
		if m.sync != 0 {
			c.touch(m) // its session may have ended while it waited, which didn't count
			c.finishSync(m, &Synced{Code: code})
		}
	}
}

// maybeCompleteJoin ends the gathering when nobody is missing; else it makes sure that it ends some time.
func (c *Core) maybeCompleteJoin(g *group) {
	if g.state != preparing || g.initial {
		return
	}
	if g.allJoined() {
		c.completeJoin(g)
	} else if !g.joinTimer.armed() {
		c.timers.set(g.joinTimer, c.now.Add(g.rebalanceTimeout()))
	}
}

func (c *Core) onJoinTimer(g *group) {
	if g.state != preparing {
		return
	}
	if g.initial && g.joinedAnew && g.remaining > 0 {
		g.joinedAnew = false
		d := min(c.cfg.InitialRebalanceDelay, g.remaining)
		g.remaining -= d
		c.timers.set(g.joinTimer, c.now.Add(d))
		return
	}
	c.completeJoin(g)
}

func (c *Core) completeJoin(g *group) {
	c.timers.cancel(g.joinTimer)
	for _, m := range slices.Clone(g.members) {
		if m.join == 0 && m.instance == nil {
			c.removeMember(g, m, kerr.UnknownMemberID)
		}
	}
	if len(g.members) > 0 && !g.electLeader() {
		// Only static members, none of them here: they keep their places until their sessions end.
		c.timers.set(g.joinTimer, c.now.Add(g.rebalanceTimeout()))
		return
	}
	g.nextGeneration(c.millis())
	if g.state == empty {
		c.writeGroup(g)
		return
	}
	for _, m := range g.members {
		c.finishJoin(g, m, c.joined(g, m))
		c.touch(m)
		m.fresh, m.unsynced = false, true
	}
	c.timers.set(g.syncTimer, c.now.Add(g.rebalanceTimeout()))
}

// onSession ends a member that wasn't heard of. One that waits for us is alive as far as we can know, unless
// it is fresh.
func (c *Core) onSession(g *group, m *member) {
	if !m.fresh && (m.join != 0 || m.sync != 0) {
		return
	}
	c.removeMember(g, m, kerr.UnknownMemberID)
	c.shrunk(g)
}

// shrunk continues after members left.
func (c *Core) shrunk(g *group) {
	switch g.state {
	case completing, stable:
		c.prepare(g)
	case preparing:
		c.maybeCompleteJoin(g)
	case empty, dead: // nobody is left to wait for
	}
}

// parked answers everybody who waits in the group with code.
func (c *Core) parked(g *group, code kerr.Code) {
	for _, m := range g.members {
		c.finishJoin(g, m, &Joined{Code: code, Generation: -1, Member: m.id})
		c.finishSync(m, &Synced{Code: code})
	}
}
