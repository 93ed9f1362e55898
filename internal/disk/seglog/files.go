package seglog

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

var segmentSuffixes = [...]string{suffixLog, suffixIndex, suffixTime, suffixTxn}

// removeFiles deletes a segment's files now, or renames them for Dir.Sweep to delete after
// file.delete.delay.ms: readers that found the segment a moment ago may still open them.
func (l *Log) removeFiles(s *segment, now bool) error {
	l.namesDirty = true
	fsys := l.dir.fs
	for _, suffix := range segmentSuffixes {
		name := l.file(segmentName(s.base) + suffix)
		if now {
			if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		err := fsys.Rename(name, name+suffixDeleted)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		l.dir.discard(name+suffixDeleted, l.cfg.Load().FileDeleteDelayMs)
	}
	if !now {
		s.rename(suffixDeleted)
	}
	s.close()
	return nil
}

// removeAll deletes segments that damage or a truncation cut off, for good.
func (l *Log) removeAll(segs []*segment) error {
	for _, s := range slices.Backward(segs) {
		if err := l.removeFiles(s, true); err != nil {
			return err
		}
	}
	return nil
}

// writeProducers asks the owner for its producers' state at offset o, the log's end, and writes it as a
// snapshot.
func (l *Log) writeProducers(o batch.Offset) error {
	if l.spec.Producers == nil {
		return l.putProducers(o, batch.AppendProducers(nil, nil))
	}
	b := l.spec.Producers(o)
	if b == nil {
		return nil
	}
	return l.putProducers(o, b)
}

func (l *Log) putProducers(o batch.Offset, b []byte) error {
	if slices.Contains(l.snapshots, o) {
		return nil
	}
	l.namesDirty = true
	if err := vfs.WriteNew(l.dir.fs, l.file(segmentName(o)+suffixSnapshot), b, false); err != nil {
		return err
	}
	l.snapshots = append(l.snapshots, o)
	slices.Sort(l.snapshots)
	return nil
}

// PutProducers writes the producers' state up to offset o as a snapshot, so that a restart replays only what
// comes later. Of the snapshots that don't belong to a segment's start only the newest is kept.
func (l *Log) PutProducers(o batch.Offset, b []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	if l.active() == nil || o > l.EndOffset() {
		return nil
	}
	if err := l.putProducers(o, b); err != nil {
		return l.fault("write producer snapshot", err)
	}
	segs := l.segments()
	return l.fault("remove producer snapshot", l.dropSnapshots(func(x batch.Offset) bool {
		i := floorSegment(segs, x)
		return x < o && (i < 0 || segs[i].base != x)
	}))
}

// LatestProducers is the newest snapshot up to offset upTo that can be read: its offset and content
// (DecodeProducers). NoOffset if there is none: the state is that of no producer at the start of the log,
// and all of it is to be replayed.
func (l *Log) LatestProducers(upTo batch.Offset) (batch.Offset, []byte, error) {
	if err := l.wake(); err != nil {
		return NoOffset, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range slices.Backward(l.snapshots) {
		if o > upTo {
			continue
		}
		name := l.file(segmentName(o) + suffixSnapshot)
		b, err := vfs.ReadFile(l.dir.fs, name)
		if err == nil {
			_, err = batch.DecodeProducers(b)
		}
		if err == nil {
			return o, b, nil
		}
		if !errors.Is(err, batch.ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) {
			return NoOffset, nil, l.fault("read producer snapshot", err)
		}
		l.dir.warn("unreadable producer snapshot: taking an older one", "file", name, "error", err)
	}
	return NoOffset, nil, nil
}

// dropSnapshots removes the snapshots that drop picks.
func (l *Log) dropSnapshots(drop func(batch.Offset) bool) error {
	kept := l.snapshots[:0]
	var first error
	for _, o := range l.snapshots {
		if first == nil && drop(o) {
			err := l.dir.fs.Remove(l.file(segmentName(o) + suffixSnapshot))
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				l.namesDirty = true
				continue
			}
			first = err
		}
		kept = append(kept, o)
	}
	l.snapshots = kept
	return first
}
