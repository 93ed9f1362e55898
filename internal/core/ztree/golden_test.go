package ztree

import (
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kalda/kalda/internal/format/jute"
)

const golden = "../../format/jute/testdata/golden/client/"

func goldenLines(t testing.TB, name string) (out [][2]string) {
	t.Helper()
	text, err := os.ReadFile(golden + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		who, bytes, cut := strings.Cut(strings.TrimSpace(line), " ")
		if !cut {
			who, bytes = "", who
		}
		out = append(out, [2]string{who, bytes})
	}
	return out
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func goldenTxns(t testing.TB) (out []*jute.Txn) {
	t.Helper()
	for _, line := range goldenLines(t, "txns.txt") {
		txn, err := jute.DecodeTxn(unhex(t, line[1]))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, txn)
	}
	return out
}

var goldenConfig = Config{Digest: true, ExtendedTypes: true, EnforceQuota: true}

// TestGoldenReplay: Apache's log makes a tree with Apache's digest after every transaction.
func TestGoldenReplay(t *testing.T) {
	tree := New(goldenConfig)
	for _, txn := range goldenTxns(t) {
		tree.Apply(txn)
		if d := txn.Digest; d != nil && d.Tree != tree.Digest() {
			t.Fatalf("%v %v: the digest is %#x, Apache's %#x", txn.Header.Zxid, txn.Header.Type, tree.Digest(), d.Tree)
		}
	}
}

// goldenServer answers the captured requests in their order, with the log's zxids and times.
type goldenServer struct {
	t       *testing.T
	tree    *Tree
	plan    *Planner
	live    *Sessions
	watches *Watches
	auth    map[string][]jute.ID
	ids     map[string]SessionID
	txns    []*jute.Txn
	out     map[string][]string // what each connection gets
}

// TestGoldenConversation: each request of Apache's client becomes Apache's transaction, and gets Apache's
// reply and notifications, byte for byte.
func TestGoldenConversation(t *testing.T) {
	s := &goldenServer{
		t: t, tree: New(goldenConfig), live: NewSessions(1, 0, 2000), watches: NewWatches(), auth: map[string][]jute.ID{},
		ids: map[string]SessionID{}, txns: goldenTxns(t), out: map[string][]string{},
	}
	s.plan = NewPlanner(s.tree, s.live)
	want := map[string][]string{}
	for _, line := range goldenLines(t, "frames.txt") {
		if conn := line[0][1:]; line[0][0] == 'C' {
			s.request(conn, unhex(t, line[1]))
		} else {
			want[conn] = append(want[conn], line[1])
		}
	}
	if len(s.txns) > 0 {
		t.Errorf("%d transactions of Apache's were not asked for here", len(s.txns))
	}
	for conn := range want {
		for i := range min(len(want[conn]), len(s.out[conn])) {
			if got := s.out[conn][i]; sorted(t, got) != sorted(t, want[conn][i]) {
				t.Errorf("session %s, frame %d:\n%s, Apache's:\n%s", conn, i+1, got, want[conn][i])
			}
		}
		if len(want[conn]) != len(s.out[conn]) {
			t.Errorf("session %s: %d frames, Apache's %d", conn, len(s.out[conn]), len(want[conn]))
		}
	}
}

// sorted makes replies comparable in which names come in any order: their bytes, sorted.
func sorted(t *testing.T, frame string) string {
	b := unhex(t, frame)
	if text := string(b); strings.Contains(text, "s-0") || strings.Contains(text, "zookeeper") {
		slices.Sort(b)
	}
	return string(b)
}

func (s *goldenServer) send(conn string, b []byte) {
	s.out[conn] = append(s.out[conn], hex.EncodeToString(b))
}

func (s *goldenServer) request(conn string, frame []byte) {
	d := jute.NewDecoder(frame, 0)
	if s.ids[conn] == 0 {
		s.connect(conn, d)
		return
	}
	var h jute.RequestHeader
	h.Decode(d)
	body, err := jute.DecodeRequest(h.Type, d)
	if err != nil {
		s.t.Fatal(err)
	}
	reply := jute.ReplyHeader{Xid: h.Xid, Zxid: s.tree.Zxid()}
	switch h.Type {
	case jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL, jute.OpDelete, jute.OpSetData,
		jute.OpSetACL, jute.OpMulti, jute.OpCloseSession:
		r := s.write(conn, h, body)
		reply.Zxid, reply.Err = r.Header.Zxid, r.Code
		s.send(conn, r.Response(reply.Append(nil)))
	case jute.OpAuth:
		s.auth[conn] = append(s.auth[conn], jute.ID{Scheme: "digest", ID: "bob:fyVmFCwVbTJYrznoSu1koqYEYF0="})
		reply.Zxid = 0
		s.send(conn, reply.Append(nil))
	default:
		var b []byte
		if b, reply.Err = s.read(conn, h.Type, body); reply.Err != jute.OK {
			b = nil
		}
		s.send(conn, append(reply.Append(nil), b...))
	}
}

func (s *goldenServer) connect(conn string, d *jute.Decoder) {
	var c jute.ConnectRequest
	c.Decode(d)
	s.ids[conn] = s.txns[0].Header.ClientID
	s.auth[conn] = []jute.ID{{Scheme: "ip", ID: "127.0.0.1"}}
	s.write(conn, jute.RequestHeader{Type: jute.OpCreateSession}, &jute.CreateSessionTxn{Timeout: c.Timeout})
	pw := Password(s.ids[conn])
	r := jute.ConnectResponse{
		Timeout: c.Timeout, SessionID: s.ids[conn], Password: pw[:], HasReadOnly: c.HasReadOnly,
	}
	s.send(conn, r.Append(nil))
}

