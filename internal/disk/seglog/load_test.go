package seglog

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// filled is a closed directory with a log of 40 batches, and its content.
func filled(t testing.TB, clean bool) (*vfs.Mem, []byte) {
	t.Helper()
	m := vfs.NewMem()
	d := openDir(t, m)
	l := openLog(t, d)
	fill(t, l, 40)
	want := contents(t, l)
	if clean {
		if err := d.Close(1); err != nil {
			t.Fatal(err)
		}
	} else if err := d.Abandon(); err != nil {
		t.Fatal(err)
	}
	return m, want
}

func bases(t testing.TB, m vfs.FS) (out []batch.Offset) {
	t.Helper()
	ents, err := m.ReadDir("/data/t-0")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ents {
		if b, s, ok := parseSegmentName(e.Name()); ok && s == suffixLog {
			out = append(out, b)
		}
	}
	return out
}

// A complete replacement takes the place of the segments it spans; an incomplete one and deleted files go.
func TestReplacementsAfterACrash(t *testing.T) {
	m, want := filled(t, true)
	bs := bases(t, m)
	// The first two segments, compacted into one (here: all of their batches).
	var both []byte
	for _, b := range bs[:2] {
		raw, err := vfs.ReadFile(m, "/data/t-0/"+segmentName(b)+suffixLog)
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, raw...)
	}
	put := func(name string, b []byte) {
		if err := vfs.WriteNew(m, "/data/t-0/"+name, b, true); err != nil {
			t.Fatal(err)
		}
	}
	put(segmentName(bs[0])+suffixLog+suffixSwap, both)
	put(segmentName(bs[2])+suffixLog+suffixCleaned, []byte("half"))
	put(segmentName(bs[2]+1)+suffixLog+suffixSwap, []byte("of a split that is not complete"))
	put(segmentName(7)+suffixLog+suffixDeleted, []byte("gone"))
	put(segmentName(8)+suffixIndex, []byte("orphan"))
	l := openLog(t, openDir(t, m))
	if got := contents(t, l); !bytes.Equal(got, want) {
		t.Fatalf("%d bytes, want %d", len(got), len(want))
	}
	if got := bases(t, m); len(got) != len(bs)-1 || got[1] != bs[2] {
		t.Fatal(got, bs)
	}
	ents, _ := m.ReadDir("/data/t-0")
	for _, e := range ents {
		if unfinished(e.Name()) || e.Name() == segmentName(8)+suffixIndex {
			t.Fatal(e.Name())
		}
	}
}

// Damage past the recovery point: the log is cut there, later segments go.
func TestDamagedMiddle(t *testing.T) {
	m, want := filled(t, false)
	bs := bases(t, m)
	name := "/data/t-0/" + segmentName(bs[1]) + suffixLog
	for i := range 400 {
		broken := m.Crash(1)
		raw, err := vfs.ReadFile(m, name)
		if err != nil {
			t.Fatal(err)
		}
		var v batch.View
		for rest := raw; len(raw)-len(rest) <= i; {
			v, rest, _ = batch.Next(rest)
		}
		raw[i] ^= 0x10
		if err := vfs.WriteNew(broken, name, raw, true); err != nil {
			t.Fatal(err)
		}
		d := openDir(t, broken)
		l := openLog(t, d)
		got := contents(t, l)
		if pos := i - bytes.Index(raw[:i+1], v[:8]); pos >= 12 && pos < 16 {
			continue // the leader epoch, which nothing covers
		}
		if !bytes.HasPrefix(want, got) || l.EndOffset() < bs[1] || l.EndOffset() >= bs[2] {
			t.Fatal(i, l.EndOffset(), bs, bases(t, broken))
		}
		fill(t, l, 5)
		again := contents(t, l)
		if err := d.Close(1); err != nil {
			t.Fatal(err)
		}
		if got := contents(t, openLog(t, openDir(t, broken))); !bytes.Equal(got, again) {
			t.Fatal("differs after the repair")
		}
	}
}

// A start that fails between a kill and the opening of the logs must not vouch for what it never looked at.
func TestClosedUnopenedAfterAKill(t *testing.T) {
	for _, clean := range []bool{false, true} {
		m, want := filled(t, clean)
		m = m.Kill()
		for range 2 {
			if err := openDir(t, m).Close(1); err != nil {
				t.Fatal(err)
			}
		}
		d := openDir(t, m)
		if is, _ := d.Clean(); is != clean {
			t.Fatalf("clean: %v, want %v", is, clean)
		}
		if got := contents(t, openLog(t, d)); !bytes.Equal(got, want) {
			t.Fatalf("clean %v: %d bytes, want %d", clean, len(got), len(want))
		}
	}
}

