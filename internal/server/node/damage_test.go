package node

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// filesOf lists all files below a directory.
func filesOf(t *testing.T, fsys vfs.FS, dir string) (names []string) {
	t.Helper()
	ents, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ents {
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			names = append(names, filesOf(t, fsys, name)...)
		} else {
			names = append(names, name)
		}
	}
	return names
}

// One flipped bit in any file is found and named, or harmless. What a client reads passes its checksum and is
// what was written, or it is refused; nothing behind the damage is lost; and a node that starts once, starts
// again. Every file, every 97th byte; with KALDA_FAULTS, every few.
func TestFaults_FlippedBytes(t *testing.T) {
	m := emptyDisk(t)
	f := vfs.NewFaults(m)
	r := mustBoot(t, f)
	l := newLedger()
	l.small = true
	if err := errors.Join(l.play(r), l.commit(r), l.commit(r), l.commit(r)); err != nil {
		t.Fatal(err)
	}
	images := map[string]*vfs.Mem{"killed": m.Kill()}
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	images["stopped"] = m.Kill()
	flips, files, every := 0, 0, 97/thorough()
	for how, image := range images {
		for _, name := range filesOf(t, image, "/") {
			b, err := vfs.ReadFile(image, name)
			if err != nil {
				t.Fatal(err)
			}
			files++
			for at := rand.N(min(every, max(len(b), 1))); at < len(b); at += every {
				flips++
				if strings.HasSuffix(name, ".log") && !strings.Contains(name, "__cluster_m") && unprotected(b, at) {
					continue
				}
				if err := l.flip(t, image.Kill(), name, at); err != nil {
					t.Errorf("%s, byte %d of %d of %s: %v", how, at, len(b), name, err)
				}
			}
		}
	}
	t.Logf("%d flips in %d files", flips, files)
}

// unprotected says that a byte of a log belongs to a base offset or leader epoch: Kafka's format covers them
// with no checksum, because the broker fills them in.
func unprotected(b []byte, at int) bool {
	for rest := b; ; {
		start := len(b) - len(rest)
		v, next, err := batch.Next(rest)
		if err != nil || start > at {
			return false
		}
		if in := at - start; in < len(v) {
			return in < 8 || in >= 12 && in < 16
		}
		rest = next
	}
}

func (l *ledger) flip(t *testing.T, m *vfs.Mem, name string, at int) error {
	b, err := vfs.ReadFile(m, name)
	if err != nil {
		return err
	}
	b[at] ^= 1 << (at % 8)
	if err := vfs.WriteNew(m, name, b, true); err != nil {
		return err
	}
	r, err := boot(t, m)
	defer func() { _ = r.end() }()
	named := func() bool {
		said := r.log.String()
		return strings.Contains(said, path.Base(path.Dir(name))) || strings.Contains(said, path.Base(name))
	}
	if err != nil {
		if !strings.Contains(err.Error(), path.Base(name)) && !strings.Contains(err.Error(), path.Dir(name)) {
			return fmt.Errorf("doesn't start, and doesn't name the file: %w", err)
		}
		return nil
	}
	if err := l.honest(r, strings.HasSuffix(name, ".log"), named); err != nil {
		return fmt.Errorf("%w\n%s", err, r.log)
	}
	_ = r.end()
	again, err := boot(t, m)
	if err != nil {
		return fmt.Errorf("started once and not again: %w", err)
	}
	_ = again.end()
	return nil
}

// honest says that all records are there, or that what is missing was told of, and no more than one if
// batches of one record each were what was damaged.
func (l *ledger) honest(r *rig, batches bool, named func() bool) error {
	names, err := r.topics()
	if err != nil {
		return err
	}
	for topic, there := range l.topics {
		if slices.Contains(names, topic) != there && !named() {
			return fmt.Errorf("topics %v, and nothing said", names)
		}
	}
	for tp, want := range l.records {
		topic, n := tp[:len(tp)-2], int32(tp[len(tp)-1]-'0')
		if !slices.Contains(names, topic) {
			continue
		}
		got, err := r.readOn(topic, n, l.last[tp]+1)
		missing := 0
		for o, v := range want {
			if got[o] == nil {
				missing++
			}
			switch {
			case got[o] != nil && !bytes.Equal(got[o], v):
				return fmt.Errorf("%s: another record at offset %d", tp, o)
			case got[o] == nil && err == nil && !named():
				return fmt.Errorf("%s: offset %d is missing, and nothing said", tp, o)
			}
		}
		if missing > 1 && batches {
			return fmt.Errorf("%s: one damaged batch cost %d records", tp, missing)
		}
	}
	if len(l.commits) == 0 || !slices.Contains(names, "sync") {
		return nil
	}
	at, err := r.committed()
	older := at < 0 || slices.Contains(l.commits, at)
	if err == nil && at != l.commits[len(l.commits)-1] && !(named() && older) {
		return fmt.Errorf("the group is at %d, committed were %v", at, l.commits)
	}
	return nil
}

