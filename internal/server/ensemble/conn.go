package ensemble

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/format/jute"
)

// conn is one client's connection.
type conn struct {
	s      *Server
	id     int64
	nc     *net.TCPConn
	remote netip.AddrPort
	since  time.Time
	sock   socket

	// Its goroutine's own.
	in       []byte // nil while nothing is in it
	r, w     int    // the bytes not handled
	want     int    // size of the next buffer
	rd       reader
	mine     []byte      // replies to reads that nobody else knows of yet
	mineView *ztree.View // what they were read from
	mineN    int64       // how many they are
	mineOp   jute.OpCode
	mineXid  int32
	ops      []*op // to be posted
	frames   int64 // since the last note of them
	now      int64 // when the bytes at hand came, by the server's clock
	readOnly bool  // the handshake had the byte
	why      string

	auth    atomic.Pointer[[]jute.ID] // its identities; a new list for each change
	heard   atomic.Int64
	dead    atomic.Bool
	parked  atomic.Bool  // isn't read
	pending atomic.Int32 // len(fifo) and what was popped and isn't released; changes under mu
	wake    chan struct{}

	mu       sync.Mutex
	session  jute.SessionID
	timeout  int32
	fifo     []*op // unanswered requests from the oldest write on
	popped   int
	next     []byte // staged by the head: not to be sent before the View has it
	nextZxid jute.Zxid
	touched  bool
	out      []byte // to be sent
	writing  bool   // somebody does
	closing  bool   // the session is closed: the connection goes when all is sent
	gone     bool   // sets no more watches
	stats    connCounters
}

func newConn(s *Server, nc *net.TCPConn) *conn {
	c := &conn{s: s, nc: nc, since: time.Now(), wake: make(chan struct{}, 1), want: smallBuf}
	addr := nc.RemoteAddr().(*net.TCPAddr).AddrPort()
	c.remote = netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port())
	c.auth.Store(&[]jute.ID{{Scheme: "ip", ID: c.remote.Addr().WithZone("").String()}})
	c.heard.Store(s.clock.now())
	c.stats.reset()
	return c
}

func (c *conn) identities() []jute.ID { return *c.auth.Load() }

func (c *conn) sessionID() jute.SessionID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// kill ends the connection from any goroutine.
func (c *conn) kill() {
	if !c.dead.Swap(true) {
		_ = c.nc.CloseRead()
		_ = c.nc.CloseWrite()
	}
	c.signal()
}

func (c *conn) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// park waits until it is told to look at until again, and that says so, or the connection ends.
func (c *conn) park(until func() bool) bool {
	c.parked.Store(true)
	defer c.parked.Store(false)
	for !until() {
		if c.dead.Load() {
			return false
		}
		<-c.wake
	}
	return !c.dead.Load()
}

// serve is the connection's goroutine.
func (c *conn) serve() {
	defer c.cleanup()
	if err := c.sock.init(c); err != nil {
		return
	}
	err := c.loop()
	session := c.sessionID()
	switch {
	case c.why != "":
		c.s.log.Warn("closing connection", "remote", c.remote, "session", session, "reason", c.why)
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		c.s.log.Debug("connection ended", "remote", c.remote, "session", session)
	default:
		c.s.log.Info("connection failed", "remote", c.remote, "session", session, "error", err)
	}
}

func (c *conn) loop() error {
	if err := c.greet(); err != nil || c.session == 0 {
		return err
	}
	for {
		if c.r == c.w || !c.wholeFrame() {
			if err := c.fill(); err != nil {
				return err
			}
		}
		ok := c.process()
		c.send()
		if !ok {
			c.leave()
			return nil
		}
	}
}

// dropAtOnce is how many watched paths of a connection that ended are forgotten while others wait.
const dropAtOnce = 2000

