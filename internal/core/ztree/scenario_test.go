package ztree

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kalda/kalda/internal/format/jute"
)

// TestScenarios: each file tells a story. A line is a request or a look; what came of it is printed below.
//
//	as ID [scheme:id ...]                 the session that speaks from here on, and who it is
//	create PATH [data=] [flags=] [ttl=] [acl=perms:scheme:id,...]
//	set PATH DATA [VERSION] | delete PATH [VERSION] | acl PATH ACL | close | reap PATH
//	get PATH | ls PATH | getacl PATH | tree
//	watch KIND PATH (data, child, persistent, recursive; of the session) | idle NOW | due NOW
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := &stage{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				s = newStage(d)
				return ""
			}
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				line = strings.TrimSpace(line)
				fmt.Fprintf(&out, "%s\n%s", line, s.line(t, strings.Fields(line)))
			}
			return out.String()
		})
	})
}

type stage struct {
	tree    *Tree
	plan    *Planner
	live    *Sessions
	watches *Watches
	id      SessionID
	auth    []jute.ID
	zxid    Zxid
	clock   int64
}

func newStage(d *datadriven.TestData) *stage {
	cfg := Config{Digest: true, ExtendedTypes: d.HasArg("extended"), EnforceQuota: d.HasArg("enforce")}
	s := &stage{tree: New(cfg), live: NewSessions(1, 0, 10), watches: NewWatches(), clock: 1000}
	s.plan = NewPlanner(s.tree, s.live)
	return s
}

func arg(words []string, key, def string) string {
	for _, w := range words {
		if v, ok := strings.CutPrefix(w, key+"="); ok {
			return v
		}
	}
	return def
}

func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// parseACL reads "31:world:anyone,1:ip:10.0.0.0/8".
func parseACL(text string) (out []jute.ACL) {
	for entry := range strings.SplitSeq(text, ",") {
		perms, id, _ := strings.Cut(entry, ":")
		scheme, id, _ := strings.Cut(id, ":")
		out = append(out, jute.ACL{Perms: int32(number(perms)), ID: jute.ID{Scheme: scheme, ID: id}})
	}
	return out
}

func optional(words []string, i int) int32 {
	if len(words) > i {
		return int32(number(words[i]))
	}
	return -1
}

func (s *stage) line(t *testing.T, w []string) string {
	switch w[0] {
	case "as":
		s.id, s.auth = SessionID(number(w[1])), nil
		for _, id := range w[2:] {
			scheme, id, _ := strings.Cut(id, ":")
			s.auth = append(s.auth, jute.ID{Scheme: scheme, ID: id})
		}
		if s.live.Check(s.id, 1) != jute.OK {
			return s.write(jute.OpCreateSession, &jute.CreateSessionTxn{Timeout: 100})
		}
		return ""
	case "create":
		r := jute.CreateRequest{Path: w[1], ACL: parseACL(arg(w, "acl", "31:world:anyone"))}
		r.Data, r.Flags = []byte(arg(w, "data", "")), int32(number(arg(w, "flags", "0")))
		if ttl := arg(w, "ttl", ""); ttl != "" {
			return s.write(jute.OpCreateTTL, &jute.CreateTTLRequest{CreateRequest: r, TTL: number(ttl)})
		}
		if r.Flags == jute.FlagContainer {
			return s.write(jute.OpCreateContainer, &r)
		}
		return s.write(jute.OpCreate2, &r)
	case "set":
		return s.write(jute.OpSetData, &jute.SetDataRequest{Path: w[1], Data: []byte(w[2]), Version: optional(w, 3)})
	case "delete":
		return s.write(jute.OpDelete, &jute.PathVersion{Path: w[1], Version: optional(w, 2)})
	case "acl":
		return s.write(jute.OpSetACL, &jute.SetACLRequest{Path: w[1], ACL: parseACL(w[2]), Version: -1})
	case "close":
		return s.write(jute.OpCloseSession, nil)
	case "reap":
		return s.write(jute.OpDeleteContainer, &jute.PathOnly{Path: w[1]})
	}
	return s.look(t, w)
}

