package group

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// topicID gives a topic of a test an id that shows its name.
func topicID(name string) (id UUID) {
	copy(id[:], name)
	return id
}

// imageOf makes metadata of topics with so many partitions, and settings of the group g.
func imageOf(offset int64, topics map[string]int32, settings map[string]string) *meta.Image {
	var recs [][]byte
	for _, name := range slices.Sorted(maps.Keys(topics)) {
		id := meta.UUID(topicID(name))
		recs = append(recs, record.AppendMetadata(nil, &record.Topic{Name: name, TopicID: id}, 0))
		for n := range topics[name] {
			recs = append(recs, record.AppendMetadata(nil, &record.Partition{
				PartitionID: n, TopicID: id, Replicas: []meta.NodeID{1}, ISR: []meta.NodeID{1}, Leader: 1,
			}, 0))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(settings)) {
		v := settings[k]
		recs = append(recs, record.AppendMetadata(nil, &record.Config{
			ResourceType: int8(meta.ConfigGroup), ResourceName: "g", Name: k, Value: &v,
		}, 0))
	}
	img, _, err := meta.Empty().Apply(0, 1, 1, recs)
	if err != nil {
		panic(err)
	}
	img.Offset = offset
	return img
}

// topics changes the metadata that later requests come with: topics a=6 b=0.
func (w *world) topics(p *words) {
	for name, n := range p.keys {
		i, _ := strconv.Atoi(n)
		if w.have[name] = int32(i); i == 0 {
			delete(w.have, name)
		}
	}
	w.offset++
	w.image = imageOf(w.offset, w.have, w.settings)
}

func (w *world) setting(p *words) {
	maps.Copy(w.settings, p.keys)
	w.offset++
	w.image = imageOf(w.offset, w.have, w.settings)
}

func (p *words) option(key string) *string {
	if v, ok := p.keys[key]; ok {
		return &v
	}
	return nil
}

func list(s string) []string {
	return append([]string{}, strings.FieldsFunc(s, func(r rune) bool { return r == ',' })...)
}

func (w *world) beat(p *words, group string) *ConsumerHeartbeat {
	member := p.args[1]
	in := &ConsumerHeartbeat{
		Group: group, Member: member, Instance: p.instance(), Rack: p.option("rack"), Regex: p.option("regex"),
		Assignor: p.option("assignor"), RebalanceTimeout: p.duration("rebalance", -1), ClientID: "c",
		ClientHost: "/h", Image: w.image,
	}
	if in.Epoch = int32(p.int("epoch", 0)); p.keys["epoch"] == "" {
		in.Epoch = w.epochs[member]
	}
	if s, ok := p.keys["topics"]; ok {
		in.Topics = list(s)
	}
	if s, ok := p.keys["owned"]; ok {
		in.Owned = []Partition{}
		for _, x := range list(s) {
			tp := partition(x)
			in.Owned = append(in.Owned, part{topicID(tp.Topic), tp.Partition})
		}
	}
	if len(p.args) > 3 && p.args[3] == "join" {
		in.Epoch, in.RebalanceTimeout, in.Owned = 0, p.duration("rebalance", time.Minute), []Partition{}
	}
	return in
}

func topicText(id UUID) string { return strings.TrimRight(string(id[:]), "\x00") }

func partsText(ps parts) string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%s-%d", topicText(p.topic), p.n))
	}
	return "[" + strings.Join(out, " ") + "]"
}

func (w *world) beatText(o *ConsumerBeat) string {
	if o.Code != kerr.None {
		return fmt.Sprintf("%v %s", o.Code, o.Message)
	}
	w.epochs[o.Member] = max(o.Epoch, 0)
	s := fmt.Sprintf("epoch=%d", o.Epoch)
	if o.Interval != 0 {
		s += " next=" + o.Interval.String()
	}
	if o.Assignment != nil {
		s += " " + partsText(o.Assignment)
	}
	return s
}

func (w *world) consumersText(o *ConsumersDescribed) string {
	s := fmt.Sprintf("%v %s", o.Code, o.Message)
	if o.Code != kerr.None {
		return s
	}
	s += fmt.Sprintf("%s epoch=%d assignment=%d %s", o.State, o.Epoch, o.AssignmentEpoch, o.Assignor)
	for _, m := range o.Members {
		kind := ""
		if m.Classic {
			kind = " classic"
		}
		s += fmt.Sprintf("\n    %s%s epoch=%d has=%s target=%s", w.alias(m.Member), kind, m.Epoch, partsText(m.Has),
			partsText(m.Target))
	}
	return s
}

