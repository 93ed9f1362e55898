package kraft

import "time"

// peer is the requests to one node: one at a time, then, after a failure, none for a while. Forgotten at
// every move.
type peer struct {
	id    ID
	tag   uint64    // in flight; 0: none
	until time.Time // in flight: when to give up; else: when the next may leave
}

func (c *Core) peerByTag(tag uint64) *peer {
	for _, p := range c.peers {
		if p.tag == tag && tag != 0 {
			return p
		}
	}
	return nil
}

func (c *Core) ready(id ID) bool {
	p := c.peers[id]
	return p == nil || p.tag == 0 && !c.now.Before(p.until)
}

// send is false when the node isn't ready.
func (c *Core) send(id ID, at Endpoint, body Request) bool {
	if !c.ready(id) {
		return false
	}
	p := c.peers[id]
	if p == nil {
		p = &peer{id: id}
		c.peers[id] = p
	}
	c.lastTag++
	p.tag, p.until = c.lastTag, c.now.Add(c.cfg.RequestTimeout)
	c.out.Sends = append(c.out.Sends, Send{Tag: p.tag, To: id, At: at, Body: body})
	return true
}

// sendToVoter asks a voter at its default listener.
func (c *Core) sendToVoter(v *Voter, body Request) bool {
	at, ok := endpointOf(v.Endpoints, c.cfg.Listener)
	return ok && c.send(v.ID, at, body)
}

func (c *Core) giveUp(p *peer) {
	if p.tag == c.fetching {
		c.fetching = 0
	}
	c.backOff(p)
}

func (c *Core) backOff(p *peer) {
	p.tag, p.until = 0, c.now.Add(c.cfg.RetryBackoff)
}

func (c *Core) expireRequests() {
	for _, p := range c.peers {
		if p.tag != 0 && !c.now.Before(p.until) {
			c.giveUp(p)
		}
	}
}

// usable applies what every response means and says whether its own content counts: kraft.md 1.15.
func (c *Core) usable(p *peer, r Response) bool {
	s := r.status()
	p.until = time.Time{}
	role, epoch := c.role, c.epoch
	if s.Top != None {
		if s.Top == ClusterAuthFailed {
			c.fatal("not authorized to take part in the cluster")
		}
		c.backOff(p)
		return false
	}
	switch {
	case s.Epoch < c.epoch || s.Error == UnknownEpoch:
	case s.Epoch > c.epoch || s.Error == FencedEpoch || s.Error == NotLeader:
		c.learn(s.Leader, s.Epoch, s.At)
	default:
		if s.Leader != NoID {
			c.learn(s.Leader, s.Epoch, s.At)
		}
		if s.Error == None {
			return c.out.Fatal == nil
		}
	}
	if s.Error != None && s.Error != InvalidVoterKey && role == c.role && epoch == c.epoch {
		// The answer changed nothing: asking again at once would only spin.
		c.backOff(p)
	}
	return false
}
