package node

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// tx is a transactional producer that says what it likes. v2 is one of transaction.version 2 (KIP-890).
type tx struct {
	r     *rig
	id    string
	v2    bool
	pid   int64
	epoch int16
	seq   map[string]int32
}

// quick makes transactions of this test time out soon.
const quick = "transaction.abort.timed.out.transaction.cleanup.interval.ms=20"

func (x *tx) on(r *rig) *tx { x.r = r; return x }

// init asks until the last transaction has ended.
func (x *tx) init(timeout time.Duration) error {
	x.seq = map[string]int32{}
	var err error
	for range 1000 {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.Version, req.TransactionalID, req.ProducerID, req.ProducerEpoch = 5, &x.id, -1, -1
		req.TransactionTimeoutMillis = int32(timeout.Milliseconds())
		var resp *kmsg.InitProducerIDResponse
		if resp, err = ask[*kmsg.InitProducerIDResponse](x.r, req); err != nil {
			return err
		}
		x.pid, x.epoch = resp.ProducerID, resp.ProducerEpoch
		err = codeOf(resp.ErrorCode)
		if !errors.Is(err, kerr.ConcurrentTransactions) && !errors.Is(err, kerr.NotCoordinator) {
			return err
		}
		if err := x.find(); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

// find has the coordinator's topic made.
func (x *tx) find() error {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.Version, req.CoordinatorType, req.CoordinatorKeys = 4, 1, []string{x.id}
	resp, err := ask[*kmsg.FindCoordinatorResponse](x.r, req)
	if err == nil {
		err = codeOf(resp.Coordinators[0].ErrorCode)
	}
	return err
}

func (x *tx) add(topic string, n int32) error {
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	req.Version, req.TransactionalID, req.ProducerID, req.ProducerEpoch = 3, x.id, x.pid, x.epoch
	req.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: topic, Partitions: []int32{n}}}
	resp, err := ask[*kmsg.AddPartitionsToTxnResponse](x.r, req)
	if err != nil {
		return err
	}
	return codeOf(resp.Topics[0].Partitions[0].ErrorCode)
}

// send appends a record, and before v2 adds its partition first.
func (x *tx) send(topic string, n int32, value string) error {
	if !x.v2 {
		if err := x.add(topic, n); err != nil {
			return err
		}
	}
	return x.produce(topic, n, value)
}

func (x *tx) produce(topic string, n int32, value string) error {
	tp := fmt.Sprintf("%s-%d", topic, n)
	meta := batch.Meta{
		ProducerID: x.pid, ProducerEpoch: x.epoch, BaseSequence: x.seq[tp], Transactional: true,
		BaseTimestamp: time.Now().UnixMilli(),
	}
	raw, err := batch.Build(nil, meta, []batch.Record{{Value: []byte(value)}})
	if err != nil {
		return err
	}
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis, req.TransactionID = 11, -1, 5000, &x.id
	if x.v2 {
		req.Version = 12
	}
	req.Topics = []kmsg.ProduceRequestTopic{{
		Topic: topic, Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: n, Records: raw}},
	}}
	resp, err := ask[*kmsg.ProduceResponse](x.r, req)
	if err != nil {
		return err
	}
	if err := codeOf(resp.Topics[0].Partitions[0].ErrorCode); err != nil {
		return err
	}
	x.seq[tp]++
	return nil
}

func (x *tx) end(commit bool) error {
	req := kmsg.NewPtrEndTxnRequest()
	req.Version, req.TransactionalID, req.ProducerID, req.ProducerEpoch, req.Commit = 4, x.id, x.pid, x.epoch, commit
	if x.v2 {
		req.Version = 5
	}
	resp, err := ask[*kmsg.EndTxnResponse](x.r, req)
	if err != nil {
		return err
	}
	if err := codeOf(resp.ErrorCode); err != nil {
		return err
	}
	if x.v2 {
		if resp.ProducerEpoch == x.epoch {
			return fmt.Errorf("the end brought no other epoch than %d", x.epoch)
		}
		x.pid, x.epoch, x.seq = resp.ProducerID, resp.ProducerEpoch, map[string]int32{}
	}
	return nil
}

