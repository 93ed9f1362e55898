package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/txn"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/wire"
)

// batchedAdds is the version from which on a request is a broker's, for several transactions.
const batchedAdds = 4

func (b *Broker) serveAddPartitionsToTxn(r *wire.Request) {
	req := kmsg.NewPtrAddPartitionsToTxnRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrAddPartitionsToTxnResponse()
	if r.Version >= batchedAdds {
		b.addBatch(req, resp, func() { r.Reply(resp) })
		return
	}
	in := &txn.Add{ID: req.TransactionalID, ProducerID: req.ProducerID, Epoch: req.ProducerEpoch}
	for _, t := range req.Topics {
		in.Topics = append(in.Topics, record.TxnTopic{Topic: t.Topic, Partitions: t.Partitions})
	}
	b.addPartitions(in, func(codes func(string, int32) kerr.Code) {
		for _, t := range req.Topics {
			x := kmsg.NewAddPartitionsToTxnResponseTopic()
			x.Topic = t.Topic
			for _, p := range t.Partitions {
				code := oldFenced(codes(t.Topic, p), r.Version < 2)
				x.Partitions = append(x.Partitions, kmsg.AddPartitionsToTxnResponseTopicPartition{
					Partition: p, ErrorCode: int16(code),
				})
			}
			resp.Topics = append(resp.Topics, x)
		}
		r.Reply(resp)
	})
}

func (b *Broker) addBatch(
	req *kmsg.AddPartitionsToTxnRequest, resp *kmsg.AddPartitionsToTxnResponse, done func(),
) {
	resp.Transactions = make([]kmsg.AddPartitionsToTxnResponseTransaction, len(req.Transactions))
	part := gather(len(req.Transactions), done)
	for i := range req.Transactions {
		t, out := &req.Transactions[i], &resp.Transactions[i]
		out.TransactionalID = t.TransactionalID
		in := &txn.Add{
			ID: t.TransactionalID, ProducerID: t.ProducerID, Epoch: t.ProducerEpoch, VerifyOnly: t.VerifyOnly,
			Client: 2,
		}
		for _, topic := range t.Topics {
			in.Topics = append(in.Topics, record.TxnTopic{Topic: topic.Topic, Partitions: topic.Partitions})
		}
		b.addPartitions(in, func(codes func(string, int32) kerr.Code) {
			for _, topic := range t.Topics {
				x := kmsg.NewAddPartitionsToTxnResponseTransactionTopic()
				x.Topic = topic.Topic
				for _, p := range topic.Partitions {
					y := kmsg.NewAddPartitionsToTxnResponseTransactionTopicPartition()
					y.Partition, y.ErrorCode = p, int16(codes(topic.Topic, p))
					x.Partitions = append(x.Partitions, y)
				}
				out.Topics = append(out.Topics, x)
			}
			part()
		})
	}
}

// addPartitions adds all of in's partitions or, if there is one that doesn't exist, none (broker.md 7.3).
func (b *Broker) addPartitions(in *txn.Add, reply func(codes func(topic string, partition int32) kerr.Code)) {
	if in.ID == "" {
		reply(func(string, int32) kerr.Code { return kerr.InvalidRequest })
		return
	}
	if unknown := b.unknownPartitions(in.Topics); unknown != nil {
		reply(func(topic string, partition int32) kerr.Code {
			if holds(unknown, topic, partition) {
				return kerr.UnknownTopicOrPartition
			}
			return kerr.OperationNotAttempted
		})
		return
	}
	transact(b, in.ID, in, func(out *txn.Added) {
		reply(func(topic string, partition int32) kerr.Code {
			if out.Code == kerr.None && holds(out.Missing, topic, partition) {
				return kerr.TransactionAbortable
			}
			return out.Code
		})
	})
}
