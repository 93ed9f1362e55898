package replica

import (
	"math"
	"testing"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// made is a batch of n records of producer id at an offset.
func made(
	t *testing.T, id int64, epoch int16, seq int32, n int, at batch.Offset, opts ...func(*batch.Meta),
) batch.View {
	t.Helper()
	m := batch.NoProducer(at, 1, 1000+int64(at))
	m.ProducerID, m.ProducerEpoch, m.BaseSequence = id, epoch, seq
	for _, o := range opts {
		o(&m)
	}
	recs := make([]batch.Record, n)
	for i := range recs {
		recs[i] = batch.Record{OffsetDelta: int32(i), Value: []byte("v")}
	}
	if m.Control {
		recs = []batch.Record{{Key: []byte{0, 0, 0, byte(seq)}, Value: []byte{0, 0, 0, 0, 0, 7}}}
		m.BaseSequence = -1
	}
	b, err := batch.Build(nil, m, recs)
	if err != nil {
		t.Fatal(err)
	}
	return batch.View(b)
}

func inTxn(m *batch.Meta)  { m.Transactional = true }
func marker(m *batch.Meta) { m.Transactional, m.Control = true, true }

const (
	abort  = 0
	commit = 1
)

func TestProducers_CheckFollowsSequences(t *testing.T) {
	p := NewProducers(0)
	p.Append(made(t, 9, 0, 0, 10, 0))
	p.Append(made(t, 9, 0, 10, 1, 10))
	for _, c := range []struct {
		name  string
		epoch int16
		seq   int32
		n     int
		want  kerr.Code
	}{
		{"the next sequence", 0, 11, 3, kerr.None},
		{"a gap", 0, 12, 3, kerr.OutOfOrderSequenceNumber},
		{"a part of what is there", 0, 5, 3, kerr.OutOfOrderSequenceNumber},
		{"an older epoch", -1, 11, 1, kerr.InvalidProducerEpoch},
		{"a newer epoch from zero", 1, 0, 1, kerr.None},
		{"a newer epoch not from zero", 1, 11, 1, kerr.OutOfOrderSequenceNumber},
	} {
		if got := p.Check(made(t, 9, c.epoch, c.seq, c.n, 0), 0); got.Code != c.want || got.Duplicate {
			t.Errorf("%s: %+v, want %v", c.name, got, c.want)
		}
	}
	if got := p.Check(made(t, 10, 3, 77, 1, 0), 0); got.Code != kerr.None {
		t.Errorf("an unknown producer may start anywhere: %v", got.Code)
	}
	if got := p.Check(made(t, -1, -1, -1, 1, 0), 0); got.Code != kerr.None || got.Duplicate {
		t.Errorf("a batch without producer: %+v", got)
	}
}

func TestProducers_RecognisesTheLastFiveBatches(t *testing.T) {
	p := NewProducers(0)
	for i := range int32(7) {
		p.Append(made(t, 4, 2, 2*i, 2, batch.Offset(100+2*i)))
	}
	for i := range int32(7) {
		got := p.Check(made(t, 4, 2, 2*i, 2, 0), 0)
		if i < 2 {
			if got.Duplicate || got.Code != kerr.OutOfOrderSequenceNumber {
				t.Errorf("batch %d has left the window: %+v", i, got)
			}
			continue
		}
		if !got.Duplicate || got.Base != batch.Offset(100+2*i) || got.Timestamp != 1100+int64(2*i) {
			t.Errorf("batch %d: %+v", i, got)
		}
	}
}

func TestProducers_SequencesWrap(t *testing.T) {
	p := NewProducers(0)
	p.Append(made(t, 4, 0, math.MaxInt32-1, 4, 0)) // ends at 1
	if got := p.Check(made(t, 4, 0, 2, 1, 0), 0); got.Code != kerr.None {
		t.Errorf("after the wrap: %v", got.Code)
	}
	if got := p.Check(made(t, 4, 0, math.MaxInt32-1, 4, 0), 0); !got.Duplicate || got.Base != 0 {
		t.Errorf("the batch that wraps, again: %+v", got)
	}
}

func TestProducers_SnapshotKeepsTheLastBatch(t *testing.T) {
	p := NewProducers(0)
	p.Append(made(t, 4, 2, 0, 5, 0))
	p.Append(made(t, 4, 2, 5, 5, 5))
	p.Append(made(t, 6, 0, 0, 1, 10, inTxn))
	q := NewProducers(0)
	if err := q.Load(p.Snapshot()); err != nil {
		t.Fatal(err)
	}
	if got := q.Check(made(t, 4, 2, 5, 5, 0), 0); !got.Duplicate || got.Base != 5 {
		t.Errorf("the last batch: %+v", got)
	}
	if got := q.Check(made(t, 4, 2, 0, 5, 0), 0); got.Code != kerr.OutOfOrderSequenceNumber {
		t.Errorf("the one before: %+v", got)
	}
	if got := q.LastStable(11, 0); got != 10 {
		t.Errorf("last stable offset %d, want the open transaction's 10", got)
	}
	if string(q.Snapshot()) != string(p.Snapshot()) {
		t.Error("a snapshot of what a snapshot loaded differs")
	}
}

func TestProducers_LastStableWaitsForTheMarker(t *testing.T) {
	p := NewProducers(0)
	p.Append(made(t, 1, 0, 0, 10, 0, inTxn))
	p.Append(made(t, 2, 0, 0, 10, 10, inTxn))
	if a := p.Append(made(t, 1, 0, abort, 1, 20, marker)); a == nil || *a != (Aborted{1, 0, 20, 10}) {
		t.Errorf("aborted: %+v", a)
	}
	if got := p.LastStable(20, 0); got != 0 {
		t.Errorf("marker not replicated: %d, want 0", got)
	}
	if got := p.LastStable(21, 0); got != 10 {
		t.Errorf("marker replicated: %d, want 10", got)
	}
	if a := p.Append(made(t, 2, 0, commit, 1, 21, marker)); a != nil {
		t.Errorf("a commit is no abort: %+v", a)
	}
	if got := p.LastStable(22, 0); got != 22 {
		t.Errorf("nothing open: %d, want 22", got)
	}
	if got := p.Check(made(t, 1, 0, 10, 1, 0, inTxn), 0); got.Code != kerr.InvalidTxnState {
		t.Errorf("a transactional batch out of the blue: %v", got.Code)
	}
}

func TestProducers_BoundForgetsTheLongestIdle(t *testing.T) {
	p := NewProducers(2)
	p.Append(made(t, 1, 0, 0, 1, 0, inTxn))
	p.Append(made(t, 2, 0, 0, 1, 1))
	p.Append(made(t, 3, 0, 0, 1, 2))
	if p.Len() != 2 || p.byID[1] == nil || p.byID[3] == nil {
		t.Errorf("kept %v, want 1 (in a transaction) and 3", p.byID)
	}
	p.Expire(1_000_000, 10)
	if p.Len() != 1 || p.byID[1] == nil {
		t.Errorf("expiry left %d, want the one in a transaction", p.Len())
	}
}

func TestProducers_CheckAndAppendAllocateNothing(t *testing.T) {
	p := NewProducers(0)
	v := made(t, 1, 0, 0, 1, 0)
	p.Append(v)
	if n := testing.AllocsPerRun(100, func() { p.Check(v, 0); p.Append(v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzProducers_Load(f *testing.F) {
	p := NewProducers(0)
	f.Add(p.Snapshot())
	f.Fuzz(func(t *testing.T, b []byte) {
		p := NewProducers(0)
		if err := p.Load(b); err != nil && p.Len() != 0 {
			t.Error("a refused snapshot left producers behind")
		}
	})
}
