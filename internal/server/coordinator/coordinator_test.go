package coordinator

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memLog is a partition in memory. While hold is set, nothing commits; code, if set, is what appends get.
type memLog struct {
	mu      sync.Mutex
	batches [][]byte
	start   batch.Offset
	leo     batch.Offset
	hold    bool
	code    kerr.Code
	waiting []func(kerr.Code)
	slow    chan struct{} // reads wait for it
}

func (l *memLog) AppendLocal(b []byte) (batch.Offset, kerr.Code) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.code != kerr.None {
		return -1, l.code
	}
	v := batch.View(bytes.Clone(b))
	batch.Stamp(v, l.leo, 1)
	l.batches = append(l.batches, v)
	base := l.leo
	l.leo = v.LastOffset() + 1
	return base, kerr.None
}

func (l *memLog) AppendTxn(b []byte, _ replica.Guard) (batch.Offset, kerr.Code) {
	return l.AppendLocal(b)
}

func (l *memLog) AppendMarker(b []byte, _ int8) (batch.Offset, kerr.Code) { return l.AppendLocal(b) }

func (l *memLog) Await(_ batch.Offset, fn func(kerr.Code)) {
	l.mu.Lock()
	if l.hold {
		l.waiting = append(l.waiting, fn)
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	fn(kerr.None)
}

// commit ends hold.
func (l *memLog) commit(code kerr.Code) {
	l.mu.Lock()
	fns := l.waiting
	l.waiting, l.hold = nil, false
	l.mu.Unlock()
	for _, fn := range fns {
		fn(code)
	}
}

func (l *memLog) fail(code kerr.Code) {
	l.mu.Lock()
	l.code = code
	l.mu.Unlock()
}

func (l *memLog) ReadLocal(from batch.Offset, max int, dst []byte) ([]byte, error) {
	if l.slow != nil {
		<-l.slow
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.batches {
		if batch.View(b).LastOffset() >= from {
			if len(dst) > 0 && len(dst)+len(b) > max {
				break
			}
			dst = append(dst, b...)
		}
	}
	return dst, nil
}

func (l *memLog) LogStart() batch.Offset { return l.start }

func (l *memLog) LEO() batch.Offset {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leo
}

func (l *memLog) appends() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.batches)
}

func newGroups(t *testing.T, cfg Config) *Groups {
	t.Helper()
	cfg.Log = slog.New(slog.DiscardHandler)
	gc := group.Defaults()
	gc.InitialRebalanceDelay = 0
	g := NewGroups(cfg, gc, func() [32]byte { return [32]byte{1} })
	t.Cleanup(g.Close)
	return g
}

func do[T group.Output](t *testing.T, g *Groups, n int32, in group.Input) T {
	t.Helper()
	ch := make(chan group.Output, 1)
	g.Submit(n, in, func(out group.Output) { ch <- out })
	select {
	case out := <-ch:
		return out.(T)
	case <-time.After(10 * time.Second):
		t.Fatalf("no reply to %T", in)
	}
	panic("unreachable")
}

func commit(id string, offset int64) *group.Commit {
	return &group.Commit{Group: id, Generation: -1, Retention: -1, Offsets: []group.CommitOffset{
		{TopicPartition: group.TopicPartition{Topic: "t"}, Offset: offset, LeaderEpoch: -1},
	}}
}

func fetch(id string) *group.Fetch { return &group.Fetch{Group: id, MemberEpoch: -1, All: true} }

func offsets(t *testing.T, g *Groups, id string) (at []int64) {
	t.Helper()
	for _, o := range do[*group.Fetched](t, g, 0, fetch(id)).Offsets {
		at = append(at, o.Offset)
	}
	return at
}

func TestLeadServeResign(t *testing.T) {
	g := newGroups(t, Config{})
	if c := do[*group.Codes](t, g, 0, commit("a", 1)); c.Code != kerr.NotCoordinator {
		t.Fatalf("before leadership: %v", c.Code)
	}
	log := &memLog{}
	g.Lead(0, 3, log)
	if c := do[*group.Codes](t, g, 0, commit("a", 5)); c.Code != kerr.None || c.Each[0] != kerr.None {
		t.Fatalf("commit: %+v", c)
	}
	g.Resign(0, 2) // stale
	if at := offsets(t, g, "a"); !slices.Equal(at, []int64{5}) {
		t.Fatalf("fetched %v", at)
	}
	g.Resign(0, 3)
	if c := do[*group.Codes](t, g, 0, commit("a", 1)); c.Code != kerr.NotCoordinator {
		t.Fatalf("after resignation: %v", c.Code)
	}
	g.Lead(0, 5, log)
	if at := offsets(t, g, "a"); !slices.Equal(at, []int64{5}) {
		t.Fatalf("fetched %v after loading", at)
	}
}

