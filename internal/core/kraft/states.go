package kraft

import (
	"fmt"
	"slices"
	"time"
)

// moves is the table of allowed moves, a bit per target. Unattached to Unattached, and Follower to Follower,
// change the epoch or what is known of the leader. Follower and Unattached alone are open to observers. Only
// Prospective leads to Candidate, except at start-up, when a node goes on with an election that its own
// durable vote began.
var moves = [roles]uint8{
	Unattached:  1<<Unattached | 1<<Prospective | 1<<Follower,
	Prospective: 1<<Unattached | 1<<Candidate | 1<<Follower,
	Candidate:   1<<Unattached | 1<<Prospective | 1<<Leader | 1<<Follower,
	Leader:      1<<Resigned | 1<<Unattached | 1<<Follower,
	Follower:    1<<Unattached | 1<<Prospective | 1<<Follower,
	Resigned:    1<<Unattached | 1<<Follower,
}

// move changes the state and forgets what belonged to the old one. Requests in flight are forgotten too, so
// that a late answer to a pre-vote is never counted as a vote.
func (c *Core) move(to Role, why string) {
	if moves[c.role]&(1<<to) == 0 {
		panic(fmt.Sprintf("kraft: move from %v to %v", c.role, to))
	}
	if c.lead != nil {
		c.failParked()
	}
	c.note("%v to %v in epoch %d: %s", c.role, to, c.epoch, why)
	c.role, c.lead, c.votes, c.ended, c.successors, c.heard = to, nil, nil, nil, nil, false
	c.fetching = 0
	c.peers = map[ID]*peer{}
	c.dropDownload()
}

func (c *Core) randomElection() time.Time {
	t := int64(c.cfg.ElectionTimeout)
	return c.now.Add(time.Duration(t + c.rng.Int64N(t)))
}

// enterEpoch is for a larger epoch: votes and leaders of the old one don't count in it.
func (c *Core) enterEpoch(e Epoch) {
	c.epoch, c.leader, c.at, c.voted = e, NoID, nil, Key{ID: NoID}
}

// becomeUnattached waits for a leader, of which at most the id is known. The election timer goes on where one
// was running, so that a peer that bumps epochs can't keep this node from standing for election.
func (c *Core) becomeUnattached(e Epoch, leader ID, why string) {
	running := c.role != Follower && c.role != Leader && !c.electionAt.IsZero()
	if e > c.epoch {
		c.enterEpoch(e)
	}
	if leader != NoID {
		c.leader, c.at = leader, nil
	}
	c.move(Unattached, why)
	if !running {
		c.electionAt = c.randomElection()
	}
}

func (c *Core) becomeFollower(e Epoch, leader ID, at []Endpoint, why string) {
	heard := c.heard && e == c.epoch && c.leader == leader
	if e > c.epoch {
		c.enterEpoch(e)
	}
	c.leader, c.at = leader, at
	c.move(Follower, why)
	c.heard = heard
	c.fetchAt = c.now.Add(c.cfg.FetchTimeout)
	c.electionAt = time.Time{}
}

// becomeProspective asks for pre-votes. Epoch, vote and leader stay: losing any would allow a second vote
// after a crash.
func (c *Core) becomeProspective(why string) {
	c.move(Prospective, why)
	c.votes = map[ID]bool{c.cfg.Self.ID: true}
	c.electionAt = c.randomElection()
}

func (c *Core) becomeCandidate() {
	c.enterEpoch(c.epoch + 1)
	c.voted = c.cfg.Self
	c.move(Candidate, "pre-votes suffice")
	c.votes = map[ID]bool{c.cfg.Self.ID: true}
	c.electionAt = c.randomElection()
}

func (c *Core) becomeResigned(why string) {
	successors := c.rankedVoters()
	c.move(Resigned, why)
	c.ended = map[ID]bool{}
	c.successors = successors
	c.electionAt = c.randomElection()
}

// learn is what any message's claim of an epoch and a leader means: kraft.md 1.5, 1.15.
func (c *Core) learn(leader ID, e Epoch, at []Endpoint) {
	if e < c.epoch {
		return
	}
	if leader != NoID && len(at) == 0 {
		at = c.endpointsOf(leader)
	}
	if leader == c.cfg.Self.ID {
		at = nil // not that we knew: the quorum-state file is lost, or somebody errs
	}
	switch {
	case e > c.epoch && len(at) > 0:
		c.becomeFollower(e, leader, at, fmt.Sprintf("%d leads", leader))
	case e > c.epoch:
		c.becomeUnattached(e, leader, "a larger epoch")
	case leader == NoID:
	case c.leader != NoID && c.leader != leader:
		c.fatal("both %d and %d lead it", c.leader, leader)
	case leader == c.cfg.Self.ID:
	case len(at) > 0 && (c.leader == NoID || c.role == Unattached || len(at) > len(c.at)) && c.role != Resigned:
		c.becomeFollower(e, leader, at, fmt.Sprintf("%d leads", leader))
	case c.leader == NoID:
		c.becomeUnattached(e, leader, "a leader without an address")
	}
}

func (c *Core) pollUnattached() {
	if c.isVoter() && !c.stopped && !c.now.Before(c.electionAt) {
		c.becomeProspective("no leader was heard of")
		return
	}
	c.fetchFromAnybody()
}

func (c *Core) pollProspective() {
	granted, lost := c.tally()
	switch {
	case granted:
		c.becomeCandidate()
	case lost || !c.now.Before(c.electionAt):
		if lost {
			c.electionAt = time.Time{} // the others are right to reject us: wait anew
		}
		if c.leader != NoID && c.leader != c.cfg.Self.ID && len(c.at) > 0 {
			c.becomeFollower(c.epoch, c.leader, c.at, "not elected, back to the known leader")
		} else {
			c.becomeUnattached(c.epoch, NoID, "not elected")
		}
	default:
		c.askForVotes(true)
	}
}

func (c *Core) pollCandidate() {
	granted, _ := c.tally()
	switch {
	case granted:
		c.becomeLeader()
	case !c.now.Before(c.electionAt):
		c.becomeProspective("the election brought no leader")
	default:
		c.askForVotes(false)
	}
}

func (c *Core) pollFollower() {
	if c.now.Before(c.fetchAt) {
		c.fetchFromLeader()
		return
	}
	if c.isVoter() && !c.stopped {
		c.becomeProspective("the leader is silent")
		return
	}
	c.dropDownload()
	c.fetchFromAnybody()
}

func (c *Core) pollResigned() {
	if !c.stopped && !c.now.Before(c.electionAt) {
		c.becomeUnattached(c.epoch+1, NoID, "resigned long enough")
		return
	}
	c.sendEnd()
}

// tally counts votes: who wins has more than half of the voters, who has lost can't get there any more.
func (c *Core) tally() (won, lost bool) {
	grants, rejects := 0, 0
	voters := c.voters()
	for _, v := range voters {
		if granted, ok := c.votes[v.ID]; ok && granted {
			grants++
		} else if ok {
			rejects++
		}
	}
	return grants > len(voters)/2, rejects >= len(voters)-len(voters)/2
}

// rankedVoters are the other voters, those with the longest log first.
func (c *Core) rankedVoters() []Key {
	var keys []Key
	for _, v := range c.voters() {
		if v.ID != c.cfg.Self.ID {
			keys = append(keys, v.ReplicaKey)
		}
	}
	slices.SortStableFunc(keys, func(a, b Key) int {
		return int(c.lead.replica(b.ID).end - c.lead.replica(a.ID).end)
	})
	return keys
}
