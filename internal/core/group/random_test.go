package group

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// model drives a core with random clients, and a twin with the same inputs: both must do the same.
type model struct {
	core, twin *Core
	now        time.Time
	log        []batch.Record
	ref        Ref
	waiting    map[Ref]bool
	ids        []string // member ids ever told
	generation map[string]int32
}

// TestRandom checks the invariants of doc.go after every step.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Defaults()
		cfg.OffsetsRetention, cfg.RetentionCheckInterval, cfg.MaxSize = 50*time.Second, 20*time.Second, 4
		m := &model{
			core: New(cfg, [32]byte{1}), twin: New(cfg, [32]byte{1}), now: time.UnixMilli(1e12),
			waiting:    map[Ref]bool{},
			generation: map[string]int32{}, ids: []string{"", "nobody"},
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			m.step(t)
			m.check(t)
		}
		m.checkReplay(t, cfg)
	})
}

func (m *model) step(t *rapid.T) {
	mark := m.core.Mark()
	if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
		d := rapid.SampledFrom([]time.Duration{
			time.Second, 3 * time.Second, 11 * time.Second,
			time.Minute,
		}).Draw(t, "wait")
		m.now = m.now.Add(d)
		m.core.Tick(m.now)
		m.twin.Tick(m.now)
	} else {
		in := m.input(t)
		m.ref++
		m.waiting[m.ref] = true
		m.core.Step(m.now, m.ref, in)
		m.twin.Step(m.now, m.ref, in)
	}
	m.drain(t, mark, rapid.IntRange(0, 9).Draw(t, "fails") == 0)
}

func (m *model) drain(t *rapid.T, mark int, fails bool) {
	e, twin := m.core.Drain(), m.twin.Drain()
	if d := cmp.Diff(e, twin); d != "" {
		t.Fatalf("the same inputs, other effects:\n%s", d)
	}
	for _, r := range e.Replies {
		if !m.waiting[r.Ref] {
			t.Fatalf("request %d answered twice: %+v", r.Ref, r.Out)
		}
		delete(m.waiting, r.Ref)
		if j, ok := r.Out.(*Joined); ok && j.Member != "" {
			m.ids = append(m.ids, j.Member)
		}
	}
	if fails && len(e.Append) > 0 {
		m.core.Rollback(m.now, mark)
		m.twin.Rollback(m.now, mark)
		m.drain(t, m.core.Mark(), false)
		return
	}
	m.log = append(m.log, e.Append...)
	m.core.Forget()
	m.twin.Forget()
}

func (m *model) input(t *rapid.T) Input {
	id := rapid.SampledFrom([]string{"g", "h"}).Draw(t, "group")
	member := rapid.SampledFrom(m.ids[max(0, len(m.ids)-6):]).Draw(t, "member")
	generation := int32(-1)
	if g := m.core.group(id); g != nil {
		if len(g.members) > 0 && rapid.IntRange(0, 3).Draw(t, "known") > 0 {
			member = rapid.SampledFrom(g.members).Draw(t, "one").id
		}
		generation = g.generation - int32(rapid.IntRange(0, 5).Draw(t, "late")/5)
	}
	var instance *string
	if i := rapid.SampledFrom([]string{"", "", "", "i", "j"}).Draw(t, "instance"); i != "" {
		instance = &i
	}
	switch rapid.IntRange(0, 12).Draw(t, "api") {
	case 0, 1, 2, 3:
		if rapid.Bool().Draw(t, "new") {
			member = ""
		}
		names := rapid.SampledFrom([]string{"x", "xy", "yx", "y"}).Draw(t, "protocols")
		in := &Join{
			Group: id, Member: member, Instance: instance, SessionTimeout: 10 * time.Second,
			RebalanceTimeout: 30 * time.Second,
			ProtocolType:     "consumer", RequireMember: rapid.Bool().Draw(t, "v4"), CanSkip: true,
		}
		for _, n := range names {
			in.Protocols = append(in.Protocols, Protocol{string(n), subscription([]string{"t"})})
		}
		return in
	case 4, 5, 6:
		in := &Sync{Group: id, Member: member, Instance: instance, Generation: generation}
		for _, x := range m.ids {
			in.Assignments = append(in.Assignments, Assignment{x, []byte(x)})
		}
		return in
	case 7:
		return &Heartbeat{Group: id, Member: member, Instance: instance, Generation: generation}
	case 8:
		return &Leave{Group: id, Members: []LeaveMember{{member, instance}}}
	case 9:
		return &Delete{Group: id}
	case 10:
		return &TopicsDeleted{Topics: []string{"u"}}
	}
	if rapid.Bool().Draw(t, "simple") {
		member, generation, instance = "", -1, nil
	}
	in := &Commit{Group: id, Member: member, Instance: instance, Generation: generation, Retention: -1}
	for i := range rapid.IntRange(1, 3).Draw(t, "offsets") {
		in.Offsets = append(in.Offsets, CommitOffset{
			TopicPartition: TopicPartition{string("tu"[i%2]), int32(i)},
			Offset:         int64(m.ref),
		})
	}
	return in
}

