package node

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
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

// The way out of a damaged metadata log that is the only one: it is cut at the damage, and kept beside. The
// node starts with what it knew until then, and puts the logs of topics that it doesn't know aside.
func TestFaults_CutMetadataLog(t *testing.T) {
	m := emptyDisk(t)
	r := mustBoot(t, m)
	l := newLedger()
	if err := errors.Join(l.create(r, "sync", 1), l.producer(r), l.put(r, "sync", 0, 10)); err != nil {
		t.Fatal(err)
	}
	before := r.n.image.Load().Offset
	if err := errors.Join(l.create(r, "late", 1), l.put(r, "late", 0, 10), r.end()); err != nil {
		t.Fatal(err)
	}
	const name = "/a/__cluster_metadata-0/00000000000000000000.log"
	log := seglog.TopicPartition{Topic: "__cluster_metadata"}
	if _, ok, err := seglog.CutOff(m, "/a", log); ok || err != nil {
		t.Fatal("cut a good log", err)
	}
	raw, err := vfs.ReadFile(m, name)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for rest := raw; ; {
		var v batch.View
		if v, rest, err = batch.Next(rest); err != nil {
			t.Fatal(err)
		}
		if int64(v.BaseOffset()) > before {
			break
		}
		at += len(v)
	}
	for _, in := range []int{7, 9, 20, 70} {
		disk := m.Kill()
		b := bytes.Clone(raw)
		b[at+in] ^= 4
		if err := vfs.WriteNew(disk, name, b, true); err != nil {
			t.Fatal(err)
		}
		if r, err := boot(t, disk); err == nil {
			_ = r.end()
			t.Fatalf("byte %d: it started", in)
		}
		cut, ok, err := seglog.CutOff(disk, "/a", log)
		if !ok || err != nil || cut.File != name || cut.At != int64(at) {
			t.Fatalf("byte %d: %+v %v", in, cut, err)
		}
		if kept, err := vfs.ReadFile(disk, cut.Kept[0]); err != nil || !bytes.Equal(kept, b) {
			t.Fatal("not kept", err)
		}
		r := mustBoot(t, disk)
		there, err := r.topics()
		if err != nil || !slices.Contains(there, "sync") || slices.Contains(there, "late") {
			t.Fatalf("byte %d: topics %v, %v", in, there, err)
		}
		if got, err := r.read("sync", 0); err != nil || !bytes.Equal(got[0], l.records["sync-0"][0]) {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(filesOf(t, disk, "/"), func(f string) bool {
			return strings.Contains(f, "late-0.") && strings.Contains(f, "-stray/") && strings.HasSuffix(f, ".log")
		}) {
			t.Fatalf("byte %d: the log of the lost topic isn't kept: %v", in, filesOf(t, disk, "/"))
		}
		_ = r.end()
	}
}

// A damaged batch in a partition's log: the start says where, whoever reads there gets CORRUPT_MESSAGE, what
// is before and behind it is served, and the partition takes more. It is so after every restart.
func TestFaults_DamagedPartition(t *testing.T) {
	m := emptyDisk(t)
	r := mustBoot(t, m)
	l := newLedger()
	if err := errors.Join(l.create(r, "t", 1), l.producer(r)); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if err := l.put(r, "t", 0, 500); err != nil {
			t.Fatal(err)
		}
	}
	disk := m.Kill()
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	name := slices.DeleteFunc(filesOf(t, disk, "/"), func(name string) bool {
		return !strings.HasSuffix(name, "/t-0/00000000000000000000.log")
	})[0]
	b, err := vfs.ReadFile(disk, name)
	if err != nil {
		t.Fatal(err)
	}
	at := 2 * len(b) / 6
	b[at+300] ^= 1
	if err := vfs.WriteNew(disk, name, b, true); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		r := mustBoot(t, disk)
		if said := r.log.String(); round == 0 && (!strings.Contains(said, name) ||
			!strings.Contains(said, fmt.Sprintf("position=%d ", at))) {
			t.Fatal(said)
		}
		got, err := r.readOn("t", 0, 6)
		if err == nil || round == 0 && !errors.Is(err, kerr.CorruptMessage) {
			t.Fatalf("round %d: %v", round, err)
		}
		for o, v := range l.records["t-0"] {
			if o != 2 && !bytes.Equal(got[o], v) || o == 2 && got[o] != nil {
				t.Fatalf("round %d: offset %d", round, o)
			}
		}
		if err := l.put(r, "t", 0, 10); err != nil {
			t.Fatal(err)
		}
		if round == 1 { // a kill between two clean stops
			disk = disk.Kill()
		}
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
	}
}