// consumerRecord prints records of kinds 3 to 8 and 16.
func (w *world) consumerRecord(k *record.GroupKey, value []byte) string {
	name := ""
	if k.Name != "" {
		name = " " + w.alias(k.Name)
	}
	what := map[record.GroupKind]string{3: "group", 4: "topics", 5: "member", 6: "target", 7: "target", 8: "current", 16: "regex"}
	s := fmt.Sprintf("consumer %s%s", what[k.Kind], name)
	if value == nil {
		return s + " tombstone"
	}
	switch k.Kind {
	case record.KindConsumerGroup:
		v, _ := record.DecodeConsumerGroup(value)
		return fmt.Sprintf("%s epoch=%d topics=%v", s, v.Epoch, v.MetadataHash != 0)
	case record.KindConsumerMember:
		v, _ := record.DecodeConsumerMember(value)
		return fmt.Sprintf("%s %v regex=%q classic=%v", s, v.Topics, deref(v.Regex), v.Classic != nil)
	case record.KindConsumerTarget:
		v, _ := record.DecodeConsumerTarget(value)
		return fmt.Sprintf("%s epoch=%d", s, v.Epoch)
	case record.KindConsumerTargetOf:
		v, _ := record.DecodeConsumerTargetOf(value)
		return s + " " + partsText(partsOf(v.Topics))
	case record.KindConsumerCurrent:
		v, _ := record.DecodeConsumerCurrent(value)
		return fmt.Sprintf("%s epoch=%d was=%d state=%d %s -%s", s, v.Epoch, v.PreviousEpoch, v.State,
			partsText(partsOf(v.Assigned)), partsText(partsOf(v.Revoking)))
	default:
	}
	v, _ := record.DecodeConsumerRegex(value)
	return fmt.Sprintf("%s %v", s, v.Topics)
}

// flock drives a core with consumers that do as clients do: they have what they were told, give up what they
// are told to give up some beats later, and start over when they are fenced.
type flock struct {
	core     *Core
	cfg      Config
	now      time.Time
	log      []batch.Record
	image    *meta.Image
	have     map[string]int32
	offset   int64
	ref      Ref
	members  []*sheep
	settling bool
	grown    int32 // the group's epoch can only grow
}

type sheep struct {
	id       string
	instance *string
	epoch    int32
	in       bool
	unsure   bool          // of what the group has heard: it says everything next time
	has      map[part]bool // what it consumes
	should   map[part]bool // what it was told to
	topics   []string
	regex    *string
}

// TestConsumersRandom lets consumers come, go, fall silent and change their minds, topics grow and go, appends
// fail, and the coordinator move. After every step no two clients consume the same partition; when the storm
// is over all settle, and every partition somebody wants is consumed.
func TestConsumersRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &flock{cfg: Defaults(), now: time.UnixMilli(1e12), have: map[string]int32{"a": 4, "b": 3}}
		f.cfg.AssignmentInterval.Default = rapid.SampledFrom([]time.Duration{0, time.Second}).Draw(t, "interval")
		f.core = New(f.cfg, [32]byte{1})
		f.renew()
		for i := range 5 {
			s := &sheep{id: fmt.Sprintf("m%d", i), topics: []string{"a"}}
			if i == 4 {
				s.instance = &s.id
			}
			f.members = append(f.members, s)
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			f.step(t)
			f.check(t)
		}
		f.settle(t)
	})
}

func (f *flock) renew() {
	f.offset++
	f.image = imageOf(f.offset, f.have, nil)
}

