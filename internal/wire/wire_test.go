package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// logBuffer keeps what was logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// The API keys of the tests' table: any will do for the framing.
const (
	keyEcho  = 10 // answers with the body it got
	keyPark  = 12 // answers when the test says so
	keyFile  = 13 // answers with a range of a file
	keyQuiet = 14 // never answers
	keyAlarm = 16 // parks with a deadline
)

type fixture struct {
	*Server
	t      testing.TB
	logs   *logBuffer
	parked chan *Request
	file   *os.File
}

func start(t testing.TB, cfg Config) *fixture {
	t.Helper()
	f := &fixture{t: t, logs: new(logBuffer), parked: make(chan *Request, 100)}
	cfg.Log = slog.New(slog.NewTextHandler(f.logs, nil))
	cfg.Metrics = new(Metrics)
	cfg.Listeners = []Listener{{Name: "L", Host: "127.0.0.1"}}
	s, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.Server = s
	if err := s.Serve("L", f.table()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.Shutdown(ctx)
		if n := s.Connections(); n != 0 {
			t.Errorf("%d connections after the shutdown", n)
		}
		if n := s.MemoryUsed(); n != 0 {
			t.Errorf("%d bytes of memory not given back", n)
		}
	})
	return f
}

func (f *fixture) table() *Table {
	zero := int16(0)
	return NewTable(
		API{Key: 0, Min: 3, Max: 13, AdvertiseMin: &zero, MaxBody: 1 << 30, Serve: func(r *Request) {
			o := r.Begin()
			o.B = binary.BigEndian.AppendUint32(o.B, uint32(len(r.Body)))
			r.End(o)
		}},
		API{Key: keyEcho, Min: 0, Max: 3, Reuse: true, Serve: func(r *Request) {
			o := r.Begin()
			o.B = append(o.B, r.Body...)
			r.End(o)
		}},
		API{Key: keyPark, Min: 0, Max: 0, Serve: func(r *Request) { f.parked <- r }},
		API{Key: keyFile, Min: 0, Max: 0, Serve: func(r *Request) {
			o := r.Begin()
			o.B = append(o.B, "head"...)
			o.File(&fileRange{f.file, 10, int(binary.BigEndian.Uint32(r.Body))})
			o.B = append(o.B, "tail"...)
			r.End(o)
		}},
		API{Key: keyQuiet, Min: 0, Max: 0, Serve: func(r *Request) { r.NoReply() }},
		API{Key: keyAlarm, Min: 0, Max: 0, Reuse: true, Serve: func(r *Request) {
			until := time.Now().Add(5 * time.Millisecond)
			r.Park(until, func(r *Request) {
				if r.Gone() || time.Now().Before(until) {
					return
				}
				r.ReplyRaw(func(b []byte) []byte { return append(b, "late"...) })
			})
		}},
		API{Key: 3, Min: 0, Max: 13, Serve: func(r *Request) {
			req := kmsg.NewPtrMetadataRequest()
			if !r.Decode(req) {
				return
			}
			r.Reply(kmsg.NewPtrMetadataResponse())
		}},
		API{Key: 18, Min: 0, Max: 4, Serve: func(r *Request) {
			resp := kmsg.NewPtrApiVersionsResponse()
			resp.ApiKeys = r.Conn.Table().Rows()
			r.Reply(resp)
		}},
	)
}

type fileRange struct {
	f   *os.File
	pos int64
	n   int
}

func (r *fileRange) Len() int                                { return r.n }
func (r *fileRange) ReadAt(p []byte, off int64) (int, error) { return r.f.ReadAt(p, r.pos+off) }
func (r *fileRange) Descriptor() (uintptr, int64, bool)      { return r.f.Fd(), r.pos, true }
func (r *fileRange) Release()                                {}

func (f *fixture) dial() *client {
	f.t.Helper()
	c, err := net.Dial("tcp", f.Addr("L").String())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return &client{c, f.t}
}

type client struct {
	net.Conn
	t testing.TB
}

// frame makes a request with a header of version 1 or 2.
func frame(key, version int16, corr int32, body []byte) []byte {
	b := []byte{0, 0, 0, 0}
	b = binary.BigEndian.AppendUint16(b, uint16(key))
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	b = binary.BigEndian.AppendUint32(b, uint32(corr))
	b = append(b, 0, 4, 't', 'e', 's', 't')
	if key >= 0 && key <= maxKey && flexible(key, version) {
		b = append(b, 0)
	}
	b = append(b, body...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func (c *client) send(b []byte) {
	c.t.Helper()
	if _, err := c.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// reply reads one reply and checks its correlation id.
func (c *client) reply(corr int32) []byte {
	c.t.Helper()
	var head [8]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		c.t.Fatal(err)
	}
	if got := int32(binary.BigEndian.Uint32(head[4:])); got != corr {
		c.t.Fatalf("reply to %d, want %d", got, corr)
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:])-4)
	if _, err := io.ReadFull(c, b); err != nil {
		c.t.Fatal(err)
	}
	return b
}

