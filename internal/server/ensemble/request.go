package ensemble

import (
	"bytes"

	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/format/jute"
)

// process handles the frames at hand; false ends the connection.
func (c *conn) process() bool {
	heard := false
	for {
		b, ok := c.frame()
		if !ok {
			return false
		}
		if b == nil {
			return true
		}
		if !heard {
			c.heard.Store(c.now)
			heard = true
		}
		if len(b) < jute.RequestHeaderSize {
			c.why = "a frame of " + itoa(len(b)) + " bytes is no request"
			return false
		}
		c.rd.dec.Reset(b)
		var h jute.RequestHeader
		h.Decode(&c.rd.dec)
		if !c.handle(h, b[jute.RequestHeaderSize:]) {
			return false
		}
		if !c.admit(h) {
			return false
		}
	}
}

// handle takes one request; false ends the connection.
func (c *conn) handle(h jute.RequestHeader, body []byte) bool {
	switch {
	case h.Type == jute.OpAuth:
		return c.onAuth(h, body)
	case h.Type == jute.OpSASL:
		return c.onSASL(h)
	case isWrite(h.Type):
		return c.onWrite(h, body)
	case isRead(h.Type):
		c.onRead(query{xid: h.Xid, op: h.Type, body: body})
		return true
	}
	c.why = "a request of unknown type " + itoa(int(h.Type))
	c.reply(h.Xid, -1, jute.Unimplemented, nil)
	return false
}

func isWrite(op jute.OpCode) bool {
	switch op {
	case jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL, jute.OpDelete, jute.OpSetData,
		jute.OpSetACL, jute.OpMulti, jute.OpReconfig, jute.OpCloseSession:
		return true
	}
	return false
}

func isRead(op jute.OpCode) bool {
	switch op {
	case jute.OpExists, jute.OpGetData, jute.OpGetACL, jute.OpGetChildren, jute.OpGetChildren2, jute.OpSync,
		jute.OpPing, jute.OpMultiRead, jute.OpCheckWatches, jute.OpRemoveWatches, jute.OpSetWatches,
		jute.OpSetWatches2, jute.OpAddWatch, jute.OpGetEphemerals, jute.OpGetAllChildrenNumber, jute.OpWhoAmI:
		return true
	}
	return false
}

// onWrite puts a write into the line. One that is malformed becomes a read that is answered with the error:
// it never gets a zxid.
func (c *conn) onWrite(h jute.RequestHeader, body []byte) bool {
	d := jute.NewDecoder(bytes.Clone(body), 0)
	record, err := jute.DecodeRequest(h.Type, d)
	if err != nil {
		c.onRead(query{xid: h.Xid, op: h.Type, code: jute.MarshallingError})
		return true
	}
	o := &op{conn: c, at: c.now}
	o.req = ztree.Request{
		Session: c.session, Cxid: h.Xid, Op: h.Type, Body: record, Auth: c.identities(),
		Owner: ztree.Owner(c.id),
	}
	c.merge()
	c.mu.Lock()
	c.fifo = append(c.fifo, o)
	c.pending.Add(1)
	c.mu.Unlock()
	c.s.outstanding.Add(1)
	c.ops = append(c.ops, o)
	if h.Type != jute.OpCloseSession {
		return true
	}
	// What may come after this is for nobody.
	c.send()
	c.park(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.closing && c.pending.Load() == 0
	})
	return false
}

// onRead answers a read, unless others are to be answered before it.
func (c *conn) onRead(q query) {
	q.auth = c.identities()
	if c.pending.Load() > 0 && c.queue(&q) {
		return
	}
	if q.watching() {
		c.s.watchMu.Lock()
		defer c.s.watchMu.Unlock()
	}
	v := c.s.View()
	if c.mineView != nil && c.mineView != v || len(c.mine) > largeBuf {
		c.merge()
	}
	if c.mine == nil {
		c.mine = takeBuf()
	}
	c.mine = c.s.answer(&c.rd, c.mine, c, &q, v)
	c.mineView, c.mineOp, c.mineXid = v, q.op, q.xid
	c.mineN++
	c.s.metrics.countOp(q.op, 1)
	if q.watching() {
		c.merge() // before the lock goes, that is: before the watch can fire
	}
}

// queue puts a read into the line behind the writes; false: there is none any more.
func (c *conn) queue(q *query) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending.Load() == 0 {
		return false
	}
	q.body = bytes.Clone(q.body)
	c.fifo = append(c.fifo, &op{kind: opQuery, conn: c, q: *q, at: c.now})
	c.pending.Add(1)
	c.s.outstanding.Add(1)
	return true
}

// reply answers out of line what isn't about the tree, behind the reads that are answered.
func (c *conn) reply(xid int32, zxid jute.Zxid, code jute.Code, body []byte) {
	c.merge()
	b := beginReply(takeBuf(), xid, zxid, code)
	b = endFrame(append(b, body...), 0)
	c.mu.Lock()
	c.out = appendOut(c.out, b)
	c.stats.sent++
	c.mu.Unlock()
	c.s.metrics.Sent.Add(1)
	giveBuf(b)
}

// admit waits while the server has too many requests in process and this connection has one of them. What has
// no number of the client's (pings, authentication, watches) is let through.
func (c *conn) admit(h jute.RequestHeader) bool {
	exempt := h.Xid <= 0 && !isWrite(h.Type)
	if c.pending.Load() == 0 || c.s.outstanding.Load() < c.s.opts.outstanding || exempt {
		return c.room4replies()
	}
	c.send()
	c.s.table.throttle(c)
	return c.park(func() bool {
		return c.pending.Load() == 0 || c.s.outstanding.Load() < c.s.opts.outstanding
	}) && c.room4replies()
}

// room4replies waits until the client has taken most of what it was sent: a few bytes can ask for many.
func (c *conn) room4replies() bool {
	c.mu.Lock()
	full := len(c.out)+len(c.mine) > maxUnsent
	c.mu.Unlock()
	if !full {
		return true
	}
	c.send() // and that waits for the client, unless another goroutine does
	return c.park(func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.out) <= maxUnsent || !c.writing
	})
}

// maxUnsent is how much may wait for a client before its next request is looked at.
const maxUnsent = 1 << 20
