package wire

import (
	"errors"
	"net"
	"time"
)

// accept takes a listener's connections until the server stops.
func (s *Server) accept(l *listener, table *Table) {
	for s.slot(l) {
		nc, err := l.tcp.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, most likely: Accept would fail again at once
			s.cfg.Log.Error("can't accept", "listener", l.Name, "error", err)
			select {
			case <-s.stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		s.cfg.Metrics.Accepted.Inc()
		c := s.newConn(l, nc, table)
		if !s.admit(c) {
			s.cfg.Metrics.Refused.Inc()
			_ = nc.Close()
			continue
		}
		if d := s.tooEarly(c); d > 0 {
			s.cfg.Metrics.Refused.Inc()
			s.wg.Go(func() { s.hold(c, d) })
			continue
		}
		if err := c.initIO(); err != nil {
			s.forget(c)
			_ = nc.Close()
			continue
		}
		s.wg.Go(c.serve)
	}
}

func (s *Server) tooEarly(c *Conn) time.Duration {
	if s.cfg.Quotas == nil {
		return 0
	}
	return s.cfg.Quotas.Connect(c.Remote.Addr().Unmap())
}

// slot waits until max.connections allows another one. False: the server stops.
func (s *Server) slot(l *listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.stopped {
		if (s.cfg.MaxConns <= 0 || len(s.conns) < s.cfg.MaxConns) &&
			(l.MaxConns <= 0 || s.perName[l.Name] < l.MaxConns) {
			return true
		}
		s.change.Wait()
	}
	return false
}

func (s *Server) newConn(l *listener, nc *net.TCPConn, table *Table) *Conn {
	_ = nc.SetNoDelay(true)
	if s.cfg.SendBuffer > 0 {
		_ = nc.SetWriteBuffer(s.cfg.SendBuffer)
	}
	c := &Conn{
		ID: s.nextID.Add(1), Listener: l.Name, Principal: "User:ANONYMOUS", srv: s, table: table, nc: nc,
		wake: make(chan struct{}, 1), req: new(Request),
	}
	c.Local = nc.LocalAddr().(*net.TCPAddr).AddrPort()
	c.Remote = nc.RemoteAddr().(*net.TCPAddr).AddrPort()
	c.last.Store(ticks(time.Now()))
	return c
}

// admit counts c in, unless its address has too many connections already.
func (s *Server) admit(c *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	ip := c.Remote.Addr().Unmap()
	limit, over := s.cfg.PerIP[ip.String()]
	if !over {
		limit = s.cfg.MaxConnsPerIP
	}
	if (limit > 0 || over) && s.perIP[ip] >= limit {
		s.cfg.Log.Info("too many connections from one address", "remote", c.Remote, "limit", limit)
		return false
	}
	s.conns[c] = struct{}{}
	s.perIP[ip]++
	s.perName[c.Listener]++
	s.cfg.Metrics.Connections.Add(1)
	return true
}

// forget counts c out.
func (s *Server) forget(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	ip := c.Remote.Addr().Unmap()
	if s.perIP[ip]--; s.perIP[ip] <= 0 {
		delete(s.perIP, ip)
	}
	s.perName[c.Listener]--
	s.cfg.Metrics.Connections.Add(-1)
	s.change.Broadcast()
}

// stalledAfter is how long half a frame may stand still while others wait for memory.
const stalledAfter = 5 * time.Second

// slowest is how many bytes a second of a frame must come, once it is on its way for longer than
// Config.SlowFrame, while others wait for the memory that it holds.
const slowest = 16 << 10

// crawls says whether the frame that is on its way comes too slowly: a byte now and then would hold memory
// for ever, and hide from who looks for silence.
func (c *Conn) crawls(at int64) bool {
	age := at - c.frameAt.Load()
	return age > c.srv.cfg.SlowFrame.Milliseconds() && c.frameGot.Load() < age*slowest/1000
}

// reap closes connections that have been silent for too long. It looks at all of them now and then, instead
// of a timer each that every request would have to move.
func (s *Server) reap() {
	every := time.Second
	if s.cfg.MaxIdle > 0 {
		every = min(every, max(s.cfg.MaxIdle/4, 10*time.Millisecond))
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case now := <-tick.C:
			s.reapOnce(now)
		}
	}
}

func (s *Server) reapOnce(now time.Time) {
	short, at := s.mem.waiting.Load() > 0, ticks(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		silent := time.Duration(at-c.last.Load()) * time.Millisecond
		switch {
		case c.waiting.Load(), c.queued.Load(), c.paused.Load():
		case s.cfg.MaxIdle > 0 && silent > s.cfg.MaxIdle:
			s.cfg.Metrics.IdleClosed.Inc()
			s.cfg.Log.Debug("closing idle connection", "remote", c.Remote, "silent", silent)
			c.kill()
		case short && silent > stalledAfter && c.partly.Load():
			s.cfg.Log.Warn("closing connection: half a request stands still while memory is short", "remote", c.Remote)
			c.kill()
		case short && c.partly.Load() && c.crawls(at):
			s.cfg.Log.Warn("closing connection: a request comes too slowly while memory is short", "remote",
				c.Remote, "bytes", c.frameGot.Load())
			c.kill()
		case short && silent > stalledAfter && c.owing.Load():
			s.cfg.Log.Warn("closing connection: it doesn't read its replies while memory is short", "remote", c.Remote)
			c.kill()
		}
	}
}
