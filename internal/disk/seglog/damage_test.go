package seglog

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// lone is a log of its own with 40 batches, never closed, and the positions of each segment's batches.
func lone(t *testing.T) (m *vfs.Mem, spec Spec, want []byte) {
	t.Helper()
	m = vfs.NewMem()
	spec = Spec{Topic: "t", ID: testID, Config: testConfig()}
	l, err := OpenLog(m, "/data", spec, quiet)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, l, 40)
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	return m.Kill(), spec, contents(t, l)
}

func batchesAt(t *testing.T, raw []byte) (at []int) {
	t.Helper()
	for rest := raw; len(rest) > 0; {
		at = append(at, len(raw)-len(rest))
		var err error
		if _, rest, err = batch.Next(rest); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

func logsOf(t *testing.T, m vfs.FS) map[string]string {
	t.Helper()
	return files(t, m, suffixLog)
}

// Damage with whole batches behind it, in the same segment or in a later one: a log of its own refuses, names
// the file and the position, and leaves every log file as it was, however often it is tried.
func TestLoneLogRefusesDamage(t *testing.T) {
	m, spec, _ := lone(t)
	bs := bases(t, m)
	if len(bs) < 3 {
		t.Fatal(bs)
	}
	for k, base := range bs {
		name := "/data/t-0/" + segmentName(base) + suffixLog
		raw, err := vfs.ReadFile(m, name)
		if err != nil {
			t.Fatal(err)
		}
		at := batchesAt(t, raw)
		if k == len(bs)-1 { // the very last batch has none behind it
			at = at[:len(at)-1]
		}
		for _, pos := range at {
			for _, in := range []int{0, 8, 11, 16, 17, 23, 60, 70} {
				refused(t, m.Kill(), spec, name, pos, in)
			}
		}
	}
}

func refused(t *testing.T, m *vfs.Mem, spec Spec, name string, pos, in int) {
	t.Helper()
	raw, err := vfs.ReadFile(m, name)
	if err != nil {
		t.Fatal(err)
	}
	raw[pos+in] ^= 0x10
	if err := vfs.WriteNew(m, name, raw, true); err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(logsOf(t, m))
	for range 2 {
		_, err = OpenLog(m, "/data", spec, quiet)
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name) ||
			!strings.Contains(err.Error(), fmt.Sprintf("at position %d,", pos)) {
			t.Fatalf("byte %d of the batch at %d of %s: %v", in, pos, name, err)
		}
		if fmt.Sprint(logsOf(t, m)) != before {
			t.Fatalf("byte %d of the batch at %d of %s: a log file was changed", in, pos, name)
		}
	}
}

// Nothing whole behind it: a torn end, wherever it was torn. It is cut, and all before it stays.
func TestLoneLogCutsATornEnd(t *testing.T) {
	m, spec, want := lone(t)
	bs := bases(t, m)
	name := "/data/t-0/" + segmentName(bs[len(bs)-1]) + suffixLog
	raw, err := vfs.ReadFile(m, name)
	if err != nil {
		t.Fatal(err)
	}
	at := batchesAt(t, raw)
	last := at[len(at)-1]
	kept := want[:len(want)-(len(raw)-last)]
	for n := last + 1; n < len(raw); n++ {
		for _, zeros := range []int{0, len(raw) - n} { // cut short, or its size made it to the disk alone
			torn := m.Kill()
			b := append(bytes.Clone(raw[:n]), make([]byte, zeros)...)
			if bytes.Equal(b, raw) {
				continue
			}
			if err := vfs.WriteNew(torn, name, b, true); err != nil {
				t.Fatal(err)
			}
			l, err := OpenLog(torn, "/data", spec, quiet)
			if err != nil {
				t.Fatal(n, err)
			}
			if got := contents(t, l); !bytes.Equal(got, kept) {
				t.Fatalf("torn after %d of %d: %d bytes, want %d", n, len(raw), len(got), len(kept))
			}
		}
	}
}
