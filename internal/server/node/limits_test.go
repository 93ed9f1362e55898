package node

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/kerr"
)

// No file can be opened for a while: producers get an error that they may try again after, no directory goes
// offline for it, and everything goes on when there are descriptors again.
func TestFaults_NoDescriptors(t *testing.T) {
	f := vfs.NewFaults(emptyDisk(t))
	r := mustBoot(t, f)
	l := newLedger()
	if err := errors.Join(l.create(r, "sync", 3), l.producer(r), l.put(r, "sync", 0, 10)); err != nil {
		t.Fatal(err)
	}
	for range 3 { // closes what isn't in use
		r.n.broker.CheckpointNow()
	}
	f.Fail(vfs.OpOpen, "", 1, vfs.Fault{Err: syscall.EMFILE, Forever: true})
	refused := 0
	for n := range int32(3) {
		err := l.put(r, "sync", n, 10)
		if errors.Is(err, kerr.KafkaStorageError) {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		r.n.broker.CheckpointNow()
	}
	if refused == 0 {
		t.Fatal("nothing failed")
	}
	f.Clear()
	if dirs := r.n.broker.OfflineDirs(); len(dirs) > 0 {
		t.Fatalf("directories %v are offline\n%s", dirs, r.log)
	}
	for n := range int32(3) {
		if err := l.put(r, "sync", n, 10); err != nil {
			t.Fatalf("%v\n%s", err, r.log)
		}
	}
	err := errors.Join(l.create(r, "new", 1), l.put(r, "new", 0, 10), l.check(r, true), r.end())
	if err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
}

// 10,000 partitions (200 without KALDA_FAULTS): made, some written, killed, and started again, twice, with
// what was written.
func TestFaults_ManyPartitions(t *testing.T) {
	topics, partitions := 10, int32(1000)
	if thorough() == 1 {
		topics, partitions = 2, 100
	}
	m := emptyDisk(t)
	f := vfs.NewFaults(m)
	r := mustBoot(t, f)
	l := newLedger()
	if err := l.producer(r); err != nil {
		t.Fatal(err)
	}
	write := func() {
		t.Helper()
		for i := range topics {
			for n := int32(0); n < partitions; n += partitions / 10 {
				topic := fmt.Sprint("many", i)
				if _, err := r.put(topic, n, l.meta(fmt.Sprint(topic, n)), value(0, 10)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for i := range topics {
		if err := l.create(r, fmt.Sprint("many", i), partitions); err != nil {
			t.Fatal(err)
		}
	}
	write()
	image := m.Kill()
	r.kill(f)
	for range 2 { // the second time after a clean stop
		r = mustBoot(t, image)
		for i := range topics {
			for n := int32(0); n < partitions; n += partitions / 10 {
				if got, err := r.read(fmt.Sprint("many", i), n); err != nil || got[0] == nil {
					t.Fatal(i, n, len(got), err)
				}
			}
		}
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
	}
}
