package ensemble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/disk/zklog"
	"github.com/kalda/kalda/internal/format/jute"
)

// Server is one ZooKeeper server.
type Server struct {
	zoo     *config.ZooKeeper
	opts    settings
	log     *slog.Logger
	store   *zklog.Store
	clock   clock
	started time.Time
	metrics Metrics

	view    atomic.Pointer[ztree.View]
	watchMu sync.Mutex // guards watches, and that no change slips between a read and its watch
	watches *ztree.Watches

	head        *head
	outstanding atomic.Int64 // requests in the pipeline
	table       table
	snaps       snapshots
	traceMask   atomic.Int64 // what gtmk tells; nothing here is traced by it
	ops         operations

	ln     *net.TCPListener
	stop   chan struct{}
	once   sync.Once
	ended  sync.Once
	endErr error
	fatal  chan error
	wg     sync.WaitGroup // connections and chores
	failed atomic.Bool
}

// errDataDir says that the data directory can't be used.
var errDataDir = errors.New("unable to access datadir")

// Start loads the data directory and serves clients.
func Start(ctx context.Context, o Options) (*Server, error) {
	s := &Server{
		zoo: o.Config, opts: newSettings(o), log: o.Log, clock: clock{time.Now()}, started: time.Now(),
		watches: ztree.NewWatches(), stop: make(chan struct{}), fatal: make(chan error, 1),
	}
	s.table.init()
	s.traceMask.Store(defaultTraceMask)
	store, err := zklog.Open(storeOptions(o.Config, o.FS))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDataDir, err)
	}
	s.store = store
	if err := s.begin(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return s, nil
}

func (s *Server) begin(ctx context.Context) error {
	tree, digests, err := s.recover()
	if err != nil {
		return err
	}
	if err := s.listen(ctx); err != nil {
		return err
	}
	s.head = newHead(s, tree)
	s.head.digests = digests
	s.view.Store(tree.View())
	if err := s.firstSnapshot(); err != nil {
		return errors.Join(err, s.closeListener())
	}
	s.head.start()
	s.chores()
	if s.ln != nil {
		s.wg.Go(s.accept)
	}
	return nil
}

func (s *Server) listen(ctx context.Context) error {
	if s.zoo.ClientAddr == "" {
		return nil
	}
	keep := time.Duration(-1)
	if s.opts.keepAlive {
		keep = 0 // the system's choice
	}
	lc := net.ListenConfig{KeepAlive: keep}
	ln, err := lc.Listen(ctx, "tcp", s.zoo.ClientAddr)
	if err != nil {
		return fmt.Errorf("clientPort: %w", err)
	}
	s.ln = ln.(*net.TCPListener)
	return nil
}

func (s *Server) closeListener() error {
	if s.ln == nil {
		return nil
	}
	return s.ln.Close()
}

// Addr is where clients connect, nil without a client port.
func (s *Server) Addr() *net.TCPAddr {
	if s.ln == nil {
		return nil
	}
	return s.ln.Addr().(*net.TCPAddr)
}

// Fatal gives the error that the server can't go on after: it has stopped serving by then.
func (s *Server) Fatal() <-chan error { return s.fatal }

// fail ends service: nothing that isn't on disk may be acknowledged.
func (s *Server) fail(err error) {
	if s.failed.Swap(true) {
		return
	}
	s.log.Error("the server can't go on: no more writes are acknowledged, and it stops", "error", err)
	s.quit()
	s.fatal <- err
}

// quit stops accepting and disconnects everybody. Sessions stay: clients come back to them.
func (s *Server) quit() {
	s.once.Do(func() {
		close(s.stop)
		_ = s.closeListener()
		for _, c := range s.table.close() {
			c.kill()
		}
	})
}

// Stop disconnects clients, lets what is in the pipeline reach the disk, and lets go of the directory.
func (s *Server) Stop() error {
	s.ended.Do(func() {
		s.quit()
		s.wg.Wait()
		s.head.finish()
		s.snaps.wg.Wait()
		s.endErr = s.store.Close()
	})
	return s.endErr
}

