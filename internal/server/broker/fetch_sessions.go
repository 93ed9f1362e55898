package broker

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
	"time"

	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/format/kerr"
)

// sessions is the cache of fetch sessions, with the lock it needs: it is held for a map look-up, or for an
// eviction.
type sessions struct {
	mu sync.Mutex
	c  *replica.Sessions
	m  *Metrics
}

func (s *sessions) init(cfg *Config) {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails
	s.c = replica.NewSessions(max(cfg.FetchSessions, 0), binary.NativeEndian.Uint64(seed[:]))
	s.m = cfg.Metrics
}

func (s *sessions) begin(now time.Time, id, epoch int32, byID bool) (*replica.Session, kerr.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c.Begin(now, id, epoch, byID)
}

func (s *sessions) end(session *replica.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.c.End(session)
	s.m.FetchSessions.Set(int64(s.c.Len()))
}

func (s *sessions) close(id int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.c.Close(id)
	s.m.FetchSessions.Set(int64(s.c.Len()))
}

// create caches a session that a full request filled, and takes it until end.
func (s *sessions) create(now time.Time, session *replica.Session, byID, follower bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.c.Create(now, session, byID, follower) {
		return false
	}
	s.c.Hold(session)
	s.m.FetchSessions.Set(int64(s.c.Len()))
	return true
}
