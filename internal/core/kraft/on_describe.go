package kraft

import (
	"cmp"
	"slices"
	"time"
)

// onDescribe tells of the quorum, leader only.
func (c *Core) onDescribe(in Received) {
	if c.role != Leader {
		c.reply(in, &DescribeResponse{Status: c.status(in, NotLeader), HighWatermark: NoOffset})
		return
	}
	r := &DescribeResponse{Status: c.status(in, None), HighWatermark: c.reportedHW(), Nodes: c.voters()}
	for i := range c.voters() {
		v := &c.voters()[i]
		line := describe(c.lead.replica(v.ID))
		line.Key = v.ReplicaKey
		if matches(v, c.cfg.Self) {
			line.End, line.LastFetch, line.LastCaughtUp = c.log.End, c.now.UnixMilli(), c.now.UnixMilli()
		}
		r.Voters = append(r.Voters, line)
	}
	for k, o := range c.lead.observers {
		if c.now.Sub(o.fetched) > observerSession {
			delete(c.lead.observers, k)
			continue
		}
		r.Observers = append(r.Observers, describe(o))
	}
	slices.SortFunc(r.Observers, func(a, b Replica) int { return cmp.Compare(a.ID, b.ID) })
	c.reply(in, r)
}

func describe(r *replica) Replica {
	ms := func(t time.Time) int64 {
		if t.IsZero() {
			return -1
		}
		return t.UnixMilli()
	}
	return Replica{Key: r.key, End: r.end, LastFetch: ms(r.fetched), LastCaughtUp: ms(r.caughtUp)}
}
