package telemetry

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/format/kerr"
)

var (
	t0   = time.UnixMilli(1_700_000_000_000)
	java = Client{
		Instance: [16]byte{1}, ID: "app-1", Software: "apache-kafka-java", SoftwareVers: "4.4.0",
		Address: "10.0.0.1", Port: 555,
	}
)

func set(generation uint64, subs ...*Subscription) *Set {
	return &Set{Subscriptions: subs, Generation: generation}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		match string
		want  bool
	}{
		{"", true},
		{"client_id=app-.*", true},
		{"client_id=app", false}, // the whole of it
		{"client_software_name=apache-kafka-java, client_software_version=4\\..*", true},
		{"client_software_name=apache-kafka-java,client_software_version=3\\..*", false},
		{"client_source_address=10\\..*", true},
		{"client_source_port=556", false},
		{"client_instance_id=01000000000000000000000000000000", true},
		{"nobody=x", false},
	} {
		s := NewSubscription("s", map[string]string{"match": c.match})
		if got := s.Matches(&java); got != c.want {
			t.Errorf("%q: %v", c.match, got)
		}
	}
}

func TestPlanPutsSubscriptionsTogether(t *testing.T) {
	a := NewSubscription("a", map[string]string{"metrics": "b.x,a.", "interval.ms": "60000"})
	b := NewSubscription("b", map[string]string{"metrics": "a.", "interval.ms": "1000", "match": "client_id=app-1"})
	other := NewSubscription("c", map[string]string{"metrics": "z", "interval.ms": "100", "match": "client_id=no"})
	empty := NewSubscription("d", map[string]string{"interval.ms": "100"})
	p := set(1, a, b, other, empty).Plan(&java)
	if !slices.Equal(p.Metrics, []string{"a.", "b.x"}) || p.Interval != time.Second {
		t.Errorf("%+v", p)
	}
	if q := set(2, a).Plan(&java); q.ID == p.ID || q.Interval != time.Minute {
		t.Errorf("%+v after %+v", q, p)
	}
	if q := set(3).Plan(&java); len(q.Metrics) != 0 || q.Interval != DefaultInterval {
		t.Errorf("nothing subscribed: %+v", q)
	}
	all := NewSubscription("e", map[string]string{"metrics": "*"})
	if q := set(4, a, all).Plan(&java); !slices.Equal(q.Metrics, []string{"*"}) {
		t.Errorf("everything: %+v", q)
	}
}

func TestAskAndPush(t *testing.T) {
	one := set(1, NewSubscription("a", map[string]string{"metrics": "*", "interval.ms": "1000"}))
	c := NewClients(10, nil)
	plan, code := c.Ask(t0, &java, one)
	if code != kerr.None {
		t.Fatal(code)
	}
	step := func(what string, got, want kerr.Code) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	at := func(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }
	_, code = c.Ask(at(10), &java, one)
	step("ask again at once", code, kerr.ThrottlingQuotaExceeded)
	step("push", c.Push(at(20), &java, one, plan.ID, false), kerr.None)
	step("push too early", c.Push(at(500), &java, one, plan.ID, false), kerr.ThrottlingQuotaExceeded)
	step("push in time", c.Push(at(1020), &java, one, plan.ID, false), kerr.None)
	two := set(2, NewSubscription("a", map[string]string{"metrics": "x", "interval.ms": "1000"}))
	step("push of an old plan", c.Push(at(2020), &java, two, plan.ID, false), kerr.UnknownSubscriptionID)
	plan, code = c.Ask(at(2021), &java, two)
	step("ask when told to", code, kerr.None)
	step("push of the new one", c.Push(at(2030), &java, two, plan.ID, false), kerr.None)
	step("the last push, early", c.Push(at(2040), &java, two, plan.ID, true), kerr.None)
	step("after the last", c.Push(at(9000), &java, two, plan.ID, false), kerr.InvalidRequest)
}

func TestClientsAreBounded(t *testing.T) {
	one := set(1, NewSubscription("a", map[string]string{"metrics": "*", "interval.ms": "1000"}))
	var gone int
	c := NewClients(100, func([16]byte) { gone++ })
	who := java
	for i := range 1000 {
		binary.BigEndian.PutUint32(who.Instance[:], uint32(i))
		c.Ask(t0.Add(time.Duration(i)), &who, one)
	}
	if len(c.byID) != 100 || c.order.Len() != 100 || gone != 900 || !c.Knows(who.Instance) {
		t.Errorf("%d remembered, %d in order, %d gone", len(c.byID), c.order.Len(), gone)
	}
	c.Expire(t0.Add(2900 * time.Millisecond))
	if len(c.byID) != 100 {
		t.Error("forgotten before three intervals")
	}
	c.Expire(t0.Add(4 * time.Second))
	if len(c.byID) != 0 || gone != 1000 {
		t.Errorf("%d left", len(c.byID))
	}
}
