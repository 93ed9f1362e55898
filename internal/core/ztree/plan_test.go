package ztree

import (
	"testing"

	"github.com/kalda/kalda/internal/format/jute"
)

// TestPlan_Refuses: checks in the order of section 2.2, those that no golden conversation and no scenario shows.
func TestPlan_Refuses(t *testing.T) {
	m := newMachine()
	m.prep(1, jute.OpCreate, createOpen("/a"), "OK /a")
	m.prep(1, jute.OpCreate, createOpen("/a/b"), "OK /a/b")
	locked := createOpen("/locked")
	locked.ACL = []jute.ACL{{Perms: jute.PermRead, ID: jute.ID{Scheme: "world", ID: "anyone"}}}
	m.prep(1, jute.OpCreate, locked, "OK /locked")
	hidden := createOpen("/hidden")
	hidden.ACL = []jute.ACL{{Perms: jute.PermAdmin, ID: jute.ID{Scheme: "world", ID: "anyone"}}}
	m.prep(1, jute.OpCreate, hidden, "OK /hidden")
	m.applyAll()
	none := jute.Code(0)
	check := func(path string) *jute.MultiRequest {
		return &jute.MultiRequest{Ops: []jute.Op{{Type: jute.OpCheck, Body: &jute.PathVersion{Path: path, Version: 3}}}}
	}
	for _, c := range []struct {
		name    string
		session SessionID
		owner   Owner
		op      jute.OpCode
		body    jute.Record
		want    jute.Code
	}{
		{"delete of no session", 9, 1, jute.OpDelete, &jute.PathVersion{Path: "/a"}, jute.SessionExpired},
		{"set of no session", 9, 1, jute.OpSetData, &jute.SetDataRequest{Path: "/a"}, jute.SessionExpired},
		{"access of no session", 9, 1, jute.OpSetACL, &jute.SetACLRequest{Path: "/a"}, jute.SessionExpired},
		{"of a moved session", 1, 8, jute.OpCreate, createOpen("/c"), jute.SessionMoved},
		{"delete without a slash", 1, 1, jute.OpDelete, &jute.PathVersion{Path: "a"}, jute.BadArguments},
		{"delete with a NUL", 1, 1, jute.OpDelete, &jute.PathVersion{Path: "/a\x00"}, jute.BadArguments},
		{"delete of the configuration", 1, 1, jute.OpDelete, &jute.PathVersion{Path: configPath}, jute.BadArguments},
		{"delete below nothing", 1, 1, jute.OpDelete, &jute.PathVersion{Path: "/x/y", Version: -1}, jute.NoNode},
		{"delete of a parent", 1, 1, jute.OpDelete, &jute.PathVersion{Path: "/a", Version: -1}, jute.NotEmpty},
		{"delete in the locked", 1, 1, jute.OpDelete, &jute.PathVersion{Path: "/locked/x", Version: -1}, jute.NoAuth},
		{"set in an odd path", 1, 1, jute.OpSetData, &jute.SetDataRequest{Path: "/a/"}, jute.BadArguments},
		{"set of the locked", 1, 1, jute.OpSetData, &jute.SetDataRequest{Path: "/locked"}, jute.NoAuth},
		{"access in an odd path", 1, 1, jute.OpSetACL, &jute.SetACLRequest{Path: "//"}, jute.BadArguments},
		{"no access list", 1, 1, jute.OpSetACL, &jute.SetACLRequest{Path: "/a"}, jute.InvalidACL},
		{"access to nothing", 1, 1, jute.OpSetACL, &jute.SetACLRequest{Path: "/x", ACL: jute.OpenACL()}, jute.NoNode},
		{"access to the locked", 1, 1, jute.OpSetACL, &jute.SetACLRequest{Path: "/locked", ACL: jute.OpenACL()}, jute.NoAuth},
		{"a version of access", 1, 1, jute.OpSetACL, &jute.SetACLRequest{Path: "/a", ACL: jute.OpenACL(), Version: 4}, jute.BadVersion},
		{"check outside a multi", 1, 1, jute.OpCheck, &jute.PathVersion{Path: "/a"}, jute.Unimplemented},
		{"a client's deleteContainer", 1, 1, jute.OpDeleteContainer, &jute.PathOnly{Path: "/a"}, jute.Unimplemented},
		{"no path to reap", 1, 0, jute.OpDeleteContainer, &jute.PathOnly{Path: "/"}, jute.BadArguments},
		{"nothing to reap", 1, 0, jute.OpDeleteContainer, &jute.PathOnly{Path: "/x"}, jute.NoNode},
		{"a parent to reap", 1, 0, jute.OpDeleteContainer, &jute.PathOnly{Path: "/a"}, jute.NotEmpty},
		{"no container to reap", 1, 0, jute.OpDeleteContainer, &jute.PathOnly{Path: "/a/b"}, jute.BadVersion},
		{"reconfig, switched off", 9, 1, jute.OpReconfig, &jute.ReconfigRequest{}, jute.ReconfigDisabled},
		{"nothing known", 1, 1, jute.OpSync, nil, jute.Unimplemented},
		{"another body", 1, 1, jute.OpCreate, &jute.SetWatches{}, jute.Unimplemented},
		{"a multi without a body", 1, 1, jute.OpMulti, nil, none},
		{"check of nothing", 1, 1, jute.OpMulti, check("/x"), jute.NoNode},
		{"check of the unreadable", 1, 1, jute.OpMulti, check("/hidden"), jute.NoAuth},
		{"check of a version", 1, 1, jute.OpMulti, check("/a"), jute.BadVersion},
		{"check of no session", 9, 1, jute.OpMulti, check("/a"), jute.SessionExpired},
	} {
		before := m.tree.Digest()
		m.zxid++
		txn := m.plan.Prep(&Request{Session: c.session, Owner: c.owner, Op: c.op, Body: c.body}, m.zxid, 1)
		r := m.tree.Apply(txn)
		m.plan.Applied(m.zxid)
		got := r.Code
		if len(r.Multi) > 0 {
			got = r.Multi[0].Err
		}
		if got != c.want || m.tree.Digest() != before || m.tree.Zxid() != m.zxid || m.plan.Pending() != 0 {
			t.Errorf("%s: %v", c.name, got)
		}
		if moved := c.want == jute.SessionMoved; r.Moved() != moved {
			t.Errorf("%s: moved %v", c.name, r.Moved())
		}
		if len(r.Response(nil)) > 0 && c.op != jute.OpMulti {
			t.Errorf("%s: there is a body", c.name)
		}
	}
}

