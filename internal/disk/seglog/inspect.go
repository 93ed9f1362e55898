package seglog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// DamageKind says which promise a damaged file broke.
type DamageKind int8

// The kinds of damage.
const (
	DamageTail       DamageKind = iota // of a log, past the recovery point: the next start cuts it off
	DamageBody                         // of a log, before the recovery point: records that were durable
	DamageInside                       // of a log, past the recovery point, with good batches behind it
	DamageEnd                          // a log doesn't end where the clean shutdown said
	DamageCheckpoint                   // an offset checkpoint or leader epochs: made again at the next start
	DamageTopicID                      // partition.metadata: the log can't be told to be its topic's
	DamageIndex                        // an index of a size that no index has: made again
	DamageSnapshot                     // a snapshot of the metadata log
)

// Damage is a file that isn't what it should be.
type Damage struct {
	Kind  DamageKind
	File  string
	At    int64 // where in the file it stops making sense
	Bytes int64 // from there to its end
	Err   error
}

// Inspection is what Inspect found in a log directory.
type Inspection struct {
	Clean      bool // the last shutdown was
	Logs       []TopicPartition
	Segments   int
	Bytes      int64 // of segments
	Newest     time.Time
	NewestFile string // the file that changed last
	Aside      []string
	Deleted    []string // directories whose deletion was begun
	Damage     []Damage
}

// InspectOptions say how far Inspect looks.
type InspectOptions struct {
	Deep bool // verify every batch, not only those past the recovery point
	Live bool // a node is at work in the directory: what isn't settled isn't judged
}

