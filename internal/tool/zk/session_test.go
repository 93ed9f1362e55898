package zk

import (
	"bufio"
	"context"
	"encoding/binary"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kalda/kalda/internal/format/jute"
)

// peer is the server's end of a connection, played by the test.
type peer struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func (p *peer) read() *jute.Decoder {
	p.t.Helper()
	_ = p.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	b, err := readFrame(p.in)
	if err != nil {
		p.t.Fatalf("the client sends nothing: %v", err)
	}
	return jute.NewDecoder(b, 0)
}

func (p *peer) write(b []byte) {
	p.t.Helper()
	if _, err := p.conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)); err != nil {
		p.t.Fatal(err)
	}
}

// accept answers a handshake, and returns what was asked for.
func (p *peer) accept(r jute.ConnectResponse) *jute.ConnectRequest {
	p.t.Helper()
	req := &jute.ConnectRequest{}
	req.Decode(p.read())
	r.Password, r.HasReadOnly = make([]byte, 16), true
	r.Password[0] = byte(r.SessionID)
	p.write(r.Append(nil))
	return req
}

// expect reads a request of that type, other than pings.
func (p *peer) expect(op jute.OpCode, body jute.Record) jute.RequestHeader {
	p.t.Helper()
	for {
		d := p.read()
		var h jute.RequestHeader
		h.Decode(d)
		if h.Type == jute.OpPing {
			continue
		}
		if h.Type != op {
			p.t.Fatalf("the client sends %v, not %v", h.Type, op)
		}
		if body != nil {
			body.Decode(d)
		}
		return h
	}
}

func (p *peer) reply(h jute.ReplyHeader, body jute.Record) {
	p.t.Helper()
	b := h.Append(nil)
	if body != nil {
		b = body.Append(b)
	}
	p.write(b)
}

// cluster hands the test the server's end of each connection that a session makes.
func cluster(t *testing.T, cfg Config) (*Session, chan *peer, chan Event) {
	peers, events := make(chan *peer), make(chan Event, 100)
	cfg.Servers = []string{"one"}
	cfg.Timeout = time.Minute
	cfg.OnEvent = func(e Event) { events <- e }
	cfg.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case peers <- &peer{t, theirs, bufio.NewReader(theirs)}:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s := Open(cfg)
	t.Cleanup(s.Close)
	return s, peers, events
}

func next(t *testing.T, events chan Event) string {
	t.Helper()
	select {
	case e := <-events:
		return e.String()
	case <-time.After(20 * time.Second):
		t.Fatal("no event")
		return ""
	}
}

func TestSession_ComesBackWithIdentitiesAndWatches(t *testing.T) {
	s, peers, events := cluster(t, Config{Chroot: "/app"})
	first := <-peers
	first.accept(jute.ConnectResponse{Timeout: 60000, SessionID: 7})
	next(t, events)

	s.AddAuth("digest", []byte("u:p"))
	first.expect(jute.OpAuth, nil)
	done := make(chan error)
	go func() {
		_, _, err := s.Get("/a", true)
		done <- err
	}()
	var asked jute.PathWatch
	h := first.expect(jute.OpGetData, &asked)
	if asked.Path != "/app/a" {
		t.Errorf("asked for %q", asked.Path)
	}
	first.reply(jute.ReplyHeader{Xid: h.Xid, Zxid: 40}, &jute.GetDataResponse{})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	go func() { done <- s.AddWatch("/b", jute.AddPersistentRecursive) }()
	h = first.expect(jute.OpAddWatch, nil)
	first.reply(jute.ReplyHeader{Xid: h.Xid, Zxid: 41}, &jute.IntResponse{})
	if err := <-done; err != nil {
		t.Fatal(err)
	}

	go func() { done <- s.Delete("/x", -1) }()
	first.expect(jute.OpDelete, nil)
	first.conn.Close()
	if err := <-done; CodeOf(err) != ConnectionLoss {
		t.Errorf("a request whose reply was lost: %v", err)
	}
	if got := next(t, events); got != "WatchedEvent state:Disconnected type:None path:null zxid: -1" {
		t.Error(got)
	}

	second := <-peers
	req := second.accept(jute.ConnectResponse{Timeout: 60000, SessionID: 7})
	if req.SessionID != 7 || req.LastZxidSeen != 41 || req.Password[0] != 7 {
		t.Errorf("the session comes back as %+v", req)
	}
	second.expect(jute.OpAuth, nil)
	restored := jute.SetWatches{Two: true}
	if h := second.expect(jute.OpSetWatches2, &restored); h.Xid != jute.XidSetWatches {
		t.Errorf("xid %d", h.Xid)
	}
	want := jute.SetWatches{
		Two: true, RelativeZxid: 41, Data: []string{"/app/a"}, Exist: []string{}, Child: []string{},
		Persistent: []string{}, PersistentRecursive: []string{"/app/b"},
	}
	if diff := cmp.Diff(want, restored); diff != "" {
		t.Error(diff)
	}
	next(t, events)
	second.reply(jute.ReplyHeader{Xid: jute.XidNotification, Zxid: 50},
		&jute.WatcherEvent{Type: jute.EventNodeDeleted, State: 3, Path: "/app/b/c"})
	if got := next(t, events); got != "WatchedEvent state:SyncConnected type:NodeDeleted path:/b/c zxid: 50" {
		t.Error(got)
	}
	closing := make(chan struct{})
	go func() { s.Close(); close(closing) }()
	h = second.expect(jute.OpCloseSession, nil)
	second.reply(jute.ReplyHeader{Xid: h.Xid, Zxid: 51}, nil)
	<-closing
	if got := next(t, events); got != "WatchedEvent state:Closed type:None path:null zxid: -1" {
		t.Error(got)
	}
}

