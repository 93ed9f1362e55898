package kraft

// onVote answers a candidate: kraft.md 1.8.
func (c *Core) onVote(in Received, r *VoteRequest) {
	code := c.checkVote(r)
	if code != None {
		c.reply(in, &VoteResponse{Status: c.status(in, code)})
		return
	}
	if r.Epoch > c.epoch {
		c.becomeUnattached(r.Epoch, NoID, "a vote was asked for")
	}
	if !c.addressed(r.Voter) {
		c.reply(in, &VoteResponse{Status: c.status(in, InvalidVoterKey)})
		return
	}
	granted := c.grants(r)
	if granted && !r.Pre {
		c.voted = r.Candidate
		c.electionAt = c.randomElection()
	}
	c.reply(in, &VoteResponse{Status: c.status(in, None), Granted: granted})
}

// addressed says that a request for the voter k is for this node. Older versions don't say whom they mean.
func (c *Core) addressed(k Key) bool {
	return (k.ID == NoID || k.ID == c.cfg.Self.ID) && (k.Dir == [16]byte{} || k.Dir == c.cfg.Self.Dir)
}

func (c *Core) checkVote(r *VoteRequest) Code {
	switch {
	case r.End < 0 || r.LastEpoch < 0 || r.LastEpoch > r.Epoch || r.LastEpoch == r.Epoch && !r.Pre:
		return InvalidRequest
	case r.Epoch < c.epoch:
		return FencedEpoch
	case r.Candidate.ID < 0:
		return InvalidRequest
	}
	return None
}

func (c *Core) grants(r *VoteRequest) bool {
	last := c.log.lastEpoch()
	logOK := r.LastEpoch > last || r.LastEpoch == last && r.End >= c.log.End
	switch {
	case c.role == Leader:
		return false
	case r.Pre:
		// A follower that hears its leader protects it from a candidate that doesn't (KIP-996).
		return logOK && !(c.role == Follower && c.heard)
	case c.role != Unattached && c.role != Prospective:
		return false
	case c.voted.ID != NoID && c.cfg.Canary != CanaryForgetVote:
		return matches(&Voter{ReplicaKey: c.voted}, r.Candidate)
	}
	return c.leader == NoID && logOK
}

func (c *Core) askForVotes(pre bool) {
	for i := range c.voters() {
		v := &c.voters()[i]
		if _, answered := c.votes[v.ID]; answered {
			continue
		}
		c.sendToVoter(v, &VoteRequest{
			Candidate: c.cfg.Self, Voter: v.ReplicaKey, Epoch: c.epoch, LastEpoch: c.log.lastEpoch(),
			End: c.log.End, Pre: pre,
		})
	}
}

func (c *Core) onVoteResponse(p *peer, r *VoteResponse) {
	if c.usable(p, r) && c.votes != nil {
		c.votes[p.id] = r.Granted
	}
}
