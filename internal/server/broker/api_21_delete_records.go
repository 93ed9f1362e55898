package broker

import (
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// toHighWatermark asks DeleteRecords for everything that is committed.
const toHighWatermark batch.Offset = -1

// deletion is a DeleteRecords request. It is parked until the live replicas have forgotten the records, too.
type deletion struct {
	b       *Broker
	resp    *kmsg.DeleteRecordsResponse
	parts   []deletedPart
	waiting atomic.Int32
	until   time.Time
}

// deletedPart is one partition of a deletion whose log starts later now.
type deletedPart struct {
	p     *Partition
	start batch.Offset
	at    [2]int       // topic and partition in the response
	late  atomic.Int32 // how the wait ended, notYet before
	leave func()
}

// serveDeleteRecords moves the start of logs (broker.md 3.13). What was deleted stays deleted over a crash:
// the start is on disk before the reply.
func (b *Broker) serveDeleteRecords(r *wire.Request) {
	req := kmsg.NewPtrDeleteRecordsRequest()
	if !r.Decode(req) {
		return
	}
	d := &deletion{b: b, resp: kmsg.NewPtrDeleteRecordsResponse()}
	n := 0
	for i := range req.Topics {
		n += len(req.Topics[i].Partitions)
	}
	d.parts = make([]deletedPart, 0, n)
	for i := range req.Topics {
		t := &req.Topics[i]
		out := kmsg.NewDeleteRecordsResponseTopic()
		out.Topic = t.Topic
		for j, ask := range t.Partitions {
			p := kmsg.NewDeleteRecordsResponseTopicPartition()
			p.Partition, p.LowWatermark = ask.Partition, -1
			part, start, code := b.deleteRecords(t.Topic, ask.Partition, batch.Offset(ask.Offset))
			if p.ErrorCode = int16(code); code == kerr.None {
				d.parts = append(d.parts, deletedPart{p: part, start: start, at: [2]int{i, j}})
			}
			out.Partitions = append(out.Partitions, p)
		}
		d.resp.Topics = append(d.resp.Topics, out)
	}
	d.save()
	d.park(r, req.TimeoutMillis)
}

// deleteRecords moves the start of one log, in memory, and returns where it is to be.
func (b *Broker) deleteRecords(topic string, n int32, o batch.Offset) (*Partition, batch.Offset, kerr.Code) {
	p := b.Partition(topic, n)
	switch {
	case p == nil:
		if t := b.Image().Topic(topic); t != nil {
			return nil, 0, notHosted(len(t.Partitions), n)
		}
		return nil, 0, kerr.UnknownTopicOrPartition
	case isInternal(topic):
		return nil, 0, kerr.InvalidTopicException
	case p.offline():
		return nil, 0, kerr.KafkaStorageError
	}
	o, code := p.deleteRecords(o)
	return p, o, code
}

func (p *Partition) deleteRecords(o batch.Offset) (batch.Offset, kerr.Code) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if o == toHighWatermark {
		o = p.HW()
	}
	cfg := &p.rules.Load().log
	switch {
	case !p.role.Load().leading:
		return 0, kerr.NotLeaderOrFollower
	case cfg.Compact && !cfg.Delete: // with neither, what isn't deleted by hand is kept for ever
		return 0, kerr.PolicyViolation
	case o < 0 || o > p.HW():
		return 0, kerr.OffsetOutOfRange
	}
	if err := p.log.SetStart(o); err != nil {
		return 0, p.failed("moving the log's start", err).code
	}
	p.stable()
	return o, kerr.None
}

// save writes the starts down, once for each log directory.
func (d *deletion) save() {
	saved := map[*logDir]error{}
	for i := range d.parts {
		p := &d.parts[i]
		err, done := saved[p.p.dir]
		if !done {
			err = p.p.dir.SaveStarts()
			saved[p.p.dir] = err
		}
		if err != nil {
			d.b.log.Error("writing the logs' starts failed", "path", p.p.dir.path, "error", err)
			p.late.Store(int32(kerr.KafkaStorageError))
		}
	}
}

// park waits until the followers' logs start there, too, or the time is up.
func (d *deletion) park(r *wire.Request, timeoutMs int32) {
	conn := r.Waker()
	d.waiting.Add(1) // so that nobody finishes before all wait
	for i := range d.parts {
		p := &d.parts[i]
		if !p.late.CompareAndSwap(0, notYet) {
			continue
		}
		d.waiting.Add(1)
		p.leave = p.p.awaitLow(p.start, func(code kerr.Code) {
			if p.late.CompareAndSwap(notYet, int32(code)) && d.waiting.Add(-1) == 0 {
				conn.Wake()
			}
		})
	}
	d.until = time.Now().Add(time.Duration(max(timeoutMs, 0)) * time.Millisecond)
	resume := func(r *wire.Request) {
		if d.waiting.Load() == 0 || r.Gone() || !time.Now().Before(d.until) {
			d.answer(r)
		}
	}
	if d.waiting.Add(-1) == 0 {
		d.answer(r)
		return
	}
	r.Park(d.until, resume)
}

func (d *deletion) answer(r *wire.Request) {
	for i := range d.parts {
		p := &d.parts[i]
		if p.late.CompareAndSwap(notYet, int32(kerr.RequestTimedOut)) {
			p.leave()
		}
		out := &d.resp.Topics[p.at[0]].Partitions[p.at[1]]
		if out.ErrorCode = int16(p.late.Load()); out.ErrorCode == 0 {
			out.LowWatermark = int64(p.p.LowWatermark())
		}
	}
	r.Reply(d.resp)
}
