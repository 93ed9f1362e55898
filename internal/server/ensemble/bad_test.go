package ensemble_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/server/ensemble"
)

// onDisk starts a server in this process on a disk in memory; flags are -D settings.
func onDisk(t *testing.T, fsys vfs.FS, flags string) *ensemble.Server {
	t.Helper()
	cfg, _, err := config.ZooKeeperArgs([]string{"1", "/zk"}, "-Dzookeeper.preAllocSize=64 "+flags)
	if err != nil {
		t.Fatal(err)
	}
	cfg.ClientAddr = "127.0.0.1:0"
	s, err := ensemble.Start(context.Background(), ensemble.Options{Config: cfg, FS: fsys, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

func session(t *testing.T, s *ensemble.Server) *client {
	t.Helper()
	c, err := dial(s.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	return c
}

// closed says whether the server ends the connection without another byte.
func closed(nc net.Conn) error {
	_ = nc.SetDeadline(time.Now().Add(patience))
	switch b, err := io.ReadAll(nc); {
	case len(b) > 0:
		return fmt.Errorf("an answer of %d bytes: %x", len(b), b[:min(len(b), 60)])
	case err != nil && !errors.Is(err, syscall.ECONNRESET):
		return err
	}
	return nil
}

// TestBadHandshakes: what is no handshake ends the connection, without a word.
func TestBadHandshakes(t *testing.T) {
	s := onDisk(t, vfs.NewMem(), "-Dzookeeper.nio.sessionlessCnxnTimeout=300")
	whole := (&jute.ConnectRequest{Timeout: 9000, Password: make([]byte, 16)}).Append(nil)
	frame := func(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	ahead := (&jute.ConnectRequest{Timeout: 9000, Password: make([]byte, 16), LastZxidSeen: 1 << 40}).Append(nil)
	for name, b := range map[string][]byte{
		"HTTP":                            []byte("GET / HTTP/1.1\r\n\r\n"),
		"a negative length":               {0xff, 0xff, 0xff, 0xff, 1, 2, 3},
		"a huge length":                   {0x7f, 0xff, 0xff, 0xff},
		"one byte more than is allowed":   {0, 0x10, 0, 0},
		"an empty frame":                  frame(nil),
		"a short frame":                   frame(whole[:20]),
		"a password longer than it all":   frame(append(whole[:24:24], 0x7f, 0, 0, 0)),
		"a negative password":             frame(append(whole[:24:24], 0x80, 0, 0, 0)),
		"half a frame, then nothing":      frame(whole)[:30],
		"three bytes":                     []byte("ruo"),
		"nothing":                         nil,
		"a zxid that nobody here has had": frame(ahead),
		"a word that there isn't":         []byte("okay"),
	} {
		nc, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := nc.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := closed(nc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		nc.Close()
	}
	session(t, s)
}

// TestWrongPassword is refused, and disturbs nobody.
func TestWrongPassword(t *testing.T) {
	s := onDisk(t, vfs.NewMem(), "")
	c := session(t, s)
	for _, other := range []*client{
		{session: c.session, password: make([]byte, 16)},
		{session: c.session},
		{session: c.session + 1, password: c.password},
	} {
		if d, err := dial(s.Addr().String(), other); err == nil {
			t.Errorf("%v is %v's", d.session, c.session)
		}
	}
	unknown := ztree.Password(c.session + 77)
	if _, err := dial(s.Addr().String(), &client{session: c.session + 77, password: unknown[:]}); err == nil {
		t.Error("a session that there never was is there")
	}
	if _, code, err := c.create("/a", 0, ""); err != nil || code != jute.OK {
		t.Error("the session's connection is disturbed:", code, err)
	}
	d, err := dial(s.Addr().String(), c) // its holder comes back
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if err := closed(c.nc); err != nil {
		t.Error("the session is on two connections:", err)
	}
}

// TestBadRequests is the table of section 1.9: what is answered with an error, and what ends the connection.
func TestBadRequests(t *testing.T) {
	s := onDisk(t, vfs.NewMem(), "")
	path := jute.AppendString(nil, "/a")
	huge := jute.AppendInt(nil, 1<<31-1)
	minus := jute.AppendInt(nil, -7)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	create := func(path string, flags int32) []byte {
		return (&jute.CreateRequest{Path: path, ACL: jute.OpenACL(), Flags: flags}).Append(nil)
	}
	ttl := (&jute.CreateTTLRequest{CreateRequest: jute.CreateRequest{Path: "/t", ACL: jute.OpenACL(), Flags: 5}, TTL: 1}).Append(nil)
	auth := func(scheme string) []byte {
		return (&jute.AuthPacket{Scheme: scheme, Auth: []byte("nobody")}).Append(nil)
	}
	const ends = true
	for _, c := range []struct {
		name string
		op   jute.OpCode
		body []byte
		code jute.Code
		ends bool
	}{
		{"a read of nothing", jute.OpGetData, nil, jute.MarshallingError, false},
		{"a read without its flag", jute.OpGetData, path, jute.MarshallingError, false},
		{"a read of a null path", jute.OpExists, jute.AppendBool(jute.AppendNull(nil), true), jute.MarshallingError, false},
		{"a huge string", jute.OpGetChildren, join(huge, path), jute.MarshallingError, false},
		{"a negative string", jute.OpGetACL, minus, jute.MarshallingError, false},
		{"the root by its other name", jute.OpExists, jute.AppendBool(jute.AppendString(nil, ""), false), jute.OK, false},
		{"an odd path", jute.OpGetData, jute.AppendBool(jute.AppendString(nil, "a//b"), false), jute.NoNode, false},
		{"a write of nothing", jute.OpDelete, nil, jute.MarshallingError, false},
		{"a write without its version", jute.OpSetData, join(path, jute.AppendNull(nil)), jute.MarshallingError, false},
		{"a write of huge data", jute.OpSetData, join(path, huge), jute.MarshallingError, false},
		{"more access entries than bytes", jute.OpSetACL, join(path, huge, minus), jute.MarshallingError, false},
		{"a create without flags", jute.OpCreate, create("/a", 0)[:20], jute.MarshallingError, false},
		{"a multi without an end", jute.OpMulti, nil, jute.MarshallingError, false},
		{"a multi of a read", jute.OpMulti, (&jute.MultiHeader{Type: jute.OpGetData, Err: -1}).Append(nil), jute.MarshallingError, false},
		{"a path that is no UTF-8", jute.OpCreate, create("/\xff\xfe", 0), jute.BadArguments, false},
		{"a path of an unpaired surrogate", jute.OpCreate, create("/\xed\xa0\x80", 0), jute.BadArguments, false},
		{"a path with a NUL", jute.OpCreate, create("/a\x00b", 0), jute.BadArguments, false},
		{"a path without a slash", jute.OpCreate, create("a", 0), jute.BadArguments, false},
		{"flags of no kind", jute.OpCreate, create("/a", 99), jute.BadArguments, false},
		{"a deep path to nowhere", jute.OpCreate, create(strings.Repeat("/a", 100_000), 0), jute.NoNode, false},
		{"a time to live, switched off", jute.OpCreateTTL, ttl, jute.Unimplemented, false},
		{"a watch of no mode", jute.OpAddWatch, jute.AppendInt(path[:6:6], 9), jute.MarshallingError, false},
		{"no watch of that type", jute.OpRemoveWatches, jute.AppendInt(path[:6:6], 3), jute.NoWatcher, false},
		{"no type of watch", jute.OpCheckWatches, jute.AppendInt(path[:6:6], 9), jute.MarshallingError, false},
		{"more watches than bytes", jute.OpSetWatches, join(make([]byte, 8), huge), jute.MarshallingError, false},
		{"an identity of a scheme that is none", jute.OpAuth, auth("what"), jute.AuthFailed, ends},
		{"an odd name", jute.OpAuth, auth("digest"), jute.OK, false},
		{"no operation", 12345, path, jute.Unimplemented, ends},
		{"check by itself", jute.OpCheck, jute.AppendInt(path[:6:6], 1), jute.Unimplemented, ends},
		{"the server's own deletion", jute.OpDeleteContainer, path, jute.Unimplemented, ends},
		{"the server's own session", jute.OpCreateSession, jute.AppendInt(nil, 5), jute.Unimplemented, ends},
		{"a transaction's type", jute.OpError, jute.AppendInt(nil, 5), jute.Unimplemented, ends},
	} {
		a := session(t, s)
		if err := a.bad(c.op, c.body, c.code, c.ends); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// None of the malformed ones got a zxid: only sessions and refusals by content did.
	if n := s.View().NodeCount(); n != 5 {
		t.Errorf("%d nodes", n)
	}
}

// bad sends a request, and afterwards, unless it ends the connection, one that is all right.
func (c *client) bad(op jute.OpCode, body []byte, want jute.Code, ends bool) error {
	c.xid++
	b, err := c.exchange(append((&jute.RequestHeader{Xid: c.xid, Type: op}).Append(nil), body...))
	if err != nil {
		return err
	}
	var h jute.ReplyHeader
	h.Decode(jute.NewDecoder(b, 0))
	if h.Xid != c.xid || h.Err != want {
		return fmt.Errorf("%+v, and not %v", h, want)
	}
	if ends {
		if unknown := want == jute.Unimplemented; unknown && h.Zxid != -1 {
			return fmt.Errorf("zxid %v", h.Zxid)
		}
		return closed(c.nc)
	}
	code, err := c.call(jute.OpGetData, &jute.PathWatch{Path: "/zookeeper"}, nil)
	if err == nil && code != jute.OK {
		err = fmt.Errorf("then %v", code)
	}
	return err
}

// TestMalformedWritesTakeNoZxid, and so never reach the log; those that are refused for what they say do.
func TestMalformedWritesTakeNoZxid(t *testing.T) {
	s := onDisk(t, vfs.NewMem(), "")
	c := session(t, s)
	zxid := s.View().Zxid()
	for range 10 {
		if err := c.bad(jute.OpSetData, jute.AppendString(nil, "/a"), jute.MarshallingError, false); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.View().Zxid(); got != zxid {
		t.Errorf("zxid %v after %v", got, zxid)
	}
	if _, code, err := c.create("/x/y", 0, ""); err != nil || code != jute.NoNode || s.View().Zxid() != zxid+1 {
		t.Errorf("%v %v: zxid %v after %v", code, err, s.View().Zxid(), zxid)
	}
}

// TestPings are answered with their own number, whatever was sent.
func TestPings(t *testing.T) {
	c := session(t, onDisk(t, vfs.NewMem(), ""))
	for _, xid := range []int32{jute.XidPing, 7, 0} {
		b, err := c.exchange((&jute.RequestHeader{Xid: xid, Type: jute.OpPing}).Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		var h jute.ReplyHeader
		if h.Decode(jute.NewDecoder(b, 0)); h.Xid != jute.XidPing || h.Err != jute.OK || h.Zxid == 0 {
			t.Errorf("%+v", h)
		}
	}
}

// TestPieces: requests that come byte by byte, and many in one piece, are the same requests.
func TestPieces(t *testing.T) {
	s := onDisk(t, vfs.NewMem(), "")
	nc, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	var all []byte
	add := func(b []byte) { all = append(binary.BigEndian.AppendUint32(all, uint32(len(b))), b...) }
	add((&jute.ConnectRequest{Timeout: 30000, Password: make([]byte, 16)}).Append(nil))
	const n = 40
	for i := range n {
		r := &jute.CreateRequest{Path: fmt.Sprintf("/n%d", i), Data: make([]byte, i*10), ACL: jute.OpenACL()}
		add(r.Append((&jute.RequestHeader{Xid: int32(2 * i), Type: jute.OpCreate}).Append(nil)))
		get := &jute.PathWatch{Path: r.Path}
		add(get.Append((&jute.RequestHeader{Xid: int32(2*i + 1), Type: jute.OpGetData}).Append(nil)))
	}
	go func() {
		for i := range 500 {
			if _, err := nc.Write(all[i : i+1]); err != nil {
				return
			}
		}
		_, _ = nc.Write(all[500:])
	}()
	c := &client{nc: nc}
	_ = nc.SetDeadline(time.Now().Add(patience))
	if _, err := c.receive(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * n {
		b, err := c.receive()
		if err != nil {
			t.Fatal(i, err)
		}
		d := jute.NewDecoder(b, 0)
		var h jute.ReplyHeader
		if h.Decode(d); h.Xid != int32(i) || h.Err != jute.OK {
			t.Fatalf("reply %d: %+v", i, h)
		}
		if data := d.Rest(); i%2 == 1 && int(binary.BigEndian.Uint32(data)) != i/2*10 {
			t.Errorf("reply %d is of %x", i, data[:4])
		}
	}
}

// TestAfterClose: what a client sends behind the end of its session is not done.
func TestAfterClose(t *testing.T) {
	s := onDisk(t, vfs.NewMem(), "")
	c := session(t, s)
	head := func(op jute.OpCode) []byte { return (&jute.RequestHeader{Xid: 1, Type: op}).Append(nil) }
	if err := errors.Join(c.send(head(jute.OpCloseSession)), c.send(append(head(jute.OpCreate),
		(&jute.CreateRequest{Path: "/late", ACL: jute.OpenACL()}).Append(nil)...))); err != nil {
		t.Fatal(err)
	}
	b, err := c.receive()
	if err != nil || binary.BigEndian.Uint32(b[12:]) != 0 {
		t.Fatalf("%x %v", b, err)
	}
	if err := closed(c.nc); err != nil {
		t.Error(err)
	}
	if _, err := dial(s.Addr().String(), c); err == nil {
		t.Error("the session is there still")
	}
	if _, ok := s.View().Lookup("/late"); ok {
		t.Error("done behind the end")
	}
}

// TestWatchesAreBounded: one client's watches have a limit, which costs nobody anything; they go with it.
func TestWatchesAreBounded(t *testing.T) {
	const limit = 5000
	s := onDisk(t, vfs.NewMem(), fmt.Sprint("-Dzookeeper.kalda.maxWatchesPerConnection=", limit))
	c := session(t, s)
	refused := 0
	const burst = 500
	for i := 0; i < 2*limit; i += burst {
		for j := range burst {
			b := (&jute.RequestHeader{Xid: int32(i + j), Type: jute.OpExists}).Append(nil)
			if err := c.send((&jute.PathWatch{Path: fmt.Sprintf("/w/%d", i+j), Watch: true}).Append(b)); err != nil {
				t.Fatal(err)
			}
		}
		for range burst {
			b, err := c.receive()
			if err != nil {
				t.Fatal(err)
			}
			var h jute.ReplyHeader
			if h.Decode(jute.NewDecoder(b, 0)); h.Err == jute.QuotaExceeded {
				refused++
			}
		}
	}
	if n := watches(s); refused != limit || n != limit {
		t.Errorf("%d refused, %d are set", refused, n)
	}
	all := &jute.SetWatches{Two: true}
	for i := range limit + 1 {
		all.Persistent = append(all.Persistent, fmt.Sprintf("/p/%d", i))
	}
	other := session(t, s)
	if code, err := other.call(jute.OpSetWatches2, all, nil); err != nil || code != jute.QuotaExceeded {
		t.Errorf("more than the limit at once: %v %v", code, err)
	}
	if _, code, err := other.create("/x", 0, ""); err != nil || code != jute.OK {
		t.Error(code, err)
	}
	c.close()
	for end := time.Now().Add(patience); watches(s) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d watches of nobody", watches(s))
		}
	}
}

func watches(s *ensemble.Server) int {
	_, _, n := s.WatchSummary()
	return n
}

// TestSessionStorm: sessions opened and dropped without a word expire, and nothing of them is left.
func TestSessionStorm(t *testing.T) {
	s := onDisk(t, vfs.NewMem(), "-Dzookeeper.tickTime=50 -Dzookeeper.maxClientCnxns=0")
	for i := range 600 {
		d, err := dial(s.Addr().String(), nil)
		if err != nil {
			t.Fatal(i, err)
		}
		if i%3 == 0 {
			if _, code, err := d.create(fmt.Sprintf("/e%d", i), jute.FlagEphemeral, ""); err != nil || code != jute.OK {
				t.Fatal(code, err)
			}
		}
		if i%7 == 0 { // half a request
			_, _ = d.nc.Write([]byte{0, 0, 0, 9, 1, 2})
		}
		d.close()
	}
	if n := s.View().SessionCount(); n < 100 {
		t.Fatalf("%d sessions: this is no storm", n)
	}
	for end := time.Now().Add(patience); s.View().SessionCount() > 0 || s.Stats().Connections > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d sessions, %d connections are left", s.View().SessionCount(), s.Stats().Connections)
		}
	}
	if n := s.View().EphemeralCount(); n > 0 || s.View().NodeCount() != 5 {
		t.Errorf("%d ephemerals of nobody, %d nodes", n, s.View().NodeCount())
	}
}

// TestFullDisk: a write that doesn't fit is not acknowledged, the server stops and says why, and what it acknowledged is
// there when there is room again.
func TestFullDisk(t *testing.T) {
	for nth := 1; nth < 12; nth += 3 {
		disk := vfs.NewMem()
		faults := vfs.NewFaults(disk)
		s := onDisk(t, faults, "-Dzookeeper.snapCount=100000")
		c := session(t, s)
		faults.Fail(vfs.OpWrite, "log.", nth, vfs.Fault{Err: syscall.ENOSPC, Short: 40, Forever: true})
		acked := 0
		for ; ; acked++ {
			if _, code, err := c.create(fmt.Sprintf("/n%d", acked), 0, "x"); err != nil {
				break
			} else if code != jute.OK || acked > 100 {
				t.Fatal(code, acked)
			}
		}
		select {
		case err := <-s.Fatal():
			if !errors.Is(err, syscall.ENOSPC) {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Fatal("it goes on")
		}
		if _, err := dial(s.Addr().String(), nil); err == nil {
			t.Error("it takes clients")
		}
		_ = s.Stop()
		faults.Clear()
		s = onDisk(t, disk, "")
		for i := range acked {
			if _, ok := s.View().Lookup(fmt.Sprintf("/n%d", i)); !ok {
				t.Errorf("write %d of %d is lost", i, acked)
			}
		}
		if _, code, err := session(t, s).create("/again", 0, ""); err != nil || code != jute.OK {
			t.Error(code, err)
		}
	}
}

// TestNoRoomForASnapshot: the server goes on, and keeps the logs that it takes the place of.
func TestNoRoomForASnapshot(t *testing.T) {
	disk := vfs.NewMem()
	faults := vfs.NewFaults(disk)
	s := onDisk(t, faults, "-Dzookeeper.snapCount=10")
	faults.Fail(vfs.OpWrite, "snapshot.", 1, vfs.Fault{Err: syscall.ENOSPC, Forever: true})
	c := session(t, s)
	for i := range 100 {
		if _, code, err := c.create(fmt.Sprintf("/n%d", i), 0, "x"); err != nil || code != jute.OK {
			t.Fatal(code, err)
		}
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	s = onDisk(t, disk.Kill(), "")
	if n := s.View().NodeCount(); n != 105 {
		t.Errorf("%d nodes", n)
	}
}
