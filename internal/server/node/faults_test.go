package node

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// thorough is 1, or by how much longer KALDA_FAULTS lets the tests of faults take.
func thorough() int {
	if n, err := strconv.Atoi(os.Getenv("KALDA_FAULTS")); err == nil && n > 0 {
		return n
	}
	return 1
}

// ledger is what a node acknowledged, and what is to become of it.
type ledger struct {
	topics  map[string]bool             // there, or not any more
	vague   map[string]bool             // asked for, never answered
	records map[string]map[int64][]byte // by "topic-n", then offset
	pids    []int64
	seq     map[string]int32
	last    map[string]int64 // offset of the last one
	commits []int64          // of group g, for partition 0 of a topic
	small   bool             // segments roll after a few small batches
}

func newLedger() *ledger {
	return &ledger{
		topics: map[string]bool{}, vague: map[string]bool{}, records: map[string]map[int64][]byte{},
		seq: map[string]int32{}, last: map[string]int64{},
	}
}

func (l *ledger) create(r *rig, topic string, n int32, configs ...string) error {
	l.vague[topic] = true
	err := r.create(topic, n, configs...)
	if err == nil {
		l.topics[topic] = true
		delete(l.vague, topic)
	}
	return err
}

func (l *ledger) drop(r *rig, topic string) error {
	l.vague[topic] = true
	err := r.drop(topic)
	if err == nil {
		l.topics[topic] = false
		delete(l.vague, topic)
	}
	return err
}

func (l *ledger) producer(r *rig) error {
	id, err := r.producerID()
	if err != nil {
		return err
	}
	if slices.Contains(l.pids, id) {
		return fmt.Errorf("producer id %d was given before", id)
	}
	l.pids = append(l.pids, id)
	return nil
}

// meta is the idempotent producer's, at its next record for a partition.
func (l *ledger) meta(tp string) batch.Meta {
	return batch.Meta{ProducerID: l.pids[0], BaseSequence: l.seq[tp], LeaderEpoch: -1}
}

func (l *ledger) put(r *rig, topic string, n int32, size int) error {
	tp := topic + "-" + strconv.Itoa(int(n))
	v := value(len(l.records[tp]), size)
	o, err := r.put(topic, n, l.meta(tp), v)
	if err != nil {
		return err
	}
	if l.records[tp] == nil {
		l.records[tp] = map[int64][]byte{}
	}
	l.records[tp][o] = v
	l.seq[tp]++
	l.last[tp] = o
	return nil
}

// roll puts as much in a partition of plain as makes it roll.
func (l *ledger) roll(r *rig) error {
	n, size := 2, 700_000
	if l.small {
		n, size = 12, 100
	}
	for range n {
		if err := l.put(r, "plain", 1, size); err != nil {
			return err
		}
	}
	return nil
}

func (l *ledger) plain() []string {
	if l.small { // the index is full after a few entries
		return []string{"segment.index.bytes", "60", "index.interval.bytes", "1"}
	}
	return []string{"segment.bytes", "1048576", "retention.bytes", "1"}
}

// commit commits an offset for the group.
func (l *ledger) commit(r *rig) error {
	o := int64(1000 + len(l.commits))
	l.commits = append(l.commits, o)
	return r.commit(o)
}

