package quorum

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/disk/vfs"
)

// list is a Machine whose state is all records, and that lets tests wait for it.
type list struct {
	mu       sync.Mutex
	recs     []string
	leading  bool
	restored int
	changed  chan struct{}
}

func newList() *list { return &list{changed: make(chan struct{}, 1)} }

func (l *list) update(fn func()) {
	l.mu.Lock()
	fn()
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func (l *list) Apply(b Batch) {
	l.update(func() {
		for _, r := range b.Records {
			l.recs = append(l.recs, string(r))
		}
	})
}

func (l *list) Restore(s *Snapshot) {
	l.update(func() {
		l.recs = nil
		for r := range s.Records {
			l.recs = append(l.recs, string(r))
		}
		l.restored++
	})
}

func (l *list) Lead(Writer)                           { l.update(func() { l.leading = true }) }
func (l *list) Follow(NodeID, int32)                  { l.update(func() { l.leading = false }) }
func (l *list) Tick(time.Time, Writer) (at time.Time) { return at }

func (l *list) Snapshot() func(func([]byte) bool) {
	l.mu.Lock()
	recs := slices.Clone(l.recs)
	l.mu.Unlock()
	return func(yield func([]byte) bool) {
		for _, r := range recs {
			if !yield([]byte(r)) {
				return
			}
		}
	}
}

func (l *list) is(want []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Equal(l.recs, want)
}

// saw is is, but for records that were written twice because of a leader that was deposed meanwhile.
func (l *list) saw(want []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var once []string
	for _, r := range l.recs {
		if !slices.Contains(once, r) {
			once = append(once, r)
		}
	}
	return slices.Equal(once, want)
}

func (l *list) has(rec string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.recs, rec)
}

func (l *list) leads() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leading
}

// node is a quorum behind a listener.
type node struct {
	t   *testing.T
	cfg Config
	q   *Quorum
	m   *list
	ln  net.Listener
	wg  sync.WaitGroup
}

func (n *node) start() {
	n.t.Helper()
	n.m = newList()
	var err error
	if n.q, err = Open(n.cfg, n.m); err != nil {
		n.t.Fatal(err)
	}
	if len(n.cfg.Endpoints) > 0 {
		if n.ln, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", n.cfg.Endpoints[0].Port)); err != nil {
			n.t.Fatal(err)
		}
		n.wg.Add(1)
		go n.serve(n.ln, n.q)
	}
	if err := n.q.Start(); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) stop() {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := n.q.Close(ctx); err != nil {
		n.t.Error(err)
	}
	if n.ln != nil {
		n.ln.Close()
		n.wg.Wait()
	}
}

func (n *node) serve(ln net.Listener, q *Quorum) {
	defer n.wg.Done()
	var conns []net.Conn
	for {
		c, err := ln.Accept()
		if err != nil {
			for _, c := range conns {
				c.Close()
			}
			return
		}
		conns = append(conns, c)
		n.wg.Go(func() {
			defer c.Close()
			for serveOne(c, q) == nil {
			}
		})
	}
}

