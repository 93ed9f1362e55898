package replica

import (
	"testing"
	"time"

	"github.com/kalda/kalda/internal/format/kerr"
)

var t0 = time.Unix(1_700_000_000, 0)

func filled(n int) *Session {
	s := new(Session)
	for i := range n {
		s.Put(Part{PartKey: PartKey{Topic: "t", Partition: int32(i)}})
	}
	return s
}

func order(s *Session) (list []int32) {
	for p := s.First(); p != nil; p = p.Next() {
		list = append(list, p.Partition)
	}
	return list
}

func TestSessions_EpochsAndErrors(t *testing.T) {
	c := NewSessions(10, 1)
	s := filled(2)
	if !c.Create(t0, s, false, false) || s.ID() == 0 {
		t.Fatal("no session")
	}
	for _, step := range []struct {
		name   string
		epoch  int32
		byID   bool
		want   kerr.Code
		finish bool
	}{
		{"wrong epoch", 2, false, kerr.InvalidFetchSessionEpoch, false},
		{"by id though made by name", 1, true, kerr.FetchSessionTopicIDError, false},
		{"the first", 1, false, kerr.None, false},
		{"while the first is answered", 2, false, kerr.InvalidFetchSessionEpoch, true},
		{"the second", 2, false, kerr.None, true},
	} {
		got, code := c.Begin(t0, s.ID(), step.epoch, step.byID)
		if code != step.want || (got != nil) != (code == kerr.None) {
			t.Errorf("%s: %v, want %v", step.name, code, step.want)
		}
		if step.finish {
			c.End(s)
		}
	}
	if _, code := c.Begin(t0, s.ID()+1, 1, false); code != kerr.FetchSessionIDNotFound {
		t.Errorf("unknown id: %v", code)
	}
	s.Forget(PartKey{Topic: "t", Partition: 0})
	s.Forget(PartKey{Topic: "t", Partition: 1})
	c.End(s)
	if c.Len() != 0 {
		t.Error("an empty session is closed")
	}
}

func TestSession_TellsWhatChanged(t *testing.T) {
	s := filled(3)
	first := s.First()
	for i, step := range []struct {
		a    Answer
		want bool
	}{
		{Answer{HighWatermark: 5}, true},
		{Answer{HighWatermark: 5}, false},
		{Answer{HighWatermark: 6}, true},
		{Answer{HighWatermark: 6, LogStart: 2}, true},
		{Answer{HighWatermark: 6, LogStart: 2, Failed: true}, true},
		{Answer{HighWatermark: 6, LogStart: 2}, true},
		{Answer{HighWatermark: 6, LogStart: 2, Always: true}, true},
		{Answer{HighWatermark: 6, LogStart: 2}, false},
	} {
		if got := s.Tell(first, step.a); got != step.want {
			t.Errorf("step %d: told %v, want %v", i, got, step.want)
		}
	}
	s.Tell(first, Answer{HighWatermark: 7, Data: true})
	if got := order(s); got[0] != 1 || got[2] != 0 {
		t.Errorf("order %v: the one with data goes last", got)
	}
}

func TestSessions_AreBounded(t *testing.T) {
	c := NewSessions(2, 1)
	small, big := filled(1), filled(5)
	c.Create(t0, small, false, false)
	c.Create(t0, big, false, false)
	if c.Create(t0.Add(time.Second), filled(9), false, false) {
		t.Error("young sessions in use don't make room")
	}
	for _, s := range []*Session{small, big} {
		if _, code := c.Begin(t0.Add(idleLimit), s.ID(), 1, false); code != kerr.None {
			t.Fatal(code)
		}
		c.End(s)
	}
	later := t0.Add(idleLimit + time.Second)
	if c.Create(later, filled(1), false, false) {
		t.Error("one as small doesn't push another out")
	}
	if !c.Create(later, filled(2), false, false) || c.Len() != 2 || c.Evictions() != 1 {
		t.Error("a bigger one takes the place of the smallest old one")
	}
	if _, code := c.Begin(later, small.ID(), 2, false); code != kerr.FetchSessionIDNotFound {
		t.Error("the smallest went")
	}
	if !c.Create(later.Add(2*idleLimit), filled(1), false, false) {
		t.Error("an idle one makes room for any")
	}
}
