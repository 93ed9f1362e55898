package coordinator

import (
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/core/txn"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// outbox gives out producer ids, and completes or keeps markers.
type outbox struct {
	t    *Transactions
	mu   sync.Mutex
	keep bool
	sent []txn.Markers
	next int64
}

func (o *outbox) WriteMarkers(m *txn.Markers) {
	o.mu.Lock()
	o.sent = append(o.sent, *m)
	keep := o.keep
	o.mu.Unlock()
	if !keep {
		o.t.Submit(0, &txn.MarkersDone{ID: m.ID, ProducerID: m.ProducerID, ProducerEpoch: m.ProducerEpoch}, func(txn.Output) {})
	}
}

func (o *outbox) NeedID(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.next++
	o.t.Submit(0, &txn.GotID{ID: id, ProducerID: o.next}, func(txn.Output) {})
}

func (o *outbox) markers() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.sent)
}

func newTransactions(t *testing.T) (*Transactions, *outbox) {
	t.Helper()
	x := NewTransactions(Config{Log: slog.New(slog.DiscardHandler), WriteTimeout: 50 * time.Millisecond}, txn.Defaults())
	o := &outbox{t: x}
	x.Attach(o)
	t.Cleanup(x.Close)
	return x, o
}

func submit[T txn.Output](t *testing.T, x *Transactions, in txn.Input) T {
	t.Helper()
	ch := make(chan txn.Output, 1)
	x.Submit(0, in, func(out txn.Output) { ch <- out })
	select {
	case out := <-ch:
		return out.(T)
	case <-time.After(10 * time.Second):
		t.Fatalf("no reply to %T", in)
	}
	panic("unreachable")
}

var oneTopic = []record.TxnTopic{{Topic: "t", Partitions: []int32{0}}}

// begin opens a transaction of x.
func begin(t *testing.T, x *Transactions) *txn.End {
	t.Helper()
	i := submit[*txn.Inited](t, x, &txn.Init{ID: "x", Timeout: time.Minute, ProducerID: -1, Epoch: -1})
	if i.Code != kerr.None {
		t.Fatal(i.Code)
	}
	a := submit[*txn.Added](t, x, &txn.Add{ID: "x", ProducerID: i.ProducerID, Epoch: i.Epoch, Client: 2, Topics: oneTopic})
	if a.Code != kerr.None {
		t.Fatal(a.Code)
	}
	return &txn.End{ID: "x", ProducerID: i.ProducerID, Epoch: i.Epoch, Client: 2, Commit: true}
}

// Who hears that a transaction is decided finds it complete: its markers come before the reply.
func TestTransactions_CompleteBeforeTheReply(t *testing.T) {
	x, _ := newTransactions(t)
	log := &memLog{}
	x.Lead(0, 1, log)
	end := begin(t, x)
	for range 20 {
		e := submit[*txn.Ended](t, x, end)
		if e.Code != kerr.None {
			t.Fatal(e.Code)
		}
		end.ProducerID, end.Epoch = e.ProducerID, e.Epoch
		a := submit[*txn.Added](t, x, &txn.Add{
			ID: "x", ProducerID: e.ProducerID, Epoch: e.Epoch, Client: 2, Topics: oneTopic,
		})
		if a.Code != kerr.None {
			t.Fatalf("the next transaction: %v", a.Code)
		}
	}
	for _, b := range log.batches {
		if v := batch.View(b); v.BaseSequence() != -1 || v.Transactional() {
			t.Errorf("base sequence %d, transactional %v", v.BaseSequence(), v.Transactional())
		}
	}
}

