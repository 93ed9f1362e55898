package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/txn"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// endBumps is the version from which on the end of a transaction brings another epoch (KIP-890).
const endBumps = 5

func (b *Broker) serveEndTxn(r *wire.Request) {
	req := kmsg.NewPtrEndTxnRequest()
	if !r.Decode(req) {
		return
	}
	reply := func(out *txn.Ended) {
		resp := kmsg.NewPtrEndTxnResponse()
		resp.ErrorCode = int16(oldFenced(out.Code, r.Version < 2))
		resp.ProducerID, resp.ProducerEpoch = out.ProducerID, out.Epoch
		r.Reply(resp)
	}
	in := &txn.End{
		ID: req.TransactionalID, ProducerID: req.ProducerID, Epoch: req.ProducerEpoch, Commit: req.Commit,
	}
	if r.Version >= endBumps {
		in.Client = 2
	}
	if in.ID == "" {
		reply(in.Reject(kerr.InvalidRequest).(*txn.Ended))
		return
	}
	transact(b, in.ID, in, reply)
}
