package broker

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

var errOffline = errors.New("the log's directory is offline")

// logDir is one entry of log.dirs.
type logDir struct {
	*seglog.Dir // nil if it can't be used
	path        string
	id          meta.UUID
	count       int // partitions placed there; ApplyImage's
	failed      atomic.Bool
	hw          map[seglog.TopicPartition]batch.Offset // as the last run left it
	savedHW     map[seglog.TopicPartition]batch.Offset // as on disk now; the tasks'
}

// logs is the log manager: the directories and the tasks that look after what is in them.
type logs struct {
	dirs []*logDir
	stop chan struct{}
	wg   sync.WaitGroup
	made chan []*Partition // to be put on disk

	backlog atomic.Bool // made was full once
	broken  atomic.Bool // a directory failed, now or before the start
	current bool        // the image was once the newest: what comes from now on is new; ApplyImage's
	placing sync.Mutex  // held while logs are opened, deleted and put aside
}

// openDirs locks the log directories. One that can't be used is left out, as long as there is another.
func (b *Broker) openDirs() error {
	var faults []error
	for path, err := range b.cfg.FailedDirs {
		b.noteFailed(path, err)
		faults = append(faults, err)
	}
	opts := seglog.DirOptions{Logger: b.log, Now: func() int64 { return b.cfg.Now().UnixMilli() }}
	usable := 0
	for i, path := range b.cfg.LogDirs {
		d := &logDir{path: path}
		if i < len(b.cfg.DirIDs) {
			d.id = b.cfg.DirIDs[i]
		}
		dir, err := seglog.OpenDir(b.cfg.FS, path, opts)
		if err == nil {
			d.Dir = dir
			d.hw, err = dir.LoadHighWatermarks()
		}
		if errors.Is(err, vfs.ErrLocked) { // no fault of the directory: another node works in it
			return fmt.Errorf("another process uses this log directory: %w", err)
		}
		if err != nil {
			faults = append(faults, err)
			d.Dir = nil
			d.failed.Store(true)
			b.noteFailed(path, err)
		} else {
			usable++
			if clean, _ := dir.Clean(); !clean && len(dir.Found()) > 0 {
				b.log.Info("the last stop wasn't clean: logs are looked at from their recovery points on",
					"path", path, "logs", len(dir.Found()))
			}
		}
		b.logs.dirs = append(b.logs.dirs, d)
	}
	if usable == 0 && len(faults) > 0 {
		return fmt.Errorf("no usable log directory: %w", errors.Join(faults...))
	}
	return nil
}

func (b *Broker) noteFailed(path string, err error) {
	b.logs.broken.Store(true)
	b.m.OfflineLogDirs.Add(1)
	b.log.Error("log directory is offline: its partitions are, until it is repaired and the node restarted",
		"path", path, "error", err)
}

// place chooses the directory of a partition: where it lies already, else where metadata wants it, else the
// emptiest. nil: offline, as it may lie in a directory that failed.
func (b *Broker) place(topic string, n int32, m *meta.Partition) *logDir {
	var best *logDir
	for _, d := range b.logs.dirs {
		if d.failed.Load() {
			continue
		}
		if d.Has(topic, n) {
			return d
		}
		if best == nil || d.count < best.count {
			best = d
		}
	}
	if b.logs.broken.Load() && !b.logs.current {
		return nil // only what is made from now on is known to lie nowhere
	}
	for i, id := range m.Replicas {
		if id != b.cfg.NodeID || i >= len(m.Dirs) {
			continue
		}
		for _, d := range b.logs.dirs {
			if d.id == m.Dirs[i] && d.id != (meta.UUID{}) && !d.failed.Load() {
				return d
			}
		}
	}
	return best
}

// opening is a partition whose log is about to be opened.
type opening struct {
	p *Partition
	m *meta.Partition
}

// openLogs opens the logs of new partitions, many at once where there are many.
func (b *Broker) openLogs(list []opening) {
	byDir := map[*logDir][]*Partition{}
	for _, o := range list {
		d := b.place(o.p.topic, o.p.n, o.m)
		if d == nil {
			b.log.Error("a partition is offline with its log directory", "partition", o.p.String())
			continue
		}
		o.p.dir = d
		d.count++
		byDir[d] = append(byDir[d], o.p)
	}
	var wg sync.WaitGroup
	for d, parts := range byDir {
		wg.Go(func() { b.openIn(d, parts) })
	}
	wg.Wait()
}

// progressEvery is how often a long recovery tells how far it is.
const progressEvery = 5 * time.Second

func (b *Broker) openIn(d *logDir, parts []*Partition) {
	specs := make([]seglog.Spec, len(parts))
	for i, p := range parts {
		specs[i] = p.spec()
	}
	last := time.Now()
	clean, _ := d.Clean()
	logs := d.OpenAll(specs, b.cfg.RecoveryThreads, func(done, total int, _ *seglog.Log, err error) {
		if err != nil && !errors.Is(err, seglog.ErrTopicID) {
			b.log.Error("a log can't be opened: its partition is offline", "path", d.path, "error", err)
		}
		if now := time.Now(); !clean && now.Sub(last) > progressEvery {
			last = now
			b.log.Info("recovering logs after an unclean stop", "path", d.path, "done", done, "of", total)
		}
	})
	for i, p := range parts {
		p.log = logs[i]
		if p.log == nil {
			p.log = b.reopen(d, specs[i])
		}
		if p.log != nil {
			at := seglog.TopicPartition{Topic: p.topic, Partition: p.n}
			p.hw.Store(int64(max(min(d.hw[at], p.log.EndOffset()), p.log.StartOffset())))
		}
	}
}

// reopen puts a log of another topic of that name aside and starts a new one. nil: that wasn't it.
func (b *Broker) reopen(d *logDir, s seglog.Spec) *seglog.Log {
	id, err := d.FoundID(s.Topic, s.Partition)
	if err != nil || id == s.ID || id == [16]byte{} {
		return nil
	}
	log := fmt.Sprintf("%s-%d", s.Topic, s.Partition)
	to, err := d.SetAside(s.Topic, s.Partition)
	if err != nil {
		b.log.Error("a log can't be put aside", "path", d.path, "log", log, "error", err)
		return nil
	}
	b.log.Warn("put a log aside whose partition.metadata names another topic of that name", "path", d.path,
		"log", log, "itsID", meta.UUID(id).String(), "metadataHasID", meta.UUID(s.ID).String(), "now", to)
	l, err := d.Open(s)
	if err != nil {
		b.log.Error("a log can't be opened", "path", d.path, "error", err)
		return nil
	}
	return l
}

func (p *Partition) spec() seglog.Spec {
	return seglog.Spec{
		Topic: p.topic, ID: p.id, Partition: p.n, Config: p.rules.Load().log, Producers: p.snapshotProducers,
	}
}

// remove ends a partition and deletes its log; stray only puts it aside.
func (p *Partition) remove(stray bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return
	}
	p.gone = true
	p.b.cleaner.forget(p)
	old := *p.role.Load()
	old.leading = false
	p.role.Store(&old)
	p.release(kerr.NotLeaderOrFollower)
	if p.log == nil {
		return
	}
	p.dir.count--
	var err error
	if stray {
		err = p.log.Stray()
	} else {
		err = p.log.Delete()
	}
	if err != nil {
		p.b.log.Error("a log can't be removed", "partition", p.String(), "error", err)
	}
}
