package group

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

type state int8

const (
	empty state = iota
	preparing
	completing
	stable
	dead
)

func (s state) String() string {
	return [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"}[s]
}

// group is one group. Groups that only hold offsets (simple ones) have no protocol type and are always Empty.
type group struct {
	id           string
	state        state
	initial      bool  // preparing, coming from Empty: the initial delay runs
	stateSince   int64 // ms; -1 unknown
	generation   int32
	protocolType string
	protocol     *string
	leader       string
	members      []*member // in the order in which they joined
	byID         map[string]*member
	static       map[string]*member
	pending      []pendingMember
	supported    map[string]int // protocol -> how many members speak it
	awaiting     int            // members with a parked join
	joinedAnew   bool           // while initial: the delay may be extended
	remaining    time.Duration  // while initial: how far it may be
	subscribed   map[string]struct{}
	subscribes   bool // subscribed is known
	joinTimer    *timer
	syncTimer    *timer
	recorded     bool // the log has a record of the classic protocol for it
	offsets      map[TopicPartition]*offset
	unstable     map[TopicPartition]int      // how many open transactions have an offset for it
	foreign      map[string]record.GroupKind // by key, the live records of protocols that aren't here yet
	consumers    *consumers                  // of groups of the consumer protocol: no classic field is set then
}

// pendingMember is an id that MEMBER_ID_REQUIRED told to a client that hasn't come back yet.
type pendingMember struct {
	id    string
	timer *timer
}

// member is one member of a group.
type member struct {
	id                   string
	instance             *string
	clientID, clientHost string
	sessionTimeout       time.Duration
	rebalanceTimeout     time.Duration
	protocols            []Protocol
	assignment           []byte
	join, sync           Ref
	fresh                bool // hasn't completed a join yet: its session runs even while it waits
	unsynced             bool // joined this generation, hasn't asked for its assignment
	session              *timer
}

func (g *group) member(id string) *member { return g.byID[id] }

func (g *group) become(s state, ms int64) { g.state, g.stateSince = s, ms }

func (g *group) add(m *member, protocolType string) {
	if len(g.members) == 0 {
		g.protocolType = protocolType
	}
	if g.byID == nil {
		g.byID, g.static, g.supported = map[string]*member{}, map[string]*member{}, map[string]int{}
	}
	if g.leader == "" {
		g.leader = m.id
	}
	g.members = append(g.members, m)
	g.byID[m.id] = m
	if m.instance != nil {
		g.static[*m.instance] = m
	}
	g.support(m, 1)
	if m.join != 0 {
		g.awaiting++
	}
}

func (g *group) support(m *member, n int) {
	for i, p := range m.protocols {
		if i > 0 && slices.ContainsFunc(m.protocols[:i], func(q Protocol) bool { return q.Name == p.Name }) {
			continue // named twice, counts once
		}
		if g.supported[p.Name] += n; g.supported[p.Name] == 0 {
			delete(g.supported, p.Name)
		}
	}
}

func (g *group) remove(m *member) {
	g.members = slices.DeleteFunc(g.members, func(x *member) bool { return x == m })
	delete(g.byID, m.id)
	if m.instance != nil && g.static[*m.instance] == m {
		delete(g.static, *m.instance)
	}
	g.support(m, -1)
	if m.join != 0 {
		g.awaiting--
	}
	if g.leader == m.id {
		g.leader = ""
		if len(g.members) > 0 {
			g.leader = g.members[0].id
		}
	}
}

// setProtocols is the member's new preference.
func (g *group) setProtocols(m *member, ps []Protocol) {
	g.support(m, -1)
	m.protocols = ps
	g.support(m, 1)
}

// accepts says whether someone with this type and these protocols can be in the group.
func (g *group) accepts(protocolType string, ps []Protocol) bool {
	if protocolType == "" || len(ps) == 0 {
		return false
	}
	if g.state == empty {
		return true
	}
	return protocolType == g.protocolType &&
		slices.ContainsFunc(ps, func(p Protocol) bool { return g.supported[p.Name] == len(g.members) })
}

// rename gives the member of a static instance a new id; the old one is fenced from now on.
func (g *group) rename(m *member, id string) {
	delete(g.byID, m.id)
	if g.leader == m.id {
		g.leader = id
	}
	m.id = id
	g.byID[id] = m
}

func (g *group) allJoined() bool { return g.awaiting == len(g.members) && len(g.pending) == 0 }

func (g *group) rebalanceTimeout() (d time.Duration) {
	for _, m := range g.members {
		d = max(d, m.rebalanceTimeout)
	}
	return d
}

// electLeader makes sure that the leader is among those that wait for the next generation. False: nobody is.
func (g *group) electLeader() bool {
	if l := g.member(g.leader); l != nil && l.join != 0 {
		return true
	}
	for _, m := range g.members {
		if m.join != 0 {
			g.leader = m.id
			return true
		}
	}
	return false
}

// selectProtocol lets every member vote for what it likes best among that which all speak. Between equals,
// what the member that joined first prefers.
func (g *group) selectProtocol() string {
	votes := map[string]int{}
	var ballot []string
	for _, m := range g.members {
		for _, p := range m.protocols {
			if g.supported[p.Name] != len(g.members) {
				continue
			}
			if votes[p.Name]++; votes[p.Name] == 1 {
				ballot = append(ballot, p.Name)
			}
			break
		}
	}
	best := ""
	for _, p := range ballot {
		if votes[p] > votes[best] {
			best = p
		}
	}
	return best
}

// nextGeneration starts a generation with the members there are.
func (g *group) nextGeneration(ms int64) {
	g.generation++
	for _, m := range g.members {
		m.unsynced = false
	}
	if len(g.members) == 0 {
		g.protocol = nil
		g.become(empty, ms)
	} else {
		p := g.selectProtocol()
		g.protocol = &p
		g.become(completing, ms)
	}
	g.initial = false
	g.subscribe()
}

// subscribe works out which topics the members consume, as far as one can know.
func (g *group) subscribe() {
	g.subscribed, g.subscribes = nil, false
	if g.protocolType == "" {
		return
	}
	if len(g.members) == 0 {
		g.subscribes = true
		return
	}
	if g.protocolType != consumerType || g.protocol == nil {
		return
	}
	topics := map[string]struct{}{}
	for _, m := range g.members {
		if !readSubscription(m.metadata(*g.protocol), topics) {
			return
		}
	}
	g.subscribed, g.subscribes = topics, true
}

const consumerType = "consumer"

// consumes says whether the group may still want its offsets of a topic. If one can't know it does.
func (g *group) consumes(topic string) bool {
	if !g.subscribes {
		return g.protocolType == consumerType
	}
	_, ok := g.subscribed[topic]
	return ok
}

// readSubscription adds the topics of a consumer's subscription (version, topics, ...) to topics.
func readSubscription(b []byte, topics map[string]struct{}) bool {
	if len(b) < 6 || int16(binary.BigEndian.Uint16(b)) < 0 {
		return false
	}
	n := int32(binary.BigEndian.Uint32(b[2:]))
	b = b[6:]
	for ; n > 0; n-- {
		if len(b) < 2 {
			return false
		}
		l := int(int16(binary.BigEndian.Uint16(b)))
		if l < 0 || l > len(b)-2 {
			return false
		}
		topics[string(b[2:2+l])] = struct{}{}
		b = b[2+l:]
	}
	return n == 0
}

func (m *member) metadata(protocol string) []byte {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}

func (m *member) speaks(ps []Protocol) bool {
	return slices.EqualFunc(m.protocols, ps, func(a, b Protocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

// validate is the check of whoever claims to be a member.
func (g *group) validate(id string, instance *string) kerr.Code {
	if instance != nil {
		m := g.static[*instance]
		if m == nil {
			return kerr.UnknownMemberID
		}
		if m.id != id {
			return kerr.FencedInstanceID
		}
	}
	if g.member(id) == nil {
		return kerr.UnknownMemberID
	}
	return kerr.None
}

func (g *group) record() []byte {
	v := record.GroupValue{
		Version:        3,
		ProtocolType:   g.protocolType,
		Generation:     g.generation,
		Protocol:       g.protocol,
		StateTimestamp: g.stateSince,
	}
	if g.leader != "" {
		v.Leader = &g.leader
	}
	for _, m := range g.members {
		r := record.GroupMember{
			ID:               m.id,
			InstanceID:       m.instance,
			ClientID:         m.clientID,
			ClientHost:       m.clientHost,
			RebalanceTimeout: int32(m.rebalanceTimeout.Milliseconds()),
			SessionTimeout:   int32(m.sessionTimeout.Milliseconds()),
			Assignment:       m.assignment,
		}
		if g.protocol != nil {
			r.Subscription = m.metadata(*g.protocol)
		}
		v.Members = append(v.Members, r)
	}
	return v.Encode()
}
