package ensemble

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/format/jute"
)

// TestHandshake goes through section 1.3 of the reference.
func TestHandshake(t *testing.T) {
	s := serve(t, "minSessionTimeout=1000", "maxSessionTimeout=5000")
	for _, c := range []struct{ asked, got int32 }{{1, 1000}, {2000, 2000}, {60000, 5000}, {-1, 1000}} {
		if r := dial(t, s).connect(&jute.ConnectRequest{Timeout: c.asked}); r.Timeout != c.got || r.HasReadOnly {
			t.Errorf("timeout %d: %+v", c.asked, r)
		}
	}
	c := open(t, s)
	want := ztree.Password(c.session)
	if !bytes.Equal(c.passwd, want[:]) || uint64(c.session)>>56 != 1 {
		t.Errorf("session %v, password %x", c.session, c.passwd)
	}

	// The byte is answered if it was sent, also when the session is refused.
	for _, has := range []bool{true, false} {
		n := dial(t, s)
		r := n.connect(&jute.ConnectRequest{
			Timeout: 2000, SessionID: c.session, Password: make([]byte, 16), HasReadOnly: has,
		})
		if diff := cmp.Diff(jute.ConnectResponse{Password: make([]byte, 16), HasReadOnly: has}, r); diff != "" {
			t.Error("wrong password", diff)
		}
		n.closed()
	}
	if _, _, code := c.get("/", false); code != jute.OK {
		t.Error("a wrong password took the session away:", code)
	}

	n := dial(t, s)
	if r := n.connect(&jute.ConnectRequest{SessionID: 12345, Password: passwordOf(12345)}); r.Timeout != 0 {
		t.Error("a session that never was:", r)
	}
	n.closed()

	n = dial(t, s)
	n.write(frameOf((&jute.ConnectRequest{LastZxidSeen: 1 << 40, Timeout: 2000}).Append(nil)))
	if _, err := n.read(); err == nil {
		t.Error("a client that has seen more than this server has was answered")
	}
}

func passwordOf(id jute.SessionID) []byte {
	p := ztree.Password(id)
	return p[:]
}

// TestReconnect: the new connection takes the session over, ephemerals stay, the old one is closed.
func TestReconnect(t *testing.T) {
	s := serve(t)
	a := open(t, s)
	a.create("/e", "", jute.FlagEphemeral)
	b := a.again(s)
	a.closed()
	if _, stat, code := b.get("/e", false); code != jute.OK || stat.EphemeralOwner != b.session {
		t.Error(code, stat)
	}
	b.must(jute.OpCloseSession, nil, nil)
	b.closed()
	n := dial(t, s)
	if r := n.connect(&jute.ConnectRequest{SessionID: b.session, Password: b.passwd}); r.Timeout != 0 {
		t.Error("a closed session came back:", r)
	}
	if _, ok := s.View().Lookup("/e"); ok {
		t.Error("an ephemeral outlived its session")
	}
}

// TestMalformed is the table of section 1.9.
func TestMalformed(t *testing.T) {
	s := serve(t)
	null := jute.AppendInt(nil, -1)
	long := jute.AppendInt(nil, 1<<30)
	const bad = jute.MarshallingError
	negative := jute.AppendInt(nil, -7)
	for _, c := range []struct {
		name string
		op   jute.OpCode
		body []byte
		code jute.Code
	}{
		{"a read that ends too early", jute.OpGetData, []byte{0, 0}, bad},
		{"a read without a body", jute.OpExists, nil, bad},
		{"a write that ends too early", jute.OpCreate, jute.AppendString(nil, "/x"), bad},
		{"a write without a body", jute.OpSetData, nil, bad},
		{"a null path to read", jute.OpGetData, append(null, 0), bad},
		{"a null path to write", jute.OpDelete, append(null, 0, 0, 0, 0), bad},
		{"a length beyond the frame", jute.OpGetChildren, append(long, 0), bad},
		{"a negative length", jute.OpDelete, append(negative, 0, 0, 0, 0), bad},
		{"a huge number of ACLs", jute.OpSetACL, append(jute.AppendString(nil, "/"), long...), bad},
		{"the empty path is the root", jute.OpGetData, append(jute.AppendString(nil, ""), 0), jute.OK},
		{"bytes after the record", jute.OpGetData, append(jute.AppendString(nil, "/"), 0, 9, 9, 9), jute.OK},
		{"a path that isn't UTF-8", jute.OpExists, append(jute.AppendString(nil, "/\xff\xfe"), 0), jute.NoNode},
		{"to create one", jute.OpCreate, createOf("/\xff\xc0", "", 0).Append(nil), jute.BadArguments},
		{"an unknown mode of a watch", jute.OpAddWatch, append(jute.AppendString(nil, "/"), 0, 0, 0, 7), bad},
		{"an unknown kind of watch", jute.OpRemoveWatches, append(jute.AppendString(nil, "/"), 0, 0, 0, 9), bad},
		{"a multi with a read", jute.OpMulti, multiOf(jute.OpGetData, &jute.PathWatch{Path: "/"}), bad},
		{"a multiRead with a write", jute.OpMultiRead, multiOf(jute.OpDelete, &jute.PathVersion{Path: "/"}), bad},
		{"a multi that isn't closed", jute.OpMulti, (&jute.MultiHeader{Type: jute.OpDelete}).Append(nil), bad},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := open(t, s)
			before := s.View().Zxid()
			n.write(frameOf(append((&jute.RequestHeader{Xid: 5, Type: c.op}).Append(nil), c.body...)))
			h, _ := n.reply()
			if h.Xid != 5 || h.Err != c.code {
				t.Errorf("%+v, expected %v", h, c.code)
			}
			if c.code == jute.MarshallingError && (h.Zxid != before || s.View().Zxid() != before) {
				t.Errorf("%+v, tree at %v, before %v: it must not use a zxid", h, s.View().Zxid(), before)
			}
		})
	}
}

