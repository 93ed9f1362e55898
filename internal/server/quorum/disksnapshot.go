package quorum

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/kalda/kalda/internal/core/kraft"
	"github.com/kalda/kalda/internal/disk/vfs"
)

func (s *diskStore) path(id kraft.SnapshotID) string {
	return filepath.Join(s.dir, fmt.Sprintf("%020d-%010d%s", id.Offset, id.Epoch, checkpoint))
}

func (s *diskStore) createPart(id kraft.SnapshotID) (vfs.File, string, error) {
	name := filepath.Join(s.dir, fmt.Sprintf("%020d-%010d-%d%s", id.Offset, id.Epoch, rand.Uint64(), partSuffix))
	f, err := s.fs.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	return f, name, err
}

// finish makes an unfinished snapshot durable, read-only, and gives it its name.
func (s *diskStore) finish(f vfs.File, name string, id kraft.SnapshotID) error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := s.fs.Chmod(name, 0o400); err != nil {
		return err
	}
	if err := s.fs.Rename(name, s.path(id)); err != nil {
		return err
	}
	return s.fs.SyncDir(s.dir)
}

// WritePart implements Store.
func (s *diskStore) WritePart(id kraft.SnapshotID, position int64, data []byte) error {
	if position == 0 && len(data) == 0 || s.part.file == nil || s.part.id != id {
		s.closePart()
		f, name, err := s.createPart(id)
		if err != nil {
			return err
		}
		s.part = part{id, f, name}
	}
	_, err := s.part.file.WriteAt(data, position)
	return err
}

// Discard implements Store.
func (s *diskStore) Discard(kraft.SnapshotID) error {
	s.closePart()
	return nil
}

// closePart forgets the unfinished snapshot. What remains of it, if removing fails, goes at the next start.
func (s *diskStore) closePart() {
	if s.part.file == nil {
		return
	}
	if err := errors.Join(s.part.file.Close(), s.fs.Remove(s.part.name)); err != nil {
		s.logger.Warn("removing an unfinished snapshot", "file", s.part.name, "error", err)
	}
	s.part = part{}
}

// Install implements Store.
func (s *diskStore) Install(id kraft.SnapshotID) error {
	p := s.part
	if p.file == nil || p.id != id {
		return errNoSnapshot
	}
	st, err := p.file.Stat()
	if err != nil {
		return err
	}
	if _, err := readSnapshot(&diskFile{p.file, st.Size()}, id, anything); err != nil {
		s.closePart()
		return err
	}
	s.part = part{}
	if err := s.finish(p.file, p.name, id); err != nil {
		return err
	}
	if err := s.log.TruncateFully(id.Offset); err != nil {
		return err
	}
	ids, err := s.list()
	if err != nil {
		return err
	}
	return s.dropBelow(slices.DeleteFunc(ids, func(o kraft.SnapshotID) bool { return o.Offset >= id.Offset }))
}

// Open implements Store.
func (s *diskStore) Open(id kraft.SnapshotID) (SnapshotFile, error) {
	return openSnapshot(s.fs, s.path(id))
}

func openSnapshot(fsys vfs.FS, name string) (SnapshotFile, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoSnapshot
	}
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &diskFile{f, st.Size()}, nil
}

type diskFile struct {
	vfs.File
	size int64
}

func (f *diskFile) Size() int64 { return f.size }

// Create implements Store.
func (s *diskStore) Create(id kraft.SnapshotID) (SnapshotWriter, error) {
	f, name, err := s.createPart(id)
	if err != nil {
		return nil, err
	}
	return &diskWriter{s: s, f: f, name: name, id: id}, nil
}

// diskWriter is used off the quorum's goroutine: of the store it touches the file system only.
type diskWriter struct {
	s    *diskStore
	f    vfs.File
	name string
	id   kraft.SnapshotID
	pos  int64
}

func (w *diskWriter) Write(b []byte) (int, error) {
	n, err := w.f.WriteAt(b, w.pos)
	w.pos += int64(n)
	return n, err
}

func (w *diskWriter) Commit() error { return w.s.finish(w.f, w.name, w.id) }

func (w *diskWriter) Abort() {
	if err := errors.Join(w.f.Close(), w.s.fs.Remove(w.name)); err != nil {
		w.s.logger.Warn("removing an unfinished snapshot", "file", w.name, "error", err)
	}
}

// bootstrapRecords are the data records of the 0-0 snapshot or, as releases before 4.3 wrote them, of
// bootstrap.checkpoint.
func (s *diskStore) bootstrapRecords() ([][]byte, error) {
	older := filepath.Join(s.parent, "bootstrap.checkpoint")
	for _, name := range [...]string{s.path(kraft.SnapshotID{}), older} {
		f, err := openSnapshot(s.fs, name)
		if errors.Is(err, errNoSnapshot) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var recs [][]byte
		_, err = readSnapshot(f, kraft.SnapshotID{}, func(r []byte) bool { recs = append(recs, r); return true })
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(recs) > 0 {
			return recs, nil
		}
	}
	return nil, nil
}
