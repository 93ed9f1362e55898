package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Every file system behaves the same as long as nothing fails.
func TestOperations(t *testing.T) {
	mem := NewMem()
	if err := mem.MkdirAll("/root", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fs   FS
		root string
	}{"os": {OS(), t.TempDir()}, "mem": {mem, "/root"}, "faults": {NewFaults(OS()), t.TempDir()}} {
		t.Run(name, func(t *testing.T) { operate(t, c.fs, c.root) })
	}
}

func operate(t *testing.T, fsys FS, root string) {
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	p := func(s string) string { return filepath.Join(root, s) }
	ok(fsys.MkdirAll(p("a/b"), 0o755))
	ok(WriteFile(fsys, p("a/b/f"), []byte("hello")))
	ok(WriteFile(fsys, p("a/b/f"), []byte("hi")))
	f, err := fsys.OpenFile(p("a/b/f"), os.O_RDWR, 0)
	ok(err)
	_, err = f.WriteAt([]byte("x"), 4)
	ok(err)
	ok(f.Datasync())
	ok(f.Truncate(6))
	ok(f.Sync())
	if info, err := f.Stat(); err != nil || info.Size() != 6 || info.IsDir() {
		t.Fatal(info, err)
	}
	ok(f.Close())
	if b, err := ReadFile(fsys, p("a/b/f")); err != nil || !bytes.Equal(b, []byte("hi\x00\x00x\x00")) {
		t.Fatalf("%q %v", b, err)
	}
	ok(fsys.Chmod(p("a/b/f"), 0o444))
	ok(fsys.Rename(p("a/b"), p("a/c")))
	ok(fsys.Rename(p("a/c/f"), p("a/c/g")))
	ents, err := fsys.ReadDir(p("a/c"))
	if err != nil || len(ents) != 1 || ents[0].Name() != "g" {
		t.Fatal(ents, err)
	}
	if info, err := fsys.Stat(p("a/c/g")); err != nil || info.Mode().Perm() != 0o444 || info.Size() != 6 {
		t.Fatal(info, err)
	}
	for _, err := range []error{
		fsys.Remove(p("a/b")), fsys.Rename(p("a/b"), p("q")), ignore(fsys.Stat(p("a/b"))),
		ignore(fsys.ReadDir(p("nowhere"))), ignore(fsys.OpenFile(p("a/x"), os.O_RDONLY, 0)),
		ignore(fsys.OpenFile(p("no/x"), os.O_CREATE|os.O_WRONLY, 0o644)),
	} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if fsys.Remove(p("a")) == nil {
		t.Fatal("removed a full directory")
	}
	ok(fsys.SyncDir(p("a")))
	ok(fsys.RemoveAll(p("a")))
	ok(fsys.RemoveAll(p("a")))
	lock, err := fsys.Lock(p(".lock"))
	ok(err)
	if _, err := fsys.Lock(p(".lock")); !errors.Is(err, ErrLocked) {
		t.Fatal(err)
	}
	ok(lock.Close())
}

func ignore[T any](_ T, err error) error { return err }

// What a crash leaves: all that was synced, in every seed; the rest by chance.
func TestCrash(t *testing.T) {
	m := NewMem()
	_ = m.MkdirAll("/d", 0o755)
	_ = m.SyncDir("/")
	f, err := m.OpenFile("/d/f", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteAt([]byte("durable"), 0)
	_ = f.Sync()
	if _, err := m.Crash(0).Stat("/d/f"); err == nil {
		t.Fatal("a name that was never synced is there")
	}
	_ = m.SyncDir("/d")
	_, _ = f.WriteAt([]byte("-lost-or-torn"), 7)
	_ = m.Rename("/d/f", "/d/g")
	seen := map[string]bool{}
	for seed := range uint64(200) {
		c := m.Crash(seed)
		b, err := ReadFile(c, "/d/f")
		if err != nil {
			if b, err = ReadFile(c, "/d/g"); err != nil {
				t.Fatal("neither the old name nor the new one")
			}
			seen["renamed"] = true
		}
		if !bytes.HasPrefix(b, []byte("durable")) {
			t.Fatalf("seed %d: %q", seed, b)
		}
		seen[fmt.Sprint(len(b))] = true
		again, err := ReadFile(m.Crash(seed), "/d/f")
		if err == nil && !bytes.Equal(again, b) {
			t.Fatal("the same seed, another outcome")
		}
	}
	if !seen["renamed"] || !seen["7"] || !seen["20"] || len(seen) < 5 {
		t.Fatal(seen)
	}
}

func TestFaults(t *testing.T) {
	f := NewFaults(NewMem())
	_ = f.MkdirAll("/d", 0o755)
	f.Fail(OpWrite, "log", 2, Fault{Err: syscall.ENOSPC, Short: 3})
	f.Fail(OpSync, "log", 1, Fault{Err: syscall.EIO, Forever: true})
	x, err := f.OpenFile("/d/x.log", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := x.WriteAt([]byte("first"), 0); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := x.WriteAt([]byte("second"), 5); n != 3 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(n, err)
	}
	for range 2 {
		if err := x.Datasync(); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
	}
	f.Clear()
	if err := x.Sync(); err != nil {
		t.Fatal(err)
	}
	var ops []Op
	f.Watch(func(_ int, op Op, _ string) { ops = append(ops, op) })
	f.HaltAfter(1)
	if err := f.SyncDir("/d"); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		f.Remove("/d/x.log"), f.RemoveAll("/d"), f.Rename("/d", "/e"), f.MkdirAll("/e", 0),
		f.SyncDir("/d"), x.Truncate(0), ignore(f.ReadDir("/d")), ignore(f.Stat("/d")), ignore(f.Lock("/d/l")),
		ignore(f.OpenFile("/d/y", os.O_CREATE, 0)), ignore(x.ReadAt(make([]byte, 1), 0)),
	} {
		if !errors.Is(err, ErrHalted) {
			t.Fatal(err)
		}
	}
	if len(ops) != 9 || ops[0] != OpSyncDir || f.Ops() < 9 {
		t.Fatal(ops)
	}
}