func serveOne(c net.Conn, q *Quorum) error {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	req := kmsg.RequestForKey(int16(binary.BigEndian.Uint16(b)))
	req.SetVersion(int16(binary.BigEndian.Uint16(b[2:])))
	correl := b[4:8]
	b = b[10+binary.BigEndian.Uint16(b[8:]):]
	out := []byte{0, 0, 0, 0}
	out = append(out, correl...)
	if req.IsFlexible() {
		b = b[1:]
		out = append(out, 0)
	}
	if err := req.ReadFrom(b); err != nil {
		return err
	}
	reply := make(chan kmsg.Response, 1)
	q.Handle(RaftRequest{Request: req, Listener: "CONTROLLER", Reply: func(r kmsg.Response) { reply <- r }})
	out = (<-reply).AppendTo(out)
	binary.BigEndian.PutUint32(out, uint32(len(out)-4))
	_, err := c.Write(out)
	return err
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// write appends records through a leader and waits for the commit.
func write(t *testing.T, q *Quorum, recs ...string) {
	t.Helper()
	res := make(chan error, 1)
	var last int64
	err := q.Submit(func(w Writer) {
		var err error
		for _, r := range recs {
			if last, err = w.Append([][]byte{[]byte(r)}); err != nil {
				break
			}
		}
		res <- err
	})
	if err == nil {
		err = <-res
	}
	if err != nil {
		t.Fatal(err)
	}
	await(t, "commit", func() bool { return q.HighWatermark() > last })
}

func single(t *testing.T, fsys vfs.FS) *node {
	return &node{t: t, cfg: Config{
		NodeID: 1, ClusterID: "c", Dir: "/data", Controller: true, FS: fsys,
		Voters: []Voter{{1, "127.0.0.1", 1}},
	}}
}

func TestSingleVoter(t *testing.T) {
	fsys := vfs.NewMem()
	var want []string
	for run := range 3 {
		n := single(t, fsys)
		n.start()
		if !n.m.leads() {
			t.Fatal("a sole voter doesn't lead at once")
		}
		if _, epoch := n.q.Leader(); epoch != int32(run+1) {
			t.Errorf("epoch %d in run %d", epoch, run)
		}
		for i := range 3 {
			want = append(want, fmt.Sprint(run, i))
			write(t, n.q, want[len(want)-1])
		}
		if !n.m.is(want) {
			t.Errorf("run %d: %v", run, n.m.recs)
		}
		if run == 1 {
			fsys = fsys.Crash(0)
			continue // no stop: the power failed
		}
		n.stop()
	}
}

// TestCommitIsOneSync: what bounds a metadata change's latency is one write and one sync, for a whole group
// of them.
func TestCommitIsOneSync(t *testing.T) {
	mem := vfs.NewMem()
	faults := vfs.NewFaults(mem)
	n := single(t, faults)
	n.start()
	defer n.stop()
	write(t, n.q, "warm", "up")
	var mu sync.Mutex
	var ops []string
	faults.Watch(func(_ int, op vfs.Op, name string) {
		mu.Lock()
		defer mu.Unlock()
		ops = append(ops, string(op)+" "+path.Base(name))
	})
	write(t, n.q, "a", "b", "c")
	faults.Watch(nil)
	mu.Lock()
	defer mu.Unlock()
	want := []string{"write 00000000000000000000.log", "sync 00000000000000000000.log"}
	if !slices.Equal(ops, want) {
		t.Errorf("%q", ops)
	}
}

// TestPowerFailures cuts the power at arbitrary moments, and leaves the disk in arbitrary states that a power
// cut may: what was committed is always there, in order, and what wasn't is there up to some point or not at
// all.
func TestPowerFailures(t *testing.T) {
	for seed := range uint64(40) {
		mem := vfs.NewMem()
		var want []string
		for run := range 4 {
			faults := vfs.NewFaults(mem)
			n := single(t, faults)
			n.cfg.SnapshotBytes = 600
			n.start()
			if len(n.m.recs) < len(want) || !slices.Equal(n.m.recs[:len(want)], want) {
				t.Fatalf("seed %d, run %d: %q, committed were %q", seed, run, n.m.recs, want)
			}
			want = slices.Clone(n.m.recs)
			faults.HaltAfter(int(seed%7)*3 + run)
			for i := range 20 {
				rec := fmt.Sprintf("seed %d run %d record %d", seed, run, i)
				if !tryWrite(n.q, rec) {
					break
				}
				want = append(want, rec)
			}
			mem = mem.Crash(seed)
			n.kill()
		}
	}
}

// tryWrite is false when the quorum dies before the record commits.
func tryWrite(q *Quorum, rec string) bool {
	last := int64(-1)
	if q.Submit(func(w Writer) { last, _ = w.Append([][]byte{[]byte(rec)}) }) != nil {
		return false
	}
	for {
		res := make(chan bool, 1)
		if q.Submit(func(w Writer) { res <- last >= 0 && w.HighWatermark() > last }) != nil {
			return false
		}
		select {
		case ok := <-res:
			if ok {
				return true
			}
		case <-q.Done():
			return false
		}
	}
}

// kill ends a node whose disk doesn't work any more.
func (n *node) kill() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = n.q.Close(ctx) // the disk refuses, that is the point
	if n.ln != nil {
		n.ln.Close()
		n.wg.Wait()
	}
}

