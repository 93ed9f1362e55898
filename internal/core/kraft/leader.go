package kraft

import (
	"slices"
	"time"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
)

// observerSession is how long DescribeQuorum lists an observer that doesn't fetch.
const observerSession = 300 * time.Second

// leadership is what a leader knows.
type leadership struct {
	start     Offset // of the LeaderChange record: committed is only what follows one of this epoch's own
	known     bool   // the high watermark has moved in this epoch
	replicas  []*replica
	observers map[Key]*replica
	beginAt   time.Time
	checkAt   time.Time   // when to resign unless a majority has fetched; zero with a sole voter
	active    map[ID]bool // voters that have fetched since checkAt was set
	parked    []parkedFetch
}

// replica is what a leader knows of one voter or observer.
type replica struct {
	key      Key
	end      Offset // NoOffset before its first fetch
	fetched  time.Time
	caughtUp time.Time
	sawEnd   Offset // the leader's end at the fetch before
}

func (l *leadership) replica(id ID) *replica {
	for _, r := range l.replicas {
		if r.key.ID == id {
			return r
		}
	}
	return &replica{end: NoOffset}
}

// becomeLeader opens the epoch with a LeaderChange record: kraft.md 1.9.
func (c *Core) becomeLeader() {
	granted := c.votes
	c.move(Leader, "elected")
	c.leader, c.at = c.cfg.Self.ID, c.cfg.Endpoints
	c.lead = &leadership{
		start: c.log.End, observers: map[Key]*replica{}, beginAt: c.now, active: map[ID]bool{},
	}
	for _, v := range c.voters() {
		c.lead.replicas = append(c.lead.replicas, &replica{key: v.ReplicaKey, end: NoOffset})
	}
	c.restartCheck()
	c.appendControl(c.openingRecords(granted))
}

// openingRecords are LeaderChange and, where the voter set isn't in the log yet or wrong about this node, the
// voter set.
func (c *Core) openingRecords(granted map[ID]bool) ([]batch.Record, []Control) {
	voters, at := c.history.latest()
	change := record.LeaderChange{Leader: c.cfg.Self.ID}
	for _, v := range voters {
		change.Voters = append(change.Voters, v.ReplicaKey)
		if granted[v.ID] {
			change.Grants = append(change.Grants, v.ReplicaKey)
		}
	}
	recs := []batch.Record{controlRecord(record.ControlLeaderChange, change.Encode())}
	if c.history.version() < 1 {
		return recs, nil
	}
	self := findVoter(voters, c.cfg.Self)
	fresh := self == nil || len(c.cfg.Endpoints) == 0 || slices.Equal(self.Endpoints, c.cfg.Endpoints)
	if at != NoOffset && fresh {
		return recs, nil
	}
	voters = slices.Clone(voters)
	for i := range voters {
		if !fresh && matches(&voters[i], c.cfg.Self) {
			voters[i].Endpoints = c.cfg.Endpoints
		}
	}
	recs = append(recs,
		controlRecord(record.ControlKRaftVersion, record.EncodeKRaftVersion(c.history.version())),
		controlRecord(record.ControlKRaftVoters, record.EncodeKRaftVoters(voters)))
	return recs, []Control{{c.log.End + 1, nil, c.history.version()}, {c.log.End + 2, voters, -1}}
}

func controlRecord(t record.ControlType, value []byte) batch.Record {
	return batch.Record{Key: record.ControlKey(t), Value: value}
}

func (c *Core) appendControl(recs []batch.Record, control []Control) {
	c.appendBatch(recs, true, control)
}

// Append adds one batch of data records to the leader's log and says where it ends; false when not leader.
// The batch leaves with the next Drain.
func (c *Core) Append(now time.Time, records [][]byte) (last Offset, ok bool) {
	if c.role != Leader || len(records) == 0 || c.out.Fatal != nil {
		return NoOffset, false
	}
	c.now = now
	recs := make([]batch.Record, len(records))
	for i, r := range records {
		recs[i] = batch.Record{Value: r}
	}
	c.appendBatch(recs, false, nil)
	return c.log.End - 1, true
}

