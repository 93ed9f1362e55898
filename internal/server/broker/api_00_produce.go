package broker

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// produce is one Produce request: what was asked, and what became of it. Pooled; a connection's goroutine
// owns it.
type produce struct {
	b       *Broker
	version int16
	acks    int16
	timeout int32
	txn     []byte // transactional id, nil for none
	topics  []produceTopic
	parts   []producePart

	parked  bool          // somebody else may still hold its parts: not to be used again
	verify  *verification // of a transaction, before parts of the request can be appended
	waiting atomic.Int32  // partitions whose high watermark isn't there yet
	until   time.Time
}

type produceTopic struct {
	name  []byte // below v13; like id it aliases the request
	id    [16]byte
	first int // in parts
	n     int
}

type producePart struct {
	n       int32
	records []byte
	appended
	part   *Partition
	guard  replica.Guard // of a transaction's first batch
	unsure bool          // waits for the transaction's verification
	late   atomic.Int32  // the code that the wait for the high watermark ended with; notYet until it has
}

// notYet is no code of the protocol.
const notYet = 1 << 16

var produces = sync.Pool{New: func() any { return new(produce) }}

var errCut = errors.New("the body is cut off or holds impossible lengths")

func (b *Broker) serveProduce(r *wire.Request) {
	q := produces.Get().(*produce)
	q.b, q.version = b, r.Version
	if err := q.decode(r.Body); err != nil {
		r.Close("body of Produce can't be read: " + err.Error())
		q.free()
		return
	}
	b.m.ProducePartitions.Add(int64(len(q.parts)))
	q.appendAll(r)
	q.goOn(r)
}

// goOn answers, or waits for what is missing.
func (q *produce) goOn(r *wire.Request) {
	switch {
	case q.verify != nil:
		q.parkVerify(r)
	case q.waiting.Load() > 0:
		q.park(r)
	default:
		q.answer(r)
	}
}

func (q *produce) free() {
	if q.parked {
		return
	}
	clear(q.topics)
	for i := range q.parts {
		p := &q.parts[i]
		p.records, p.part, p.guard, p.unsure, p.appended = nil, nil, 0, false, appended{}
	}
	q.topics, q.parts, q.txn, q.verify, q.b = q.topics[:0], q.parts[:0], nil, nil, nil
	produces.Put(q)
}

// decode finds the parts of the body. Nothing is appended before all of it is known to be well-formed.
func (q *produce) decode(body []byte) error {
	c := cursor{b: body, flex: q.version >= 9}
	q.txn = c.str()
	q.acks = c.i16()
	q.timeout = c.i32()
	for range c.count(6) {
		var t produceTopic
		if q.version >= 13 {
			t.id = c.uuid()
		} else {
			t.name = c.str()
		}
		t.first = len(q.parts)
		t.n = c.count(5)
		for range t.n {
			q.decodePart(&c)
		}
		c.tags()
		q.topics = append(q.topics, t)
	}
	c.tags()
	if c.bad {
		return errCut
	}
	return nil
}

func (q *produce) decodePart(c *cursor) {
	// Grown by hand: producePart holds an atomic, which append would copy. None of them is in use yet.
	if len(q.parts) == cap(q.parts) {
		q.parts = slices.Grow(q.parts, 1)
	}
	q.parts = q.parts[:len(q.parts)+1]
	p := &q.parts[len(q.parts)-1]
	p.n = c.i32()
	p.records = c.bytes()
	c.tags()
}

// appendAll appends everything that can be.
func (q *produce) appendAll(r *wire.Request) {
	h := q.b.hosting.Load()
	now := r.Received.UnixMilli()
	whole := q.check()
	for i := range q.topics {
		t := &q.topics[i]
		host := q.host(h, t)
		for j := t.first; j < t.first+t.n; j++ {
			p := &q.parts[j]
			code := whole
			if code == kerr.None {
				code = q.find(p, t, host, r.ClientID)
			}
			if code != kerr.None {
				p.appended = refused(code)
			} else {
				q.append(p, now)
			}
			if p.code != kerr.None {
				q.count(p)
			}
		}
	}
}

