package vfs

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Mem is a file system in memory that remembers what was synced: Crash makes the one that a power cut would
// leave.
type Mem struct {
	mu    sync.Mutex
	root  *node
	locks map[string]bool
	now   func() time.Time
	boot  uint64
}

// NewMem makes an empty memory file system with the directory "/".
func NewMem() *Mem {
	return &Mem{root: newDir(), locks: map[string]bool{}, now: time.Now}
}

// node is a file or directory, once as programs see it and once as the disk has it, with the steps between.
type node struct {
	mode  fs.FileMode
	mtime time.Time

	names, diskNames map[string]*node // of a directory
	edits            []edit

	data, disk []byte // of a file
	writes     []write
}

// edit is one change of a directory: several names at once for a rename. A nil node removes.
type edit map[string]*node

// write is one change of a file: bytes at a position, or a new size.
type write struct {
	at       int64
	data     []byte
	truncate bool
}

func newDir() *node {
	return &node{mode: fs.ModeDir | 0o755, names: map[string]*node{}, diskNames: map[string]*node{}}
}

func (n *node) edit(e edit) {
	applyEdit(n.names, e)
	n.edits = append(n.edits, e)
}

func applyEdit(names map[string]*node, e edit) {
	for name, c := range e {
		if c == nil {
			delete(names, name)
		} else {
			names[name] = c
		}
	}
}

func (n *node) change(w write) {
	n.data = applyWrite(n.data, w)
	n.writes = append(n.writes, w)
}

func applyWrite(b []byte, w write) []byte {
	end := w.at + int64(len(w.data))
	if grow := end - int64(len(b)); grow > 0 {
		b = append(b, make([]byte, grow)...)
	}
	if w.truncate {
		return b[:w.at]
	}
	copy(b[w.at:], w.data)
	return b
}

func (n *node) sync() {
	for _, w := range n.writes {
		n.disk = applyWrite(n.disk, w)
	}
	n.writes = nil
}

func split(name string) []string {
	return strings.FieldsFunc(filepath.Clean("/"+name), func(r rune) bool { return r == '/' })
}

// find walks to name; its parent comes too, nil above the root.
func (m *Mem) find(name string) (n, parent *node, base string) {
	n = m.root
	for _, base = range split(name) {
		if n == nil || n.names == nil {
			return nil, nil, base
		}
		parent, n = n, n.names[base]
	}
	return n, parent, base
}

func fail(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// OpenFile implements FS.
func (m *Mem) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, parent, base := m.find(name)
	switch {
	case n == nil && parent == nil, n == nil && flag&os.O_CREATE == 0:
		return nil, fail("open", name, fs.ErrNotExist)
	case n == nil:
		n = &node{mode: perm, mtime: m.now()}
		parent.edit(edit{base: n})
	case flag&os.O_EXCL != 0:
		return nil, fail("open", name, fs.ErrExist)
	case n.names != nil:
		return nil, fail("open", name, fs.ErrInvalid)
	case flag&os.O_TRUNC != 0:
		n.change(write{truncate: true})
	}
	return &memFile{m: m, n: n, name: name}, nil
}

// Rename implements FS.
func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, p, base := m.find(from)
	old, q, target := m.find(to)
	if n == nil || q == nil {
		return fail("rename", from, fs.ErrNotExist)
	}
	if old != nil && old.names != nil && len(old.names) > 0 {
		return fail("rename", to, fs.ErrExist)
	}
	switch {
	case n == old:
	case p == q:
		p.edit(edit{base: nil, target: n})
	default:
		q.edit(edit{target: n})
		p.edit(edit{base: nil})
	}
	return nil
}

// Remove implements FS.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, p, base := m.find(name)
	if n == nil || p == nil {
		return fail("remove", name, fs.ErrNotExist)
	}
	if len(n.names) > 0 {
		return fail("remove", name, fs.ErrExist)
	}
	p.edit(edit{base: nil})
	return nil
}

// RemoveAll implements FS.
func (m *Mem) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n, p, base := m.find(name); n != nil && p != nil {
		p.edit(edit{base: nil})
	}
	return nil
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(name string, _ fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.root
	for _, base := range split(name) {
		c := n.names[base]
		if c == nil {
			c = newDir()
			c.mtime = m.now()
			n.edit(edit{base: c})
		}
		if c.names == nil {
			return fail("mkdir", name, fs.ErrExist)
		}
		n = c
	}
	return nil
}

// ReadDir implements FS.
func (m *Mem) ReadDir(name string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, _, _ := m.find(name)
	if n == nil || n.names == nil {
		return nil, fail("readdir", name, fs.ErrNotExist)
	}
	var out []fs.DirEntry
	for _, base := range slices.Sorted(maps.Keys(n.names)) {
		out = append(out, fs.FileInfoToDirEntry(n.names[base].info(base)))
	}
	return out, nil
}

// Stat implements FS.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, _, base := m.find(name)
	if n == nil {
		return nil, fail("stat", name, fs.ErrNotExist)
	}
	return n.info(base), nil
}

// Chmod implements FS.
func (m *Mem) Chmod(name string, perm fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, _, _ := m.find(name)
	if n == nil {
		return fail("chmod", name, fs.ErrNotExist)
	}
	n.mode = n.mode&fs.ModeDir | perm
	return nil
}

// Chtime implements FS.
func (m *Mem) Chtime(name string, modified time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, _, _ := m.find(name)
	if n == nil {
		return fail("chtimes", name, fs.ErrNotExist)
	}
	n.mtime = modified
	return nil
}

// SyncDir implements FS.
func (m *Mem) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, _, _ := m.find(name)
	if n == nil || n.names == nil {
		return fail("sync", name, fs.ErrNotExist)
	}
	n.diskNames, n.edits = maps.Clone(n.names), nil
	return nil
}

// Boot implements FS.
func (m *Mem) Boot() string { return strconv.FormatUint(m.boot, 10) }

// Lock implements FS.
func (m *Mem) Lock(name string) (io.Closer, error) {
	f, err := m.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[name] {
		return nil, fail("lock", name, ErrLocked)
	}
	m.locks[name] = true
	return memLock{File: f, m: m, name: name}, nil
}

type memLock struct {
	File
	m    *Mem
	name string
}

func (l memLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	delete(l.m.locks, l.name)
	return nil
}

type memFile struct {
	m    *Mem
	n    *node
	name string
}

func (f *memFile) ReadAt(p []byte, at int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if at < 0 {
		return 0, fail("read", f.name, fs.ErrInvalid)
	}
	if at >= int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.n.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, at int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.n.change(write{at: at, data: slices.Clone(p)})
	f.n.mtime = f.m.now()
	return len(p), nil
}

func (f *memFile) Truncate(size int64) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.n.change(write{at: size, truncate: true})
	f.n.mtime = f.m.now()
	return nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.n.sync()
	return nil
}

func (f *memFile) Datasync() error { return f.Sync() }

func (f *memFile) Stat() (fs.FileInfo, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.n.info(filepath.Base(f.name)), nil
}

func (f *memFile) OS() *os.File { return nil }
func (f *memFile) Close() error { return nil }

// info is a node's fs.FileInfo, as it was when asked.
type info struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

func (n *node) info(name string) info {
	return info{name: name, size: int64(len(n.data)), mode: n.mode, mtime: n.mtime}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.mtime }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
