package share

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

var limits = Limits{Lock: 30 * time.Second, Deliveries: 3, InFlight: 40}

// tell is what a member says of one type.
func tell(first, last int64, types ...AckType) Ack { return Ack{Range{first, last}, types} }

// The walk that Apache 4.4's share partition was taken through, with what it stored.
func TestAsApache(t *testing.T) {
	now := time.UnixMilli(1e12)
	p := New(0, Limits{Lock: 30 * time.Second, Deliveries: 5, InFlight: 2000})
	got := p.Acquire(now, "A", []Range{{0, 9}}, 500, false)
	is(t, got, "[{{0 9} 1}]")
	plan, code := p.Acknowledge(now, "A", []Ack{tell(0, 2, Accept)})
	is(t, code, "NONE")
	is(t, *plan, "{1 0 [{0 2 2 1 []}] 3}")
	p.Commit(plan)
	plan, _ = p.Acknowledge(now, "A", []Ack{tell(5, 5, Release), tell(6, 6, Reject), tell(7, 8, Accept, Release)})
	is(t, *plan, "{2 3 [{5 5 0 1 []} {6 6 4 1 []} {7 7 2 1 []} {8 8 0 1 []}] 2}")
	p.Commit(plan)
	is(t, p.Acquire(now, "A", []Range{{5, 9}}, 500, false), "[{{5 5} 2} {{8 8} 2}]")
	plan, code = p.Acknowledge(now, "A", []Ack{tell(2, 4, Accept)})
	is(t, code, "NONE")
	is(t, *plan, "{3 3 [{3 4 2 1 []}] 4}")
	p.Commit(plan)
	plan, code = p.Acknowledge(now.Add(time.Second), "A", []Ack{tell(5, 5, Renew)})
	is(t, code, "NONE")
	if plan != nil {
		t.Fatalf("a renewal is remembered: %+v", plan)
	}
	_, code = p.Acknowledge(now, "A", []Ack{tell(5, 5, Accept), tell(3, 3, Accept)})
	is(t, code, "INVALID_REQUEST")
	_, code = p.Acknowledge(now, "A", []Ack{tell(7, 8, Accept, Accept), tell(9, 9, Gap)})
	is(t, code, "INVALID_RECORD_STATE")
	plan, _ = p.Acknowledge(now, "A", []Ack{tell(9, 9, Accept)})
	is(t, *plan, "{5 5 [{9 9 2 1 []}] 3}")
	p.Commit(plan)
	plan = p.Leave("A")
	is(t, *plan, "{6 5 [{5 5 0 2 []} {8 8 0 2 []}] 3}")
	p.Commit(plan)
	is(t, p.Acquire(now, "B", []Range{{5, 9}}, 500, false), "[{{5 5} 3} {{8 8} 3}]")
}

func is(t *testing.T, got any, want string) {
	t.Helper()
	if s := fmt.Sprint(got); s != want {
		t.Fatalf("%s, want %s", s, want)
	}
}

// What was with a member when the leader moved is available again; what isn't in the log is done with.
func TestLoadAndGaps(t *testing.T) {
	now := time.UnixMilli(1e12)
	p := Load(0, []record.ShareBatch{
		{First: 6, Last: 7, State: record.ShareAvailable, DeliveryCount: 2},
		{First: 0, Last: 2, State: record.ShareAcknowledged, DeliveryCount: 1},
		{First: 3, Last: 3, State: record.ShareArchived, DeliveryCount: 3},
	}, limits)
	is(t, fmt.Sprint(p.Start(), p.End()), "4 8")
	is(t, p.Acquire(now, "A", []Range{{5, 5}, {7, 9}, {12, 14}}, 100, false), "[{{5 5} 1} {{7 7} 3} {{8 9} 1} {{12 14} 1}]")
	is(t, p.Start(), "5")
	plan, _ := p.Acknowledge(now, "A", []Ack{tell(5, 5, Accept)})
	p.Commit(plan)
	is(t, p.Start(), "7")
	p.LogStart(13)
	is(t, fmt.Sprint(p.Start(), p.End()), "13 15")
	_, code := p.Acknowledge(now, "A", []Ack{tell(7, 14, Accept)})
	is(t, code, "NONE")
	is(t, New(5, limits).Acquire(now, "A", []Range{{5, 99}}, 500, false), "[{{5 44} 1}]")
	is(t, New(5, limits).Acquire(now, "A", []Range{{5, 9}, {10, 19}}, 7, true), "[{{5 11} 1}]")
	is(t, New(5, limits).Acquire(now, "A", []Range{{5, 9}, {10, 19}, {20, 29}}, 7, false), "[{{5 19} 1}]")
}

