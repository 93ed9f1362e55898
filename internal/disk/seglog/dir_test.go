package seglog

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

func TestSecondProcessIsRefused(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{"os": vfs.OS(), "mem": vfs.NewMem()} {
		path := filepath.Join(t.TempDir(), "data")
		d, err := OpenDir(fsys, path, quiet)
		if err != nil {
			t.Fatal(err)
		}
		_, err = OpenDir(fsys, path, quiet)
		if !errors.Is(err, vfs.ErrLocked) || !strings.Contains(err.Error(), filepath.Join(path, ".lock")) {
			t.Fatalf("%s: %v", name, err)
		}
		if err := d.Close(1); err != nil {
			t.Fatal(err)
		}
		if d, err = OpenDir(fsys, path, quiet); err != nil {
			t.Fatal(err)
		}
		if err := d.Abandon(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDirectoriesThatAreNoLogs(t *testing.T) {
	m := vfs.NewMem()
	hex := strings.Repeat("0a", 16)
	for _, name := range []string{
		"lost+found", "snap-", "-1", "a-01", "a--1", metadataLogName, remoteCacheName, "x-1-stray",
		"a-1." + hex + "-stray", "a-2." + hex + "-future", "a-3." + hex + "-delete", "a-b-7",
	} {
		if err := m.MkdirAll("/data/"+name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d := openDir(t, m)
	if got := fmt.Sprint(d.Found(), d.Aside()); got != "[a--1 a-b-7] [a-1."+hex+"-stray a-2."+hex+"-future]" {
		t.Fatal(got)
	}
	if err := d.Checkpoint(0); err != nil {
		t.Fatal(err)
	}
	ents, _ := m.ReadDir("/data")
	if len(ents) != 11+3 { // the one to delete went; .lock and two checkpoints came
		t.Fatal(ents)
	}
	if !d.Has("a-b", 7) || d.Has("a", 1) {
		t.Fatal("Has")
	}
	if _, err := d.SetAside("a-b", 7); err != nil || d.Has("a-b", 7) {
		t.Fatal(err)
	}
}

func TestNamesOfAnyLength(t *testing.T) {
	m := vfs.NewMem()
	d := openDir(t, m)
	topic := strings.Repeat("x", 249)
	l, err := d.Open(Spec{Topic: topic, Partition: 12345, ID: testID, Config: testConfig()})
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, oneBatch(t, 0, 1, 1, 0))
	if err := l.Delete(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(l.Path())
	if len(name) != 255 || !isAside(name, suffixDirDelete) {
		t.Fatal(len(name), name)
	}
	if err := l.Append(0, oneBatch(t, 1, 1, 1, 0)); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
	if _, err := l.Read(0, 1, 1, true); err == nil {
		// A log that is gone may answer from what it still has, or not at all.
		t.Log("read after delete")
	}
	if err := d.Sweep(1 << 60); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Stat(l.Path()); !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

func TestWrongTopicID(t *testing.T) {
	m := vfs.NewMem()
	d := openDir(t, m)
	fill(t, openLog(t, d), 3)
	if _, err := d.Open(Spec{Topic: "t", Config: testConfig()}); err == nil {
		t.Fatal("opened twice")
	}
	if err := d.Close(1); err != nil {
		t.Fatal(err)
	}
	d = openDir(t, m)
	if _, err := d.Open(Spec{Topic: "t", ID: [16]byte{9}, Config: testConfig()}); !errors.Is(err, ErrTopicID) {
		t.Fatal(err)
	}
	if err := d.Discard("t", 0); err != nil {
		t.Fatal(err)
	}
	l, err := d.Open(Spec{Topic: "t", ID: [16]byte{9}, Config: testConfig()})
	if err != nil || l.EndOffset() != 0 {
		t.Fatal(err)
	}
}

func TestUnreadableCheckpoints(t *testing.T) {
	for _, bad := range []string{"", "1\n0\n", "0\n2\nt 0 5\n", "0\n1\nt 0 x\n", "0\n1\nt 0\n", "\x00\x00"} {
		m := vfs.NewMem()
		d := openDir(t, m)
		l := openLog(t, d)
		fill(t, l, 20)
		want := contents(t, l)
		if err := d.Close(1); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{fileRecovery, fileStart, "t-0/" + fileEpochs} {
			if err := vfs.WriteNew(m, "/data/"+name, []byte(bad), true); err != nil {
				t.Fatal(err)
			}
		}
		l = openLog(t, openDir(t, m))
		if got := contents(t, l); !bytes.Equal(got, want) || l.RecoveryPoint() != 60 {
			t.Fatalf("%q: %d bytes of %d", bad, len(got), len(want))
		}
		if e, _ := l.EpochAt(45); bad != "" && e != 1 {
			t.Fatalf("%q: epochs %v", bad, e)
		}
	}
}

// countingFS counts what is opened, by suffix.
type countingFS struct {
	vfs.FS
	opened []string
}

func (c *countingFS) OpenFile(name string, flag int, perm os.FileMode) (vfs.File, error) {
	c.opened = append(c.opened, filepath.Base(name))
	return c.FS.OpenFile(name, flag, perm)
}

// After a clean stop no log's content is read before it is used.
func TestCleanOpenReadsLittle(t *testing.T) {
	m := vfs.NewMem()
	d := openDir(t, m)
	l := openLog(t, d)
	fill(t, l, 50)
	if err := d.Close(1); err != nil {
		t.Fatal(err)
	}
	c := &countingFS{FS: m}
	d = openDir(t, c)
	c.opened = nil
	l = openLog(t, d)
	l.AssignEpoch(50, l.EndOffset())
	if n, err := l.Retain(0, l.EndOffset()); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	if l.EndOffset() != 150 || l.awake.Load() {
		t.Fatal("awake")
	}
	for _, name := range c.opened {
		if strings.HasSuffix(name, suffixLog) && name != segmentName(0)+suffixLog {
			t.Fatal(c.opened)
		}
	}
	c.opened = nil
	if err := d.Checkpoint(1); err != nil || slices.ContainsFunc(c.opened, func(n string) bool { return n[0] == '0' }) {
		t.Fatal(err, c.opened)
	}
	if e, err := l.LatestEpoch(); e != 50 || err != nil {
		t.Fatal(e, err)
	}
	mustAppend(t, l, oneBatch(t, 150, 1, 1, 50))
}

func TestProducerSnapshots(t *testing.T) {
	m := vfs.NewMem()
	d := openDir(t, m)
	calls := 0
	l, err := d.Open(Spec{Topic: "t", ID: testID, Config: testConfig(), Producers: func(upTo batch.Offset) []byte {
		calls++
		return batch.AppendProducers(nil, []batch.ProducerEntry{{ID: int64(upTo)}})
	}})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, l, 40)
	if calls != l.Segments()-1 {
		t.Fatalf("%d calls, %d segments", calls, l.Segments())
	}
	latest := func(upTo batch.Offset) (batch.Offset, int64) {
		o, b, err := l.LatestProducers(upTo)
		if err != nil {
			t.Fatal(err)
		}
		es, err := batch.DecodeProducers(b)
		if err != nil {
			t.Fatal(err)
		}
		return o, es[0].ID
	}
	for range 3 {
		fill(t, l, 1)
		if err := l.PutProducers(l.EndOffset(), batch.AppendProducers(nil, []batch.ProducerEntry{{ID: 7}})); err != nil {
			t.Fatal(err)
		}
	}
	if o, id := latest(l.EndOffset()); o != l.EndOffset() || id != 7 {
		t.Fatal(o, id)
	}
	base := l.active().base
	if o, id := latest(l.EndOffset() - 1); o != base || id != int64(base) {
		t.Fatal(o, id)
	}
	if len(l.snapshots) != l.Segments() {
		t.Fatal(l.snapshots)
	}
	// An unreadable one is passed over.
	if err := vfs.WriteNew(m, l.file(segmentName(l.EndOffset())+suffixSnapshot), []byte("junk"), true); err != nil {
		t.Fatal(err)
	}
	if o, _ := latest(l.EndOffset()); o != base {
		t.Fatal(o)
	}
	var seen batch.Offset
	if err := l.Visit(base, func(v batch.View) error { seen = v.LastOffset(); return nil }); err != nil || seen != l.EndOffset()-1 {
		t.Fatal(seen, err)
	}
}

func TestStandaloneLog(t *testing.T) {
	m := vfs.NewMem()
	spec := Spec{Topic: "__cluster_metadata", ID: testID, Config: testConfig()}
	for round := range 3 {
		l, err := OpenLog(m, "/meta", spec, quiet)
		if err != nil {
			t.Fatal(err)
		}
		if want := batch.Offset(round * 60); l.EndOffset() != want {
			t.Fatal(l.EndOffset())
		}
		fill(t, l, 20)
		if err := l.Flush(); err != nil || l.RecoveryPoint() != l.EndOffset() {
			t.Fatal(err)
		}
		contents(t, l)
		if round == 1 {
			m = m.Crash(0)
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
