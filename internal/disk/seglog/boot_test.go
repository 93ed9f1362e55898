package seglog

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// countedFS counts the bytes that are read.
type countedFS struct {
	vfs.FS
	read int
}

type countedFile struct {
	vfs.File
	c *countedFS
}

func (c *countedFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	return countedFile{f, c}, err
}

func (f countedFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(b, at)
	f.c.read += n
	return n, err
}

// large writes n batches of 20 kB with epochs that change now and then and times that mostly increase, and a
// checkpoint near the beginning.
func large(t *testing.T, m *vfs.Mem, n int) {
	t.Helper()
	largeNoted(t, m, n, func(d *Dir) error { return d.Checkpoint(1) })
}

// largeNoted is large with something else than a checkpoint.
func largeNoted(t *testing.T, m *vfs.Mem, n int, note func(*Dir) error) {
	t.Helper()
	d := openDir(t, m)
	c := testConfig()
	c.SegmentBytes, c.IndexBytes = 8<<20, 1<<20
	l, err := d.Open(Spec{Topic: "t", ID: testID, Config: c})
	if err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 20_000)
	for i := range n {
		o := l.EndOffset()
		meta := batch.NoProducer(o, batch.Epoch(i/90), 1000+int64(i/3*3-i%7))
		b, err := batch.Build(nil, meta, []batch.Record{{Value: value}})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Append(1_000_000, b); err != nil {
			t.Fatal(err)
		}
		if i == 40 {
			if err := note(d); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A log that was made after the last checkpoint is believed, too, once it was noted; after a power cut it is
// not.
func TestKillBeforeTheFirstCheckpoint(t *testing.T) {
	m := vfs.NewMem()
	largeNoted(t, m, 400, (*Dir).Note)
	want := answers(t, m.Crash(1))
	if got := answers(t, m.Kill()); got != want {
		t.Error("differs from what a whole scan finds")
	}
	for _, c := range []struct {
		m        *vfs.Mem
		min, max int
	}{{m.Kill(), 0, adoptVerify + 1<<20}, {m.Crash(1), 7 << 20, 40 << 20}} {
		fsys := &countedFS{FS: c.m}
		openLog(t, openDir(t, fsys))
		if fsys.read < c.min || fsys.read > c.max {
			t.Errorf("%d bytes read", fsys.read)
		}
	}
}

// Index files that weren't trimmed, as Apache's broker leaves them when it is killed, end in zeros; and an
// entry may be damaged. Both are seen though only the ends of the files are looked at.
func TestKillWithIndexesThatLie(t *testing.T) {
	m := vfs.NewMem()
	d := openDir(t, m)
	c := testConfig()
	c.SegmentBytes, c.IndexBytes, c.IndexIntervalBytes = 8<<20, 1<<20, 1
	l, err := d.Open(Spec{Topic: "t", ID: testID, Config: c})
	for i := range 2 * believedTail / offsetWidth { // the files hold more than what is looked at
		var b []byte
		meta := batch.NoProducer(batch.Offset(i), 0, 1000+int64(i/4))
		if err == nil {
			b, err = batch.Build(nil, meta, []batch.Record{{Value: []byte("v")}})
		}
		if err == nil {
			err = l.Append(1_000_000, b)
		}
		if err == nil && i == 0 {
			err = d.Checkpoint(1)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	want := answers(t, m.Kill())
	name := "/data/t-0/" + segmentName(0)
	for _, suffix := range []string{suffixIndex, suffixTime} {
		b, err := vfs.ReadFile(m, name+suffix)
		if err != nil {
			t.Fatal(err)
		}
		width := offsetWidth
		if suffix == suffixTime {
			width = timeWidth
		}
		damaged := slices.Clone(b)
		clear(damaged[len(b)-3*width : len(b)-2*width])
		for what, content := range map[string][]byte{
			"zeros behind": append(slices.Clone(b), make([]byte, 10000*width)...), "a damaged entry": damaged,
			"part of an entry": b[:len(b)-5], "nothing": nil,
		} {
			k := m.Kill()
			if err := vfs.WriteNew(k, name+suffix, content, false); err != nil {
				t.Fatal(err)
			}
			if answers(t, k) != want {
				t.Errorf("%s: %s: not what the batches say", suffix, what)
			}
		}
	}
}

// answers are all that a log says about what it holds.
func answers(t *testing.T, fsys vfs.FS) string {
	l := openLog(t, openDir(t, fsys))
	es, err := l.Epochs()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, l.StartOffset(), l.EndOffset(), es)
	for ts := int64(990); ts < 2500; ts += 11 {
		at, ok, err := l.OffsetForTime(ts, nil)
		fmt.Fprintln(&b, ts, at, ok, err)
	}
	at, ok, err := l.MaxTimestamp(nil)
	fmt.Fprintln(&b, at, ok, err)
	b.Write(contents(t, l))
	return b.String()
}

// A killed process's log is taken over without being read, and says the same as after a power cut that lost
// nothing, when all of it is read.
func TestKillReadsTheTailOnly(t *testing.T) {
	m := vfs.NewMem()
	large(t, m, 1500) // 30 MB in 4 segments
	want := answers(t, m.Crash(1))
	if got := answers(t, m.Kill()); got != want {
		t.Fatal("differs from what a whole scan finds")
	}
	after := &countedFS{FS: m.Kill()}
	openLog(t, openDir(t, after))
	whole := &countedFS{FS: m.Crash(1)}
	openLog(t, openDir(t, whole))
	if after.read > adoptVerify+1<<20 || whole.read < 20<<20 {
		t.Fatalf("%d bytes read after a kill, %d after a power cut", after.read, whole.read)
	}
	// A batch that was being written is cut.
	torn := m.Kill()
	b, err := vfs.ReadFile(torn, "/data/t-0/"+segmentName(lastBase(t, torn))+suffixLog)
	if err != nil {
		t.Fatal(err)
	}
	if err := vfs.WriteNew(torn, "/data/t-0/"+segmentName(lastBase(t, torn))+suffixLog, b[:len(b)-9], true); err != nil {
		t.Fatal(err)
	}
	if l := openLog(t, openDir(t, torn)); l.EndOffset() != 1499 {
		t.Fatal(l.EndOffset())
	}
}

func lastBase(t *testing.T, m *vfs.Mem) batch.Offset {
	all := bases(t, m)
	return all[len(all)-1]
}

// What a power cut left stays under suspicion until it was verified, however often the process is killed.
func TestPowerCutThenKill(t *testing.T) {
	m := vfs.NewMem()
	large(t, m, 300)
	cut := m.Crash(1)
	openDir(t, cut) // and dies before it opens a log
	again := &countedFS{FS: cut.Kill()}
	d := openDir(t, again)
	if d.sameBoot {
		t.Fatal("believed")
	}
	openLog(t, d)
	if again.read < 4<<20 {
		t.Fatal(again.read)
	}
	if err := d.Checkpoint(1); err != nil {
		t.Fatal(err)
	}
	if d = openDir(t, again.FS.(*vfs.Mem).Kill()); !d.sameBoot {
		t.Fatal("not believed")
	}
}

// Batches' headers are enough for who wants no records.
func TestVisitHeaders(t *testing.T) {
	l := openLog(t, openDir(t, vfs.NewMem()))
	fill(t, l, 60)
	for _, from := range []batch.Offset{0, 50, 179, 180} {
		var whole, headers []batch.Offset
		collect := func(to *[]batch.Offset) func(batch.View) error {
			return func(v batch.View) error {
				*to = append(*to, v.BaseOffset(), v.LastOffset(), batch.Offset(v.MaxTimestamp()))
				return nil
			}
		}
		if err := l.Visit(from, collect(&whole)); err != nil {
			t.Fatal(err)
		}
		if err := l.VisitHeaders(from, collect(&headers)); err != nil || !slices.Equal(whole, headers) {
			t.Fatal(err, from)
		}
	}
}