func TestJoinSyncOverTimers(t *testing.T) {
	g := newGroups(t, Config{})
	g.Lead(0, 0, &memLog{})
	join := &group.Join{
		Group: "g", SessionTimeout: 10 * time.Second, RebalanceTimeout: time.Minute,
		ProtocolType: "consumer",
		Protocols:    []group.Protocol{{Name: "range"}},
	}
	j := do[*group.Joined](t, g, 0, join)
	if j.Code != kerr.None || j.Generation != 1 || j.Leader != j.Member || len(j.Members) != 1 {
		t.Fatalf("joined %+v", j)
	}
	s := do[*group.Synced](t, g, 0, &group.Sync{
		Group: "g", Member: j.Member, Generation: 1,
		Assignments: []group.Assignment{{Member: j.Member, Data: []byte("all")}},
	})
	if s.Code != kerr.None || string(s.Assignment) != "all" {
		t.Fatalf("synced %+v", s)
	}
	var listed *group.Listed
	done := make(chan struct{})
	g.List(&group.List{}, func(l *group.Listed) { listed = l; close(done) })
	<-done
	if len(listed.Groups) != 1 || listed.Groups[0].State != "Stable" {
		t.Fatalf("listed %+v", listed)
	}
}

func TestRepliesWaitForCommit(t *testing.T) {
	g := newGroups(t, Config{})
	log := &memLog{hold: true}
	g.Lead(0, 0, log)
	got := make(chan kerr.Code, 4)
	g.Submit(0, commit("a", 1), func(out group.Output) { got <- out.(*group.Codes).Code })
	// A read of what isn't committed yet waits too.
	g.Submit(0, fetch("a"), func(out group.Output) { got <- out.(*group.Fetched).Code })
	for log.appends() == 0 {
		time.Sleep(time.Millisecond)
	}
	select {
	case <-got:
		t.Fatal("reply before the commit")
	default:
	}
	log.commit(kerr.None)
	for range 2 {
		if c := <-got; c != kerr.None {
			t.Fatalf("reply %v", c)
		}
	}
}

func TestWriteTimeoutAndLoss(t *testing.T) {
	g := newGroups(t, Config{WriteTimeout: 20 * time.Millisecond})
	log := &memLog{hold: true}
	g.Lead(0, 0, log)
	if c := do[*group.Codes](t, g, 0, commit("a", 1)); c.Code != kerr.CoordinatorNotAvailable {
		t.Fatalf("timed out: %v", c.Code)
	}
	log.commit(kerr.None)
	if at := offsets(t, g, "a"); !slices.Equal(at, []int64{1}) {
		t.Fatalf("the late commit is lost: %v", at)
	}
	log.mu.Lock()
	log.hold = true
	log.mu.Unlock()
	got := make(chan kerr.Code, 1)
	g.Submit(0, commit("a", 2), func(out group.Output) { got <- out.(*group.Codes).Code })
	for log.appends() < 2 {
		time.Sleep(time.Millisecond)
	}
	log.commit(kerr.NotLeaderOrFollower)
	if c := <-got; c != kerr.NotCoordinator && c != kerr.CoordinatorNotAvailable {
		t.Fatalf("lost: %v", c)
	}
}

func TestFailedAppendRollsBack(t *testing.T) {
	g := newGroups(t, Config{})
	log := &memLog{}
	g.Lead(0, 0, log)
	do[*group.Codes](t, g, 0, commit("a", 1))
	for from, want := range map[kerr.Code]kerr.Code{
		kerr.NotEnoughReplicas: kerr.CoordinatorNotAvailable, kerr.NotLeaderOrFollower: kerr.NotCoordinator,
		kerr.MessageTooLarge: kerr.InvalidCommitOffsetSize, kerr.KafkaStorageError: kerr.NotCoordinator,
	} {
		log.fail(from)
		if c := do[*group.Codes](t, g, 0, commit("a", 2)); c.Code != want {
			t.Errorf("append %v: commit %v, want %v", from, c.Code, want)
		}
		if c := do[*group.Codes](t, g, 0, commit("b", 2)); c.Code != want {
			t.Errorf("append %v: commit of a new group %v, want %v", from, c.Code, want)
		}
	}
	log.fail(kerr.None)
	if at := offsets(t, g, "a"); !slices.Equal(at, []int64{1}) {
		t.Errorf("offset %v after the failures", at)
	}
	if d := do[*group.Described](t, g, 0, &group.Describe{Group: "b"}); d.Code != kerr.GroupIDNotFound {
		t.Errorf("group b exists: %+v", d)
	}
}

