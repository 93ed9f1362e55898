package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hub parks requests that ask for so many bytes, and resumes and wakes them from several goroutines at once, too often
// and too late.
type hub struct {
	t     testing.TB
	mu    sync.Mutex
	conns []*Conn
	stop  chan struct{}
	wg    sync.WaitGroup
	gone  atomic.Int32
}

// parkedReply is one parked request's state. Resume never runs twice at a time: what it touches is plain.
type parkedReply struct {
	size, left int
	over       bool
}

func (h *hub) serve(r *Request) {
	p := &parkedReply{size: int(binary.BigEndian.Uint32(r.Body)), left: int(r.Body[4])}
	h.mu.Lock()
	if !slices.Contains(h.conns, r.Waker()) {
		h.conns = append(h.conns, r.Waker())
	}
	h.mu.Unlock()
	r.Park(time.Now().Add(10*time.Second), func(r *Request) {
		if p.over {
			h.t.Error("resumed after the end")
			return
		}
		if r.Gone() {
			p.over = true
			h.gone.Add(1)
			return
		}
		if p.left--; p.left > 0 {
			return
		}
		p.over = true
		o := r.Begin()
		o.B = append(o.B, bytes.Repeat([]byte{byte(p.size)}, p.size)...)
		r.End(o)
	})
}

// poke resumes and wakes until the test is over.
func (h *hub) poke(seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	for {
		select {
		case <-h.stop:
			return
		case <-time.After(time.Duration(rnd.IntN(50)) * time.Microsecond):
		}
		h.mu.Lock()
		var c *Conn
		if n := len(h.conns); n > 0 {
			c = h.conns[rnd.IntN(n)]
		}
		h.mu.Unlock()
		switch {
		case c == nil:
		case rnd.IntN(3) == 0:
			c.Wake()
		default:
			c.Resume()
		}
	}
}

func startHub(t testing.TB) (*hub, *Server) {
	h := &hub{t: t, stop: make(chan struct{})}
	s, err := Listen(Config{
		Listeners: []Listener{{Name: "L", Host: "127.0.0.1"}}, SendBuffer: 4 << 10,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve("L", NewTable(API{Key: keyPark, Reuse: true, Serve: h.serve})); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		h.wg.Go(func() { h.poke(uint64(i)) })
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		s.Shutdown(ctx)
		close(h.stop)
		h.wg.Wait()
		if n := s.MemoryUsed(); n != 0 {
			t.Errorf("%d bytes of memory not given back", n)
		}
	})
	return h, s
}

func askHub(corr int32, size, left int) []byte {
	body := append(binary.BigEndian.AppendUint32(nil, uint32(size)), byte(left))
	return frame(keyPark, 0, corr, body)
}

// A parked request may be resumed by anybody at any time: each is answered once, whole and in order, also when the
// client sends ahead and when the socket takes only a part of the reply.
func TestParkedRequestsAreAnsweredByWhoResumesThem(t *testing.T) {
	_, s := startHub(t)
	var wg sync.WaitGroup
	for conn := range 4 {
		wg.Go(func() {
			nc, err := net.Dial("tcp", s.Addr("L").String())
			if err != nil {
				t.Error(err)
				return
			}
			defer nc.Close()
			_ = nc.SetDeadline(time.Now().Add(60 * time.Second))
			c := &client{nc, t}
			ahead := 1 + conn%2*3
			sizes := []int{1, 100, 60 << 10, 5000, 200 << 10}
			for i := range 60 {
				if i%ahead == 0 {
					for j := range ahead {
						c.send(askHub(int32(i+j), sizes[(i+j)%len(sizes)], (i+j)%3))
					}
				}
				got := c.reply(int32(i))
				if want := sizes[i%len(sizes)]; len(got) != want || got[0] != byte(want) {
					t.Errorf("reply of %d bytes, want %d", len(got), want)
				}
			}
		})
	}
	wg.Wait()
}

// Clients that leave while their requests wait: each is told to let go, once.
func TestParkedRequestsOfGoneClientsAreGivenUp(t *testing.T) {
	h, s := startHub(t)
	const clients = 20
	for range clients {
		nc, err := net.Dial("tcp", s.Addr("L").String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = nc.Write(askHub(1, 100, 255))
		_ = nc.(*net.TCPConn).SetLinger(0) // a reset, which a read that waits sees
		if _, err := nc.Write(nil); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Millisecond, func() { nc.Close() })
	}
	for s.Connections() > 0 || h.gone.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
}

// A client that has said all that it will say still gets the answer.
func TestHalfClosedClientsAreAnswered(t *testing.T) {
	_, s := startHub(t)
	nc, err := net.Dial("tcp", s.Addr("L").String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	c := &client{nc, t}
	c.send(askHub(7, 100, 200))
	_ = nc.(*net.TCPConn).CloseWrite()
	if got := c.reply(7); len(got) != 100 {
		t.Errorf("reply of %d bytes", len(got))
	}
}
