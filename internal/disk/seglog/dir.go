package seglog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// DirOptions are what a Dir needs besides its path.
type DirOptions struct {
	Logger *slog.Logger // nil: slog's default
	Now    func() int64 // ms; nil: the clock
}

// Dir is one entry of log.dirs, locked by this process.
type Dir struct {
	fs   vfs.FS
	path string
	o    DirOptions
	lock io.Closer

	clean      bool  // the last shutdown was
	sameBoot   bool  // all that the last run wrote is there: the machine didn't stop since (see boot.go)
	bootSaved  bool  // the next start may think so, too
	cleanEpoch int64 // and the broker's epoch then
	dirty      atomic.Bool
	doubted    atomic.Bool // an append failed: is it the directory?
	standalone bool        // one log outside any log directory: no checkpoints, no delays

	mu       sync.Mutex
	logs     map[TopicPartition]*Log
	found    map[TopicPartition]bool         // directories that nobody opened yet
	recovery map[TopicPartition]batch.Offset // as on disk
	starts   map[TopicPartition]batch.Offset
	cleaned  map[TopicPartition]batch.Offset
	saved    [3]string // the checkpoints' content as last written
	trash    []trash
	aside    []string // directories of logs put aside
}

type trash struct {
	path string
	due  int64
}

// OpenDir locks a log directory, making it if need be, and reads what the last run left. The marker of a
// clean shutdown is deleted at once: a crash while loading must not look like one.
func OpenDir(fsys vfs.FS, path string, o DirOptions) (*Dir, error) {
	if err := makeDir(fsys, path); err != nil {
		return nil, fmt.Errorf("log directory %s: %w", path, err)
	}
	lock, err := fsys.Lock(filepath.Join(path, fileLock))
	if err != nil {
		return nil, fmt.Errorf("log directory %s is in use: %w", path, err)
	}
	d := newDir(fsys, path, o)
	d.lock = lock
	if err := d.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("log directory %s: %w", path, err), lock.Close())
	}
	return d, nil
}

// makeDir makes path with a durable name, if it isn't there.
func makeDir(fsys vfs.FS, path string) error {
	absent, err := missing(fsys, path)
	if err != nil || !absent {
		return err
	}
	if err := fsys.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(path))
}

func newDir(fsys vfs.FS, path string, o DirOptions) *Dir {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	return &Dir{
		fs: fsys, path: path, o: o, cleanEpoch: -1, logs: map[TopicPartition]*Log{},
		found: map[TopicPartition]bool{},
	}
}

func (d *Dir) now() int64 { return d.o.Now() }

func (d *Dir) warn(msg string, args ...any) { d.o.Logger.Warn(msg, args...) }

// Path is the directory.
func (d *Dir) Path() string { return d.path }

// Clean says whether the last run ended cleanly, and the broker epoch it had, -1 if unknown.
func (d *Dir) Clean() (bool, int64) { return d.clean, d.cleanEpoch }

