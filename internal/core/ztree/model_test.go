package ztree

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kalda/kalda/internal/format/jute"
)

// twin is the tree as one would write it first: a map from paths to nodes, changed at once by each request,
// in order.
type twin map[string]*twinNode

type twinNode struct {
	data                 string
	version, made, below int32 // made counts children ever made
	owner                int64
	czxid, mzxid, pzxid  Zxid
}

func newTwin() twin {
	m := twin{}
	for _, p := range []string{"", systemPath, quotaPath, configPath} {
		m[p] = &twinNode{below: map[string]int32{"": 1, systemPath: 2}[p]}
	}
	return m
}

func (m twin) clone() twin {
	out := twin{}
	for p, n := range m {
		c := *n
		out[p] = &c
	}
	return out
}

// do is one operation of a session; the final path for a create.
func (m twin) do(op jute.OpCode, body jute.Record, id SessionID, z Zxid) (string, jute.Code) {
	switch b := body.(type) {
	case *jute.CreateRequest:
		return m.create(op, b, id, z)
	case *jute.PathVersion:
		if op == jute.OpCheck {
			n := m[b.Path]
			if n == nil {
				return "", jute.NoNode
			}
			return "", matches(n.version, b.Version)
		}
		return "", m.delete(b, z)
	case *jute.SetDataRequest:
		n := m[b.Path]
		if n == nil {
			return "", jute.NoNode
		}
		if code := matches(n.version, b.Version); code != jute.OK {
			return "", code
		}
		n.data, n.version, n.mzxid = string(b.Data), n.version+1, z
		return "", jute.OK
	}
	panic("no such operation")
}

func matches(have, want int32) jute.Code {
	if want != -1 && want != have {
		return jute.BadVersion
	}
	return jute.OK
}

func (m twin) create(op jute.OpCode, b *jute.CreateRequest, id SessionID, z Zxid) (string, jute.Code) {
	parent, _ := split(b.Path)
	p := m[parent]
	if p == nil {
		return "", jute.NoNode
	}
	path, owner := b.Path, int64(0)
	if b.Flags&2 != 0 {
		path += fmt.Sprintf("%010d", p.made)
	}
	if b.Flags&1 != 0 {
		owner = int64(id)
	}
	if op == jute.OpCreateContainer {
		owner = containerOwner
	}
	if m[path] != nil {
		return "", jute.NodeExists
	}
	if p.owner != 0 && p.owner != containerOwner {
		return "", jute.NoChildrenForEphemerals
	}
	p.made, p.below, p.pzxid = p.made+1, p.below+1, z
	m[path] = &twinNode{data: string(b.Data), owner: owner, czxid: z, mzxid: z, pzxid: z}
	return path, jute.OK
}

func (m twin) delete(b *jute.PathVersion, z Zxid) jute.Code {
	parent, _ := split(b.Path)
	n := m[b.Path]
	if n == nil {
		return jute.NoNode
	}
	if code := matches(n.version, b.Version); code != jute.OK {
		return code
	}
	if n.below > 0 {
		return jute.NotEmpty
	}
	delete(m, b.Path)
	m[parent].below--
	m[parent].pzxid = z
	return jute.OK
}

func (m twin) close(id SessionID, z Zxid) {
	for _, path := range slices.Sorted(maps.Keys(m)) {
		if m[path].owner == int64(id) {
			m.delete(&jute.PathVersion{Path: path, Version: -1}, z)
		}
	}
}

func (m twin) String() string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(m)) {
		n := m[path]
		fmt.Fprintf(&b, "%s %q v%d made %d below %d owner %#x c%d m%d p%d\n", path, n.data, n.version, n.made, n.below,
			n.owner, n.czxid, n.mzxid, n.pzxid)
	}
	return b.String()
}

// dump is a view in the twin's words.
func dump(v *View) string {
	m := twin{}
	for path, d := range v.Nodes() {
		n, _ := v.Lookup(path)
		m[path] = &twinNode{
			data: string(d.Data), version: d.Stat.Version, made: d.Stat.Cversion, below: int32(n.NumChildren()),
			owner: d.Stat.EphemeralOwner, czxid: d.Stat.Czxid, mzxid: d.Stat.Mzxid, pzxid: d.Stat.Pzxid,
		}
	}
	return m.String()
}

// machine is the tree and its twin under the same requests. Several are planned before any is applied.
type machine struct {
	tree    *Tree
	plan    *Planner
	live    *Sessions
	twin    twin
	zxid    Zxid
	pending []*jute.Txn
	want    []string // what each of pending should say
	history []*jute.Txn
	views   map[*View]string
}

func newMachine() *machine {
	m := &machine{
		tree: New(Config{Digest: true}), live: NewSessions(1, 0, 10), twin: newTwin(), views: map[*View]string{},
	}
	m.plan = NewPlanner(m.tree, m.live)
	for id := range SessionID(2) {
		m.prep(id+1, jute.OpCreateSession, &jute.CreateSessionTxn{Timeout: 100}, "OK ")
	}
	m.applyAll()
	return m
}

func (m *machine) prep(id SessionID, op jute.OpCode, body jute.Record, want string) {
	m.zxid++
	txn := m.plan.Prep(&Request{Session: id, Op: op, Body: body, Owner: 1}, m.zxid, int64(m.zxid))
	m.pending, m.want = append(m.pending, txn), append(m.want, want)
}

