package seglog

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// flushJob is what a flush found to be done.
type flushJob struct {
	segs      []flushSegment
	end       batch.Offset
	truncated int
	epochs    []byte // nil: the file is right
	names     bool
	newDir    bool
}

type flushSegment struct {
	*segment
	size   int64
	sealed bool // its indexes too
}

// Flush makes everything appended so far durable and moves the recovery point there. Appends go on meanwhile.
func (l *Log) Flush() error { return l.flush(l.dir.now()) }

func (l *Log) flush(now int64) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	if !l.awake.Load() {
		return nil
	}
	l.mu.Lock()
	j, err := l.planFlush(false)
	l.mu.Unlock()
	if err != nil {
		return err
	}
	err = l.runFlush(&j)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finishFlush(now, &j, err)
	return err
}

// A log that takes much is flushed less often: by then the kernel has written most of it, in larger pieces
// and without holding anybody up.
const (
	muchUnflushed = 64 << 20
	muchEveryMs   = 30_000
)

// flushInTurn is the flush that Checkpoint asks for every few seconds. What is soon done is done at once: a
// start after a crash reads again what wasn't flushed.
func (l *Log) flushInTurn(now int64) error {
	l.mu.Lock()
	since := now - l.lastFlush
	wait := since >= 0 && since < muchEveryMs && l.unflushed() > muchUnflushed
	l.mu.Unlock()
	if wait {
		l.dir.dirty.Store(true) // so that the next checkpoint comes by
		return nil
	}
	return l.flush(now)
}

// unflushed is how many bytes of batches aren't known to be durable. Under mu.
func (l *Log) unflushed() (n int64) {
	segs := l.segments()
	for _, seg := range slices.Backward(segs) {
		n += max(seg.size.Load()-seg.synced, 0)
	}
	return n
}

// flushDue says whether flush.messages or flush.ms asks for a flush. Under mu.
func (l *Log) flushDue(now int64) bool {
	cfg := l.cfg.Load()
	if cfg.FlushMessages < math.MaxInt64 && l.end.Load()-l.recovery.Load() >= cfg.FlushMessages {
		return true
	}
	return cfg.FlushMs < math.MaxInt64 && now-l.lastFlush >= cfg.FlushMs
}

// planFlush lists what isn't durable yet. Under mu.
func (l *Log) planFlush(all bool) (flushJob, error) {
	if err := l.usable(); err != nil {
		return flushJob{}, err
	}
	j := flushJob{end: l.EndOffset(), truncated: l.truncated}
	if !l.made {
		return j, nil
	}
	segs := l.segments()
	for i, s := range segs {
		size := s.size.Load()
		sealed := i+1 < len(segs) || all
		if size > s.synced || sealed && s.indexesDirty() || s.txn.isDirty() {
			j.segs = append(j.segs, flushSegment{s, size, sealed})
		}
	}
	j.names, j.newDir = l.namesDirty, l.newDir
	l.namesDirty, l.newDir = false, false
	if l.epochs.dirty && (all || !l.dir.standalone) {
		j.epochs = encodeEpochs(l.epochs.entries())
		l.epochs.dirty = false
	}
	return j, nil
}

func (l *Log) runFlush(j *flushJob) error {
	for _, s := range j.segs {
		if err := s.sync(s.sealed); err != nil {
			return fmt.Errorf("%s: %w: %s: %w", l, ErrSync, s.name(suffixLog), err)
		}
	}
	if j.epochs != nil {
		if err := vfs.WriteFile(l.dir.fs, l.file(fileEpochs), j.epochs); err != nil {
			return l.fault("write leader epochs", err)
		}
	}
	if j.names {
		if err := l.dir.fs.SyncDir(l.Path()); err != nil {
			return l.fault("sync directory", err)
		}
	}
	if j.newDir {
		return l.fault("sync directory", l.dir.fs.SyncDir(l.dir.path))
	}
	return nil
}

// finishFlush notes what is durable now, or what still isn't. Under mu.
func (l *Log) finishFlush(now int64, j *flushJob, err error) {
	if err != nil {
		l.namesDirty = l.namesDirty || j.names
		l.newDir = l.newDir || j.newDir
		l.epochs.dirty = l.epochs.dirty || j.epochs != nil
		if errors.Is(err, ErrSync) {
			// The kernel may have dropped what it couldn't write: another sync would succeed and mean nothing.
			l.failed = err
		}
		return
	}
	l.lastFlush = now
	for _, s := range j.segs {
		s.synced = max(s.synced, s.size)
	}
	if l.truncated == j.truncated {
		l.recovery.Store(max(l.recovery.Load(), int64(j.end)))
	}
}

// Close flushes and closes the log so that the next start can trust it: the time index ends with the largest
// timestamp, all entries are in the files, and the producers' state is in a snapshot at the end.
func (l *Log) Close() error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	err := l.closeFiles()
	l.shut()
	return err
}

func (l *Log) closeFiles() error {
	if !l.awake.Load() || !l.made || l.active() == nil {
		return nil
	}
	if err := l.usable(); err != nil {
		return err
	}
	if err := l.active().seal(); err != nil {
		return l.fault("close", err)
	}
	if err := l.writeProducers(l.EndOffset()); err != nil {
		return l.fault("close", err)
	}
	j, err := l.planFlush(true)
	if err == nil {
		err = l.runFlush(&j)
	}
	l.finishFlush(l.lastFlush, &j, err)
	return err
}

// shut makes the log unusable and lets its files go.
func (l *Log) shut() {
	l.closed = true
	for _, s := range l.segments() {
		s.close()
	}
}

// Delete renames the log's directory, so that another of its name can be made at once, and closes it.
// Dir.Sweep removes it after file.delete.delay.ms.
func (l *Log) Delete() error { return l.putAside(suffixDirDelete) }

// Stray puts a log aside that metadata says doesn't belong here: kept, not served.
func (l *Log) Stray() error { return l.putAside(suffixDirStray) }

func (l *Log) putAside(suffix string) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("%s: %w", l, ErrClosed)
	}
	if l.made {
		path, err := l.dir.moveAside(l.Path(), l.spec.Topic, l.spec.Partition, suffix)
		if err != nil {
			return l.fault("rename directory", err)
		}
		l.path.Store(&path)
		if suffix == suffixDirDelete {
			l.dir.discard(path, l.cfg.Load().FileDeleteDelayMs)
		}
	}
	l.shut()
	l.dir.forget(l)
	return nil
}
