package broker

import (
	"errors"
	"io"
	"time"

	"github.com/kalda/kalda/internal/core/compact"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// errStopped ends a cleaning that isn't wanted any more.
var errStopped = errors.New("cleaning stopped")

// cleanOne cleans the log that needs it most. False: there was none, or it failed.
func (c *cleaner) cleanOne(s *cleanerSettings) bool {
	now := c.b.cfg.Now()
	j := c.choose(now.UnixMilli(), s.buffer)
	if j == nil {
		return false
	}
	defer c.done(j.p)
	start := time.Now()
	r := round{c: c, set: s, job: j, now: now.UnixMilli()}
	if err := r.run(); err != nil {
		c.failed(j.p, err)
		return false
	}
	took := time.Since(start)
	stats := &r.filter.Stats
	m := c.b.m
	m.CleanerTime.Set(int64(took.Seconds()))
	m.CleanerBuffer.Set(int64(100 * r.keys.Load()))
	if stats.BytesRead > 0 {
		m.CleanerRecopy.Set(100 * stats.BytesKept / stats.BytesRead)
	}
	m.CleanedLogs.Inc()
	m.CleanedBytes.Add(stats.BytesRead)
	c.b.log.Info("log compacted", "partition", j.p.String(), "from", j.First, "to", r.end, "keys", r.keys.Len(),
		"bytes", stats.BytesRead, "kept", stats.BytesKept, "records", stats.RecordsRead,
		"recordsKept", stats.RecordsKept, "took", took.Round(time.Millisecond))
	if stats.Keyless > 0 {
		c.b.log.Warn("records without a key went from a compacted log", "partition", j.p.String(),
			"records", stats.Keyless)
	}
	return true
}

// failed tells of a cleaning that didn't succeed. Unless it was stopped, or for want of what may come
// back, the log isn't tried again: it would fail again, and it grows until somebody looks.
func (c *cleaner) failed(p *Partition, err error) {
	switch {
	case errors.Is(err, errStopped), errors.Is(err, seglog.ErrChanged), errors.Is(err, seglog.ErrClosed):
		return
	case vfs.Passing(err):
		c.b.log.Error("cleaning a log failed and is tried again", "partition", p.String(), "error", err)
		return
	}
	bytes, _ := p.log.Size()
	c.mu.Lock()
	c.unfit[p] = bytes
	c.mu.Unlock()
	c.b.log.Error("a log can't be cleaned: it isn't compacted any more, until the next start",
		"partition", p.String(), "error", err)
}

// forget lets go of a partition that is gone.
func (c *cleaner) forget(p *Partition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.unfit, p)
}

// round is one cleaning of one log.
type round struct {
	*job
	c      *cleaner
	set    *cleanerSettings
	now    int64
	keys   *compact.Keys
	end    batch.Offset // up to where it is clean then
	filter compact.Filter
	gone   []compact.Aborted // aborted transactions whose markers stay, to be noted
	out    []byte
}

func (r *round) run() error {
	if r.Reset {
		r.c.b.log.Warn("what was noted as compacted isn't in the log: compacting all of it",
			"partition", r.p.String(), "noted", r.state.Cleaned, "start", r.state.Start, "end", r.state.End)
	}
	if err := r.fillKeys(); err != nil {
		return err
	}
	r.filter = compact.Filter{
		Keys: r.keys, Codec: &r.rules.codec, Now: r.now, DeleteRetentionMs: r.rules.compact.DeleteRetentionMs,
		End: r.Range.End, LastOf: r.p.lastOf,
	}
	r.filter.Txns.Keep = func(a compact.Aborted) { r.gone = append(r.gone, a) }
	at := 0
	for _, n := range compact.Groups(r.state.Segments, r.end, r.Range.End, &r.rules.compact) {
		if err := r.rewrite(at, n); err != nil {
			return err
		}
		at += n
	}
	return r.p.log.SetCleaned(r.end)
}

// step counts bytes that were read or written, and says whether to go on.
func (r *round) step(n int) error {
	if rest := r.c.pace.take(n, r.set.rate, time.Now()); rest > 0 && !r.c.sleep(rest) || r.c.stopped() ||
		!r.p.rules.Load().log.Compact {
		return errStopped
	}
	return nil
}

