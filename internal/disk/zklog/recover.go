package zklog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kalda/kalda/internal/format/jute"
)

// Restorer is what a data directory is restored into.
type Restorer interface {
	// Begin forgets all and says what takes the next snapshot that is tried.
	Begin() SnapshotVisitor
	// Loaded comes once, after the last Begin: the visitor has got a whole snapshot; or none, if info is nil.
	Loaded(info *SnapshotInfo) error
	// Txn applies a transaction past the snapshot. It may have been applied already, as snapshots are fuzzy.
	// Data is valid during the call only.
	Txn(e Entry) error
}

// Recovery is what Recover found.
type Recovery struct {
	Empty    bool          // nothing was there: a new server
	Snapshot string        // the path of the snapshot that was taken
	Info     *SnapshotInfo // and what it says; nil without one
	Last     jute.Zxid     // the newest transaction
	Txns     int           // how many were replayed
	Warnings []string      // what was wrong and is mended: name, offset and reason
}

// Recover restores the newest valid snapshot and all transactions after it. Torn tails are cut off the logs.
// Bytes that were synced and can't be read are an error (ErrCorrupt) that names file and offset, unless an
// older snapshot and the logs after it make up for them.
func (s *Store) Recover(r Restorer) (*Recovery, error) {
	rec := &Recovery{}
	skipped, err := s.loadSnapshot(r, rec)
	if err != nil {
		return nil, err
	}
	from := jute.Zxid(0)
	if rec.Info != nil {
		from = rec.Info.Zxid
	}
	rec.Last = from
	if err := s.replay(r, rec, skipped); err != nil {
		return nil, err
	}
	s.log.last.Store(int64(rec.Last))
	rec.Empty = rec.Info == nil && rec.Txns == 0
	return rec, nil
}

// loadSnapshot tries the snapshots from the newest on; skipped says that there was a newer one that is bad.
func (s *Store) loadSnapshot(r Restorer, rec *Recovery) (skipped bool, err error) {
	files, err := list(s.fs, s.snapDir, snapPrefix)
	if err != nil {
		return false, err
	}
	var bad error
	tried := 0
	for i := len(files) - 1; i >= 0 && tried < maxSnapshots; i-- {
		tried++
		info, err := s.readSnapshot(files[i], r.Begin())
		if err == nil {
			rec.Snapshot, rec.Info = files[i].path, info
			return bad != nil, r.Loaded(info)
		}
		if !errors.Is(err, ErrCorrupt) {
			return false, err
		}
		if bad == nil {
			bad = err
		}
		rec.Warnings = append(rec.Warnings, fmt.Sprintf("snapshot passed over: %v", err))
	}
	if bad != nil {
		return false, fmt.Errorf("no snapshot in %s can be read: %w", s.snapDir, bad)
	}
	r.Begin()
	return false, r.Loaded(nil)
}

func (s *Store) replay(r Restorer, rec *Recovery, skipped bool) error {
	reader, err := s.Read(rec.Last + 1)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }()
	var e Entry
	for reader.Next(&e) {
		if rec.Info == nil && !s.opts.TrustEmpty {
			return fmt.Errorf("%s holds transactions, but there is no snapshot in %s: its snapshots were lost, "+
				"or dataDir is wrong (zookeeper.snapshot.trust.empty=true starts from the logs alone)",
				s.logDir, s.snapDir)
		}
		if gap := e.Zxid > rec.Last+1 && e.Zxid.Epoch() == rec.Last.Epoch(); gap {
			if skipped && rec.Txns == 0 {
				return fmt.Errorf("%s: transactions from %v on are missing after %s: %w",
					reader.cur.path, rec.Last+1, rec.Snapshot, ErrCorrupt)
			}
			rec.Warnings = append(rec.Warnings,
				fmt.Sprintf("%s: no transaction between %v and %v", reader.cur.path, rec.Last, e.Zxid))
		}
		if err := r.Txn(e); err != nil {
			at := reader.pos - frameSize(e.Data)
			return fmt.Errorf("%s: offset %d: transaction %v: %w", reader.cur.path, at, e.Zxid, err)
		}
		rec.Txns++
		rec.Last = max(rec.Last, e.Zxid)
	}
	if err := reader.Err(); err != nil {
		return err
	}
	rec.Last = max(rec.Last, reader.last)
	for _, c := range reader.cuts {
		rec.Warnings = append(rec.Warnings,
			fmt.Sprintf("%s: offset %d: torn tail cut off (%s)", c.file.path, c.at, c.reason))
		if err := s.cutTail(c.file, c.at); err != nil {
			return err
		}
	}
	return errors.Join(s.dropEmpty(), s.dropTmp())
}

// cutTail ends a log file at an offset; a file without a record goes.
func (s *Store) cutTail(f file, at int64) error {
	if at <= headerSize {
		if err := s.fs.Remove(f.path); err != nil {
			return err
		}
		return s.fs.SyncDir(s.logDir)
	}
	w, err := s.fs.OpenFile(f.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = w.Truncate(at)
	if err == nil {
		err = w.Sync()
	}
	return errors.Join(err, w.Close())
}

// dropEmpty removes the newest log file if it holds no record: the next one may have its name.
func (s *Store) dropEmpty() error {
	files, err := list(s.fs, s.logDir, logPrefix)
	if err != nil || len(files) == 0 {
		return err
	}
	f := files[len(files)-1]
	w, err := openWindow(s.fs, f.path)
	if err != nil {
		return err
	}
	data, err := w.frame(headerSize)
	empty := data == nil && err == nil // what is wrong with a file was found by the reader, if it matters
	if err := w.f.Close(); err != nil || !empty {
		return err
	}
	return s.cutTail(f, 0)
}

// dropTmp removes snapshots that were being written when the last run ended.
func (s *Store) dropTmp() error {
	entries, err := s.fs.ReadDir(s.snapDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, snapPrefix) && strings.HasSuffix(name, tmpSuffix) {
			if err := s.fs.Remove(filepath.Join(s.snapDir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}
