package ensemble

import (
	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/format/jute"
)

// chunk is how many transactions are applied between two Views: who wants to set a watch waits no longer
// than for that.
const chunk = 64

// apply does what a committed batch says, and answers it.
func (h *head) apply(b *batch) {
	for from := 0; from < len(b.ops); from += chunk {
		ops := b.ops[from:min(from+chunk, len(b.ops))]
		h.now = h.s.clock.now()
		h.s.watchMu.Lock()
		for _, o := range ops {
			h.applyOne(o)
		}
		h.planner.Applied(ops[len(ops)-1].txn.Header.Zxid)
		h.s.view.Store(h.tree.View())
		h.s.watchMu.Unlock()
		h.s.outstanding.Add(-int64(len(ops)))
		h.release()
	}
	h.s.metrics.Commits.Add(int64(len(b.ops)))
	h.s.table.unthrottle(h.s)
	if b.roll {
		h.s.snaps.begin(h.s.View())
	}
	if b.reset(); h.spare == nil {
		h.spare = b
	}
}

// applyOne changes the tree and stages what that has to say to whom.
func (h *head) applyOne(o *op) {
	r := h.tree.Apply(o.txn)
	zxid := r.Header.Zxid
	h.s.compare(h.tree, o.txn)
	if h.s.opts.digest {
		h.digests.note(zxid, h.tree)
	}
	for i := range r.Changes {
		for _, n := range h.s.watches.Trigger(zxid, &r.Changes[i]) {
			h.notify(&n)
		}
	}
	if r.Header.Type == jute.OpCloseSession {
		h.closed(r.Header.ClientID, o.conn)
	}
	if o.conn != nil {
		h.answer(o, r)
	}
}

// closed forgets a session, and disconnects who serves it, if that isn't who asked.
func (h *head) closed(id jute.SessionID, asked *conn) {
	h.sessions.Remove(id)
	if c := h.owners[id]; c != nil && c != asked {
		h.ended = append(h.ended, c)
	}
	delete(h.owners, id)
}

// notify stages a notification for all that may read what it is about.
func (h *head) notify(n *ztree.Notice) {
	h.frame = beginReply(h.frame[:0], jute.XidNotification, n.Zxid, jute.OK)
	h.frame = endFrame(n.Event.Append(h.frame), 0)
	t := &h.s.table
	t.mu.RLock()
	h.told = h.told[:0]
	for _, id := range n.Watchers {
		if c := t.byID[int64(id)]; c != nil {
			h.told = append(h.told, c)
		}
	}
	t.mu.RUnlock()
	view := h.s.View()
	for _, c := range h.told {
		if !view.Permits(n.ACL, jute.PermRead, c.identities()) {
			continue
		}
		c.mu.Lock()
		if h.stage(c, n.Zxid) {
			c.next = append(c.next, h.frame...)
			c.stats.sent++
			h.s.metrics.Sent.Add(1)
		}
		c.mu.Unlock()
	}
	h.s.metrics.notified(n.Event.Type, int64(len(h.told)))
	clear(h.told)
}

func (m *Metrics) notified(e jute.EventType, n int64) {
	switch e {
	case jute.EventNodeCreated:
		m.NodesCreated.Add(n)
	case jute.EventNodeDeleted:
		m.NodesDeleted.Add(n)
	case jute.EventNodeDataChanged:
		m.NodesChanged.Add(n)
	case jute.EventNodeChildrenChanged:
		m.ChildrenChanged.Add(n)
	}
}

// stage prepares c.next for something about a transaction; false: nobody is there any more. The caller holds
// c.mu.
func (h *head) stage(c *conn, zxid jute.Zxid) bool {
	if c.dead.Load() {
		return false
	}
	if !c.touched {
		c.touched, c.nextZxid = true, zxid
		h.touched = append(h.touched, c)
	}
	if c.next == nil {
		c.next = takeBuf()
	}
	return true
}

// answer stages the reply to a request, and those to the reads that waited behind it.
func (h *head) answer(o *op, r *ztree.Result) {
	c := o.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if !h.stage(c, r.Header.Zxid) {
		return
	}
	now := h.now
	c.pop()
	c.popped++
	h.s.metrics.UpdateLatency.Observe(now - o.at)
	switch {
	case o.req.Op == jute.OpCreateSession:
		c.next = c.connected(c.next, o.req.Session, o.req.Body.(*jute.CreateSessionTxn).Timeout)
	case r.Moved():
		h.ended = append(h.ended, c)
		return
	default:
		at := len(c.next)
		c.next = beginReply(c.next, o.req.Cxid, r.Header.Zxid, r.Code)
		c.next = endFrame(r.Response(c.next), at)
	}
	c.answered(o.req.Op, o.req.Cxid, r.Header.Zxid, now-o.at)
	if o.req.Op == jute.OpCloseSession {
		c.closing = true
		return
	}
	for len(c.fifo) > 0 && c.fifo[0].kind == opQuery && len(c.next) <= h.s.opts.maxOut {
		q := c.pop()
		c.popped++
		c.next = h.s.answer(&h.rd, c.next, c, &q.q, h.tree.Peek())
		c.answered(q.q.op, q.q.xid, h.tree.Zxid(), now-q.at)
	}
}

// release sends what is staged, now that the View has it.
func (h *head) release() {
	for i, c := range h.touched {
		h.free(c)
		h.touched[i] = nil
	}
	h.touched = h.touched[:0]
	for i, c := range h.ended {
		c.kill()
		h.ended[i] = nil
	}
	h.ended = h.ended[:0]
}

func (h *head) free(c *conn) {
	c.mu.Lock()
	c.touched = false
	c.moveNext()
	// What came after the staging found a write unreleased, and waits.
	for len(c.fifo) > 0 && c.fifo[0].kind == opQuery && !c.closing && len(c.out) <= h.s.opts.maxOut {
		q := c.pop()
		c.popped++
		c.mu.Unlock()
		h.late(c, q)
		c.mu.Lock()
	}
	waits := c.pending.Add(int32(-c.popped)) // under the lock: whoever queues looks at it there
	c.popped = 0
	closing := c.closing
	tooMuch := len(c.out) > h.s.opts.maxOut
	c.mu.Unlock()
	if tooMuch {
		h.s.log.Warn("closing connection: it doesn't read what it gets", "remote", c.remote,
			"session", c.session, "waiting", h.s.opts.maxOut)
		c.kill()
		return
	}
	c.flush(false)
	if waits == 0 || closing {
		c.signal()
	}
}

// late answers a read that joined its line while the write before it was being released.
func (h *head) late(c *conn, o *op) {
	s := h.s
	locked := o.q.watching()
	if locked {
		s.watchMu.Lock()
		defer s.watchMu.Unlock()
	}
	buf := s.answer(&h.rd, takeBuf(), c, &o.q, s.View())
	c.mu.Lock()
	c.out = appendOut(c.out, buf)
	c.answered(o.q.op, o.q.xid, s.View().Zxid(), s.clock.now()-o.at)
	c.mu.Unlock()
	giveBuf(buf)
}
