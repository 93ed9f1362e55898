package quota

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

//go:fix inline
var t0 = time.UnixMilli(1_700_000_000_000)

func TestFindFirstThatIsSet(t *testing.T) {
	levels := []struct {
		parts []Part
		who   Who
	}{
		{[]Part{{ClientID, nil}}, Who{Client: "c"}},
		{[]Part{{ClientID, new("c")}}, Who{Client: "c"}},
		{[]Part{{User, nil}}, Who{User: "u"}},
		{[]Part{{User, nil}, {ClientID, nil}}, Who{"u", "c"}},
		{[]Part{{User, nil}, {ClientID, new("c")}}, Who{"u", "c"}},
		{[]Part{{User, new("u")}}, Who{User: "u"}},
		{[]Part{{User, new("u")}, {ClientID, nil}}, Who{"u", "c"}},
		{[]Part{{User, new("u")}, {ClientID, new("c")}}, Who{"u", "c"}},
	}
	var l Limits
	if _, _, ok := l.Find(Fetch, "u", "c"); ok {
		t.Fatal("a quota where none is set")
	}
	for i, level := range levels { // each overrules those before it
		if !l.Set(level.parts, "consumer_byte_rate", float64(i+1)) {
			t.Fatalf("level %d refused", i)
		}
		limit, who, ok := l.Find(Fetch, "u", "c")
		if !ok || limit != float64(i+1) || who != level.who {
			t.Errorf("level %d: %v %v %v", i, limit, who, ok)
		}
	}
	if limit, who, _ := l.Find(Fetch, "u", "other"); limit != 7 || who != (Who{"u", "other"}) {
		t.Errorf("another client of the user: %v %v", limit, who)
	}
	if limit, who, _ := l.Find(Fetch, "v", "c"); limit != 5 || who != (Who{"v", "c"}) {
		t.Errorf("the client with another user: %v %v", limit, who)
	}
	if _, _, ok := l.Find(Produce, "u", "c"); ok || l.Any(Produce) || !l.Any(Fetch) {
		t.Error("a quota of another kind")
	}
}

func TestSetRefusesWhatIsNoQuota(t *testing.T) {
	var l Limits
	for _, c := range []struct {
		parts []Part
		key   string
	}{
		{[]Part{{User, nil}}, "retention.ms"},
		{nil, "producer_byte_rate"},
		{[]Part{{IP, nil}}, "producer_byte_rate"},
		{[]Part{{User, nil}}, "connection_creation_rate"},
		{[]Part{{"group", nil}}, "producer_byte_rate"},
	} {
		if l.Set(c.parts, c.key, 1) {
			t.Errorf("%v %s accepted", c.parts, c.key)
		}
	}
	l.Set([]Part{{IP, nil}}, "connection_creation_rate", 5)
	l.Set([]Part{{IP, new("10.0.0.1")}}, "connection_creation_rate", 9)
	if v, ok := l.OfIP("10.0.0.1"); !ok || v != 9 {
		t.Errorf("ip: %v %v", v, ok)
	}
	if v, ok := l.OfIP("10.0.0.2"); !ok || v != 5 {
		t.Errorf("default ip: %v %v", v, ok)
	}
}

// A rate over the limit: the delay brings it down to the limit. 11 samples of 1 s count as at least 10 s.
func TestRecordDelays(t *testing.T) {
	m := NewMeter(Window{Samples: 11, Each: time.Second}, 0, 10)
	if d := m.Record(Who{}, 10_000, 1000, t0); d != 0 {
		t.Errorf("10 s worth at once: %v", d)
	}
	if d := m.Record(Who{}, 5000, 1000, t0); d != 5*time.Second {
		t.Errorf("half as much more: %v", d)
	}
	if d := m.Record(Who{}, 0, 1000, t0.Add(4*time.Second)); d != 5*time.Second {
		t.Errorf("after 4 s, which the window doesn't count yet: %v", d)
	}
	if d := m.Record(Who{}, 0, 1000, t0.Add(10500*time.Millisecond)); d != 4500*time.Millisecond {
		t.Errorf("after 10.5 s: %v", d)
	}
	if d := m.Record(Who{}, 0, 1000, t0.Add(11*time.Second)); d != 0 {
		t.Errorf("after the window: %v", d)
	}
}

