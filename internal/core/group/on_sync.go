package group

import (
	"bytes"

	"github.com/kalda/kalda/internal/format/kerr"
)

func (c *Core) onSync(ref Ref, in *Sync) {
	code := checkGroupID(in.Group)
	g := c.group(in.Group)
	if code == kerr.None {
		code = checkSync(g, in)
	}
	if code != kerr.None {
		c.reply(ref, in.Reject(code))
		return
	}
	if g.consumers != nil {
		c.reply(ref, c.syncConsumers(g, in))
		return
	}
	m := g.member(in.Member)
	m.unsynced = false
	if g.state == stable {
		c.touch(m)
		c.reply(ref, c.synced(g, m))
		return
	}
	c.finishSync(m, &Synced{Code: kerr.RebalanceInProgress}) // an older one, as in park
	m.sync = ref
	if m.id == g.leader {
		c.assign(g, in.Assignments)
	}
}

func checkSync(g *group, in *Sync) kerr.Code {
	if g == nil {
		return kerr.UnknownMemberID
	}
	if g.consumers != nil {
		return kerr.None // it looks for itself
	}
	if code := g.validate(in.Member, in.Instance); code != kerr.None {
		return code
	}
	if in.Generation != g.generation {
		return kerr.IllegalGeneration
	}
	if in.ProtocolType != nil && *in.ProtocolType != g.protocolType ||
		in.Protocol != nil && (g.protocol == nil || *in.Protocol != *g.protocol) {
		return kerr.InconsistentGroupProtocol
	}
	switch g.state {
	case empty, dead:
		return kerr.UnknownMemberID
	case preparing:
		return kerr.RebalanceInProgress
	case completing, stable:
	}
	return kerr.None
}

// assign makes the generation stable with what the leader decided. The record goes to the log before anybody
// hears of it; if that fails, all who waited fail with it and start over.
func (c *Core) assign(g *group, as []Assignment) {
	for _, m := range g.members {
		m.assignment = []byte{}
	}
	for _, a := range as {
		if m := g.member(a.Member); m != nil {
			m.assignment = bytes.Clone(a.Data)
		}
	}
	c.writeGroup(g)
	g.become(stable, c.millis())
	for _, m := range g.members {
		if m.sync != 0 {
			c.touch(m)
			c.finishSync(m, c.synced(g, m))
		}
	}
	generation := g.generation
	c.onUndo(func() {
		if c.group(g.id) == g && g.state == stable && g.generation == generation {
			c.failSyncs(g, kerr.RebalanceInProgress)
			c.prepare(g)
		}
	})
}

func (c *Core) synced(g *group, m *member) *Synced {
	t := g.protocolType
	return &Synced{ProtocolType: &t, Protocol: g.protocol, Assignment: m.assignment}
}

// onSyncTimer removes those who took the generation and never asked for their share: the others wait for them
// (KAFKA-12890).
func (c *Core) onSyncTimer(g *group) {
	if g.state != completing && g.state != stable {
		return
	}
	var late []*member
	for _, m := range g.members {
		if m.unsynced {
			late = append(late, m)
		}
	}
	for _, m := range late {
		c.removeMember(g, m, kerr.UnknownMemberID)
	}
	if len(late) > 0 {
		c.shrunk(g)
	}
}

func (c *Core) onHeartbeat(in *Heartbeat) kerr.Code {
	if code := checkGroupID(in.Group); code != kerr.None {
		return code
	}
	g := c.group(in.Group)
	if g == nil {
		return kerr.UnknownMemberID
	}
	if g.consumers != nil {
		return c.heartbeatConsumers(g, in)
	}
	if code := g.validate(in.Member, in.Instance); code != kerr.None {
		return code
	}
	if in.Generation != g.generation {
		return kerr.IllegalGeneration
	}
	c.touch(g.member(in.Member))
	if g.state == preparing {
		return kerr.RebalanceInProgress
	}
	return kerr.None
}

func (c *Core) onLeave(in *Leave) Output {
	if code := checkGroupID(in.Group); code != kerr.None {
		return &Left{Code: code}
	}
	out := &Left{Codes: make([]kerr.Code, len(in.Members))}
	gone := false
	var g *group
	for i, l := range in.Members {
		g = c.group(in.Group) // another one, if the last member's leaving changed its protocol
		out.Codes[i] = c.leave(g, l)
		gone = gone || out.Codes[i] == kerr.None
	}
	if gone && g.consumers == nil {
		c.shrunk(g)
	}
	return out
}

func (c *Core) leave(g *group, l LeaveMember) kerr.Code {
	if g == nil {
		return kerr.UnknownMemberID
	}
	if g.consumers != nil {
		return c.leaveConsumers(g, l)
	}
	if l.Member == "" {
		if l.Instance == nil || g.static[*l.Instance] == nil {
			return kerr.UnknownMemberID
		}
		c.removeMember(g, g.static[*l.Instance], kerr.UnknownMemberID)
		return kerr.None
	}
	if c.dropPending(g, l.Member) {
		return kerr.None
	}
	if code := g.validate(l.Member, l.Instance); code != kerr.None {
		return code
	}
	c.removeMember(g, g.member(l.Member), kerr.UnknownMemberID)
	return kerr.None
}
