// Package vfs is the one seam between durable things and the file system: the OS, a memory file system that
// can crash, and scripted faults over either.
package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrLocked says that another process holds a lock file.
var ErrLocked = errors.New("locked by another process")

// Passing says that a refusal is one that ends by itself: for want of space, of descriptors, of memory.
func Passing(err error) bool {
	var e syscall.Errno
	if !errors.As(err, &e) {
		return false
	}
	switch e {
	case syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM:
		return true
	}
	return false
}

// FS is a file system. Names are slash-separated paths, absolute or relative to the process, as package os
// takes them. What a file holds is durable after File.Sync; that it is there under its name, after SyncDir
// of its directory.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	MkdirAll(name string, perm fs.FileMode) error
	ReadDir(name string) ([]fs.DirEntry, error) // sorted by name
	Stat(name string) (fs.FileInfo, error)
	Chmod(name string, perm fs.FileMode) error
	Chtime(name string, modified time.Time) error
	SyncDir(name string) error
	Lock(name string) (io.Closer, error) // creates the file; ErrLocked

	// Boot names the time since the machine last started: within it nothing that was written is lost, whatever
	// becomes of processes. Empty: unknown.
	Boot() string
}

// File is an open file. WriteAt and ReadAt at different places may run concurrently.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error     // content and metadata
	Datasync() error // content and what is needed to read it back
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	OS() *os.File // for sendfile; nil if there is none behind it
}

// ReadFile reads a whole file.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, info.Size())
	n, err := f.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// WriteFile makes data the content of name: all of it or, after a crash, what was there before. It goes
// through a file of the same name with .tmp, a sync, a rename, and a sync of the directory.
func WriteFile(fsys FS, name string, data []byte) error {
	tmp := name + ".tmp"
	if err := WriteNew(fsys, tmp, data, true); err != nil {
		return err
	}
	if err := fsys.Rename(tmp, name); err != nil {
		return err
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// WriteNew writes a file in place, replacing what there was, and syncs its content if asked to.
func WriteNew(fsys FS, name string, data []byte, sync bool) error {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
