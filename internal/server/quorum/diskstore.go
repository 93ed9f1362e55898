package quorum

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/core/kraft"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

const (
	topicName       = "__cluster_metadata"
	partitionDir    = topicName + "-0"
	quorumStateFile = "quorum-state"
	checkpoint      = ".checkpoint"
	partSuffix      = ".checkpoint.part"
	maxAppendBytes  = 4 << 20 // of one write; keeps it below the smallest segment
)

// topicID is that of __cluster_metadata.
var topicID = [16]byte{15: 1}

// diskStore is the Store in Apache's files: <parent>/__cluster_metadata-0.
type diskStore struct {
	fs     vfs.FS
	parent string
	dir    string
	log    *seglog.Log
	logger *slog.Logger
	now    func() time.Time
	quit   <-chan struct{}
	part   part
	buf    []byte

	renamed bool // the quorum-state file, since the directory was synced
}

// part is the snapshot being fetched.
type part struct {
	id   kraft.SnapshotID
	file vfs.File
	name string
}

func openDiskStore(cfg *Config) (*diskStore, error) {
	s := &diskStore{
		fs: cfg.FS, parent: cfg.Dir, dir: filepath.Join(cfg.Dir, partitionDir), logger: cfg.Logger, now: time.Now,
	}
	if err := s.mkdir(); err != nil {
		return nil, err
	}
	if err := s.sweep(); err != nil {
		return nil, err
	}
	c := seglog.DefaultConfig()
	c.SegmentBytes, c.SegmentMs = cfg.SegmentBytes, cfg.SegmentTime.Milliseconds()
	c.RetentionBytes, c.RetentionMs, c.Delete = -1, -1, false
	log, err := seglog.OpenLog(s.fs, cfg.Dir, seglog.Spec{Topic: topicName, ID: topicID, Config: c},
		seglog.DirOptions{Logger: cfg.Logger})
	if err != nil {
		return nil, err
	}
	s.log = log
	return s, log.Materialize()
}

// mkdir makes the partition's directory, durably: a vote in it must not vanish with it.
func (s *diskStore) mkdir() error {
	if _, err := s.fs.Stat(s.dir); err == nil {
		return nil
	}
	if err := s.fs.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	return errors.Join(s.fs.SyncDir(s.parent), s.fs.SyncDir(filepath.Dir(s.parent)))
}

// sweep removes what was never finished.
func (s *diskStore) sweep() error {
	return s.each(func(name string) error {
		if strings.HasSuffix(name, partSuffix) || strings.HasSuffix(name, checkpoint+".deleted") {
			return s.fs.Remove(filepath.Join(s.dir, name))
		}
		return nil
	})
}