func TestSingleSnapshots(t *testing.T) {
	fsys := vfs.NewMem()
	n := single(t, fsys)
	n.cfg.SnapshotBytes = 500
	n.start()
	var want []string
	for i := range 100 {
		want = append(want, fmt.Sprintf("record %d", i))
		write(t, n.q, want[i])
	}
	n.stop()
	n = single(t, fsys)
	n.start()
	defer n.stop()
	if n.m.restored != 1 || !n.m.is(want) {
		t.Errorf("restored %d, %d records", n.m.restored, len(n.m.recs))
	}
}

func freePorts(t *testing.T, n int) (ports []uint16) {
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		ports = append(ports, uint16(ln.Addr().(*net.TCPAddr).Port))
	}
	return ports
}

func three(t *testing.T) []*node {
	ports := freePorts(t, 3)
	var voters []Voter
	for i, p := range ports {
		voters = append(voters, Voter{NodeID(i + 1), "127.0.0.1", p})
	}
	var nodes []*node
	for i, p := range ports {
		nodes = append(nodes, &node{t: t, cfg: Config{
			NodeID: NodeID(i + 1), ClusterID: "c", Dir: "/data", Controller: true, FS: vfs.NewMem(), Voters: voters,
			Endpoints:       []Endpoint{{"CONTROLLER", "127.0.0.1", p}},
			ElectionTimeout: 100 * time.Millisecond, FetchTimeout: 200 * time.Millisecond,
			RequestTimeout: time.Second, ElectionBackoffMax: 50 * time.Millisecond,
			SnapshotBytes: 2000, RetentionBytes: 1,
		}})
	}
	return nodes
}

func leader(t *testing.T, nodes []*node) (l *node) {
	t.Helper()
	await(t, "a leader", func() bool {
		for _, n := range nodes {
			if n.m.leads() {
				l = n
				return true
			}
		}
		return false
	})
	return l
}

func TestThreeOverLoopback(t *testing.T) {
	nodes := three(t)
	for _, n := range nodes {
		n.start()
	}
	broker := &node{t: t, cfg: nodes[0].cfg}
	broker.cfg.NodeID, broker.cfg.Controller, broker.cfg.FS, broker.cfg.Endpoints = 9, false, vfs.NewMem(), nil
	broker.start()
	var want []string
	put := func(alive []*node, count int) {
		for range count {
			rec := fmt.Sprintf("record number %d", len(want))
			// On a slow machine the leader may change meanwhile; what it wrote may be there or not.
			for l := leader(t, alive); !l.m.has(rec); l = leader(t, alive) {
				tryWrite(l.q, rec)
			}
			want = append(want, rec)
		}
	}
	agree := func(ns ...*node) {
		t.Helper()
		for _, n := range ns {
			await(t, fmt.Sprintf("node %d to have all", n.cfg.NodeID), func() bool { return n.m.saw(want) })
		}
	}
	put(nodes, 10)
	l := leader(t, nodes)
	agree(append(nodes, broker)...)

	l.stop() // gracefully: another takes over
	rest := slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return n == l })
	put(rest, 60) // enough for snapshots
	agree(append(rest, broker)...)

	l.cfg.FS = vfs.NewMem() // its disk is lost, the others have cut their logs: it comes back by snapshot
	for _, n := range rest {
		await(t, "snapshots", func() bool { return n.q.Status().LogEnd > 60 })
	}
	l.start()
	agree(l)
	put(nodes, 5)
	agree(append(nodes, broker)...)
	if l.m.restored == 0 {
		t.Error("no snapshot was fetched")
	}
	// A leader whose power fails: the others notice by themselves, and it comes back with what its disk has.
	l = leader(t, nodes)
	l.cfg.FS = l.cfg.FS.(*vfs.Mem).Crash(7)
	l.kill()
	rest = slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return n == l })
	put(rest, 5)
	l.start()
	agree(append(nodes, broker)...)
	broker.stop()
	for _, n := range nodes {
		n.stop()
	}
}