func (f *flock) step(t *rapid.T) {
	s := rapid.SampledFrom(f.members).Draw(t, "member")
	switch rapid.IntRange(0, 15).Draw(t, "what") {
	case 0:
		f.now = f.now.Add(rapid.SampledFrom([]time.Duration{time.Second, 20 * time.Second, 50 * time.Second}).
			Draw(t, "wait"))
		f.core.Tick(f.now)
		f.drain(t, 0)
	case 1:
		name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "topic")
		if f.have[name] = rapid.Int32Range(0, 6).Draw(t, "partitions"); f.have[name] == 0 {
			delete(f.have, name)
		}
		f.renew()
	case 2:
		f.reload(t)
	case 3:
		if s.in {
			f.beat(t, s, -1)
		}
	case 4:
		*s = sheep{id: s.id, instance: s.instance, topics: s.topics, regex: s.regex} // died, and started again
		if s.instance == nil {
			s.id += "'"
		}
	case 5:
		s.topics = rapid.SampledFrom([][]string{{"a"}, {"a", "b"}, {"b", "c"}, {}}).Draw(t, "topics")
		re := rapid.SampledFrom([]string{"", "[ab]", "c.*"}).Draw(t, "regex")
		if s.regex = &re; s.in {
			f.beatWith(t, s, s.epoch, true)
		}
	default:
		f.beat(t, s, s.epoch)
	}
}

func (f *flock) beat(t *rapid.T, s *sheep, epoch int32) { f.beatWith(t, s, epoch, false) }

func (f *flock) beatWith(t *rapid.T, s *sheep, epoch int32, subscribe bool) {
	in := &ConsumerHeartbeat{
		Group: "g", Member: s.id, Epoch: epoch, Instance: s.instance, RebalanceTimeout: -1, Image: f.image,
	}
	if !s.in && epoch >= 0 {
		in.Epoch, in.RebalanceTimeout, in.Owned, subscribe = 0, 30*time.Second, []Partition{}, true
		s.has, s.should = map[part]bool{}, map[part]bool{}
	} else if s.unsure && epoch >= 0 || f.settling || rapid.Bool().Draw(t, "tells") {
		f.obey(s)
		in.Owned = slices.SortedFunc(maps.Keys(s.has), compareParts)
		if in.Owned == nil {
			in.Owned = []Partition{}
		}
	}
	if s.unsure && epoch >= 0 {
		in.RebalanceTimeout, subscribe = 30*time.Second, true
	}
	if subscribe {
		in.Topics, in.Regex = s.topics, s.regex
		if in.Topics == nil {
			in.Topics = []string{}
		}
	}
	out := f.ask(t, in).(*ConsumerBeat)
	s.unsure = false
	lost := !f.settling && rapid.IntRange(0, 9).Draw(t, "lost") == 0
	switch {
	case out.Code == kerr.FencedMemberEpoch || out.Code == kerr.UnknownMemberID || out.Code == kerr.GroupIDNotFound ||
		epoch < 0:
		s.in, s.epoch, s.has, s.should = false, 0, nil, nil
	case out.Code != kerr.None || lost:
		s.unsure = true
	default:
		s.in, s.epoch = true, out.Epoch
		if out.Assignment != nil {
			s.should = map[part]bool{}
			for _, p := range out.Assignment {
				s.should[p] = true
			}
		}
		if f.settling || rapid.Bool().Draw(t, "quick") {
			f.obey(s)
		}
	}
}

// obey makes a client do what it was told.
func (f *flock) obey(s *sheep) {
	s.has = maps.Clone(s.should)
	if s.has == nil {
		s.has = map[part]bool{}
	}
}

func (f *flock) ask(t *rapid.T, in Input) (out Output) {
	f.ref++
	mark := f.core.Mark()
	f.core.Step(f.now, f.ref, in)
	fails := !f.settling && rapid.IntRange(0, 9).Draw(t, "fails") == 0
	e := f.core.Drain()
	if fails && len(e.Append) > 0 {
		f.core.Rollback(f.now, mark)
		f.drain(t, f.core.Mark())
		return in.Reject(kerr.CoordinatorNotAvailable)
	}
	f.log = append(f.log, e.Append...)
	f.core.Forget()
	for _, r := range e.Replies {
		if r.Ref == f.ref {
			out = r.Out
		}
	}
	return out
}

func (f *flock) drain(*rapid.T, int) {
	f.log = append(f.log, f.core.Drain().Append...)
	f.core.Forget()
}

// reload moves the coordinator. What the log says must be what the core had.
func (f *flock) reload(t *rapid.T) {
	old := f.core
	f.core = New(f.cfg, [32]byte{2})
	for i, r := range f.log {
		if err := f.core.Replay(int64(i), -1, r.Key, r.Value); err != nil {
			t.Fatal(err)
		}
	}
	f.core.Loaded(f.now)
	a, b := describeAll(old), describeAll(f.core)
	if a != b {
		t.Fatalf("before the move:\n%s\nafter:\n%s", a, b)
	}
}