// world is a log with holes, its members, and what a slow reading of the rules makes of each record.
type world struct {
	p       *Partition
	now     time.Time
	log     []Range
	hole    map[int64]bool
	with    map[int64]string
	until   map[int64]time.Time
	count   map[int64]int16
	done    map[int64]bool
	planned map[int64]*Plan
	plans   []*Plan
	next    map[*Plan]map[int64]int8
}

// TestRandom holds the runs against single records, through acquisitions, acknowledgements, time-outs, sessions'
// ends, plans that fail or take long, retention, and leaders that move.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{p: New(0, limits), now: time.UnixMilli(1e12), hole: map[int64]bool{}}
		w.forget()
		w.done, w.count = map[int64]bool{}, map[int64]int16{}
		for at := int64(0); at < 120; {
			if rapid.IntRange(0, 5).Draw(t, "hole") == 0 {
				w.hole[at] = true
				at++
				continue
			}
			n := rapid.Int64Range(1, 8).Draw(t, "batch")
			w.log = append(w.log, Range{at, at + n - 1})
			at += n
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			w.step(t)
			w.check(t)
		}
		w.finish(t)
	})
}

// forget is what a new leader doesn't know.
func (w *world) forget() {
	w.with, w.until, w.planned = map[int64]string{}, map[int64]time.Time{}, map[int64]*Plan{}
	w.plans, w.next = nil, map[*Plan]map[int64]int8{}
}

func (w *world) step(t *rapid.T) {
	member := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "member")
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0, 1, 2:
		w.fetch(t, member, rapid.IntRange(1, 20).Draw(t, "max"), rapid.Bool().Draw(t, "strict"))
	case 3, 4, 5:
		w.acknowledge(t, member)
	case 6:
		w.now = w.now.Add(rapid.SampledFrom([]time.Duration{time.Second, 31 * time.Second}).Draw(t, "wait"))
		w.expect(t, w.p.Expire(w.now), func(at int64) bool { return !w.until[at].After(w.now) })
	case 7:
		w.expect(t, w.p.Leave(member), func(at int64) bool { return w.with[at] == member })
	case 8:
		if len(w.plans) > 0 {
			w.end(rapid.IntRange(0, len(w.plans)-1).Draw(t, "plan"), rapid.Bool().Draw(t, "commit"))
		}
	default:
		start := w.p.Start() + rapid.Int64Range(0, 2).Draw(t, "retention")
		for at := range start {
			w.done[at] = true
		}
		w.p.LogStart(start)
	}
}

func (w *world) fetch(t *rapid.T, member string, most int, strict bool) {
	from, ok := w.p.Next()
	var read []Range
	for _, b := range w.log {
		if b.Last >= from && ok {
			read = append(read, Range{max(b.First, from), b.Last})
		}
	}
	read = read[:min(len(read), 4)]
	total := 0
	for _, a := range w.p.Acquire(w.now, member, read, most, strict) {
		for at := a.First; at <= a.Last; at++ {
			if w.with[at] != "" || w.done[at] || w.hole[at] {
				t.Fatalf("%d is given to %s: with %q, done %v, hole %v", at, member, w.with[at], w.done[at], w.hole[at])
			}
			w.with[at], w.until[at] = member, w.now.Add(limits.Lock)
			w.count[at]++
			if w.count[at] != a.Deliveries || a.Deliveries > limits.Deliveries {
				t.Fatalf("%d: delivery %d told as %d", at, w.count[at], a.Deliveries)
			}
			total++
		}
	}
	if strict && total > most {
		t.Fatalf("%d records instead of %d", total, most)
	}
	for at := w.p.Start(); at < w.p.End(); at++ {
		w.done[at] = w.done[at] || w.hole[at]
	}
}

