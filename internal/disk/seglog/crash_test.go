package seglog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// history is what a test did to a log, as far as the crash let it: the batches that may be there, and those
// that must be.
type history struct {
	t       testing.TB
	lives   [][][]byte // each life's batches; a truncation starts another life
	durable batch.Offset
	start   batch.Offset
}

func (h *history) now() [][]byte { return h.lives[len(h.lives)-1] }

func (h *history) append(l *Log, n int, e batch.Epoch) error {
	o := l.EndOffset()
	b := oneBatch(h.t, o, n, 1000+int64(o), e)
	cur := len(h.lives) - 1
	h.lives[cur] = append(h.lives[cur], b) // a failed append may be there too
	return l.Append(1_000_000, b)
}

func (h *history) flushed(l *Log) { h.durable = l.RecoveryPoint() }

func (h *history) truncate(l *Log, o batch.Offset) error {
	h.durable = min(h.durable, o)
	var kept [][]byte
	for _, b := range h.now() {
		if batch.View(b).LastOffset() < o {
			kept = append(kept, b)
		}
	}
	h.lives = append(h.lives, kept)
	return l.TruncateTo(o)
}

// play is the scripted history; it ends at the first error.
func (h *history) play(fsys vfs.FS) (err error) {
	d, err := OpenDir(fsys, "/data", quiet)
	if err != nil {
		return err
	}
	c := testConfig()
	c.RetentionBytes = 5000
	l, err := d.Open(Spec{Topic: "t", ID: testID, Config: c})
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return h.appendSome(l, 12, 0) },
		func() error { return l.Flush() },
		func() error { h.flushed(l); return h.appendSome(l, 20, 1) },
		func() error { return d.Checkpoint(1) },
		func() error { h.flushed(l); return h.appendSome(l, 9, 2) },
		func() error { return h.truncate(l, l.EndOffset()-14) },
		func() error { return h.appendSome(l, 15, 4) },
		func() error { return d.Checkpoint(2) },
		func() error { h.flushed(l); return h.appendSome(l, 20, 5) },
		func() error { _, err := l.Retain(1, l.EndOffset()); h.start = l.StartOffset(); return err },
		func() error { return d.Checkpoint(2_000_000) },
		func() error { h.flushed(l); return h.appendSome(l, 5, 5) },
		func() error { return h.truncate(l, l.EndOffset()-2) },
		func() error { return h.appendSome(l, 3, 6) },
		func() error { return l.PutProducers(l.EndOffset(), batch.AppendProducers(nil, nil)) },
		func() error { return d.Close(3) },
		func() error { h.flushed(l); return nil },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) appendSome(l *Log, n int, e batch.Epoch) error {
	for i := range n {
		if err := h.append(l, 1+i%4, e); err != nil {
			return err
		}
	}
	return nil
}

// check opens what a crash left and compares.
func (h *history) check(fsys vfs.FS) error {
	d, err := OpenDir(fsys, "/data", quiet)
	if err != nil {
		return err
	}
	l, err := d.Open(Spec{Topic: "t", ID: testID, Config: testConfig()})
	if err != nil {
		return err
	}
	if err := l.wake(); err != nil {
		return err
	}
	if l.EndOffset() < h.durable || l.StartOffset() > max(h.start, 0) && l.StartOffset() > h.durable {
		return fmt.Errorf("%d to %d, durable up to %d", l.StartOffset(), l.EndOffset(), h.durable)
	}
	got := contents(h.t, l)
	ok := slices.ContainsFunc(h.lives, func(life [][]byte) bool {
		var all []byte
		for _, b := range life {
			if batch.View(b).LastOffset() >= l.StartOffset() {
				all = append(all, b...)
			}
		}
		return bytes.HasPrefix(all, got)
	})
	if !ok {
		return fmt.Errorf("%d bytes from %d to %d are no part of any history", len(got), l.StartOffset(), l.EndOffset())
	}
	for rest := got; len(rest) > 0; {
		var v batch.View
		v, rest, _ = batch.Next(rest)
		if e, _ := l.EpochAt(v.BaseOffset()); e != v.LeaderEpoch() {
			return fmt.Errorf("epoch at %d is %d, want %d", v.BaseOffset(), e, v.LeaderEpoch())
		}
		at, ok, err := l.OffsetForTime(v.BaseTimestamp(), nil)
		if !ok || err != nil || at.Offset > v.BaseOffset() {
			return fmt.Errorf("time %d at %d: %v %v %w", v.BaseTimestamp(), v.BaseOffset(), at, ok, err)
		}
	}
	// And life goes on.
	end := l.EndOffset()
	if err := l.Append(1_000_000, oneBatch(h.t, end, 2, 9000, 9)); err != nil {
		return err
	}
	if err := d.Close(4); err != nil {
		return err
	}
	d, err = OpenDir(fsys, "/data", quiet)
	if err != nil {
		return err
	}
	if l, err = d.Open(Spec{Topic: "t", ID: testID, Config: testConfig()}); err != nil {
		return err
	}
	if again := contents(h.t, l); l.EndOffset() != end+2 || !bytes.HasPrefix(again, got) {
		return fmt.Errorf("after another append and a clean stop: end %d, want %d", l.EndOffset(), end+2)
	}
	return d.Abandon()
}

