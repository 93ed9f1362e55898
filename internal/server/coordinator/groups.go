package coordinator

import (
	"time"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/core/replica"
)

// Groups is the runtime of __consumer_offsets.
type Groups struct {
	*Runtime[group.Input, group.Output]
}

// NewGroups makes the group coordinator. seed makes the seed of each shard's core.
func NewGroups(cfg Config, groups group.Config, seed func() [32]byte) *Groups {
	cfg.Name = "__consumer_offsets"
	cfg.fill()
	groups.Warn = cfg.Log.Warn
	return &Groups{New(cfg, func() Core[group.Input, group.Output] {
		return &groupCore{group.New(groups, seed())}
	})}
}

// List asks every shard for its groups. The first error of a shard is the list's.
func (g *Groups) List(in *group.List, done func(*group.Listed)) {
	g.Each(in, false, func(outs []group.Output) {
		all := &group.Listed{}
		for _, out := range outs {
			l := out.(*group.Listed)
			if all.Code == 0 {
				all.Code = l.Code
			}
			all.Groups = append(all.Groups, l.Groups...)
		}
		done(all)
	})
}

// Deleted drops the offsets of topics that are gone.
func (g *Groups) Deleted(topics []string) {
	g.Each(&group.TopicsDeleted{Topics: topics}, true, func([]group.Output) {})
}

// groupCore fits the pure core to the runtime.
type groupCore struct{ *group.Core }

func (c *groupCore) Step(now time.Time, ref uint64, in group.Input) {
	c.Core.Step(now, group.Ref(ref), in)
}

func (c *groupCore) Drain() Effects[group.Output] {
	e := c.Core.Drain()
	out := Effects[group.Output]{Append: e.Append}
	if t := e.Txn; t != nil {
		out.Txn = &Txn{t.ProducerID, t.ProducerEpoch, replica.Guard(t.Guard), t.Marker, t.Version}
	}
	if len(e.Replies) > 0 {
		out.Replies = make([]Reply[group.Output], len(e.Replies))
		for i, r := range e.Replies {
			out.Replies[i] = Reply[group.Output]{uint64(r.Ref), r.Out}
		}
	}
	return out
}