// TestMovedInMulti: the connection is closed then, so the driver has to see it.
func TestMovedInMulti(t *testing.T) {
	m := newMachine()
	ops := []jute.Op{{Type: jute.OpDelete, Body: &jute.PathVersion{Path: "/a"}}}
	r := m.tree.Apply(m.plan.Prep(&Request{Session: 1, Owner: 8, Op: jute.OpMulti, Body: &jute.MultiRequest{Ops: ops}}, 9, 9))
	if r.Code != jute.OK || !r.Moved() {
		t.Errorf("%+v", r)
	}
}

// TestFailAndReset: a request that the driver refuses uses a zxid; and what a leader planned goes with its leadership.
func TestFailAndReset(t *testing.T) {
	m := newMachine()
	txn := m.plan.Fail(&Request{Session: 1, Cxid: 5, Op: jute.OpCreate}, jute.MarshallingError, 3, 30)
	want := jute.TxnHeader{ClientID: 1, Cxid: 5, Zxid: 3, Time: 30, Type: jute.OpError}
	if r := m.tree.Apply(txn); txn.Header != want || r.Code != jute.MarshallingError || m.tree.Zxid() != 3 {
		t.Errorf("%+v", txn)
	}
	m.plan.Prep(&Request{Session: 1, Owner: 1, Op: jute.OpCreate, Body: createOpen("/a")}, 4, 4)
	m.plan.Prep(&Request{Session: 1, Owner: 1, Op: jute.OpCreate, Body: createOpen("/a/b")}, 5, 5)
	if m.plan.Pending() != 4 {
		t.Errorf("%d changes pending", m.plan.Pending())
	}
	m.plan.Reset()
	txn = m.plan.Prep(&Request{Session: 1, Owner: 1, Op: jute.OpCreate, Body: createOpen("/a/b")}, 4, 4)
	if r := m.tree.Apply(txn); r.Code != jute.NoNode {
		t.Errorf("what was forgotten is there: %v", r.Code)
	}
	txn = m.plan.Prep(&Request{Session: 1, Owner: 1, Op: jute.OpCreate, Body: createOpen("/b")}, 5, 5)
	if m.tree.Apply(txn); txn.Digest.Tree != m.tree.Digest() {
		t.Error("the digest begins where the tree doesn't")
	}
}

