package group

import (
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
)

// refusal is an outcome with words; nil is none.
type refusal struct {
	code kerr.Code
	text string
}

func refuse(code kerr.Code, format string, args ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

func (c *Core) onConsumerHeartbeat(in *ConsumerHeartbeat) Output {
	c.see(in.Image)
	out, no := &ConsumerBeat{}, c.checkConsumer(in)
	switch {
	case no != nil:
	case in.Epoch < 0:
		out, no = c.consumerLeaves(in)
	default:
		out, no = c.consumerBeats(in)
	}
	if no != nil {
		return &ConsumerBeat{Code: no.code, Message: no.text}
	}
	return out
}

// see takes note of newer metadata.
func (c *Core) see(img *meta.Image) {
	if img != nil && (c.image == nil || img.Offset > c.image.Offset) {
		c.image = img
	}
}

// checkConsumer is what can be said about a request without its group.
func (c *Core) checkConsumer(in *ConsumerHeartbeat) *refusal {
	blank := func(s *string) bool { return s != nil && strings.TrimSpace(*s) == "" }
	switch {
	case strings.TrimSpace(in.Group) == "":
		return refuse(kerr.InvalidRequest, "GroupId can't be empty.")
	case strings.TrimSpace(in.Member) == "":
		return refuse(kerr.InvalidRequest, "MemberId can't be empty.")
	case blank(in.Instance):
		return refuse(kerr.InvalidRequest, "InstanceId can't be empty.")
	case blank(in.Rack):
		return refuse(kerr.InvalidRequest, "RackId can't be empty.")
	case in.Epoch < leftForNow:
		return refuse(kerr.InvalidRequest, "MemberEpoch is invalid.")
	case in.Epoch == leftForNow && in.Instance == nil:
		return refuse(kerr.InvalidRequest, "InstanceId can't be null.")
	case tooLong(in.Group, in.Member, deref(in.Regex)):
		return refuse(kerr.InvalidRequest, "Name too long.")
	}
	if in.Epoch == 0 {
		switch {
		case in.RebalanceTimeout < 0:
			return refuse(kerr.InvalidRequest, "RebalanceTimeoutMs must be provided in first request.")
		case in.Owned == nil || len(in.Owned) > 0:
			return refuse(kerr.InvalidRequest, "TopicPartitions must be empty when (re-)joining.")
		case in.Topics == nil && in.Regex == nil:
			return refuse(kerr.InvalidRequest, "Either SubscribedTopicNames or SubscribedTopicRegex must be "+
				"non-null when (re-)joining.")
		}
	}
	if a := in.Assignor; a != nil && !slices.Contains(c.cfg.Assignors, *a) {
		return refuse(kerr.UnsupportedAssignor, "ServerAssignor %s is not supported. Supported assignors: %s.",
			*a, strings.Join(c.cfg.Assignors, ", "))
	}
	if in.Regex != nil && *in.Regex != "" {
		if _, err := compileRegex(*in.Regex); err != nil {
			return refuse(kerr.InvalidRegularExpression,
				"SubscribedTopicRegex `%s` is not a valid regular expression: %s.", *in.Regex, err)
		}
	}
	return nil
}

// compileRegex makes an expression that matches whole names. Go's dialect is RE2's, as Apache's (RE2/J).
func compileRegex(s string) (*regexp.Regexp, error) {
	if _, err := syntax.Parse(s, syntax.Perl); err != nil {
		if e := (*syntax.Error)(nil); errors.As(err, &e) {
			return nil, errors.New(string(e.Code))
		}
		return nil, err
	}
	return regexp.Compile(`\A(?:` + s + `)\z`)
}

func (c *Core) consumerBeats(in *ConsumerHeartbeat) (*ConsumerBeat, *refusal) {
	g, no := c.consumerGroup(in)
	if no != nil {
		return nil, no
	}
	old, m, no := c.consumerOf(g, in)
	if no != nil {
		return nil, no
	}
	full := in.RebalanceTimeout >= 0 && in.Owned != nil && (in.Topics != nil || in.Regex != nil)
	n := *m
	in.update(&n)
	r := reconciling{told: in.Owned != nil, owned: slices.Clone(in.Owned)}
	slices.SortFunc(r.owned, compareParts)
	now := c.advance(g, old, &n, &r)
	out := &ConsumerBeat{Member: n.id, Epoch: now.epoch, Interval: c.heartbeatInterval(g.id)}
	if in.Epoch == 0 || full || !slices.Equal(now.assigned.parts(), m.assigned.parts()) {
		out.Assignment = now.assigned.parts()
		if out.Assignment == nil {
			out.Assignment = parts{}
		}
	}
	return out, nil
}

// consumerGroup finds the group, makes it, or makes it one of the consumer protocol.
func (c *Core) consumerGroup(in *ConsumerHeartbeat) (*group, *refusal) {
	g := c.group(in.Group)
	switch {
	case g != nil && g.consumers != nil:
		return g, nil
	case in.Epoch != 0 && g == nil:
		return nil, refuse(kerr.GroupIDNotFound, "Consumer group %s not found.", in.Group)
	case g == nil:
		g = c.newGroup(in.Group)
		g.consumers = newConsumers()
		c.onUndo(func() { c.dropGroup(g) })
		return g, nil
	case len(g.foreign) == 0 && in.Epoch == 0 && g.state == empty:
		return c.replaceClassic(g), nil
	case in.Epoch == 0 && len(g.foreign) == 0:
		if g.protocolType != consumerType {
			return nil, refuse(kerr.GroupIDNotFound, "Cannot upgrade classic group %s to consumer group because the "+
				"group does not use the consumer embedded protocol.", g.id)
		}
		if n := c.upgrade(g); n != nil {
			return n, nil
		}
	}
	return nil, refuse(kerr.GroupIDNotFound, "Group %s is not a consumer group.", in.Group)
}

// consumerOf finds the member. old is what stands in the group under its id now, m what it starts from.
func (c *Core) consumerOf(g *group, in *ConsumerHeartbeat) (old, m *consumer, no *refusal) {
	s := g.consumers
	if m = s.member(in.Member); in.Instance != nil {
		if m, no = c.staticOf(g, in); no != nil {
			return nil, nil, no
		}
	}
	if m == nil {
		if in.Epoch != 0 {
			return nil, nil, refuse(kerr.UnknownMemberID, "Member %s is not a member of group %s.", in.Member, g.id)
		}
		if s.members.Len() >= c.cfg.ConsumerMaxSize {
			return nil, nil, refuse(kerr.GroupMaxSizeReached,
				"The consumer group has reached its maximum capacity of %d members.", c.cfg.ConsumerMaxSize)
		}
		return nil, &consumer{id: in.Member, instance: in.Instance}, nil
	}
	if m.id != in.Member {
		m = c.takePlace(g, m, in.Member)
		return m, m, nil
	}
	return m, m, checkEpoch(m, in)
}

// checkEpoch fences a member that isn't where we think it is. One epoch behind is fine if it has nothing that
// it shouldn't: the reply that told it the newer one got lost.
func checkEpoch(m *consumer, in *ConsumerHeartbeat) *refusal {
	word := ""
	switch {
	case in.Epoch == 0 || in.Epoch == m.epoch:
		return nil
	case in.Epoch > m.epoch:
		word = "greater"
	default:
		within := in.Owned != nil && in.Epoch == m.previous
		for _, p := range in.Owned {
			_, has := m.assigned.find(p)
			within = within && has
		}
		if within {
			return nil
		}
		word = "smaller"
	}
	return refuse(kerr.FencedMemberEpoch, "The consumer group member has a %s member epoch (%d) than the one "+
		"known by the group coordinator (%d). The member must abandon all its partitions and rejoin.",
		word, in.Epoch, m.epoch)
}

// staticOf finds the member of an instance; it has another id if it may be replaced (KIP-848).
func (c *Core) staticOf(g *group, in *ConsumerHeartbeat) (*consumer, *refusal) {
	m := g.consumers.instance(*in.Instance)
	switch {
	case m == nil && in.Epoch != 0:
		return nil, refuse(kerr.UnknownMemberID, "Instance id %s is unknown.", *in.Instance)
	case m == nil:
		return g.consumers.member(in.Member), nil
	case m.id == in.Member:
	case in.Epoch != 0:
		return nil, refuse(kerr.FencedInstanceID, "Static member %s with instance id %s was fenced by member %s.",
			in.Member, *in.Instance, m.id)
	case m.epoch != leftForNow && m.classic == nil: // a classic one can't say that it leaves for now
		return nil, refuse(kerr.UnreleasedInstanceID, "Static member %s with instance id %s cannot join the group "+
			"because the instance id is owned by %s member.", in.Member, *in.Instance, m.id)
	}
	return m, nil
}

// takePlace gives what a static member had to the one that comes back under another id.
func (c *Core) takePlace(g *group, old *consumer, id string) *consumer {
	target := g.consumers.target[old.id]
	c.dropConsumer(g, old.id)
	n := *old
	n.id, n.epoch, n.previous, n.state, n.revoking = id, 0, 0, memberStable, nil
	c.putConsumer(g, &n)
	c.writeMember(g, &n)
	c.setTarget(g, id, target)
	c.writeCurrent(g, &n)
	return &n
}

// update is what the request says about the member. nil is unchanged.
func (in *ConsumerHeartbeat) update(m *consumer) {
	m.clientID, m.clientHost, m.classic = in.ClientID, in.ClientHost, nil
	if in.Instance != nil {
		m.instance = in.Instance
	}
	if in.Rack != nil {
		m.rack = in.Rack
	}
	if in.RebalanceTimeout >= 0 {
		m.rebalanceTimeout = in.RebalanceTimeout
	}
	if in.Topics != nil {
		m.topics = slices.Compact(slices.Sorted(slices.Values(in.Topics)))
	}
	if in.Regex != nil {
		m.regex = strings.Clone(*in.Regex)
	}
	if in.Assignor != nil {
		m.assignor = strings.Clone(*in.Assignor)
	}
}

func (m *consumer) saysAs(n *consumer) bool {
	return equal(m.instance, n.instance) && equal(m.rack, n.rack) && m.clientID == n.clientID &&
		m.clientHost == n.clientHost && slices.Equal(m.topics, n.topics) && m.regex == n.regex &&
		m.rebalanceTimeout == n.rebalanceTimeout && m.assignor == n.assignor && m.classic.equal(n.classic)
}

func equal(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func (k *classicConsumer) equal(l *classicConsumer) bool {
	if k == nil || l == nil {
		return k == l
	}
	return k.session == l.session && slices.EqualFunc(k.protocols, l.protocols, func(a, b Protocol) bool {
		return a.Name == b.Name && string(a.Metadata) == string(b.Metadata)
	})
}

// consumerLeaves ends a membership, or, with epoch -2, keeps a static member's place.
func (c *Core) consumerLeaves(in *ConsumerHeartbeat) (*ConsumerBeat, *refusal) {
	g := c.group(in.Group)
	if g == nil {
		return nil, refuse(kerr.GroupIDNotFound, "Group %s not found.", in.Group)
	}
	if g.consumers == nil {
		return nil, refuse(kerr.GroupIDNotFound, "Group %s is not a consumer group.", in.Group)
	}
	m, no := g.consumers.member(in.Member), (*refusal)(nil)
	if in.Instance != nil {
		if m, no = c.staticOf(g, in); no != nil {
			return nil, no
		}
	}
	if m == nil {
		return nil, refuse(kerr.UnknownMemberID, "Member %s is not a member of group %s.", in.Member, g.id)
	}
	if in.Epoch == leftForNow {
		c.leaveForNow(g, m)
	} else {
		c.removeConsumers(g, m.id)
	}
	return &ConsumerBeat{Member: in.Member, Epoch: in.Epoch}, nil
}

func (c *Core) leaveForNow(g *group, m *consumer) {
	n := *m
	n.epoch, n.state, n.revoking, n.assigned = leftForNow, memberStable, nil, slices.Clone(m.assigned)
	for i := range n.assigned {
		n.assigned[i].epoch = 0 // who comes back may commit what was consumed in any epoch
	}
	c.putConsumer(g, &n)
	c.writeCurrent(g, &n)
	c.timers.cancel(c.clock(g, m.id).rebalance)
	c.timers.cancel(c.clock(g, m.id).sync)
}

// metadataHash stands for all that assignments depend on of the topics that exist.
func metadataHash(img *meta.Image, topics []string) int64 {
	h := fnv.New64a()
	found := false
	for _, name := range topics {
		if t := topicOf(img, name); t != nil {
			found = true
			fmt.Fprintf(h, "%x %d\n", t.ID, len(t.Partitions))
		}
	}
	if !found {
		return 0
	}
	return int64(h.Sum64())
}

func (c *Core) sessionTimeout(id string) time.Duration {
	return c.groupSetting(id, "consumer.session.timeout.ms", &c.cfg.ConsumerSession)
}

func (c *Core) heartbeatInterval(id string) time.Duration {
	return c.groupSetting(id, "consumer.heartbeat.interval.ms", &c.cfg.ConsumerHeartbeat)
}

func (c *Core) assignmentInterval(id string) time.Duration {
	return c.groupSetting(id, "consumer.assignment.interval.ms", &c.cfg.AssignmentInterval)
}
