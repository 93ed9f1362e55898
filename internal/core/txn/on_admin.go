package txn

import (
	"slices"
	"time"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

func (c *Core) onDescribe(in *Describe) Output {
	s := c.get(in.ID)
	if s == nil {
		return &Described{Code: kerr.TransactionalIDNotFound}
	}
	return &Described{
		Timeout: time.Duration(s.timeout) * time.Millisecond, Start: s.start,
		Listed: s.listed(in.ID), Topics: s.topics,
	}
}

func (s *state) listed(id string) Listed {
	return Listed{ID: id, ProducerID: s.producer, Epoch: s.epoch, Status: s.status}
}

func (c *Core) onList(in *List) Output {
	out := &Listing{}
	c.ids.Scan(func(id string, s *state) bool {
		if in.wants(id, s, c.now.UnixMilli()) {
			out.IDs = append(out.IDs, s.listed(id))
		}
		return true
	})
	return out
}

func (in *List) wants(id string, s *state, now int64) bool {
	idle := s.status == record.TxnEmpty || s.completed()
	return (in.States == nil || slices.Contains(in.States, s.status)) &&
		(in.ProducerIDs == nil || slices.Contains(in.ProducerIDs, s.producer)) &&
		(in.LongerThan < 0 || !idle && now-s.start > in.LongerThan.Milliseconds()) &&
		(in.Match == nil || in.Match(id))
}
