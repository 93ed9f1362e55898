package share

import (
	"slices"
	"time"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// Limits are what a group's configuration says. They may change at any time.
type Limits struct {
	Lock       time.Duration // share.record.lock.duration.ms
	Deliveries int16         // share.delivery.count.limit
	InFlight   int64         // share.partition.max.record.locks
}

// Range is neighbouring offsets, the last one included.
type Range struct{ First, Last int64 }

// Acquired is what a fetch got.
type Acquired struct {
	Range
	Deliveries int16 // this one included
}

// AckType is what a member says about a record.
type AckType int8

// The types of acknowledgements, as on the wire.
const (
	Gap     AckType = 0 // there is no such record
	Accept  AckType = 1
	Release AckType = 2
	Reject  AckType = 3
	Renew   AckType = 4
)

// Ack is an acknowledgement of neighbouring records: of one type, or of one type each.
type Ack struct {
	Range
	Types []AckType
}

// run is neighbouring records in flight that are alike.
type run struct {
	Range
	state      int8
	deliveries int16
	member     string // of Acquired ones
	deadline   time.Time
	planned    uint64 // the plan that changes it, 0 for none
	next       int8   // and what into
}

func (r *run) alike(o *run) bool {
	return r.state == o.state && r.deliveries == o.deliveries && r.member == o.member &&
		r.deadline.Equal(o.deadline) && r.planned == o.planned && r.next == o.next
}

func (r *run) held() bool { return r.state == record.ShareAcquired && r.planned == 0 }

func terminal(state int8) bool {
	return state == record.ShareAcknowledged || state == record.ShareArchived
}

// Partition is one partition of one share group. Its runs cover [start, end) without a hole.
type Partition struct {
	limits     Limits
	start, end int64
	runs       []run
	plans      uint64
}

// New makes a partition that starts at an offset, with nothing in flight.
func New(start int64, limits Limits) *Partition {
	return &Partition{limits: limits, start: start, end: start}
}

// Load makes a partition as the share coordinator remembers it. What was with members when that was written,
// and hasn't come back, is available again.
func Load(start int64, batches []record.ShareBatch, limits Limits) *Partition {
	p := New(start, limits)
	sorted := slices.SortedFunc(slices.Values(batches), func(a, b record.ShareBatch) int {
		return int(min(max(a.First-b.First, -1), 1))
	})
	for _, b := range sorted {
		first := max(b.First, p.end)
		if b.Last < first {
			continue
		}
		p.extend(first-1, run{state: record.ShareAvailable})
		p.extend(b.Last, run{state: b.State, deliveries: b.DeliveryCount})
	}
	p.advance()
	return p
}

// extend puts what is past the end up to last in flight.
func (p *Partition) extend(last int64, r run) {
	if last >= p.end {
		r.First, r.Last = p.end, last
		p.runs = append(p.runs, r)
		p.end = last + 1
	}
}

// SetLimits changes the limits for what happens from now on.
func (p *Partition) SetLimits(l Limits) { p.limits = l }

// Start is the share-partition start offset: all before is done with.
func (p *Partition) Start() int64 { return p.start }

// End is the offset after the last that is, or was, with a member.
func (p *Partition) End() int64 { return p.end }

// Next is where a fetch should read: the first record that is available, else what nobody had yet. False: all
// that may be in flight is.
func (p *Partition) Next() (int64, bool) {
	for i := range p.runs {
		if r := &p.runs[i]; r.state == record.ShareAvailable {
			return r.First, true
		}
	}
	return p.end, p.end-p.start < p.limits.InFlight
}

// Acquire gives records to a member. batches are what was read from the log, in order, from Next on: what
// isn't in them isn't there. max is how many records the member wants: if it isn't strict whole batches are
// given, as clients decode them anyway.
func (p *Partition) Acquire(now time.Time, member string, batches []Range, max int, strict bool) []Acquired {
	var got []Acquired
	left := int64(max)
	from, _ := p.Next()
	for _, b := range batches {
		if left <= 0 {
			break
		}
		p.skip(from, b.First-1)
		from = b.Last + 1
		last := b.Last
		limit := p.start + p.limits.InFlight - 1
		if last = min(last, limit); strict {
			last = p.lastWithin(b.First, last, left)
		}
		if last < b.First {
			break
		}
		p.extend(last, run{state: record.ShareAvailable})
		n := p.take(now, member, Range{b.First, last}, &got)
		left -= n
	}
	p.tidy()
	p.advance()
	return got
}

// lastWithin is the last offset of [first, last] up to which not more than n can be acquired.
func (p *Partition) lastWithin(first, last, n int64) int64 {
	at := first
	for i := range p.runs {
		r := &p.runs[i]
		if r.Last < at {
			continue
		}
		if r.First > last {
			return last
		}
		if here := min(r.Last, last); r.state == record.ShareAvailable {
			if here-max(r.First, at)+1 >= n {
				return max(r.First, at) + n - 1
			}
			n -= here - max(r.First, at) + 1
		}
		at = r.Last + 1
	}
	return min(last, max(at, first)+n-1)
}

// skip archives offsets that the log has no records for.
func (p *Partition) skip(first, last int64) {
	if last < first || last < p.start {
		return
	}
	last = min(last, p.start+p.limits.InFlight-1)
	p.extend(last, run{state: record.ShareAvailable})
	p.each(Range{first, last}, func(r *run) {
		if r.state == record.ShareAvailable {
			r.state = record.ShareArchived
		}
	})
}

func (p *Partition) take(now time.Time, member string, in Range, got *[]Acquired) (n int64) {
	p.each(in, func(r *run) {
		if r.state != record.ShareAvailable {
			return
		}
		r.state, r.member, r.deadline = record.ShareAcquired, member, now.Add(p.limits.Lock)
		r.deliveries++
		n += r.Last - r.First + 1
		if k := len(*got); k > 0 && (*got)[k-1].Last+1 == r.First && (*got)[k-1].Deliveries == r.deliveries {
			(*got)[k-1].Last = r.Last
		} else {
			*got = append(*got, Acquired{r.Range, r.deliveries})
		}
	})
	return n
}

// each cuts the runs at the ends of in and calls f for those inside.
func (p *Partition) each(in Range, f func(*run)) {
	p.cut(in.First)
	p.cut(in.Last + 1)
	for i := p.find(in.First); i < len(p.runs) && p.runs[i].First <= in.Last; i++ {
		f(&p.runs[i])
	}
}

// find is the first run that ends at or after an offset.
func (p *Partition) find(offset int64) int {
	i, _ := slices.BinarySearchFunc(p.runs, offset, func(r run, o int64) int {
		if r.Last < o {
			return -1
		}
		return 1
	})
	return i
}

// cut makes a run begin at an offset.
func (p *Partition) cut(offset int64) {
	i := p.find(offset)
	if i == len(p.runs) || p.runs[i].First >= offset {
		return
	}
	second := p.runs[i]
	second.First, p.runs[i].Last = offset, offset-1
	p.runs = slices.Insert(p.runs, i+1, second)
}

// tidy joins neighbours that are alike.
func (p *Partition) tidy() {
	out := p.runs[:0]
	for _, r := range p.runs {
		if n := len(out); n > 0 && out[n-1].alike(&r) {
			out[n-1].Last = r.Last
		} else {
			out = append(out, r)
		}
	}
	clear(p.runs[len(out):])
	p.runs = out
}

// advance moves the start over what is done with.
func (p *Partition) advance() {
	i := 0
	for i < len(p.runs) && terminal(p.runs[i].state) {
		p.start = p.runs[i].Last + 1
		i++
	}
	p.runs = slices.Delete(p.runs, 0, i)
	p.end = max(p.end, p.start)
}

// LogStart says that the log has nothing before an offset any more.
func (p *Partition) LogStart(offset int64) {
	if offset <= p.start {
		return
	}
	p.cut(offset)
	p.runs = slices.Delete(p.runs, 0, p.find(offset))
	p.start, p.end = offset, max(p.end, offset)
	p.advance()
}

// Deadline is when the first lock's time is over, zero if there is none.
func (p *Partition) Deadline() (at time.Time) {
	for i := range p.runs {
		if r := &p.runs[i]; r.held() && (at.IsZero() || r.deadline.Before(at)) {
			at = r.deadline
		}
	}
	return at
}

// InFlight counts records by what they are, for metrics.
func (p *Partition) InFlight() (available, acquired, done int64) {
	for i := range p.runs {
		switch n := p.runs[i].Last - p.runs[i].First + 1; p.runs[i].state {
		case record.ShareAvailable:
			available += n
		case record.ShareAcquired:
			acquired += n
		default:
			done += n
		}
	}
	return available, acquired, done
}

// outcomeOf is what is wrong with acknowledgements as such.
func outcomeOf(acks []Ack) kerr.Code {
	last := int64(-1)
	for _, a := range acks {
		n := a.Last - a.First + 1
		if a.First <= last || n < 1 || len(a.Types) == 0 || len(a.Types) > 1 && int64(len(a.Types)) != n {
			return kerr.InvalidRequest
		}
		for _, t := range a.Types {
			if t < Gap || t > Renew {
				return kerr.InvalidRequest
			}
		}
		last = a.Last
	}
	return kerr.None
}