// decided reads as a read_committed consumer does: what is below the last stable offset, without what the
// list of aborted transactions and the markers say is to be left out.
func (r *rig) decided(topic string, n int32) (values []string, stable, high int64, err error) {
	aborted := map[int64]bool{}
	for at := int64(0); ; {
		req := kmsg.NewPtrFetchRequest()
		req.Version, req.MaxBytes, req.SessionEpoch, req.ReplicaID, req.IsolationLevel = 11, 50<<20, -1, -1, 1
		req.Topics = []kmsg.FetchRequestTopic{{Topic: topic, Partitions: []kmsg.FetchRequestTopicPartition{{
			Partition: n, FetchOffset: at, PartitionMaxBytes: 1 << 20, CurrentLeaderEpoch: -1, LogStartOffset: -1,
		}}}}
		resp, err := ask[*kmsg.FetchResponse](r, req)
		if err != nil {
			return nil, 0, 0, err
		}
		p := &resp.Topics[0].Partitions[0]
		if p.ErrorCode != 0 {
			return nil, 0, 0, kerr.Code(p.ErrorCode)
		}
		starts := p.AbortedTransactions
		slices.SortFunc(starts, func(a, b kmsg.FetchResponseTopicPartitionAbortedTransaction) int {
			return int(a.FirstOffset - b.FirstOffset)
		})
		raw, next := p.RecordBatches, at
		for len(raw) > 0 {
			var v batch.View
			if v, raw, err = batch.Next(raw); err != nil {
				break
			}
			for len(starts) > 0 && starts[0].FirstOffset <= int64(v.LastOffset()) {
				aborted[starts[0].ProducerID] = true
				starts = starts[1:]
			}
			next = int64(v.LastOffset()) + 1
			switch {
			case v.Control():
				aborted[v.ProducerID()] = false
			case !v.Transactional() || !aborted[v.ProducerID()]:
				values = append(values, valuesOf(v)...)
			}
		}
		if next == at || next >= p.LastStableOffset {
			return values, p.LastStableOffset, p.HighWatermark, nil
		}
		at = next
	}
}

func valuesOf(v batch.View) (values []string) {
	recs, err := v.Records(nil)
	if err != nil {
		return []string{err.Error()}
	}
	defer recs.Close()
	var rec batch.Record
	for recs.Next(&rec) {
		values = append(values, string(rec.Value))
	}
	return values
}