// closed expects the end of the connection, and the reason in the log.
func (f *fixture) closed(c *client, reason string) {
	f.t.Helper()
	if b, err := io.ReadAll(c); len(b) > 0 || (err != nil && !strings.Contains(err.Error(), "reset")) {
		f.t.Fatalf("got %q, %v; want the end", b, err)
	}
	if reason != "" && !strings.Contains(f.logs.String(), reason) {
		f.t.Fatalf("the log doesn't tell %q:\n%s", reason, f.logs)
	}
}

func TestRepliesKeepTheOrder(t *testing.T) {
	f := start(t, Config{})
	c := f.dial()
	var all []byte
	for i := range int32(300) { // more than one buffer of each size
		all = append(all, frame(keyEcho, 3, i, bytes.Repeat([]byte{byte(i)}, int(i*i%5000)))...)
		if i%50 == 49 {
			all = append(all, frame(keyPark, 0, 1000+i, nil)...)
		}
	}
	go c.Write(all)
	for i := range int32(300) {
		if got := c.reply(i); len(got) != int(i*i%5000)+1 {
			t.Fatalf("reply %d has %d bytes", i, len(got))
		}
		if i%50 == 49 {
			r := <-f.parked
			go r.ReplyRaw(func(b []byte) []byte { return append(b, "parked"...) })
			if got := c.reply(1000 + i); string(got) != "parked" {
				t.Fatalf("parked reply %q", got)
			}
		}
	}
}

func TestFramesOfAllSizes(t *testing.T) {
	f := start(t, Config{MaxRequestBytes: 8 << 20})
	for _, n := range []int{0, 1, 4000, 4096, 65536, 65550, 262144, 1 << 20, 5 << 20, 20 << 20} {
		c := f.dial()
		for i := range int32(3) {
			go c.Write(frame(0, 3, i, make([]byte, n)))
			if got := c.reply(i); int(binary.BigEndian.Uint32(got)) != n {
				t.Fatalf("body of %d bytes arrived as %v", n, got)
			}
		}
		c.Close()
	}
}

func TestQuietRequestsHaveNoReply(t *testing.T) {
	f := start(t, Config{})
	c := f.dial()
	c.send(append(frame(keyQuiet, 0, 1, nil), frame(keyEcho, 0, 2, []byte("x"))...))
	if got := c.reply(2); string(got) != "x" {
		t.Fatalf("%q", got)
	}
}

func TestAlarmWakesAParkedRequest(t *testing.T) {
	f := start(t, Config{})
	c := f.dial()
	for i := range int32(3) {
		c.send(frame(keyAlarm, 0, i, nil))
		if got := c.reply(i); string(got) != "late" {
			t.Fatalf("%q", got)
		}
	}
}

func TestFileRanges(t *testing.T) {
	f := start(t, Config{})
	content := make([]byte, 3<<20)
	for i := range content {
		content[i] = byte(i / 3)
	}
	name := t.TempDir() + "/x"
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.file, err = os.Open(name); err != nil {
		t.Fatal(err)
	}
	defer f.file.Close()
	c := f.dial()
	for i, n := range []int{0, 1, 100000, 3<<20 - 10} {
		c.send(frame(keyFile, 0, int32(i), binary.BigEndian.AppendUint32(nil, uint32(n))))
		got := c.reply(int32(i))
		want := "head" + string(content[10:10+n]) + "tail"
		if string(got) != want {
			t.Fatalf("range of %d bytes came out wrong", n)
		}
	}
	c.send(frame(keyFile, 0, 9, binary.BigEndian.AppendUint32(nil, 4<<20))) // longer than the file
	var head [8]byte
	_, _ = io.ReadFull(c, head[:])
	if b, _ := io.ReadAll(c); len(b) > 3<<20 {
		t.Fatalf("%d bytes of a file that is shorter", len(b))
	}
	if !strings.Contains(f.logs.String(), "unexpected EOF") {
		t.Fatalf("the log is silent about it: %s", f.logs)
	}
}