func (s *stage) write(op jute.OpCode, body jute.Record) string {
	s.zxid++
	s.clock++
	r := &Request{Session: s.id, Op: op, Body: body, Auth: s.auth, Owner: 1}
	if op == jute.OpDeleteContainer {
		r.Session, r.Owner = 0, 0
	}
	res := s.tree.Apply(s.plan.Prep(r, s.zxid, s.clock))
	s.plan.Applied(s.zxid)
	var out strings.Builder
	for i := range res.Changes {
		for _, n := range s.watches.Trigger(s.zxid, &res.Changes[i]) {
			fmt.Fprintf(&out, "  %v %s to %v\n", n.Event.Type, n.Event.Path, n.Watchers)
		}
	}
	if op == jute.OpCloseSession {
		s.live.Remove(s.id)
		s.watches.Drop(WatcherID(s.id))
	}
	fmt.Fprintf(&out, "  %v %s\n", res.Code, res.Path)
	return strings.ReplaceAll(out.String(), " \n", "\n")
}

func (s *stage) look(t *testing.T, w []string) string {
	v := s.tree.View()
	switch w[0] {
	case "get":
		n, code := v.Read(w[1], s.auth)
		if code != jute.OK {
			return fmt.Sprintf("  %v\n", code)
		}
		st := n.Stat()
		return fmt.Sprintf("  %q version %d cversion %d aversion %d children %d owner %d, czxid %d mzxid %d pzxid %d\n",
			n.Data(), st.Version, st.Cversion, st.Aversion, st.NumChildren, st.EphemeralOwner, st.Czxid, st.Mzxid, st.Pzxid)
	case "getacl":
		acl, _, code := v.ReadACL(w[1], s.auth)
		return fmt.Sprintf("  %v %v\n", code, acl)
	case "tree":
		var out strings.Builder
		for path, n := range v.Nodes() {
			fmt.Fprintf(&out, "  %s %q\n", path, n.Data)
		}
		return out.String()
	case "watch":
		kinds := map[string]Kind{
			"data": WatchData, "child": WatchChild, "persistent": WatchPersistent, "recursive": WatchRecursive,
		}
		s.watches.Add(WatcherID(s.id), w[2], kinds[w[1]])
		return fmt.Sprintf("  %d in all\n", s.watches.Count())
	case "idle":
		return fmt.Sprintf("  %v\n", v.Idle(number(w[1]), 10))
	case "due":
		return fmt.Sprintf("  %v\n", s.live.Due(number(w[1])))
	}
	t.Fatalf("what is %q?", w[0])
	return ""
}

// TestFresh: the counts of a fresh tree are those that Apache's four-letter words tell.
func TestFresh(t *testing.T) {
	v := New(Config{Digest: true}).View()
	if v.NodeCount() != 5 || v.DataSize() != 44 || v.EphemeralCount() != 0 {
		t.Errorf("nodes %d, data %d, ephemerals %d", v.NodeCount(), v.DataSize(), v.EphemeralCount())
	}
}

// TestRenumber: when epochs run out, views keep what they had.
func TestRenumber(t *testing.T) {
	m := newMachine()
	m.tree.epoch = maxEpoch - 1
	m.prep(1, jute.OpCreate, &jute.CreateRequest{Path: "/a", ACL: jute.OpenACL()}, "OK /a")
	m.applyAll()
	v := m.tree.View()
	was := dump(v)
	m.prep(1, jute.OpSetData, &jute.SetDataRequest{Path: "/a", Data: []byte("x"), Version: -1}, "OK ")
	m.applyAll()
	if m.tree.epoch > 2 || dump(v) != was || dump(m.tree.View()) == was {
		t.Errorf("epoch %d, the view was\n%s and is\n%s", m.tree.epoch, was, dump(v))
	}
}
