package kraft

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Core is one replica of the quorum. Not safe for concurrent use.
type Core struct {
	cfg     Config
	rng     *rand.Rand
	log     Log
	synced  Offset // the log is durable below
	history voterHistory
	hw      Offset // NoOffset until one is known; never falls

	role    Role
	epoch   Epoch
	leader  ID // NoID: not known
	at      []Endpoint
	voted   Key
	saved   Election // what was last handed out to be made durable
	stopped bool     // Shutdown was asked for

	now        time.Time
	electionAt time.Time // Unattached, Prospective, Candidate, Resigned; zero: never
	fetchAt    time.Time // Follower
	heard      bool      // Follower: a fetch from this epoch's leader has succeeded
	votes      map[ID]bool
	lead       *leadership // Leader
	ended      map[ID]bool // Resigned: voters that know
	successors []Key       // Resigned

	peers    map[ID]*peer
	lastTag  uint64
	fetching uint64 // tag of the Fetch or FetchSnapshot in flight, 0: none
	download *download
	bootNext int // the bootstrap server that is tried next

	out Effects
}

// New is a replica that starts with what the disk held. Its first Drain hands out the election even when
// nothing changed, so that the file exists from then on.
func New(cfg Config, disk Loaded, now time.Time) (*Core, error) {
	c := &Core{
		cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, uint64(uint32(cfg.Self.ID)))), log: disk.Log,
		synced:  disk.Log.End,
		history: voterHistory{static: cfg.Static}, hw: NoOffset, now: now, peers: map[ID]*peer{},
		voted: Key{ID: NoID}, leader: NoID, saved: Election{Epoch: -1},
	}
	c.history.add(disk.Control)
	if s, ok := c.log.latest(); ok {
		c.hw = s.Offset
	}
	if v := c.voterIDs(); len(v) == 0 && len(cfg.Bootstrap) == 0 {
		return nil, fmt.Errorf("no voters: neither static ones, nor in the log, nor servers to ask")
	}
	c.bootNext = c.rng.IntN(1 << 16)
	c.start(disk.Election)
	return c, nil
}

// start picks the first state: kraft.md 1.6.
func (c *Core) start(e Election) {
	c.epoch, c.leader, c.voted = e.Epoch, e.Leader, e.Voted
	if last := c.log.lastEpoch(); last > c.epoch {
		c.epoch, c.leader, c.voted = last, NoID, Key{ID: NoID}
	}
	c.role = Unattached
	c.electionAt = c.randomElection()
	ends := c.endpointsOf(c.leader)
	switch {
	case !c.isVoter():
		if len(ends) > 0 && c.leader != c.cfg.Self.ID {
			c.role, c.at, c.fetchAt = Follower, ends, c.now.Add(c.cfg.FetchTimeout)
		}
	case len(c.voters()) == 1:
		// Nobody else can hold a vote or a longer log, so there is nothing to wait for.
		c.electionAt = c.now
	case c.leader == c.cfg.Self.ID:
		// The old leadership can't go on (KAFKA-10527): the tail of the log may not be what it acknowledged.
		c.role, c.ended = Resigned, map[ID]bool{}
	case c.leader == NoID && c.voted.ID == c.cfg.Self.ID && matches(&Voter{ReplicaKey: c.voted}, c.cfg.Self):
		c.role, c.votes = Candidate, map[ID]bool{c.cfg.Self.ID: true}
	case len(ends) > 0:
		c.role, c.at, c.fetchAt = Follower, ends, c.now.Add(c.cfg.FetchTimeout)
	}
}

// Step takes one input, nil for the passage of time alone.
func (c *Core) Step(now time.Time, in Input) {
	c.now = now
	if c.out.Fatal != nil {
		return
	}
	switch in := in.(type) {
	case nil:
	case Received:
		c.onRequest(in)
	case Answered:
		c.onAnswer(in)
	case Failed:
		c.onFailure(in)
	case Synced:
		c.synced = max(c.synced, min(in.End, c.log.End))
	case Installed:
		c.onInstalled(in)
	case Taken:
		c.log.addSnapshot(in.ID)
	case Trimmed:
		c.log.trim(in.Start)
		c.history.trim(in.Start)
	case Resign:
		if c.role == Leader && c.epoch == in.Epoch {
			c.becomeResigned("asked to")
		}
	case Shutdown:
		c.stopped = true
		if c.role == Leader {
			c.becomeResigned("shutting down")
		}
	}
	c.poll()
}

func (c *Core) onRequest(in Received) {
	switch r := in.Body.(type) {
	case *VoteRequest:
		c.onVote(in, r)
	case *BeginRequest:
		c.onBegin(in, r)
	case *EndRequest:
		c.onEnd(in, r)
	case *FetchRequest:
		c.onFetch(in, r)
	case *SnapshotRequest:
		c.onFetchSnapshot(in, r)
	case DescribeRequest:
		c.onDescribe(in)
	}
}

func (c *Core) onAnswer(in Answered) {
	p := c.peerByTag(in.Tag)
	if p == nil {
		return // of an earlier state, or given up
	}
	p.tag = 0
	if c.fetching == in.Tag {
		c.fetching = 0
	}
	switch r := in.Body.(type) {
	case *VoteResponse:
		c.onVoteResponse(p, r)
	case *BeginResponse:
		c.usable(p, r)
	case *EndResponse:
		c.onEndResponse(p, r)
	case *FetchResponse:
		c.onFetchResponse(p, r)
	case *SnapshotResponse:
		c.onSnapshotResponse(p, r)
	}
}

