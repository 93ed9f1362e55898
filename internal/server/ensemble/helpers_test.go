package ensemble

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/obs"
)

// patience is how long a test waits for what has to come.
const patience = 20 * time.Second

// testConfig is a configuration with these lines added; the directory is dir, or one of the test's.
func testConfig(t testing.TB, dir string, lines ...string) *config.ZooKeeper {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	text := append([]string{
		"tickTime=100", "dataDir=" + dir, "clientPort=0", "clientPortAddress=127.0.0.1", "preAllocSize=64",
		"4lw.commands.whitelist=*", "maxSessionTimeout=60000",
	}, lines...)
	path := filepath.Join(t.TempDir(), "zoo.cfg")
	if err := os.WriteFile(path, []byte(strings.Join(text, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.LoadZooKeeper(path, "")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func logTo(w io.Writer) *slog.Logger { return obs.NewLogs(w, slog.LevelWarn).Named("zookeeper") }

// serve starts a server; it is stopped with the test.
func serve(t testing.TB, lines ...string) *Server {
	t.Helper()
	return serveOn(t, nil, testConfig(t, "", append(lines, "forceSync=no")...))
}

func serveOn(t testing.TB, fs vfs.FS, cfg *config.ZooKeeper) *Server {
	t.Helper()
	s, err := Start(context.Background(), Options{Config: cfg, Log: logTo(io.Discard), FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

// client is a client by hand: it sends what it is told to, and reads what comes.
type client struct {
	t       testing.TB
	nc      net.Conn
	session jute.SessionID
	passwd  []byte
	timeout int32
	xid     int32
	events  []jute.WatcherEvent
	seen    jute.Zxid
}

func dial(t testing.TB, s *Server) *client {
	t.Helper()
	nc, err := net.DialTimeout("tcp", s.Addr().String(), patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	return &client{t: t, nc: nc, passwd: make([]byte, 16)}
}

// open dials and opens a session.
func open(t testing.TB, s *Server) *client {
	t.Helper()
	c := dial(t, s)
	if r := c.connect(&jute.ConnectRequest{Timeout: 30000, HasReadOnly: true}); r.Timeout == 0 {
		t.Fatal("no session")
	}
	return c
}

// again opens another connection to a client's session.
func (c *client) again(s *Server) *client {
	c.t.Helper()
	n := dial(c.t, s)
	r := n.connect(&jute.ConnectRequest{
		Timeout: 30000, SessionID: c.session, Password: c.passwd, LastZxidSeen: c.seen, HasReadOnly: true,
	})
	if r.SessionID != c.session {
		c.t.Fatalf("session %v is not there any more: %+v", c.session, r)
	}
	return n
}

func (c *client) connect(r *jute.ConnectRequest) jute.ConnectResponse {
	c.t.Helper()
	c.write(frameOf(r.Append(nil)))
	var out jute.ConnectResponse
	b, err := c.read()
	if err != nil {
		c.t.Fatalf("handshake: %v", err)
	}
	out.Decode(jute.NewDecoder(b, 0))
	c.session, c.passwd, c.timeout = out.SessionID, out.Password, out.Timeout
	return out
}

func frameOf(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func (c *client) write(b []byte) {
	c.t.Helper()
	_ = c.nc.SetWriteDeadline(time.Now().Add(patience))
	if _, err := c.nc.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// read gives the next frame.
func (c *client) read() ([]byte, error) {
	_ = c.nc.SetReadDeadline(time.Now().Add(patience))
	var n [4]byte
	if _, err := io.ReadFull(c.nc, n[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(n[:]))
	_, err := io.ReadFull(c.nc, b)
	return b, err
}

// bytesOf is a request's frame.
func bytesOf(xid int32, op jute.OpCode, r jute.Record) []byte {
	b := (&jute.RequestHeader{Xid: xid, Type: op}).Append(nil)
	if r != nil {
		b = r.Append(b)
	}
	return frameOf(b)
}

func (c *client) send(op jute.OpCode, r jute.Record) int32 {
	c.t.Helper()
	c.xid++
	c.write(bytesOf(c.xid, op, r))
	return c.xid
}

// reply is the next frame that is no event.
func (c *client) reply() (h jute.ReplyHeader, body []byte) {
	c.t.Helper()
	for {
		b, err := c.read()
		if err != nil {
			c.t.Fatalf("no reply: %v", err)
		}
		d := jute.NewDecoder(b, 0)
		h.Decode(d)
		if h.Xid != jute.XidNotification {
			c.seen = max(c.seen, h.Zxid)
			return h, d.Rest()
		}
		var e jute.WatcherEvent
		e.Decode(d)
		c.events = append(c.events, e)
	}
}

// call sends a request and gives its outcome; resp is filled in if it went well.
func (c *client) call(op jute.OpCode, r, resp jute.Record) (h jute.ReplyHeader) {
	c.t.Helper()
	xid := c.send(op, r)
	h, body := c.reply()
	if h.Xid != xid {
		c.t.Fatalf("reply to %d: expected %d", h.Xid, xid)
	}
	if h.Err == jute.OK && resp != nil {
		d := jute.NewDecoder(body, 0)
		if resp.Decode(d); d.Err() != nil || d.Remaining() > 0 {
			c.t.Fatalf("reply to %v: %x", op, body)
		}
	}
	return h
}

func (c *client) must(op jute.OpCode, r, resp jute.Record) jute.ReplyHeader {
	c.t.Helper()
	h := c.call(op, r, resp)
	if h.Err != jute.OK {
		c.t.Fatalf("%v: %v", op, h.Err)
	}
	return h
}

func (c *client) create(path, data string, flags int32) string {
	c.t.Helper()
	var p jute.PathOnly
	c.must(jute.OpCreate, createOf(path, data, flags), &p)
	return p.Path
}

func createOf(path, data string, flags int32) *jute.CreateRequest {
	return &jute.CreateRequest{Path: path, Data: []byte(data), ACL: jute.OpenACL(), Flags: flags}
}

func (c *client) get(path string, watch bool) (string, jute.Stat, jute.Code) {
	c.t.Helper()
	var r jute.GetDataResponse
	h := c.call(jute.OpGetData, &jute.PathWatch{Path: path, Watch: watch}, &r)
	return string(r.Data), r.Stat, h.Err
}

// closed waits until the server closes the connection; what comes before is dropped.
func (c *client) closed() {
	c.t.Helper()
	for {
		if _, err := c.read(); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				c.t.Fatal("the connection stays open")
			}
			return
		}
	}
}

// event is the next event, which may have come already.
func (c *client) event() jute.WatcherEvent {
	c.t.Helper()
	if len(c.events) == 0 {
		b, err := c.read()
		if err != nil {
			c.t.Fatalf("no event: %v", err)
		}
		var h jute.ReplyHeader
		var e jute.WatcherEvent
		d := jute.NewDecoder(b, 0)
		if h.Decode(d); h.Xid != jute.XidNotification {
			c.t.Fatalf("no event but %+v", h)
		}
		e.Decode(d)
		return e
	}
	e := c.events[0]
	c.events = c.events[1:]
	return e
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came: %s", what)
		}
	}
}
