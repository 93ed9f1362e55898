package zklog

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
)

// FuzzSnapshot: any bytes are read, or refused; what was read is written as it was, up to what may be left out.
func FuzzSnapshot(f *testing.F) {
	for _, name := range []string{"snapshot.0", "snapshot.23"} {
		b, err := os.ReadFile(filepath.Join(golden, versionDir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		k := &kept{}
		info, err := ReadSnapshot(bytes.NewReader(b), k)
		if err != nil {
			return
		}
		var out bytes.Buffer
		k.info = info
		if err := k.snapshot().Encode(&out); err != nil {
			t.Fatal(err)
		}
		again := &kept{}
		if _, err := ReadSnapshot(&out, again); err != nil || again.digest() != k.digest() {
			t.Fatalf("written again, it can't be read: %v", err)
		}
	})
}

// FuzzLog: any bytes as the newest log are read, cut or refused, and after a cut read to the same end.
func FuzzLog(f *testing.F) {
	b, err := os.ReadFile(filepath.Join(golden, versionDir, "log.24"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:200])
	f.Add(append(bytes.Clone(b[:80]), b[100:700]...))
	f.Fuzz(func(t *testing.T, b []byte) {
		fsys := vfs.NewMem()
		s, err := Open(Options{FS: fsys, DataDir: "/d", TrustEmpty: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteNew(fsys, "/d/version-2/log.24", b, false); err != nil {
			t.Fatal(err)
		}
		k := &kept{}
		rec, err := s.Recover(k)
		if err != nil {
			return
		}
		n := len(k.txns)
		if again, err := s.Recover(k); err != nil || again.Last != rec.Last || len(k.txns) != n {
			t.Fatalf("%+v, then %+v: %v", rec, again, err)
		}
	})
}
