package share

import (
	"time"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// Plan is a change that has to be remembered before it counts.
type Plan struct {
	id uint64

	// Start, Batches and Complete are for WriteShareGroupState.
	Start    int64
	Batches  []record.ShareBatch
	Complete int32 // records in flight that will be done with
}

// Acknowledge plans what a member says about its records: all of it, or, with a code, nothing. A plan of nil
// is nothing to remember. What is before the start is done with whatever anybody says.
func (p *Partition) Acknowledge(now time.Time, member string, acks []Ack) (*Plan, kerr.Code) {
	if code := outcomeOf(acks); code != kerr.None {
		return nil, code
	}
	for _, a := range acks {
		if !p.holds(member, a.Range) {
			return nil, kerr.InvalidRecordState
		}
	}
	id := p.newPlan()
	for _, a := range acks {
		if len(a.Types) == 1 {
			p.say(now, id, a.Range, a.Types[0])
			continue
		}
		for i := 0; i < len(a.Types); {
			from := i
			for i++; i < len(a.Types) && a.Types[i] == a.Types[from]; i++ { // of neighbours with one type
			}
			p.say(now, id, Range{a.First + int64(from), a.First + int64(i) - 1}, a.Types[from])
		}
	}
	return p.plan(id), kerr.None
}

// holds says whether all of in that isn't done with is the member's.
func (p *Partition) holds(member string, in Range) bool {
	if in.Last >= p.end {
		return false
	}
	for i := p.find(in.First); i < len(p.runs) && p.runs[i].First <= in.Last; i++ {
		if r := &p.runs[i]; !r.held() || r.member != member {
			return false
		}
	}
	return true
}

func (p *Partition) say(now time.Time, id uint64, in Range, t AckType) {
	p.each(in, func(r *run) {
		switch t {
		case Renew:
			r.deadline = now.Add(p.limits.Lock)
		case Accept:
			r.planned, r.next = id, record.ShareAcknowledged
		case Release:
			p.release(r, id)
		default:
			r.planned, r.next = id, record.ShareArchived
		}
	})
}

// release plans to give a run back, or up.
func (p *Partition) release(r *run, id uint64) {
	r.planned, r.next = id, record.ShareAvailable
	if r.deliveries >= p.limits.Deliveries {
		r.next = record.ShareArchived
	}
}

// Leave plans to give back all that a member has: its session is over.
func (p *Partition) Leave(member string) *Plan {
	id := p.newPlan()
	for i := range p.runs {
		if r := &p.runs[i]; r.held() && r.member == member {
			p.release(r, id)
		}
	}
	return p.plan(id)
}

// Expire plans to give back what was locked for too long.
func (p *Partition) Expire(now time.Time) *Plan {
	id := p.newPlan()
	for i := range p.runs {
		if r := &p.runs[i]; r.held() && !r.deadline.After(now) {
			p.release(r, id)
		}
	}
	return p.plan(id)
}

func (p *Partition) newPlan() uint64 {
	p.plans++
	return p.plans
}

// plan is what has to be remembered of id, nil if nothing.
func (p *Partition) plan(id uint64) *Plan {
	p.tidy()
	plan := &Plan{id: id, Start: p.start}
	for i := range p.runs {
		r := &p.runs[i]
		n := int32(r.Last - r.First + 1) // in flight are far fewer than that holds
		if terminal(r.state) || r.planned == id && terminal(r.next) {
			plan.Complete += n
		}
		if r.planned == id {
			plan.Batches = append(plan.Batches, record.ShareBatch{
				First: r.First, Last: r.Last, State: r.next, DeliveryCount: r.deliveries,
			})
		}
	}
	if plan.Batches == nil {
		return nil
	}
	return plan
}

// Commit makes a plan true.
func (p *Partition) Commit(plan *Plan) { p.finish(plan, true) }

// Fail gives a plan up: the records are as they were before. What was locked too long meanwhile is for the
// next Expire.
func (p *Partition) Fail(plan *Plan) { p.finish(plan, false) }

func (p *Partition) finish(plan *Plan, commit bool) {
	for i := range p.runs {
		r := &p.runs[i]
		if r.planned != plan.id {
			continue
		}
		if r.planned = 0; commit {
			r.state, r.member, r.deadline = r.next, "", time.Time{}
		}
		r.next = 0
	}
	p.tidy()
	p.advance()
}