// cleanup takes the connection out of everything.
func (c *conn) cleanup() {
	c.dead.Store(true)
	for more := true; more; {
		c.s.watchMu.Lock()
		c.gone = true
		more = c.s.watches.DropSome(ztree.WatcherID(c.id), dropAtOnce)
		c.s.watchMu.Unlock()
	}
	c.mu.Lock()
	for _, o := range c.fifo {
		if o.kind == opQuery {
			c.s.outstanding.Add(-1)
		}
	}
	c.fifo, c.next = nil, nil
	c.mu.Unlock()
	c.drop()
	c.s.table.remove(c)
	c.s.metrics.Drops.Inc()
	_ = c.nc.Close()
}

// wholeFrame says that the bytes at hand have a whole frame, or what can't begin one.
func (c *conn) wholeFrame() bool {
	if c.w-c.r < 4 {
		return false
	}
	n := int32(binary.BigEndian.Uint32(c.in[c.r:]))
	return n < 0 || int(n) > c.s.opts.maxFrame || c.w-c.r-4 >= int(n)
}

// frame takes the next frame off the buffer; nil: it isn't all there. It is valid until the next fill.
func (c *conn) frame() (b []byte, ok bool) {
	if c.w-c.r < 4 {
		return nil, true
	}
	n := int(int32(binary.BigEndian.Uint32(c.in[c.r:])))
	if n < 0 || n > c.s.opts.maxFrame {
		c.why = "a frame of " + itoa(n) + " bytes; jute.maxbuffer is " + itoa(c.s.opts.maxFrame)
		return nil, false
	}
	if c.w-c.r-4 < n {
		return nil, true
	}
	b = c.in[c.r+4 : c.r+4+n : c.r+4+n]
	c.r += 4 + n
	c.frames++
	return b, true
}

// fill reads what has come, waiting for it without holding a buffer if nothing is in it.
func (c *conn) fill() error {
	if c.dead.Load() {
		return io.EOF
	}
	if c.r < c.w {
		c.room()
	}
	n, err := c.sock.read(c)
	if err != nil {
		return err
	}
	c.w += n
	c.now = c.s.clock.now()
	c.s.metrics.BytesReceived.Add(int64(n))
	return nil
}

// room makes space for the rest of the frame at r, which is not all there.
func (c *conn) room() {
	have := c.w - c.r
	need := smallBuf
	if have >= 4 {
		need = 4 + int(binary.BigEndian.Uint32(c.in[c.r:]))
	}
	switch {
	case c.r+need <= len(c.in):
	case need <= len(c.in):
		copy(c.in, c.in[c.r:c.w])
		c.r, c.w = 0, have
	default:
		// It grows as bytes come: a length that is only announced costs nothing.
		in := takeIn(largeBuf)
		if n := min(need, 4*have); n > len(in) {
			giveIn(in)
			in = make([]byte, n)
		}
		copy(in, c.in[c.r:c.w])
		c.drop()
		c.in, c.r, c.w = in, 0, have
	}
}

// space is where the next read goes.
func (c *conn) space() []byte {
	if c.in == nil {
		c.in = takeIn(c.want)
		c.r, c.w = 0, 0
	}
	if c.r == c.w {
		c.r, c.w = 0, 0
	}
	return c.in[c.w:]
}

// adapt learns from a read of n bytes into a space of size.
func (c *conn) adapt(n, size int) {
	switch {
	case n == size:
		c.want = largeBuf
	case n < smallBuf/2:
		c.want = smallBuf
	}
}

// rest is called before the goroutine waits for bytes.
func (c *conn) rest() {
	if c.r == c.w {
		c.drop()
	}
}

func (c *conn) drop() {
	giveIn(c.in)
	c.in, c.r, c.w = nil, 0, 0
}

// leave lets the client have what was sent before the socket is closed: closing it with unread bytes would
// take that away.
func (c *conn) leave() {
	if c.dead.Load() {
		return
	}
	c.park(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return !c.writing && len(c.out) == 0
	})
	_ = c.nc.CloseWrite()
	_ = c.nc.SetReadDeadline(time.Now().Add(time.Second))
	var b [512]byte
	for range 1 << 12 {
		if _, err := c.nc.Read(b[:]); err != nil {
			return
		}
	}
}

