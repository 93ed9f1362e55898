package zklog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
)

// MinRetain is the least number of snapshots that a purge may keep.
const MinRetain = 3

// Purge removes old snapshots and logs: all but the keep newest valid snapshots and the logs that may hold
// what comes after the oldest of them. It returns the paths of what went.
func (s *Store) Purge(keep int) ([]string, error) {
	s.snapshots.Lock()
	defer s.snapshots.Unlock()
	return purge(s.fs, s.snapDir, s.logDir, keep)
}

// PurgeDirs is Purge on the directories of a server that may run, given as dataDir and dataLogDir. removing
// is told of each file before it goes.
func PurgeDirs(dataDir, logDir string, keep int, removing func(path string)) error {
	fsys := vfs.OS()
	victims, err := victims(fsys, filepath.Join(dataDir, versionDir), filepath.Join(logDir, versionDir), keep)
	if err != nil {
		return err
	}
	for _, path := range victims {
		removing(path)
		if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func purge(fsys vfs.FS, snapDir, logDir string, keep int) ([]string, error) {
	paths, err := victims(fsys, snapDir, logDir, keep)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return paths[:i], err
		}
	}
	return paths, nil
}

// victims lists what a purge removes: logs, then snapshots, each from the oldest on. With less than keep
// valid snapshots it is nothing.
func victims(fsys vfs.FS, snapDir, logDir string, keep int) ([]string, error) {
	if keep < MinRetain {
		return nil, fmt.Errorf("%d snapshots are to be kept: at least %d must be", keep, MinRetain)
	}
	snaps, err := list(fsys, snapDir, snapPrefix)
	if err != nil {
		return nil, err
	}
	oldest, found := len(snaps), 0
	for oldest > 0 && found < keep {
		oldest--
		if whole, err := looksWhole(fsys, snaps[oldest]); err != nil {
			return nil, err
		} else if whole {
			found++
		}
	}
	if found == 0 {
		return nil, nil
	}
	paths, err := oldLogs(fsys, logDir, snaps[oldest].zxid)
	if err != nil {
		return nil, err
	}
	for _, f := range snaps[:oldest] {
		if f.zxid < snaps[oldest].zxid {
			paths = append(paths, f.path)
		}
	}
	return paths, nil
}

// oldLogs are the log files whose successor starts at or before zxid.
func oldLogs(fsys vfs.FS, dir string, zxid jute.Zxid) ([]string, error) {
	logs, err := list(fsys, dir, logPrefix)
	if err != nil {
		return nil, err
	}
	var paths []string
	for i := 0; i+1 < len(logs) && logs[i+1].zxid <= zxid; i++ {
		paths = append(paths, logs[i].path)
	}
	return paths, nil
}