func TestBadInputCloses(t *testing.T) {
	size := func(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	for name, c := range map[string]struct {
		in     []byte
		reason string
	}{
		"negative length": {size(-1), "frame of -1 bytes"},
		"zero length":     {size(0), "frame of 0 bytes"},
		"over the limit":  {size(1<<20 + 1), "socket.request.max.bytes is 1048576"},
		"HTTP":            {[]byte("GET / HTTP/1.1\r\n\r\n"), "frame of 1195725856 bytes"},
		"short header":    {append(size(9), 0, 3, 0, 0, 0, 0, 0, 0, 0), "cut off after 9 bytes"},
		"unknown key":     {frame(95, 0, 1, nil), "unknown API 95"},
		"negative key":    {frame(-1, 0, 1, nil), "unknown API -1"},
		"key not here":    {frame(4, 0, 1, nil), "no API 4 of version 0"},
		"unknown version": {frame(3, 14, 1, nil), "no API 3 of version 14"},
		"Produce below 3": {frame(0, 2, 1, nil), "no API 0 of version 2"},
		"client id lies": {
			append(size(12), 0, 3, 0, 0, 0, 0, 0, 1, 1, 0, 'x', 'x'),
			"client id of 256 bytes",
		},
		"header tags lie": {append(size(13), 0, 3, 0, 12, 0, 0, 0, 1, 0xff, 0xff, 1, 0, 200), "tagged fields"},
		"truncated body":  {frame(3, 0, 1, []byte{0, 0, 0, 2, 0, 1, 'x'}), "body of Metadata can't be read"},
		"absurd count":    {frame(3, 1, 1, []byte{0x7f, 0xff, 0xff, 0xff}), "body of Metadata can't be read"},
		"absurd compact count": {
			frame(3, 12, 1, []byte{0xff, 0xff, 0xff, 0xff, 0x0f}),
			"body of Metadata can't be read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, Config{MaxFrame: 1 << 20})
			conn := f.dial()
			conn.send(append(frame(keyEcho, 0, 7, []byte("before")), c.in...))
			if got := conn.reply(7); string(got) != "before" {
				t.Fatalf("the request before it got %q", got)
			}
			f.closed(conn, c.reason)
		})
	}
}

func TestBodiesAreBounded(t *testing.T) {
	f := start(t, Config{})
	c := f.dial()
	go c.Write(frame(3, 1, 1, make([]byte, defaultMaxBody+1)))
	f.closed(c, "at most 16777216")
}

func TestApiVersionsAnswersUnknownVersions(t *testing.T) {
	f := start(t, Config{})
	c := f.dial()
	for _, v := range []int16{5, 32767, -1} {
		b := frame(18, v, 3, nil)
		if v < 0 {
			b = frame(18, v, 3, []byte{1, 2, 3})
		}
		c.send(b)
		if got := c.reply(3); string(got) != "\x00\x23\x00\x00\x00\x01\x00\x12\x00\x00\x00\x04" {
			t.Fatalf("version %d: %q", v, got)
		}
	}
	for v := int16(0); v <= 4; v++ {
		c.send(frame(18, v, 4, []byte{2, 'x', 2, 'y', 0}))
		resp := kmsg.NewPtrApiVersionsResponse()
		resp.Version = v
		if err := resp.ReadFrom(c.reply(4)); err != nil {
			t.Fatal(err)
		}
		if k := resp.ApiKeys[0]; k.ApiKey != 0 || k.MinVersion != 0 || k.MaxVersion != 13 {
			t.Errorf("Produce is told as %+v", k)
		}
	}
}

func TestFlexibleVersionsAreKmsgs(t *testing.T) {
	for k := range int16(maxKey + 1) {
		req := kmsg.RequestForKey(k)
		if req == nil {
			continue
		}
		for v := int16(0); v <= req.MaxVersion(); v++ {
			req.SetVersion(v)
			if req.IsFlexible() != flexible(k, v) {
				t.Errorf("key %d version %d: flexible %v, kmsg says %v", k, v, flexible(k, v), req.IsFlexible())
			}
		}
	}
}

func TestIdleConnectionsEnd(t *testing.T) {
	f := start(t, Config{MaxIdle: 50 * time.Millisecond})
	silent, half := f.dial(), f.dial()
	half.send(frame(keyEcho, 0, 1, make([]byte, 100))[:50])
	f.closed(silent, "")
	f.closed(half, "")
	if n := f.cfg.Metrics.IdleClosed.Load(); n != 2 {
		t.Errorf("%d closed as idle, want 2", n)
	}
}

