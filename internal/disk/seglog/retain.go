package seglog

import (
	"slices"

	"github.com/kalda/kalda/internal/format/batch"
)

// Retain deletes the oldest segments that retention no longer covers (broker.md 3.9), none of them with
// anything at or above the high watermark, and returns how many. The start of the log moves before the files
// go.
func (l *Log) Retain(now int64, hw batch.Offset) (int, error) {
	if idle, err := l.retainsAll(now); idle || err != nil {
		return 0, l.fault("retain", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return 0, err
	}
	n, err := l.expired(now, hw)
	if err != nil || n == 0 {
		return 0, l.fault("retain", err)
	}
	if n == len(l.segments()) {
		if err := l.roll(now, l.EndOffset()); err != nil {
			return 0, l.fault("roll", err)
		}
	}
	return n, l.fault("retain", l.dropFirst(n))
}

// dropFirst deletes the first n segments.
func (l *Log) dropFirst(n int) error {
	segs := l.segments()
	first := segs[n].base
	l.start.Store(max(l.start.Load(), int64(first)))
	l.epochs.truncateStart(l.StartOffset())
	next := slices.Clone(segs[n:])
	l.segs.Store(&next)
	for _, s := range segs[:n] {
		if err := l.removeFiles(s, false); err != nil {
			return err
		}
	}
	// The newest snapshot at or before the new start stays: it has the producers whose batches went.
	newest := NoOffset
	for _, o := range l.snapshots {
		if o <= first {
			newest = max(newest, o)
		}
	}
	return l.dropSnapshots(func(o batch.Offset) bool { return o < newest })
}

// expired is the number of leading segments to delete. Under mu.
func (l *Log) expired(now int64, hw batch.Offset) (int, error) {
	cfg := l.cfg.Load()
	segs := l.segments()
	var total int64
	for _, s := range segs {
		total += s.size.Load()
	}
	for i, s := range segs {
		upper := l.EndOffset()
		last := i+1 == len(segs)
		if !last {
			upper = segs[i+1].base
		}
		size := s.size.Load()
		if upper > hw || last && size == 0 {
			return i, nil
		}
		gone := !last && upper <= l.StartOffset()
		if !gone && cfg.Delete {
			gone = cfg.RetentionBytes >= 0 && total-size >= cfg.RetentionBytes
			if !gone {
				var err error
				if gone, err = s.tooOld(now, cfg); err != nil {
					return 0, err
				}
			}
		}
		if !gone {
			return i, nil
		}
		total -= size
	}
	return len(segs), nil
}

// tooOld says whether the segment's newest batch is past retention.ms. Without timestamps the file's time
// counts.
func (s *segment) tooOld(now int64, cfg *Config) (bool, error) {
	if cfg.RetentionMs < 0 {
		return false, nil
	}
	t, _, err := s.largest()
	if err != nil {
		return false, err
	}
	if t < 0 {
		info, err := s.fs().Stat(s.name(suffixLog))
		if err != nil {
			return false, err
		}
		t = info.ModTime().UnixMilli()
	}
	return now-t > cfg.RetentionMs, nil
}

// retainsAll says, without waking a sleeping log, that there is nothing to delete.
func (l *Log) retainsAll(now int64) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.awake.Load() || l.closed {
		return false, nil
	}
	segs := l.segments()
	cfg := l.cfg.Load()
	if len(segs) == 0 || len(segs) == 1 && segs[0].base == l.EndOffset() {
		return true, nil
	}
	if len(segs) > 1 && segs[1].base <= l.StartOffset() {
		return false, nil
	}
	if !cfg.Delete || cfg.RetentionBytes < 0 && cfg.RetentionMs < 0 {
		return true, nil
	}
	if cfg.RetentionBytes >= 0 {
		return false, nil
	}
	defer segs[0].close()
	old, err := segs[0].tooOld(now, cfg)
	return !old, err
}