func TestSession_Expires(t *testing.T) {
	s, peers, events := cluster(t, Config{})
	p := <-peers
	p.accept(jute.ConnectResponse{Timeout: 60000, SessionID: 7})
	next(t, events)
	p.conn.Close()
	next(t, events)
	p = <-peers
	p.accept(jute.ConnectResponse{})
	if got := next(t, events); got != "WatchedEvent state:Expired type:None path:null zxid: -1" {
		t.Error(got)
	}
	if _, err := s.Exists("/", false); CodeOf(err) != jute.SessionExpired {
		t.Errorf("after the end: %v", err)
	}
}

func TestSession_EndsWhenAnIdentityIsRefused(t *testing.T) {
	s, peers, events := cluster(t, Config{})
	p := <-peers
	p.accept(jute.ConnectResponse{Timeout: 60000, SessionID: 7})
	next(t, events)
	s.AddAuth("nobody", nil)
	p.expect(jute.OpAuth, nil)
	p.reply(jute.ReplyHeader{Xid: jute.XidAuth, Err: jute.AuthFailed}, nil)
	if got := next(t, events); got != "WatchedEvent state:AuthFailed type:None path:null zxid: -1" {
		t.Error(got)
	}
	if s.State().Alive() {
		t.Error("the session goes on")
	}
}

func TestWatchTable(t *testing.T) {
	const created, changed = jute.EventNodeCreated, jute.EventNodeDataChanged
	const deleted, children = jute.EventNodeDeleted, jute.EventNodeChildrenChanged
	for _, c := range []struct {
		kinds  kinds
		at     string
		events []jute.EventType // about /a/b
		want   []bool
	}{
		{watchData, "/a/b", []jute.EventType{children, changed, changed}, []bool{false, true, false}},
		{watchExist, "/a/b", []jute.EventType{created, changed}, []bool{true, false}},
		{watchChild, "/a/b", []jute.EventType{changed, children, children}, []bool{false, true, false}},
		{watchChild, "/a/b", []jute.EventType{deleted, children}, []bool{true, false}},
		{watchPersistent, "/a/b", []jute.EventType{changed, children, deleted}, []bool{true, true, true}},
		{watchRecursive, "/a", []jute.EventType{created, children, deleted}, []bool{true, false, true}},
		{watchRecursive, "/", []jute.EventType{changed}, []bool{true}},
		{watchPersistent, "/a", []jute.EventType{changed}, []bool{false}},
	} {
		w := watchTable{}
		w.add(c.at, c.kinds)
		var got []bool
		for _, e := range c.events {
			got = append(got, w.onEvent(e, "/a/b"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%b at %s, events %v: %v, want %v", c.kinds, c.at, c.events, got, c.want)
		}
	}
}

func TestWatchTable_RestoresInPieces(t *testing.T) {
	w := watchTable{}
	name := make([]byte, 1000)
	for i := range name {
		name[i] = 'x'
	}
	for i := range 300 {
		w.add("/"+string(name)+string(rune('a'+i%26))+string(rune('a'+i/26)), watchData|watchChild)
	}
	total := 0
	all := w.restore(9)
	for _, r := range all {
		total += len(r.Data)
		if size := len(r.Append(nil)); size > 2*restoreBytes {
			t.Errorf("a request of %d bytes", size)
		}
		if r.Two {
			t.Error("setWatches2 without need: servers before 3.6 don't know it")
		}
	}
	if len(all) < 2 || total != 300 {
		t.Errorf("%d requests with %d paths", len(all), total)
	}
}

func TestServers(t *testing.T) {
	servers, chroot := Servers("a:1, b,[::1]:3,::1/x/y/")
	want := []string{"a:1", "b:2181", "[::1]:3", "[::1]:2181"}
	if !slices.Equal(servers, want) || chroot != "/x/y" {
		t.Errorf("%v %q", servers, chroot)
	}
}