// check is what is wrong with the whole request.
func (q *produce) check() kerr.Code {
	switch {
	case q.acks < -1 || q.acks > 1:
		return kerr.InvalidRequiredAcks
	case q.txn != nil && q.b.cfg.Transactions == nil:
		return kerr.TransactionalIDAuthorizationFailed // nobody coordinates here: what producers take as final
	}
	return kerr.None
}

func (q *produce) host(h *hosting, t *produceTopic) *hosted {
	if q.version >= 13 {
		return h.topicByID(&t.id)
	}
	return h.topic(t.name)
}

// find finds the partition to append to.
func (q *produce) find(p *producePart, t *produceTopic, host *hosted, client string) kerr.Code {
	if p.part = host.partition(p.n); p.part == nil {
		return q.missing(p.n, t)
	}
	if isInternal(host.name) && client != "__admin_client" {
		return kerr.InvalidTopicException
	}
	return kerr.None
}

// missing is the code for a partition that isn't hosted.
func (q *produce) missing(n int32, t *produceTopic) kerr.Code {
	img := q.b.Image()
	if q.version >= 13 {
		topic := img.TopicByID(t.id)
		if topic == nil {
			return kerr.UnknownTopicID
		}
		return notHosted(len(topic.Partitions), n)
	}
	if topic := img.Topic(string(t.name)); topic != nil {
		return notHosted(len(topic.Partitions), n)
	}
	return kerr.UnknownTopicOrPartition
}

func notHosted(partitions int, n int32) kerr.Code {
	if n >= 0 && int(n) < partitions {
		return kerr.NotLeaderOrFollower
	}
	return kerr.UnknownTopicOrPartition
}

// append appends the one batch that a partition of a request may carry.
func (q *produce) append(p *producePart, now int64) {
	v, rest, err := batch.Next(p.records)
	switch {
	case err != nil || len(rest) > 0 && !isTail(rest):
		p.appended = refused(kerr.InvalidRecord)
		p.message = fmt.Sprintf("Produce requests with version %d must have exactly one record batch per partition",
			q.version)
		return
	case v.Codec() == batch.Zstd && q.version < 7:
		p.appended = refused(kerr.UnsupportedCompressionType)
		return
	}
	if v.Transactional() && q.mustVerify(p, v) {
		return
	}
	q.put(p, v, now)
}

// put appends a batch, and notes whether its commit is to be waited for.
func (q *produce) put(p *producePart, v batch.View, now int64) {
	all := q.acks == -1
	p.appended = p.part.AppendClient(v, source{all: all, now: now, guard: p.guard})
	if p.reader != nil {
		p.reader.Resume()
	}
	p.records = nil
	if p.code != kerr.None {
		return
	}
	q.b.m.BytesIn.Add(int64(len(v)))
	q.b.m.MessagesIn.Add(int64(v.Count()))
	if all && p.part.HW() < p.end {
		p.late.Store(notYet)
		q.waiting.Add(1)
	}
}

// isTail tells whether b is the beginning of another batch, which is passed over, and not a whole one.
func isTail(b []byte) bool {
	_, _, err := batch.Next(b)
	return errors.Is(err, batch.ErrShort)
}

func (q *produce) count(p *producePart) {
	q.b.m.BytesRejected.Add(int64(len(p.records)))
	if p.code == kerr.UnknownServerError || p.code == kerr.KafkaStorageError {
		q.b.m.FailedProduce.Inc()
	}
}

// park waits until the high watermark has passed everything that was appended, or the time is up.
func (q *produce) park(r *wire.Request) {
	m := q.b.m
	m.ParkedProduce.Add(1)
	q.keepNames()
	conn := r.Waker()
	q.until = time.Now().Add(time.Duration(max(q.timeout, 0)) * time.Millisecond)
	for i := range q.parts {
		p := &q.parts[i]
		if p.code == kerr.None && p.late.Load() == notYet {
			p.part.Await(p.end, func(code kerr.Code) {
				if p.late.CompareAndSwap(notYet, int32(code)) && q.waiting.Add(-1) == 0 {
					conn.Wake()
				}
			})
		}
	}
	resume := func(r *wire.Request) {
		if q.waiting.Load() > 0 && !r.Gone() && time.Now().Before(q.until) {
			return
		}
		m.ParkedProduce.Add(-1)
		q.settle()
		q.answer(r)
	}
	if q.waiting.Load() == 0 {
		resume(r)
		return
	}
	r.Park(q.until, resume)
}

