package broker

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/format/batch"
)

// checkpointEvery is how often appends are made durable in the background. It is less than Apache's 60 s,
// because a start after a crash reads again what was appended since.
const checkpointEvery = 5 * time.Second

// Start begins the background tasks: putting logs on disk, checkpoints, retention, compaction, expiry.
func (b *Broker) Start() {
	b.compareDirs()
	b.logs.wg.Go(b.materializer)
	b.logs.wg.Go(b.tasks)
	b.logs.wg.Go(b.cleaner.run)
}

// PutStraysAside renames the logs on disk that metadata doesn't place here. To be called once, when the image
// is current: an old one would make strays of everything that came later.
func (b *Broker) PutStraysAside() {
	b.logs.placing.Lock()
	defer b.logs.placing.Unlock()
	b.logs.current = true
	for _, d := range b.logs.dirs {
		if d.failed.Load() {
			continue
		}
		for _, tp := range d.Found() {
			t, _ := b.hosting.Load().byName.Get(tp.Topic)
			if t.partition(tp.Partition) != nil {
				continue
			}
			to, err := d.SetAside(tp.Topic, tp.Partition)
			if err != nil {
				b.log.Error("a log can't be put aside", "path", d.path, "log", tp.String(), "error", err)
				continue
			}
			b.log.Warn("put a log aside that metadata doesn't place here", "path", d.path, "log", tp.String(),
				"now", to)
		}
	}
}

// task is something done every so often.
type task struct {
	every time.Duration
	do    func(now time.Time)
	due   time.Time
}

// tasks runs the tasks one after another: none of them is urgent.
func (b *Broker) tasks() {
	start := time.Now()
	list := []*task{
		{every: min(b.cfg.RecoveryCheckpoint, checkpointEvery), do: b.checkpoint},
		{every: b.cfg.HWCheckpoint, do: func(time.Time) { b.saveHighWatermarks() }},
		{every: b.cfg.RetentionCheck, do: b.retain, due: start.Add(b.cfg.InitialTaskDelay)},
		{every: b.cfg.ProducerExpiryCheck, do: b.expireProducers},
		{every: assignEvery, do: func(time.Time) { b.assignDirs() }, due: start.Add(assignFirst)},
	}
	if b.cfg.FlushCheck > 0 {
		list = append(list, &task{every: b.cfg.FlushCheck, do: b.flushDue})
	}
	for _, t := range list {
		if t.due.IsZero() {
			t.due = start.Add(t.every)
		}
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		next := list[0]
		for _, t := range list {
			if t.due.Before(next.due) {
				next = t
			}
		}
		timer.Reset(time.Until(next.due))
		select {
		case <-b.logs.stop:
			return
		case <-timer.C:
			next.do(b.cfg.Now())
			next.due = time.Now().Add(next.every)
		}
	}
}

// each calls fn with every hosted partition that has a log, until the broker stops.
func (b *Broker) each(fn func(p *Partition)) {
	b.hosting.Load().byID.Scan(func(_ string, t *hosted) bool {
		for _, p := range t.parts {
			if p != nil && p.log != nil {
				fn(p)
			}
		}
		select {
		case <-b.logs.stop:
			return false
		default:
			return true
		}
	})
}

// checkpoint makes what was appended durable, and notes how far.
func (b *Broker) checkpoint(now time.Time) {
	b.each((*Partition).putProducers)
	for _, d := range b.logs.dirs {
		if d.failed.Load() {
			continue
		}
		if err := d.Checkpoint(now.UnixMilli()); err != nil {
			b.checkpointFailed(d, err)
		}
	}
}

// CheckpointNow does what the checkpoint task does, now.
func (b *Broker) CheckpointNow() { b.checkpoint(b.cfg.Now()) }

