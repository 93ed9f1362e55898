package wire

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
)

// tcp is one end of a connection.
func tcp(t *testing.T) *net.TCPConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// A frame of which a byte comes now and then is closed once it is on its way for long while others wait for
// memory; one that comes at a fair pace isn't, nor is one when nobody waits.
func TestACrawlingFrameIsClosedUnderPressure(t *testing.T) {
	for _, c := range []struct {
		name   string
		short  int32
		age    time.Duration
		got    int64
		closed bool
	}{
		{"a trickle", 1, 31 * time.Second, 20_000, true},
		{"a trickle, young", 1, 29 * time.Second, 20_000, false},
		{"a slow link", 1, 60 * time.Second, 1 << 20, false},
		{"memory enough", 0, 500 * time.Second, 20_000, false},
	} {
		log := new(bytes.Buffer)
		s := &Server{cfg: Config{Log: slog.New(slog.NewTextHandler(log, nil)), MaxIdle: -1}}
		s.cfg.fill()
		x := &Conn{srv: s, nc: tcp(t), wake: make(chan struct{}, 1)}
		s.conns = map[*Conn]struct{}{x: {}}
		now := time.Now().Add(1000 * time.Second)
		x.partly.Store(true)
		x.frameAt.Store(ticks(now.Add(-c.age)))
		x.frameGot.Store(c.got)
		x.last.Store(ticks(now))
		s.mem.waiting.Store(c.short)
		s.reapOnce(now)
		if x.dead.Load() != c.closed || strings.Contains(log.String(), "too slowly") != c.closed {
			t.Errorf("%s: closed %v\n%s", c.name, x.dead.Load(), log)
		}
	}
}