func (c *Core) onFailure(in Failed) {
	p := c.peerByTag(in.Tag)
	if p == nil {
		return
	}
	if in.Unsupported && c.role == Prospective {
		// A peer that can't be asked for a pre-vote: only real votes get an election through a half-upgraded
		// quorum.
		c.becomeCandidate()
		return
	}
	c.giveUp(p)
}

// poll does what the time, or what was just learned, calls for. A sole voter goes from Unattached to Leader
// in one call.
func (c *Core) poll() {
	c.expireRequests()
	for range roles {
		role, epoch := c.role, c.epoch
		switch c.role {
		case Unattached:
			c.pollUnattached()
		case Prospective:
			c.pollProspective()
		case Candidate:
			c.pollCandidate()
		case Leader:
			c.pollLeader()
		case Follower:
			c.pollFollower()
		case Resigned:
			c.pollResigned()
		case roles: // how many there are
		}
		if role == c.role && epoch == c.epoch || c.out.Fatal != nil {
			break
		}
	}
}

// Drain hands out what has to be done, see Effects. Call it until it is empty.
func (c *Core) Drain() Effects {
	if c.role == Leader {
		c.settle()
	}
	if e := c.election(); !sameElection(e, c.saved) {
		c.saved = e
		c.out.Election = &e
	}
	out := c.out
	c.out = Effects{Fatal: out.Fatal}
	return out
}

func (c *Core) election() Election {
	e := Election{Epoch: c.epoch, Leader: c.leader, Voted: c.voted, Version: c.history.version()}
	e.Voters = c.voterIDs()
	if e.Leader == c.cfg.Self.ID {
		e.Voted = Key{ID: NoID} // a leader's own vote says nothing more, and Apache doesn't write it
	}
	return e
}

func sameElection(a, b Election) bool {
	return a.Epoch == b.Epoch && a.Leader == b.Leader && a.Voted == b.Voted
}

// Deadline is when Step must be called at the latest; zero: no need.
func (c *Core) Deadline() time.Time {
	var next time.Time
	want := func(t time.Time) {
		if t.After(c.now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, p := range c.peers {
		want(p.until)
	}
	switch c.role {
	case Follower:
		want(c.fetchAt)
	case Leader:
		want(c.lead.beginAt)
		want(c.lead.checkAt)
		for i := range c.lead.parked {
			want(c.lead.parked[i].until)
		}
	default:
		want(c.electionAt)
	}
	return next
}

// Quiet says that a shutdown need not wait any longer for the others.
func (c *Core) Quiet() bool {
	switch {
	case c.role == Follower, !c.isVoter(), len(c.voters()) == 1:
		return true
	case c.role == Resigned:
		return len(c.ended) >= len(c.voters())-1
	}
	return c.leader != NoID && c.leader != c.cfg.Self.ID
}

// State is what the outside may want to know.
type State struct {
	Role          Role
	Observer      bool
	Epoch         Epoch
	Leader        ID
	LeaderAt      []Endpoint
	Voted         Key
	HighWatermark Offset
	Version       int16  // kraft.version
	EpochStart    Offset // Leader: of its LeaderChange record
	Established   bool   // Leader: the high watermark is this epoch's own
	Log           Log    // shared: not to be changed
}

// State is the core's state now.
func (c *Core) State() State {
	s := State{
		Role: c.role, Observer: !c.isVoter(), Epoch: c.epoch, Leader: c.leader, LeaderAt: c.at, Voted: c.voted,
		HighWatermark: c.hw, Version: c.history.version(), Log: c.log,
	}
	if c.lead != nil {
		s.EpochStart, s.Established = c.lead.start, c.lead.known
	}
	return s
}

// Voters is the voter set in force. Shared: not to be changed.
func (c *Core) Voters() []Voter { return c.voters() }

// ControlAt is the voter set and kraft.version that a snapshot ending at end must hold.
func (c *Core) ControlAt(end Offset) ([]Voter, int16) { return c.history.at(end) }

func (c *Core) voters() []Voter {
	v, _ := c.history.latest()
	return v
}

func (c *Core) voterIDs() []ID {
	var ids []ID
	for _, v := range c.voters() {
		ids = append(ids, v.ID)
	}
	return ids
}

func (c *Core) isVoter() bool { return c.cfg.CanVote && findVoter(c.voters(), c.cfg.Self) != nil }

func (c *Core) endpointsOf(id ID) []Endpoint {
	if v := voterByID(c.voters(), id); v != nil && id != NoID {
		return v.Endpoints
	}
	return nil
}

func (c *Core) fatal(format string, args ...any) {
	if c.out.Fatal == nil {
		c.out.Fatal = fmt.Errorf("node %d in epoch %d: "+format, append([]any{c.cfg.Self.ID, c.epoch}, args...)...)
	}
}

func (c *Core) note(format string, args ...any) {
	c.out.Notes = append(c.out.Notes, fmt.Sprintf(format, args...))
}

func (c *Core) reply(in Received, body Response) {
	c.out.Replies = append(c.out.Replies, Reply{in.Tag, body})
}

// status opens a response: what this node takes for the truth.
func (c *Core) status(in Received, code Code) Status {
	s := Status{Error: code, Leader: c.leader, Epoch: c.epoch}
	listener := in.Listener
	if listener == "" {
		listener = c.cfg.Listener
	}
	ends := c.at
	if c.leader == c.cfg.Self.ID {
		ends = c.cfg.Endpoints
	}
	if e, ok := endpointOf(ends, listener); ok {
		s.At = []Endpoint{e}
	} else if e, ok := endpointOf(c.endpointsOf(c.leader), listener); ok {
		s.At = []Endpoint{e}
	}
	return s
}
