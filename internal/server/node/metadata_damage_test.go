package node

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// A damaged batch in the middle of the metadata log: the node doesn't start, says where, and takes nothing
// away. Once the byte is right again, every topic and record is there, and no log was put aside.
func TestFaults_DamagedMetadataLog(t *testing.T) {
	m := emptyDisk(t)
	r := mustBoot(t, m)
	l := newLedger()
	if err := l.play(r); err != nil {
		t.Fatal(err)
	}
	image := m.Kill()
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	names := slices.DeleteFunc(filesOf(t, image, "/"), func(name string) bool {
		return !strings.HasSuffix(name, ".log") || !strings.Contains(name, "__cluster_metadata-0")
	})
	if len(names) == 0 {
		t.Fatal("no metadata log")
	}
	raw, err := vfs.ReadFile(image, names[0])
	if err != nil {
		t.Fatal(err)
	}
	first, rest, err := batch.Next(raw)
	if err != nil || len(rest) == 0 {
		t.Fatal(len(rest), err)
	}
	for _, at := range []int{0, 11, 20, len(first) + 17, len(first) + batch.HeaderSize} {
		disk := image.Kill()
		flip := func() {
			b, err := vfs.ReadFile(disk, names[0])
			if err != nil {
				t.Fatal(err)
			}
			b[at] ^= 1
			if err := vfs.WriteNew(disk, names[0], b, true); err != nil {
				t.Fatal(err)
			}
		}
		flip()
		for range 2 {
			r, err := boot(t, disk)
			if err == nil {
				_ = r.end()
				t.Fatalf("byte %d: it started", at)
			}
			if !strings.Contains(err.Error(), path.Base(names[0])) || !strings.Contains(err.Error(), "at position ") {
				t.Fatalf("byte %d: the place isn't named: %v", at, err)
			}
		}
		flip()
		r := mustBoot(t, disk)
		there, err := r.topics()
		if err != nil {
			t.Fatal(err)
		}
		for topic := range maps.Keys(l.topics) {
			if l.topics[topic] != slices.Contains(there, topic) {
				t.Fatalf("byte %d: topics %v", at, there)
			}
		}
		if err := l.copy().check(r, true); err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		for _, name := range filesOf(t, disk, "/") {
			if strings.Contains(name, "-stray") {
				t.Fatal(name)
			}
		}
		_ = r.end()
	}
}
