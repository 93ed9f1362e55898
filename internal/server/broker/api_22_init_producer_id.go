package broker

import (
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/txn"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveInitProducerID(r *wire.Request) {
	req := kmsg.NewPtrInitProducerIDRequest()
	if !r.Decode(req) {
		return
	}
	reply := func(id int64, epoch int16, code kerr.Code) {
		resp := kmsg.NewPtrInitProducerIDResponse()
		resp.ProducerID, resp.ProducerEpoch, resp.ErrorCode = id, epoch, int16(code)
		r.Reply(resp)
	}
	switch {
	case req.TransactionalID != nil && *req.TransactionalID == "":
		reply(-1, -1, kerr.InvalidRequest)
	case (req.ProducerID == -1) != (req.ProducerEpoch == -1):
		reply(-1, -1, kerr.InvalidRequest)
	case req.TransactionalID != nil:
		in := &txn.Init{
			ID: *req.TransactionalID, Timeout: time.Duration(req.TransactionTimeoutMillis) * time.Millisecond,
			ProducerID: req.ProducerID, Epoch: req.ProducerEpoch,
		}
		b.initTransactional(in, func(out *txn.Inited) {
			reply(out.ProducerID, out.Epoch, oldFenced(out.Code, r.Version < 4))
		})
	default:
		b.ids.take(func(id int64, code kerr.Code) {
			if code != kerr.None {
				reply(-1, -1, code)
				return
			}
			b.m.ProducerIDs.Inc()
			reply(id, 0, kerr.None)
		})
	}
}

// initTransactional asks the coordinator of the transactional id.
func (b *Broker) initTransactional(in *txn.Init, reply func(*txn.Inited)) {
	if b.cfg.Transactions == nil {
		// Nobody ever will coordinate here: refuse with what producers take as final.
		reply(&txn.Inited{Code: kerr.TransactionalIDAuthorizationFailed, ProducerID: -1, Epoch: -1})
		return
	}
	transact(b, in.ID, in, reply)
}

// producerIDs gives out the ids of blocks that the controller gave this broker. The rest of a block is lost
// with a restart, so no id is ever given twice.
type producerIDs struct {
	b *Broker

	mu         sync.Mutex
	next, end  int64 // the block in use
	after      int64 // start of the block that follows, and its end; equal: none
	afterEnd   int64
	asking     bool
	waiting    []waitingID
	retryAfter time.Duration
}

type waitingID struct {
	since time.Time
	give  func(int64, kerr.Code)
}

// maxWaiting bounds those who wait for a block.
const maxWaiting = 10000

// take calls give once: now if there is an id, else when a block has come.
func (p *producerIDs) take(give func(int64, kerr.Code)) {
	p.mu.Lock()
	id, ok := p.pop()
	if !ok {
		if len(p.waiting) >= maxWaiting {
			p.mu.Unlock()
			give(-1, kerr.CoordinatorLoadInProgress)
			return
		}
		p.waiting = append(p.waiting, waitingID{time.Now(), give})
	}
	ask := p.wantsMore() && !p.asking
	p.asking = p.asking || ask
	p.mu.Unlock()
	if ok {
		give(id, kerr.None)
	}
	if ask {
		p.ask()
	}
}

func (p *producerIDs) pop() (int64, bool) {
	if p.next == p.end {
		p.next, p.end, p.after, p.afterEnd = p.after, p.afterEnd, 0, 0
	}
	if p.next == p.end {
		return 0, false
	}
	p.next++
	return p.next - 1, true
}

// wantsMore: the next block is asked for when a tenth of this one is left.
func (p *producerIDs) wantsMore() bool { return p.after == p.afterEnd && p.end-p.next < 100 }

// ask asks the controller for a block.
func (p *producerIDs) ask() {
	req := kmsg.NewPtrAllocateProducerIDsRequest()
	req.BrokerID = int32(p.b.cfg.NodeID)
	req.BrokerEpoch = -1
	if me := p.b.Image().Broker(p.b.cfg.NodeID); me != nil {
		req.BrokerEpoch = me.Epoch
	}
	p.b.cfg.Forward.Forward(req, Origin{Principal: "User:ANONYMOUS"}, func(resp kmsg.Response) {
		got, ok := resp.(*kmsg.AllocateProducerIDsResponse)
		if !ok || got.ErrorCode != 0 || got.ProducerIDLen <= 0 {
			p.failed(got)
			return
		}
		p.got(got.ProducerIDStart, int64(got.ProducerIDLen))
	})
}

func (p *producerIDs) got(start, n int64) {
	p.b.m.ProducerIDBlocks.Inc()
	p.mu.Lock()
	p.asking, p.retryAfter = false, 0
	if p.next == p.end {
		p.next, p.end = start, start+n
	} else {
		p.after, p.afterEnd = start, start+n
	}
	waiting := p.waiting
	p.waiting = nil
	p.mu.Unlock()
	for _, w := range waiting {
		p.take(w.give)
	}
}

// failed asks again after a while, and lets those go who waited for too long.
func (p *producerIDs) failed(resp *kmsg.AllocateProducerIDsResponse) {
	code := kerr.UnknownServerError
	if resp != nil {
		code = kerr.Code(resp.ErrorCode)
	}
	p.b.log.Warn("no block of producer ids from the controller", "error", code)
	p.mu.Lock()
	var late []waitingID
	now := time.Now()
	for len(p.waiting) > 0 && now.Sub(p.waiting[0].since) > p.b.cfg.ProducerIDWait {
		late = append(late, p.waiting[0])
		p.waiting = p.waiting[1:]
	}
	again := len(p.waiting) > 0
	p.asking = again
	p.retryAfter = min(max(2*p.retryAfter, 20*time.Millisecond), time.Second)
	after := p.retryAfter
	p.mu.Unlock()
	for _, w := range late {
		w.give(-1, kerr.CoordinatorLoadInProgress)
	}
	if again {
		time.AfterFunc(after, p.ask)
	}
}
