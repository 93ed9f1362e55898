package zklog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
)

// ErrCorrupt is what every error about bytes that can't be is; its text names the file and the offset.
var ErrCorrupt = errors.New("corrupt")

func corrupt(file string, at int64, format string, args ...any) error {
	return fmt.Errorf("%s: offset %d: %s: %w", file, at, fmt.Sprintf(format, args...), ErrCorrupt)
}

// versionDir holds the logs and snapshots: the version of their format.
const versionDir = "version-2"

// file is a log or a snapshot by its name.
type file struct {
	name   string // within the directory
	path   string
	zxid   jute.Zxid // in the name: of a log's first record; of a snapshot, the last transaction known in it
	suffix string    // .gz or .snappy
	size   int64
}

// parseName takes log.1f or snapshot.1f.gz apart.
func parseName(name, prefix string) (zxid jute.Zxid, suffix string, ok bool) {
	hex, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, "", false
	}
	hex, suffix, some := strings.Cut(hex, ".")
	if some {
		suffix = "." + suffix
	}
	if suffix != "" && (prefix != snapPrefix || suffix != ".gz" && suffix != ".snappy") {
		return 0, "", false
	}
	u, err := strconv.ParseUint(hex, 16, 64)
	return jute.Zxid(u), suffix, err == nil && !strings.HasPrefix(hex, "+")
}

const (
	logPrefix  = "log."
	snapPrefix = "snapshot."
)

// list finds the files of a kind in a directory, by zxid.
func list(fsys vfs.FS, dir, prefix string) ([]file, error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []file
	for _, e := range entries {
		zxid, suffix, ok := parseName(e.Name(), prefix)
		if !ok || e.IsDir() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // purged meanwhile
		}
		if err != nil {
			return nil, err
		}
		out = append(out, file{
			name: e.Name(), path: filepath.Join(dir, e.Name()), zxid: zxid, suffix: suffix,
			size: info.Size(),
		})
	}
	slices.SortStableFunc(out, func(a, b file) int { return cmp.Compare(a.zxid, b.zxid) })
	return out, nil
}

func logName(zxid jute.Zxid) string { return logPrefix + strconv.FormatUint(uint64(zxid), 16) }

func snapName(zxid jute.Zxid) string { return snapPrefix + strconv.FormatUint(uint64(zxid), 16) }
