package share

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// golden are the records of a segment of Apache's, with their times.
func golden(t *testing.T, name string, each func(r *batch.Record, at time.Time)) {
	t.Helper()
	b, err := os.ReadFile("../../format/record/testdata/golden/share/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for len(b) > 0 {
		v, rest, err := batch.Next(b)
		if err != nil {
			t.Fatal(err)
		}
		b = rest
		r, err := v.Records(nil)
		if err != nil {
			t.Fatal(err)
		}
		var rec batch.Record
		for r.Next(&rec) {
			each(&rec, time.UnixMilli(v.BaseTimestamp()))
		}
		r.Close()
	}
}

// The requests that made Apache's coordinator write its records make ours write the same bytes; both are read
// alike.
func TestStatesAsApache(t *testing.T) {
	for _, name := range []string{"share_group_state-11.log", "share_group_state-12.log"} {
		s, again := NewStates(500), NewStates(500)
		n := 0
		golden(t, name, func(r *batch.Record, at time.Time) {
			k, err := record.DecodeShareKey(r.Key)
			if err != nil {
				t.Fatal(err)
			}
			key := Key{k.Group, k.TopicID, k.Partition}
			var in Input = &Delete{key}
			if r.Value != nil {
				v, err := record.DecodeShareState(k.Kind, r.Value)
				if err != nil {
					t.Fatal(err)
				}
				at = time.UnixMilli(v.WriteTimestamp)
				if in = (&Write{key, 2, v.LeaderEpoch, v.StartOffset, v.DeliveryComplete, v.Batches}); n == 0 {
					in = &Initialize{key, v.StateEpoch, v.StartOffset}
				}
			}
			s.Step(at, 1, in)
			e := s.Drain()
			if len(e.Append) != 1 || e.Replies[0].Out.Code != kerr.None {
				t.Fatalf("%+v: %+v", in, e)
			}
			got := e.Append[0]
			if string(got.Key) != string(r.Key) || string(got.Value) != string(r.Value) {
				t.Errorf("%s, record %d:\n%q %q\nApache's:\n%q %q", name, n, got.Key, got.Value, r.Key, r.Value)
			}
			if err := again.Replay(int64(n), -1, r.Key, r.Value); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(texts(s), texts(again)); d != "" {
				t.Errorf("%s, record %d:\n%s", name, n, d)
			}
			n++
		})
	}
}

func texts(s *States) (out []string) {
	for k, x := range s.states {
		out = append(out, fmt.Sprintf("%v %+v %d", k, x.ShareState, x.updates))
	}
	slices.Sort(out)
	return out
}

// Who was replaced can't write; a reset fences those who don't know of it.
func TestFencing(t *testing.T) {
	s := NewStates(2)
	now := time.UnixMilli(1e12)
	k := Key{"g", record.UUID{1}, 3}
	ask := func(in Input) string {
		s.Step(now, 1, in)
		e := s.Drain()
		s.Forget()
		a := e.Replies[0].Out
		return fmt.Sprintf("%v %d/%d @%d %v +%d", a.Code, a.State.StateEpoch, a.State.LeaderEpoch, a.State.StartOffset,
			a.State.Batches, len(e.Append))
	}
	ones := []record.ShareBatch{{First: 0, Last: 4, State: 2, DeliveryCount: 1}}
	is(t, ask(&Read{k, 1}), "NONE 0/0 @-1 [] +0")
	is(t, ask(&Initialize{k, 5, 0}), "NONE 0/0 @0 [] +1")
	is(t, ask(&Initialize{k, 4, 0}), "FENCED_STATE_EPOCH 0/0 @0 [] +0")
	is(t, ask(&Read{k, 7}), "NONE 5/7 @0 [] +1")
	is(t, ask(&Read{k, 7}), "NONE 5/7 @0 [] +0")
	is(t, ask(&Write{k, 5, 6, 0, 5, ones}), "FENCED_LEADER_EPOCH 0/0 @0 [] +0")
	is(t, ask(&Write{k, 4, 7, 0, 5, ones}), "FENCED_STATE_EPOCH 0/0 @0 [] +0")
	is(t, ask(&Write{k, 5, 7, -1, 5, ones}), "NONE 0/0 @0 [] +1")
	is(t, ask(&Write{k, 5, 7, 3, 5, []record.ShareBatch{{First: 4, Last: 6, State: 0, DeliveryCount: 2}}}),
		"NONE 0/0 @0 [] +1")
	is(t, ask(&Summary{k, 7}), "NONE 5/7 @3 [] +0")
	is(t, ask(&Summary{k, 6}), "FENCED_LEADER_EPOCH 0/0 @0 [] +0")
	is(t, ask(&Read{k, 8}), "NONE 5/8 @3 [{3 3 2 1 []} {4 6 0 2 []}] +1")
	is(t, ask(&Delete{k}), "NONE 0/0 @0 [] +1")
	is(t, ask(&Delete{k}), "NONE 0/0 @0 [] +0")
	is(t, ask(&Summary{k, 0}), "NONE 0/0 @-1 [] +0")
}

