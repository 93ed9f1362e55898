package kraft

import (
	"slices"
	"time"
)

// maxFetchBytes caps what one response carries.
const maxFetchBytes = 8 << 20

// maxParked caps the fetches that wait; beyond it they are answered empty at once.
const maxParked = 4096

// parkedFetch waits for records, a larger high watermark, or the end of its patience.
type parkedFetch struct {
	in    Received
	req   *FetchRequest
	until time.Time
}

// onFetch serves the log to a replica: kraft.md 1.11.
func (c *Core) onFetch(in Received, r *FetchRequest) {
	if code := c.checkFetch(r); code != None {
		c.reply(in, &FetchResponse{Status: c.status(in, code), HighWatermark: NoOffset, LogStart: NoOffset})
		return
	}
	diverging, snapshot := c.log.position(r.Offset, r.LastEpoch)
	if diverging == nil && snapshot == nil && r.From.ID != NoID {
		c.progress(r.From, r.Offset)
		c.sign(r.From)
		c.commit()
	}
	wait := diverging == nil && snapshot == nil && r.MaxWait > 0 && !c.news(r)
	if wait && len(c.lead.parked) < maxParked {
		c.lead.parked = append(c.lead.parked, parkedFetch{in, r, c.now.Add(r.MaxWait)})
		return
	}
	c.answerFetch(in, r)
}

func (c *Core) checkFetch(r *FetchRequest) Code {
	switch {
	case r.MaxWait < 0 || r.Offset < 0 || r.LastEpoch < 0 || r.LastEpoch > r.Epoch && r.From.ID != NoID:
		return InvalidRequest
	case r.From.ID == c.cfg.Self.ID:
		return InvalidRequest
	}
	return c.checkLeader(r.Epoch)
}

// checkLeader is for requests that only this epoch's leader serves.
func (c *Core) checkLeader(e Epoch) Code {
	switch {
	case e < c.epoch:
		return FencedEpoch
	case e > c.epoch:
		return UnknownEpoch
	case c.role != Leader:
		return NotLeader
	}
	return None
}

// news says that there is something to tell: records, or a high watermark that the follower doesn't have.
func (c *Core) news(r *FetchRequest) bool {
	return c.log.End > r.Offset || r.HighWatermark != NoHighWatermark && c.reportedHW() > r.HighWatermark
}

func (c *Core) answerFetch(in Received, r *FetchRequest) {
	diverging, snapshot := c.log.position(r.Offset, r.LastEpoch)
	resp := &FetchResponse{
		Status: c.status(in, None), HighWatermark: c.reportedHW(), LogStart: c.log.Start,
		Diverging: diverging, Snapshot: snapshot,
	}
	if diverging == nil && snapshot == nil && c.log.End > r.Offset {
		resp.Read, resp.ReadFrom, resp.MaxBytes = true, r.Offset, maxFetchBytes
		if r.MaxBytes > 0 {
			resp.MaxBytes = min(r.MaxBytes, maxFetchBytes)
		}
	}
	c.reply(in, resp)
}

// unpark answers those that waited long enough or for something that is there now.
func (c *Core) unpark() {
	c.lead.parked = slices.DeleteFunc(c.lead.parked, func(p parkedFetch) bool {
		if !c.news(p.req) && c.now.Before(p.until) {
			return false
		}
		c.answerFetch(p.in, p.req)
		return true
	})
}

// failParked is for a leader that stops leading; c.epoch may be the next one already.
func (c *Core) failParked() {
	for _, p := range c.lead.parked {
		c.reply(p.in, &FetchResponse{
			Status: c.status(p.in, NotLeader), HighWatermark: NoOffset, LogStart: NoOffset,
		})
	}
	c.lead.parked = nil
}

// fetchFromLeader asks the leader for more, or anybody while the leader doesn't answer. Not before everything
// that came is on disk: a fetch acknowledges what precedes it.
func (c *Core) fetchFromLeader() {
	if !c.mayFetch() {
		return
	}
	if c.download != nil {
		c.fetchSnapshot()
		return
	}
	at, ok := endpointOf(c.at, c.cfg.Listener)
	if !ok && len(c.at) > 0 {
		at, ok = c.at[0], true
	}
	if ok && c.ready(c.leader) {
		c.sendFetch(c.leader, at)
		return
	}
	c.fetchFromAnybody()
}

func (c *Core) mayFetch() bool {
	return c.fetching == 0 && (c.synced >= c.log.End || c.cfg.Canary == CanaryEarlyFetch) && !c.installing()
}

// fetchFromAnybody asks a bootstrap server, or another voter when none is configured: whoever isn't the
// leader says who is.
func (c *Core) fetchFromAnybody() {
	if !c.mayFetch() || c.download != nil {
		return
	}
	if n := len(c.cfg.Bootstrap); n > 0 {
		for range n {
			i := c.bootNext % n
			c.bootNext++
			if at := c.cfg.Bootstrap[i]; !c.isOwn(at) && c.ready(NoID-1-ID(i)) {
				c.sendFetch(NoID-1-ID(i), at)
				return
			}
		}
		return
	}
	voters := c.voters()
	for range voters {
		v := &voters[c.bootNext%len(voters)]
		c.bootNext++
		at, ok := endpointOf(v.Endpoints, c.cfg.Listener)
		if ok && v.ID != c.cfg.Self.ID && c.ready(v.ID) {
			c.sendFetch(v.ID, at)
			return
		}
	}
}

func (c *Core) isOwn(at Endpoint) bool {
	return slices.ContainsFunc(c.cfg.Endpoints, func(e Endpoint) bool {
		return e.Host == at.Host && e.Port == at.Port
	})
}

func (c *Core) sendFetch(to ID, at Endpoint) {
	sent := c.send(to, at, &FetchRequest{
		From: c.cfg.Self, Epoch: c.epoch, Offset: c.log.End, LastEpoch: c.log.lastEpoch(), HighWatermark: c.hw,
		MaxWait: c.cfg.FetchWait, MaxBytes: c.cfg.FetchMaxBytes,
	})
	if sent {
		c.fetching = c.lastTag
	}
}
