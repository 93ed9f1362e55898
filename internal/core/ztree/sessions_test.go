package ztree

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kalda/kalda/internal/format/jute"
)

// TestSessionIDs are those of section 1.3: the server's id on top, the time below it, and never the number that
// means a container.
func TestSessionIDs(t *testing.T) {
	s := NewSessions(1, 0x123456789a, 2000)
	if a, b := s.NextID(), s.NextID(); a != 0x0112_3456_789a_0000 || b != a+1 {
		t.Errorf("%x, %x", int64(a), int64(b))
	}
	if id := NewSessions(128, 0, 2000).NextID(); int64(id) != math.MinInt64+1 {
		t.Errorf("%x", int64(id))
	}
}

// TestSessionLife: owners, expiry between the timeout and a tick later, and closing.
func TestSessionLife(t *testing.T) {
	s := NewSessions(1, 0, 10)
	if _, ok := s.Deadline(); ok {
		t.Error("nobody is due, and there is a deadline")
	}
	s.Add(1, 95, 0, 1000) // restored, so nobody's yet
	s.Add(2, 95, 5, 1000)
	s.Add(3, 300, 5, 1000)
	if at, _ := s.Deadline(); at != 1100 || s.Len() != 3 {
		t.Errorf("due at %d, %d sessions", at, s.Len())
	}
	for _, c := range []struct {
		id    SessionID
		owner Owner
		want  jute.Code
	}{
		{1, 7, jute.OK},
		{1, 7, jute.OK},
		{1, 5, jute.SessionMoved},
		{2, 5, jute.OK},
		{2, 7, jute.SessionMoved},
		{9, 5, jute.SessionExpired},
	} {
		if got := s.Check(c.id, c.owner); got != c.want {
			t.Errorf("%d of %d: %v", c.id, c.owner, got)
		}
	}
	if !s.Own(2, 7, 1001) || s.Check(2, 7) != jute.OK || s.Check(2, 5) != jute.SessionMoved || s.Own(9, 7, 1001) {
		t.Error("a reconnect moves the session, if there is one")
	}
	got := map[int64][]SessionID{}
	s.ByDeadline(func(at int64, ids []SessionID) { got[at] = ids })
	if want := map[int64][]SessionID{1100: {1, 2}, 1310: {3}}; !cmp.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if due := s.Due(1099); due != nil {
		t.Errorf("%v are due before their time", due)
	}
	if due := s.Due(1100); !slices.Equal(due, []SessionID{1, 2}) {
		t.Errorf("%v are due", due)
	}
	if !s.Touch(1, 1100) { // it was heard from, in truth
		t.Error("1 is gone")
	}
	s.Close(2)
	if s.Touch(2, 1100) || s.Own(2, 7, 1100) || s.Check(2, 7) != jute.SessionExpired {
		t.Error("a session that closes is taken")
	}
	s.Remove(2)
	s.Remove(2)
	s.Close(2)
	s.Touch(3, 500) // out of order: it takes no time away
	if due := s.Due(5000); !slices.Equal(due, []SessionID{1, 3}) || s.Len() != 2 {
		t.Errorf("%v are due, %d sessions", due, s.Len())
	}
}

// TestDeadSessions: ephemerals whose session no snapshot names go at a start, without a transaction.
func TestDeadSessions(t *testing.T) {
	m := newMachine()
	eph := func(id SessionID, path string) {
		r := createOpen(path)
		r.Flags = jute.FlagEphemeral
		m.prep(id, jute.OpCreate, r, "OK "+path)
	}
	eph(1, "/one")
	eph(1, "/uno")
	eph(2, "/two")
	m.prep(1, jute.OpCreateContainer, &jute.CreateRequest{Path: "/box", ACL: jute.OpenACL(), Flags: jute.FlagContainer},
		"OK /box")
	m.applyAll()
	owners := maps.Collect(m.tree.View().EphemeralOwners())
	if want := map[SessionID][]string{1: {"/one", "/uno"}, 2: {"/two"}}; !cmp.Equal(owners, want) {
		t.Errorf("%v", owners)
	}
	for range m.tree.View().EphemeralOwners() {
		break
	}
	m.tree.sessions.change().Delete(1)
	m.tree.last = nil
	v := m.tree.View()
	if dead := v.DeadSessions(); !slices.Equal(dead, []SessionID{1}) || v.SessionCount() != 1 {
		t.Errorf("%v are dead of %d", dead, v.SessionCount())
	}
	r := m.tree.DropSession(1, 77)
	if len(r.Changes) != 2 || r.Changes[0].Type != jute.EventNodeDeleted || m.tree.Zxid() == 77 {
		t.Errorf("%+v at %v", r.Changes, m.tree.Zxid())
	}
	v = m.tree.View()
	if _, ok := v.Lookup("/one"); ok || v.EphemeralCount() != 1 || v.DeadSessions() != nil {
		t.Errorf("%d ephemerals are left", v.EphemeralCount())
	}
	if timeout, ok := v.SessionTimeout(2); !ok || timeout != 100 {
		t.Errorf("%d %v", timeout, ok)
	}
}
