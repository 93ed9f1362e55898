package seglog

import (
	"sync"
	"sync/atomic"

	"github.com/kalda/kalda/internal/disk/vfs"
)

// handle is an open file that closes when its last holder lets go.
type handle struct {
	vfs.File
	refs atomic.Int32
}

func (h *handle) release() {
	if h.refs.Add(-1) == 0 {
		// Everything that matters was synced or reported before: there is nobody left to tell.
		_ = h.Close()
	}
}

// slot holds a file that is opened when it is first needed and closed when it wasn't for a while.
type slot struct {
	mu   sync.Mutex
	h    *handle
	used bool // since the last idle call
}

// acquire returns the file, opened if need be, for the caller to release.
func (s *slot) acquire(open func() (vfs.File, error)) (*handle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = true
	if s.h == nil {
		f, err := open()
		if err != nil {
			return nil, err
		}
		s.h = &handle{File: f}
		s.h.refs.Store(1)
	}
	s.h.refs.Add(1)
	return s.h, nil
}

// drop closes the file once nobody uses it. The slot stays usable.
func (s *slot) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.h != nil {
		s.h.release()
		s.h = nil
	}
}

// idle drops a file that wasn't used since the last call, and says whether it was unused.
func (s *slot) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	used := s.used
	if s.h != nil && !used {
		s.h.release()
		s.h = nil
	}
	s.used = false
	return !used
}
