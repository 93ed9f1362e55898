package seglog

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// goldenFS is a memory file system with a golden directory at /data.
func goldenFS(t testing.TB, kind string) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem()
	root := filepath.Join("testdata/golden", kind)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join("/data", strings.TrimPrefix(path, root))
		if e.IsDir() {
			return m.MkdirAll(to, 0o755)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return vfs.WriteNew(m, to, b, true)
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func goldenConfig(topic string) Config {
	c := DefaultConfig()
	c.IndexIntervalBytes = 300
	if topic != "stamped" {
		c.SegmentMs, c.IndexBytes = 1000, 4096
	}
	return c
}

func openGolden(t testing.TB, m vfs.FS) (*Dir, []*Log) {
	t.Helper()
	d := openDir(t, m)
	var logs []*Log
	for _, tp := range d.Found() {
		id, err := d.FoundID(tp.Topic, tp.Partition)
		if err != nil || id == [16]byte{} {
			t.Fatal(id, err)
		}
		l, err := d.Open(Spec{
			Topic: tp.Topic, Partition: tp.Partition, ID: id, Config: goldenConfig(tp.Topic),
			Producers: func(batch.Offset) []byte { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l)
	}
	if len(logs) != 7 {
		t.Fatalf("%d logs", len(logs))
	}
	return d, logs
}

// files is the content of all files of a log directory whose suffix is one of those given.
func files(t testing.TB, m vfs.FS, suffixes ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	dirs, err := m.ReadDir("/data")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if !dir.IsDir() {
			continue
		}
		ents, _ := m.ReadDir("/data/" + dir.Name())
		for _, e := range ents {
			for _, s := range suffixes {
				if strings.HasSuffix(e.Name(), s) {
					name := dir.Name() + "/" + e.Name()
					b, err := vfs.ReadFile(m, "/data/"+name)
					if err != nil {
						t.Fatal(err)
					}
					out[name] = string(b)
				}
			}
		}
	}
	return out
}

func sameFiles(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, w := range want {
		if g, ok := got[name]; g != w || !ok {
			t.Errorf("%s: %s is %x, want %x", what, name, g, w)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s should not be", what, name)
		}
	}
}

func TestGoldenReadsEveryRecord(t *testing.T) {
	want := map[string]int{
		"stamped": 32, "txn": 30, "plain-none": 60, "plain-gzip": 60, "plain-snappy": 60,
		"plain-lz4": 60, "plain-zstd": 60,
	}
	for _, kind := range []string{"clean", "unclean"} {
		d, logs := openGolden(t, goldenFS(t, kind))
		if clean, epoch := d.Clean(); clean != (kind == "clean") || clean && epoch != 12 {
			t.Fatalf("%s: clean %v, epoch %d", kind, clean, epoch)
		}
		for _, l := range logs {
			records, values := 0, 0
			err := l.Visit(0, func(v batch.View) error {
				if v.Control() {
					return nil
				}
				r, err := v.Records(nil)
				if err != nil {
					return err
				}
				defer r.Close()
				var rec batch.Record
				for r.Next(&rec) {
					records++
					if bytes.HasPrefix(rec.Value, []byte("v")) {
						values++
					}
				}
				return r.Err()
			})
			if err != nil {
				t.Fatal(err)
			}
			if n := want[l.Topic()]; records != n || strings.HasPrefix(l.Topic(), "plain") && values != 48 {
				t.Errorf("%s: %s has %d records, %d values", kind, l, records, values)
			}
			contents(t, l)
		}
	}
}

var golden = []string{suffixLog, suffixIndex, suffixTime, suffixTxn, fileEpochs, filePartition}

// What we make of a directory that Apache left in the middle of its work is what Apache makes of it in the
// end.
func TestGoldenRecovery(t *testing.T) {
	want := files(t, goldenFS(t, "clean"), golden...)
	m := goldenFS(t, "unclean")
	d, _ := openGolden(t, m)
	if err := d.Close(1); err != nil {
		t.Fatal(err)
	}
	got := files(t, m, golden...)
	for name := range want {
		if strings.HasSuffix(name, suffixTxn) { // made again by the owner's replay
			delete(want, name)
			delete(got, name)
		}
	}
	sameFiles(t, "recovered", got, want)

	m = goldenFS(t, "clean")
	d, _ = openGolden(t, m)
	if err := d.Close(1); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "opened and closed", files(t, m, golden...), files(t, goldenFS(t, "clean"), golden...))
}

func TestGoldenIndexesMadeAgain(t *testing.T) {
	want := files(t, goldenFS(t, "clean"), suffixLog, suffixIndex, suffixTime)
	m := goldenFS(t, "clean")
	for name := range want {
		if !strings.HasSuffix(name, suffixLog) {
			if err := m.Remove("/data/" + name); err != nil {
				t.Fatal(err)
			}
		}
	}
	d, logs := openGolden(t, m)
	for _, l := range logs {
		contents(t, l)
	}
	if err := d.Close(1); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "indexes", files(t, m, suffixLog, suffixIndex, suffixTime), want)
}

