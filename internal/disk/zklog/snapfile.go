package zklog

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/format/snappystream"
)

// maxSnapshots is how many snapshots a start tries.
const maxSnapshots = 100

// SaveSnapshot writes a snapshot: all of it, durably, or nothing. It returns its path and size.
func (s *Store) SaveSnapshot(snap *Snapshot) (path string, size int64, err error) {
	s.snapshots.Lock()
	defer s.snapshots.Unlock()
	path = filepath.Join(s.snapDir, snapName(snap.Zxid))
	if s.opts.Compression != "" {
		path += "." + s.opts.Compression
	}
	tmp := path + tmpSuffix
	f, err := s.fs.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return "", 0, err
	}
	w := &atWriter{f: f}
	err = compress(w, s.opts.Compression, snap)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = s.fs.Rename(tmp, path)
	}
	if err == nil {
		err = s.fs.SyncDir(s.snapDir)
	}
	if err != nil {
		return "", 0, errors.Join(fmt.Errorf("snapshot %v: %w", snap.Zxid, err), s.fs.Remove(tmp))
	}
	return path, w.pos, nil
}

const tmpSuffix = ".tmp"

// compress writes the snapshot through a compressor.
func compress(w io.Writer, method string, snap *Snapshot) error {
	var c io.WriteCloser
	switch method {
	case "gz":
		c = gzip.NewWriter(w)
	case "snappy":
		c = snappystream.NewWriter(w)
	default:
		return snap.Encode(w)
	}
	if err := snap.Encode(c); err != nil {
		return err
	}
	return c.Close()
}

// atWriter appends to a file.
type atWriter struct {
	f   vfs.File
	pos int64
}

func (w *atWriter) Write(p []byte) (int, error) {
	n, err := w.f.WriteAt(p, w.pos)
	w.pos += int64(n)
	return n, err
}

// SnapshotFile is a snapshot in the directory.
type SnapshotFile struct {
	Path string
	Zxid jute.Zxid
	Size int64
}

// Snapshots lists the snapshot files that look whole, the newest first.
func (s *Store) Snapshots() ([]SnapshotFile, error) {
	files, err := list(s.fs, s.snapDir, snapPrefix)
	if err != nil {
		return nil, err
	}
	var out []SnapshotFile
	for _, f := range slices.Backward(files) {
		whole, err := looksWhole(s.fs, f)
		if err != nil {
			return nil, err
		}
		if whole {
			out = append(out, SnapshotFile{f.path, f.zxid, f.size})
		}
	}
	return out, nil
}

// looksWhole is a quick test: a snapshot ends in a seal, a compressed one at least begins as it should.
func looksWhole(fsys vfs.FS, f file) (bool, error) {
	if f.size < 10 {
		return false, nil
	}
	r, err := fsys.OpenFile(f.path, os.O_RDONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer r.Close()
	want, at := []byte{0, 0, 0, 1, '/'}, f.size-5
	switch f.suffix {
	case ".gz":
		want, at = []byte{0x1f, 0x8b}, 0
	case ".snappy":
		want, at = []byte(snappystream.Magic), 0
	}
	got := make([]byte, len(want))
	if _, err := r.ReadAt(got, at); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.Equal(got, want), nil
}

func (s *Store) readSnapshot(f file, v SnapshotVisitor) (*SnapshotInfo, error) {
	return readSnapshotFile(s.fs, f, v)
}

// ReadSnapshotFile reads the snapshot at a path; its name tells zxid and compression.
func ReadSnapshotFile(path string, v SnapshotVisitor) (*SnapshotInfo, error) {
	zxid, suffix, _ := parseName(filepath.Base(path), snapPrefix)
	return readSnapshotFile(vfs.OS(), file{path: path, zxid: zxid, suffix: suffix}, v)
}

func readSnapshotFile(fsys vfs.FS, f file, v SnapshotVisitor) (*SnapshotInfo, error) {
	r, err := fsys.OpenFile(f.path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	stat, err := r.Stat()
	if err != nil {
		return nil, err
	}
	src := &ioErrors{r: io.NewSectionReader(r, 0, stat.Size())}
	var in io.Reader = src
	switch f.suffix {
	case ".gz":
		in, err = gzip.NewReader(src)
	case ".snappy":
		in = snappystream.NewReader(src)
	}
	var info *SnapshotInfo
	if err == nil {
		info, err = ReadSnapshot(in, v)
	}
	switch {
	case src.err != nil:
		return nil, src.err
	case err != nil && !errors.Is(err, ErrCorrupt): // a decompressor's complaint
		err = fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	info.Zxid = f.zxid
	return info, nil
}

// ioErrors remembers the error of a read that failed: it says nothing about the bytes.
type ioErrors struct {
	r   io.Reader
	err error
}

func (e *ioErrors) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil && err != io.EOF {
		e.err = err
	}
	return n, err
}