// check looks at the core from inside.
func (m *model) check(t *rapid.T) {
	parked := map[Ref]bool{}
	m.core.groups.Scan(func(id string, g *group) bool {
		m.checkGroup(t, g, parked)
		if g.generation < m.generation[id] && g.generation != 0 {
			t.Fatalf("generation of %s went from %d to %d", id, m.generation[id], g.generation)
		}
		m.generation[id] = g.generation
		return true
	})
	if !maps.Equal(parked, m.waiting) {
		t.Fatalf("waiting %v, parked %v", m.waiting, parked)
	}
	if len(m.core.undo) > 0 {
		t.Fatal("undo left over")
	}
}

func (m *model) checkGroup(t *rapid.T, g *group, parked map[Ref]bool) {
	awaiting, supported, static := 0, map[string]int{}, 0
	for _, x := range g.members {
		if x.join != 0 {
			awaiting++
			parked[x.join] = true
		}
		if x.sync != 0 {
			parked[x.sync] = true
		}
		if x.join != 0 && x.sync != 0 {
			t.Fatalf("%s waits for two replies", x.id)
		}
		for _, p := range x.protocols {
			supported[p.Name]++
		}
		if x.instance != nil {
			static++
			if g.static[*x.instance] != x {
				t.Fatalf("instance %s isn't %s's", *x.instance, x.id)
			}
		}
		if g.byID[x.id] != x {
			t.Fatalf("%s isn't found", x.id)
		}
		if !x.session.armed() && x.join == 0 && x.sync == 0 {
			t.Fatalf("%s has no session", x.id)
		}
		if x.join != 0 && g.state != preparing || x.sync != 0 && g.state != completing {
			t.Fatalf("%s waits in %v", x.id, g.state)
		}
	}
	if awaiting != g.awaiting || len(g.byID) != len(g.members) || static != len(g.static) {
		t.Fatalf("%s: counts are off", g.id)
	}
	if len(supported) > 0 && !maps.Equal(supported, g.supported) {
		t.Fatalf("%s: protocols %v, counted %v", g.id, supported, g.supported)
	}
	if (g.state == empty) != (len(g.members) == 0) && g.state != preparing {
		t.Fatalf("%s: %v with %d members", g.id, g.state, len(g.members))
	}
	if len(g.members) > 0 && g.member(g.leader) == nil {
		t.Fatalf("%s: leader %q is no member", g.id, g.leader)
	}
	if g.state == preparing && !g.joinTimer.armed() {
		t.Fatalf("%s: a rebalance without an end", g.id)
	}
}

// checkReplay rebuilds the state from the log: no offset is lost or revived, and stable generations are as
// they were.
func (m *model) checkReplay(t *rapid.T, cfg Config) {
	again := New(cfg, [32]byte{2})
	for i, r := range m.log {
		if err := again.Replay(int64(i), -1, r.Key, r.Value); err != nil {
			t.Fatal(err)
		}
	}
	again.Loaded(m.now)
	m.core.groups.Scan(func(id string, g *group) bool {
		h := again.group(id)
		if h == nil && g.state != stable && len(g.offsets) == 0 {
			return true // nothing to lose: its members, if any, are only gathering
		}
		if h == nil {
			t.Fatalf("group %s is lost", id)
		}
		if d := cmp.Diff(g.offsetsAsText(), h.offsetsAsText()); d != "" {
			t.Fatalf("offsets of %s:\n%s", id, d)
		}
		if g.state != stable {
			return true
		}
		if h.state != stable || h.generation != g.generation || len(h.members) != len(g.members) ||
			h.leader != g.leader {
			t.Fatalf("group %s: %v %d %d, was stable %d %d", id, h.state, h.generation, len(h.members), g.generation,
				len(g.members))
		}
		for _, x := range g.members {
			if y := h.member(x.id); y == nil || string(y.assignment) != string(x.assignment) || h.validate(x.id,
				x.instance) != kerr.None {
				t.Fatalf("member %s differs after the reload", x.id)
			}
		}
		return true
	})
	if again.Groups() > m.core.Groups() {
		t.Fatalf("%d groups revived", again.Groups()-m.core.Groups())
	}
}

func (g *group) offsetsAsText() (out []string) {
	for _, tp := range g.committed() {
		out = append(out, fmt.Sprint(tp, g.offsets[tp].at))
	}
	return out
}

// FuzzReplay feeds a core with any records: it may refuse them, and must go on.
func FuzzReplay(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1, 'g', 0, 1, 't', 0, 0, 0, 0}, []byte(nil), int64(-1))
	f.Add([]byte{0, 2, 0, 1, 'g'}, []byte{
		0, 3, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0,
	}, int64(7))
	f.Add([]byte{0, 5, 0, 1, 'g'}, []byte{0, 0}, int64(-1))
	f.Fuzz(func(t *testing.T, key, value []byte, producer int64) {
		c := New(Defaults(), [32]byte{})
		_ = c.Replay(0, producer, key, value)
		_ = c.Replay(1, -1, key, nil)
		_ = c.Replay(2, producer, key, value)
		c.ReplayEnd(producer, true)
		c.Loaded(time.UnixMilli(1))
		c.Step(time.UnixMilli(1e6), 1, &List{})
		for _, g := range c.Drain().Replies[0].Out.(*Listed).Groups {
			c.Step(time.UnixMilli(1e9), 2, &Describe{Group: g.Group})
			c.Step(time.UnixMilli(1e9), 3, &Delete{Group: g.Group})
		}
	})
}