func (c *Core) appendBatch(recs []batch.Record, control bool, ctl []Control) {
	for i := range recs {
		recs[i].OffsetDelta = int32(i)
	}
	m := batch.NoProducer(c.log.End, c.epoch, c.now.UnixMilli())
	m.Control = control
	data, err := batch.Build(nil, m, recs)
	if err != nil {
		panic("kraft: an uncompressed batch can't fail: " + err.Error())
	}
	b := Batch{Base: c.log.End, Epoch: c.epoch, Data: data, Control: ctl}
	b.Last = b.Base + Offset(len(recs)) - 1
	c.history.add(ctl)
	c.log.append(&b)
	c.out.Disk = append(c.out.Disk, Append{b})
}

func (c *Core) pollLeader() {
	if !c.lead.checkAt.IsZero() && !c.now.Before(c.lead.checkAt) {
		c.becomeResigned("a majority of the voters is silent")
		return
	}
	if !c.now.Before(c.lead.beginAt) {
		c.lead.beginAt = c.now.Add(c.cfg.FetchTimeout / 2)
		c.sendBegin()
	}
}

// sendBegin tells those voters that this node leads who haven't fetched for a while.
func (c *Core) sendBegin() {
	for i := range c.voters() {
		v := &c.voters()[i]
		if v.ID == c.cfg.Self.ID || c.now.Sub(c.lead.replica(v.ID).fetched) < c.cfg.FetchTimeout/2 {
			continue
		}
		c.sendToVoter(v, &BeginRequest{
			Voter: v.ReplicaKey, Leader: c.cfg.Self.ID, Epoch: c.epoch, At: c.cfg.Endpoints,
		})
	}
}

func (c *Core) restartCheck() {
	clear(c.lead.active)
	if len(c.voters()) > 1 {
		c.lead.checkAt = c.now.Add(c.cfg.FetchTimeout * 3 / 2)
	}
}

// sign notes a sign of life of a voter.
func (c *Core) sign(k Key) {
	voters := c.voters()
	if findVoter(voters, k) == nil {
		return
	}
	c.lead.active[k.ID] = true
	n := len(c.lead.active)
	if c.isVoter() {
		n++
	}
	if n > len(voters)/2 {
		c.restartCheck()
	}
}

// settle moves the high watermark and answers the fetches that waited for something.
func (c *Core) settle() {
	c.commit()
	c.unpark()
}

// commit is the commit rule: kraft.md 1.10. This node counts with what is on its disk.
func (c *Core) commit() {
	voters := c.voters()
	ends := make([]Offset, 0, 8)
	for i := range voters {
		end := c.lead.replica(voters[i].ID).end
		if matches(&voters[i], c.cfg.Self) {
			end = c.synced
		}
		ends = append(ends, end)
	}
	slices.Sort(ends)
	candidate := ends[len(ends)-1-len(ends)/2]
	if candidate <= c.lead.start && c.cfg.Canary != CanaryOldEpochs {
		return
	}
	if candidate > c.hw {
		c.hw, c.lead.known = candidate, true
	} else if candidate == c.hw {
		c.lead.known = true
	}
}

func (c *Core) reportedHW() Offset {
	if c.lead != nil && !c.lead.known {
		return NoOffset
	}
	return c.hw
}

// progress records where a replica is: its fetch position acknowledges everything below.
func (c *Core) progress(k Key, offset Offset) {
	var r *replica
	if v := findVoter(c.voters(), k); v != nil {
		r = c.lead.replica(k.ID)
	} else if r = c.lead.observers[k]; r == nil {
		r = &replica{key: k}
		c.lead.observers[k] = r
	}
	if offset >= c.log.End {
		r.caughtUp = c.now
	} else if !r.fetched.IsZero() && offset >= r.sawEnd {
		r.caughtUp = r.fetched
	}
	r.end, r.fetched, r.sawEnd = offset, c.now, c.log.End
}
