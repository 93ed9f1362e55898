package record_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
)

// TestMetadataGolden decodes every metadata record of Apache's files and encodes it to the same bytes.
func TestMetadataGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/metadata/*.bin")
	if err != nil || len(files) < 3 {
		t.Fatal("goldens are missing", err)
	}
	seen := map[record.Key]int{}
	for _, file := range files {
		for _, raw := range goldenRecords(t, file) {
			m, version, err := record.DecodeMetadata(raw)
			if err != nil {
				t.Fatalf("%s: %x: %v", file, raw, err)
			}
			if u, ok := m.(*record.Unknown); ok {
				t.Errorf("%s: unknown record %d", file, u.Type)
			}
			if got := record.AppendMetadata(nil, m, version); !bytes.Equal(got, raw) {
				t.Errorf("%s: %T v%d\n got %x\nwant %x", file, m, version, got, raw)
			}
			seen[m.Key()]++
		}
	}
	for k := record.Key(0); k <= record.KeyUnregisterController; k++ {
		t.Logf("key %d: %d records", k, seen[k])
	}
}

// goldenRecords are the values of the data records in a log segment or snapshot.
func goldenRecords(t *testing.T, file string) (out [][]byte) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for len(b) > 0 {
		v, rest, err := batch.Next(b)
		if err != nil {
			t.Fatal(file, err)
		}
		b = rest
		if v.Control() {
			continue
		}
		out = append(out, plainValues(t, v)...)
	}
	return out
}

func plainValues(t *testing.T, v batch.View) (out [][]byte) {
	t.Helper()
	r, err := v.Records(&batch.Decompressor{})
	if err != nil {
		t.Fatal(err)
	}
	var rec batch.Record
	for r.Next(&rec) {
		out = append(out, bytes.Clone(rec.Value))
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return out
}

// FuzzDecodeMetadata: no input panics, and what decodes is stable under encoding.
func FuzzDecodeMetadata(f *testing.F) {
	f.Add([]byte{1, 20, 0, 0})
	f.Add([]byte{1, 12, 0, 2, 'a', 0, 1, 0})
	f.Add([]byte{1, 5, 2, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 1, 0, 5, 2, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, version, err := record.DecodeMetadata(b)
		if err != nil {
			return
		}
		once := record.AppendMetadata(nil, m, version)
		again, v2, err := record.DecodeMetadata(once)
		if err != nil || v2 != version {
			t.Fatalf("%x: %v", once, err)
		}
		if twice := record.AppendMetadata(nil, again, version); !bytes.Equal(once, twice) {
			t.Fatalf("%x then %x", once, twice)
		}
	})
}
