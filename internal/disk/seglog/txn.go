package seglog

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// AbortedTxn is an entry of a transaction index: an aborted transaction that ended in the segment.
type AbortedTxn struct {
	ProducerID int64
	First      batch.Offset // of the transaction's records
	Last       batch.Offset // its marker
	LastStable batch.Offset // the last stable offset when it ended
}

const txnWidth = 34

func appendTxn(b []byte, t AbortedTxn) []byte {
	be := binary.BigEndian
	b = be.AppendUint16(b, 0)
	b = be.AppendUint64(b, uint64(t.ProducerID))
	b = be.AppendUint64(b, uint64(t.First))
	b = be.AppendUint64(b, uint64(t.Last))
	return be.AppendUint64(b, uint64(t.LastStable))
}

// decodeTxns reads a transaction index. A half-written entry at the end is left out.
func decodeTxns(b []byte) ([]AbortedTxn, error) {
	be := binary.BigEndian
	out := make([]AbortedTxn, 0, len(b)/txnWidth)
	for ; len(b) >= txnWidth; b = b[txnWidth:] {
		t := AbortedTxn{
			ProducerID: int64(be.Uint64(b[2:])), First: batch.Offset(be.Uint64(b[10:])),
			Last: batch.Offset(be.Uint64(b[18:])), LastStable: batch.Offset(be.Uint64(b[26:])),
		}
		if be.Uint16(b) != 0 || t.First < 0 || t.Last < t.First || len(out) > 0 && t.Last <= out[len(out)-1].Last {
			return out, fmt.Errorf("%w: transaction index entry %d", ErrCorrupt, len(out))
		}
		out = append(out, t)
	}
	return out, nil
}

// txnIndex is a segment's aborted transactions. Most segments have none, and no file.
type txnIndex struct {
	mu     sync.Mutex
	exists bool // the file does
	loaded bool
	dirty  bool
	all    []AbortedTxn
}

func (x *txnIndex) load(s *segment) ([]AbortedTxn, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.loadLocked(s)
}

func (x *txnIndex) loadLocked(s *segment) ([]AbortedTxn, error) {
	if x.loaded || !x.exists {
		return x.all, nil
	}
	b, err := vfs.ReadFile(s.fs(), s.name(suffixTxn))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	all, err := decodeTxns(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name(suffixTxn), err)
	}
	x.all, x.loaded = all, true
	return all, nil
}

// add appends a transaction unless it is known, as on a replay.
func (x *txnIndex) add(s *segment, t AbortedTxn) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, err := x.loadLocked(s); err != nil {
		return err
	}
	if n := len(x.all); n > 0 && x.all[n-1].Last >= t.Last {
		return nil
	}
	f, err := s.fs().OpenFile(s.name(suffixTxn), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	x.exists, x.loaded, x.dirty = true, true, true
	if _, err := f.WriteAt(appendTxn(nil, t), int64(len(x.all)*txnWidth)); err != nil {
		return err
	}
	x.all = append(x.all, t)
	return nil
}

// keep cuts the index to transactions that ended before o, and to what can be read of it.
func (x *txnIndex) keep(s *segment, o batch.Offset) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.exists {
		return nil
	}
	f, err := s.fs().OpenFile(s.name(suffixTxn), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := vfs.ReadFile(s.fs(), s.name(suffixTxn))
	if err != nil {
		return err
	}
	all, _ := decodeTxns(b) // what follows a bad entry is made again by the replay
	all = slices.DeleteFunc(all, func(t AbortedTxn) bool { return t.Last >= o })
	x.all, x.loaded, x.dirty = all, true, true
	return f.Truncate(int64(len(all) * txnWidth))
}

func (x *txnIndex) sync(s *segment) error {
	x.mu.Lock()
	dirty := x.dirty
	x.dirty = false
	x.mu.Unlock()
	if !dirty {
		return nil
	}
	f, err := s.fs().OpenFile(s.name(suffixTxn), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// AppendAborted records that a transaction was aborted by the marker at t.Last, which is the newest batch of
// the log.
func (l *Log) AppendAborted(t AbortedTxn) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return err
	}
	segs := l.segments()
	i := floorSegment(segs, t.Last)
	if i < 0 {
		return fmt.Errorf("%s: aborted transaction at %d, the log starts later", l, t.Last)
	}
	l.namesDirty = true
	return l.fault("write transaction index", segs[i].txn.add(segs[i], t))
}

// Aborted lists the aborted transactions that a reader of [from, to) must know, sorted by their first offset.
func (l *Log) Aborted(from, to batch.Offset) ([]AbortedTxn, error) {
	if err := l.wake(); err != nil {
		return nil, err
	}
	var out []AbortedTxn
	segs := l.segments()
scan:
	for i := max(floorSegment(segs, from), 0); i < len(segs); i++ {
		all, err := segs[i].txn.load(segs[i])
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			if t.Last >= from && t.First < to {
				out = append(out, t)
			}
			if t.LastStable >= to {
				break scan // whatever ends later began later
			}
		}
	}
	slices.SortFunc(out, func(a, b AbortedTxn) int { return int(min(max(a.First-b.First, -1), 1)) })
	return out, nil
}

func (x *txnIndex) isDirty() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.dirty
}
