package seglog

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// keyed appends n batches of one record with the key "k<i mod keys>", and a value that tells its offset.
func keyed(t testing.TB, l *Log, n, keys int) error {
	t.Helper()
	for range n {
		o := l.EndOffset()
		b, err := batch.Build(nil, batch.NoProducer(o, 0, 1000+int64(o)), []batch.Record{{
			Key: fmt.Appendf(nil, "k%d", int(o)%keys), Value: fmt.Appendf(nil, "value %d", o),
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Append(1_000_000, b); err != nil {
			return err
		}
	}
	return nil
}

// newest folds the log: of each key the newest offset and value.
func newest(l *Log) (map[string]string, error) {
	out := map[string]string{}
	err := l.Visit(l.StartOffset(), func(v batch.View) error {
		r, err := v.Records(nil)
		if err != nil {
			return err
		}
		defer r.Close()
		for rec := (batch.Record{}); r.Next(&rec); {
			out[string(rec.Key)] = fmt.Sprintf("%d %s", v.BaseOffset()+batch.Offset(rec.OffsetDelta), rec.Value)
		}
		return r.Err()
	})
	return out, err
}

// clean keeps of each key the newest record of all segments but the last, groups of so many segments in one.
func clean(l *Log, group int) error {
	c, err := l.StartCleaning(1 << 10)
	if err != nil {
		return err
	}
	latest := map[string]batch.Offset{}
	each := func(i int, fn func(key string, v batch.View) error) error {
		return c.Walk(i, 0, func(b []byte) error {
			r, err := batch.View(b).Records(nil)
			if err != nil {
				return err
			}
			defer r.Close()
			var rec batch.Record
			r.Next(&rec)
			return fn(string(rec.Key), b)
		})
	}
	last := len(c.Segments()) - 1
	for i := range last {
		if err := each(i, func(key string, v batch.View) error { latest[key] = v.BaseOffset(); return nil }); err != nil {
			return err
		}
	}
	for i := 0; i < last; i += group {
		n := min(group, last-i)
		w, err := c.Rewrite(i, n)
		if err != nil {
			return err
		}
		for j := i; j < i+n; j++ {
			if err := each(j, func(key string, v batch.View) error {
				if v.BaseOffset() < latest[key] {
					return nil
				}
				return w.Append(v)
			}); err != nil {
				w.Discard()
				return err
			}
		}
		if err := w.Finish(); err != nil {
			return err
		}
	}
	return l.SetCleaned(c.Segments()[last].Base)
}

func TestCleanKeepsWhatIsRead(t *testing.T) {
	fsys := vfs.NewMem()
	d := openDir(t, fsys)
	l := openLog(t, d)
	if err := keyed(t, l, 300, 7); err != nil {
		t.Fatal(err)
	}
	segments := l.Segments()
	early, err := l.Read(0, l.EndOffset(), 1<<20, true)
	if err != nil {
		t.Fatal(err)
	}
	before, err := early.AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := newest(l)
	if err != nil {
		t.Fatal(err)
	}
	stamp := time.UnixMilli(123_000)
	old := l.segments()[2].name(suffixLog)
	if err := fsys.Chtime(old, stamp); err != nil {
		t.Fatal(err)
	}
	if err := clean(l, 3); err != nil {
		t.Fatal(err)
	}
	if l.Segments() >= segments || l.Cleaned() == 0 {
		t.Errorf("%d segments became %d, clean up to %d", segments, l.Segments(), l.Cleaned())
	}
	if info, err := fsys.Stat(l.segments()[0].name(suffixLog)); err != nil || !info.ModTime().Equal(stamp) {
		t.Errorf("modified %v, %v; want %v", info.ModTime(), err, stamp)
	}
	// A reader that began earlier reads on in the old files.
	if after, err := early.AppendTo(nil); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a slice from before changed: %v", err)
	}
	early.Release()
	check := func(l *Log) {
		t.Helper()
		if got, err := newest(l); err != nil || !maps.Equal(got, want) {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
		for o := range l.EndOffset() { // what comes next, wherever one starts
			s, err := l.Read(o, l.EndOffset(), 1, true)
			if err != nil || s.Len() == 0 {
				t.Fatalf("read at %d: %d bytes, %v", o, s.Len(), err)
			}
			s.Release()
		}
	}
	check(l)
	cleaned := l.Cleaned()
	if err := d.Close(1); err != nil {
		t.Fatal(err)
	}
	d = openDir(t, fsys)
	l = openLog(t, d)
	if l.Cleaned() != cleaned {
		t.Errorf("clean up to %d after a restart, not to %d", l.Cleaned(), cleaned)
	}
	check(l)
	if err := l.TruncateTo(cleaned - 10); err != nil {
		t.Fatal(err)
	}
	if l.Cleaned() != cleaned-10 {
		t.Errorf("clean up to %d after the log was cut to %d", l.Cleaned(), cleaned-10)
	}
}

// What is kept of a group that doesn't fit one segment goes into several.
func TestRewriteIntoMoreSegments(t *testing.T) {
	d := openDir(t, vfs.NewMem())
	l := openLog(t, d)
	if err := keyed(t, l, 300, 1000); err != nil {
		t.Fatal(err)
	}
	want := contents(t, l)
	segments := l.Segments()
	if err := clean(l, segments); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, l); !bytes.Equal(got, want) {
		t.Errorf("%d bytes became %d", len(want), len(got))
	}
	for _, s := range l.segments() {
		if s.size.Load() > testConfig().SegmentBytes {
			t.Errorf("segment %d has %d bytes", s.base, s.size.Load())
		}
	}
}

func TestCleaningOfAChangedLog(t *testing.T) {
	for name, change := range map[string]func(l *Log) error{
		"cut":      func(l *Log) error { return l.TruncateTo(20) },
		"retained": func(l *Log) error { _, err := l.Retain(1, l.EndOffset()); return err },
		"gone":     func(l *Log) error { return l.Delete() },
	} {
		t.Run(name, func(t *testing.T) {
			d := openDir(t, vfs.NewMem())
			l := openLog(t, d)
			if err := keyed(t, l, 300, 7); err != nil {
				t.Fatal(err)
			}
			if err := l.SetStart(l.segments()[3].base); err != nil {
				t.Fatal(err)
			}
			c, err := l.StartCleaning(1 << 10)
			if err != nil {
				t.Fatal(err)
			}
			w, err := c.Rewrite(1, 2)
			if err != nil {
				t.Fatal(err)
			}
			if c.Changed(1) {
				t.Error("changed before it was")
			}
			if err := change(l); err != nil {
				t.Fatal(err)
			}
			if !c.Changed(1) {
				t.Error("not changed")
			}
			if err := w.Finish(); !errors.Is(err, ErrChanged) && !errors.Is(err, ErrClosed) {
				t.Errorf("finished with %v", err)
			}
			ents, _ := d.fs.ReadDir(l.Path())
			for _, e := range ents {
				if unfinished(e.Name()) && name != "retained" {
					t.Errorf("left %s", e.Name())
				}
			}
		})
	}
}

// A crash anywhere, of the process or of the machine, leaves each key's newest record, and a log that can be
// cleaned again.
func TestCleanerKilledAtEveryStep(t *testing.T) {
	steps := 0
	for seed := range uint64(3) {
		for nth := 0; ; nth++ {
			mem := vfs.NewMem()
			fsys := vfs.NewFaults(mem)
			d := openDir(t, fsys)
			l := openLog(t, d)
			if err := keyed(t, l, 90, 7); err != nil {
				t.Fatal(err)
			}
			want, err := newest(l)
			if err == nil {
				err = d.Checkpoint(1)
			}
			if err != nil {
				t.Fatal(err)
			}
			end := l.EndOffset()
			before := fsys.Ops()
			fsys.HaltAfter(nth)
			done := clean(l, 2) == nil
			steps = max(steps, fsys.Ops()-before)
			check(t, mem.Crash(seed), want, end, fmt.Sprintf("seed %d, step %d", seed, nth))
			if done {
				break
			}
		}
	}
	if steps < 50 {
		t.Errorf("only %d steps", steps)
	}
}

func check(t *testing.T, fsys vfs.FS, want map[string]string, end batch.Offset, what string) {
	t.Helper()
	d := openDir(t, fsys)
	l := openLog(t, d)
	for range 2 {
		got, err := newest(l)
		if err != nil || !maps.Equal(got, want) || l.EndOffset() != end {
			t.Fatalf("%s: got %v up to %d, %v; want %v up to %d", what, got, l.EndOffset(), err, want, end)
		}
		if err := clean(l, 3); err != nil {
			t.Fatalf("%s: cleaning again: %v", what, err)
		}
	}
	if err := d.Close(1); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
