package kraft

import "time"

// onBegin hears of a leader: kraft.md 1.13.
func (c *Core) onBegin(in Received, r *BeginRequest) {
	code := c.hearLeader(r.Leader, r.Epoch, r.At)
	if code == None && !c.addressed(r.Voter) {
		code = InvalidVoterKey
	}
	c.reply(in, &BeginResponse{c.status(in, code)})
}

// hearLeader is a leader speaking for itself.
func (c *Core) hearLeader(leader ID, e Epoch, at []Endpoint) Code {
	switch {
	case e < c.epoch:
		return FencedEpoch
	case leader < 0 || leader == c.cfg.Self.ID:
		return InvalidRequest
	}
	c.learn(leader, e, at)
	return None
}

// onEnd hears of a leader's resignation, and how long to wait before standing for election.
func (c *Core) onEnd(in Received, r *EndRequest) {
	code := c.hearLeader(r.Leader, r.Epoch, r.At)
	if code == None && c.role == Follower && c.leader == r.Leader {
		c.fetchAt = c.now.Add(c.successorDelay(r.Successors))
	}
	c.reply(in, &EndResponse{c.status(in, code)})
}

// successorDelay lets the first successor start at once and spaces the others out.
func (c *Core) successorDelay(s []Key) time.Duration {
	p, n, limit := 0, len(s), c.cfg.BackoffMax
	for p < n && !matches(&Voter{ReplicaKey: s[p]}, c.cfg.Self) {
		p++
	}
	switch p {
	case n:
		return limit
	case 0:
		return 0
	}
	return min(limit, (limit>>min(n-1, 62))<<min(p-1, 32))
}

func (c *Core) sendEnd() {
	for i := range c.voters() {
		v := &c.voters()[i]
		if v.ID == c.cfg.Self.ID || c.ended[v.ID] {
			continue
		}
		c.sendToVoter(v, &EndRequest{
			Leader: c.cfg.Self.ID, Epoch: c.epoch, Successors: c.successors, At: c.cfg.Endpoints,
		})
	}
}

func (c *Core) onEndResponse(p *peer, r *EndResponse) {
	if c.usable(p, r) && c.role == Resigned {
		c.ended[p.id] = true
	}
}
