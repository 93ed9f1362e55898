package replica

import (
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// The epochs of a fetch request with a meaning of their own (KIP-227).
const (
	InitialEpoch int32 = 0  // a full request that wants a session
	FinalEpoch   int32 = -1 // a full request without one; it ends the session it names
)

// idleLimit is how long a session must have been idle, or have existed, before another may take its place.
const idleLimit = 120 * time.Second

// PartKey names a partition in a session: by topic name below Fetch v13, by topic id from there on.
type PartKey struct {
	Topic     string
	ID        [16]byte
	Partition int32
}

// Part is one partition that a session fetches.
type Part struct {
	PartKey
	Name         string // of the topic, filled in by whoever resolves ID; empty while unknown
	FetchOffset  batch.Offset
	LogStart     batch.Offset // the follower's, -1 for consumers
	MaxBytes     int32
	LeaderEpoch  int32 // -1: not checked
	LastFetched  int32 // epoch of the last fetched record, -1: not checked
	highWater    batch.Offset
	sentLogStart batch.Offset
	prev, next   *Part
}

// Session is what one client fetches, in the order of its turns. The zero value is an empty one without a
// cache.
type Session struct {
	id          int32
	epoch       int32 // the one that the next request must carry
	byID        bool
	privileged  bool // a follower's
	busy        bool // between Begin and End
	created     time.Time
	used        time.Time
	parts       map[PartKey]*Part
	first, last *Part
}

// ID is the session's id, 0 without a cache.
func (s *Session) ID() int32 { return s.id }

// Len is the number of partitions.
func (s *Session) Len() int { return len(s.parts) }

// First is the partition whose turn is next.
func (s *Session) First() *Part { return s.first }

// Next is the partition after p.
func (p *Part) Next() *Part { return p.next }

// Put adds a partition or changes what is asked of it; a new one goes to the end.
func (s *Session) Put(p Part) {
	if old := s.parts[p.PartKey]; old != nil {
		old.FetchOffset, old.LogStart, old.MaxBytes = p.FetchOffset, p.LogStart, p.MaxBytes
		old.LeaderEpoch, old.LastFetched = p.LeaderEpoch, p.LastFetched
		return
	}
	if s.parts == nil {
		s.parts = make(map[PartKey]*Part)
	}
	n := &p
	n.Topic = strings.Clone(p.Topic) // the caller's may lie in a request that is soon gone
	n.highWater, n.sentLogStart = -1, -1
	s.parts[n.PartKey] = n
	s.link(n)
}

// Forget takes a partition out.
func (s *Session) Forget(k PartKey) {
	if p := s.parts[k]; p != nil {
		delete(s.parts, k)
		s.unlink(p)
	}
}

// Answer is what a read of a partition gave.
type Answer struct {
	HighWatermark, LogStart batch.Offset
	Data, Failed            bool
	Always                  bool // a diverging epoch or a preferred replica is to be told
}

// Tell says whether an incremental response holds the partition, and remembers what it then tells. One that
// returned data goes to the end of the queue, so that each gets its turn: who walks the parts takes Next
// before Tell, and stops after Len parts.
func (s *Session) Tell(p *Part, a Answer) bool {
	tell := a.Data || a.Failed || a.Always || a.HighWatermark != p.highWater || a.LogStart != p.sentLogStart
	p.highWater, p.sentLogStart = a.HighWatermark, a.LogStart
	if a.Failed {
		p.highWater = -1 // so that the next answer is told whatever it is
	}
	if a.Data && p.next != nil {
		s.unlink(p)
		s.link(p)
	}
	return tell
}

func (s *Session) link(p *Part) {
	p.prev, p.next = s.last, nil
	if s.last != nil {
		s.last.next = p
	} else {
		s.first = p
	}
	s.last = p
}

func (s *Session) unlink(p *Part) {
	if p.prev != nil {
		p.prev.next = p.next
	} else {
		s.first = p.next
	}
	if p.next != nil {
		p.next.prev = p.prev
	} else {
		s.last = p.prev
	}
	p.prev, p.next = nil, nil
}

// Sessions is the cache of fetch sessions of a broker, of at most a given number
// (max.incremental.fetch.session.cache.slots).
type Sessions struct {
	slots     int
	rand      *rand.Rand
	byID      map[int32]*Session
	evictions int64
}

// NewSessions makes an empty cache; seed feeds the ids.
func NewSessions(slots int, seed uint64) *Sessions {
	source := rand.New(rand.NewPCG(seed, 0x6b616c6461))
	return &Sessions{slots: slots, rand: source, byID: make(map[int32]*Session)}
}

// Len is the number of sessions.
func (c *Sessions) Len() int { return len(c.byID) }

// Partitions is the number of partitions in all sessions, as of each one's last Begin or Create.
func (c *Sessions) Partitions() int {
	n := 0
	for _, s := range c.byID {
		n += len(s.parts)
	}
	return n
}

// Evictions counts the sessions that made room for others.
func (c *Sessions) Evictions() int64 { return c.evictions }

// Begin finds the session of an incremental request and takes it until End. The errors are those of the whole
// response.
func (c *Sessions) Begin(now time.Time, id, epoch int32, byID bool) (*Session, kerr.Code) {
	s := c.byID[id]
	switch {
	case s == nil:
		return nil, kerr.FetchSessionIDNotFound
	case s.epoch != epoch || s.busy:
		return nil, kerr.InvalidFetchSessionEpoch
	case s.byID != byID:
		return nil, kerr.FetchSessionTopicIDError
	}
	s.busy, s.used = true, now
	s.epoch = nextEpoch(s.epoch)
	return s, kerr.None
}

// Hold takes a session that was just created until End.
func (c *Sessions) Hold(s *Session) { s.busy = true }

// End gives a session back. An empty one is closed, and the response says that there is none any more.
func (c *Sessions) End(s *Session) {
	s.busy = false
	if len(s.parts) == 0 {
		c.Close(s.id)
	}
}

// Close forgets a session; an unknown one is no error.
func (c *Sessions) Close(id int32) { delete(c.byID, id) }

// Create puts a session that a full request filled into the cache. False: the cache is full of ones that may
// not go.
func (c *Sessions) Create(now time.Time, s *Session, byID, privileged bool) bool {
	if len(s.parts) == 0 || c.slots <= 0 {
		return false
	}
	if len(c.byID) >= c.slots && !c.evict(now, s, privileged) {
		return false
	}
	s.id = c.newID()
	s.epoch, s.byID, s.privileged = 1, byID, privileged
	s.created, s.used = now, now
	c.byID[s.id] = s
	return true
}

// evict makes room: the longest idle session, else the smallest one that has existed long enough and is worth
// less.
func (c *Sessions) evict(now time.Time, s *Session, privileged bool) bool {
	var idle, small *Session
	for _, o := range c.byID {
		if idle == nil || o.used.Before(idle.used) || (o.used.Equal(idle.used) && o.id < idle.id) {
			idle = o
		}
		if privileged || !o.privileged {
			if now.Sub(o.created) > idleLimit && (small == nil || o.worthLess(small)) {
				small = o
			}
		}
	}
	if idle != nil && now.Sub(idle.used) > idleLimit {
		c.Close(idle.id)
		c.evictions++
		return true
	}
	if small == nil || (small.privileged == privileged && len(small.parts) >= len(s.parts)) {
		return false
	}
	c.Close(small.id)
	c.evictions++
	return true
}

func (s *Session) worthLess(o *Session) bool {
	if s.privileged != o.privileged {
		return !s.privileged
	}
	if len(s.parts) != len(o.parts) {
		return len(s.parts) < len(o.parts)
	}
	return s.id < o.id
}

func (c *Sessions) newID() int32 {
	for {
		id := c.rand.Int32N(math.MaxInt32-1) + 1
		if c.byID[id] == nil {
			return id
		}
	}
}

func nextEpoch(e int32) int32 {
	if e == math.MaxInt32 {
		return 1
	}
	return e + 1
}