// expect holds what read_committed sees against want, and everything to be decided.
func (r *rig) expect(topic string, n int32, want string) {
	r.t.Helper()
	values, stable, high, err := r.decided(topic, n)
	if got := strings.Join(values, " "); err != nil || got != want || stable != high {
		r.t.Errorf("%s-%d: %q up to %d of %d, %v; want %q", topic, n, got, stable, high, err, want)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

func want(t *testing.T, what string, err error, codes ...kerr.Code) {
	t.Helper()
	if !slices.ContainsFunc(codes, func(c kerr.Code) bool { return errors.Is(err, c) }) {
		t.Errorf("%s: %v, want %v", what, err, codes)
	}
}

func eachVersion(t *testing.T, test func(t *testing.T, v2 bool)) {
	t.Run("v1", func(t *testing.T) { test(t, false) })
	t.Run("v2", func(t *testing.T) { test(t, true) })
}

func TestTxn_CommitsAndAborts(t *testing.T) {
	eachVersion(t, func(t *testing.T, v2 bool) {
		r := mustBoot(t, emptyDisk(t))
		defer r.end()
		x := &tx{r: r, id: "x", v2: v2}
		must(t, r.create("a", 2), x.init(time.Minute))
		must(t, x.send("a", 0, "1"), x.send("a", 1, "2"), x.send("a", 0, "3"))
		if values, stable, high, err := r.decided("a", 0); err != nil || len(values) > 0 || stable != 0 || high != 2 {
			t.Errorf("open: %v, stable %d of %d, %v", values, stable, high, err)
		}
		must(t, x.end(true))
		r.expect("a", 0, "1 3")
		r.expect("a", 1, "2")
		must(t, x.send("a", 0, "4"), x.end(false), x.send("a", 0, "5"), x.end(true))
		r.expect("a", 0, "1 3 5")
	})
}

// A second producer of the same transactional id fences the first, whatever that one tries.
func TestTxn_Fences(t *testing.T) {
	eachVersion(t, func(t *testing.T, v2 bool) {
		r := mustBoot(t, emptyDisk(t))
		defer r.end()
		x, y := &tx{r: r, id: "x", v2: v2}, &tx{r: r, id: "x", v2: v2}
		must(t, r.create("a", 2), x.init(time.Minute), x.send("a", 0, "lost"), y.init(time.Minute))
		want(t, "produce", x.produce("a", 0, "z"), kerr.InvalidProducerEpoch)
		want(t, "produce elsewhere", x.produce("a", 1, "z"), kerr.InvalidProducerEpoch)
		want(t, "add", x.add("a", 1), kerr.ProducerFenced)
		want(t, "commit", x.end(true), kerr.ProducerFenced)
		must(t, y.send("a", 0, "kept"), y.end(true))
		r.expect("a", 0, "kept")
		r.expect("a", 1, "")
	})
}

// Without a word from the coordinator nothing opens a transaction on a partition (KIP-890): what comes late
// would leave one that nobody ends.
func TestTxn_VerifiesBeforeTheFirstRecord(t *testing.T) {
	r := mustBoot(t, emptyDisk(t))
	defer r.end()
	x := &tx{r: r, id: "x"}
	must(t, r.create("a", 2), x.init(time.Minute), x.add("a", 0))
	want(t, "never added", x.produce("a", 1, "z"), kerr.TransactionAbortable)
	must(t, x.produce("a", 0, "1"), x.end(true))
	want(t, "late", x.produce("a", 0, "2"), kerr.TransactionAbortable)
	r.expect("a", 0, "1")
}

func TestTxn_TimesOut(t *testing.T) {
	eachVersion(t, func(t *testing.T, v2 bool) {
		r := mustBoot(t, emptyDisk(t), quick)
		defer r.end()
		x := &tx{r: r, id: "x", v2: v2}
		must(t, r.create("a", 1), x.init(50*time.Millisecond), x.send("a", 0, "late"))
		await(t, "the time-out", func() bool {
			_, stable, _, err := r.decided("a", 0)
			return err == nil && stable == 2
		})
		want(t, "produce", x.produce("a", 0, "z"), kerr.InvalidProducerEpoch)
		want(t, "commit", x.end(true), kerr.ProducerFenced, kerr.InvalidTxnState)
		must(t, x.init(time.Minute), x.send("a", 0, "kept"), x.end(true))
		r.expect("a", 0, "kept")
	})
}

// A transaction that is open over a segment's end, over a kill and over a stop goes on, and its abort is found
// wherever one begins to read.
func TestTxn_OpenOverRollsAndRestarts(t *testing.T) {
	eachVersion(t, func(t *testing.T, v2 bool) {
		m := emptyDisk(t)
		f := vfs.NewFaults(m)
		r := mustBoot(t, f)
		x, y := &tx{r: r, id: "x", v2: v2}, &tx{r: r, id: "y", v2: v2}
		must(t, r.create("a", 1, "segment.bytes", "1048576"), x.init(time.Minute), y.init(time.Minute))
		big := strings.Repeat("n", 400<<10)
		must(t, x.send("a", 0, "y1"), y.send("a", 0, big), y.send("a", 0, big), y.send("a", 0, big))
		r.kill(f)
		r = mustBoot(t, m.Kill())
		must(t, x.on(r).send("a", 0, "y2"), y.on(r).send("a", 0, big), y.end(false))
		if values, stable, _, err := r.decided("a", 0); err != nil || stable != 0 || values != nil {
			t.Errorf("open: stable %d, %v, %v", stable, values, err)
		}
		fsys := r.n.fs
		must(t, r.end())
		r = mustBoot(t, fsys)
		defer r.end()
		must(t, x.on(r).send("a", 0, "y3"), x.end(true))
		r.expect("a", 0, "y1 y2 y3")
	})
}

// A topic that is deleted inside of a transaction doesn't keep it from its end, nor does one that never was.
func TestTxn_MarkersForWhatIsGone(t *testing.T) {
	r := mustBoot(t, emptyDisk(t))
	defer r.end()
	x := &tx{r: r, id: "x", v2: true}
	must(t, r.create("a", 1), r.create("b", 1), x.init(time.Minute), x.send("a", 0, "1"), x.send("b", 0, "2"))
	must(t, r.drop("b"), x.end(true), x.send("a", 0, "3"), x.end(true))
	r.expect("a", 0, "1 3")
	want(t, "add", x.add("b", 0), kerr.UnknownTopicOrPartition)
	req := kmsg.NewPtrWriteTxnMarkersRequest()
	req.Version = 2
	marker := kmsg.WriteTxnMarkersRequestMarker{ProducerID: x.pid, ProducerEpoch: x.epoch, CoordinatorEpoch: -5}
	marker.Topics = []kmsg.WriteTxnMarkersRequestMarkerTopic{{Topic: "b", Partitions: []int32{0}}, {Topic: "a", Partitions: []int32{0, 7}}}
	req.Markers = append(req.Markers, marker)
	resp, err := ask[*kmsg.WriteTxnMarkersResponse](r, req)
	must(t, err)
	topics := resp.Markers[0].Topics
	want(t, "no topic", codeOf(topics[0].Partitions[0].ErrorCode), kerr.UnknownTopicOrPartition)
	want(t, "an old coordinator", codeOf(topics[1].Partitions[0].ErrorCode), kerr.TransactionCoordinatorFenced)
	want(t, "no partition", codeOf(topics[1].Partitions[1].ErrorCode), kerr.UnknownTopicOrPartition)
}

// Offsets count when their transaction is committed; meanwhile a careful reader hears that they are unstable.
func TestTxn_Offsets(t *testing.T) {
	eachVersion(t, func(t *testing.T, v2 bool) {
		r := mustBoot(t, emptyDisk(t))
		defer r.end()
		x := &tx{r: r, id: "x", v2: v2}
		must(t, r.create("a", 1), x.init(time.Minute), r.findGroup("g"))
		must(t, x.commitOffset("g", 5))
		want(t, "unstable", r.offset("g", 0), kerr.UnstableOffsetCommit)
		must(t, x.end(true), r.offset("g", 5))
		must(t, x.commitOffset("g", 9), x.end(false), r.offset("g", 5))
		must(t, x.commitOffset("g", 11))
		y := &tx{r: r, id: "x", v2: v2}
		must(t, y.init(time.Minute), r.offset("g", 5))
		want(t, "fenced", x.commitOffset("g", 12), kerr.InvalidProducerEpoch, kerr.ProducerFenced)
	})
}

func (r *rig) findGroup(id string) error {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.Version, req.CoordinatorKeys = 4, []string{id}
	resp, err := ask[*kmsg.FindCoordinatorResponse](r, req)
	if err == nil {
		err = codeOf(resp.Coordinators[0].ErrorCode)
	}
	return err
}

func (x *tx) commitOffset(group string, at int64) error {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.Version, req.TransactionalID, req.Group, req.Generation = 5, x.id, group, -1
	req.ProducerID, req.ProducerEpoch = x.pid, x.epoch
	if !x.v2 {
		req.Version = 4
		add := kmsg.NewPtrAddOffsetsToTxnRequest()
		add.Version, add.TransactionalID, add.Group, add.ProducerID, add.ProducerEpoch = 4, x.id, group, x.pid, x.epoch
		resp, err := ask[*kmsg.AddOffsetsToTxnResponse](x.r, add)
		if err != nil {
			return err
		}
		if err := codeOf(resp.ErrorCode); err != nil {
			return err
		}
	}
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{
		Topic: "a", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Offset: at, LeaderEpoch: -1}},
	}}
	resp, err := ask[*kmsg.TxnOffsetCommitResponse](x.r, req)
	if err != nil {
		return err
	}
	return codeOf(resp.Topics[0].Partitions[0].ErrorCode)
}