// moveNext lets what is staged go. The caller holds mu.
func (c *conn) moveNext() {
	switch {
	case len(c.next) == 0:
		return
	case len(c.out) == 0 && c.out == nil:
		c.out, c.next = c.next, nil
		return
	}
	c.out = append(c.out, c.next...)
	giveBuf(c.next)
	c.next = nil
}

// merge puts the goroutine's own replies among what is to be sent: behind what is staged, if they show it.
func (c *conn) merge() {
	if c.mineN == 0 && c.frames == 0 {
		return
	}
	now := c.s.clock.now()
	m := &c.s.metrics
	ms := now - c.now
	c.mu.Lock()
	if len(c.next) > 0 && c.mineView != nil && c.mineView.Zxid() >= c.nextZxid {
		c.moveNext()
	}
	if c.out == nil {
		c.out, c.mine = c.mine, nil
	} else {
		c.out = append(c.out, c.mine...)
		c.mine = c.mine[:0]
	}
	c.stats.received += c.frames
	if c.mineN > 0 {
		c.stats.answered(c.mineOp, c.mineXid, c.mineView.Zxid())
		c.stats.took(c.s.clock.wall(now), c.mineN, ms)
	}
	c.mu.Unlock()
	m.Received.Add(c.frames)
	if c.mineN > 0 {
		m.Sent.Add(c.mineN)
		m.Latency.ObserveN(ms, c.mineN)
		m.ReadLatency.ObserveN(ms, c.mineN)
	}
	c.mineN, c.frames, c.mineView = 0, 0, nil
}

// send posts the writes that were read, and sends what is to be sent.
func (c *conn) send() {
	c.merge()
	if len(c.ops) > 0 {
		c.s.head.post(c.ops...)
		clear(c.ops)
		c.ops = c.ops[:0]
	}
	c.flush(true)
}

// flush sends what is in out. Only one does so at a time: who adds to it meanwhile leaves it to that one.
// Without block, what the socket doesn't take at once is left to another goroutine.
func (c *conn) flush(block bool) {
	c.mu.Lock()
	if c.writing || len(c.out) == 0 {
		c.mu.Unlock()
		return
	}
	c.writing = true
	for len(c.out) > 0 {
		b := c.out
		c.out = nil
		c.mu.Unlock()
		n, err := c.sock.tryWrite(b)
		if err == nil && n < len(b) {
			if !block {
				c.s.wg.Go(func() { c.drain(b, n) })
				return
			}
			err = c.sock.write(b[n:])
		}
		giveBuf(b)
		if err != nil {
			c.kill()
		}
		c.mu.Lock()
		if c.dead.Load() {
			c.out = nil
		}
	}
	c.writing = false
	c.mu.Unlock()
	if c.parked.Load() { // for this, it may be
		c.signal()
	}
}

// drain waits for the client to take b from n on, then sends the rest of what there is.
func (c *conn) drain(b []byte, n int) {
	err := c.sock.write(b[n:])
	giveBuf(b)
	if err != nil {
		c.kill()
	}
	c.mu.Lock()
	c.writing = false
	c.mu.Unlock()
	c.flush(true)
	c.signal()
}

// pop takes the oldest unanswered request. The caller holds mu.
func (c *conn) pop() *op {
	o := c.fifo[0]
	c.fifo[0] = nil
	if c.fifo = c.fifo[1:]; len(c.fifo) == 0 {
		c.fifo = nil
	}
	if o.kind == opQuery {
		c.s.outstanding.Add(-1)
	}
	return o
}

// answered notes a reply of the head's. The caller holds mu.
func (c *conn) answered(op jute.OpCode, xid int32, zxid jute.Zxid, ms int64) {
	c.stats.answered(op, xid, zxid)
	c.stats.took(c.s.clock.wall(c.s.head.now), 1, ms)
	c.s.metrics.Sent.Add(1)
	c.s.metrics.Latency.Observe(ms)
	c.s.metrics.countOp(op, 1)
}