// TestStatesRandom: after any writes, failed appends among them, the log says what the coordinator knows, and
// that is what a map of single records says.
func TestStatesRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStates(rapid.IntRange(1, 5).Draw(t, "per"))
		k := Key{"g", record.UUID{1}, 0}
		var log []batch.Record
		model, start := map[int64]int8{}, int64(-1)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			var in Input
			w := &Write{Key: k, StateEpoch: 1, Start: max(start, 0) + rapid.Int64Range(0, 3).Draw(t, "ahead")}
			kind := rapid.IntRange(0, 9).Draw(t, "what")
			switch kind {
			case 0:
				in = &Delete{k}
			case 1:
				in = &Initialize{k, 1, 0}
			default:
				at := w.Start
				for range rapid.IntRange(0, 4).Draw(t, "batches") {
					at += rapid.Int64Range(0, 3).Draw(t, "gap")
					n := rapid.Int64Range(1, 5).Draw(t, "n")
					w.Batches = append(w.Batches, record.ShareBatch{
						First: at, Last: at + n - 1, State: rapid.SampledFrom([]int8{0, 2, 4}).Draw(t, "state"),
					})
					at += n
				}
				in = w
			}
			mark := s.Mark()
			s.Step(time.UnixMilli(1e12), 1, in)
			e := s.Drain()
			if rapid.IntRange(0, 5).Draw(t, "fails") == 0 {
				s.Rollback(time.Time{}, mark)
				continue
			}
			s.Forget()
			log = append(log, e.Append...)
			switch kind {
			case 0, 1:
				model, start = map[int64]int8{}, int64(kind-1)
			default:
				start = w.Start
				for _, b := range w.Batches {
					for at := b.First; at <= b.Last; at++ {
						model[at] = b.State
					}
				}
				maps.DeleteFunc(model, func(at int64, _ int8) bool { return at < start })
			}
			compareStates(t, s, log, model)
		}
	})
}

func compareStates(t *rapid.T, s *States, log []batch.Record, model map[int64]int8) {
	again := NewStates(s.perSnapshot)
	for i, r := range log {
		if err := again.Replay(int64(i), -1, r.Key, r.Value); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(texts(s), texts(again)); d != "" {
		t.Fatal(d)
	}
	got := map[int64]int8{}
	for _, x := range s.states {
		last := int64(-1)
		for _, b := range x.Batches {
			if b.First <= last || b.Last < b.First {
				t.Fatalf("%+v out of order", x.Batches)
			}
			last = b.Last
			for at := b.First; at <= b.Last; at++ {
				got[at] = b.State
			}
		}
	}
	if !maps.Equal(got, model) {
		t.Fatalf("%v, expected %v", got, model)
	}
}
