package group

import (
	"maps"
	"slices"
	"time"

	"github.com/tidwall/btree"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/record"
)

// consumers is what a group of the consumer protocol (KIP-848) is besides its offsets. A member is a value
// that is replaced, never changed: that is what makes taking back a step cheap.
type consumers struct {
	epoch           int32 // grows with every change of members, subscriptions or topics
	hash            int64 // of the topics they subscribe to
	assignmentEpoch int32 // the epoch that target was made for
	assignedAt      int64 // ms, 0 unknown
	recorded        bool  // the log has a record of the group itself
	members         btree.Map[string, *consumer]
	static          map[string]string // instance -> member
	target          map[string]parts  // member -> what it shall have
	owners          map[part]string   // who has a partition, or has yet to give it up
	regexes         map[string]*regex
	clocks          map[string]*clock
	modern          int         // members that speak the consumer protocol themselves
	seen            *meta.Image // hash was computed with
	resolved        int64       // offset of the metadata that the expressions were last resolved with,
	resolvedAt      time.Time   // and when
}

// Member states, as they stand in records.
const (
	memberStable     int8 = 0
	memberUnrevoked  int8 = 1 // has to give up revoking before it moves to the next epoch
	memberUnreleased int8 = 2 // waits for others to give up what it shall have
)

// leftForNow is the epoch of a static member that said it would be back.
const leftForNow = -2

// consumer is one member.
type consumer struct {
	id                   string
	instance, rack       *string
	clientID, clientHost string
	topics               []string // in order
	regex                string   // empty: none
	rebalanceTimeout     time.Duration
	assignor             string // empty: no preference
	classic              *classicConsumer
	epoch, previous      int32
	state                int8
	assigned             holding
	revoking             holding
}

// classicConsumer is a member that speaks the classic protocol in a group of the new one.
type classicConsumer struct {
	session   time.Duration
	protocols []Protocol
}

// regex is an expression that members subscribe by, and what it stands for.
type regex struct {
	topics  []string
	version int64 // offset of the metadata
	at      int64 // ms
}

// clock is a member's timers.
type clock struct {
	session   *timer
	rebalance *timer // the member has to revoke, or to join again, until then
	sync      *timer // of classic members: has to ask for its assignment until then
}

func newConsumers() *consumers {
	// A group starts in epoch 1: Apache writes no record of it until the first change.
	return &consumers{
		epoch: 1, assignmentEpoch: 1, static: map[string]string{}, target: map[string]parts{},
		owners: map[part]string{}, regexes: map[string]*regex{}, clocks: map[string]*clock{},
	}
}

func (s *consumers) member(id string) *consumer {
	m, _ := s.members.Get(id)
	return m
}

func (s *consumers) all() []*consumer { return s.members.Values() }

func (s *consumers) instance(id string) *consumer { return s.member(s.static[id]) }

// swap puts m in the place of the member id, nil for nobody, and returns who was there.
func (s *consumers) swap(id string, m *consumer) (old *consumer) {
	if old = s.member(id); old != nil {
		s.members.Delete(id)
		s.disown(old, old.assigned)
		s.disown(old, old.revoking)
		if old.classic == nil {
			s.modern--
		}
		if old.instance != nil && s.static[*old.instance] == id {
			delete(s.static, *old.instance)
		}
	}
	if m == nil {
		return old
	}
	s.members.Set(id, m)
	for _, h := range []holding{m.assigned, m.revoking} {
		for _, p := range h {
			s.owners[p.part] = id
		}
	}
	if m.classic == nil {
		s.modern++
	}
	if m.instance != nil {
		s.static[*m.instance] = id
	}
	return old
}

func (s *consumers) disown(m *consumer, h holding) {
	for _, p := range h {
		if s.owners[p.part] == m.id {
			delete(s.owners, p.part)
		}
	}
}

// others says whether somebody else has p still.
func (s *consumers) others(m *consumer, p part) bool {
	id, ok := s.owners[p]
	return ok && id != m.id
}

func (s *consumers) state() string {
	if s.members.Len() == 0 {
		return "Empty"
	}
	if s.epoch > s.assignmentEpoch {
		return "Assigning"
	}
	name := "Stable"
	s.members.Scan(func(_ string, m *consumer) bool {
		if m.epoch != s.assignmentEpoch || m.state != memberStable {
			name = "Reconciling"
		}
		return name == "Stable"
	})
	return name
}

