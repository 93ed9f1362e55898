package ensemble

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/disk/zklog"
	"github.com/kalda/kalda/internal/format/jute"
)

// snapshots decides when the tree is written to a file, and does it beside everything else: a View doesn't
// change.
type snapshots struct {
	s       *Server
	wg      sync.WaitGroup
	running atomic.Bool
	first   firstSnapshot

	// The journal's: when the next one is due.
	txns  int
	bytes int64

	mu     sync.Mutex
	last   jute.Zxid
	lastAt time.Time
}

// firstSnapshot is what a start has to write.
type firstSnapshot int

const (
	notNeeded firstSnapshot = iota
	laterOn                 // there is one, and logs after it
	atOnce                  // there is none: without one, logs aren't believed
)

func (p *snapshots) init(s *Server, rec *zklog.Recovery, changed bool) {
	p.s = s
	p.draw()
	switch {
	case rec.Info == nil:
		p.first = atOnce
	case rec.Txns > 0 || changed:
		p.first = laterOn
	}
	if rec.Info != nil {
		p.last = rec.Info.Zxid
	}
}

// draw decides by chance when the next one is due, so that not all servers of an ensemble write at a time.
func (p *snapshots) draw() {
	half := p.s.opts.snapCount / 2
	p.txns = half + rand.IntN(max(1, half))
	p.bytes = 0
	if limit := p.s.opts.snapBytes / 2; limit > 0 {
		p.bytes = limit + rand.Int64N(limit)
	}
}

// due says whether, with so much in the log since the last roll, a new log file and a snapshot are to begin.
func (p *snapshots) due(txns int, bytes int64) bool {
	if txns <= p.txns && (p.bytes == 0 || bytes <= p.bytes) {
		return false
	}
	p.draw()
	return true
}

// begin writes one in the background, unless the last one is still being written.
func (p *snapshots) begin(v *ztree.View) {
	if p.running.Swap(true) {
		p.s.log.Warn("no snapshot now: the last one is still being written")
		return
	}
	p.wg.Go(func() {
		defer p.running.Store(false)
		if _, err := p.s.save(v); err != nil {
			p.s.log.Error("no snapshot: the logs are kept, and the next one is tried in its time", "error", err)
		}
	})
}

// save writes a snapshot of a View.
func (s *Server) save(v *ztree.View) (path string, err error) {
	began := time.Now()
	zxid := v.Zxid()
	snap := &zklog.Snapshot{Zxid: zxid, Sessions: v.Sessions(), ACLs: v.ACLs(), Nodes: v.Nodes()}
	if s.opts.digest {
		snap.Digest = &zklog.Digest{Zxid: zxid, Value: v.Digest()}
	}
	if s.opts.lastInSnap {
		snap.Last = &zxid
	}
	path, size, err := s.store.SaveSnapshot(snap)
	if err != nil {
		return "", err
	}
	took := time.Since(began)
	s.metrics.Snapshots.Inc()
	s.metrics.SnapshotTime.ObserveMs(took)
	s.snaps.mu.Lock()
	s.snaps.last, s.snaps.lastAt = zxid, time.Now()
	s.snaps.mu.Unlock()
	s.log.Info("snapshot written", "file", path, "bytes", size, "ms", took.Milliseconds())
	return path, nil
}

// firstSnapshot writes the one that a start needs.
func (s *Server) firstSnapshot() error {
	switch s.snaps.first {
	case atOnce:
		_, err := s.save(s.View())
		return err
	case laterOn:
		s.snaps.begin(s.View())
	}
	return nil
}