// accept takes connections until the server stops.
func (s *Server) accept() {
	for {
		nc, err := s.ln.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, most likely: Accept would fail again at once
			s.log.Error("can't accept a connection", "error", err)
			select {
			case <-s.stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		c := newConn(s, nc)
		if why := s.table.admit(c, s.opts.maxPerIP, s.opts.maxConns); why != "" {
			s.metrics.Rejected.Inc()
			s.log.Warn("connection refused", "remote", c.remote, "reason", why)
			_ = nc.Close()
			continue
		}
		s.wg.Go(c.serve)
	}
}

// recover builds the tree from the directory, and notes its digests on the way.
func (s *Server) recover() (*ztree.Tree, digestLog, error) {
	r := &restorer{s: s, cfg: treeConfig(s.zoo), began: time.Now()}
	rec, err := s.store.Recover(r)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range rec.Warnings {
		s.log.Warn(w)
	}
	s.metrics.ReplayTime.ObserveMs(time.Since(r.loaded))
	s.metrics.ReplayTxns.Observe(int64(rec.Txns))
	tree := r.tree
	if rec.Last > tree.Zxid() {
		tree.SetZxid(rec.Last)
	}
	dead := tree.View().DeadSessions()
	for _, id := range dead {
		tree.DropSession(id, tree.Zxid())
	}
	s.snaps.init(s, rec, len(dead) > 0)
	s.log.Info("data loaded", "snapshot", rec.Snapshot, "transactions", rec.Txns, "zxid", tree.Zxid(),
		"nodes", tree.View().NodeCount(), "sessions", tree.View().SessionCount(),
		"ms", time.Since(r.began).Milliseconds())
	return tree, r.digests, nil
}

// restorer is what the store replays into.
type restorer struct {
	s       *Server
	cfg     ztree.Config
	loader  *ztree.Loader
	tree    *ztree.Tree
	from    jute.Zxid // digests are compared after this one
	digests digestLog
	began   time.Time
	loaded  time.Time
}

// Begin implements zklog.Restorer.
func (r *restorer) Begin() zklog.SnapshotVisitor {
	r.loader = ztree.NewLoader(r.cfg)
	return r.loader
}

// Loaded implements zklog.Restorer.
func (r *restorer) Loaded(info *zklog.SnapshotInfo) (err error) {
	if info == nil {
		r.tree = ztree.New(r.cfg)
	} else {
		if r.tree, err = r.loader.Finish(info.Zxid); err != nil {
			return err
		}
		r.from = info.Zxid
		if info.Digest != nil {
			r.from = max(r.from, info.Digest.Zxid)
		}
	}
	r.loader = nil
	r.loaded = time.Now()
	r.s.metrics.LoadTime.ObserveMs(r.loaded.Sub(r.began))
	return nil
}

// Txn implements zklog.Restorer.
func (r *restorer) Txn(e zklog.Entry) error {
	txn, err := jute.DecodeTxn(e.Data)
	if err != nil {
		return err
	}
	r.tree.Apply(txn)
	if txn.Header.Zxid > r.from {
		r.s.compare(r.tree, txn)
		if r.s.opts.digest {
			r.digests.note(txn.Header.Zxid, r.tree)
		}
	}
	return nil
}

// compare holds the tree against the digest that the transaction's maker expected.
func (s *Server) compare(t *ztree.Tree, txn *jute.Txn) {
	d := txn.Digest
	if d == nil || d.Version != jute.DigestVersion || !s.opts.digest || d.Tree == t.Digest() {
		return
	}
	if s.metrics.DigestMismatches.Inc(); s.metrics.DigestMismatches.Load() <= 10 {
		s.log.Error("the tree's digest is not what the transaction's maker expected", "zxid", txn.Header.Zxid,
			"expected", d.Tree, "digest", t.Digest())
	}
}