func (d *Dir) load() error {
	marker := filepath.Join(d.path, fileClean)
	b, err := vfs.ReadFile(d.fs, marker)
	switch {
	case err == nil:
		d.clean, d.cleanEpoch = true, decodeClean(b)
		if err := d.fs.Remove(marker); err != nil {
			return err
		}
		if err := d.fs.SyncDir(d.path); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if d.recovery, err = d.loadCheckpoint(fileRecovery); err != nil {
		return err
	}
	if d.starts, err = d.loadCheckpoint(fileStart); err != nil {
		return err
	}
	if d.cleaned, err = d.loadCheckpoint(fileCleaned); err != nil {
		return err
	}
	if err := d.list(); err != nil {
		return err
	}
	return d.loadBoot()
}

// loadCheckpoint reads an offset checkpoint; one that can't be understood counts as empty, for which logs
// are verified whole.
func (d *Dir) loadCheckpoint(name string) (map[TopicPartition]batch.Offset, error) {
	entries, err := LoadOffsets(d.fs, filepath.Join(d.path, name))
	if errors.Is(err, ErrCorrupt) {
		d.warn("unreadable checkpoint: going without", "error", err)
		entries, err = nil, nil
	}
	m := make(map[TopicPartition]batch.Offset, len(entries))
	for _, e := range entries {
		m[e.TopicPartition] = e.Offset
	}
	return m, err
}

// list looks for logs. What isn't one is left alone.
func (d *Dir) list() error {
	ents, err := d.fs.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, e := range ents {
		name := e.Name()
		topic, partition, isLog := parseLogName(name)
		switch {
		case !e.IsDir() || name == remoteCacheName || name == metadataLogName:
		case isAside(name, suffixDirDelete):
			d.trash = append(d.trash, trash{filepath.Join(d.path, name), math.MinInt64})
		case isAside(name, suffixDirFuture), isAside(name, suffixDirStray):
			d.aside = append(d.aside, name)
		case isLog:
			d.found[TopicPartition{topic, partition}] = true
		default:
			d.o.Logger.Info("leaving a foreign directory alone", "path", filepath.Join(d.path, name))
		}
	}
	return nil
}

// Found lists the logs that are on disk and weren't opened yet, in order.
func (d *Dir) Found() []TopicPartition {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(maps.Keys(d.found), compareTP)
}

// Aside lists the directories of logs that were put aside: -stray and -future.
func (d *Dir) Aside() []string { return d.aside }

// Has says whether the directory holds, or has open, that log.
func (d *Dir) Has(topic string, partition int32) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	tp := TopicPartition{topic, partition}
	return d.found[tp] || d.logs[tp] != nil
}

// FoundID is the topic id of a log on disk; zero if it has none.
func (d *Dir) FoundID(topic string, partition int32) ([16]byte, error) {
	name := filepath.Join(d.path, logName(topic, partition), filePartition)
	b, err := vfs.ReadFile(d.fs, name)
	if errors.Is(err, fs.ErrNotExist) {
		return [16]byte{}, nil
	}
	if err != nil {
		return [16]byte{}, err
	}
	id, err := decodePartition(b)
	if err != nil {
		return id, fmt.Errorf("%s: %w", name, err)
	}
	return id, nil
}

// Open opens a log, or starts a new one: that touches no disk before its first append. ErrTopicID: what is
// on disk belongs to another topic of that name. After an unclean stop Open verifies what lies past the
// recovery point (see OpenAll).
func (d *Dir) Open(s Spec) (*Log, error) {
	tp := TopicPartition{s.Topic, s.Partition}
	d.mu.Lock()
	if d.logs[tp] != nil {
		d.mu.Unlock()
		return nil, fmt.Errorf("%s is open already in %s", tp, d.path)
	}
	found := d.found[tp]
	rp, known := d.recovery[tp]
	start := d.starts[tp]
	cleaned, compacted := d.cleaned[tp]
	d.mu.Unlock()
	l := newLog(d, s)
	if found && compacted {
		l.cleaned.Store(int64(cleaned))
	}
	if found {
		l.start.Store(int64(start))
		if err := l.openFound(rp, known); err != nil {
			return nil, l.fault("open", err)
		}
	} else {
		l.awake.Store(true)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.found, tp)
	d.logs[tp] = l
	return l, nil
}

