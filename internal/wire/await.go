package wire

import (
	"errors"
	"io"
	"os"
	"time"
)

// A request that waits keeps its connection's goroutine from going on, but not from listening: it blocks in
// the read for the next request, and whoever makes the answer, an appender or a coordinator, also writes it.
// So an answer costs no wake-up of the goroutine, which the client's next bytes will bring anyway. Only what
// the socket doesn't take at once, and ranges of files, are left to the goroutine.

// The turns of a connection tell who may run the waiting request's resume.
const (
	turnOwn  int32 = iota // the connection's goroutine, which does something else
	turnFree              // anybody
	turnLent              // who resumes it now
)

// await writes what is due and waits until r is answered. False: the connection is gone.
func (c *Conn) await(r *Request) bool {
	if r.state.CompareAndSwap(pending, flushing) { // else the answer is being written behind those before it
		if c.flush() != nil {
			c.dead.Store(true)
		}
		c.rest()
		r.state.CompareAndSwap(flushing, pending)
	}
	c.waiting.Store(true)
	c.held = r
	for r.state.Load() != done {
		c.turn.Store(turnFree)
		c.idle(r)
		c.takeTurn()
		switch {
		case c.dead.Load():
			c.giveUp(r)
			return false
		case c.woken.Swap(false) && r.resume != nil && r.state.Load() == pending && c.reserve(r.Key, true):
			c.resume(r)
		}
	}
	c.waiting.Store(false)
	if r.resume != nil && c.timer != nil {
		c.timer.Stop()
	}
	if len(r.late.B) > 0 {
		if c.box == nil {
			c.takeOut()
		}
		c.out.take(&r.late)
	}
	return !c.dead.Load()
}

// resume runs r's resume, for who has the turn and reserved memory.
func (c *Conn) resume(r *Request) {
	r.resume(r)
	if r.state.Load() != done {
		c.repay()
	}
}

// idle waits until something happened: to r, or to the connection.
func (c *Conn) idle(r *Request) {
	if c.r == c.w && !c.deaf && c.raw != nil {
		c.listening.Store(true)
		state := r.state.Load()
		if state == pending && !c.woken.Load() && !c.dead.Load() {
			c.listen()
		}
		c.listening.Store(false)
		if state != replying { // who is replying may not have seen that we listened, and then signals
			return
		}
	}
	c.parked.Store(true)
	if r.state.Load() != done && !c.woken.Load() && !c.dead.Load() {
		<-c.wake
	}
	c.parked.Store(false)
}

// listen reads what the client sends while its last request still waits.
func (c *Conn) listen() {
	switch err := c.fill(); {
	case err == nil:
	case errors.Is(err, io.EOF): // it may still be waiting for the answer
		c.deaf = true
	default:
		c.dead.Store(true)
	}
}

// takeTurn ends the time in which others may resume the request.
func (c *Conn) takeTurn() {
	for !c.turn.CompareAndSwap(turnFree, turnOwn) {
		c.parked.Store(true)
		if c.turn.Load() == turnLent {
			<-c.wake
		}
		c.parked.Store(false)
	}
}

// Wake makes the waiting request's resume run, on the connection's goroutine. See Request.Park.
func (c *Conn) Wake() {
	c.woken.Store(true)
	c.kick()
}

// Resume is Wake, but runs resume on the caller's goroutine if it can. The caller must hold no lock that
// resume may want, or that others mustn't wait long for.
func (c *Conn) Resume() {
	c.woken.Store(true)
	for c.woken.Load() && !c.dead.Load() && c.turn.CompareAndSwap(turnFree, turnLent) {
		c.woken.Store(false)
		short := false
		if r := c.held; r.resume != nil && r.state.Load() == pending {
			if short = !c.reserve(r.Key, false); !short {
				c.resume(r)
			}
		}
		c.turn.Store(turnFree)
		if short { // only the goroutine may wait for memory
			c.Wake()
			return
		}
		c.signal()
	}
}

// kick gets the goroutine to look again, wherever it waits.
func (c *Conn) kick() {
	if c.listening.Load() {
		_ = c.nc.SetReadDeadline(time.Unix(1, 0)) // see kicked
	}
	c.signal()
}

// kicked tells whether a read ended because of kick.
func (c *Conn) kicked(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	_ = c.nc.SetReadDeadline(time.Time{})
	return true
}

// signal is kick for a goroutine that doesn't listen.
func (c *Conn) signal() {
	if c.parked.Load() {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// giveUp abandons r, after the answer that somebody may be writing right now.
func (c *Conn) giveUp(r *Request) {
	c.gone = true
	if r.resume != nil && r.state.Load() == pending {
		r.resume(r)
	}
	if r.state.CompareAndSwap(pending, abandoned) {
		return
	}
	for r.state.Load() == replying {
		c.parked.Store(true)
		if r.state.Load() == replying {
			<-c.wake
		}
		c.parked.Store(false)
	}
	r.late.drop()
}

// maxDirect is the largest reply that is written by who made it.
const maxDirect = 64 << 10

// direct writes the reply in c.out from the goroutine that made it, which has the right to it. False: there
// is something left that c's goroutine has to write.
func (c *Conn) direct() bool {
	o := &c.out
	if len(o.files) > 0 || len(o.B) > maxDirect {
		return false
	}
	n := c.tryWrite(o.B)
	c.srv.cfg.Metrics.ReplyBytes.Add(int64(n))
	if n < len(o.B) {
		o.B = append(o.B[:0], o.B[n:]...)
		return false
	}
	o.drop()
	c.giveOut()
	c.repay()
	return true
}