func multiOf(op jute.OpCode, r jute.Record) []byte {
	return (&jute.MultiRequest{Ops: []jute.Op{{Type: op, Body: r}}}).Append(nil)
}

// TestUnanswered: what ends the connection at once, without a reply.
func TestUnanswered(t *testing.T) {
	s := serve(t, "jute.maxbuffer=4096")
	for name, b := range map[string][]byte{
		"negative length":    {0xff, 0xff, 0xff, 0xfe},
		"above maxbuffer":    {0, 0, 0x10, 1},
		"a huge length":      {0x7f, 0xff, 0xff, 0xff},
		"less than a header": frameOf([]byte{0, 0, 0, 1, 0}),
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, s)
			c.write(b)
			if b, err := c.read(); err == nil {
				t.Errorf("answered with %x", b)
			}
		})
	}
	for name, b := range map[string][]byte{
		"an HTTP request":      []byte("GET / HTTP/1.0\r\n\r\n"),
		"a short handshake":    frameOf(make([]byte, 20)),
		"a negative handshake": {0x80, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, s)
			c.write(b)
			if b, err := c.read(); err == nil {
				t.Errorf("answered with %x", b)
			}
		})
	}
}

// TestRefusedOps: opcodes that no client may send are answered with zxid -1, and end the connection.
func TestRefusedOps(t *testing.T) {
	s := serve(t)
	for _, op := range []jute.OpCode{13, 20, -10, 999, 0, -1, 108} {
		c := open(t, s)
		before := s.View().Zxid()
		c.write(bytesOf(3, op, &jute.PathVersion{Path: "/"}))
		h, body := c.reply()
		if h != (jute.ReplyHeader{Xid: 3, Zxid: -1, Err: jute.Unimplemented}) || len(body) > 0 {
			t.Errorf("op %d: %+v %x", op, h, body)
		}
		c.closed()
		if s.View().Zxid() != before {
			t.Errorf("op %d used a zxid", op)
		}
	}
}

// TestSpecialXids is the table of section 1.4.
func TestSpecialXids(t *testing.T) {
	s := serve(t)
	c := open(t, s)
	c.create("/a", "", 0)
	last := s.View().Zxid()
	c.write(bytesOf(jute.XidPing, jute.OpPing, nil))
	if h, body := c.reply(); h != (jute.ReplyHeader{Xid: jute.XidPing, Zxid: last}) || len(body) > 0 {
		t.Errorf("ping: %+v", h)
	}
	c.write(bytesOf(jute.XidAuth, jute.OpAuth, &jute.AuthPacket{Scheme: "digest", Auth: []byte("u:p")}))
	if h, _ := c.reply(); h != (jute.ReplyHeader{Xid: jute.XidAuth}) {
		t.Errorf("auth: %+v", h)
	}
	c.write(bytesOf(jute.XidSetWatches, jute.OpSetWatches, &jute.SetWatches{
		Data: []string{"/gone"}, Exist: []string{"/a", "/b"}, Child: []string{"/a"},
	}))
	h, body := c.reply()
	if h.Xid != jute.XidSetWatches || h.Err != jute.OK || len(body) > 0 {
		t.Errorf("setWatches: %+v", h)
	}
	want := []jute.WatcherEvent{
		{Type: jute.EventNodeDeleted, State: 3, Path: "/gone"},
		{Type: jute.EventNodeCreated, State: 3, Path: "/a"},
		{Type: jute.EventNodeChildrenChanged, State: 3, Path: "/a"},
	}
	if diff := cmp.Diff(want, c.events); diff != "" {
		t.Error(diff)
	}
	c.write(bytesOf(jute.XidAuth, jute.OpAuth, &jute.AuthPacket{Scheme: "kerberos"}))
	if h, _ := c.reply(); h != (jute.ReplyHeader{Xid: jute.XidAuth, Err: jute.AuthFailed}) {
		t.Errorf("unknown scheme: %+v", h)
	}
	c.closed()
}

