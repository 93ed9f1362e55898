package seglog

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

var quiet = DirOptions{Logger: slog.New(slog.DiscardHandler), Now: func() int64 { return 1_000_000 }}

func openDir(t testing.TB, fsys vfs.FS) *Dir {
	t.Helper()
	d, err := OpenDir(fsys, "/data", quiet)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var testID = [16]byte{1, 2, 3}

func testConfig() Config {
	c := DefaultConfig()
	c.SegmentBytes, c.IndexIntervalBytes, c.IndexBytes = 2000, 200, 400
	return c
}

func openLog(t testing.TB, d *Dir) *Log {
	t.Helper()
	l, err := d.Open(Spec{Topic: "t", ID: testID, Partition: 0, Config: testConfig()})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// oneBatch is a batch of n records from offset base at time ts, whose values tell their offsets.
func oneBatch(t testing.TB, base batch.Offset, n int, ts int64, e batch.Epoch) []byte {
	t.Helper()
	recs := make([]batch.Record, n)
	for i := range recs {
		recs[i] = batch.Record{
			OffsetDelta: int32(i), TimestampDelta: int64(i),
			Value: fmt.Appendf(nil, "value %d", int(base)+i),
		}
	}
	b, err := batch.Build(nil, batch.NoProducer(base, e, ts), recs)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustAppend(t testing.TB, l *Log, b []byte) {
	t.Helper()
	if err := l.Append(1_000_000, b); err != nil {
		t.Fatal(err)
	}
}

// fill appends n batches of 3 records; batch i has time 1000 + 10 i and epoch i / 10.
func fill(t testing.TB, l *Log, n int) {
	t.Helper()
	for range n {
		o := l.EndOffset()
		mustAppend(t, l, oneBatch(t, o, 3, 1000+int64(o/3)*10, batch.Epoch(o/30)))
	}
}

// contents reads the whole log through Read and returns all batches' bytes.
func contents(t testing.TB, l *Log) []byte {
	t.Helper()
	var out []byte
	for at := l.StartOffset(); at < l.EndOffset(); {
		s, err := l.Read(at, l.EndOffset(), 1<<20, true)
		if err != nil {
			t.Fatal(err)
		}
		if s.Len() == 0 {
			t.Fatalf("nothing at %d of %d", at, l.EndOffset())
		}
		b, err := s.AppendTo(nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Release()
		for rest := b; len(rest) > 0; {
			var v batch.View
			if v, rest, err = batch.Next(rest); errors.Is(err, batch.ErrShort) && len(rest) < len(b) {
				break // what comes next was cut
			} else if err != nil {
				t.Fatal(err)
			}
			out = append(out, v...)
			if err := batch.Verify(v); err != nil {
				t.Fatal(err)
			}
			at = v.LastOffset() + 1
		}
	}
	return out
}

func TestAppendReadReopen(t *testing.T) {
	fsys := vfs.NewMem()
	d := openDir(t, fsys)
	l := openLog(t, d)
	if ents, _ := fsys.ReadDir("/data"); len(ents) != 2 { // .lock and .kalda_boot
		t.Fatalf("a new log made files: %v", ents)
	}
	fill(t, l, 60)
	want := contents(t, l)
	if l.Segments() < 3 {
		t.Fatalf("%d segments", l.Segments())
	}
	closed := func(d *Dir) error { return d.Close(7) }
	for round, end := range []func(*Dir) error{closed, (*Dir).Abandon, closed} {
		if err := end(d); err != nil {
			t.Fatal(err)
		}
		d = openDir(t, fsys)
		if clean, _ := d.Clean(); clean != (round != 1) {
			t.Fatalf("round %d: clean %v", round, clean)
		}
		l = openLog(t, d)
		if l.EndOffset() != 180 || l.StartOffset() != 0 {
			t.Fatalf("round %d: %d to %d", round, l.StartOffset(), l.EndOffset())
		}
		if got := contents(t, l); !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d bytes, want %d", round, len(got), len(want))
		}
		if e, o, err := l.EndOffsetForEpoch(2); e != 2 || o != 90 || err != nil {
			t.Fatalf("epoch 2 ends at %d, %d, %v", e, o, err)
		}
	}
	mustAppend(t, l, oneBatch(t, 180, 1, 5000, 9))
	if err := l.Append(0, oneBatch(t, 180, 1, 5000, 9)); !errors.Is(err, ErrOutOfOrder) {
		t.Fatal(err)
	}
}

func TestReadEveryOffsetAndBound(t *testing.T) {
	l := openLog(t, openDir(t, vfs.NewMem()))
	fill(t, l, 30)
	for from := batch.Offset(0); from <= 90; from++ {
		for bound := batch.Offset(0); bound <= 90; bound++ {
			s, err := l.Read(from, bound, 1<<20, true)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := s.AppendTo(nil)
			s.Release()
			if (len(b) > 0) != (from < bound && from/3 < bound/3) && bound%3 == 0 {
				t.Fatalf("[%d, %d): %d bytes", from, bound, len(b))
			}
			for rest := b; len(rest) > 0; {
				var v batch.View
				if v, rest, err = batch.Next(rest); err != nil {
					t.Fatal(err)
				}
				if v.LastOffset() < from || v.LastOffset() >= bound {
					t.Fatalf("[%d, %d): batch %d..%d", from, bound, v.BaseOffset(), v.LastOffset())
				}
			}
		}
	}
	if _, err := l.Read(91, 91, 1, true); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Fatal(err)
	}
}
