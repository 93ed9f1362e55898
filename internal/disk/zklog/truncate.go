package zklog

import (
	"errors"
	"fmt"

	"github.com/kalda/kalda/internal/format/jute"
)

// ErrNotFound says that the logs hold no transaction past the one to truncate to.
var ErrNotFound = errors.New("no such transaction in the logs")

// TruncateTo makes zxid the last transaction: what is later is cut off the logs, and snapshots that know of
// more are removed, newest first, so that nothing comes back after a crash in between. Recover has to come
// next.
func (s *Store) TruncateTo(zxid jute.Zxid) error {
	if err := s.log.rest(); err != nil {
		return err
	}
	r, err := s.Read(zxid + 1)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	var e Entry
	if !r.Next(&e) {
		return errors.Join(r.Err(), fmt.Errorf("truncate to %v: %w", zxid, ErrNotFound))
	}
	keep, at := r.cur, r.pos-frameSize(e.Data)
	_ = r.Close()
	if err := s.dropSnapshots(zxid); err != nil {
		return err
	}
	logs, err := list(s.fs, s.logDir, logPrefix)
	if err != nil {
		return err
	}
	for i := len(logs) - 1; i >= 0 && logs[i].zxid > keep.zxid; i-- {
		if err := s.fs.Remove(logs[i].path); err != nil {
			return err
		}
		if err := s.fs.SyncDir(s.logDir); err != nil {
			return err
		}
	}
	if err := s.cutTail(keep, at); err != nil {
		return err
	}
	s.log.last.Store(int64(zxid))
	return nil
}

// dropSnapshots removes those newer than zxid.
func (s *Store) dropSnapshots(zxid jute.Zxid) error {
	snaps, err := list(s.fs, s.snapDir, snapPrefix)
	if err != nil {
		return err
	}
	for i := len(snaps) - 1; i >= 0 && snaps[i].zxid > zxid; i-- {
		if err := s.fs.Remove(snaps[i].path); err != nil {
			return err
		}
	}
	return s.fs.SyncDir(s.snapDir)
}

// rest syncs and closes the files being written.
func (a *appender) rest() error {
	if err := a.store.Sync(); err != nil {
		return err
	}
	if err := a.store.Roll(); err != nil {
		return err
	}
	return a.store.Sync()
}
