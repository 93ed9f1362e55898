package ztree

import (
	"maps"
	"testing"

	"github.com/kalda/kalda/internal/format/jute"
)

// bytesOf hands out a fuzz input, then zeros.
type bytesOf []byte

func (b *bytesOf) next(n int) int {
	if len(*b) == 0 {
		return 0
	}
	c := int((*b)[0])
	*b = (*b)[1:]
	return c % n
}

var fuzzPaths = []string{
	"/a", "/b", "/a/a", "/a/b", "/a/a/a", "/b/a", "", "/", "//", "/a/", "a", "/a//b", "/.", "/a/..",
	"/\x00", "/\ufffe",
	systemPath, configPath, quotaPath, quotaPath + "/a", quotaPath + "/a/" + limitName,
	quotaPath + "/a/" + statName,
}

var fuzzACLs = [][]jute.ACL{
	jute.OpenACL(), nil,
	{},
	{{Perms: jute.PermRead, ID: jute.ID{Scheme: "world", ID: "anyone"}}},
	{{Perms: 31, ID: jute.ID{Scheme: "auth"}}},
	{{Perms: 31, ID: jute.ID{Scheme: "ip", ID: "10.0.0.0/8"}}},
	{{Perms: 99, ID: jute.ID{Scheme: "ip", ID: "x/y"}}},
	{{Perms: 1, ID: jute.ID{Scheme: "nobody", ID: ":"}}},
}

// op is any operation, sensible or not.
func (b *bytesOf) op() jute.Op {
	path, version := fuzzPaths[b.next(len(fuzzPaths))], int32(b.next(5)-2)
	data := [][]byte{nil, {}, []byte("x"), []byte("count=1,bytes=2=;countHardLimit=1")}[b.next(4)]
	create := jute.CreateRequest{Path: path, Data: data, ACL: fuzzACLs[b.next(len(fuzzACLs))]}
	create.Flags = int32(b.next(9) - 1)
	switch b.next(9) {
	case 0, 1, 2:
		op := []jute.OpCode{jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer}[b.next(3)]
		return jute.Op{Type: op, Body: &create}
	case 3:
		ttl := []int64{1, 0, -1, maxTTL, maxTTL + 1}[b.next(5)]
		return jute.Op{Type: jute.OpCreateTTL, Body: &jute.CreateTTLRequest{CreateRequest: create, TTL: ttl}}
	case 4:
		return jute.Op{Type: jute.OpDelete, Body: &jute.PathVersion{Path: path, Version: version}}
	case 5:
		return jute.Op{Type: jute.OpSetData, Body: &jute.SetDataRequest{Path: path, Data: data, Version: version}}
	case 6:
		body := &jute.SetACLRequest{Path: path, ACL: create.ACL, Version: version}
		return jute.Op{Type: jute.OpSetACL, Body: body}
	case 7:
		return jute.Op{Type: jute.OpDeleteContainer, Body: &jute.PathOnly{Path: path}}
	}
	return jute.Op{Type: jute.OpCheck, Body: &jute.PathVersion{Path: path, Version: version}}
}

// request is one of a session, or, one time in eight, of the server itself.
func (b *bytesOf) request() *Request {
	r := &Request{Session: SessionID(1 + b.next(3)), Owner: Owner(min(1, b.next(8)))}
	if b.next(2) == 1 {
		r.Auth = []jute.ID{{Scheme: "ip", ID: "10.1.2.3"}, {Scheme: "digest", ID: "u:p"}}
	}
	switch b.next(8) {
	case 0:
		r.Op = jute.OpCloseSession
	case 1:
		r.Op, r.Body = jute.OpCreateSession, &jute.CreateSessionTxn{Timeout: 100}
	case 2, 3:
		m := &jute.MultiRequest{}
		for range b.next(6) {
			m.Ops = append(m.Ops, b.op())
		}
		r.Op, r.Body = jute.OpMulti, m
	default:
		op := b.op()
		r.Op, r.Body = op.Type, op.Body
	}
	return r
}