// offset is an error unless the group's committed offset is at.
func (r *rig) offset(group string, at int64) error {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Version, req.RequireStable = 8, true
	req.Groups = []kmsg.OffsetFetchRequestGroup{{
		Group: group, Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "a", Partitions: []int32{0}}},
	}}
	resp, err := ask[*kmsg.OffsetFetchResponse](r, req)
	if err != nil {
		return err
	}
	p := &resp.Groups[0].Topics[0].Partitions[0]
	if p.ErrorCode == 0 && p.Offset != at {
		return fmt.Errorf("offset %d, want %d", p.Offset, at)
	}
	return codeOf(p.ErrorCode)
}

// A torn end of __transaction_state is cut; what was decided before is carried out.
func TestTxn_TornStateLog(t *testing.T) {
	m := emptyDisk(t)
	f := vfs.NewFaults(m)
	r := mustBoot(t, f, "transaction.state.log.num.partitions=1")
	x := &tx{r: r, id: "x", v2: true}
	must(t, r.create("a", 1), x.init(time.Minute), x.send("a", 0, "1"), x.end(true), x.send("a", 0, "2"))
	r.kill(f)
	m = m.Crash(0)
	for _, d := range []string{"/a", "/b", "/c"} {
		name := d + "/__transaction_state-0/00000000000000000000.log"
		info, err := m.Stat(name)
		if err != nil {
			continue
		}
		file, err := m.OpenFile(name, 2, 0)
		must(t, err)
		_, err = file.WriteAt([]byte(strings.Repeat("torn", 30)), info.Size())
		must(t, err)
	}
	r = mustBoot(t, m)
	defer r.end()
	must(t, x.on(r).init(time.Minute), x.send("a", 0, "3"), x.end(true))
	values, stable, high, err := r.decided("a", 0)
	must(t, err)
	if last := values[len(values)-1]; last != "3" || stable != high {
		t.Errorf("read %v, stable %d of %d", values, stable, high)
	}
}

