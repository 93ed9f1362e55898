package zklog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
)

// Options say where and how a server keeps its data. The zero values but for the directory are ZooKeeper's
// defaults.
type Options struct {
	FS      vfs.FS // nil: the operating system's
	DataDir string // holds version-2/snapshot.*
	LogDir  string // holds version-2/log.*; empty: DataDir

	PreAlloc     int64  // what a log file grows by ahead of need; 0: 64 MiB, negative: not at all
	NoSync       bool   // forceSync=no
	NoAutoCreate bool   // refuse directories that aren't there (zookeeper.datadir.autocreate=false)
	TrustEmpty   bool   // logs without any snapshot are whole (zookeeper.snapshot.trust.empty)
	Compression  string // of snapshots: "", gz or snappy
}

const defaultPreAlloc = 64 << 20

// lockName is the file that keeps a second process off a directory. Apache's servers take no notice of it.
const lockName = ".lock"

// Store is an open data directory.
type Store struct {
	fs        vfs.FS
	opts      Options
	snapDir   string
	logDir    string
	locks     []io.Closer
	log       appender
	snapshots sync.Mutex // one is written, or a purge runs, at a time
}

// Open takes hold of a data directory, making it unless told otherwise. Recover has to come next.
func Open(o Options) (*Store, error) {
	s := &Store{fs: o.FS, opts: o}
	if s.fs == nil {
		s.fs = vfs.OS()
	}
	if o.DataDir == "" {
		return nil, errors.New("dataDir is not set")
	}
	if o.LogDir == "" {
		s.opts.LogDir = o.DataDir
	}
	if o.PreAlloc == 0 {
		s.opts.PreAlloc = defaultPreAlloc
	}
	if o.Compression != "" && o.Compression != "gz" && o.Compression != "snappy" {
		return nil, fmt.Errorf("unknown compression of snapshots %q: gz and snappy are known", o.Compression)
	}
	s.snapDir = filepath.Join(o.DataDir, versionDir)
	s.logDir = filepath.Join(s.opts.LogDir, versionDir)
	s.log.store = s
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare makes, checks and locks the directories.
func (s *Store) prepare() error {
	for _, dir := range s.dirs() {
		if err := s.makeDir(dir); err != nil {
			return err
		}
		lock, err := s.fs.Lock(filepath.Join(dir, lockName))
		if err != nil {
			return fmt.Errorf("data directory %s: %w", dir, err)
		}
		s.locks = append(s.locks, lock)
	}
	if s.snapDir == s.logDir {
		return nil
	}
	return errors.Join(s.refuse(s.logDir, snapPrefix, "dataLogDir"), s.refuse(s.snapDir, logPrefix, "dataDir"))
}

func (s *Store) dirs() []string {
	if s.snapDir == s.logDir {
		return []string{s.snapDir}
	}
	return []string{s.snapDir, s.logDir}
}

func (s *Store) makeDir(dir string) error {
	if _, err := s.fs.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.opts.NoAutoCreate {
		return fmt.Errorf("missing data directory %s, and zookeeper.datadir.autocreate is false: create it", dir)
	}
	// What holds a new directory has to be synced, up to what was there already.
	holders := []string{dir}
	for d := filepath.Dir(dir); ; d = filepath.Dir(d) {
		holders = append(holders, d)
		if _, err := s.fs.Stat(d); err == nil || d == "." || d == filepath.Dir(d) {
			break
		}
	}
	if err := s.fs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, d := range holders {
		if err := s.fs.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}

// refuse rejects a directory with the other kind of file in it: the two were swapped, or split after the
// fact.
func (s *Store) refuse(dir, prefix, key string) error {
	files, err := list(s.fs, dir, prefix)
	if err != nil || len(files) == 0 {
		return err
	}
	return fmt.Errorf("%s has %s, which belongs into the other directory: %s or the other key is wrong, "+
		"or its files have to move", dir, files[0].name, key)
}

// Close syncs what was appended and lets go of the directory.
func (s *Store) Close() error {
	err := s.log.close()
	for _, l := range s.locks {
		err = errors.Join(err, l.Close())
	}
	s.locks = nil
	return err
}

// Sizes are the bytes of the snapshots and of the logs, as the four-letter word dirs tells them.
func (s *Store) Sizes() (snapshots, logs int64, err error) {
	for _, f := range []struct {
		dir string
		sum *int64
	}{{s.snapDir, &snapshots}, {s.logDir, &logs}} {
		entries, err := s.fs.ReadDir(f.dir)
		if err != nil {
			return 0, 0, err
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && !e.IsDir() {
				*f.sum += info.Size()
			}
		}
	}
	return snapshots, logs, nil
}

// SnapDir and LogDir are the version-2 directories.
func (s *Store) SnapDir() string { return s.snapDir }

// LogDir is where the logs are.
func (s *Store) LogDir() string { return s.logDir }

// LastLogged is the zxid of the newest transaction in the logs, 0 when they hold none. It is known after
// Recover.
func (s *Store) LastLogged() jute.Zxid { return jute.Zxid(s.log.last.Load()) }