func (b *Broker) saveHighWatermarks() {
	next := map[*logDir]map[seglog.TopicPartition]batch.Offset{}
	b.hosting.Load().byID.Scan(func(_ string, t *hosted) bool {
		for _, p := range t.parts {
			if p == nil || p.log == nil || p.HW() == 0 {
				continue
			}
			m := next[p.dir]
			if m == nil {
				m = map[seglog.TopicPartition]batch.Offset{}
				next[p.dir] = m
			}
			m[seglog.TopicPartition{Topic: p.topic, Partition: p.n}] = p.HW()
		}
		return true
	})
	for _, d := range b.logs.dirs {
		if d.failed.Load() || maps.Equal(next[d], d.savedHW) {
			continue
		}
		entries := make([]seglog.PartitionOffset, 0, len(next[d]))
		for tp, o := range next[d] {
			entries = append(entries, seglog.PartitionOffset{TopicPartition: tp, Offset: o})
		}
		if err := d.SaveHighWatermarks(entries); err != nil {
			b.log.Error("writing high watermarks failed", "path", d.path, "error", err)
			continue
		}
		d.savedHW = next[d]
	}
}

// retain deletes what retention doesn't cover any more.
func (b *Broker) retain(now time.Time) {
	b.each(func(p *Partition) {
		if n, err := p.retain(now.UnixMilli()); err != nil {
			b.log.Error("retention failed", "partition", p.String(), "error", err)
		} else if n > 0 {
			b.log.Info("retention deleted segments", "partition", p.String(), "segments", n, "start", p.LogStart())
		}
	})
}

// retain holds mu: it may roll, which asks for a producer snapshot.
func (p *Partition) retain(now int64) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return 0, nil
	}
	n, err := p.log.Retain(now, p.HW())
	if n > 0 {
		p.stable()
	}
	return n, err
}

func (b *Broker) expireProducers(now time.Time) {
	b.each(func(p *Partition) { p.expireProducers(now.UnixMilli()) })
}

// flushDue flushes logs whose flush.ms is over without an append that would notice.
func (b *Broker) flushDue(time.Time) {
	b.each(func(p *Partition) {
		if c := p.log.Config(); c.FlushMs < 1<<62 && p.log.RecoveryPoint() < p.log.EndOffset() {
			if err := p.log.Flush(); err != nil {
				b.log.Error("flush failed", "partition", p.String(), "error", err)
			}
		}
	})
}

// materialize has partitions put on disk soon. They can be used at once: the first append would do it too.
func (b *Broker) materialize(parts []*Partition) {
	select {
	case b.logs.made <- parts:
	default: // later or by the first append
		b.logs.backlog.Store(true)
	}
}

func (b *Broker) materializer() {
	b.noteLogs()
	for {
		select {
		case <-b.logs.stop:
			return
		case parts := <-b.logs.made:
			for _, p := range parts {
				b.materializeOne(p)
			}
			b.assignDirs()
			if len(b.logs.made) == 0 {
				b.noteLogs()
			}
			if b.logs.backlog.Swap(false) {
				b.each(b.materializeOne)
			}
		}
	}
}

// noteLogs sees to it that a start after a kill knows the logs that there are now.
func (b *Broker) noteLogs() {
	for _, d := range b.logs.dirs {
		if d.failed.Load() {
			continue
		}
		if err := d.Note(); err != nil {
			b.checkpointFailed(d, err)
		}
	}
}

func (b *Broker) materializeOne(p *Partition) {
	select {
	case <-b.logs.stop:
		return
	default:
	}
	if p.log == nil {
		return
	}
	if err := p.log.Materialize(); err != nil && !errors.Is(err, seglog.ErrClosed) {
		b.log.Error("a log can't be put on disk", "partition", p.String(), "error", err)
	}
}

// Close stops the background tasks, flushes and closes the logs and marks the shutdown as clean. No request
// may be served any more.
func (b *Broker) Close(ctx context.Context) error {
	close(b.logs.stop)
	b.logs.wg.Wait()
	b.saveHighWatermarks()
	epoch := int64(-1)
	if me := b.Image().Broker(b.cfg.NodeID); me != nil {
		epoch = me.Epoch
	}
	var faults []error
	for _, d := range b.logs.dirs {
		if !d.failed.Load() {
			faults = append(faults, d.Close(epoch))
		}
	}
	return errors.Join(faults...)
}
