package wire

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"
)

// Conn is one client connection.
type Conn struct {
	ID                     int64
	Listener               string
	Local, Remote          netip.AddrPort
	Principal              string // "User:ANONYMOUS" until somebody authenticates
	Software, SoftwareVers string // set by ApiVersions v3+

	srv   *Server
	table *Table
	nc    *net.TCPConn
	raw   syscall.RawConn // nil: only nc's own Read and Write

	// The goroutine's own.
	in       *buffer // nil while there is nothing in it
	r, w     int     // the unhandled bytes of in
	need     int     // size of the frame at r when it is known and not all there; else 0
	want     int     // size of the buffer to take when bytes arrive
	small    int     // reads in a row that would have fitted a quarter of want
	over     bool    // overdraws the memory bound
	reply    int     // memory taken for replies; see reserve
	lent     int     // and for the request in work; see lend
	wait     wait    // for memory; the bound's
	out      Out
	box      *[]byte // what out.B is pooled in; nil when there is none
	req      *Request
	clientID string
	failure  string // why to close
	now      time.Time
	timer    *time.Timer
	io       ioState

	deaf bool     // the client sends no more
	gone bool     // the waiting request is given up
	held *Request // the waiting one

	wake      chan struct{}
	turn      atomic.Int32
	listening atomic.Bool // blocks in a read although a request waits
	waiting   atomic.Bool // a request waits for its answer
	parked    atomic.Bool // the goroutine waits for wake
	woken     atomic.Bool
	dead      atomic.Bool
	last      atomic.Int64 // ticks at the last bytes in or out
	partly    atomic.Bool  // holds part of a frame
	owing     atomic.Bool  // writes a long reply
	queued    atomic.Bool  // waits for memory
	paused    atomic.Bool  // waits for a quota
	frameAt   atomic.Int64 // when the frame that is on its way began, in ticks
	frameGot  atomic.Int64 // how much of it is there
	muted     atomic.Int64 // ns since the process began until when nothing is handled; 0: not muted
}

// Table is what this connection's listener serves.
func (c *Conn) Table() *Table { return c.table }

// kill ends the connection from any goroutine: its own goroutine finds out and cleans up.
func (c *Conn) kill() {
	if !c.dead.Swap(true) {
		_ = c.nc.CloseRead()
		_ = c.nc.CloseWrite()
	}
	c.signal() // a read has ended by now
	c.srv.mem.poke()
}

// alarm wakes the connection after d.
func (c *Conn) alarm(d time.Duration) {
	if c.timer == nil {
		c.timer = time.AfterFunc(d, c.Resume)
		return
	}
	c.timer.Reset(d)
}

// serve is the connection's goroutine.
func (c *Conn) serve() {
	defer c.srv.forget(c)
	defer c.cleanup()
	for {
		if err := c.fill(); err != nil {
			c.ended(err)
			return
		}
		ok := c.process()
		if err := c.flush(); err != nil {
			c.ended(err)
			return
		}
		if !ok {
			c.failed()
			return
		}
	}
}

func (c *Conn) ended(err error) {
	switch {
	case c.failure != "":
		c.failed()
	case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		c.srv.cfg.Log.Debug("connection ended", "remote", c.Remote, "listener", c.Listener)
	default:
		c.srv.cfg.Log.Info("connection failed", "remote", c.Remote, "listener", c.Listener, "error", err)
	}
}

func (c *Conn) failed() {
	if c.failure != "" {
		c.srv.cfg.Log.Warn("closing connection", "remote", c.Remote, "listener", c.Listener, "client", c.clientID,
			"reason", c.failure)
	}
}

// cleanup gives back everything and closes the socket.
func (c *Conn) cleanup() {
	c.dead.Store(true)
	if c.timer != nil {
		c.timer.Stop()
	}
	c.out.drop()
	if c.box != nil {
		c.giveOut()
	}
	c.drop()
	c.repay()
	c.returned()
	c.srv.mem.settle(c)
	_ = c.nc.Close()
}

// fill waits for bytes and reads what is there, in one call.
func (c *Conn) fill() error {
	if c.dead.Load() {
		return io.EOF
	}
	if c.r < c.w && !c.makeRoom() {
		return io.EOF
	}
	n, err := c.read()
	if err != nil {
		if c.kicked(err) {
			err = nil
		}
		return err
	}
	c.w += n
	c.partly.Store(false) // until it waits again: a handler that takes long is no half request
	c.now = time.Now()
	c.last.Store(ticks(c.now))
	c.srv.cfg.Metrics.RequestBytes.Add(int64(n))
	return nil
}

