package ztree

import (
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/format/jute"
)

func dataNode(data string) *jute.DataNode { return &jute.DataNode{Data: []byte(data), ACL: openKey} }

// TestLoad_Refuses what no tree can hold.
func TestLoad_Refuses(t *testing.T) {
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{"/a"}, "before the root"},
		{[]string{"", "a"}, "before the root"},
		{[]string{"", ""}, "there twice"},
		{[]string{"", "/a/b"}, "before its parent"},
		{[]string{"", "/a", "/a"}, "there twice"},
		{[]string{"", "/a", "/a/"}, "before its parent"},
		{nil, "without a root"},
		{[]string{"/"}, "without a root"},
	} {
		l := NewLoader(Config{})
		var err error
		for _, p := range c.paths {
			if err = l.Node(p, dataNode("")); err != nil {
				break
			}
		}
		if err == nil {
			_, err = l.Finish(1)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.paths, err)
		}
	}
}

// TestLoad_WhatIsMissing: nodes of the system that old snapshots lack are made; quotas are counted anew; an ACL that
// a fuzzy snapshot lacks denies all until the log brings it.
func TestLoad_WhatIsMissing(t *testing.T) {
	l := NewLoader(Config{Digest: true})
	l.Session(5, 4000)
	l.ACL(3, []jute.ACL{{Perms: jute.PermRead, ID: jute.ID{Scheme: "world", ID: "anyone"}}})
	l.ACL(4, nil)
	for path, acl := range map[string]int64{"": -1} {
		n := dataNode("")
		n.ACL = acl
		if err := l.Node(path, n); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []struct {
		path, data string
		acl        int64
	}{
		{"/zookeeper", "", -1},
		{"/zookeeper/quota", "", -1},
		{"/zookeeper/quota/a", "", -1},
		{"/zookeeper/quota/a/zookeeper_limits", "count=9,bytes=9", -1},
		{"/zookeeper/quota/a/zookeeper_stats", "count=1,bytes=77", -1},
		{"/a", "12", -1},
		{"/a/b", "345", 3},
		{"/lost", "x", 9},
		{"/null", "y", 4},
	} {
		d := dataNode(n.data)
		d.ACL = n.acl
		if err := l.Node(n.path, d); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := l.Finish(0x70)
	if err != nil {
		t.Fatal(err)
	}
	v := tree.View()
	if n, ok := v.Lookup(configPath); !ok || len(n.ACL()) != 1 || n.ACL()[0].Perms != jute.PermRead {
		t.Errorf("%s: %v", configPath, ok)
	}
	if n, _ := v.Lookup("/zookeeper/quota/a/zookeeper_stats"); string(n.Data()) != "count=2,bytes=5" {
		t.Errorf("counted anew: %q", n.Data())
	}
	who := []jute.ID{{Scheme: "digest", ID: "u:p"}}
	for path, want := range map[string]jute.Code{"/lost": jute.NoAuth, "/null": jute.OK, "/a/b": jute.OK, "/x": jute.NoNode} {
		if _, code := v.Read(path, who); code != want {
			t.Errorf("%s: %v", path, code)
		}
	}
	if _, _, code := v.ReadACL("/lost", who); code != jute.NoAuth {
		t.Errorf("/lost: %v", code)
	}
	// The log goes on where the snapshot began: it creates what is there already, with its ACL.
	tree.Apply(&jute.Txn{
		Header: jute.TxnHeader{Zxid: 0x6f, Type: jute.OpCreate},
		Body:   &jute.CreateTxn{Path: "/lost", ACL: jute.OpenACL(), ParentCVersion: -1},
	})
	if _, code := tree.View().Read("/lost", who); code != jute.OK || tree.Zxid() != 0x70 {
		t.Errorf("/lost: %v, zxid %v", code, tree.Zxid())
	}
	if v.ACLCount() != 2 || v.SessionCount() != 1 { // 3 is what the configuration has too, and the null one
		var keys []int64
		for key := range v.ACLs() {
			keys = append(keys, key)
		}
		t.Errorf("%d access lists %v, %d sessions", v.ACLCount(), keys, v.SessionCount())
	}
}

// TestOwnersOfOld353: what 3.5.3 wrote for nodes with a time to live is read when asked to.
func TestOwnersOfOld353(t *testing.T) {
	const old = int64(-1<<63 | 5000)
	for _, c := range []struct {
		k    kinds
		own  int64
		ttl  int64
		sess SessionID
	}{
		{kinds{true, false}, ttlOwner | 5000, 5000, 0},
		{kinds{true, false}, old, 0, SessionID(old)},
		{kinds{true, true}, old, 5000, 0},
		{kinds{false, false}, ttlOwner | 5000, 0, SessionID(ttlOwner | 5000)},
		{kinds{true, true}, containerOwner, 0, 0},
		{kinds{true, false}, 7, 0, 7},
		{kinds{}, 0, 0, 0},
	} {
		ttl, ok := c.k.ttl(c.own)
		if ttl != c.ttl || ok != (c.ttl > 0) || c.k.session(c.own) != c.sess {
			t.Errorf("%+v, %x: %d, session %v", c.k, uint64(c.own), ttl, c.k.session(c.own))
		}
	}
}

// TestReplayOverFuzzy: transactions that the snapshot holds already, in part, converge to the same tree (section 3.7).
func TestReplayOverFuzzy(t *testing.T) {
	tree := New(Config{Digest: true})
	apply := func(zxid Zxid, op jute.OpCode, body jute.Record) *Result {
		return tree.Apply(&jute.Txn{Header: jute.TxnHeader{Zxid: zxid, Type: op, ClientID: 3, Time: int64(zxid)}, Body: body})
	}
	apply(1, jute.OpCreate, &jute.CreateTxn{Path: "/p", ParentCVersion: 1})
	for _, c := range []struct {
		name string
		op   jute.OpCode
		body jute.Record
		want jute.Code
	}{
		{"create below what is gone", jute.OpCreate, &jute.CreateTxn{Path: "/gone/x"}, jute.NoNode},
		{"create without a slash", jute.OpCreate, &jute.CreateTxn{Path: "x"}, jute.BadArguments},
		{"create of a parent", jute.OpCreate, &jute.CreateTxn{Path: "/p/"}, jute.NoNode},
		{"create again", jute.OpCreate2, &jute.CreateTxn{Path: "/p", ParentCVersion: 1}, jute.NodeExists},
		{"delete what is gone", jute.OpDelete, &jute.DeleteTxn{Path: "/p/x"}, jute.NoNode},
		{"delete below what is gone", jute.OpDelete, &jute.DeleteTxn{Path: "/gone/x"}, jute.NoNode},
		{"delete the root", jute.OpDelete, &jute.DeleteTxn{Path: "/"}, jute.NoNode},
		{"set what is gone", jute.OpSetData, &jute.SetDataTxn{Path: "/gone"}, jute.NoNode},
		{"access to what is gone", jute.OpSetACL, &jute.SetACLTxn{Path: "/gone"}, jute.NoNode},
		{"an error", jute.OpError, &jute.ErrorTxn{Err: jute.NoAuth}, jute.NoAuth},
		{"no time to live", jute.OpCreateTTL, &jute.CreateTTLTxn{Path: "/plain", TTL: -5}, jute.OK},
	} {
		if r := apply(tree.Zxid()+1, c.op, c.body); r.Code != c.want {
			t.Errorf("%s: %v", c.name, r.Code)
		}
	}
	v := tree.View()
	if n, _ := v.Lookup("/p"); n.Stat().Pzxid != 6 || n.Stat().EphemeralOwner != 0 {
		t.Errorf("/p: %+v", n.Stat())
	}
	if n, _ := v.Lookup("/plain"); n.n.owner != 0 || n.NumChildren() != 0 || n.DataLen() != 0 {
		t.Errorf("/plain: %+v", n.Stat())
	}
	// A folder that the snapshot shows with what was created later goes with all of it.
	apply(20, jute.OpCreate, &jute.CreateTxn{Path: "/p/a", ParentCVersion: 1, Ephemeral: true})
	apply(21, jute.OpCreate, &jute.CreateTxn{Path: "/p/b", Data: []byte("x"), ParentCVersion: 2})
	before := tree.View()
	apply(2, jute.OpDelete, &jute.DeleteTxn{Path: "/p"})
	v = tree.View()
	if v.NodeCount() != before.NodeCount()-3 || v.EphemeralCount() != 0 || tree.Zxid() != 21 {
		t.Errorf("%d nodes, %d before; zxid %v", v.NodeCount(), before.NodeCount(), tree.Zxid())
	}
	again := New(Config{Digest: true})
	again.Apply(&jute.Txn{
		Header: jute.TxnHeader{Zxid: 12, Type: jute.OpCreateTTL, Time: 12},
		Body:   &jute.CreateTTLTxn{Path: "/plain", ParentCVersion: 1},
	})
	again.edit("", func(n *node) { n.pzxid = v.root.pzxid })
	if again.Digest() != tree.Digest() {
		t.Errorf("digest %x, of the same tree %x:\n%s\n%s", tree.Digest(), again.Digest(), dump(v), dump(again.View()))
	}
}