// TestFrameInPieces: however a stream is cut, it means the same.
func TestFrameInPieces(t *testing.T) {
	s := serve(t)
	c := dial(t, s)
	var all []byte
	all = append(all, frameOf((&jute.ConnectRequest{Timeout: 10000}).Append(nil))...)
	all = append(all, bytesOf(1, jute.OpCreate, createOf("/a", strings.Repeat("x", 9000), 0))...)
	all = append(all, bytesOf(2, jute.OpGetData, &jute.PathWatch{Path: "/a"})...)
	for len(all) > 0 {
		n := min(len(all), 1+len(all)%97)
		c.write(all[:n])
		all = all[n:]
		if len(all)%5 == 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	if _, err := c.read(); err != nil {
		t.Fatal(err)
	}
	if h, _ := c.reply(); h.Xid != 1 || h.Err != jute.OK {
		t.Errorf("%+v", h)
	}
	if h, body := c.reply(); h.Xid != 2 || h.Err != jute.OK || len(body) != 4+9000+jute.StatSize {
		t.Errorf("%+v, %d bytes", h, len(body))
	}
}

// TestSilentConnection: who opens no session is disconnected.
func TestSilentConnection(t *testing.T) {
	s := serve(t, "nio.sessionlessCnxnTimeout=50")
	c := dial(t, s)
	c.write([]byte{0, 0})
	c.closed()
	eventually(t, "the connection is forgotten", func() bool { return s.Stats().Connections == 0 })
}

func TestConnectionLimits(t *testing.T) {
	s := serve(t, "maxClientCnxns=2")
	open(t, s)
	b := open(t, s)
	dial(t, s).closed()
	_ = b.nc.Close()
	eventually(t, "a place is free again", func() bool { return s.Stats().Connections == 1 })
	open(t, s)
	s = serve(t, "maxCnxns=1", "maxClientCnxns=0")
	open(t, s)
	dial(t, s).closed()
}

// TestWords: four-letter words on the client port, by the whitelist.
func TestWords(t *testing.T) {
	s := serve(t, "4lw.commands.whitelist=ruok")
	for word, want := range map[string]string{
		"ruok": "imok", "srvr": "srvr is not executed because it is not in the whitelist.\n",
	} {
		nc, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = nc.Write([]byte(word + "\n"))
		_ = nc.SetReadDeadline(time.Now().Add(patience))
		if b, err := io.ReadAll(nc); string(b) != want || err != nil {
			t.Errorf("%s: %q %v", word, b, err)
		}
		nc.Close()
	}
}

// TestPipelinedOrder: replies come in the order of requests, and a read between two writes of its session
// sees the first and not the second, however they are batched.
func TestPipelinedOrder(t *testing.T) {
	s := serve(t)
	c := open(t, s)
	c.create("/n", "", 0)
	const rounds = 400
	go func() {
		var b []byte
		for i := range int32(rounds) {
			b = append(b, bytesOf(1000+2*i, jute.OpSetData, &jute.SetDataRequest{
				Path: "/n", Data: binary.BigEndian.AppendUint32(nil, uint32(i)), Version: -1,
			})...)
			b = append(b, bytesOf(1001+2*i, jute.OpGetData, &jute.PathWatch{Path: "/n"})...)
			if i%7 == 0 {
				_, _ = c.nc.Write(b)
				b = nil
			}
		}
		_, _ = c.nc.Write(b)
	}()
	for i := range int32(2 * rounds) {
		h, body := c.reply()
		if h.Xid != 1000+i || h.Err != jute.OK {
			t.Fatalf("reply %d is %+v", i, h)
		}
		if i%2 == 1 {
			var r jute.GetDataResponse
			r.Decode(jute.NewDecoder(body, 0))
			if got := int32(binary.BigEndian.Uint32(r.Data)); got != i/2 {
				t.Fatalf("read %d sees write %d", i/2, got)
			}
		}
	}
}
