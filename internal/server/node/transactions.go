package node

import (
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/core/txn"
	"github.com/kalda/kalda/internal/server/broker"
	"github.com/kalda/kalda/internal/server/coordinator"
)

// transactions lends the coordinator to the broker, as groups does.
type transactions struct{ *coordinator.Transactions }

// Lead implements broker.Transactions.
func (t transactions) Lead(partition, epoch int32, p *broker.Partition) {
	t.Transactions.Lead(partition, epoch, p)
}

func (n *Node) buildTransactions() transactions {
	c := n.cfg
	cfg := coordinator.Config{
		LoadBuffer: c.Int("transaction.state.log.load.buffer.size"),
		MaxBatch:   c.Int("message.max.bytes"),
		Log:        n.logs.Named("transaction-coordinator"),
	}
	t := txn.Defaults()
	t.MaxTimeout = millis(c.Scope, "transaction.max.timeout.ms")
	t.AbortEvery = millis(c.Scope, "transaction.abort.timed.out.transaction.cleanup.interval.ms")
	t.ExpireEvery = millis(c.Scope, "transaction.remove.expired.transaction.cleanup.interval.ms")
	t.Expiration = millis(c.Scope, "transactional.id.expiration.ms")
	t.Level = func() int16 { return n.image.Load().Feature(meta.FeatureTransaction) }
	return transactions{coordinator.NewTransactions(cfg, t)}
}