func (m *machine) applyAll() (mismatch string) {
	for i, txn := range m.pending {
		r := m.tree.Apply(txn)
		m.plan.Applied(txn.Header.Zxid)
		if got := r.Code.String() + " " + r.Path; got != m.want[i] {
			return fmt.Sprintf("%v: %s, the twin %s", txn.Header.Zxid, got, m.want[i])
		}
		if txn.Digest != nil && txn.Digest.Tree != m.tree.Digest() {
			return fmt.Sprintf("%v: planned digest %#x, applied %#x", txn.Header.Zxid, txn.Digest.Tree, m.tree.Digest())
		}
	}
	m.history = append(m.history, m.pending...)
	m.pending, m.want = nil, nil
	return ""
}

func genOp(t *rapid.T) (jute.OpCode, jute.Record) {
	path := rapid.StringMatching(`/[abc](/[ab](/[a])?)?`).Draw(t, "path")
	data := []byte(rapid.StringMatching(`[x-z]{0,3}`).Draw(t, "data"))
	version := rapid.Int32Range(-1, 2).Draw(t, "version")
	switch rapid.IntRange(0, 9).Draw(t, "op") {
	case 0, 1, 2, 3, 4:
		flags := rapid.Int32Range(0, 3).Draw(t, "flags")
		return jute.OpCreate, &jute.CreateRequest{Path: path, Data: data, ACL: jute.OpenACL(), Flags: flags}
	case 5:
		return jute.OpCreateContainer, &jute.CreateRequest{Path: path, ACL: jute.OpenACL(), Flags: jute.FlagContainer}
	case 6, 7:
		return jute.OpDelete, &jute.PathVersion{Path: path, Version: version}
	case 8:
		return jute.OpSetData, &jute.SetDataRequest{Path: path, Data: data, Version: version}
	}
	return jute.OpCheck, &jute.PathVersion{Path: path, Version: version}
}

func (m *machine) one(t *rapid.T) {
	op, body := genOp(t)
	if op == jute.OpCheck {
		m.multi(t)
		return
	}
	id := SessionID(rapid.IntRange(1, 2).Draw(t, "session"))
	path, code := m.twin.do(op, body, id, m.zxid+1)
	m.prep(id, op, body, code.String()+" "+path)
}

func (m *machine) multi(t *rapid.T) {
	id := SessionID(rapid.IntRange(1, 2).Draw(t, "session"))
	r := &jute.MultiRequest{}
	after := m.twin.clone()
	failed := false
	for range rapid.IntRange(0, 4).Draw(t, "ops") {
		op, body := genOp(t)
		r.Ops = append(r.Ops, jute.Op{Type: op, Body: body})
		if !failed {
			_, code := after.do(op, body, id, m.zxid+1)
			failed = code != jute.OK
		}
	}
	if !failed {
		m.twin = after
	}
	m.prep(id, jute.OpMulti, r, "OK ")
}

func (m *machine) closeSession(t *rapid.T) {
	id := SessionID(rapid.IntRange(1, 2).Draw(t, "session"))
	m.twin.close(id, m.zxid+1)
	m.prep(id, jute.OpCloseSession, nil, "OK ")
	m.applyAll()
	m.live.Remove(id)
	m.prep(id, jute.OpCreateSession, &jute.CreateSessionTxn{Timeout: 100}, "OK ")
}

// TestModel: the tree is its twin, whatever is planned ahead; views stay as they were; a snapshot and the
// log after it, also one that begins before it, make the same tree.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine()
		t.Repeat(map[string]func(*rapid.T){
			"one":   m.one,
			"two":   m.one,
			"multi": m.multi,
			"close": func(t *rapid.T) {
				if s := m.applyAll(); s != "" {
					t.Fatal(s)
				}
				m.closeSession(t)
			},
			"apply": func(t *rapid.T) {
				if s := m.applyAll(); s != "" {
					t.Fatal(s)
				}
				v := m.tree.View()
				if diff := cmp.Diff(m.twin.String(), dump(v)); diff != "" {
					t.Fatalf("the tree is not its twin (-twin +tree):\n%s", diff)
				}
				m.views[v] = dump(v)
			},
		})
		if s := m.applyAll(); s != "" {
			t.Fatal(s)
		}
		m.finish(t)
	})
}

func (m *machine) finish(t *rapid.T) {
	end := m.tree.View()
	for v, was := range m.views {
		if diff := cmp.Diff(was, dump(v)); diff != "" {
			t.Fatalf("a view changed:\n%s", diff)
		}
		from := rapid.IntRange(0, len(m.history)).Draw(t, "from")
		for _, first := range []int{int(v.Zxid()), min(from, int(v.Zxid()))} {
			back := reload(t, v)
			for _, txn := range m.history[first:] {
				back.Apply(txn)
			}
			if diff := cmp.Diff(dump(end), dump(back.View())); diff != "" {
				t.Fatalf("snapshot at %v, log from %d:\n%s", v.Zxid(), first, diff)
			}
			if back.Digest() != end.Digest() || back.View().NodeCount() != end.NodeCount() ||
				back.View().DataSize() != end.DataSize() || back.View().EphemeralCount() != end.EphemeralCount() {
				t.Fatalf("snapshot at %v, log from %d: other totals", v.Zxid(), first)
			}
		}
	}
}

// reload makes a tree of a view as a snapshot would.
func reload(t *rapid.T, v *View) *Tree {
	l := NewLoader(*v.cfg)
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
	tree, err := l.Finish(v.Zxid())
	if err != nil {
		t.Fatal(err)
	}
	if tree.Digest() != v.Digest() {
		t.Fatalf("reloaded: digest %#x, was %#x", tree.Digest(), v.Digest())
	}
	return tree
}
