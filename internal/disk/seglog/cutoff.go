package seglog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// suffixDamaged ends the names of files that CutOff put aside. No broker reads them.
const suffixDamaged = ".damaged"

// Cut is what CutOff did.
type Cut struct {
	File string       // that was cut
	At   int64        // there
	End  batch.Offset // where the log ends now
	Kept []string     // what was cut off is in these
}

// CutOff cuts a log of its own (OpenLog) at the first batch that isn't whole or doesn't follow the one
// before, though good ones come behind it, which OpenLog never does. All that it takes away is put aside
// first. Nobody may have the log open. False: there is nothing to cut.
func CutOff(fsys vfs.FS, parent string, tp TopicPartition) (c Cut, ok bool, err error) {
	dir := filepath.Join(parent, tp.String())
	ents, err := fsys.ReadDir(dir)
	if err != nil {
		return c, false, err
	}
	var later []string
	for _, e := range ents {
		base, suffix, isSegment := parseSegmentName(e.Name())
		switch {
		case !isSegment || suffix != suffixLog:
		case c.File != "":
			later = append(later, filepath.Join(dir, e.Name()))
		default:
			s := inspected{file: filepath.Join(dir, e.Name()), next: 1<<63 - 1, deep: true, dense: true}
			s.end = max(base, c.End)
			if err := s.walk(fsys); err != nil {
				return c, false, err
			}
			if c.End = s.end; s.pos < s.size {
				c.File, c.At = s.file, s.pos
			}
		}
	}
	if c.File == "" {
		return c, false, nil
	}
	return c, true, c.take(fsys, dir, later)
}

// take puts aside and cuts: first what is last, so that a crash in between leaves what can be cut again.
func (c *Cut) take(fsys vfs.FS, dir string, later []string) error {
	for _, l := range slices.Backward(later) {
		if err := fsys.Rename(l, l+suffixDamaged); err != nil {
			return err
		}
		c.Kept = append(c.Kept, l+suffixDamaged)
	}
	if err := copyFile(fsys, c.File, c.File+suffixDamaged); err != nil {
		return fmt.Errorf("put %s aside: %w", c.File, err)
	}
	c.Kept = append(c.Kept, c.File+suffixDamaged)
	if err := fsys.SyncDir(dir); err != nil {
		return err
	}
	f, err := fsys.OpenFile(c.File, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err = f.Truncate(c.At); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func copyFile(fsys vfs.FS, from, to string) (err error) {
	if _, err := fsys.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", to, fs.ErrExist)
	}
	src, err := fsys.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := fsys.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	buf := make([]byte, readAhead)
	for at := int64(0); ; {
		n, err := src.ReadAt(buf, at)
		if _, werr := dst.WriteAt(buf[:n], at); werr != nil {
			return werr
		}
		if at += int64(n); errors.Is(err, io.EOF) {
			return dst.Sync()
		} else if err != nil {
			return err
		}
	}
}
