package seglog

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// flushers is how many logs are flushed at once: syncs of different files share the file system's journal
// commits.
const flushers = 8

// Checkpoint makes the open logs durable, writes the recovery points and start offsets if they changed,
// closes files that weren't used since the last call, and sweeps. The owner calls it every few seconds: what
// was appended since is what a start after a crash reads again. A log's failure doesn't keep the others from
// being flushed.
func (d *Dir) Checkpoint(now int64) error {
	logs := d.Logs()
	var errs []error
	if d.dirty.Swap(false) {
		errs = append(errs, forEach(logs, func(l *Log) error { return l.flushInTurn(now) }))
	}
	for _, l := range logs {
		for _, s := range l.segments() {
			s.idle()
		}
	}
	errs = append(errs, d.saveCheckpoints(), d.saveBoot(), d.Sweep(now))
	if err := errors.Join(errs...); err != nil {
		d.dirty.Store(true)
		return err
	}
	return nil
}

// Note writes down that the logs that are on disk now are known, without making anything durable that they
// hold: the next start, if it comes before the first checkpoint and on the same boot of the machine, believes
// them (see boot.go).
func (d *Dir) Note() error {
	d.mu.Lock()
	known := true
	for tp, l := range d.logs {
		if _, ok := d.recovery[tp]; !ok && len(l.segments()) > 0 {
			known = false
			break
		}
	}
	d.mu.Unlock()
	if known {
		return nil
	}
	return errors.Join(d.saveCheckpoints(), d.saveBoot())
}

// forEach runs fn for all logs, a few at a time.
func forEach(logs []*Log, fn func(*Log) error) error {
	var wg sync.WaitGroup
	errs := make([]error, len(logs))
	slots := make(chan struct{}, flushers)
	for i, l := range logs {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = fn(l)
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Sweep removes deleted files and directories whose time has come.
func (d *Dir) Sweep(now int64) error {
	d.mu.Lock()
	var due []trash
	d.trash = slices.DeleteFunc(d.trash, func(t trash) bool {
		if t.due > now {
			return false
		}
		due = append(due, t)
		return true
	})
	d.mu.Unlock()
	var errs []error
	for _, t := range due {
		if err := d.fs.RemoveAll(t.path); err != nil {
			errs = append(errs, err)
			d.discard(t.path, 0)
		}
	}
	return errors.Join(errs...)
}

// saveCheckpoints writes the recovery points, the start offsets and how far logs are compacted. Logs that
// nobody opened keep what they had.
func (d *Dir) saveCheckpoints() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.doubted.Swap(false) {
		d.saved = [3]string{} // to see whether it can be written
	}
	var points, starts, cleaned []PartitionOffset
	for tp := range d.found {
		if o, ok := d.recovery[tp]; ok {
			points = append(points, PartitionOffset{tp, o})
		}
		if o, ok := d.starts[tp]; ok {
			starts = append(starts, PartitionOffset{tp, o})
		}
		if o, ok := d.cleaned[tp]; ok {
			cleaned = append(cleaned, PartitionOffset{tp, o})
		}
	}
	for tp, l := range d.logs {
		segs := l.segments()
		if len(segs) == 0 {
			continue
		}
		points = append(points, PartitionOffset{tp, l.RecoveryPoint()})
		if start := l.StartOffset(); start > segs[0].base {
			starts = append(starts, PartitionOffset{tp, start})
		}
		if o := l.Cleaned(); o >= 0 {
			cleaned = append(cleaned, PartitionOffset{tp, o})
		}
	}
	err := d.saveCheckpoint(0, fileRecovery, points)
	if err == nil {
		for _, p := range points {
			d.recovery[p.TopicPartition] = p.Offset
		}
	}
	err = errors.Join(err, d.saveCheckpoint(1, fileStart, starts))
	if len(cleaned) == 0 && d.saved[2] == "" && len(d.cleaned) == 0 {
		return err // nothing was ever compacted here
	}
	if fault := d.saveCheckpoint(2, fileCleaned, cleaned); fault != nil {
		return errors.Join(err, fault)
	}
	for _, c := range cleaned {
		d.cleaned[c.TopicPartition] = c.Offset
	}
	return err
}

// SaveStarts makes the start offsets durable, for who promised that what lies before them is gone.
func (d *Dir) SaveStarts() error { return d.saveCheckpoints() }

func (d *Dir) saveCheckpoint(i int, name string, entries []PartitionOffset) error {
	sortOffsets(entries)
	b := encodeOffsets(entries)
	if string(b) == d.saved[i] {
		return nil
	}
	if err := vfs.WriteFile(d.fs, filepath.Join(d.path, name), b); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	d.saved[i] = string(b)
	return nil
}

// recoveryLowered writes the recovery points if l's went back behind what is on disk: what is appended in
// the place of what was truncated isn't durable yet.
func (d *Dir) recoveryLowered(l *Log) error {
	d.mu.Lock()
	tp := TopicPartition{l.spec.Topic, l.spec.Partition}
	on, ok := d.recovery[tp]
	cleaned, compacted := d.cleaned[tp]
	d.mu.Unlock()
	lower := ok && on > l.RecoveryPoint() || compacted && cleaned > l.Cleaned()
	if d.standalone || !lower {
		return nil
	}
	return d.saveCheckpoints()
}

// Close closes all logs, a few at a time, and, if all went well, leaves the marker that lets the next start
// trust them. It leaves none if there are logs that the last run left uncleanly and that nobody opened since,
// as when a start fails: where those end isn't known.
func (d *Dir) Close(brokerEpoch int64) error {
	err := forEach(d.Logs(), (*Log).Close)
	err = errors.Join(err, d.saveCheckpoints())
	if err == nil && !d.unknown() {
		err = vfs.WriteFile(d.fs, filepath.Join(d.path, fileClean), encodeClean(brokerEpoch))
	}
	return errors.Join(err, d.lock.Close())
}

// Abandon lets go of the directory without writing anything, as a crash would.
func (d *Dir) Abandon() error {
	for _, l := range d.Logs() {
		l.mu.Lock()
		l.shut()
		l.mu.Unlock()
	}
	return d.lock.Close()
}

// LoadHighWatermarks reads replication-offset-checkpoint.
func (d *Dir) LoadHighWatermarks() (map[TopicPartition]batch.Offset, error) {
	return d.loadCheckpoint(fileHW)
}

// SaveHighWatermarks replaces replication-offset-checkpoint.
func (d *Dir) SaveHighWatermarks(entries []PartitionOffset) error {
	return SaveOffsets(d.fs, filepath.Join(d.path, fileHW), entries)
}

// Progress hears how far OpenAll is.
type Progress func(done, total int, l *Log, err error)

// OpenAll opens many logs with a number of threads (num.recovery.threads.per.data.dir): after an unclean
// stop that is where the recovery happens. The result has nil where opening failed; progress, called one at
// a time, hears why.
func (d *Dir) OpenAll(specs []Spec, threads int, progress Progress) []*Log {
	logs := make([]*Log, len(specs))
	var mu sync.Mutex
	done := 0
	var wg sync.WaitGroup
	next := make(chan int)
	for range max(threads, 1) {
		wg.Go(func() {
			for i := range next {
				l, err := d.Open(specs[i])
				mu.Lock()
				logs[i] = l
				done++
				if progress != nil {
					progress(done, len(specs), l, err)
				}
				mu.Unlock()
			}
		})
	}
	for i := range specs {
		next <- i
	}
	close(next)
	wg.Wait()
	return logs
}
