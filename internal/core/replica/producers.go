package replica

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// window is how many batches of a producer are remembered to recognise a repetition (KIP-98: five in flight
// at most).
const window = 5

// noEpoch is the epoch of a producer that hasn't got one yet.
const noEpoch int16 = -1

// entry is a batch as far as recognising it again needs. lastSeq may be smaller than first: sequences wrap.
type entry struct {
	lastSeq    int32
	delta      int32 // last offset - first offset
	lastOffset batch.Offset
	timestamp  int64
}

func (e *entry) firstSeq() int32          { return backSequence(e.lastSeq, e.delta) }
func (e *entry) baseOffset() batch.Offset { return e.lastOffset - batch.Offset(e.delta) }

type producer struct {
	id               int64
	epoch            int16
	coordinatorEpoch int32
	timestamp        int64        // of the last batch or marker
	txnFirst         batch.Offset // first offset of the open transaction, -1 for none
	n                int8         // batches remembered
	batches          [window]entry
	older, newer     *producer // by last append, for the bound
}

func (p *producer) last() *entry {
	if p.n == 0 {
		return nil
	}
	return &p.batches[p.n-1]
}

func (p *producer) remember(e entry) {
	if p.n == window {
		copy(p.batches[:], p.batches[1:])
		p.n--
	}
	p.batches[p.n] = e
	p.n++
}

// txn is a transaction that isn't stable yet: open, or ended by a marker that isn't replicated yet.
type txn struct {
	id          int64
	first, last batch.Offset // last is the marker's offset, -1 while open
}

// Aborted is an aborted transaction as the transaction index keeps it (broker.md 3.1).
type Aborted struct {
	ProducerID       int64
	First, Last      batch.Offset
	LastStableOffset batch.Offset
}

// Producers is the producer state of one partition (broker.md 4.1-4.4).
type Producers struct {
	max      int // producers kept, 0: no bound
	byID     map[int64]*producer
	oldest   *producer
	newest   *producer
	open     []txn // by first offset
	unstable []txn // ended, by first offset, until the high watermark passes the marker

	guards    map[int64]guard // transactions that are being verified
	lastGuard Guard
}

// NewProducers makes an empty state that remembers at most limit idle producers; 0 is no bound.
func NewProducers(limit int) *Producers {
	return &Producers{max: limit}
}

// Len is the number of producers known.
func (p *Producers) Len() int { return len(p.byID) }

// Verdict is what Check decides about a batch.
type Verdict struct {
	Code      kerr.Code
	Duplicate bool         // it is in the log already: Base and Timestamp tell where
	Base      batch.Offset // of the batch when it was first appended
	Timestamp int64
}

// Check decides whether a client's batch may be appended now (broker.md 4.2, in its order). g is what Verify
// gave for it. It changes nothing.
func (p *Producers) Check(v batch.View, g Guard) Verdict {
	id := v.ProducerID()
	if id < 0 {
		return Verdict{}
	}
	known := p.byID[id]
	if known != nil {
		if e := known.find(v); e != nil {
			return Verdict{Duplicate: true, Base: e.baseOffset(), Timestamp: e.timestamp}
		}
	}
	if v.Transactional() && !known.inTxn(v.ProducerEpoch()) && !p.verified(id, g) {
		return Verdict{Code: kerr.InvalidTxnState}
	}
	return Verdict{Code: known.check(v)}
}

// CheckOwn is Check for a batch that a coordinator of this node made: it has no sequences, and comes once.
func (p *Producers) CheckOwn(v batch.View, g Guard) kerr.Code {
	known := p.byID[v.ProducerID()]
	switch {
	case v.ProducerID() < 0:
		return kerr.None
	case v.Transactional() && !known.inTxn(v.ProducerEpoch()) && !p.verified(v.ProducerID(), g):
		return kerr.InvalidTxnState
	case known != nil && v.ProducerEpoch() < known.epoch:
		return kerr.InvalidProducerEpoch
	}
	return kerr.None
}

// find is the remembered batch with v's epoch and sequences.
func (p *producer) find(v batch.View) *entry {
	if p.epoch != v.ProducerEpoch() {
		return nil
	}
	first := v.BaseSequence()
	last := addSequence(first, v.LastOffsetDelta())
	for i := range p.batches[:p.n] {
		if e := &p.batches[i]; e.lastSeq == last && e.firstSeq() == first {
			return e
		}
	}
	return nil
}

func (p *producer) check(v batch.View) kerr.Code {
	if p == nil {
		return kerr.None // what was known may have expired: any first sequence will do (KIP-360)
	}
	epoch := v.ProducerEpoch()
	switch {
	case epoch < p.epoch:
		return kerr.InvalidProducerEpoch
	case epoch > p.epoch:
		if v.BaseSequence() != 0 && p.epoch != noEpoch {
			return kerr.OutOfOrderSequenceNumber
		}
	case v.BaseSequence() != p.nextSequence():
		return kerr.OutOfOrderSequenceNumber
	}
	if p.txnFirst >= 0 && !v.Transactional() {
		return kerr.InvalidTxnState
	}
	return kerr.None
}

// inTxn says whether the producer has an open transaction in an epoch.
func (p *producer) inTxn(epoch int16) bool { return p != nil && p.txnFirst >= 0 && p.epoch == epoch }

func (p *producer) nextSequence() int32 {
	if e := p.last(); e != nil {
		return addSequence(e.lastSeq, 1)
	}
	return 0
}

