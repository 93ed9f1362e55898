package broker

import (
	"time"

	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/core/txn"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// verification asks a transaction's coordinator about partitions that something is to be appended to
// (KIP-890): whether they are part of it or, since transaction.version 2, to make them part of it.
type verification struct {
	id       string
	producer int64
	epoch    int16
	add      bool
	parts    []unverified
}

// unverified is one of its partitions, with the guard that becomes good.
type unverified struct {
	p     *Partition
	guard replica.Guard
}

// verify asks, and calls done once with a code for each partition, on any goroutine. Partitions that failed
// have no guard any more.
func (b *Broker) verify(v *verification, done func([]kerr.Code)) {
	in := &txn.Add{ID: v.id, ProducerID: v.producer, Epoch: v.epoch, VerifyOnly: !v.add}
	if v.add {
		in.Client = 2
	}
	for _, u := range v.parts {
		in.Topics = append(in.Topics, record.TxnTopic{Topic: u.p.topic, Partitions: []int32{u.p.n}})
	}
	until := time.Now().Add(b.cfg.TxnRetryMax)
	var ask func()
	ask = func() {
		b.addPartitions(in, func(codes func(string, int32) kerr.Code) {
			out := make([]kerr.Code, len(v.parts))
			for i, u := range v.parts {
				out[i] = codes(u.p.topic, u.p.n)
			}
			if v.add && out[0] == kerr.ConcurrentTransactions && time.Now().Before(until) {
				time.AfterFunc(b.cfg.TxnRetry, ask) // the last transaction is completing
				return
			}
			for i, u := range v.parts {
				if out[i] != kerr.None {
					out[i] = verifyCode(out[i])
					u.p.unverified(v.producer, u.guard)
				}
			}
			done(out)
		})
	}
	ask()
}

// verifyCode is what the coordinator's code means to a producer: all that it can do about most is to try
// again, without looking for another leader.
func verifyCode(code kerr.Code) kerr.Code {
	switch code {
	case kerr.ConcurrentTransactions, kerr.NetworkException, kerr.CoordinatorLoadInProgress,
		kerr.CoordinatorNotAvailable, kerr.NotCoordinator:
		return kerr.NotEnoughReplicas
	case kerr.ProducerFenced:
		return kerr.InvalidProducerEpoch
	}
	return code
}
