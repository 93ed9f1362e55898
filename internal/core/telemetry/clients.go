package telemetry

import (
	"container/list"
	"time"

	"github.com/kalda/kalda/internal/format/kerr"
)

// Clients remembers the instances of clients, up to a bound; those that were silent longest are forgotten
// first, and start over.
type Clients struct {
	max   int
	byID  map[[16]byte]*list.Element
	order list.List // of *instance, the newest first
	gone  func(id [16]byte)
}

type instance struct {
	client      Client
	generation  uint64 // of the subscriptions that plan was made of
	plan        Plan
	asked       time.Time // when it last asked for its plan
	pushed      time.Time
	seen        time.Time
	stale       bool // was told to ask again
	terminating bool
}

// NewClients makes a memory of at most most instances, at least one. gone is told who is forgotten.
func NewClients(most int, gone func(id [16]byte)) *Clients {
	return &Clients{max: max(most, 1), byID: map[[16]byte]*list.Element{}, gone: gone}
}

// Knows tells whether an instance is remembered.
func (c *Clients) Knows(id [16]byte) bool { return c.byID[id] != nil }

// silentFor is how many intervals a client may be silent before it is forgotten.
const silentFor = 3

// Expire forgets who has been silent for three intervals.
func (c *Clients) Expire(now time.Time) {
	for e := c.order.Back(); e != nil; e = c.order.Back() {
		if i := e.Value.(*instance); now.Sub(i.seen) < silentFor*max(i.plan.Interval, time.Second) {
			return
		}
		c.drop(e)
	}
}

func (c *Clients) drop(e *list.Element) {
	id := e.Value.(*instance).client.Instance
	c.order.Remove(e)
	delete(c.byID, id)
	if c.gone != nil {
		c.gone(id)
	}
}

// find returns who has that id, made if need be, with a plan of the subscriptions as they are now.
func (c *Clients) find(now time.Time, who *Client, set *Set) *instance {
	e := c.byID[who.Instance]
	if e == nil {
		for len(c.byID) >= c.max {
			c.drop(c.order.Back())
		}
		i := &instance{client: *who, generation: set.Generation, plan: set.Plan(who)}
		e = c.order.PushFront(i)
		c.byID[who.Instance] = e
	}
	i := e.Value.(*instance)
	if i.generation != set.Generation {
		i.generation, i.plan = set.Generation, set.Plan(&i.client)
	}
	i.seen = now
	c.order.MoveToFront(e)
	return i
}

// Ask is a GetTelemetrySubscriptions: what the client is to push. One that asks again before its interval is
// over is refused, unless it was told to ask.
func (c *Clients) Ask(now time.Time, who *Client, set *Set) (Plan, kerr.Code) {
	i := c.find(now, who, set)
	last := i.asked
	if i.pushed.After(last) {
		last = i.pushed
	}
	if !last.IsZero() && now.Sub(last) < i.plan.Interval && !i.stale {
		return Plan{}, kerr.ThrottlingQuotaExceeded
	}
	i.asked, i.stale = now, false
	return i.plan, kerr.None
}

// Push is a PushTelemetry, before its bytes are looked at: whether they are to be.
func (c *Clients) Push(now time.Time, who *Client, set *Set, id int32, terminating bool) kerr.Code {
	i := c.find(now, who, set)
	switch {
	case i.terminating:
		return kerr.InvalidRequest // it said that the last push was the last
	case id != i.plan.ID:
		i.stale = true
		return kerr.UnknownSubscriptionID
	case !i.pushed.IsZero() && now.Sub(i.pushed) < i.plan.Interval && !terminating && !i.stale:
		return kerr.ThrottlingQuotaExceeded
	}
	i.pushed, i.terminating = now, terminating
	return kerr.None
}