func (s *diskStore) each(fn func(name string) error) error {
	entries, err := s.fs.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := fn(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// Load implements Store: every batch of the log is read and checked.
func (s *diskStore) Load() (kraft.Loaded, error) {
	out := kraft.Loaded{Election: kraft.Election{Leader: kraft.NoID, Voted: kraft.Key{ID: kraft.NoID}}}
	name := filepath.Join(s.dir, quorumStateFile)
	data, err := vfs.ReadFile(s.fs, name)
	if err == nil {
		if out.Election, err = decodeElection(data); err != nil {
			return out, fmt.Errorf("%s: %w", name, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	if out.Log.Snapshots, err = s.list(); err != nil {
		return out, err
	}
	if err := s.align(&out.Log); err != nil {
		return out, err
	}
	if err := s.visit(&out); err != nil {
		return out, fmt.Errorf("%s: %w", s.dir, err)
	}
	if err := loadHead(s, &out); err != nil {
		return out, fmt.Errorf("%s: %w", s.path(newest(out.Log.Snapshots)), err)
	}
	return out, nil
}

// list finds the finished snapshots, but not the one at 0-0.
func (s *diskStore) list() (ids []kraft.SnapshotID, err error) {
	err = s.each(func(name string) error {
		if id, ok := parseSnapshotName(name); ok && id != (kraft.SnapshotID{}) {
			ids = append(ids, id)
		}
		return nil
	})
	slices.SortFunc(ids, compareIDs)
	return ids, err
}

// parseSnapshotName reads <offset, 20 digits>-<epoch, 10 digits>.checkpoint.
func parseSnapshotName(name string) (id kraft.SnapshotID, ok bool) {
	digits, found := strings.CutSuffix(name, checkpoint)
	if !found || len(digits) != 20+1+10 || digits[20] != '-' {
		return id, false
	}
	offset, err := strconv.ParseUint(digits[:20], 10, 63)
	if err != nil {
		return id, false
	}
	epoch, err := strconv.ParseUint(digits[21:], 10, 31)
	return kraft.SnapshotID{Offset: kraft.Offset(offset), Epoch: kraft.Epoch(epoch)}, err == nil
}

// align makes log and snapshots fit: kraft.md 2.9.
func (s *diskStore) align(l *kraft.Log) error {
	if n := len(l.Snapshots); n > 0 && l.Snapshots[n-1].Offset > s.log.EndOffset() {
		// The node stopped between a snapshot's arrival and the truncation that goes with it.
		if err := s.log.TruncateFully(l.Snapshots[n-1].Offset); err != nil {
			return err
		}
	}
	start := s.log.StartOffset()
	if start > 0 {
		i := slices.IndexFunc(l.Snapshots, func(id kraft.SnapshotID) bool { return id.Offset >= start })
		if i < 0 {
			return fmt.Errorf("%s: the log starts at offset %d, but no snapshot reaches that far: records are missing",
				s.dir, start)
		}
		// Where exactly the log starts isn't recorded. Everything below its first snapshot is in that.
		start = l.Snapshots[i].Offset
		if err := s.log.SetStart(start); err != nil {
			return err
		}
		if err := s.dropBelow(l.Snapshots[:i]); err != nil {
			return err
		}
		l.Snapshots = l.Snapshots[i:]
	}
	l.Start, l.End = start, s.log.EndOffset()
	return nil
}

func (s *diskStore) dropBelow(ids []kraft.SnapshotID) error {
	for _, id := range ids {
		if err := s.fs.Remove(s.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (s *diskStore) visit(out *kraft.Loaded) error {
	l := &out.Log
	next := l.Start
	if next == l.End {
		return nil
	}
	return s.log.Visit(next, func(v batch.View) error {
		if v.LastOffset() < l.Start {
			return nil
		}
		if v.BaseOffset() != next && next != l.Start || v.BaseOffset() > next {
			return fmt.Errorf("%w: offset %d where %d belongs", batch.ErrCorrupt, v.BaseOffset(), next)
		}
		batches, err := kraft.Split(v)
		if err != nil {
			return err
		}
		b := &batches[0]
		if n := len(l.Epochs); n == 0 || l.Epochs[n-1].Epoch < b.Epoch {
			l.Epochs = append(l.Epochs, kraft.EpochStart{Epoch: b.Epoch, Start: b.Base})
		} else if b.Epoch < l.Epochs[n-1].Epoch {
			return fmt.Errorf("%w: epoch %d at offset %d follows epoch %d", batch.ErrCorrupt, b.Epoch, b.Base,
				l.Epochs[n-1].Epoch)
		}
		out.Control = append(out.Control, b.Control...)
		next = b.Last + 1
		return nil
	})
}

// SaveElection implements Store.
func (s *diskStore) SaveElection(e kraft.Election) error {
	name := filepath.Join(s.dir, quorumStateFile)
	s.renamed = true
	return s.patiently(func() error {
		if err := vfs.WriteNew(s.fs, name+".tmp", encodeElection(&e), true); err != nil {
			return err
		}
		return s.fs.Rename(name+".tmp", name)
	})
}

// Append implements Store.
func (s *diskStore) Append(batches []kraft.Batch) error {
	now := s.now().UnixMilli()
	s.buf = s.buf[:0]
	for i := range batches {
		if len(s.buf) > 0 && len(s.buf)+len(batches[i].Data) > maxAppendBytes {
			if err := s.patiently(func() error { return s.log.Append(now, s.buf) }); err != nil {
				return err
			}
			s.buf = s.buf[:0]
		}
		s.buf = append(s.buf, batches[i].Data...)
	}
	err := s.patiently(func() error { return s.log.Append(now, s.buf) })
	if cap(s.buf) > maxAppendBytes {
		s.buf = nil
	}
	return err
}

// Sync implements Store. The log comes first: where a sync commits the file system's whole journal, that of
// the directory has nothing left to do.
func (s *diskStore) Sync() error {
	if err := s.patiently(s.log.Flush); err != nil || !s.renamed {
		return err
	}
	err := s.patiently(func() error { return s.fs.SyncDir(s.dir) })
	s.renamed = s.renamed && err != nil
	return err
}

// Truncate implements Store.
func (s *diskStore) Truncate(to kraft.Offset) error { return s.log.TruncateTo(to) }

// patiently does again what failed for want of space or of file descriptors until there is some: until then
// nothing can be decided, but what was decided stays in force, and what needs no decision goes on. A failed
// sync is no such case: after it nobody knows what is on the disk.
func (s *diskStore) patiently(fn func() error) error {
	pause := 50 * time.Millisecond
	for n := 0; ; n++ {
		err := fn()
		if err == nil && n > 0 {
			s.logger.Info("the metadata log goes on")
		}
		if err == nil || errors.Is(err, seglog.ErrSync) || !vfs.Passing(err) {
			return err
		}
		if n == 0 {
			s.logger.Error("the metadata log waits: nothing can be changed until there is space", "error", err)
		}
		select {
		case <-s.quit:
			return err
		case <-time.After(pause):
			pause = min(2*pause, time.Second)
		}
	}
}

// Read implements Store.
func (s *diskStore) Read(from, bound kraft.Offset, limit int) ([]byte, error) {
	slice, err := s.log.Read(from, bound, limit, true)
	if err != nil {
		return nil, err
	}
	defer slice.Release()
	b, err := slice.AppendTo(make([]byte, 0, slice.Len()))
	if err != nil {
		return nil, err
	}
	whole := b
	for {
		_, rest, err := batch.Next(whole)
		if err != nil {
			return b[:len(b)-len(whole)], nil
		}
		whole = rest
	}
}

// Trim implements Store.
func (s *diskStore) Trim(start kraft.Offset) error {
	if err := s.log.SetStart(start); err != nil {
		return err
	}
	if _, err := s.log.Retain(s.now().UnixMilli(), math.MaxInt64); err != nil {
		return err
	}
	ids, err := s.list()
	if err != nil {
		return err
	}
	return s.dropBelow(slices.DeleteFunc(ids, func(id kraft.SnapshotID) bool { return id.Offset >= start }))
}

// Usage implements Store.
func (s *diskStore) Usage() int64 {
	n, err := s.log.Size()
	if err != nil {
		s.logger.Error("measuring the metadata log", "error", err)
	}
	return n
}

// Close implements Store.
func (s *diskStore) Close() error {
	s.closePart()
	return s.log.Close()
}