// Many requests at once: few appends, every reply, and what was acknowledged last is there after a reload.
func TestBatchingAndSplitting(t *testing.T) {
	for _, max := range []int{0, 300} {
		g := newGroups(t, Config{MaxBatch: max})
		log := &memLog{}
		g.Lead(0, 0, log)
		var wg sync.WaitGroup
		for i := range 500 {
			wg.Add(1)
			g.Submit(0, commit(fmt.Sprint("g", i%50), int64(i)), func(out group.Output) {
				if c := out.(*group.Codes); c.Code != kerr.None {
					t.Errorf("commit %d: %v", i, c.Code)
				}
				wg.Done()
			})
		}
		wg.Wait()
		g.Resign(0, 0)
		g.Lead(0, 1, log)
		for i := range 50 {
			if at := offsets(t, g, fmt.Sprint("g", i)); !slices.Equal(at, []int64{int64(450 + i)}) {
				t.Fatalf("group %d at %v", i, at)
			}
		}
		if max > 0 {
			for _, b := range log.batches {
				if len(b) > max {
					t.Fatalf("batch of %d bytes", len(b))
				}
			}
		}
	}
}

func TestLoading(t *testing.T) {
	g := newGroups(t, Config{LoadBuffer: 100})
	log := &memLog{slow: make(chan struct{})}
	for i := range inlineLoad + 1 {
		b, err := batch.Build(nil, batch.NoProducer(0, 0, 1), []batch.Record{{Key: []byte{0, 99, byte(i)}}})
		if err != nil {
			t.Fatal(err)
		}
		log.AppendLocal(b)
	}
	g.Lead(0, 0, log)
	if c := do[*group.Codes](t, g, 0, commit("a", 1)); c.Code != kerr.CoordinatorLoadInProgress {
		t.Fatalf("commit while loading: %v", c.Code)
	}
	if s := do[*group.Status](t, g, 0, &group.Heartbeat{Group: "a"}); s.Code != kerr.None {
		t.Fatalf("heartbeat while loading: %v", s.Code)
	}
	g.Deleted([]string{"t"}) // waits for the load
	close(log.slow)
	for do[*group.Codes](t, g, 0, commit("a", 1)).Code == kerr.CoordinatorLoadInProgress {
		time.Sleep(time.Millisecond)
	}
	if g.Metrics.LoadedRecords.Load() != inlineLoad+1 || g.Metrics.Active.Load() != 1 ||
		g.Metrics.Loading.Load() != 0 {
		t.Errorf("metrics: %+v", &g.Metrics)
	}
}

// A quiet shard has no goroutine: goleak would see them at the end, and Close would not return.
func TestParkedAreAnsweredOnResign(t *testing.T) {
	g := newGroups(t, Config{})
	g.Lead(0, 0, &memLog{})
	join := func() *group.Join {
		return &group.Join{
			Group: "g", SessionTimeout: 10 * time.Second, RebalanceTimeout: time.Minute,
			ProtocolType: "consumer",
			Protocols:    []group.Protocol{{Name: "range"}},
		}
	}
	do[*group.Joined](t, g, 0, join())
	got := make(chan group.Output, 1)
	g.Submit(0, join(), func(out group.Output) { got <- out }) // waits for the first to rejoin
	g.Resign(0, 0)
	if j := (<-got).(*group.Joined); j.Code != kerr.NotCoordinator {
		t.Errorf("parked join: %+v", j)
	}
}

// Apache's segments load: every group and offset is in place, also those of protocols that aren't served yet.
func TestLoadApache(t *testing.T) {
	g := newGroups(t, Config{})
	for _, n := range []int32{7, 25, 28, 29, 37, 45} {
		b, err := os.ReadFile(filepath.Join("../../format/record/testdata/golden/group",
			fmt.Sprintf("consumer_offsets-%d.log", n)))
		if err != nil {
			t.Fatal(err)
		}
		log := &memLog{}
		for len(b) > 0 {
			v, rest, err := batch.Next(b)
			if err != nil {
				t.Fatal(err)
			}
			log.batches, log.leo, b = append(log.batches, v), v.LastOffset()+1, rest
		}
		g.Lead(n, 0, log)
	}
	for _, want := range []struct {
		n      int32
		id     string
		state  string
		offset []int64
	}{
		{37, "gold-classic", "Empty", []int64{3}},
		{45, "gold-static", "Stable", []int64{5}},
		{25, "gold-kip848", "Dead", []int64{20}},
		{7, "gold-simple", "Dead", nil},
		{28, "gold-txn-0", "Empty", []int64{20}},
		{29, "gold-txn-1", "Empty", nil},
	} {
		if d := do[*group.Described](t, g, want.n, &group.Describe{Group: want.id}); d.State != want.state {
			t.Errorf("%s: %+v", want.id, d)
		}
		var at []int64
		for _, o := range do[*group.Fetched](t, g, want.n, fetch(want.id)).Offsets {
			at = append(at, o.Offset)
		}
		if !slices.Equal(at, want.offset) {
			t.Errorf("%s: offsets %v, want %v", want.id, at, want.offset)
		}
	}
	if g.Metrics.Skipped.Load() != 0 {
		t.Errorf("%d records skipped", g.Metrics.Skipped.Load())
	}
}
