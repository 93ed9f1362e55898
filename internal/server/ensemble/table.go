package ensemble

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"

	"github.com/kalda/kalda/internal/format/jute"
)

// table knows the connections.
type table struct {
	mu    sync.RWMutex
	byID  map[int64]*conn
	perIP map[netip.Addr]int
	next  int64

	slow      sync.Mutex
	throttled []*conn
	closed    bool
}

func (t *table) init() {
	t.byID, t.perIP = map[int64]*conn{}, map[netip.Addr]int{}
}

// admit counts c in, and numbers it; else it says why not.
func (t *table) admit(c *conn, perIP, all int) (why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ip := c.remote.Addr()
	switch {
	case t.closed:
		return "the server stops"
	case all > 0 && len(t.byID) >= all:
		return fmt.Sprintf("too many connections, maxCnxns is %d", all)
	case perIP > 0 && t.perIP[ip] >= perIP:
		return fmt.Sprintf("too many connections from this address, maxClientCnxns is %d", perIP)
	}
	t.next++
	c.id = t.next
	t.byID[c.id] = c
	t.perIP[ip]++
	return ""
}

// remove counts c out.
func (t *table) remove(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, c.id)
	ip := c.remote.Addr()
	if t.perIP[ip]--; t.perIP[ip] <= 0 {
		delete(t.perIP, ip)
	}
}

// close gives all connections, and lets no more in.
func (t *table) close() []*conn {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	return t.all()
}

func (t *table) all() []*conn {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Collect(maps.Values(t.byID))
}

func (t *table) count() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byID)
}

// sessionsByConn are the sessions of connections that have one.
func (t *table) sessionsByConn() map[int64]jute.SessionID {
	out := map[int64]jute.SessionID{}
	for _, c := range t.all() {
		c.mu.Lock()
		out[c.id] = c.session
		c.mu.Unlock()
	}
	return out
}

// throttle notes a connection that waits for the pipeline to empty.
func (t *table) throttle(c *conn) {
	t.slow.Lock()
	t.throttled = append(t.throttled, c)
	t.slow.Unlock()
}

// unthrottle lets the connections that wait look again.
func (t *table) unthrottle(s *Server) {
	if s.outstanding.Load() >= s.opts.outstanding {
		return
	}
	t.slow.Lock()
	defer t.slow.Unlock()
	for i, c := range t.throttled {
		c.signal()
		t.throttled[i] = nil
	}
	t.throttled = t.throttled[:0]
}