// TestConfig: /zookeeper/config changes without a transaction, and by reconfig's; its stat is literal.
func TestConfig(t *testing.T) {
	tree := New(Config{Digest: true, ReconfigEnabled: true})
	if !tree.Config().ReconfigEnabled {
		t.Error("another configuration")
	}
	old := tree.View()
	tree.SetConfig([]byte("server.1=x"), 0x100000003)
	tree.SetZxid(0x200000000)
	n, _ := tree.View().Lookup(configPath)
	if s := n.Stat(); string(n.Data()) != "server.1=x" || s.Version != -1 || s.Mzxid != 0x100000003 || tree.View().Zxid() != 0x200000000 {
		t.Errorf("%+v", s)
	}
	if n, _ := old.Lookup(configPath); n.DataLen() != 0 || old.Digest() != tree.Digest() {
		t.Error("the view before it changed, or the digest")
	}
	r := tree.Apply(&jute.Txn{
		Header: jute.TxnHeader{Zxid: 0x200000001, Type: jute.OpReconfig, Time: 5},
		Body:   &jute.SetDataTxn{Path: configPath, Data: []byte("server.2=y"), Version: -1},
	})
	var reply jute.GetDataResponse
	reply.Decode(jute.NewDecoder(r.Response(nil), 0))
	if string(reply.Data) != "server.2=y" || reply.Stat.Version != -1 || reply.Stat.Mzxid != 0x200000001 {
		t.Errorf("%+v", reply)
	}
	p := NewPlanner(tree, NewSessions(1, 0, 10))
	for owner, want := range map[Owner]jute.Code{1: jute.SessionExpired, 0: jute.Unimplemented} {
		txn := p.Prep(&Request{Owner: owner, Op: jute.OpReconfig, Body: &jute.ReconfigRequest{}}, 0x200000002, 1)
		if e, ok := txn.Body.(*jute.ErrorTxn); !ok || e.Err != want {
			t.Errorf("%+v", txn.Body)
		}
	}
	tree.Apply(&jute.Txn{Header: jute.TxnHeader{Zxid: 0x200000003, Type: jute.OpDelete}, Body: &jute.DeleteTxn{Path: configPath}})
	tree.SetConfig([]byte("z"), 1)
	if _, ok := tree.View().Lookup(configPath); ok {
		t.Error("what replay took away came back")
	}
}

// TestCounters go round without stopping at -1, which expects nothing (section 2.2); so do the names of sequential
// nodes, past 2^31.
func TestCounters(t *testing.T) {
	for _, c := range []struct{ now, next int32 }{{0, 1}, {1<<31 - 1, -1 << 31}, {-2, 0}} {
		if next, ok := version(c.now, c.now); !ok || next != c.next {
			t.Errorf("after %d comes %d", c.now, next)
		}
	}
	if _, ok := version(3, 2); ok {
		t.Error("2 is not 3")
	}
	m := newMachine()
	m.tree.edit("", func(n *node) { n.cversion = 1<<31 - 1 })
	for _, want := range []string{"/n-2147483647", "/n--2147483648", "/n--2147483647"} {
		r := createOpen("/n-")
		r.Flags = jute.FlagPersistentSequential
		m.prep(1, jute.OpCreate, r, "OK "+want)
	}
	if s := m.applyAll(); s != "" {
		t.Error(s)
	}
}

// TestCloseWithPending: the transaction of a session's end names what is there by then, and says nothing where it is
// told not to.
func TestCloseWithPending(t *testing.T) {
	for _, omit := range []bool{false, true} {
		m := newMachine()
		m.tree.cfg.OmitClosePaths = omit
		for _, path := range []string{"/a", "/b", "/c"} {
			r := createOpen(path)
			r.Flags = jute.FlagEphemeral
			m.prep(1, jute.OpCreate, r, "OK "+path)
		}
		m.applyAll()
		m.prep(1, jute.OpDelete, &jute.PathVersion{Path: "/a", Version: -1}, "OK ")
		m.prep(1, jute.OpSetData, &jute.SetDataRequest{Path: "/b", Version: -1}, "OK ")
		r := createOpen("/d")
		r.Flags = jute.FlagEphemeral
		m.prep(1, jute.OpCreate, r, "OK /d")
		m.prep(1, jute.OpCloseSession, nil, "OK ")
		body, _ := m.pending[3].Body.(*jute.CloseSessionTxn)
		if omit && body != nil || !omit && len(body.Paths) != 3 {
			t.Errorf("omit %v: %+v", omit, body)
		}
		m.prep(1, jute.OpDelete, &jute.PathVersion{Path: "/c", Version: -1}, jute.SessionExpired.String()+" ")
		if s := m.applyAll(); s != "" || len(m.tree.View().Ephemerals(1, " ")) != 0 {
			t.Error(s)
		}
		if v := m.tree.View(); v.EphemeralCount() != 0 || v.SessionCount() != 1 {
			t.Errorf("omit %v: %d ephemerals of %d sessions", omit, v.EphemeralCount(), v.SessionCount())
		}
	}
}