// space is where the next read goes. It takes a buffer if there is none.
func (c *Conn) space() []byte {
	if c.in == nil {
		n := max(c.want, smallBuffer)
		if n > smallBuffer && !c.srv.mem.try(n) {
			n = smallBuffer
		}
		if n == smallBuffer {
			c.srv.mem.force(n)
		}
		c.in = newBuffer(n)
		c.r, c.w = 0, 0
	}
	if c.r == c.w {
		c.r, c.w = 0, 0
	}
	end := len(c.in.b)
	switch {
	case c.need > busyBuffer/2: // the rest of a big frame and no byte of the next, which would have to be moved
		end = min(end, c.r+c.need)
	case c.r == c.w && end > busyBuffer:
		end = busyBuffer
	}
	return c.in.b[c.w:end]
}

// adapt learns from a read of n bytes into a space of size how large the next buffer should be.
func (c *Conn) adapt(n, size int) {
	switch {
	case n == size && size >= c.want && c.want < busyBuffer:
		c.want, c.small = max(c.want, smallBuffer)*4, 0
	case n <= c.want/4:
		if c.small++; c.small >= 16 {
			c.want, c.small = max(c.want/4, smallBuffer), 0
		}
	default:
		c.small = 0
	}
}

// atOnce is the largest frame that may take its announced size before its bytes have come, when memory is
// plenty.
const atOnce = 4 << 20

// makeRoom makes room for more of the frame at r. False: the connection is dying.
func (c *Conn) makeRoom() bool {
	have, size := c.w-c.r, len(c.in.b)
	switch {
	case c.need > 0 && c.r+c.need <= size, c.r == 0 && c.w < size:
		return true
	case c.need <= size:
		copy(c.in.b, c.in.b[c.r:c.w])
		c.r, c.w = 0, have
		return true
	}
	n := c.need
	if n > atOnce || !c.srv.mem.plenty() { // then the buffer grows as the bytes arrive
		n = min(n, max(4*have, smallBuffer))
	}
	_, n = classOf(max(n, min(c.want, busyBuffer)))
	if !c.srv.mem.take(c, n) {
		return false
	}
	c.move(n)
	return true
}

// move puts the unhandled bytes into another buffer, of a size that memory has been taken for.
func (c *Conn) move(n int) {
	in := newBuffer(n)
	have := copy(in.b, c.in.b[c.r:c.w])
	c.drop()
	c.in, c.r, c.w = in, 0, have
}

// shrink puts them into the smallest buffer that they fit.
func (c *Conn) shrink() {
	old := c.in
	c.in = newBuffer(c.w - c.r)
	c.r, c.w = 0, copy(c.in.b, old.b[c.r:c.w])
	c.srv.mem.give(len(old.b) - len(c.in.b))
	old.free()
}

// drop gives the read buffer back.
func (c *Conn) drop() {
	if c.in != nil {
		c.srv.mem.give(len(c.in.b))
		c.in.free()
		c.in = nil
	}
	c.r, c.w = 0, 0
}

// rest is called before the goroutine waits: whatever can be small becomes small.
func (c *Conn) rest() {
	if !c.listening.Load() && c.box != nil && len(c.out.B) == 0 { // else it is for who replies
		c.giveOut()
	}
	if c.in == nil {
		return
	}
	have := c.w - c.r
	c.partly.Store(have > 0)
	switch {
	case have == 0:
		c.drop()
		c.need = 0
		if c.over {
			c.over = false
			c.srv.mem.settle(c)
		}
	case len(c.in.b) > 4*smallBuffer && (have <= smallBuffer/2 || !c.srv.mem.plenty() && have <= len(c.in.b)/8):
		c.shrink()
	}
}

// takeOut and giveOut borrow the reply buffer from the server's pool.
func (c *Conn) takeOut() {
	if box, ok := c.srv.outs.Get().(*[]byte); ok {
		c.box = box
	} else {
		b := make([]byte, 0, smallBuffer)
		c.box = &b
	}
	c.out.B = (*c.box)[:0]
}

// maxPooledOut keeps one huge reply from staying in memory.
const maxPooledOut = 1 << 20

func (c *Conn) giveOut() {
	if cap(c.out.B) <= maxPooledOut {
		*c.box = c.out.B
		c.srv.outs.Put(c.box)
	}
	c.box, c.out.B = nil, nil
}