// openFound opens a log that is on disk. rp is its recovery point, if known.
func (l *Log) openFound(rp batch.Offset, known bool) error {
	d := l.dir
	id, err := d.FoundID(l.spec.Topic, l.spec.Partition)
	if err != nil {
		return err
	}
	if none := [16]byte{}; id != none && l.spec.ID != none && id != l.spec.ID {
		return fmt.Errorf("%s: %w: %x, not %x", l.file(filePartition), ErrTopicID, id, l.spec.ID)
	} else if l.spec.ID == none {
		l.spec.ID = id
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.list(); err != nil {
		return err
	}
	s := l.active()
	switch {
	case s == nil:
		l.end.Store(l.start.Load())
		l.recovery.Store(l.start.Load())
		l.awake.Store(true)
		return nil
	case d.clean && known && rp >= s.base && rp >= l.StartOffset():
		l.end.Store(int64(rp))
		l.recovery.Store(int64(rp))
		return nil
	case d.clean:
		err = l.wakeLocked()
		l.recovery.Store(l.end.Load())
		l.closeIdle()
		return err
	}
	defer l.closeIdle()
	l.verifyFrom = max(rp, l.StartOffset())
	if !known {
		l.verifyFrom = 0
	}
	l.recovery.Store(int64(l.verifyFrom))
	l.adopt = d.sameBoot && known
	d.dirty.Store(true)
	return l.wakeLocked()
}

// closeIdle closes all files: of thousands of logs that were recovered, few may be used.
func (l *Log) closeIdle() {
	for _, s := range l.segments() {
		s.close()
	}
}

// OpenLog opens one log outside any Dir: no lock, no checkpoints; everything in it is verified.
func OpenLog(fsys vfs.FS, parent string, s Spec, o DirOptions) (*Log, error) {
	d := newDir(fsys, parent, o)
	d.standalone = true
	if err := makeDir(fsys, parent); err != nil {
		return nil, err
	}
	absent, err := missing(fsys, filepath.Join(parent, logName(s.Topic, s.Partition)))
	if err != nil {
		return nil, err
	}
	if !absent {
		d.found[TopicPartition{s.Topic, s.Partition}] = true
	}
	return d.Open(s)
}

// Log is an open log, nil if there is none of that name.
func (d *Dir) Log(topic string, partition int32) *Log {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.logs[TopicPartition{topic, partition}]
}

// Logs lists the open logs in order.
func (d *Dir) Logs() []*Log {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(maps.Values(d.logs), func(a, b *Log) int {
		return cmp.Or(strings.Compare(a.spec.Topic, b.spec.Topic), int(a.spec.Partition-b.spec.Partition))
	})
}

func (d *Dir) forget(l *Log) {
	d.mu.Lock()
	defer d.mu.Unlock()
	tp := TopicPartition{l.spec.Topic, l.spec.Partition}
	delete(d.logs, tp)
	delete(d.recovery, tp)
	delete(d.starts, tp)
	delete(d.cleaned, tp)
}

// Discard deletes a log that is on disk and that nobody opened, as Log.Delete does.
func (d *Dir) Discard(topic string, partition int32) error {
	_, err := d.putAside(TopicPartition{topic, partition}, suffixDirDelete)
	return err
}

// SetAside renames a log that is on disk and that nobody opened, as Log.Stray does, and tells its new path.
func (d *Dir) SetAside(topic string, partition int32) (path string, err error) {
	return d.putAside(TopicPartition{topic, partition}, suffixDirStray)
}

func (d *Dir) putAside(tp TopicPartition, suffix string) (path string, err error) {
	if path, err = d.moveAside(filepath.Join(d.path, tp.String()), tp.Topic, tp.Partition, suffix); err != nil {
		return "", err
	}
	if suffix == suffixDirDelete {
		d.discard(path, 0)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.found, tp)
	delete(d.recovery, tp)
	delete(d.starts, tp)
	delete(d.cleaned, tp)
	return path, nil
}

func (d *Dir) moveAside(path, topic string, partition int32, suffix string) (string, error) {
	to := filepath.Join(d.path, asideName(topic, partition, suffix))
	if err := d.fs.Rename(path, to); err != nil {
		return "", err
	}
	return to, d.fs.SyncDir(d.path)
}

// discard leaves a file or directory for Sweep to remove after delay ms.
func (d *Dir) discard(path string, delay int64) {
	if d.standalone {
		_ = d.fs.RemoveAll(path) // if it fails the next start removes it
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trash = append(d.trash, trash{path, d.now() + delay})
}
