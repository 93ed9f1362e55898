package meta_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
)

const golden = "../../format/record/testdata/golden/metadata/"

type goldenBatch struct {
	base int64
	recs [][]byte
}

func readGolden(t *testing.T, name string) (out []goldenBatch) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(golden, name))
	if err != nil {
		t.Fatal(err)
	}
	for len(b) > 0 {
		v, rest, err := batch.Next(b)
		if err != nil {
			t.Fatal(err)
		}
		b = rest
		if v.Control() {
			continue
		}
		r, err := v.Records(&batch.Decompressor{})
		if err != nil {
			t.Fatal(err)
		}
		g := goldenBatch{base: int64(v.BaseOffset())}
		var rec batch.Record
		for r.Next(&rec) {
			g.recs = append(g.recs, bytes.Clone(rec.Value))
		}
		out = append(out, g)
	}
	return out
}

// describe decodes records and sorts what Apache leaves to its hash maps' order.
func describe(t *testing.T, recs [][]byte) (out []string) {
	t.Helper()
	for _, raw := range recs {
		m, version, err := record.DecodeMetadata(raw)
		if err != nil {
			t.Fatal(err)
		}
		switch r := m.(type) {
		case *record.RegisterBroker:
			sortFeatures(r.Features)
		case *record.RegisterController:
			sortFeatures(r.Features)
		case *record.ClientQuota:
			slices.SortFunc(r.Entity, func(a, b record.QuotaEntity) int { return strings.Compare(a.Type, b.Type) })
		}
		out = append(out, string(record.AppendMetadata(nil, m, version)))
	}
	slices.Sort(out)
	return out
}

func sortFeatures(f []record.Feature) {
	slices.SortFunc(f, func(a, b record.Feature) int { return strings.Compare(a.Name, b.Name) })
}

// TestImageAgainstApache applies Apache's log up to where Apache took a snapshot: ours must hold the same
// records.
func TestImageAgainstApache(t *testing.T) {
	const end, snapshot = 123, "00000000000000000123-0000000001.checkpoint.bin"
	img := meta.Empty()
	for _, b := range readGolden(t, "00000000000000000000.log.bin") {
		if b.base >= end {
			break
		}
		next, _, err := img.Apply(b.base, 1, 0, b.recs)
		if err != nil {
			t.Fatal(err)
		}
		img = next
	}
	want := [][]byte{}
	for _, b := range readGolden(t, snapshot) {
		want = append(want, b.recs...)
	}
	got := slices.Collect(img.Snapshot())
	if g, w := describe(t, got), describe(t, want); !slices.Equal(g, w) {
		t.Errorf("got %d records\n%q\nwant %d\n%q", len(g), g, len(w), w)
	}
	again, d, err := meta.Empty().FromSnapshot(end-1, 1, 0, slices.Values(got))
	if err != nil || !d.Snapshot || again.Offset != end-1 {
		t.Fatal(err, d, again.Offset)
	}
	if !slices.EqualFunc(slices.Collect(again.Snapshot()), got, bytes.Equal) {
		t.Error("a snapshot of a restored image differs")
	}
}
