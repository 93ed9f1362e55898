package kraft

// onFetchResponse follows the leader: truncate, turn to a snapshot, or append.
func (c *Core) onFetchResponse(p *peer, r *FetchResponse) {
	if !c.usable(p, r) || c.role != Follower {
		return
	}
	switch {
	case r.Diverging != nil:
		c.cut(*r.Diverging)
	case r.Snapshot != nil:
		if r.Snapshot.Offset < 0 || r.Snapshot.Epoch < 0 {
			c.backOff(p)
			return
		}
		c.startDownload(*r.Snapshot)
	default:
		c.take(p, r)
	}
	c.fetchAt = c.now.Add(c.cfg.FetchTimeout)
	c.heard = true
}

// cut truncates to where the log agrees with the leader's.
func (c *Core) cut(end EpochEnd) {
	to := c.log.reconcile(end)
	if end.End < c.hw || to < c.hw {
		c.fatal("the leader's log ends epoch %d at %d, below the high watermark %d", end.Epoch, end.End, c.hw)
		return
	}
	c.note("truncating the log from %d to %d: epoch %d ends at %d", c.log.End, to, end.Epoch, end.End)
	c.log.truncate(to)
	c.history.truncate(to)
	c.synced = min(c.synced, c.log.End)
	c.out.Disk = append(c.out.Disk, Truncate{to})
}

// take appends the batches that continue the log. What doesn't, and everything behind it, is left for the
// next fetch: a slow answer may be raced by a new leader's (KAFKA-18723, KAFKA-18838).
func (c *Core) take(p *peer, r *FetchResponse) {
	for i := range r.Batches {
		b := &r.Batches[i]
		if b.Base != c.log.End || b.Last < b.Base || b.Epoch > c.epoch || b.Epoch < c.log.lastEpoch() {
			r.Bad = true
			break
		}
		c.log.append(b)
		c.history.add(b.Control)
		c.out.Disk = append(c.out.Disk, Append{*b})
	}
	if r.Bad {
		c.note("unusable records from node %d at offset %d", p.id, c.log.End)
		c.backOff(p)
	}
	if r.HighWatermark != NoOffset {
		c.hw = max(c.hw, min(c.log.End, r.HighWatermark))
	}
}