// A node that is killed at any file operation of transactions over two partitions and a group's offsets comes
// back with each of them whole or not at all, and those whose end it acknowledged as it said.
func TestTxn_KilledAnywhere(t *testing.T) {
	f := vfs.NewFaults(emptyDisk(t))
	r := mustBoot(t, f)
	before := f.Ops()
	if _, err := transact(r); err != nil {
		t.Fatal(err)
	}
	total := f.Ops() - before
	r.kill(f)
	step := max(total/(16*thorough()), 1)
	for n := 0; n < total+step; n += step {
		killTxnAt(t, n)
	}
	t.Logf("%d operations, every %d", total, step)
}

func killTxnAt(t *testing.T, n int) {
	t.Helper()
	m := emptyDisk(t)
	f := vfs.NewFaults(m)
	r := mustBoot(t, f)
	f.HaltAfter(n)
	done, _ := transact(r)
	r.kill(f)
	r, err := boot(t, m.Kill())
	if err != nil {
		t.Fatalf("operation %d: %v\n%s", n, err, r.log)
	}
	defer r.end()
	if len(done) == 0 {
		return
	}
	x := &tx{r: r, id: "x", v2: true}
	must(t, x.init(time.Minute)) // what was open is aborted
	seen := map[string]int{}
	for p := range int32(2) {
		values, stable, high, err := r.decided("a", p)
		if err != nil || stable != high {
			t.Errorf("operation %d: a-%d stable up to %d of %d, %v", n, p, stable, high, err)
		}
		for _, v := range values {
			seen[v]++
		}
	}
	for _, v := range slices.Sorted(maps.Keys(done)) {
		outcome := done[v]
		if got := seen[v]; got == 1 || got > 2 || outcome == "commit" && got != 2 || outcome == "abort" && got != 0 {
			t.Errorf("operation %d: %q of 2 records seen %d times after %q", n, v, got, outcome)
		}
	}
}

// transact runs some transactions of two records with the same value, and tells how each ended as far as it
// was told: "commit", "abort" or "?".
func transact(r *rig) (map[string]string, error) {
	done := map[string]string{}
	x := &tx{r: r, id: "x", v2: true}
	if err := r.create("a", 2); err != nil {
		return done, err
	}
	if err := x.init(time.Minute); err != nil {
		return done, err
	}
	for i := range 8 {
		v := fmt.Sprint("v", i)
		done[v] = "?"
		for p := range int32(2) {
			if err := x.send("a", p, v); err != nil {
				return done, err
			}
		}
		if err := x.end(i%3 != 2); err != nil {
			return done, err
		}
		done[v] = map[bool]string{true: "commit", false: "abort"}[i%3 != 2]
	}
	return done, nil
}