// Append takes a batch that was appended, stamped with its offset: a client's, a marker, or one replayed from
// the log. It returns the aborted transaction that a marker ended, nil for none.
func (p *Producers) Append(v batch.View) *Aborted {
	id := v.ProducerID()
	if id < 0 {
		return nil
	}
	known := p.touch(id)
	known.timestamp = v.MaxTimestamp()
	if v.Control() {
		return p.end(known, v)
	}
	if epoch := v.ProducerEpoch(); epoch != known.epoch {
		known.epoch, known.n = epoch, 0
	}
	known.remember(entry{
		lastSeq: addSequence(v.BaseSequence(), v.LastOffsetDelta()), delta: v.LastOffsetDelta(),
		lastOffset: v.LastOffset(), timestamp: v.MaxTimestamp(),
	})
	delete(p.guards, id)
	if v.Transactional() && known.txnFirst < 0 {
		known.txnFirst = v.BaseOffset()
		p.open = insert(p.open, txn{id: id, first: known.txnFirst, last: -1})
	}
	return nil
}

// Marker reads the end-of-transaction marker of a control batch.
func Marker(v batch.View) (commit bool, coordinatorEpoch int32, ok bool) {
	r, err := v.Records(nil)
	if err != nil {
		return false, 0, false
	}
	defer r.Close()
	var rec batch.Record
	if !r.Next(&rec) || len(rec.Key) < 4 || len(rec.Value) < 6 {
		return false, 0, false
	}
	kind := binary.BigEndian.Uint16(rec.Key[2:])
	return kind == 1, int32(binary.BigEndian.Uint32(rec.Value[2:])), kind <= 1
}

func (p *Producers) end(known *producer, v batch.View) *Aborted {
	commit, coordinatorEpoch, ok := Marker(v)
	if !ok {
		return nil
	}
	if epoch := v.ProducerEpoch(); epoch != known.epoch {
		known.epoch, known.n = epoch, 0
	}
	known.coordinatorEpoch = coordinatorEpoch
	delete(p.guards, known.id)
	first := known.txnFirst
	if first < 0 {
		return nil
	}
	known.txnFirst = -1
	p.open = slices.DeleteFunc(p.open, func(t txn) bool { return t.id == known.id })
	marker := v.BaseOffset()
	p.unstable = insert(p.unstable, txn{id: known.id, first: first, last: marker})
	if commit {
		return nil
	}
	stable := marker + 1
	if len(p.open) > 0 {
		stable = p.open[0].first
	}
	return &Aborted{ProducerID: known.id, First: first, Last: marker, LastStableOffset: stable}
}

func insert(list []txn, t txn) []txn {
	i, _ := slices.BinarySearchFunc(list, t, func(a, b txn) int {
		switch {
		case a.first < b.first:
			return -1
		case a.first > b.first:
			return 1
		}
		return 0
	})
	return slices.Insert(list, i, t)
}

// LastStable is the last stable offset: what a read_committed consumer may read up to (broker.md 4.4).
func (p *Producers) LastStable(highWatermark, logStart batch.Offset) batch.Offset {
	p.unstable = slices.DeleteFunc(p.unstable, func(t txn) bool { return t.last < highWatermark })
	stable := highWatermark
	if len(p.open) > 0 {
		stable = min(stable, p.open[0].first)
	}
	if len(p.unstable) > 0 {
		stable = min(stable, p.unstable[0].first)
	}
	return max(stable, min(logStart, highWatermark))
}

// Expire forgets the producers without an open transaction whose last batch is older than retention (ms).
func (p *Producers) Expire(now, retention int64) {
	for q := p.oldest; q != nil; {
		next := q.newer
		if q.txnFirst < 0 && now-q.timestamp >= retention {
			p.forget(q)
		}
		q = next
	}
	p.expireGuards(now, retention)
}

// Truncate forgets everything, for a log that was cut: its owner loads a snapshot and replays.
func (p *Producers) Truncate() {
	*p = Producers{max: p.max}
}

// touch finds or makes a producer, and makes it the newest.
func (p *Producers) touch(id int64) *producer {
	known := p.byID[id]
	if known == p.newest && known != nil {
		return known
	}
	if known == nil {
		p.makeRoom()
		known = &producer{id: id, epoch: noEpoch, coordinatorEpoch: -1, txnFirst: -1}
		if p.byID == nil {
			p.byID = make(map[int64]*producer)
		}
		p.byID[id] = known
	} else {
		p.unlink(known)
	}
	known.older, known.newer = p.newest, nil
	if p.newest != nil {
		p.newest.newer = known
	} else {
		p.oldest = known
	}
	p.newest = known
	return known
}

// makeRoom keeps the bound by forgetting who appended longest ago; those in a transaction stay.
func (p *Producers) makeRoom() {
	if p.max <= 0 || len(p.byID) < p.max {
		return
	}
	for q := p.oldest; q != nil; q = q.newer {
		if q.txnFirst < 0 {
			p.forget(q)
			return
		}
	}
}

func (p *Producers) forget(q *producer) {
	p.unlink(q)
	delete(p.byID, q.id)
}

func (p *Producers) unlink(q *producer) {
	if q.older != nil {
		q.older.newer = q.newer
	} else {
		p.oldest = q.newer
	}
	if q.newer != nil {
		q.newer.older = q.older
	} else {
		p.newest = q.older
	}
	q.older, q.newer = nil, nil
}

// addSequence adds to a sequence number, which wraps from 2^31-1 to 0.
func addSequence(seq, n int32) int32 {
	if seq > math.MaxInt32-n {
		return n - (math.MaxInt32 - seq) - 1
	}
	return seq + n
}

// backSequence is addSequence's inverse.
func backSequence(seq, n int32) int32 {
	if seq < n {
		return math.MaxInt32 - (n - seq) + 1
	}
	return seq - n
}
