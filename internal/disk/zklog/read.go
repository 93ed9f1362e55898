package zklog

import (
	"errors"
	"io/fs"
	"sort"

	"github.com/kalda/kalda/internal/format/jute"
)

// Reader goes through the transactions of the logs in order.
type Reader struct {
	s     *Store
	from  jute.Zxid
	files []file
	w     *window
	cur   file
	pos   int64

	active string // the file being written, and how far it may be read
	bound  int64

	last jute.Zxid // of all records seen, those before from too
	cuts []cut
	err  error
}

// cut is a torn tail.
type cut struct {
	file file
	damage
}

// Read begins at the first transaction with zxid from or a later one. It sees what was appended before the
// call.
func (s *Store) Read(from jute.Zxid) (*Reader, error) {
	s.log.mu.Lock()
	active, bound := s.log.active, s.log.bound
	s.log.mu.Unlock()
	files, err := list(s.fs, s.logDir, logPrefix)
	if err != nil {
		return nil, err
	}
	first := sort.Search(len(files), func(i int) bool { return files[i].zxid > from })
	return &Reader{s: s, from: from, files: files[max(0, first-1):], active: active, bound: bound}, nil
}

// Next reads the next transaction. Its Data is valid until the call after.
func (r *Reader) Next(e *Entry) bool {
	for r.err == nil {
		if r.w == nil && !r.open() {
			return false
		}
		data, err := r.w.frame(r.pos)
		switch {
		case err != nil:
			r.ends(err)
			continue
		case data == nil:
			r.closeFile()
			continue
		}
		zxid := EntryZxid(data)
		if r.err = r.follows(zxid); r.err != nil {
			break
		}
		r.pos += frameSize(data)
		r.last = max(r.last, zxid)
		if zxid >= r.from {
			e.Zxid, e.Data = zxid, data
			return true
		}
	}
	return false
}

// open takes the next file; false when there is none, or an error.
func (r *Reader) open() bool {
	if len(r.files) == 0 {
		return false
	}
	r.cur, r.files = r.files[0], r.files[1:]
	w, err := openWindow(r.s.fs, r.cur.path)
	if errors.Is(err, fs.ErrNotExist) { // purged meanwhile: it held nothing that is needed
		return r.open()
	}
	if err != nil {
		r.err = err
		return false
	}
	r.w, r.pos = w, headerSize
	if r.cur.path == r.active {
		w.size = min(w.size, r.bound)
	}
	if err := w.header(); err != nil {
		r.ends(err)
		return r.err == nil && (r.w != nil || r.open())
	}
	return true
}

// ends stops at what can't be read: a torn tail, or an error.
func (r *Reader) ends(err error) {
	var d *damage
	if !errors.As(err, &d) {
		r.err = err
		return
	}
	torn, err := r.w.torn(d)
	switch {
	case err != nil:
		r.err = err
	case !torn:
		r.err = corrupt(r.cur.path, d.at, "%s", d.reason)
	default:
		r.cuts = append(r.cuts, cut{r.cur, *d})
		r.closeFile()
	}
}

// follows holds a record that comes after a torn tail to be the one that was torn, written again, or a later
// leader's: else what was cut was needed.
func (r *Reader) follows(zxid jute.Zxid) error {
	if len(r.cuts) == 0 || zxid <= r.last+1 || zxid.Epoch() > r.last.Epoch() || r.last == 0 {
		return nil
	}
	c := r.cuts[len(r.cuts)-1]
	return corrupt(c.file.path, c.at, "%s, and the next transaction in the logs is %v", c.reason, zxid)
}

func (r *Reader) closeFile() {
	if r.w != nil {
		r.w.f.Close()
		r.w = nil
	}
}

// Err is why Next ended, nil at the end of the logs.
func (r *Reader) Err() error { return r.err }

// Close lets go of the open file.
func (r *Reader) Close() error {
	r.closeFile()
	return nil
}
