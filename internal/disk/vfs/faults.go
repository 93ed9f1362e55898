package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
)

// ErrHalted is what every operation gets after Faults.HaltAfter's: the machine is off.
var ErrHalted = errors.New("halted")

// Op is a kind of operation that a fault can hit.
type Op string

// The operations of FS and File.
const (
	OpOpen     Op = "open"
	OpRename   Op = "rename"
	OpRemove   Op = "remove"
	OpMkdir    Op = "mkdir"
	OpReadDir  Op = "readdir"
	OpStat     Op = "stat"
	OpSyncDir  Op = "syncdir"
	OpRead     Op = "read"
	OpWrite    Op = "write"
	OpSync     Op = "sync"
	OpTruncate Op = "truncate"
)

// Fault is what befalls an operation.
type Fault struct {
	Err     error // what it returns: syscall.EIO, syscall.ENOSPC, ...
	Short   int   // bytes that a write writes all the same
	Forever bool  // hits every later match too
}

// Faults is a file system with scripted faults over another one.
type Faults struct {
	under FS

	mu    sync.Mutex
	count int
	halt  int
	rules []*faultRule
	watch func(n int, op Op, name string)
}

type faultRule struct {
	op    Op
	part  string
	left  int
	fault Fault
}

// NewFaults puts a layer of faults, none yet, over fsys.
func NewFaults(fsys FS) *Faults { return &Faults{under: fsys} }

// Fail lets the nth operation (1 is the next) of kind op on a name that contains part meet the fault.
func (f *Faults) Fail(op Op, part string, nth int, fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, &faultRule{op: op, part: part, left: nth, fault: fault})
}

// Clear forgets all faults.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules, f.halt = nil, 0
}

// HaltAfter lets n more changing operations happen and none after them.
func (f *Faults) HaltAfter(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.halt = f.count + n + 1
}

// Watch calls fn before every operation that changes something, with its number.
func (f *Faults) Watch(fn func(n int, op Op, name string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watch = fn
}

// Ops is the number of changing operations so far.
func (f *Faults) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// hit counts an operation and says whether a fault meets it.
func (f *Faults) hit(op Op, name string) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if op != OpRead && op != OpStat && op != OpReadDir {
		f.count++
		if f.watch != nil {
			f.watch(f.count, op, name)
		}
	}
	if f.halt > 0 && f.count >= f.halt {
		return &Fault{Err: ErrHalted}
	}
	for _, r := range f.rules {
		if r.op != op || !strings.Contains(name, r.part) {
			continue
		}
		r.left--
		if r.left == 0 || r.left < 0 && r.fault.Forever {
			return &r.fault
		}
	}
	return nil
}

func (f *Faults) check(op Op, name string) error {
	if ft := f.hit(op, name); ft != nil {
		return &fs.PathError{Op: string(op), Path: name, Err: ft.Err}
	}
	return nil
}

// OpenFile implements FS.
func (f *Faults) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if err := f.check(OpOpen, name); err != nil {
		return nil, err
	}
	u, err := f.under.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultyFile{File: u, f: f, name: name}, nil
}

// Rename implements FS.
func (f *Faults) Rename(from, to string) error {
	return errorsOr(f.check(OpRename, from), func() error { return f.under.Rename(from, to) })
}

// Remove implements FS.
func (f *Faults) Remove(name string) error {
	return errorsOr(f.check(OpRemove, name), func() error { return f.under.Remove(name) })
}

// RemoveAll implements FS.
func (f *Faults) RemoveAll(name string) error {
	return errorsOr(f.check(OpRemove, name), func() error { return f.under.RemoveAll(name) })
}

// MkdirAll implements FS.
func (f *Faults) MkdirAll(name string, perm fs.FileMode) error {
	return errorsOr(f.check(OpMkdir, name), func() error { return f.under.MkdirAll(name, perm) })
}

// ReadDir implements FS.
func (f *Faults) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.check(OpReadDir, name); err != nil {
		return nil, err
	}
	return f.under.ReadDir(name)
}

// Stat implements FS.
func (f *Faults) Stat(name string) (fs.FileInfo, error) {
	if err := f.check(OpStat, name); err != nil {
		return nil, err
	}
	return f.under.Stat(name)
}

// Chmod implements FS.
func (f *Faults) Chmod(name string, perm fs.FileMode) error { return f.under.Chmod(name, perm) }

// Chtime implements FS.
func (f *Faults) Chtime(name string, modified time.Time) error { return f.under.Chtime(name, modified) }

// SyncDir implements FS.
func (f *Faults) SyncDir(name string) error {
	return errorsOr(f.check(OpSyncDir, name), func() error { return f.under.SyncDir(name) })
}

// Lock implements FS.
func (f *Faults) Lock(name string) (io.Closer, error) {
	if err := f.check(OpOpen, name); err != nil {
		return nil, err
	}
	return f.under.Lock(name)
}

// Boot implements FS.
func (f *Faults) Boot() string { return f.under.Boot() }

func errorsOr(err error, fn func() error) error {
	if err != nil {
		return err
	}
	return fn()
}

type faultyFile struct {
	File
	f    *Faults
	name string
}

func (f *faultyFile) ReadAt(p []byte, at int64) (int, error) {
	if err := f.f.check(OpRead, f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, at)
}

func (f *faultyFile) WriteAt(p []byte, at int64) (int, error) {
	ft := f.f.hit(OpWrite, f.name)
	if ft == nil {
		return f.File.WriteAt(p, at)
	}
	n := 0
	if ft.Short > 0 {
		n, _ = f.File.WriteAt(p[:min(ft.Short, len(p))], at)
	}
	return n, &fs.PathError{Op: string(OpWrite), Path: f.name, Err: ft.Err}
}

func (f *faultyFile) Sync() error {
	return errorsOr(f.f.check(OpSync, f.name), f.File.Sync)
}

func (f *faultyFile) Datasync() error {
	return errorsOr(f.f.check(OpSync, f.name), f.File.Datasync)
}

func (f *faultyFile) Truncate(size int64) error {
	return errorsOr(f.f.check(OpTruncate, f.name), func() error { return f.File.Truncate(size) })
}

func (f *faultyFile) OS() *os.File { return f.File.OS() }
