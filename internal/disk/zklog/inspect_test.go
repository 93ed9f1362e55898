package zklog

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
)

// logFile writes a log of the transactions 1 to n to a real folder, as tools read it, and gives its path.
func logFile(t *testing.T, n jute.Zxid) string {
	t.Helper()
	b := appendHeader(nil)
	for zxid := jute.Zxid(1); zxid <= n; zxid++ {
		b = appendFrame(b, txn(zxid, 10*int(zxid)))
	}
	path := filepath.Join(t.TempDir(), "log.1")
	if err := os.WriteFile(path, append(b, make([]byte, 100)...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func scanAll(path string) (out []Record, err error) {
	err = Scan(path, func(r Record) error {
		r.Data = bytes.Clone(r.Data)
		out = append(out, r)
		return nil
	})
	return out, err
}

// TestScan_ShowsBadRecordsToo, and Rewrite gives them right checksums.
func TestScan_ShowsBadRecordsToo(t *testing.T) {
	path := logFile(t, 5)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := scanAll(path)
	if err != nil || len(whole) != 5 || whole[0].At != headerSize || whole[4].Zxid != 5 || whole[4].End() != int64(len(b)-100) {
		t.Fatalf("%+v %v", whole, err)
	}
	b[whole[2].At+frameHead+txnHeader] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := scanAll(path)
	if err != nil || len(got) != 5 {
		t.Fatal(got, err)
	}
	for i, r := range got {
		if r.Valid != (i != 2) || i > 0 && r.At != got[i-1].End() {
			t.Errorf("%v at %d is valid: %v", r.Zxid, r.At, r.Valid)
		}
	}
	to := path + ".fixed"
	if err := Rewrite(path, to); err != nil {
		t.Fatal(err)
	}
	fixed, err := scanAll(to)
	if err != nil || len(fixed) != 5 || !fixed[2].Valid || !bytes.Equal(fixed[2].Data, got[2].Data) {
		t.Errorf("%+v %v", fixed, err)
	}
	if info, err := os.Stat(to); err != nil || info.Size() != fixed[4].End() {
		t.Errorf("%v: something is behind its records", info.Size())
	}
	if err := Rewrite(path, to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written over: %v", err)
	}
}

// TestScan_Ends where no record can be, with an error only where the file is no log.
func TestScan_Ends(t *testing.T) {
	path := logFile(t, 3)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	records, err := scanAll(path)
	if err != nil {
		t.Fatal(err)
	}
	last := records[2]
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		want   int
		bad    bool
	}{
		"empty":                {func([]byte) []byte { return nil }, 0, true},
		"zeros":                {func([]byte) []byte { return make([]byte, 50) }, 0, true},
		"another file":         {func(b []byte) []byte { return append([]byte("ZKSN"), b[4:]...) }, 0, true},
		"header alone":         {func(b []byte) []byte { return b[:headerSize] }, 0, false},
		"no zeros behind":      {func(b []byte) []byte { return b[:last.End()] }, 3, false},
		"torn":                 {func(b []byte) []byte { return b[:last.End()-1] }, 2, false},
		"torn header":          {func(b []byte) []byte { return b[:last.At+5] }, 2, false},
		"no end mark":          {func(b []byte) []byte { b[last.End()-1] = 0; return b }, 2, false},
		"a negative length":    {func(b []byte) []byte { b[last.At+8] = 0xff; return b }, 2, false},
		"a length past an end": {func(b []byte) []byte { b[last.At+9] = 0xff; return b }, 2, false},
	} {
		if err := os.WriteFile(path, c.change(bytes.Clone(whole)), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := scanAll(path)
		if len(got) != c.want || errors.Is(err, ErrCorrupt) != c.bad || err != nil && !c.bad {
			t.Errorf("%s: %d records, %v", name, len(got), err)
		}
		if err := Rewrite(path, path+name); (err != nil) != c.bad {
			t.Errorf("%s, rewritten: %v", name, err)
		}
	}
	if _, err := scanAll(path + "-"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	if err := Scan(path, func(Record) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
}

// TestPurgeDirs: what is needed to start from the oldest snapshot kept stays, and files that nobody can start from
// don't count.
func TestPurgeDirs(t *testing.T) {
	dir := t.TempDir()
	snaps, logs := filepath.Join(dir, "s"), filepath.Join(dir, "l")
	write := func(root, name string, b []byte) {
		t.Helper()
		path := filepath.Join(root, versionDir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var whole bytes.Buffer
	if err := new(tree).snapshot().Encode(&whole); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"snapshot.5", "snapshot.20", "snapshot.30", "snapshot.50"} {
		write(snaps, name, whole.Bytes())
	}
	write(snaps, "snapshot.60", whole.Bytes()[:whole.Len()-3]) // torn
	write(snaps, "snapshot.70", nil)
	write(snaps, "snapshot.35.gz", []byte("no such compression"))
	write(snaps, "snapshot.xyz", whole.Bytes())
	for _, name := range []string{"log.1", "log.6", "log.1f", "log.21", "log.51"} {
		write(logs, name, appendHeader(nil))
	}
	var gone []string
	removing := func(path string) { gone = append(gone, filepath.Base(path)) }
	if err := PurgeDirs(snaps, logs, 2, removing); err == nil || gone != nil {
		t.Errorf("fewer than three kept: %v %q", err, gone)
	}
	if err := PurgeDirs(snaps, logs, 3, removing); err != nil {
		t.Fatal(err)
	}
	if want := []string{"log.1", "log.6", "snapshot.5"}; !equal(gone, want) {
		t.Errorf("%q went, not %q", gone, want)
	}
	for _, name := range gone {
		for _, root := range []string{snaps, logs} {
			if _, err := os.Stat(filepath.Join(root, versionDir, name)); err == nil {
				t.Errorf("%s is there", name)
			}
		}
	}
	gone = nil
	for _, dir := range []string{snaps, filepath.Join(dir, "nothing")} {
		if err := PurgeDirs(dir, logs, 3, removing); err != nil || gone != nil {
			t.Errorf("%s again: %v %q", dir, err, gone)
		}
	}
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestSnapshots lists those that look whole, and Sizes counts all bytes.
func TestSnapshots(t *testing.T) {
	fsys := vfs.NewMem()
	s, err := Open(Options{FS: fsys, DataDir: "/d", LogDir: "/l", PreAlloc: -1})
	if err != nil {
		t.Fatal(err)
	}
	k := tree{}
	if _, err := s.Recover(&k); err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for zxid := jute.Zxid(1); zxid <= 3; zxid++ {
		if err := errors.Join(s.Append(txn(zxid, 5)), s.Sync()); err != nil {
			t.Fatal(err)
		}
		k.apply(zxid)
		path, size, err := s.SaveSnapshot(k.snapshot())
		if err != nil {
			t.Fatal(err)
		}
		sizes[path] = size
	}
	if err := vfs.WriteNew(fsys, "/d/version-2/snapshot.9", []byte("half of one"), true); err != nil {
		t.Fatal(err)
	}
	list, err := s.Snapshots()
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	sum := int64(len("half of one"))
	for i, f := range list {
		if f.Zxid != jute.Zxid(3-i) || f.Size != sizes[f.Path] {
			t.Errorf("%+v", f)
		}
		sum += f.Size
	}
	snapshots, logs, err := s.Sizes()
	if want := headerSize + 3*frameSize(txn(1, 5)) + noteZeros + noteSize; err != nil || snapshots != sum || logs != want {
		t.Errorf("%d of %d, %d of %d: %v", snapshots, sum, logs, want, err)
	}
	if s.SnapDir() != "/d/version-2" || s.LogDir() != "/l/version-2" || s.LastLogged() != 3 {
		t.Errorf("%s, %s, %v", s.SnapDir(), s.LogDir(), s.LastLogged())
	}
	if n := s.FileSize(); n != headerSize+3*frameSize(txn(1, 5)) {
		t.Errorf("%d bytes of records", n)
	}
	if err := errors.Join(s.Roll(), s.Sync(), s.Roll(), s.Sync()); err != nil || s.FileSize() != 0 {
		t.Errorf("%d bytes after a roll: %v", s.FileSize(), err)
	}
}