func TestRecordBounds(t *testing.T) {
	m := NewMeter(Window{Samples: 11, Each: time.Second}, time.Second, 10)
	if d := m.Record(Who{}, 1e6, 1, t0); d != time.Second {
		t.Errorf("not bounded: %v", d)
	}
	free := NewMeter(Window{Samples: 11, Each: time.Second}, 0, 10)
	if d := free.Record(Who{}, 1, 0, t0); d.Milliseconds() != 1<<31-1 {
		t.Errorf("a limit of zero: %v", d)
	}
	free.Take(Who{}, 1, t0)
	if d := free.Record(Who{}, 0, 1, t0); d != 0 {
		t.Errorf("taken back: %v", d)
	}
}

// Over any long time a client that waits as told gets its limit, and no more.
func TestRecordSettlesAtTheLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := NewMeter(Window{Samples: 11, Each: time.Second}, 0, 10)
	const limit, seconds = 1000.0, 600
	now, sent := t0, 0.0
	for now.Sub(t0) < seconds*time.Second {
		n := float64(1 + r.IntN(4000))
		sent += n
		now = now.Add(m.Record(Who{"u", ""}, n, limit, now)).Add(time.Duration(r.IntN(5)) * time.Millisecond)
	}
	if rate := sent / now.Sub(t0).Seconds(); rate < limit*0.8 || rate > limit*1.2 {
		t.Errorf("%v a second with a limit of %v", rate, limit)
	}
}

func TestAccountsAreBounded(t *testing.T) {
	m := NewMeter(Window{Samples: 11, Each: time.Second}, 0, 100)
	tokens := NewTokens(Window{Samples: 11, Each: time.Second}, 100)
	now := t0
	for i := range 10_000 {
		m.Record(Who{Client: fmt.Sprint(i)}, 1, 1000, now)
		tokens.Take(Who{Client: fmt.Sprint(i)}, 1, 1000, true, now)
		now = now.Add(10 * time.Millisecond)
	}
	if len(m.accounts) > 101 || len(tokens.buckets) > 101 {
		t.Errorf("%d accounts, %d buckets", len(m.accounts), len(tokens.buckets))
	}
}

// An idle account is forgotten only when it is as good as a new one.
func TestBusyAccountsAreKept(t *testing.T) {
	m := NewMeter(Window{Samples: 11, Each: time.Second}, 0, 2)
	m.Record(Who{Client: "busy"}, 1e6, 1000, t0)
	m.Record(Who{Client: "idle"}, 1, 1000, t0)
	now := t0.Add(12 * time.Second)
	m.Record(Who{Client: "busy"}, 1e6, 1000, now)
	m.Record(Who{Client: "new"}, 1, 1000, now)
	if m.accounts[Who{Client: "idle"}] != nil || m.accounts[Who{Client: "busy"}] == nil {
		t.Errorf("kept: %v", m.accounts)
	}
	if d := m.Record(Who{Client: "busy"}, 0, 1000, now); d == 0 {
		t.Error("the busy one was let off")
	}
}

func TestTokens(t *testing.T) {
	tokens := NewTokens(Window{Samples: 10, Each: time.Second}, 10)
	take := func(n float64, strict bool, after time.Duration) (time.Duration, bool) {
		return tokens.Take(Who{User: "u"}, n, 2, strict, t0.Add(after))
	}
	if wait, ok := take(30, true, 0); !ok || wait != 5*time.Second { // 20 in the bucket
		t.Errorf("first: %v %v", wait, ok)
	}
	if wait, ok := take(1, true, time.Second); ok || wait != 4*time.Second {
		t.Errorf("overdrawn, strict: %v %v", wait, ok)
	}
	if wait, ok := take(2, false, time.Second); !ok || wait != 5*time.Second {
		t.Errorf("overdrawn, not strict: %v %v", wait, ok)
	}
	if wait, ok := take(1, true, 6*time.Second); !ok || wait != 500*time.Millisecond {
		t.Errorf("after the wait: %v %v", wait, ok)
	}
	if wait, ok := take(20, true, time.Hour); !ok || wait != 0 {
		t.Errorf("full again: %v %v", wait, ok)
	}
}