func TestConnectionLimits(t *testing.T) {
	f := start(t, Config{MaxConnsPerIP: 2})
	a, b := f.dial(), f.dial()
	for _, c := range []*client{a, b} {
		c.send(frame(keyEcho, 0, 1, nil))
		c.reply(1)
	}
	f.closed(f.dial(), "too many connections from one address")
	a.Close()
	for { // the place is free once the server has seen the end
		c := f.dial()
		_, _ = c.Write(frame(keyEcho, 0, 1, nil))
		var b [1]byte
		if _, err := c.Read(b[:]); err == nil {
			break
		}
	}
	g := start(t, Config{PerIP: map[string]int{"127.0.0.1": 0}})
	g.closed(g.dial(), "limit=0")
}

func TestMaxConnectionsWaits(t *testing.T) {
	f := start(t, Config{MaxConns: 1})
	a := f.dial()
	a.send(frame(keyEcho, 0, 1, nil))
	a.reply(1)
	b := f.dial() // in the backlog
	b.send(frame(keyEcho, 0, 2, nil))
	a.Close()
	b.reply(2)
}

func TestShutdownFinishesWhatArrived(t *testing.T) {
	f := start(t, Config{})
	parked, idle := f.dial(), f.dial()
	parked.send(frame(keyPark, 0, 1, nil))
	r := <-f.parked
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	f.Shutdown(ctx)
	f.closed(idle, "")
	f.closed(parked, "")
	r.ReplyRaw(func(b []byte) []byte { return append(b, "too late"...) }) // goes nowhere, harms nobody
	r.ReplyRaw(func(b []byte) []byte { return append(b, "again"...) })
}

func TestSecondAnswerIsDropped(t *testing.T) {
	f := start(t, Config{})
	c := f.dial()
	c.send(append(frame(keyPark, 0, 1, nil), frame(keyPark, 0, 2, nil)...))
	first := <-f.parked
	say := func(s string) func([]byte) []byte { return func(b []byte) []byte { return append(b, s...) } }
	first.ReplyRaw(say("one"))
	c.reply(1)
	second := <-f.parked
	first.ReplyRaw(say("stray"))
	second.ReplyRaw(say("two"))
	if got := c.reply(2); string(got) != "two" {
		t.Fatalf("%q", got)
	}
}

// Half-sent frames must not keep others out, however much they announce.
func TestHalfFramesHoldOnlyWhatArrived(t *testing.T) {
	f := start(t, Config{MaxRequestBytes: 1 << 20})
	head := frame(0, 3, 1, make([]byte, 1000))
	binary.BigEndian.PutUint32(head, 100<<20)
	for range 200 {
		f.dial().send(head[:500])
	}
	c := f.dial()
	for i := range int32(20) {
		go c.Write(frame(0, 3, i, make([]byte, 600<<10)))
		c.reply(i)
	}
	for f.MemoryUsed() > 201*smallBuffer { // the last one's buffer is given back after its reply
		time.Sleep(time.Millisecond)
	}
}

func TestMemoryIsBoundedAndEverybodyGetsOn(t *testing.T) {
	const limit = 2 << 20
	f := start(t, Config{MaxRequestBytes: limit})
	var wg sync.WaitGroup
	for range 20 {
		c := f.dial()
		wg.Go(func() {
			for i := range int32(5) {
				b := frame(0, 3, i, make([]byte, 900<<10))
				for len(b) > 0 { // in pieces, so that many are half-way at once
					n := min(len(b), 100<<10)
					if _, err := c.Write(b[:n]); err != nil {
						t.Error(err)
						return
					}
					b = b[n:]
				}
				c.reply(i)
				// One overdraws: by its frame, and by the buffer that it has outgrown while it moves.
				if used := f.MemoryUsed(); used > limit+2<<20+20*smallBuffer {
					t.Errorf("%d bytes used", used)
				}
			}
		})
	}
	wg.Wait()
}

