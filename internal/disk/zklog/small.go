package zklog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/disk/vfs"
)

// Epoch names one of the two epoch files of an ensemble's member.
type Epoch string

// The epoch files: the promise made, and the history adopted.
const (
	AcceptedEpoch Epoch = "acceptedEpoch"
	CurrentEpoch  Epoch = "currentEpoch"
)

// LoadEpoch reads an epoch file. If it isn't there, ok is false.
func (s *Store) LoadEpoch(e Epoch) (n int64, ok bool, err error) {
	return s.loadEpoch(string(e))
}

// LoadPendingEpoch reads the new currentEpoch of a change that was interrupted, if there is one.
func (s *Store) LoadPendingEpoch() (n int64, ok bool, err error) {
	return s.loadEpoch(string(CurrentEpoch) + tmpSuffix)
}

func (s *Store) loadEpoch(name string) (int64, bool, error) {
	path := filepath.Join(s.snapDir, name)
	b, err := vfs.ReadFile(s.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	text, _, _ := strings.Cut(string(b), "\n")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, false, corrupt(path, 0, "%q is no epoch", text)
	}
	return n, true, nil
}

// StoreEpoch replaces an epoch file, durably.
func (s *Store) StoreEpoch(e Epoch, n int64) error {
	return vfs.WriteFile(s.fs, filepath.Join(s.snapDir, string(e)), strconv.AppendInt(nil, n, 10))
}

// MyID reads the server's id; ok is false if there is no such file.
func (s *Store) MyID() (id int64, ok bool, err error) {
	path := filepath.Join(s.opts.DataDir, "myid")
	b, err := vfs.ReadFile(s.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	text, _, _ := strings.Cut(string(b), "\n")
	id, err = strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || id < 0 || id > 255 {
		return 0, false, fmt.Errorf("%s: %q is no server id: a number from 0 to 255 is expected", path, text)
	}
	return id, true, nil
}

// TakeInitialize reports whether the directory holds the mark that an empty database is meant, and removes
// it.
func (s *Store) TakeInitialize() (bool, error) {
	err := s.fs.Remove(filepath.Join(s.opts.DataDir, "initialize"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
