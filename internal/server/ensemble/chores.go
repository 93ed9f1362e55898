package ensemble

import (
	"time"

	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/format/jute"
)

// chores starts what happens now and then.
func (s *Server) chores() {
	s.wg.Go(s.reap)
	if s.opts.purgeEvery > 0 {
		s.wg.Go(s.purge)
	} else {
		s.log.Info("old snapshots and logs are never removed: autopurge.purgeInterval is 0")
	}
}

// every runs fn at intervals until the server stops or fn says so.
func (s *Server) every(d time.Duration, fn func() bool) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			if !fn() {
				return
			}
		}
	}
}

// purge removes old snapshots and logs, first at the start.
func (s *Server) purge() {
	once := func() bool {
		gone, err := s.store.Purge(s.opts.retain)
		for _, path := range gone {
			s.log.Info("removed", "file", path)
		}
		if err != nil {
			s.log.Error("can't remove old snapshots and logs", "error", err)
		}
		return true
	}
	once()
	s.every(s.opts.purgeEvery, once)
}

// reap deletes containers that are empty and nodes that outlived their time, one after another so that no
// more than the allowed number goes in a minute.
func (s *Server) reap() {
	between := max(time.Minute/time.Duration(s.opts.reapMinute), time.Millisecond)
	s.every(s.opts.reapEvery, func() bool {
		paths := s.View().Idle(time.Now().UnixMilli(), s.opts.reapMinute)
		if len(paths) == 0 {
			return true
		}
		running := true
		i := 0
		s.every(between, func() bool {
			s.log.Debug("deleting an idle node", "path", paths[i])
			s.outstanding.Add(1)
			s.metrics.ContainersDeleted.Inc()
			s.head.post(&op{
				req: ztree.Request{Op: jute.OpDeleteContainer, Body: &jute.PathOnly{Path: paths[i]}},
				at:  s.clock.now(),
			})
			i++
			return i < len(paths)
		})
		select {
		case <-s.stop:
			running = false
		default:
		}
		return running
	})
}
