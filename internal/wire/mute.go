package wire

import (
	"net/netip"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Quotas slows clients down. Its methods are called from many goroutines.
type Quotas interface {
	// On tells whether there is any quota on requests: without one, no time is taken.
	On() bool
	// Busy counts the time that a client's request kept a thread busy and returns how long the client has to
	// wait.
	Busy(r *Request, busy time.Duration) time.Duration
	// Connect counts a connection from an address and returns for how long it is too early for it.
	Connect(from netip.Addr) time.Duration
}

// Mute keeps the connection from handling further requests for d, from the reply to this one on: the client
// has been told to wait, and whoever doesn't is not read (KIP-219). It is called before the reply is ended.
func (r *Request) Mute(d time.Duration) {
	if d > 0 {
		r.Conn.muted.Store(int64(time.Since(began) + d))
	}
}

// Busy is how long the request kept a thread busy so far: until its Serve function returned, if it has.
func (r *Request) Busy() time.Duration {
	if d := r.busy.Load(); d > 0 {
		return time.Duration(d)
	}
	if r.began.IsZero() {
		return 0
	}
	return time.Since(r.began)
}

// throttle charges a decoded request to its client, and tells and mutes it.
func (r *Request) throttle(resp kmsg.Response) {
	q := r.Conn.srv.cfg.Quotas
	if q == nil || r.Conn.table.vital {
		return
	}
	told, ok := resp.(kmsg.ThrottleResponse)
	if !ok {
		return
	}
	ms, _ := told.Throttle() // the controller's
	d := max(q.Busy(r, r.Busy()), time.Duration(ms)*time.Millisecond)
	if d <= 0 {
		return
	}
	if set, ok := resp.(kmsg.SetThrottleResponse); ok {
		set.SetThrottle(int32(d.Milliseconds()))
	}
	r.Mute(d)
}

// pause waits while the connection is muted, with everything before that sent. False: it is gone.
func (c *Conn) pause() bool {
	until := c.muted.Swap(0)
	if until == 0 {
		return true
	}
	if c.flush() != nil {
		return false
	}
	c.rest()
	c.paused.Store(true)
	defer c.paused.Store(false)
	timer := time.NewTimer(time.Until(began.Add(time.Duration(until))))
	defer timer.Stop()
	for !c.dead.Load() {
		c.parked.Store(true)
		if c.dead.Load() {
			c.parked.Store(false)
			break
		}
		select {
		case <-c.wake:
			c.parked.Store(false)
		case <-timer.C:
			c.parked.Store(false)
			c.last.Store(ticks(time.Now()))
			return true
		}
	}
	return false
}

// hold keeps a connection that came too early for d, unread, and closes it then: whoever connects in a loop
// has to wait.
func (s *Server) hold(c *Conn, d time.Duration) {
	defer s.forget(c)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.stop:
	case <-timer.C:
	}
	_ = c.nc.Close()
}