// topicsOf are all topics that m subscribes to, in order.
func (s *consumers) topicsOf(m *consumer) []string {
	r := s.regexes[m.regex]
	if m.regex == "" || r == nil || len(r.topics) == 0 {
		return m.topics
	}
	all := append(slices.Clone(m.topics), r.topics...)
	slices.Sort(all)
	return slices.Compact(all)
}

// subscribed are all topics that any member subscribes to, in order.
func (s *consumers) subscribed() []string {
	set := map[string]struct{}{}
	used := map[string]struct{}{}
	s.members.Scan(func(_ string, m *consumer) bool {
		for _, t := range m.topics {
			set[t] = struct{}{}
		}
		used[m.regex] = struct{}{}
		return true
	})
	for re := range used {
		if r := s.regexes[re]; r != nil {
			for _, t := range r.topics {
				set[t] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func (s *consumers) wants(topic string) bool {
	_, ok := slices.BinarySearch(s.subscribed(), topic)
	return ok
}

// bare says that there is nothing of the group in the log.
func (s *consumers) bare() bool {
	return !s.recorded && s.members.Len() == 0 && len(s.target) == 0 && len(s.regexes) == 0
}

// preferred is the assignor that most members ask for, the first one by default.
func (s *consumers) preferred(cfg *Config) string {
	votes := map[string]int{}
	s.members.Scan(func(_ string, m *consumer) bool {
		votes[m.assignor]++
		return true
	})
	best := ""
	for _, name := range cfg.Assignors {
		if votes[name] > votes[best] || best == "" && votes[name] > 0 {
			best = name
		}
	}
	if best == "" {
		best = cfg.Assignors[0]
	}
	return best
}

// putConsumer makes m the member of its id.
func (c *Core) putConsumer(g *group, m *consumer) {
	old := g.consumers.swap(m.id, m)
	c.onUndo(func() {
		if g.consumers.swap(m.id, old); old == nil {
			c.stopClock(g.consumers, m.id)
		}
	})
}

// dropConsumer forgets a member and what it was to have, and buries its records.
func (c *Core) dropConsumer(g *group, id string) {
	for _, k := range []record.GroupKind{
		record.KindConsumerCurrent, record.KindConsumerTargetOf, record.KindConsumerMember,
	} {
		c.writeConsumer(g, k, id, nil)
	}
	s := g.consumers
	old := s.swap(id, nil)
	target, had := s.target[id]
	delete(s.target, id)
	c.stopClock(s, id)
	c.onUndo(func() {
		s.swap(id, old)
		if had {
			s.target[id] = target
		}
		c.touchConsumer(g, old)
	})
}

// setEpochs gives the group new epochs, with a way back.
func (c *Core) setEpochs(s *consumers, epoch, assignment int32, hash, at int64) {
	oldEpoch, oldAssignment, oldHash, oldAt, oldRecorded := s.epoch, s.assignmentEpoch, s.hash, s.assignedAt,
		s.recorded
	s.epoch, s.assignmentEpoch, s.hash, s.assignedAt, s.recorded = epoch, assignment, hash, at, true
	c.onUndo(func() {
		s.epoch, s.assignmentEpoch, s.hash, s.assignedAt = oldEpoch, oldAssignment, oldHash, oldAt
		s.recorded, s.seen = oldRecorded, nil
	})
}

// clock is the timers of a member, made when it has none.
func (c *Core) clock(g *group, id string) *clock {
	k := g.consumers.clocks[id]
	if k == nil {
		late := func() { c.onConsumerTimer(g, id) }
		k = &clock{session: newTimer(late), rebalance: newTimer(late), sync: newTimer(late)}
		g.consumers.clocks[id] = k
	}
	return k
}

func (c *Core) stopClock(s *consumers, id string) {
	if k := s.clocks[id]; k != nil {
		c.timers.cancel(k.session)
		c.timers.cancel(k.rebalance)
		c.timers.cancel(k.sync)
		delete(s.clocks, id)
	}
}

func (c *Core) stopClocks(s *consumers) {
	for _, id := range slices.Sorted(maps.Keys(s.clocks)) {
		c.stopClock(s, id)
	}
}

// touchConsumer restarts a member's session.
func (c *Core) touchConsumer(g *group, m *consumer) {
	d := c.sessionTimeout(g.id)
	if m.classic != nil {
		d = m.classic.session
	}
	c.timers.set(c.clock(g, m.id).session, c.now.Add(d))
}

// onConsumerTimer ends a member that wasn't heard of, or that didn't do in time what all others wait for.
func (c *Core) onConsumerTimer(g *group, id string) {
	if c.group(g.id) == g && g.consumers.member(id) != nil {
		c.removeConsumers(g, id)
	}
}