// FuzzPlan: any requests, planned several ahead, become transactions that apply to exactly what was planned,
// and that are the same after their bytes.
func FuzzPlan(f *testing.F) {
	f.Add([]byte{0, 1, 0, 7, 0, 0, 0, 0, 1, 0, 0, 1, 7})
	f.Add([]byte("a multi or two of them, with a session that closes and some that stay; then it all again"))
	f.Fuzz(func(t *testing.T, in []byte) {
		b := bytesOf(in)
		tree := New(Config{Digest: true, ExtendedTypes: b.next(2) == 0, EnforceQuota: b.next(2) == 0})
		live := NewSessions(1, 0, 10)
		for id := range SessionID(3) {
			live.Add(id+1, 100, 1, 0)
		}
		p := NewPlanner(tree, live)
		var pending []*jute.Txn
		zxid := Zxid(0)
		for len(b) > 0 && zxid < 200 {
			zxid++
			pending = append(pending, p.Prep(b.request(), zxid, int64(zxid)))
			if b.next(4) == 0 {
				applyPlanned(t, tree, p, pending)
				pending = nil
			}
		}
		applyPlanned(t, tree, p, pending)
	})
}

func applyPlanned(t *testing.T, tree *Tree, p *Planner, txns []*jute.Txn) {
	t.Helper()
	planned := maps.Clone(p.newest)
	for _, txn := range txns {
		back, err := jute.DecodeTxn(txn.Append(nil))
		if err != nil {
			t.Fatalf("%v is not read back: %v", txn.Header, err)
		}
		tree.Apply(back)
		p.Applied(txn.Header.Zxid)
		if txn.Digest != nil && txn.Digest.Tree != tree.Digest() {
			t.Fatalf("%+v: planned digest %#x, applied %#x", txn.Header, txn.Digest.Tree, tree.Digest())
		}
	}
	if p.Pending() != 0 || len(p.newest) != 0 {
		t.Fatalf("%d changes, %d paths still pending", p.Pending(), len(p.newest))
	}
	for path, rec := range planned {
		n := lookup(tree.root, path)
		switch {
		case n == nil || rec.n == nil:
			if n != nil || rec.n != nil {
				t.Fatalf("%q: planned there %v, applied %v", path, rec.n != nil, n != nil)
			}
		case n.persisted() != rec.n.persisted() || n.numKids() != rec.kids:
			t.Fatalf("%q: planned %+v, %d children; applied %+v, %d", path, rec.n.persisted(), rec.kids,
				n.persisted(), n.numKids())
		}
	}
}

// FuzzApply: any transactions, those too that no planner makes, apply without a panic, and to a tree that a snapshot
// of it makes again. Each is two bytes of length and its bytes.
func FuzzApply(f *testing.F) {
	var all []byte
	for _, txn := range goldenTxns(f) {
		txn.Digest = nil
		b := txn.Append(nil)
		one := append([]byte{byte(len(b) >> 8), byte(len(b))}, b...)
		f.Add(one)
		if all = append(all, one...); len(all) < 4096 {
			f.Add(append([]byte(nil), all...))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		tree := New(Config{Digest: true, ExtendedTypes: true, EnforceQuota: true})
		for len(in) > 2 {
			n := min(int(in[0])<<8|int(in[1]), len(in)-2)
			if txn, err := jute.DecodeTxn(in[2 : 2+n]); err == nil {
				r := tree.Apply(txn)
				r.Response(nil)
			}
			in = in[2+n:]
		}
		v := tree.View()
		if v.Digest() != tree.Digest() {
			t.Fatal("the view has another digest")
		}
		sameReloaded(t, tree)
	})
}

// sameReloaded makes a tree of a tree's snapshot: all totals are the same.
func sameReloaded(t *testing.T, tree *Tree) {
	t.Helper()
	v := tree.View()
	l := NewLoader(tree.Config())
	for id, timeout := range v.Sessions() {
		l.Session(id, timeout)
	}
	for key, acl := range v.ACLs() {
		l.ACL(key, acl)
	}
	for path, n := range v.Nodes() {
		if err := l.Node(path, &n); err != nil {
			t.Fatal(err)
		}
	}
	back, err := l.Finish(v.Zxid())
	if err != nil {
		t.Fatal(err)
	}
	w := back.View()
	if w.Digest() != v.Digest() || w.EphemeralCount() != v.EphemeralCount() || w.SessionCount() != v.SessionCount() {
		t.Fatalf("digest %#x and %#x, %d and %d ephemerals, %d and %d sessions", v.Digest(), w.Digest(),
			v.EphemeralCount(), w.EphemeralCount(), v.SessionCount(), w.SessionCount())
	}
	if _, config := v.Lookup(configPath); config && w.NodeCount() != v.NodeCount() {
		t.Fatalf("%d nodes, and %d from the snapshot", v.NodeCount(), w.NodeCount())
	}
}