// play is the history: topics made, written, rolled, cleaned and deleted, ids given, checkpoints.
func (l *ledger) play(r *rig) error {
	steps := []func() error{
		func() error { return l.create(r, "sync", 3, "flush.messages", "1") },
		func() error { return l.producer(r) },
		func() error { return l.create(r, "plain", 2, l.plain()...) },
		func() error { return l.put(r, "sync", 0, 10) },
		func() error { return l.put(r, "sync", 1, 1000) },
		func() error { return l.put(r, "plain", 0, 10) },
		func() error { return l.create(r, "gone", 1) },
		func() error { return l.put(r, "gone", 0, 10) },
		func() error { r.n.broker.CheckpointNow(); return nil },
		func() error { return l.roll(r) },
		func() error { return l.put(r, "sync", 0, 10) },
		func() error { return l.drop(r, "gone") },
		func() error { return l.put(r, "plain", 0, 10) },
		func() error { return l.producer(r) },
		func() error { r.n.broker.CheckpointNow(); return nil },
		func() error { return l.create(r, "late", 1) },
		func() error { return l.put(r, "sync", 2, 10) },
		func() error { return l.put(r, "plain", 1, 10) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// check compares what a node has after a restart; killed says that the machine went on.
func (l *ledger) check(r *rig, killed bool) error {
	names, err := r.topics()
	if err != nil {
		return err
	}
	for topic, there := range l.topics {
		if !l.vague[topic] && slices.Contains(names, topic) != there {
			return fmt.Errorf("topic %s: there is %v, acknowledged were %v", topic, names, l.topics)
		}
	}
	for tp, want := range l.records {
		topic, n := tp[:len(tp)-2], int32(tp[len(tp)-1]-'0')
		if !killed && topic != "sync" || !l.topics[topic] || l.vague[topic] {
			continue
		}
		got, err := r.read(topic, n)
		if err != nil {
			return fmt.Errorf("reading %s: %w", tp, err)
		}
		for o, v := range want {
			if !bytes.Equal(got[o], v) {
				return fmt.Errorf("%s: record at offset %d is lost; there are %v", tp, o, slices.Sorted(maps.Keys(got)))
			}
		}
		if err := l.goOn(r, topic, n, tp); err != nil {
			return err
		}
	}
	if len(l.topics) > 0 {
		return l.producer(r)
	}
	return nil
}

// goOn lets the idempotent producer repeat its last record, which must not be stored again, and send the one
// that was never answered, which may be there already.
func (l *ledger) goOn(r *rig, topic string, n int32, tp string) error {
	again := l.meta(tp)
	again.BaseSequence--
	o, err := r.put(topic, n, again, value(0, 10)) // what it holds doesn't matter
	if err != nil || o != l.last[tp] {
		return fmt.Errorf("%s: the last record again: offset %d, want %d, %w", tp, o, l.last[tp], err)
	}
	if o, err = r.put(topic, n, l.meta(tp), value(0, 10)); err != nil || o != l.last[tp]+1 {
		return fmt.Errorf("%s: the next record: offset %d, want %d: %w", tp, o, l.last[tp]+1, err)
	}
	return nil
}

// A node whose disk stops after any file operation of a history, because the process was killed or the power
// cut, starts again with everything that it acknowledged and had to keep.
func TestFaults_CrashAnywhere(t *testing.T) {
	f := vfs.NewFaults(emptyDisk(t))
	r := mustBoot(t, f)
	before := f.Ops()
	if err := newLedger().play(r); err != nil {
		t.Fatal(err)
	}
	total := f.Ops() - before
	r.kill(f)
	step := max(total/(14*thorough()), 1)
	for n := 0; n < total+step; n += step {
		crashAt(t, n)
	}
	t.Logf("%d operations, every %d", total, step)
}

// emptyDisk is an empty file system with the three directories.
func emptyDisk(t *testing.T) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem()
	for _, d := range []string{"/a", "/b", "/c"} {
		if err := m.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.SyncDir("/"); err != nil {
		t.Fatal(err)
	}
	return m
}

func crashAt(t *testing.T, n int) {
	t.Helper()
	m := emptyDisk(t)
	f := vfs.NewFaults(m)
	r := mustBoot(t, f)
	l := newLedger()
	f.HaltAfter(n)
	_ = l.play(r)
	r.kill(f)
	left := map[string]*vfs.Mem{"killed": m.Kill()}
	for _, seed := range []uint64{0, uint64(n) + 2} {
		left[fmt.Sprintf("power cut, seed %d", seed)] = m.Crash(seed)
	}
	for what, fsys := range left {
		l := l.copy()
		again, err := boot(t, fsys)
		if err == nil {
			err = l.check(again, what == "killed")
		}
		if err != nil {
			t.Errorf("operation %d, %s: %v\n%s", n, what, err, again.log)
		}
		if err := again.end(); err != nil {
			t.Errorf("operation %d, %s: stopping: %v", n, what, err)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

func (l *ledger) copy() *ledger {
	c := ledger{
		topics: maps.Clone(l.topics), vague: maps.Clone(l.vague), pids: slices.Clone(l.pids),
		seq: maps.Clone(l.seq), last: maps.Clone(l.last), records: map[string]map[int64][]byte{},
	}
	for tp, m := range l.records {
		c.records[tp] = maps.Clone(m)
	}
	return &c
}

// A full disk: producers and administrators get an error that they may try again after, or wait; reads go
// on; and when there is space again, so does everything.
func TestFaults_DiskFull(t *testing.T) {
	for _, part := range []string{"/sync-", "/__cluster_metadata-0/", ""} {
		f := vfs.NewFaults(emptyDisk(t))
		r := mustBoot(t, f)
		l := newLedger()
		if err := errors.Join(l.create(r, "sync", 1), l.producer(r), l.put(r, "sync", 0, 10)); err != nil {
			t.Fatal(err)
		}
		f.Fail(vfs.OpWrite, part, 1, vfs.Fault{Err: enospc, Short: 20, Forever: true})
		for range 3 {
			err := l.put(r, "sync", 0, 5000)
			var code kerr.Code
			if part != "/__cluster_metadata-0/" && (!errors.As(err, &code) || !code.Retriable()) {
				t.Fatalf("%q: %v, want a retriable error", part, err)
			}
		}
		r.n.broker.CheckpointNow()
		time.Sleep(20 * time.Millisecond) // the metadata log meets it too
		if got, err := r.read("sync", 0); err != nil || len(got) == 0 {
			t.Fatalf("%q: reading: %d records, %v", part, len(got), err)
		}
		f.Clear()
		if err := errors.Join(l.put(r, "sync", 0, 5000), l.create(r, "new", 1), l.put(r, "new", 0, 1)); err != nil {
			t.Fatalf("%q: with space again: %v\n%s", part, err, r.log)
		}
		if err := l.check(r, true); err != nil {
			t.Fatalf("%q: %v", part, err)
		}
		if err := r.end(); err != nil {
			t.Fatal(err)
		}
	}
}

// Of several directories one can't be used: its partitions are offline, and nothing takes their place; the
// others serve, and new ones are made there. When it is back, so are they.
func TestFaults_UnusableDir(t *testing.T) {
	m := emptyDisk(t)
	f := vfs.NewFaults(m)
	r := mustBoot(t, f)
	l := newLedger()
	if err := errors.Join(l.create(r, "sync", 3), l.producer(r)); err != nil {
		t.Fatal(err)
	}
	for n := range int32(3) {
		if err := l.put(r, "sync", n, 10); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	for part, op := range map[string]vfs.Op{
		"/c/": vfs.OpOpen, "/c/.lock": vfs.OpOpen, "/c/meta.properties": vfs.OpOpen, "/c/s": vfs.OpWrite,
	} {
		f := vfs.NewFaults(m.Kill())
		f.Fail(op, part, 1, vfs.Fault{Err: eio, Forever: true})
		unusable(t, f, l.copy())
	}
	r = mustBoot(t, m.Kill())
	if err := l.check(r, true); err != nil {
		t.Fatal(err)
	}
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
}

func unusable(t *testing.T, f *vfs.Faults, l *ledger) {
	t.Helper()
	r := mustBoot(t, f)
	offline := 0
	for n := range int32(3) {
		_, err := r.read("sync", n)
		if err == nil {
			err = l.put(r, "sync", n, 10)
		}
		if errors.Is(err, kerr.KafkaStorageError) || errors.Is(err, kerr.NotLeaderOrFollower) {
			offline++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if offline != 1 {
		t.Fatalf("%d partitions offline\n%s", offline, r.log)
	}
	if err := errors.Join(l.create(r, "new", 4), l.put(r, "new", 3, 10)); err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
	_ = r.end()
}

// A directory that fails under way.
func TestFaults_DirFails(t *testing.T) {
	f := vfs.NewFaults(emptyDisk(t))
	r := mustBoot(t, f, "broker.heartbeat.interval.ms=20")
	l := newLedger()
	if err := errors.Join(l.create(r, "sync", 3), l.producer(r)); err != nil {
		t.Fatal(err)
	}
	await(t, "the controller to know the directories", func() bool {
		topic := r.n.image.Load().Topic("sync")
		return !slices.ContainsFunc(topic.Partitions, func(p *metaPartition) bool { return p.Dirs[0].Reserved() })
	})
	for _, op := range []vfs.Op{vfs.OpWrite, vfs.OpSync, vfs.OpOpen} {
		f.Fail(op, "/c/", 1, vfs.Fault{Err: eio, Forever: true})
	}
	failed := 0
	for n := range int32(3) {
		if err := l.put(r, "sync", n, 10); errors.Is(err, kerr.KafkaStorageError) {
			failed++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if failed != 1 {
		t.Fatalf("%d partitions failed", failed)
	}
	await(t, "the controller to take the leadership away", func() bool {
		topic := r.n.image.Load().Topic("sync")
		return slices.ContainsFunc(topic.Partitions, func(p *metaPartition) bool { return p.Leader == -1 })
	})
	for n := range int32(3) {
		if err := l.put(r, "sync", n, 10); err != nil && !errors.Is(err, kerr.KafkaStorageError) &&
			!errors.Is(err, kerr.NotLeaderOrFollower) {
			t.Fatal(err)
		}
	}
	_ = r.end()
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
