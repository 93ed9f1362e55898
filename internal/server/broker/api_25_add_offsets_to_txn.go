package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/txn"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/wire"
)

// serveAddOffsetsToTxn adds the partition that a group's offsets are in.
func (b *Broker) serveAddOffsetsToTxn(r *wire.Request) {
	req := kmsg.NewPtrAddOffsetsToTxnRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrAddOffsetsToTxnResponse()
	n := partitionsOf(b.Image(), offsetsTopic)
	if n == 0 {
		resp.ErrorCode = int16(kerr.CoordinatorNotAvailable)
		r.Reply(resp)
		return
	}
	in := &txn.Add{
		ID: req.TransactionalID, ProducerID: req.ProducerID, Epoch: req.ProducerEpoch,
		Topics: []record.TxnTopic{{Topic: offsetsTopic, Partitions: []int32{record.Coordinator(req.Group, n)}}},
	}
	b.addPartitions(in, func(codes func(string, int32) kerr.Code) {
		resp.ErrorCode = int16(oldFenced(codes(offsetsTopic, in.Topics[0].Partitions[0]), r.Version < 2))
		r.Reply(resp)
	})
}
