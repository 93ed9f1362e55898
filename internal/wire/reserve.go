package wire

// What a request costs beyond its frame. Both are taken before they are spent, and only when memory isn't
// plenty or the amount isn't small, so that the common request pays nothing.
const (
	smallReply   = 64 << 10 // a reply up to this counts for nothing
	smallBody    = 16 << 10 // so does a body
	decodeFactor = 64       // how much larger structures are than the bytes they were decoded from
)

// wordy tells the APIs whose replies may be long: they are not served while memory is short.
func wordy(key int16) bool {
	switch key {
	case 1, 3, 9, 15, 16, 29, 32, 35, 48, 50, 59, 61, 64, 69, 71, 74, 75, 77, 89, 90:
		return true
	}
	return false
}

// note learns from a reply of n bytes how long those to come may be: at once when it is longer, slowly when
// it is shorter.
func (s *Server) note(key int16, n int) {
	t := &s.typical[key]
	was := t.Load()
	switch {
	case int64(n) > was:
		t.Store(int64(n))
	case was > smallReply:
		t.Store(was - (was-int64(n))/8)
	}
}

// reserve takes memory for the reply of a wordy API, as much as they took of late. False: there isn't enough,
// or the connection died while it waited for it.
func (c *Conn) reserve(key int16, wait bool) bool {
	if c.reply > 0 || c.table.vital || !wordy(key) {
		return true
	}
	m := &c.srv.mem
	n := int(c.srv.typical[key].Load())
	if n <= smallReply && m.replies.Load() < m.limit/4 {
		return true // nor does it wait behind those who send much
	}
	n = max(n, smallReply)
	if wait && !m.take(c, n) || !wait && !m.try(n) {
		return false
	}
	c.reply = n
	m.replies.Add(int64(n))
	return true
}

// charge counts the reply that is about to be sent. Whoever takes long to read it is closed while memory is
// short.
func (c *Conn) charge(n int) {
	if n <= smallReply {
		return
	}
	if n > c.reply {
		c.srv.mem.force(n - c.reply)
		c.srv.mem.replies.Add(int64(n - c.reply))
		c.reply = n
	}
	c.owing.Store(true)
}

// repay ends reserve and charge.
func (c *Conn) repay() {
	if c.reply > 0 {
		c.owing.Store(false)
		c.srv.mem.replies.Add(-int64(c.reply))
		c.srv.mem.give(c.reply)
		c.reply = 0
	}
}

// lend takes memory for what a body becomes when it is decoded. False: the connection died while it waited.
func (c *Conn) lend(body int) bool {
	n := body * decodeFactor
	if body <= smallBody {
		return true
	}
	if !c.srv.mem.take(c, n) {
		return false
	}
	c.lent += n
	return true
}

// returned ends lend.
func (c *Conn) returned() {
	if c.lent > 0 {
		c.srv.mem.give(c.lent)
		c.lent = 0
	}
}