// keepNames readies the request for a wait: its bytes end with this call.
func (q *produce) keepNames() {
	if q.parked {
		return
	}
	q.parked = true
	for i := range q.topics {
		q.topics[i].name = slices.Clone(q.topics[i].name)
	}
}

// settle takes over how the waits ended.
func (q *produce) settle() {
	for i := range q.parts {
		p := &q.parts[i]
		if p.code != kerr.None {
			continue
		}
		if p.late.CompareAndSwap(notYet, int32(kerr.RequestTimedOut)) {
			q.b.m.ProduceExpired.Inc()
		}
		if p.code = kerr.Code(p.late.Swap(0)); p.code != kerr.None {
			p.base, p.logStart = -1, -1
		} else if role := p.part.role.Load(); len(role.ISR) < p.part.minISR(role) {
			p.code = kerr.NotEnoughReplicasAfterAppend
		}
	}
}

func (q *produce) answer(r *wire.Request) {
	throttle := q.b.quotas.throttleProduce(r, q.acks)
	if q.acks == 0 {
		q.answerNothing(r)
		return
	}
	o := r.Begin()
	flex := q.version >= 9
	moved := false
	b := appendCount(o.B, len(q.topics), flex)
	for i := range q.topics {
		t := &q.topics[i]
		if q.version >= 13 {
			b = append(b, t.id[:]...)
		} else {
			b = appendString(b, borrow(t.name), flex)
		}
		b = appendCount(b, t.n, flex)
		for j := t.first; j < t.first+t.n; j++ {
			b = q.appendAnswer(b, t, &q.parts[j])
			moved = moved || q.parts[j].code == kerr.NotLeaderOrFollower
		}
		b = appendTags(b, flex)
	}
	b = append32(b, int32(throttle.Milliseconds()))
	if q.version >= 10 && moved {
		b = q.b.appendEndpoints(b, r, q.leaders())
	} else {
		b = appendTags(b, flex)
	}
	o.B = b
	r.End(o)
	q.free()
}

// answerNothing ends a request that wants no answer: errors are told by closing the connection.
func (q *produce) answerNothing(r *wire.Request) {
	for i := range q.parts {
		if p := &q.parts[i]; p.code != kerr.None {
			r.Close(fmt.Sprintf("Produce with acks=0 failed with %s (partition %d): %s", p.code, p.n, p.message))
			q.free()
			return
		}
	}
	r.NoReply()
	q.free()
}

func (q *produce) appendAnswer(b []byte, t *produceTopic, p *producePart) []byte {
	flex := q.version >= 9
	b = append32(b, p.n)
	b = append16(b, int16(p.code))
	b = append64(b, int64(p.base))
	b = append64(b, p.time)
	if q.version >= 5 {
		b = append64(b, int64(p.logStart))
	}
	if q.version >= 8 {
		b = appendCount(b, len(p.faults), flex)
		for _, e := range p.faults {
			b = append32(b, e.Index)
			b = appendText(b, e.Message, flex)
			b = appendTags(b, flex)
		}
		b = appendText(b, p.message, flex)
	}
	if q.version >= 10 && p.code == kerr.NotLeaderOrFollower {
		if id, epoch := q.b.leaderOf(borrow(t.name), t.id, p.n); id >= 0 {
			return appendLeaderTag(append(b, 1), 0, id, epoch)
		}
	}
	return appendTags(b, flex)
}

// leaders are the nodes that lead what this one was asked for in error.
func (q *produce) leaders() (ids []int32) {
	for i := range q.topics {
		t := &q.topics[i]
		for j := range t.n {
			p := &q.parts[t.first+j]
			if p.code != kerr.NotLeaderOrFollower {
				continue
			}
			if id, _ := q.b.leaderOf(borrow(t.name), t.id, p.n); id >= 0 && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
