package seglog

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// list reads the log's directory: which segments there are, after what a crash left of replacements and
// deletions is cleared.
func (l *Log) list() error {
	ents, err := l.dir.fs.ReadDir(l.Path())
	if err != nil {
		return err
	}
	names := make([]string, 0, len(ents))
	for _, e := range ents {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	l.made = true
	if slices.ContainsFunc(names, unfinished) {
		if names, err = l.clearUnfinished(names); err != nil {
			return err
		}
	}
	segs, err := l.found(names)
	if err != nil {
		return err
	}
	l.segs.Store(&segs)
	if len(segs) > 0 {
		l.start.Store(max(l.start.Load(), int64(segs[0].base)))
	}
	return nil
}

func unfinished(name string) bool {
	return strings.HasSuffix(name, suffixDeleted) || strings.HasSuffix(name, suffixCleaned) ||
		strings.HasSuffix(name, suffixSwap)
}

// found makes the segments and the list of snapshots of a directory's names. Indexes without a log are
// removed.
func (l *Log) found(names []string) ([]*segment, error) {
	segs := make([]*segment, 0, 1)
	for _, name := range names { // sorted: logs come before the indexes of larger bases, in order
		if base, suffix, ok := parseSegmentName(name); ok && suffix == suffixLog {
			segs = append(segs, newSegment(l, base))
		}
	}
	for _, name := range names {
		base, suffix, ok := parseSegmentName(name)
		if !ok {
			continue
		}
		i := floorSegment(segs, base)
		orphan := i < 0 || segs[i].base != base
		switch {
		case suffix == suffixSnapshot:
			l.snapshots = append(l.snapshots, base)
		case suffix != suffixIndex && suffix != suffixTime && suffix != suffixTxn:
		case orphan:
			if err := l.dir.fs.Remove(l.file(name)); err != nil {
				return nil, err
			}
		case suffix == suffixTxn:
			segs[i].txn.exists = true
		case suffix == suffixIndex:
			segs[i].hasIndex |= 1
		default:
			segs[i].hasIndex |= 2
		}
	}
	return segs, nil
}

// clearUnfinished removes what a crash left of deletions and of replacements that weren't complete, and
// completes those that were: their files have .swap names, and take the place of all segments that they
// span.
func (l *Log) clearUnfinished(names []string) ([]string, error) {
	firstCleaned := batch.Offset(math.MaxInt64)
	for _, name := range names {
		if base, _, ok := parseSegmentName(name); ok && strings.HasSuffix(name, suffixCleaned) {
			firstCleaned = min(firstCleaned, base)
		}
	}
	var keep, swaps []string
	for _, name := range names {
		base, _, ok := parseSegmentName(name)
		isSwap := ok && strings.HasSuffix(name, suffixSwap)
		switch {
		case !unfinished(name):
			keep = append(keep, name)
		case isSwap && base < firstCleaned:
			swaps = append(swaps, name)
		default: // .deleted, .cleaned, or a .swap of a split whose other part is still .cleaned
			if err := l.dir.fs.Remove(l.file(name)); err != nil {
				return nil, err
			}
		}
	}
	if len(swaps) == 0 {
		return keep, nil
	}
	return l.finishSwaps(keep, swaps)
}

func (l *Log) finishSwaps(keep, swaps []string) ([]string, error) {
	lo, hi := batch.Offset(math.MaxInt64), batch.Offset(-1)
	for _, name := range swaps {
		base, suffix, _ := parseSegmentName(name)
		if suffix != suffixLog+suffixSwap {
			continue
		}
		end, err := l.endOfFile(name, base)
		if err != nil {
			return nil, err
		}
		lo, hi = min(lo, base), max(hi, end)
	}
	replaced := func(name string) bool {
		base, suffix, ok := parseSegmentName(name)
		return ok && suffix != suffixSnapshot && base >= lo && base < hi
	}
	for _, name := range keep {
		if replaced(name) {
			if err := l.dir.fs.Remove(l.file(name)); err != nil {
				return nil, err
			}
		}
	}
	keep = slices.DeleteFunc(keep, replaced)
	for _, name := range swaps {
		to := strings.TrimSuffix(name, suffixSwap)
		if err := l.dir.fs.Rename(l.file(name), l.file(to)); err != nil {
			return nil, err
		}
		keep = append(keep, to)
	}
	slices.Sort(keep)
	keep = slices.Compact(keep) // a replacement without batches spans nothing, but has the name of one
	return keep, l.dir.fs.SyncDir(l.Path())
}

// endOfFile is the offset after the last batch of a log file.
func (l *Log) endOfFile(name string, base batch.Offset) (batch.Offset, error) {
	f, err := l.dir.fs.OpenFile(l.file(name), 0, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end := base
	_, err = walk(f, 0, info.Size(), func(h *header) bool { end = h.last + 1; return true })
	return end, err
}

// wake reads what a log that was opened lazily needs to be used.
func (l *Log) wake() error {
	if l.awake.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("%s: %w", l, ErrClosed)
	}
	return l.wakeLocked()
}

func (l *Log) wakeLocked() error {
	if l.awake.Load() {
		return nil
	}
	if err := l.load(); err != nil {
		return l.fault("load", err)
	}
	for _, e := range l.early {
		l.epochs.assign(e.Epoch, e.Start)
	}
	l.early = nil
	l.verifyFrom = math.MaxInt64
	l.awake.Store(true)
	return nil
}

// load reads the epochs, and the segments from the first that is to be verified on.
func (l *Log) load() error {
	if len(l.segments()) == 0 {
		return nil
	}
	if err := l.loadEpochs(); err != nil {
		return err
	}
	end, err := l.loadSegments()
	if err != nil {
		return err
	}
	if end < l.StartOffset() {
		l.dir.warn("log ends before its start offset: starting anew there", "log", l.String(),
			"end", end, "start", l.StartOffset())
		return l.reset(l.StartOffset())
	}
	if claimed := l.EndOffset(); l.verifyFrom == math.MaxInt64 && claimed != end {
		l.dir.warn("log doesn't end where the clean shutdown said", "log", l.String(), "end", end, "said", claimed)
	}
	l.end.Store(int64(end))
	if l.RecoveryPoint() > end {
		l.recovery.Store(int64(end))
	}
	l.epochs.truncateEnd(end)
	l.epochs.truncateStart(l.StartOffset())
	// Transaction indexes are believed up to where verification began: the replay makes the rest of them again,
	// and must not begin later. A log without producers has nothing to replay.
	unsure := l.verifyFrom
	if l.adopt || l.spec.Producers == nil {
		unsure = math.MaxInt64
	}
	if err := l.dropSnapshots(func(o batch.Offset) bool { return o > min(end, unsure) }); err != nil {
		return err
	}
	l.active().begin(l.dir.now(), l.cfg.Load(), end)
	return nil
}

// loadEpochs reads the file of epochs. A log of its own, which is read whole anyway, makes them from its
// batches: so that no sync of it has to wait for that file, which is written when the log is closed.
func (l *Log) loadEpochs() error {
	if l.dir.standalone {
		return nil
	}
	b, err := vfs.ReadFile(l.dir.fs, l.file(fileEpochs))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	es, err := decodeEpochs(b)
	if err != nil {
		l.dir.warn("unreadable leader epochs: making them again", "file", l.file(fileEpochs), "error", err)
		l.verifyFrom = min(l.verifyFrom, l.StartOffset())
	}
	l.epochs.p.Store(&es)
	return nil
}

// loadSegments learns every segment's size and, where the last shutdown wasn't clean, verifies what lies
// past the recovery point: at the first batch that isn't whole the log is cut, and later segments go.
func (l *Log) loadSegments() (end batch.Offset, err error) {
	segs := l.segments()
	for i, s := range segs {
		sealed := i+1 < len(segs)
		if sealed && segs[i+1].base <= l.verifyFrom && s.hasIndex == 3 {
			if err := s.stat(); err != nil {
				return 0, err
			}
			continue
		}
		var whole bool
		next := batch.Offset(math.MaxInt64)
		if sealed {
			next = segs[i+1].base
		}
		if l.adopt {
			end, whole, err = l.adoptSegment(s, next)
		} else {
			end, whole, err = l.scanSegment(s, l.verifyFrom, l.verifyFrom, next)
		}
		if err != nil {
			return 0, err
		}
		if !whole && sealed {
			l.dir.warn("dropping the segments after the damage", "log", l.String(),
				"segments", len(segs)-i-1, "end", end)
			kept := segs[: i+1 : i+1]
			l.segs.Store(&kept)
			if err := l.removeAll(segs[i+1:]); err != nil {
				return 0, err
			}
			return end, l.dir.fs.SyncDir(l.Path())
		}
		if sealed {
			if err := s.seal(); err != nil {
				return 0, err
			}
		}
	}
	return end, nil
}