func describeAll(c *Core) string {
	g := c.group("g")
	if g == nil || g.consumers == nil || g.consumers.bare() {
		return "none"
	}
	s := g.consumers
	out := fmt.Sprintf("epoch %d assignment %d at %d hash %d\n", s.epoch, s.assignmentEpoch, s.assignedAt, s.hash)
	for _, m := range s.all() {
		out += fmt.Sprintf("%s %v %d %d %d %v %v %v %q\n", m.id, m.instance != nil, m.epoch, m.previous, m.state,
			m.assigned, m.revoking, m.topics, m.regex)
		out += partsText(s.target[m.id]) + "\n"
	}
	for _, re := range slices.Sorted(maps.Keys(s.regexes)) {
		out += fmt.Sprintf("%q %v\n", re, s.regexes[re].topics)
	}
	return out
}

// check looks at clients and core.
func (f *flock) check(t *rapid.T) {
	owner := map[part]string{}
	for _, s := range f.members {
		if !s.in || !f.alive(s) {
			continue
		}
		for p := range s.has {
			if o, taken := owner[p]; taken {
				t.Fatalf("%s-%d is consumed by %s and %s", topicText(p.topic), p.n, o, s.id)
			}
			owner[p] = s.id
		}
	}
	g := f.core.group("g")
	if g == nil || g.consumers == nil {
		f.grown = 0
		return
	}
	s := g.consumers
	if s.epoch < f.grown || s.assignmentEpoch > s.epoch {
		t.Fatalf("epoch %d after %d, assignment %d", s.epoch, f.grown, s.assignmentEpoch)
	}
	f.grown = s.epoch
	held := map[part]string{}
	for _, m := range s.all() {
		for _, p := range m.assigned.merge(m.revoking) {
			if o, taken := held[p.part]; taken {
				t.Fatalf("%s-%d belongs to %s and %s", topicText(p.topic), p.n, o, m.id)
			}
			held[p.part] = m.id
		}
		if m.epoch > s.assignmentEpoch {
			t.Fatalf("%s is ahead of the target", m.id)
		}
		if !s.clocks[m.id].session.armed() {
			t.Fatalf("%s has no session", m.id)
		}
	}
	if !maps.Equal(held, s.owners) {
		t.Fatalf("owners are off: %v, %v", held, s.owners)
	}
	if len(s.clocks) != s.members.Len() {
		t.Fatalf("%d clocks for %d members", len(s.clocks), s.members.Len())
	}
}

// alive says that the group has the client in the place where the client thinks it is. One that was fenced and
// hasn't heard may consume what others have: that is what fencing commits is for.
func (f *flock) alive(s *sheep) bool {
	g := f.core.group("g")
	if g == nil || g.consumers == nil {
		return false
	}
	m := g.consumers.member(s.id)
	return m != nil && (m.epoch == s.epoch || m.previous == s.epoch)
}

// settle lets everybody beat until nothing changes any more.
func (f *flock) settle(t *rapid.T) {
	f.settling = true
	for round := range 60 {
		f.now = f.now.Add(5 * time.Second)
		f.core.Tick(f.now)
		f.drain(t, 0)
		for _, s := range f.members {
			f.beat(t, s, s.epoch)
		}
		f.check(t)
		if g := f.core.group("g"); round > 15 && g.consumers.state() == "Stable" {
			f.checkSettled(t, g.consumers)
			return
		}
	}
	t.Fatalf("not settled: %s", describeAll(f.core))
}

func (f *flock) checkSettled(t *rapid.T, s *consumers) {
	total := 0
	for _, name := range s.subscribed() {
		total += int(f.have[name])
	}
	has := 0
	for _, m := range f.members {
		if !m.in {
			t.Fatalf("%s isn't in", m.id)
		}
		has += len(m.has)
		if got, want := len(m.has), len(s.target[m.id]); got != want {
			t.Fatalf("%s has %d of %d", m.id, got, want)
		}
	}
	if has != total {
		t.Fatalf("%d of %d partitions are consumed", has, total)
	}
}