// Any byte of an index flipped after a clean stop is found or harmless: reads and lookups give what they
// gave before.
func TestFlippedIndexBytes(t *testing.T) {
	m, want := filled(t, true)
	times := func(l *Log) (out []TimedOffset) {
		for ts := int64(990); ts < 1420; ts += 7 {
			o, _, err := l.OffsetForTime(ts, nil)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, o)
		}
		o, _, err := l.MaxTimestamp(nil)
		if err != nil {
			t.Fatal(err)
		}
		return append(out, o)
	}
	l := openLog(t, openDir(t, m.Crash(1)))
	wantTimes := times(l)
	for name, content := range files(t, m, suffixIndex, suffixTime) {
		for i := range content {
			bad := []byte(content)
			bad[i] ^= 1 << (i % 8)
			broken := m.Crash(1)
			if err := vfs.WriteNew(broken, "/data/"+name, bad, true); err != nil {
				t.Fatal(err)
			}
			l := openLog(t, openDir(t, broken))
			for from := batch.Offset(0); from < 120; from += 11 {
				s, err := l.Read(from, 120, 100, true)
				if err != nil || s.Len() == 0 {
					t.Fatalf("%s byte %d: read at %d: %v", name, i, from, err)
				}
				b, _ := s.AppendTo(nil)
				s.Release()
				if o := batch.View(b).BaseOffset(); o != from/3*3 {
					t.Fatalf("%s byte %d: read at %d gives %d", name, i, from, o)
				}
			}
			if got := contents(t, l); !bytes.Equal(got, want) {
				t.Fatalf("%s byte %d: %d bytes, want %d", name, i, len(got), len(want))
			}
			for j, o := range times(l) {
				if o != wantTimes[j] {
					t.Fatalf("%s byte %d: time %d gives %v, want %v", name, i, 990+7*j, o, wantTimes[j])
				}
			}
		}
	}
}

func TestLookupsAgainstBruteForce(t *testing.T) {
	g := rand.New(rand.NewPCG(5, 6))
	l := openLog(t, openDir(t, vfs.NewMem()))
	var all []int64
	for range 60 {
		ts := int64(1000 + g.IntN(500))
		mustAppend(t, l, oneBatch(t, l.EndOffset(), 2, ts, 0))
		all = append(all, ts, ts+1)
	}
	if err := l.SetStart(9); err != nil {
		t.Fatal(err)
	}
	for ts := int64(990); ts < 1510; ts++ {
		want := batch.Offset(-1)
		for o := 9; o < len(all) && want < 0; o++ {
			if all[o] >= ts {
				want = batch.Offset(o)
			}
		}
		got, ok, err := l.OffsetForTime(ts, nil)
		if err != nil || ok != (want >= 0) || ok && got.Offset != want {
			t.Fatalf("%d: %v %v %v, want %d", ts, got, ok, err, want)
		}
	}
}

// One writer that rolls, truncates and retains; readers that must never see anything but batches in order.
func TestReadersBesideAWriter(t *testing.T) {
	d, err := OpenDir(vfs.OS(), t.TempDir(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	c := testConfig()
	c.RetentionBytes = 10000
	l, err := d.Open(Spec{Topic: "t", ID: testID, Config: c})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() { readAlong(t, l, done, i) })
	}
	for i := range 500 {
		o := l.EndOffset()
		if err := l.Append(1, oneBatch(t, o, 1+i%3, 1000, batch.Epoch(i/100))); err != nil {
			t.Error(err)
		}
		switch i % 100 {
		case 40:
			_, err = l.Retain(1, l.EndOffset())
		case 60:
			err = l.Flush()
		case 80:
			err = d.Checkpoint(int64(i) * 1000)
		}
		if err != nil {
			t.Error(err)
		}
	}
	close(done)
	wg.Wait()
	if err := d.Close(1); err != nil {
		t.Fatal(err)
	}
}

func readAlong(t *testing.T, l *Log, done chan struct{}, seed int) {
	g := rand.New(rand.NewPCG(uint64(seed), 1))
	at := batch.Offset(0)
	for {
		select {
		case <-done:
			return
		default:
		}
		end := l.EndOffset()
		s, err := l.Read(at, end, 100+g.IntN(3000), true)
		if err != nil { // retention went past
			at = l.StartOffset()
			continue
		}
		b, err := s.AppendTo(nil)
		s.Release()
		if err != nil {
			t.Error(err)
			return
		}
		next := at
		for rest := b; len(rest) > 0; {
			v, r, err := batch.Next(rest)
			if err != nil {
				break
			}
			if v.LastOffset() < next || v.BaseOffset() > next || v.LastOffset() >= end || batch.Verify(v) != nil {
				t.Errorf("at %d of %d: batch %d..%d", next, end, v.BaseOffset(), v.LastOffset())
				return
			}
			next, rest = v.LastOffset()+1, r
		}
		if at = next; g.IntN(20) == 0 {
			at = l.StartOffset() + batch.Offset(g.IntN(int(end-l.StartOffset())+1))
		}
	}
}

