package controller

import (
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/server/quorum"
)

// Lead makes this node the active controller. A log without records gets its first ones; a metadata
// transaction that another leader left open is ended; every unfenced broker gets a whole session to be
// heard in.
func (c *Controller) Lead(w quorum.Writer) {
	now := w.Now()
	l := &leadership{
		epoch: w.Epoch(), start: w.EndOffset(), pending: c.committed, lastOut: now,
		sessions: map[meta.NodeID]*session{},
	}
	c.lead = l
	for b := range c.committed.Brokers() {
		if !b.Fenced {
			l.touch(b.ID, b.Epoch, now)
		}
	}
	if err := c.activate(w); err != nil {
		c.cfg.Logger.Error("can't become the active controller", "error", err)
		w.Resign()
		return
	}
	c.cfg.Logger.Info("active controller", "epoch", l.epoch, "offset", l.start)
}

func (c *Controller) activate(w quorum.Writer) error {
	p := c.planner(w)
	switch {
	case c.committed.InTransaction():
		if err := c.append(w, p.Abort()); err != nil {
			return err
		}
		if c.lead.pending.Offset >= 0 && len(c.lead.pending.Features()) > 0 {
			return nil
		}
		p = c.planner(w) // the open transaction was the bootstrap itself
	case c.committed.Offset >= 0 && len(c.committed.Features()) > 0:
		return nil
	}
	recs, err := p.Bootstrap(c.cfg.Bootstrap())
	if err != nil {
		return err
	}
	return c.append(w, recs)
}

// tick does the periodic work: fences brokers that weren't heard of, keeps offsets moving.
func (l *leadership) tick(now time.Time, w quorum.Writer, c *Controller) time.Time {
	next := now.Add(c.cfg.SessionTimeout / 8)
	for id, s := range l.sessions {
		if c.cfg.Alone && c.cfg.Broker && id == c.cfg.NodeID {
			continue // it shares this process: fencing it could only make a living node unavailable
		}
		b := l.pending.Broker(id)
		if b == nil || b.Epoch != s.epoch || b.Fenced {
			continue
		}
		if now.Sub(s.heard) >= c.cfg.SessionTimeout {
			c.fence(w, id)
		} else if at := s.heard.Add(c.cfg.SessionTimeout); at.Before(next) {
			next = at
		}
	}
	if c.cfg.MaxIdle < 0 {
		return next
	}
	if now.Sub(l.lastOut) >= c.cfg.MaxIdle {
		if err := c.append(w, c.planner(w).NoOp()); err != nil {
			c.cfg.Logger.Error("can't write a NoOp record", "error", err)
			l.lastOut = now
		}
	}
	if at := l.lastOut.Add(c.cfg.MaxIdle); at.Before(next) {
		next = at
	}
	return next
}

func (c *Controller) fence(w quorum.Writer, id meta.NodeID) {
	c.cfg.Logger.Info("fencing a broker: its session timed out", "broker", id)
	if err := c.append(w, c.planner(w).Fence(id)); err != nil {
		c.cfg.Logger.Error("can't fence a broker", "broker", id, "error", err)
	}
}