// Markers wait for the decision's commit, however long that takes: longer than the client's reply.
func TestTransactions_MarkersWaitForTheCommit(t *testing.T) {
	x, o := newTransactions(t)
	log := &memLog{}
	x.Lead(0, 1, log)
	end := begin(t, x)
	log.mu.Lock()
	log.hold = true
	log.mu.Unlock()
	if e := submit[*txn.Ended](t, x, end); e.Code != kerr.CoordinatorNotAvailable || o.markers() != 0 {
		t.Fatalf("uncommitted: %v, %d markers", e.Code, o.markers())
	}
	log.commit(kerr.None)
	for range 1000 {
		if o.markers() == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if d := submit[*txn.Described](t, x, &txn.Describe{ID: "x"}); d.Status != record.TxnCompleteCommit || o.markers() != 1 {
		t.Errorf("%v, %d markers", d.Status, o.markers())
	}
}

// The next coordinator sends the markers of what was decided.
func TestTransactions_NextCoordinatorGoesOn(t *testing.T) {
	x, o := newTransactions(t)
	log := &memLog{}
	x.Lead(0, 1, log)
	o.keep = true
	end := begin(t, x)
	if e := submit[*txn.Ended](t, x, end); e.Code != kerr.None {
		t.Fatal(e.Code)
	}
	x.Resign(0, 1)
	o.mu.Lock()
	o.keep = false
	o.mu.Unlock()
	x.Lead(0, 2, log)
	for range 1000 {
		if d := submit[*txn.Described](t, x, &txn.Describe{ID: "x"}); d.Status == record.TxnCompleteCommit {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("not completed by the next coordinator")
}

// A group's batches are one producer's each, and markers are alone.
func TestGroups_BatchesOfTransactions(t *testing.T) {
	g := newGroups(t, Config{})
	log := &memLog{hold: true}
	g.Lead(0, 0, log)
	var wg sync.WaitGroup
	put := func(in group.Input) {
		wg.Add(1)
		g.Submit(0, in, func(group.Output) { wg.Done() })
	}
	put(commit("a", 1)) // whatever comes while it is being written comes together
	for producer := range int64(2) {
		for range 2 {
			c := &group.TxnCommit{Commit: *commit("a", 10+producer), ProducerID: producer, ProducerEpoch: 3}
			put(c)
		}
	}
	put(&group.EndTxn{ProducerID: 0, ProducerEpoch: 4, Committed: true, CoordinatorEpoch: 9, Version: 2})
	put(&group.EndTxn{ProducerID: 1, ProducerEpoch: 4, CoordinatorEpoch: 9, Version: 2})
	log.commit(kerr.None)
	wg.Wait()
	if at := offsets(t, g, "a"); !slices.Equal(at, []int64{10}) {
		t.Errorf("offsets %v", at)
	}
	markers := 0
	for _, b := range log.batches {
		v := batch.View(b)
		if v.Control() {
			markers++
		}
		if v.Control() && (v.Count() != 1 || !v.Transactional() || v.ProducerEpoch() != 4) ||
			v.Transactional() && !v.Control() && v.ProducerEpoch() != 3 {
			t.Errorf("batch of %d records, producer %d, epoch %d, control %v", v.Count(), v.ProducerID(),
				v.ProducerEpoch(), v.Control())
		}
	}
	if markers != 2 {
		t.Errorf("%d markers", markers)
	}
	g.Resign(0, 0)
	g.Lead(0, 1, log)
	if at := offsets(t, g, "a"); !slices.Equal(at, []int64{10}) {
		t.Errorf("offsets %v after loading", at)
	}
}

// What can't be appended leaves a transaction's offsets as they were.
func TestGroups_TransactionsRollBack(t *testing.T) {
	g := newGroups(t, Config{})
	log := &memLog{}
	g.Lead(0, 0, log)
	do[*group.Codes](t, g, 0, commit("a", 1))
	c := &group.TxnCommit{Commit: *commit("a", 7), ProducerID: 1}
	end := &group.EndTxn{ProducerID: 1, Committed: true}
	log.fail(kerr.InvalidProducerEpoch)
	if got := do[*group.Codes](t, g, 0, c); got.Code != kerr.InvalidProducerEpoch {
		t.Errorf("commit: %v", got.Code)
	}
	log.fail(kerr.None)
	do[*group.Status](t, g, 0, end)
	if at := offsets(t, g, "a"); !slices.Equal(at, []int64{1}) {
		t.Errorf("offsets %v of a commit that was refused", at)
	}
	do[*group.Codes](t, g, 0, c)
	log.fail(kerr.TransactionCoordinatorFenced)
	if got := do[*group.Status](t, g, 0, end); got.Code != kerr.TransactionCoordinatorFenced {
		t.Errorf("end: %v", got.Code)
	}
	if at := offsets(t, g, "a"); !slices.Equal(at, []int64{1}) {
		t.Errorf("offsets %v of a marker that was refused", at)
	}
	log.fail(kerr.None)
	do[*group.Status](t, g, 0, end)
	if at := offsets(t, g, "a"); !slices.Equal(at, []int64{7}) {
		t.Errorf("offsets %v", at)
	}
}
