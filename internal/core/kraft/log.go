package kraft

import "slices"

// Log is the shape of the log on disk: what the core must know to compare it with others'. It holds no
// records.
type Log struct {
	Start, End Offset
	Epochs     []EpochStart // ascending, the epochs that have records at or after Start
	Snapshots  []SnapshotID // ascending; the bootstrap snapshot 0-0 doesn't count
}

// lastEpoch is the epoch of the last record, of the snapshot when the log is empty, or 0.
func (l *Log) lastEpoch() Epoch {
	if n := len(l.Epochs); n > 0 {
		return l.Epochs[n-1].Epoch
	}
	if s, ok := l.latest(); ok {
		return s.Epoch
	}
	return 0
}

func (l *Log) latest() (SnapshotID, bool) {
	if n := len(l.Snapshots); n > 0 {
		return l.Snapshots[n-1], true
	}
	return SnapshotID{}, false
}

func (l *Log) earliest() (SnapshotID, bool) {
	if len(l.Snapshots) > 0 {
		return l.Snapshots[0], true
	}
	return SnapshotID{}, false
}

// endOf is the largest epoch known that isn't above e, and where it ends. An e below the first known epoch is
// taken to end where that starts: what lies there is the snapshot that the log starts at.
func (l *Log) endOf(e Epoch) EpochEnd {
	i, _ := slices.BinarySearchFunc(l.Epochs, e+1, func(s EpochStart, e Epoch) int {
		return int(s.Epoch) - int(e)
	})
	switch {
	case i == len(l.Epochs):
		return EpochEnd{l.lastEpoch(), l.End}
	case i == 0:
		return EpochEnd{e, l.Epochs[0].Start}
	}
	return EpochEnd{l.Epochs[i-1].Epoch, l.Epochs[i].Start}
}

func (l *Log) append(b *Batch) {
	if n := len(l.Epochs); n == 0 || l.Epochs[n-1].Epoch < b.Epoch {
		l.Epochs = append(l.Epochs, EpochStart{b.Epoch, b.Base})
	}
	l.End = b.Last + 1
}

func (l *Log) truncate(to Offset) {
	l.End = min(l.End, to)
	l.Epochs = slices.DeleteFunc(l.Epochs, func(e EpochStart) bool { return e.Start >= to })
}

// install makes the log empty at a snapshot.
func (l *Log) install(id SnapshotID) {
	l.Start, l.End, l.Epochs = id.Offset, id.Offset, nil
	l.Snapshots = []SnapshotID{id}
}

func (l *Log) addSnapshot(id SnapshotID) {
	if s, ok := l.latest(); !ok || s.Offset < id.Offset {
		l.Snapshots = append(l.Snapshots, id)
	}
}

// trim forgets what lies below start.
func (l *Log) trim(start Offset) {
	l.Start = max(l.Start, start)
	for len(l.Epochs) > 1 && l.Epochs[1].Start <= start {
		l.Epochs = l.Epochs[1:]
	}
	if len(l.Epochs) > 0 {
		l.Epochs[0].Start = max(l.Epochs[0].Start, start)
	}
	l.Snapshots = slices.DeleteFunc(l.Snapshots, func(s SnapshotID) bool { return s.Offset < start })
}

// position is how a fetch position relates to this log: rules 1 to 5 of kraft.md 1.11. At most one result is
// set.
func (l *Log) position(offset Offset, last Epoch) (*EpochEnd, *SnapshotID) {
	latest, some := l.latest()
	if offset == 0 && some {
		return nil, &latest
	}
	if l.Start == 0 && offset == 0 {
		return nil, nil
	}
	if first, ok := l.earliest(); ok {
		if offset < l.Start || offset == l.Start && last != first.Epoch || last < first.Epoch {
			return nil, &latest
		}
	}
	end := l.endOf(last)
	if end.Epoch != last || end.End < offset {
		return &end, nil
	}
	return nil, nil
}

// reconcile is where this log must be cut when a leader's log ends the epoch at end.End.
func (l *Log) reconcile(end EpochEnd) Offset {
	if end.Epoch == 0 {
		return min(l.End, end.End)
	}
	own := l.endOf(end.Epoch)
	if own.Epoch == end.Epoch {
		return min(own.End, end.End)
	}
	return own.End
}