// A slice can be read to the end after its segment was deleted.
func TestSliceOutlivesItsSegment(t *testing.T) {
	d, err := OpenDir(vfs.OS(), t.TempDir(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	l := openLog(t, d)
	fill(t, l, 40)
	s, err := l.Read(0, l.EndOffset(), 1<<20, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.SetStart(l.EndOffset()); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Retain(1, l.EndOffset()); n == 0 || err != nil {
		t.Fatal(n, err)
	}
	if err := d.Sweep(1 << 60); err != nil {
		t.Fatal(err)
	}
	b, err := s.AppendTo(nil)
	if err != nil || len(b) != s.Len() || s.File() == nil || batch.Verify(b[:batch.View(b).Size()]) != nil {
		t.Fatal(err)
	}
	s.Release()
	if _, err := l.Read(0, l.EndOffset(), 1, true); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Fatal(err)
	}
}

func FuzzFiles(f *testing.F) {
	for _, content := range files(f, goldenFS(f, "clean"), suffixSnapshot, suffixTxn, fileEpochs, filePartition) {
		f.Add([]byte(content))
	}
	f.Add([]byte("0\n1\nt 0 5\n"))
	f.Add([]byte("version=1\nnode.id=1\ncluster.id=x\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if es, err := batch.DecodeProducers(b); err == nil && !bytes.Equal(batch.AppendProducers(nil, es), b) {
			t.Fatal("producers")
		}
		if es, err := decodeEpochs(b); err == nil {
			if again, err := decodeEpochs(encodeEpochs(es)); err != nil || len(again) != len(es) {
				t.Fatal("epochs")
			}
		}
		if es, err := decodeOffsets(b); err == nil {
			if again, err := decodeOffsets(encodeOffsets(es)); err != nil || len(again) != len(es) {
				t.Fatal("offsets")
			}
		}
		if id, err := decodePartition(b); err == nil {
			if again, err := decodePartition(encodePartition(id)); err != nil || again != id {
				t.Fatal("partition")
			}
		}
		_, _ = decodeTxns(b)
		_, _ = decodeProperties(b)
		_ = decodeClean(b)
	})
}

// FuzzSegment opens a log of which each file may be anything: it opens and can be appended to, clean stop or
// not.
func FuzzSegment(f *testing.F) {
	for name, content := range files(f, goldenFS(f, "clean"), suffixLog) {
		index := strings.TrimSuffix(name, suffixLog)
		all := files(f, goldenFS(f, "clean"), suffixIndex, suffixTime)
		f.Add([]byte(content), []byte(all[index+suffixIndex]), []byte(all[index+suffixTime]), true)
	}
	f.Fuzz(func(t *testing.T, log, index, times []byte, clean bool) {
		m := vfs.NewMem()
		d := openDir(t, m)
		l := openLog(t, d)
		if err := l.Materialize(); err != nil {
			t.Fatal(err)
		}
		if err := d.Close(1); err != nil {
			t.Fatal(err)
		}
		for suffix, b := range map[string][]byte{suffixLog: log, suffixIndex: index, suffixTime: times} {
			if err := vfs.WriteNew(m, "/data/t-0/"+segmentName(0)+suffix, b, true); err != nil {
				t.Fatal(err)
			}
		}
		if !clean {
			_ = m.Remove("/data/" + fileClean)
		}
		d = openDir(t, m)
		l, err := d.Open(Spec{Topic: "t", ID: testID, Config: testConfig()})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.wake(); err != nil {
			t.Fatal(err)
		}
		for at := l.StartOffset(); at < l.EndOffset(); {
			s, err := l.Read(at, l.EndOffset(), 1<<16, true)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := s.AppendTo(nil)
			s.Release()
			h, ok := parseHeader(b, 0, int64(len(b)))
			if !ok || h.last < at {
				break
			}
			at = h.last + 1
		}
		_, _, _ = l.OffsetForTime(1700000000500, nil)
		_, _, _ = l.MaxTimestamp(nil)
		if end := l.EndOffset(); end < 1<<60 {
			mustAppend(t, l, oneBatch(t, end, 1, 1, 0))
		}
		if err := d.Close(1); err != nil {
			t.Fatal(err)
		}
	})
}
