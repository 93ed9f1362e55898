package ztree

import (
	"math"
	"slices"

	"github.com/tidwall/btree"

	"github.com/kalda/kalda/internal/format/jute"
)

// Sessions is the leader's (or a standalone server's) table of live sessions: who is alive until when, and
// who serves whom. Its times are any clock in ms that only goes forward.
//
// Time is cut into buckets of a tick: a session goes between its timeout and a tick later.
type Sessions struct {
	tick    int64
	next    SessionID
	byID    map[SessionID]*session
	buckets *btree.Map[int64, map[SessionID]struct{}]
}

type session struct {
	timeout int32
	closing bool
	owner   Owner
	bucket  int64 // when it is due; 0: in none
}

// NewSessions starts a table whose ids begin with the server's; tick is the length of a bucket in ms.
func NewSessions(server uint8, now, tick int64) *Sessions {
	first := int64(uint64(now)<<24>>8) | int64(server)<<56
	if first == math.MinInt64 {
		first++ // means a container in an owner's place
	}
	return &Sessions{
		tick: max(1, tick), next: SessionID(first), byID: map[SessionID]*session{},
		buckets: btree.NewMap[int64, map[SessionID]struct{}](0),
	}
}

// NextID allots an id.
func (s *Sessions) NextID() SessionID {
	id := s.next
	s.next++
	return id
}

// Len is the number of sessions known.
func (s *Sessions) Len() int { return len(s.byID) }

// Has says whether a session is known.
func (s *Sessions) Has(id SessionID) bool { return s.byID[id] != nil }

// Add makes a session known and alive: a new one, a restored one (owner 0). One that is known keeps its
// owner unless a new one is given.
func (s *Sessions) Add(id SessionID, timeout int32, owner Owner, now int64) {
	x := s.byID[id]
	if x == nil {
		x = &session{}
		s.byID[id] = x
	}
	x.timeout = timeout
	if owner != 0 {
		x.owner = owner
	}
	s.Touch(id, now)
}

// Touch postpones expiry; false when the session is gone or closing.
func (s *Sessions) Touch(id SessionID, now int64) bool {
	x := s.byID[id]
	if x == nil || x.closing {
		return false
	}
	due := ((now+int64(x.timeout))/s.tick + 1) * s.tick
	if due > x.bucket {
		s.unlist(id, x)
		x.bucket = due
		b, ok := s.buckets.Get(due)
		if !ok {
			b = map[SessionID]struct{}{}
			s.buckets.Set(due, b)
		}
		b[id] = struct{}{}
	}
	return true
}

func (s *Sessions) unlist(id SessionID, x *session) {
	if b, ok := s.buckets.Get(x.bucket); ok {
		if delete(b, id); len(b) == 0 {
			s.buckets.Delete(x.bucket)
		}
	}
	x.bucket = 0
}

// Own makes owner the one that serves the session (a reconnect); false when it is gone or closing.
func (s *Sessions) Own(id SessionID, owner Owner, now int64) bool {
	if !s.Touch(id, now) {
		return false
	}
	s.byID[id].owner = owner
	return true
}

// Check is the session check of every request: OK, SessionExpired or SessionMoved. Who asks first about a
// session without an owner becomes it.
func (s *Sessions) Check(id SessionID, owner Owner) jute.Code {
	x := s.byID[id]
	switch {
	case x == nil || x.closing:
		return jute.SessionExpired
	case x.owner == 0:
		x.owner = owner
	case x.owner != owner:
		return jute.SessionMoved
	}
	return jute.OK
}

// Close marks a session as closing: it takes no more requests.
func (s *Sessions) Close(id SessionID) {
	if x := s.byID[id]; x != nil {
		s.unlist(id, x)
		x.closing = true
	}
}

// Remove forgets a session (its closeSession was applied).
func (s *Sessions) Remove(id SessionID) {
	if x := s.byID[id]; x != nil {
		s.unlist(id, x)
		delete(s.byID, id)
	}
}

// Due are the sessions whose time is up, by id; each is to be closed (Close, then a closeSession request),
// or touched with the time it was really heard from. The driver need not touch on every request, only here.
func (s *Sessions) Due(now int64) []SessionID {
	var out []SessionID
	for {
		at, b, ok := s.buckets.Min()
		if !ok || at > now {
			break
		}
		for id := range b {
			s.byID[id].bucket = 0
			out = append(out, id)
		}
		s.buckets.Delete(at)
	}
	slices.Sort(out)
	return out
}

// Deadline is when Due has something to look at.
func (s *Sessions) Deadline() (int64, bool) {
	at, _, ok := s.buckets.Min()
	return at, ok
}

// ByDeadline are the buckets: when, and who is due then (dump).
func (s *Sessions) ByDeadline(visit func(at int64, ids []SessionID)) {
	s.buckets.Scan(func(at int64, b map[SessionID]struct{}) bool {
		ids := make([]SessionID, 0, len(b))
		for id := range b {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		visit(at, ids)
		return true
	})
}

// Password is what a session's holder proves it by: 16 bytes of java.util.Random from the id. That anybody
// can compute them is ZooKeeper's protocol: any server of an ensemble must know what another gave out.
func Password(id SessionID) (out [16]byte) {
	const mask = 1<<48 - 1
	seed := (uint64(id) ^ 0xB3415C00 ^ 0x5DEECE66D) & mask
	for i := 0; i < len(out); i += 4 {
		seed = (seed*0x5DEECE66D + 0xB) & mask
		word := uint32(seed >> 16)
		out[i], out[i+1], out[i+2], out[i+3] = byte(word), byte(word>>8), byte(word>>16), byte(word>>24)
	}
	return out
}