func (w *world) acknowledge(t *rapid.T, member string) {
	first := max(w.p.Start()+rapid.Int64Range(-2, 20).Draw(t, "first"), 0)
	n := rapid.Int64Range(1, 6).Draw(t, "n")
	a := Ack{Range: Range{first, first + n - 1}}
	for range rapid.SampledFrom([]int64{1, n}).Draw(t, "types") {
		a.Types = append(a.Types, rapid.SampledFrom([]AckType{Accept, Release, Reject, Renew, Gap}).Draw(t, "type"))
	}
	allowed := a.Last < w.p.End()
	for at := max(first, w.p.Start()); at <= a.Last; at++ {
		allowed = allowed && w.with[at] == member && w.planned[at] == nil
	}
	plan, code := w.p.Acknowledge(w.now, member, []Ack{a})
	if allowed != (code == kerr.None) {
		t.Fatalf("%+v by %s: %v", a, member, code)
	}
	if !allowed {
		return
	}
	if plan != nil {
		w.plans, w.next[plan] = append(w.plans, plan), map[int64]int8{}
	}
	for i := range n {
		at, kind := first+i, a.Types[min(int(i), len(a.Types)-1)]
		switch {
		case at < w.p.Start():
		case kind == Renew:
			w.until[at] = w.now.Add(limits.Lock)
		case kind == Release && w.count[at] < limits.Deliveries:
			w.planned[at], w.next[plan][at] = plan, record.ShareAvailable
		case kind == Accept:
			w.planned[at], w.next[plan][at] = plan, record.ShareAcknowledged
		default:
			w.planned[at], w.next[plan][at] = plan, record.ShareArchived
		}
	}
	w.same(t, plan)
}

// expect is a plan to give back what gone says.
func (w *world) expect(t *rapid.T, plan *Plan, gone func(int64) bool) {
	next := map[int64]int8{}
	for at := range w.with {
		if at < w.p.Start() || w.with[at] == "" || w.planned[at] != nil || !gone(at) {
			continue
		}
		if next[at] = record.ShareAvailable; w.count[at] >= limits.Deliveries {
			next[at] = record.ShareArchived
		}
	}
	if (plan == nil) != (len(next) == 0) {
		t.Fatalf("plan %+v, expected %v", plan, next)
	}
	if plan == nil {
		return
	}
	w.plans, w.next[plan] = append(w.plans, plan), next
	for at := range next {
		w.planned[at] = plan
	}
	w.same(t, plan)
}

func (w *world) same(t *rapid.T, plan *Plan) {
	if plan == nil {
		return
	}
	got := map[int64]int8{}
	for _, b := range plan.Batches {
		for at := b.First; at <= b.Last; at++ {
			got[at] = b.State
			if w.count[at] != b.DeliveryCount {
				t.Fatalf("%d was delivered %d times, remembered %d", at, w.count[at], b.DeliveryCount)
			}
		}
	}
	if !maps.Equal(got, w.next[plan]) {
		t.Fatalf("plan %v, expected %v", got, w.next[plan])
	}
}

func (w *world) end(i int, commit bool) {
	plan := w.plans[i]
	w.plans = append(w.plans[:i:i], w.plans[i+1:]...)
	for at, state := range w.next[plan] {
		delete(w.planned, at)
		if commit {
			delete(w.with, at)
			w.done[at] = w.done[at] || state != record.ShareAvailable
		}
	}
	if delete(w.next, plan); commit {
		w.p.Commit(plan)
	} else {
		w.p.Fail(plan)
	}
}

func (w *world) check(t *rapid.T) {
	at := w.p.Start()
	for _, r := range w.p.runs {
		if r.First != at || r.Last < r.First {
			t.Fatalf("a hole before %+v", r)
		}
		for ; at <= r.Last; at++ {
			want := record.ShareAvailable
			switch {
			case w.done[at]:
				want = record.ShareArchived
			case w.with[at] != "":
				want = record.ShareAcquired
			}
			if terminal(r.state) != (want == record.ShareArchived) || !terminal(r.state) && r.state != want {
				t.Fatalf("%d is %d, should be %d", at, r.state, want)
			}
		}
	}
	if at != w.p.End() || w.p.End()-w.p.Start() > limits.InFlight {
		t.Fatalf("[%d, %d) in flight, runs to %d", w.p.Start(), w.p.End(), at)
	}
}

// finish lets one member take the rest: nothing is left behind, whatever became of the others.
func (w *world) finish(t *rapid.T) {
	for range 200 {
		for len(w.plans) > 0 {
			w.end(0, true)
		}
		w.now = w.now.Add(31 * time.Second)
		w.expect(t, w.p.Expire(w.now), func(int64) bool { return true })
		for len(w.plans) > 0 {
			w.end(0, true)
		}
		w.fetch(t, "Z", 50, false)
		for at := w.p.Start(); at < w.p.End(); at++ {
			if w.with[at] == "Z" {
				w.done[at] = true
				delete(w.with, at)
				plan, code := w.p.Acknowledge(w.now, "Z", []Ack{tell(at, at, Accept)})
				if code != kerr.None {
					t.Fatal(code)
				}
				w.p.Commit(plan)
			}
		}
		w.check(t)
	}
	if last := w.log[len(w.log)-1].Last; w.p.Start() <= last {
		t.Fatalf("stuck at %d of %d", w.p.Start(), last)
	}
}