// A large group is a matter of the partitions, not of members times partitions: what is bounded here is the
// work, counted in records, and that all are served.
func TestConsumersLarge(t *testing.T) {
	const members, partitions = 1000, 10_000
	for _, mixed := range []bool{false, true} {
		cfg := Defaults()
		c := New(cfg, [32]byte{1})
		now := time.UnixMilli(1e12)
		counts := map[string]int32{}
		for i := range 10 {
			counts[fmt.Sprintf("t%d", i)] = partitions / 10
		}
		all := slices.Sorted(maps.Keys(counts))
		img := imageOf(1, counts, nil)
		epochs, has := make([]int32, members), make([]parts, members)
		written := 0
		for round := range 4 {
			for i := range members {
				in := &ConsumerHeartbeat{
					Group: "g", Member: fmt.Sprintf("m%04d", i), Epoch: epochs[i], RebalanceTimeout: -1, Image: img,
				}
				if round == 0 {
					in.RebalanceTimeout, in.Topics, in.Owned = time.Minute, all, []Partition{}
					if mixed {
						in.Topics = all[i%10:]
					}
				} else {
					in.Owned = append([]Partition{}, has[i]...)
				}
				c.Step(now, Ref(i+1), in)
				e := c.Drain()
				c.Forget()
				written += len(e.Append)
				out := e.Replies[0].Out.(*ConsumerBeat)
				if out.Code != kerr.None {
					t.Fatal(out)
				}
				if epochs[i] = out.Epoch; out.Assignment != nil {
					has[i] = out.Assignment
				}
			}
			now = now.Add(5 * time.Second)
		}
		total, most := 0, 0
		for i := range has {
			total, most = total+len(has[i]), max(most, len(has[i]))
		}
		if total != partitions || !mixed && most != partitions/members || c.group("g").consumers.state() != "Stable" {
			t.Fatalf("%d partitions assigned, %d to one, %s", total, most, c.group("g").consumers.state())
		}
		t.Logf("mixed %v: %d records, most %d", mixed, written, most)
		if written > 20*members {
			t.Errorf("%d records for %d members", written, members)
		}
	}
}

// Any spec: every partition that somebody wants goes to one who wants it, and nobody has more than one more
// than who could have it too. What is assigned stays as it is when it is assigned again.
func TestAssignors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &assignSpec{}
		for i := range rapid.IntRange(0, 5).Draw(t, "topics") {
			s.topics = append(s.topics, assignTopic{topicID(string(rune('a' + i))), rapid.Int32Range(0, 9).Draw(t, "n")})
		}
		for i := range rapid.IntRange(0, 6).Draw(t, "members") {
			m := assignMember{id: fmt.Sprint(i)}
			for j := range s.topics {
				if rapid.Bool().Draw(t, "wants") {
					m.topics = append(m.topics, j)
				}
				for n := range rapid.Int32Range(0, 9).Draw(t, "had") {
					m.had = append(m.had, part{s.topics[j].id, n})
				}
			}
			s.members = append(s.members, m)
		}
		for name, assign := range assignors {
			first := assign(s)
			checkAssignment(t, s, first, name == "uniform")
			for i := range s.members {
				s.members[i].had = first[i]
			}
			if again := assign(s); fmt.Sprint(again) != fmt.Sprint(first) {
				t.Fatalf("%s: %v, then %v", name, first, again)
			}
		}
	})
}

func checkAssignment(t *rapid.T, s *assignSpec, got []parts, uniform bool) {
	owner := map[part]int{}
	for i, ps := range got {
		for _, p := range ps {
			if _, twice := owner[p]; twice {
				t.Fatalf("%v twice", p)
			}
			owner[p] = i
		}
		if !slices.IsSortedFunc(ps, compareParts) {
			t.Fatalf("%v out of order", ps)
		}
	}
	for j, topic := range s.topics {
		var wanting []int
		for i := range s.members {
			if slices.Contains(s.members[i].topics, j) {
				wanting = append(wanting, i)
			}
		}
		for n := range topic.n {
			i, ok := owner[part{topic.id, n}]
			if ok != (len(wanting) > 0) || ok && !slices.Contains(wanting, i) {
				t.Fatalf("%s-%d: %v, wanted by %v", topicText(topic.id), n, i, wanting)
			}
			delete(owner, part{topic.id, n})
			for _, other := range wanting {
				if uniform && len(got[i]) > len(got[other])+1 {
					t.Fatalf("%d has %d, %d has %d", i, len(got[i]), other, len(got[other]))
				}
			}
		}
	}
	if len(owner) > 0 {
		t.Fatalf("assigned and not there: %v", owner)
	}
}
