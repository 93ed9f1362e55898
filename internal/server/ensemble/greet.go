package ensemble

import (
	"bytes"
	"io"
	"time"

	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/format/jute"
)

// greet reads what a client says first: a four-letter word, or the handshake. No error and no session: the
// connection has ended well.
func (c *conn) greet() error {
	_ = c.nc.SetReadDeadline(time.Now().Add(c.s.opts.sessionless))
	for c.w-c.r < 4 {
		if err := c.fill(); err != nil {
			return err
		}
	}
	if word := string(c.in[c.r : c.r+4]); isWord(word) {
		c.r += 4
		c.s.metrics.Received.Add(1)
		return c.onWord(word)
	}
	for !c.wholeFrame() {
		if err := c.fill(); err != nil {
			return err
		}
	}
	b, ok := c.frame()
	if !ok {
		return nil
	}
	r := &jute.ConnectRequest{}
	d := jute.NewDecoder(b, 0)
	r.Decode(d)
	if d.Err() != nil {
		c.why = "a first frame that is no handshake"
		return io.EOF
	}
	_ = c.nc.SetReadDeadline(time.Time{})
	return c.connect(r)
}

// connect asks the head for a session, or for one that there was, and waits for the answer to be sent.
func (c *conn) connect(r *jute.ConnectRequest) error {
	c.s.metrics.Connects.Inc()
	if r.LastZxidSeen > c.s.View().Zxid() {
		c.why = "the client has seen zxid " +
			r.LastZxidSeen.String() + ", which is not here: it has to try elsewhere"
		return nil
	}
	c.readOnly = r.HasReadOnly
	timeout := min(max(r.Timeout, c.s.opts.minTimeout), c.s.opts.maxTimeout)
	o := &op{conn: c, at: c.now}
	o.req = ztree.Request{
		Op: jute.OpCreateSession, Body: &jute.CreateSessionTxn{Timeout: timeout}, Owner: ztree.Owner(c.id),
	}
	if r.SessionID != 0 {
		password := ztree.Password(r.SessionID)
		if !bytes.Equal(password[:], r.Password) {
			c.s.log.Warn("wrong password for a session", "remote", c.remote, "session", r.SessionID)
			c.refuse()
			c.leave()
			return nil
		}
		o.kind, o.req.Session, o.req.Body = opAttach, r.SessionID, nil
	}
	c.merge() // counts the frame
	c.mu.Lock()
	c.timeout = timeout
	if o.kind == opWrite {
		c.fifo = append(c.fifo, o)
		c.pending.Add(1)
	}
	c.mu.Unlock()
	c.s.outstanding.Add(1)
	c.s.head.post(o)
	c.park(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return (c.session != 0 || c.closing) && c.pending.Load() == 0
	})
	c.send()
	if c.closing {
		c.leave()
		return nil
	}
	if c.dead.Load() {
		return io.EOF
	}
	return nil
}

// connected adds the answer to a handshake. The caller holds mu.
func (c *conn) connected(dst []byte, id jute.SessionID, timeout int32) []byte {
	c.session, c.timeout = id, timeout
	password := ztree.Password(id)
	r := jute.ConnectResponse{
		Timeout: timeout, SessionID: id, Password: password[:], HasReadOnly: c.readOnly,
	}
	at := len(dst)
	return endFrame(r.Append(jute.AppendInt(dst, 0)), at)
}

// attached is the head's answer to a client that came back.
func (c *conn) attached(id jute.SessionID, alive bool) {
	if !alive {
		c.s.log.Info("refusing a session that is no more", "remote", c.remote, "session", id)
		c.mu.Lock()
		c.closing = true
		c.mu.Unlock()
		c.refuse()
		c.signal()
		return
	}
	c.mu.Lock()
	c.out = c.connected(c.out, id, c.timeout)
	c.stats.answered(jute.OpCreateSession, 0, c.s.View().Zxid())
	c.stats.took(time.Now(), 1, 0)
	c.mu.Unlock()
	c.s.metrics.Sent.Add(1)
	c.flush(false)
	c.signal()
}

// refuse tells a client that its session is no more.
func (c *conn) refuse() {
	r := jute.ConnectResponse{Password: make([]byte, 16), HasReadOnly: c.readOnly}
	b := r.Append(jute.AppendInt(takeBuf(), 0))
	c.mu.Lock()
	c.out = appendOut(c.out, endFrame(b, 0))
	c.mu.Unlock()
	giveBuf(b)
	c.s.metrics.Sent.Add(1)
	c.flush(false)
}
