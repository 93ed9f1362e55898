package record

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/kalda/kalda/internal/format/batch"
)

func shareSegments(t testing.TB) map[string][]byte {
	files, _ := filepath.Glob("testdata/golden/share/*.log")
	segments := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		segments[filepath.Base(f)] = b
	}
	return segments
}

// Every key and value of Apache's segments decodes and encodes to the same bytes, and is where it belongs.
func TestShareGolden(t *testing.T) {
	kinds := map[ShareKind]int{}
	place := map[string]int32{"share_group_state-11.log": 11, "share_group_state-12.log": 12}
	for name, b := range shareSegments(t) {
		eachRecord(t, b, func(key, value []byte) {
			k, err := DecodeShareKey(key)
			if err != nil {
				t.Fatal(err)
			}
			kinds[k.Kind]++
			if !bytes.Equal(k.Encode(), key) {
				t.Errorf("key %q encodes as %q", key, k.Encode())
			}
			if k.Coordinator(50) != place[name] {
				t.Errorf("%+v is at %d, not in %s", k, k.Coordinator(50), name)
			}
			if value == nil {
				return
			}
			v, err := DecodeShareState(k.Kind, value)
			if err != nil {
				t.Fatal(err)
			}
			if again := v.Encode(k.Kind); !bytes.Equal(again, value) {
				t.Errorf("value %q encodes as %q", value, again)
			}
		})
	}
	if kinds[KindShareSnapshot] != 4 || kinds[KindShareUpdate] != 7 {
		t.Errorf("%v", kinds)
	}
}

func FuzzShareRecords(f *testing.F) {
	for _, b := range shareSegments(f) {
		for len(b) > 0 {
			v, rest, err := batch.Next(b)
			if err != nil {
				f.Fatal(err)
			}
			b = rest
			r, _ := v.Records(nil)
			var rec batch.Record
			for r.Next(&rec) {
				f.Add(rec.Key, rec.Value)
			}
		}
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if k, err := DecodeShareKey(key); err == nil && k.Known() && !bytes.Equal(k.Encode(), key) {
			t.Errorf("key %q encodes as %q", key, k.Encode())
		}
		for _, kind := range []ShareKind{KindShareSnapshot, KindShareUpdate} {
			if v, err := DecodeShareState(kind, value); err == nil {
				if _, err := DecodeShareState(kind, v.Encode(kind)); err != nil {
					t.Errorf("%+v: %v", v, err)
				}
			}
		}
	})
}