// A crash after every file operation of a history leaves a log that opens, holds a prefix of what was
// appended, and all of what was flushed.
func TestCrashAfterEveryOperation(t *testing.T) {
	for n := 0; ; n++ {
		m := vfs.NewMem()
		f := vfs.NewFaults(m)
		f.HaltAfter(n)
		h := &history{t: t, lives: make([][][]byte, 1)}
		err := h.play(f)
		if err != nil && !errors.Is(err, vfs.ErrHalted) {
			t.Fatalf("operation %d: %v", n, err)
		}
		for seed := range uint64(6) {
			if err := h.check(m.Crash(seed)); err != nil {
				t.Fatalf("crash after operation %d, seed %d: %v", n, seed, err)
			}
		}
		if err == nil {
			t.Logf("%d operations", n)
			return
		}
	}
}

// A process that dies leaves all that it wrote: nothing that was appended is lost.
func TestKillAfterEveryOperation(t *testing.T) {
	for n := 0; ; n++ {
		m := vfs.NewMem()
		f := vfs.NewFaults(m)
		f.HaltAfter(n)
		h := &history{t: t, lives: make([][][]byte, 1)}
		err := h.play(f)
		h.durable = 0
		if len(h.lives) == 1 && len(h.now()) > 1 {
			h.durable = batch.View(h.now()[len(h.now())-2]).LastOffset() + 1
		}
		if err := h.check(m.Kill()); err != nil {
			t.Fatalf("killed after operation %d: %v", n, err)
		}
		if err == nil {
			return
		}
	}
}

// Every write and sync in turn fails, once: the log says so, and goes on when it can.
func TestDiskFull(t *testing.T) {
	for _, short := range []int{0, 1, 70} {
		for nth := 1; nth < 40; nth++ {
			m := vfs.NewMem()
			f := vfs.NewFaults(m)
			d, err := OpenDir(f, "/data", quiet)
			if err != nil {
				t.Fatal(err)
			}
			l := openLog(t, d)
			f.Fail(vfs.OpWrite, "/t-0/", nth, vfs.Fault{Err: syscall.ENOSPC, Short: short})
			failed := 0
			for range 60 {
				o := l.EndOffset()
				err := l.Append(1_000_000, oneBatch(t, o, 2, 1000+int64(o), 0))
				if err != nil {
					failed++
					if !errors.Is(err, syscall.ENOSPC) || l.EndOffset() != o {
						t.Fatal(err, l.EndOffset())
					}
				}
			}
			if failed > 1 || l.EndOffset() != batch.Offset(2*(60-failed)) {
				t.Fatalf("write %d: %d failures, end %d", nth, failed, l.EndOffset())
			}
			want := contents(t, l)
			if err := d.Close(1); err != nil {
				t.Fatal(err)
			}
			l = openLog(t, openDir(t, m))
			if got := contents(t, l); !bytes.Equal(got, want) {
				t.Fatalf("write %d: %d bytes, want %d", nth, len(got), len(want))
			}
		}
	}
}

// After a failed sync nobody knows what is on the disk: the log refuses more until it is opened, and
// verified, again.
func TestFailedSync(t *testing.T) {
	m := vfs.NewMem()
	f := vfs.NewFaults(m)
	d, err := OpenDir(f, "/data", quiet)
	if err != nil {
		t.Fatal(err)
	}
	l := openLog(t, d)
	fill(t, l, 10)
	f.Fail(vfs.OpSync, suffixLog, 1, vfs.Fault{Err: syscall.EIO})
	if err := d.Checkpoint(1); !errors.Is(err, ErrSync) || !errors.Is(err, syscall.EIO) || l.RecoveryPoint() != 0 {
		t.Fatal(err)
	}
	if err := l.Append(1, oneBatch(t, 30, 1, 1, 0)); !errors.Is(err, ErrSync) {
		t.Fatal(err)
	}
	contents(t, l)
	if err := d.Close(1); err == nil {
		t.Fatal("closed cleanly")
	}
	d = openDir(t, m)
	if clean, _ := d.Clean(); clean || openLog(t, d).EndOffset() != 30 {
		t.Fatal("clean")
	}
}