func (s *goldenServer) write(conn string, h jute.RequestHeader, body jute.Record) *Result {
	want := s.txns[0]
	s.txns = s.txns[1:]
	owner := Owner(1)
	got := s.plan.Prep(&Request{s.ids[conn], h.Xid, h.Type, body, s.auth[conn], owner}, want.Header.Zxid, want.Header.Time)
	if diff := cmp.Diff(want, inOrderOf(want, got)); diff != "" {
		s.t.Fatalf("the transaction (-Apache's +ours):\n%s", diff)
	}
	r := s.tree.Apply(got)
	s.plan.Applied(got.Header.Zxid)
	if d := got.Digest; d != nil && d.Tree != s.tree.Digest() {
		s.t.Fatalf("%v: planned digest %#x, applied %#x", got.Header.Zxid, d.Tree, s.tree.Digest())
	}
	for i := range r.Changes {
		for _, n := range s.watches.Trigger(got.Header.Zxid, &r.Changes[i]) {
			head := jute.ReplyHeader{Xid: jute.XidNotification, Zxid: n.Zxid}
			for _, id := range n.Watchers {
				to := string(rune('0' + id))
				if s.tree.View().Permits(n.ACL, jute.PermRead, s.auth[to]) {
					s.send(to, n.Event.Append(head.Append(nil)))
				}
			}
		}
	}
	return r
}

// inOrderOf gives what a closed session deletes in Apache's order, that of a hash.
func inOrderOf(want, got *jute.Txn) *jute.Txn {
	w, ok := want.Body.(*jute.CloseSessionTxn)
	g, both := got.Body.(*jute.CloseSessionTxn)
	if ok && both && slices.Equal(slices.Sorted(slices.Values(w.Paths)), g.Paths) {
		g.Paths = w.Paths
	}
	return got
}

func (s *goldenServer) read(conn string, op jute.OpCode, body jute.Record) ([]byte, jute.Code) {
	v, me, who := s.tree.View(), WatcherID(conn[0]-'0'), s.auth[conn]
	switch b := body.(type) {
	case *jute.PathWatch:
		return s.readNode(me, op, b, who)
	case *jute.PathOnly:
		switch op {
		case jute.OpSync:
			return b.Append(nil), jute.OK
		case jute.OpGetACL:
			acl, stat, code := v.ReadACL(b.Path, who)
			return (&jute.GetACLResponse{ACL: acl, Stat: stat}).Append(nil), code
		}
		n, code := v.Descendants(b.Path, who)
		return jute.AppendInt(nil, n), code
	case *jute.GetEphemeralsRequest:
		return jute.AppendStrings(nil, v.Ephemerals(s.ids[conn], b.Prefix.S)), jute.OK
	case *jute.AddWatchRequest:
		s.watches.Add(me, b.Path, map[jute.AddWatchMode]Kind{0: WatchPersistent, 1: WatchRecursive}[b.Mode])
		return jute.AppendInt(nil, 0), jute.OK
	case *jute.WatchesRequest:
		if op == jute.OpCheckWatches {
			return nil, s.watches.Check(me, b.Path, b.Type)
		}
		return nil, s.watches.Remove(me, b.Path, b.Type)
	case *jute.MultiRequest:
		return s.multiRead(b, who), jute.OK
	}
	if op == jute.OpWhoAmI {
		r := jute.WhoAmIResponse{Clients: []jute.ClientInfo{{Scheme: "digest", User: "bob"}, {Scheme: "ip", User: "127.0.0.1"}}}
		return r.Append(nil), jute.OK
	}
	return nil, jute.OK
}

func (s *goldenServer) readNode(me WatcherID, op jute.OpCode, b *jute.PathWatch, who []jute.ID) ([]byte, jute.Code) {
	n, code := s.tree.View().Read(b.Path, who)
	if b.Watch && (code == jute.OK || op == jute.OpExists && code == jute.NoNode) {
		kind := WatchData
		if op == jute.OpGetChildren || op == jute.OpGetChildren2 {
			kind = WatchChild
		}
		s.watches.Add(me, b.Path, kind)
	}
	if code != jute.OK {
		return nil, code
	}
	switch op {
	case jute.OpExists:
		return n.AppendStat(nil), code
	case jute.OpGetData:
		return n.AppendStat(n.AppendData(nil)), code
	case jute.OpGetChildren2:
		return n.AppendStat(n.AppendChildren(nil)), code
	}
	return n.AppendChildren(nil), code
}

func (s *goldenServer) multiRead(m *jute.MultiRequest, who []jute.ID) []byte {
	var out []byte
	for _, op := range m.Ops {
		n, code := s.tree.View().Read(op.Body.(*jute.PathWatch).Path, who)
		r := jute.OpResult{Type: op.Type}
		switch {
		case code != jute.OK:
			r.Type, r.Err = jute.OpError, code
		case op.Type == jute.OpGetData:
			r.Data, r.Stat = n.Data(), n.Stat()
		default:
			r.Children = []string{}
			for c := range n.Children() {
				r.Children = append(r.Children, c)
			}
		}
		out = r.Append(out)
	}
	return jute.AppendMultiEnd(out)
}
