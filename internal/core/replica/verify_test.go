package replica

import (
	"math"
	"testing"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// A guard is good for the first batch of a transaction, and for nothing after a marker.
func TestProducers_Guards(t *testing.T) {
	p := NewProducers(0)
	first := made(t, 1, 0, 0, 1, 0, inTxn)
	if got := p.Check(first, 0); got.Code != kerr.InvalidTxnState {
		t.Errorf("unverified: %v", got.Code)
	}
	g, needed := p.Verify(1, 0, 0)
	if again, still := p.Verify(1, 0, 0); !needed || !still || again != g {
		t.Errorf("guards %d and %d, needed %v and %v", g, again, needed, still)
	}
	if got := p.Check(first, g); got.Code != kerr.None {
		t.Errorf("verified: %v", got.Code)
	}
	p.Append(first)
	if _, needed := p.Verify(1, 0, 0); needed {
		t.Error("an open transaction is to be verified")
	}
	p.Append(made(t, 1, 1, abort, 1, 1, marker))
	late := made(t, 1, 1, 0, 1, 2, inTxn)
	if got := p.Check(late, g); got.Code != kerr.InvalidTxnState {
		t.Errorf("an old guard: %v", got.Code)
	}
	g, _ = p.Verify(1, 1, 0)
	p.Append(made(t, 1, 1, commit, 1, 2, marker))
	if got := p.Check(late, g); got.Code != kerr.InvalidTxnState {
		t.Errorf("a guard that a marker crossed: %v", got.Code)
	}
	g, _ = p.Verify(1, 1, 0)
	p.Unverified(1, g+1)
	if got := p.Check(late, g); got.Code != kerr.None {
		t.Errorf("another's failure took the guard: %v", got.Code)
	}
	p.Unverified(1, g)
	if got := p.Check(late, g); got.Code != kerr.InvalidTxnState {
		t.Errorf("a failed verification: %v", got.Code)
	}
	if got := p.Check(late, Trusted); got.Code != kerr.None {
		t.Errorf("without verification: %v", got.Code)
	}
	p.Verify(5, 0, 0)
	if p.Expire(100, 10); len(p.guards) != 0 {
		t.Errorf("%d guards left", len(p.guards))
	}
}

func TestProducers_Markers(t *testing.T) {
	p := NewProducers(0)
	if got := p.CheckMarker(1, 0, 0, 2); got != kerr.None {
		t.Errorf("of an unknown producer: %v", got)
	}
	p.Append(made(t, 1, 4, 0, 1, 0, inTxn))
	for _, c := range []struct {
		what    string
		epoch   int16
		version int8
		want    kerr.Code
	}{
		{"older", 3, 0, kerr.InvalidProducerEpoch},
		{"older", 3, 2, kerr.InvalidProducerEpoch},
		{"equal", 4, 0, kerr.None},
		{"equal, where it must be greater", 4, 2, kerr.InvalidProducerEpoch},
		{"greater", 5, 2, kerr.None},
		{"the last of all", math.MaxInt16, 2, kerr.None},
	} {
		if got := p.CheckMarker(1, c.epoch, 0, c.version); got != c.want {
			t.Errorf("%s, transaction.version %d: %v, want %v", c.what, c.version, got, c.want)
		}
	}
	p.Append(made(t, 1, 5, commit, 1, 1, marker))
	if got := p.CheckMarker(1, 5, 100, 2); got != kerr.None {
		t.Errorf("the same again: %v", got)
	}
	if got := p.CheckMarker(1, 5, -1, 2); got != kerr.TransactionCoordinatorFenced {
		t.Errorf("of an older coordinator: %v", got)
	}
	if all := p.Active(); len(all) != 1 || all[0].Epoch != 5 || all[0].TxnFirstOffset != -1 {
		t.Errorf("producers %+v", all)
	}
}

// A coordinator's own batches have no sequences.
func TestProducers_CheckOwn(t *testing.T) {
	p := NewProducers(0)
	g, _ := p.Verify(1, 2, 0)
	v := made(t, 1, 2, 0, 1, 0, inTxn)
	for what, c := range map[string]struct {
		v    batch.View
		g    Guard
		want kerr.Code
	}{
		"plain":      {made(t, -1, -1, 0, 1, 0), 0, kerr.None},
		"verified":   {v, g, kerr.None},
		"unverified": {v, 0, kerr.InvalidTxnState},
	} {
		if got := p.CheckOwn(c.v, c.g); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	p.Append(v)
	if got := p.CheckOwn(v, 0); got != kerr.None {
		t.Errorf("the next of the transaction: %v", got)
	}
	if got := p.CheckOwn(made(t, 1, 1, 0, 1, 0, inTxn), Trusted); got != kerr.InvalidProducerEpoch {
		t.Errorf("of an older epoch: %v", got)
	}
}