// next is where the segment after the ith starts.
func (r *round) next(i int) batch.Offset { return r.state.Segments[i+1].Base }

// fillKeys is the first pass.
func (r *round) fillKeys() error {
	set := r.set
	r.keys = compact.NewKeys(set.memory, set.load, int64(r.Range.End-r.First), r.c.seed)
	m := compact.Mapper{Keys: r.keys, From: r.First, Codec: &r.rules.codec}
	aborted, err := r.aborted(r.First, r.Range.End)
	if err != nil {
		return err
	}
	m.Txns.Add(aborted)
	for i := range r.state.Segments {
		s := &r.state.Segments[i]
		if s.Base >= r.Range.End {
			break
		}
		if r.next(i) <= r.First {
			continue
		}
		full := false
		err := r.segs.Walk(i, r.First, func(b []byte) (err error) {
			if err = r.step(len(b)); err != nil {
				return err
			}
			if full, err = m.Add(b); full {
				return io.EOF
			}
			return err
		})
		if err != nil {
			return r.unless(i, err)
		}
		if full {
			break
		}
		m.EndOfSegment(r.next(i))
	}
	r.end = r.keys.Latest() + 1
	return nil
}

// unless is an error met at segment i, or ErrChanged if the log isn't what it was.
func (r *round) unless(i int, err error) error {
	if r.segs.Changed(i) {
		return seglog.ErrChanged
	}
	return err
}

func (r *round) aborted(from, to batch.Offset) ([]compact.Aborted, error) {
	list, err := r.p.log.Aborted(from, to)
	out := make([]compact.Aborted, len(list))
	for i, t := range list {
		out[i] = compact.Aborted{
			ProducerID: t.ProducerID, First: t.First, Last: t.Last, LastStableOffset: t.LastStable,
		}
	}
	return out, err
}

// rewrite is the second pass over n segments from the ith on.
func (r *round) rewrite(i, n int) error {
	w, err := r.segs.Rewrite(i, n)
	if err != nil {
		return r.unless(i, err)
	}
	for j := i; j < i+n; j++ {
		if err := r.rewriteOne(w, j); err != nil {
			w.Discard()
			return r.unless(i, err)
		}
	}
	return w.Finish()
}

func (r *round) rewriteOne(w *seglog.Rewriting, i int) error {
	aborted, err := r.aborted(r.state.Segments[i].Base, r.next(i))
	if err != nil {
		return err
	}
	r.filter.Txns.Add(aborted)
	if r.filter.KeepLegacyDeletes, err = r.keepLegacyDeletes(i); err != nil {
		return err
	}
	return r.segs.Walk(i, r.state.Segments[i].Base, func(b []byte) error {
		var err error
		if r.out, err = r.filter.Append(r.out[:0], b); err != nil {
			return err
		}
		if err := w.Append(r.out); err != nil {
			return err
		}
		for _, a := range r.gone {
			if err := w.Aborted(seglog.AbortedTxn{
				ProducerID: a.ProducerID, First: a.First, Last: a.Last, LastStable: a.LastStableOffset,
			}); err != nil {
				return err
			}
		}
		r.gone = r.gone[:0]
		return r.step(len(b) + len(r.out))
	})
}

// keepLegacyDeletes says whether tombstones of old formats, which have no delete horizon, stay: as long as
// the segment is younger than the clean part of the log by delete.retention.ms.
func (r *round) keepLegacyDeletes(i int) (bool, error) {
	clean := -1
	for k := range r.state.Segments {
		if r.state.Segments[k].Base < r.First {
			clean = k
		}
	}
	if clean < 0 {
		return true, nil
	}
	newest, err := r.segs.Modified(clean)
	if err != nil {
		return false, err
	}
	mine, err := r.segs.Modified(i)
	return mine > newest-r.rules.compact.DeleteRetentionMs, err
}

// lastOf tells the cleaner what is still to be known of a producer.
func (p *Partition) lastOf(id int64) (compact.LastOf, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known.Load() {
		return compact.LastOf{Data: -1}, true // who knows
	}
	data, epoch, ok := p.producers.Last(id)
	return compact.LastOf{Data: data, Epoch: epoch}, ok
}
