package coordinator

import (
	"time"

	"github.com/kalda/kalda/internal/core/txn"
	"github.com/kalda/kalda/internal/format/batch"
)

// Outbox is what a transaction coordinator needs of its node. The methods don't block, and answer through
// Submit.
type Outbox interface {
	// WriteMarkers writes m to all its partitions, however long it takes; then comes txn.MarkersDone.
	WriteMarkers(m *txn.Markers)
	// NeedID has txn.GotID come for a transactional id.
	NeedID(id string)
}

// Transactions is the runtime of __transaction_state.
type Transactions struct {
	*Runtime[txn.Input, txn.Output]
	out Outbox
}

// NewTransactions makes the transaction coordinator. Attach comes before it leads anything.
func NewTransactions(cfg Config, txns txn.Config) *Transactions {
	cfg.Name, cfg.Sequence, cfg.Codec = "__transaction_state", -1, batch.None
	cfg.fill()
	txns.Warn = cfg.Log.Warn
	t := &Transactions{}
	t.Runtime = New(cfg, func() Core[txn.Input, txn.Output] { return &txnCore{txn.New(txns), t} })
	return t
}

// Attach says where markers and wishes for producer ids go.
func (t *Transactions) Attach(out Outbox) { t.out = out }

// txnCore fits the pure core to the runtime.
type txnCore struct {
	*txn.Core
	t *Transactions
}

func (c *txnCore) Step(now time.Time, ref uint64, in txn.Input) { c.Core.Step(now, txn.Ref(ref), in) }

func (c *txnCore) Drain() Effects[txn.Output] {
	e := c.Core.Drain()
	out := Effects[txn.Output]{Append: e.Append}
	for i := range e.Send {
		m := &e.Send[i]
		out.Then = append(out.Then, func() { c.t.out.WriteMarkers(m) })
	}
	for _, id := range e.NeedIDs {
		c.t.out.NeedID(id)
	}
	for _, r := range e.Replies {
		out.Replies = append(out.Replies, Reply[txn.Output]{uint64(r.Ref), r.Out})
	}
	return out
}
