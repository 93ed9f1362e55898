package broker

import (
	"slices"

	"github.com/kalda/kalda/internal/core/txn"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/wire"
)

// txnAPIs are the rows about coordinators and transactions.
func (b *Broker) txnAPIs() (apis []wire.API) {
	if b.cfg.Groups != nil || b.cfg.Transactions != nil {
		apis = append(apis, wire.API{Key: 10, Min: 0, Max: 6, Serve: b.serveFindCoordinator})
	}
	if b.cfg.Transactions == nil || b.cfg.Groups == nil {
		return apis
	}
	return append(apis,
		wire.API{Key: 24, Min: 0, Max: 5, Serve: b.serveAddPartitionsToTxn},
		wire.API{Key: 25, Min: 0, Max: 4, Serve: b.serveAddOffsetsToTxn},
		wire.API{Key: 26, Min: 0, Max: 5, Serve: b.serveEndTxn},
		wire.API{Key: 27, Min: 1, Max: 2, Serve: b.serveWriteTxnMarkers},
		wire.API{Key: 28, Min: 0, Max: 6, Serve: b.serveTxnOffsetCommit},
	)
}

// transact gives in to the shard of a transactional id. T is the kind of reply that in has.
func transact[T txn.Output](b *Broker, id string, in txn.Input, reply func(T)) {
	n := partitionsOf(b.Image(), transactionsTopic)
	if n == 0 {
		reply(in.Reject(kerr.NotCoordinator).(T))
		return
	}
	b.cfg.Transactions.Submit(record.Coordinator(id, n), in, func(out txn.Output) { reply(out.(T)) })
}

// NeedID gets a producer id for a transactional id. It is part of coordinator.Outbox.
func (b *Broker) NeedID(id string) {
	b.ids.take(func(producer int64, code kerr.Code) {
		if code == kerr.None {
			b.m.ProducerIDs.Inc()
		}
		transact(b, id, &txn.GotID{ID: id, ProducerID: producer, Code: code}, func(*txn.Done) {})
	})
}

// oldFenced is code as versions from before PRODUCER_FENCED tell it.
func oldFenced(code kerr.Code, old bool) kerr.Code {
	if code == kerr.ProducerFenced && old {
		return kerr.InvalidProducerEpoch
	}
	return code
}

// unknownPartitions are those of topics that don't exist.
func (b *Broker) unknownPartitions(topics []record.TxnTopic) (unknown []record.TxnTopic) {
	img := b.Image()
	for _, t := range topics {
		w := find(img, false, t.Topic, noID)
		u := record.TxnTopic{Topic: t.Topic}
		for _, p := range t.Partitions {
			if w.has(p) != kerr.None {
				u.Partitions = append(u.Partitions, p)
			}
		}
		if u.Partitions != nil {
			unknown = append(unknown, u)
		}
	}
	return unknown
}

func holds(topics []record.TxnTopic, topic string, partition int32) bool {
	return slices.ContainsFunc(topics, func(t record.TxnTopic) bool {
		return t.Topic == topic && slices.Contains(t.Partitions, partition)
	})
}