// A topic is deleted and made again while it is written, read, rolled and checkpointed.
func TestFaults_DeletedInUse(t *testing.T) {
	r := mustBoot(t, emptyDisk(t))
	l := newLedger()
	if err := l.producer(r); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	loop := func(fn func()) {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					fn()
				}
			}
		})
	}
	bad := make(chan error, 100)
	check := func(err error) {
		var code kerr.Code
		if err != nil && (!errors.As(err, &code) || code == kerr.UnknownServerError) {
			select {
			case bad <- err:
			default:
			}
		}
	}
	meta := l.meta("")
	meta.ProducerID, meta.ProducerEpoch, meta.BaseSequence = -1, -1, -1
	loop(func() { _, err := r.put("t", 0, meta, value(1, 400_000)); check(err) })
	loop(func() { _, err := r.read("t", 0); check(err) })
	loop(func() { r.n.broker.CheckpointNow(); time.Sleep(time.Millisecond) })
	for range 12 * thorough() {
		if err := r.create("t", 1, "segment.bytes", "1048576", "retention.bytes", "1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		if err := r.drop("t"); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	close(bad)
	for err := range bad {
		t.Error(err)
	}
	if err := errors.Join(l.create(r, "t", 1), l.put(r, "t", 0, 10), l.check(r, true)); err != nil {
		t.Fatal(err)
	}
	if err := r.end(); err != nil {
		t.Fatalf("%v\n%s", err, r.log)
	}
}

// A group of 1,000 members: all join, one leaves, all join again.
func TestFaults_LargeGroup(t *testing.T) {
	const members = 1000
	r := mustBoot(t, emptyDisk(t), "group.initial.rebalance.delay.ms=1000")
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorKey = 3, "g"
	await(t, "the coordinator", func() bool {
		resp, err := ask[*kmsg.FindCoordinatorResponse](r, find)
		return err == nil && resp.ErrorCode == 0
	})
	conns := make([]*rig, members)
	for i := range conns {
		c, err := dialRPC(t.Context(), r.n.Addr("PLAINTEXT").String(), fmt.Sprint("m", i))
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = &rig{t: t, n: r.n, conn: c}
	}
	ids := make([]string, members)
	for round := range byte(2) {
		var wg sync.WaitGroup
		errs := make([]error, members)
		gens := make([]int32, members)
		for i, c := range conns {
			wg.Go(func() { gens[i], errs[i] = c.join(&ids[i], round) })
		}
		wg.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if slices.Min(gens) != slices.Max(gens) {
			t.Log("generations", slices.Min(gens), "to", slices.Max(gens))
		}
	}
	for _, c := range conns {
		c.conn.fail(errors.New("done"))
	}
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
}

// join joins the group until a generation has all of those that joined.
func (r *rig) join(id *string, metadata byte) (int32, error) {
	for {
		req := kmsg.NewPtrJoinGroupRequest()
		req.Version, req.Group, req.MemberID, req.ProtocolType = 5, "g", *id, "consumer"
		req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 30_000, 30_000
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = "range", []byte{metadata}
		req.Protocols = append(req.Protocols, p)
		resp, err := ask[*kmsg.JoinGroupResponse](r, req)
		switch {
		case err != nil:
			return 0, err
		case kerr.Code(resp.ErrorCode) == kerr.MemberIDRequired:
			*id = resp.MemberID
		case resp.ErrorCode != 0:
			return 0, kerr.Code(resp.ErrorCode)
		default:
			*id = resp.MemberID
			return resp.Generation, nil
		}
	}
}

// A meta.properties that isn't what it was: one of another cluster, or of another directory, keeps the node
// from starting; a new directory.id is told of, as is the log of another topic of the same name. All of them
// are named, and nothing is lost by it.
func TestFaults_ForeignDirectories(t *testing.T) {
	m := emptyDisk(t)
	r := mustBoot(t, m)
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
	const file = "/c/meta.properties"
	ids := map[string]string{}
	for _, dir := range []string{"/b", "/c"} {
		p, err := seglog.LoadProperties(m, dir)
		if err != nil {
			t.Fatal(err)
		}
		ids[dir] = p.DirectoryID
		ids["cluster"] = p.ClusterID
	}
	for what, change := range map[string][2]string{
		"cluster.id":        {ids["cluster"], "AAAAAAAAAAAAAAAAAAAAAB"},
		"Duplicate":         {ids["/c"], ids["/b"]},
		"never registered:": {ids["/c"], "mnopqrstuvwxyzABCDEFGA"},
	} {
		disk := m.Kill()
		b, err := vfs.ReadFile(disk, file)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.Replace(b, []byte(change[0]), []byte(change[1]), 1)
		if err := vfs.WriteNew(disk, file, b, true); err != nil {
			t.Fatal(err)
		}
		r, err := boot(t, disk)
		if what != "never registered:" {
			if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "/c") {
				t.Errorf("%s: %v", what, err)
			}
			_ = r.end()
			continue
		}
		if err != nil || !strings.Contains(r.log.String(), what) || !strings.Contains(r.log.String(), file) {
			t.Fatalf("%s: %v\n%s", what, err, r.log)
		}
		await(t, "the controller to learn where the partitions are", func() bool {
			_, err := r.read("sync", 2)
			return err == nil
		})
		if err := l.copy().check(r, true); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		_ = r.end()
	}
}
