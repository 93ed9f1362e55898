package txn

import "github.com/kalda/kalda/internal/format/record"

// onTimeouts aborts the transactions that take too long, and fences whoever still works on them (broker.md
// 7.6).
func (c *Core) onTimeouts() {
	now := c.now.UnixMilli()
	var late []string
	c.ongoing.Scan(func(id string) bool {
		if s := c.get(id); now-s.start > int64(s.timeout) {
			late = append(late, id)
		}
		return true
	})
	for _, id := range late {
		n := c.planFence(c.get(id))
		c.change(id, n)
		c.send(id, n)
	}
}

// onExpiry forgets the transactional ids that nobody used for long.
func (c *Core) onExpiry() {
	now, keep := c.now.UnixMilli(), c.cfg.Expiration.Milliseconds()
	var old []string
	c.ids.Scan(func(id string, s *state) bool {
		_, wanted := c.parked[id]
		idle := s.status == record.TxnEmpty || s.completed()
		if idle && !wanted && now-s.updated >= keep {
			old = append(old, id)
		}
		return true
	})
	for _, id := range old {
		c.change(id, nil)
	}
}