// Appending Apache's batches one by one makes Apache's files: same segments, same indexes.
func TestGoldenAppend(t *testing.T) {
	_, logs := openGolden(t, goldenFS(t, "clean"))
	m := vfs.NewMem()
	d := openDir(t, m)
	for _, from := range logs {
		to, err := d.Open(Spec{Topic: from.Topic(), Partition: 0, ID: from.TopicID(), Config: from.Config()})
		if err != nil {
			t.Fatal(err)
		}
		if err := from.Visit(0, func(v batch.View) error { return to.Append(0, v) }); err != nil {
			t.Fatal(err)
		}
		for i := batch.Offset(0); i < from.EndOffset(); i += 7 {
			ts := int64(1700000000000 + 20*i)
			a, okA, errA := from.OffsetForTime(ts, nil)
			b, okB, errB := to.OffsetForTime(ts, nil)
			if a != b || okA != okB || errA != nil || errB != nil {
				t.Errorf("%s at %d: %v %v %v, %v %v %v", from, ts, a, okA, errA, b, okB, errB)
			}
		}
	}
	if err := d.Close(1); err != nil {
		t.Fatal(err)
	}
	all := []string{suffixLog, suffixIndex, suffixTime, fileEpochs, filePartition}
	sameFiles(t, "appended", files(t, m, all...), files(t, goldenFS(t, "clean"), all...))
}

func TestGoldenFormats(t *testing.T) {
	m := goldenFS(t, "clean")
	for name, content := range files(t, m, suffixSnapshot, suffixTxn, fileEpochs, filePartition) {
		b := []byte(content)
		var again []byte
		var err error
		switch {
		case strings.HasSuffix(name, suffixSnapshot):
			var es []batch.ProducerEntry
			es, err = batch.DecodeProducers(b)
			again = batch.AppendProducers(nil, es)
		case strings.HasSuffix(name, suffixTxn):
			var ts []AbortedTxn
			ts, err = decodeTxns(b)
			for _, x := range ts {
				again = appendTxn(again, x)
			}
		case strings.HasSuffix(name, fileEpochs):
			var es []EpochEntry
			es, err = decodeEpochs(b)
			again = encodeEpochs(es)
		default:
			var id [16]byte
			id, err = decodePartition(b)
			again = encodePartition(id)
		}
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s: %v, %x, want %x", name, err, again, b)
		}
	}
	b, err := vfs.ReadFile(m, "/data/"+fileClean)
	if err != nil || string(encodeClean(decodeClean(b))) != string(b) {
		t.Errorf("%s: %v", b, err)
	}
	for _, name := range []string{fileRecovery, fileStart, fileHW} {
		b, err := vfs.ReadFile(m, "/data/"+name)
		if err != nil {
			t.Fatal(err)
		}
		es, err := decodeOffsets(b)
		if again := encodeOffsets(es); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s: %v, %s, want %s", name, err, again, b)
		}
	}
	p, err := LoadProperties(m, "/data")
	want := Properties{Version: 1, ClusterID: "MkU3OEVBNTcwNTJENDM2Qg", NodeID: 1, DirectoryID: "nVlKhm1cfsHTwXbM5Kei2w"}
	if err != nil || *p != want {
		t.Errorf("%+v, %v", p, err)
	}
	again, err := decodeProperties(want.encode())
	if err != nil || *again != want {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestGoldenAborted(t *testing.T) {
	_, logs := openGolden(t, goldenFS(t, "clean"))
	l := logs[len(logs)-1]
	all, err := l.Aborted(0, l.EndOffset())
	if err != nil || len(all) != 6 {
		t.Fatal(all, err)
	}
	last, err := l.Aborted(38, 39)
	if err != nil || len(last) != 1 || last[0] != (AbortedTxn{ProducerID: 5, First: 30, Last: 38, LastStable: 39}) {
		t.Fatal(last, err)
	}
	o, b, err := l.LatestProducers(l.EndOffset())
	if err != nil || o != 39 {
		t.Fatal(o, err)
	}
	if es, err := batch.DecodeProducers(b); err != nil || len(es) != 2 {
		t.Fatal(es, err)
	}
}
