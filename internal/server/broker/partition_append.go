package broker

import (
	"errors"
	"fmt"

	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// appended is the outcome of one append.
type appended struct {
	code     kerr.Code
	base     batch.Offset
	end      batch.Offset // to wait for; below it all is committed when the append is
	time     int64        // of a LogAppendTime topic, else -1
	logStart batch.Offset
	message  string
	faults   []batch.RecordError
	reader   *wire.Conn // to be resumed, if there is one: there is something to read
}

func refused(code kerr.Code) appended { return appended{code: code, base: -1, time: -1, logStart: -1} }

// source is where an append comes from, and on what terms.
type source struct {
	all   bool  // acks=all
	now   int64 // ms
	own   bool  // a coordinator of this node
	guard replica.Guard
}

// AppendClient appends a client's batch, which it stamps in place. The heavy part, checking the batch, is
// done before the partition is locked.
func (p *Partition) AppendClient(v batch.View, from source) appended {
	if code := p.writable(from.all); code != kerr.None {
		return refused(code)
	}
	rules := p.rules.Load()
	c, rej := batch.Check(v, from.now, &rules.batch, &rules.codec)
	if rej != nil {
		return p.reject(rej)
	}
	v = c.Batch
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.appendLocked(v, from)
	if a.code == kerr.None && a.time < 0 && rules.batch.LogAppendTime {
		a.time = v.MaxTimestamp()
	}
	return a
}

// writable tells whether a client may append now.
func (p *Partition) writable(all bool) kerr.Code {
	r := p.role.Load()
	switch {
	case p.offline():
		return kerr.KafkaStorageError
	case !r.leading:
		return kerr.NotLeaderOrFollower
	case all && len(r.ISR) < p.minISR(r):
		return kerr.NotEnoughReplicas
	}
	return kerr.None
}

func (p *Partition) reject(rej *batch.Reject) appended {
	a := refused(kerr.Code(rej.Code))
	a.message, a.faults = rej.Message, rej.Records
	m := p.b.m
	switch a.code {
	case kerr.CorruptMessage:
		m.InvalidCRC.Inc()
	case kerr.InvalidRecord, kerr.InvalidTimestamp:
		m.InvalidOffsetOrSequence.Inc()
		a.logStart = p.log.StartOffset()
	default:
	}
	return a
}

// appendLocked gives a checked batch its offset and writes it. Under mu.
func (p *Partition) appendLocked(v batch.View, from source) appended {
	if code := p.writable(from.all); code != kerr.None { // the role may have changed
		return refused(code)
	}
	if err := p.loadProducers(); err != nil {
		return p.failed("loading producers", err)
	}
	if v.ProducerID() >= 0 {
		verdict := p.judge(v, from)
		if verdict.Duplicate {
			p.b.m.DuplicateBatch.Inc()
			a := p.at(verdict.Base, v)
			a.time = verdict.Timestamp
			return a
		}
		if verdict.Code != kerr.None {
			p.b.m.InvalidOffsetOrSequence.Inc()
			return p.outOfSequence(v, verdict.Code)
		}
	}
	return p.write(v, from.now)
}

// judge is what the producers' state says about a batch.
func (p *Partition) judge(v batch.View, from source) replica.Verdict {
	if from.own {
		return replica.Verdict{Code: p.producers.CheckOwn(v, from.guard)}
	}
	return p.producers.Check(v, from.guard)
}

// write puts a batch that may be appended at the end of the log. Under mu, leading.
func (p *Partition) write(v batch.View, now int64) appended {
	base := p.log.EndOffset()
	batch.Stamp(v, base, batch.Epoch(p.role.Load().LeaderEpoch))
	if err := p.log.Append(now, v); err != nil {
		if errors.Is(err, seglog.ErrTooLarge) {
			return refused(kerr.RecordListTooLarge)
		}
		return p.failed("append", err)
	}
	if v.ProducerID() >= 0 {
		p.noteProducer(v)
	}
	reader := p.advance(len(v))
	a := p.at(base, v)
	a.reader = reader
	return a
}

func (p *Partition) at(base batch.Offset, v batch.View) appended {
	end := base + batch.Offset(v.LastOffsetDelta()) + 1
	return appended{base: base, end: end, time: -1, logStart: p.log.StartOffset()}
}

func (p *Partition) outOfSequence(v batch.View, code kerr.Code) appended {
	a := refused(code)
	a.logStart = p.log.StartOffset()
	a.message = fmt.Sprintf("%s for producer %d (epoch %d, first sequence %d) at offset %d of %s", code,
		v.ProducerID(), v.ProducerEpoch(), v.BaseSequence(), p.log.EndOffset(), p)
	return a
}

// failed is an append that the disk refused. The log stays as it was.
func (p *Partition) failed(what string, err error) appended {
	p.b.m.LocalAppendFailures.Inc()
	p.b.log.Error(what+" failed", "partition", p.String(), "error", err)
	p.b.ioFailed(p.dir, err)
	return refused(kerr.KafkaStorageError)
}