// Replies that nobody reads count too: of many readers few are served until the others read.
func TestUnreadRepliesAreBounded(t *testing.T) {
	const limit, reply, conns, each = 4 << 20, 1 << 20, 20, 4
	served := make(chan struct{}, conns*each)
	table := NewTable(API{Key: 3, Min: 0, Max: 13, Serve: func(r *Request) {
		r.ReplyRaw(func(b []byte) []byte { return append(b, make([]byte, reply)...) })
		served <- struct{}{}
	}})
	s, err := Listen(Config{
		Listeners: []Listener{{Name: "L", Host: "127.0.0.1"}}, MaxRequestBytes: limit, SendBuffer: 64 << 10,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve("L", table); err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, Server: s}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.Shutdown(ctx)
	})
	first := f.dial() // from its reply is learnt how long they are
	first.send(frame(3, 0, 0, nil))
	first.reply(0)
	<-served
	var all []*client
	for range conns {
		c := f.dial()
		for i := range int32(each) {
			c.send(frame(3, 0, i, nil))
		}
		all = append(all, c)
	}
	for s.mem.waiting.Load() < conns-limit/reply-4 {
		time.Sleep(time.Millisecond)
	}
	if used := s.MemoryUsed(); used > limit+3*reply {
		t.Errorf("%d bytes used", used)
	}
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() {
			for i := range int32(each) {
				c.reply(i)
			}
		})
	}
	wg.Wait()
}

// A connection that waits for memory is silent because the node doesn't read.
func TestWaitingForMemoryIsNoStall(t *testing.T) {
	s := &Server{cfg: Config{Log: slog.New(slog.DiscardHandler)}}
	s.cfg.fill()
	c := &Conn{srv: s, wake: make(chan struct{}, 1)}
	s.conns = map[*Conn]struct{}{c: {}}
	s.mem.waiting.Store(1)
	c.partly.Store(true)
	c.queued.Store(true)
	if s.reapOnce(time.Now()); c.dead.Load() {
		t.Error("closed")
	}
}

func TestNoAllocationPerRequest(t *testing.T) {
	f := start(t, Config{})
	c := f.dial()
	req := frame(keyEcho, 3, 1, []byte("0123456789"))
	got := make([]byte, 4+4+1+10)
	round := func() {
		if _, err := c.Write(req); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, got); err != nil {
			t.Fatal(err)
		}
	}
	round()
	if n := testing.AllocsPerRun(500, round); n > allocBudget {
		t.Errorf("%v allocations a request", n)
	}
}

// TestIdleConnectionsAreSmall: whatever a connection has carried, while it is silent it is a goroutine and a
// few structures, and holds no buffer.
func TestIdleConnectionsAreSmall(t *testing.T) {
	const conns, each = 200, 12 << 10 // with the client's half, which is in this process too
	f := start(t, Config{MaxFrame: 1 << 20})
	big := frame(keyEcho, 3, 1, bytes.Repeat([]byte("x"), 200<<10))
	reply := make([]byte, 4+4+1+200<<10)
	measure := func() uint64 {
		var m runtime.MemStats
		for range 3 { // pools let go of what they hold in the second
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := measure()
	for range conns {
		c := f.dial()
		if _, err := c.Write(big); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, reply); err != nil {
			t.Fatal(err)
		}
	}
	for end := time.Now().Add(10 * time.Second); f.MemoryUsed() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if after := measure(); after > before+conns*each {
		t.Errorf("%d bytes a connection", (after-before)/conns)
	}
	if used := f.MemoryUsed(); used > 0 {
		t.Errorf("%d bytes of buffers held", used)
	}
}

func TestSizeClasses(t *testing.T) {
	for n := 1; n < 300<<20; n = n*9/8 + 1 {
		class, size := classOf(n)
		if size < n || class >= classes || (n > busyBuffer && size > n+n/4+1) {
			t.Fatalf("%d bytes: class %d of %d", n, class, size)
		}
		if c, s := classOf(size); c != class || s != size {
			t.Fatalf("class %d of %d bytes isn't its own", class, size)
		}
	}
}

func FuzzProcess(f *testing.F) {
	f.Add(frame(keyEcho, 3, 1, []byte("x")))
	f.Add(frame(3, 12, 1, []byte{1, 0, 0, 0, 0}))
	f.Add(append(frame(18, 9, 1, nil), frame(0, 13, 2, nil)...))
	s := &Server{cfg: Config{MaxFrame: 1 << 20, Log: slog.New(slog.DiscardHandler)}}
	s.cfg.fill()
	s.mem.limit = 1 << 30
	fix := &fixture{parked: make(chan *Request, 1)}
	table := fix.table()
	table.apis[keyPark], table.apis[keyFile], table.apis[keyAlarm] = nil, nil, nil
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &Conn{srv: s, table: table, req: new(Request), wake: make(chan struct{}, 1)}
		c.in, c.w = newBuffer(len(b)), len(b)
		copy(c.in.b, b)
		c.process()
		if c.r > c.w || c.need < 0 {
			t.Fatal(fmt.Sprint(c.r, c.w, c.need))
		}
	})
}
