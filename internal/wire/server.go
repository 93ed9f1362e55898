package wire

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Server owns the listeners and their connections.
type Server struct {
	cfg       Config
	mem       memory
	typical   [maxKey + 1]atomic.Int64 // length of long replies, by API
	listeners map[string]*listener
	nextID    atomic.Int64
	outs      sync.Pool

	mu      sync.Mutex
	change  sync.Cond // of conns and stopping
	conns   map[*Conn]struct{}
	perIP   map[netip.Addr]int
	perName map[string]int
	stop    chan struct{}
	stopped bool
	wg      sync.WaitGroup
}

type listener struct {
	Listener
	tcp *net.TCPListener
}

// Listen binds every listener. Nothing is accepted before Serve; clients that come earlier wait in the
// backlog.
func Listen(cfg Config) (*Server, error) {
	cfg.fill()
	s := &Server{
		cfg: cfg, listeners: map[string]*listener{}, conns: map[*Conn]struct{}{},
		perIP: map[netip.Addr]int{}, perName: map[string]int{}, stop: make(chan struct{}),
	}
	s.change.L = &s.mu
	s.mem.limit = cfg.MaxRequestBytes
	for _, l := range cfg.Listeners {
		tcp, err := s.bind(l)
		if err != nil {
			s.closeListeners()
			return nil, fmt.Errorf("listener %s: %w", l.Name, err)
		}
		s.listeners[l.Name] = &listener{l, tcp}
	}
	s.wg.Go(s.reap)
	return s, nil
}

func (s *Server) bind(l Listener) (*net.TCPListener, error) {
	lc := net.ListenConfig{KeepAlive: 15 * time.Second}
	nl, err := lc.Listen(context.Background(), "tcp", net.JoinHostPort(l.Host, strconv.Itoa(l.Port)))
	if err != nil {
		return nil, err
	}
	tcp := nl.(*net.TCPListener)
	if s.cfg.Backlog > 0 {
		err = setBacklog(tcp, s.cfg.Backlog)
	}
	if err == nil && s.cfg.ReceiveBuffer > 0 {
		raw, rerr := tcp.SyscallConn()
		if err = rerr; err == nil {
			err = setReceiveBuffer(raw, s.cfg.ReceiveBuffer)
		}
	}
	if err != nil {
		_ = tcp.Close()
		return nil, err
	}
	return tcp, nil
}

// Addr is where a listener listens, nil if there is none of that name.
func (s *Server) Addr(name string) *net.TCPAddr {
	if l := s.listeners[name]; l != nil {
		return l.tcp.Addr().(*net.TCPAddr)
	}
	return nil
}

// Serve starts to accept connections of a listener and to serve them from table.
func (s *Server) Serve(name string, table *Table) error {
	l := s.listeners[name]
	if l == nil {
		return fmt.Errorf("no listener %s", name)
	}
	s.wg.Go(func() { s.accept(l, table) })
	return nil
}

// MemoryUsed is how many bytes buffers of requests hold now.
func (s *Server) MemoryUsed() int64 { return s.mem.used.Load() }

// Connections is how many connections are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Shutdown stops accepting, lets requests whose bytes have come finish until ctx ends, and closes everything.
func (s *Server) Shutdown(ctx context.Context) {
	s.closeListeners()
	s.mu.Lock()
	if !s.stopped {
		s.stopped = true
		close(s.stop)
	}
	s.change.Broadcast()
	for c := range s.conns {
		c.drain()
	}
	s.mu.Unlock()
	s.mem.poke()
	finished := make(chan struct{})
	go func() { // ends with the connections, which the cases below see to
		s.wg.Wait()
		close(finished)
	}()
	select {
	case <-finished:
		return
	case <-ctx.Done():
	}
	s.mu.Lock()
	for c := range s.conns {
		c.kill()
	}
	s.mu.Unlock()
	<-finished
}

// drain makes the connection end after the requests that have arrived. A request that waits for something to
// happen is given up.
func (c *Conn) drain() {
	if c.waiting.Load() || c.paused.Load() {
		c.kill()
		return
	}
	_ = c.nc.CloseRead()
}

func (s *Server) closeListeners() {
	for _, l := range s.listeners {
		_ = l.tcp.Close()
	}
}