// Inspect reads a log directory as the next start would and changes nothing: neither files nor locks.
func Inspect(fsys vfs.FS, path string, o InspectOptions) (*Inspection, error) {
	in := &inspector{fs: fsys, path: path, o: o, points: map[TopicPartition]batch.Offset{}}
	if _, err := fsys.Stat(filepath.Join(path, fileClean)); err == nil {
		in.Clean = true
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range []string{fileRecovery, fileStart, fileHW} {
		if err := in.checkpoint(name); err != nil {
			return nil, err
		}
	}
	ents, err := fsys.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range ents {
		if err := in.entry(e); err != nil {
			return nil, err
		}
	}
	return &in.Inspection, nil
}

type inspector struct {
	Inspection
	fs     vfs.FS
	path   string
	o      InspectOptions
	points map[TopicPartition]batch.Offset
}

func (in *inspector) damaged(kind DamageKind, file string, at, size int64, err error) {
	in.Damage = append(in.Damage, Damage{kind, file, at, size - at, err})
}

func (in *inspector) checkpoint(name string) error {
	file := filepath.Join(in.path, name)
	entries, err := LoadOffsets(in.fs, file)
	if errors.Is(err, ErrCorrupt) {
		in.damaged(DamageCheckpoint, file, 0, 0, err)
		return nil
	}
	if name == fileRecovery {
		for _, e := range entries {
			in.points[e.TopicPartition] = e.Offset
		}
	}
	return err
}

func (in *inspector) entry(e fs.DirEntry) error {
	name := e.Name()
	topic, partition, isLog := parseLogName(name)
	switch {
	case !e.IsDir():
		in.noteTime(filepath.Join(in.path, name), e)
	case isAside(name, suffixDirDelete):
		in.Deleted = append(in.Deleted, name)
	case isAside(name, suffixDirFuture), isAside(name, suffixDirStray):
		in.Aside = append(in.Aside, name)
	case isLog:
		return in.log(TopicPartition{topic, partition})
	}
	return nil
}

func (in *inspector) noteTime(file string, e fs.DirEntry) {
	if info, err := e.Info(); err == nil && info.ModTime().After(in.Newest) {
		in.Newest, in.NewestFile = info.ModTime(), file
	}
}

// log inspects the directory of one log.
func (in *inspector) log(tp TopicPartition) error {
	dir := filepath.Join(in.path, tp.String())
	ents, err := in.fs.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	in.Logs = append(in.Logs, tp)
	var segs []batch.Offset
	for _, e := range ents {
		file := filepath.Join(dir, e.Name())
		in.noteTime(file, e)
		base, suffix, ok := parseSegmentName(e.Name())
		switch {
		case ok && suffix == suffixLog:
			segs = append(segs, base)
		case ok && suffix == suffixIndex:
			in.index(file, e, offsetWidth)
		case ok && suffix == suffixTime:
			in.index(file, e, timeWidth)
		default:
			in.small(file, e.Name())
		}
	}
	slices.Sort(segs)
	in.Segments += len(segs)
	return in.segments(dir, tp, segs)
}

func (in *inspector) index(file string, e fs.DirEntry, width int64) {
	if info, err := e.Info(); err == nil && info.Size()%width != 0 && !in.o.Live {
		in.damaged(DamageIndex, file, info.Size()/width*width, info.Size(),
			fmt.Errorf("%w: %d bytes, not a multiple of %d", ErrCorrupt, info.Size(), width))
	}
}

// small looks at the files beside the segments.
func (in *inspector) small(file, name string) {
	var decode func([]byte) error
	kind := DamageCheckpoint
	switch {
	case name == fileEpochs:
		decode = func(b []byte) error { _, err := decodeEpochs(b); return err }
	case name == filePartition:
		kind = DamageTopicID
		decode = func(b []byte) error { _, err := decodePartition(b); return err }
	case strings.HasSuffix(name, ".checkpoint"):
		in.snapshot(file)
		return
	default:
		return
	}
	b, err := vfs.ReadFile(in.fs, file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = decode(b)
	}
	if err != nil {
		in.damaged(kind, file, 0, int64(len(b)), err)
	}
}

// snapshot verifies a snapshot of the metadata log, which is a file of batches too.
func (in *inspector) snapshot(file string) {
	size, pos, err := in.walkFile(file, func(h *header, b []byte) bool { return verify(h, b) == nil })
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil && pos < size {
		err = fmt.Errorf("%w: no whole batch at %d", ErrCorrupt, pos)
	}
	if err != nil {
		in.damaged(DamageSnapshot, file, pos, size, err)
	}
}

func (in *inspector) walkFile(file string, fn func(*header, []byte) bool) (size, pos int64, err error) {
	f, err := in.fs.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	pos, err = walkBatches(f, 0, info.Size(), fn)
	return info.Size(), pos, err
}

// segments verifies what the next start would verify: from the segment of the recovery point on.
func (in *inspector) segments(dir string, tp TopicPartition, segs []batch.Offset) error {
	from, known := in.points[tp]
	for i, base := range segs {
		next, sealed := batch.Offset(1<<63-1), i+1 < len(segs)
		if sealed {
			next = segs[i+1]
		}
		file := filepath.Join(dir, segmentName(base)+suffixLog)
		info, err := in.fs.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		in.Bytes += info.Size()
		if in.o.Live && !sealed || !in.o.Deep && sealed && next <= from {
			continue
		}
		s := inspected{file: file, end: base, next: next, from: from, deep: in.o.Deep}
		if err := s.walk(in.fs); err != nil {
			return err
		}
		switch {
		case s.pos < s.size:
			kind, err := s.kind(in.fs)
			if err != nil {
				return err
			}
			if kind == DamageTail && sealed {
				kind = DamageInside
			}
			in.damaged(kind, file, s.pos, s.size, s.why)
		case !sealed && known && in.Clean && s.end != from:
			in.damaged(DamageEnd, file, s.size, s.size,
				fmt.Errorf("%w: it ends at offset %d, the clean shutdown said %d", ErrCorrupt, s.end, from))
		}
	}
	return nil
}

// inspected is one segment under inspection.
type inspected struct {
	file            string
	end, next, from batch.Offset
	deep            bool
	dense           bool // offsets leave no gaps
	size, pos       int64
	why             error // what is wrong at pos
}

func (s *inspected) kind(fsys vfs.FS) (DamageKind, error) {
	if s.end < s.from {
		return DamageBody, nil
	}
	f, err := fsys.OpenFile(s.file, os.O_RDONLY, 0)
	if err != nil {
		return DamageTail, err
	}
	defer f.Close()
	if at, err := nextWhole(f, s.pos+1, s.size); at >= 0 || err != nil {
		return DamageInside, err
	}
	return DamageTail, nil
}

// follows says whether a batch can be the next one.
func (s *inspected) follows(h *header) bool {
	if h.last < s.next && h.last >= s.end && (h.magic != 2 || h.base >= s.end) && !(s.dense && h.base > s.end) {
		s.end = h.last + 1
		return true
	}
	s.why = fmt.Errorf("%w: offsets %d to %d after %d", ErrCorrupt, h.base, h.last, s.end)
	return false
}

func (s *inspected) walk(fsys vfs.FS) error {
	f, err := fsys.OpenFile(s.file, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	s.size = info.Size()
	if !s.deep {
		s.pos, err = walk(f, 0, s.size, func(h *header) bool { return h.last < s.from && s.follows(h) })
	}
	if err != nil || s.pos == s.size {
		return err
	}
	s.why = nil
	s.pos, err = walkBatches(f, s.pos, s.size, func(h *header, b []byte) bool {
		s.why = verify(h, b)
		return s.why == nil && s.follows(h)
	})
	if err == nil && s.pos < s.size && s.why == nil {
		s.why = s.noBatch(f)
	}
	return err
}

// noBatch says what is there instead of a batch.
func (s *inspected) noBatch(f vfs.File) error {
	b := make([]byte, min(s.size-s.pos, 4096))
	if err := readFull(f, b, s.pos); err != nil {
		return err
	}
	if len(bytes.TrimLeft(b, "\x00")) == 0 {
		return fmt.Errorf("%w: zeros (room made in advance, or data that a power cut kept from the "+
			"disk)", ErrCorrupt)
	}
	return fmt.Errorf("%w: no whole batch at %d", ErrCorrupt, s.pos)
}
