package ensemble

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/obs"
)

// Summary is a quantity's count, sum, extremes and quantiles. The zero value is ready.
type Summary struct {
	count, sum atomic.Int64
	min, max   atomic.Int64 // of v+1; 0: none yet
	hist       obs.Histogram
}

// SummaryValues are a Summary's at one moment.
type SummaryValues struct {
	Count, Sum, Min, Max int64
	quantile             func(q float64) int64
}

// Avg is the mean, 0 without values.
func (v SummaryValues) Avg() float64 {
	if v.Count == 0 {
		return 0
	}
	return float64(v.Sum) / float64(v.Count)
}

// Quantile is an upper bound of the q-quantile, exact to a factor of two and never above Max.
func (v SummaryValues) Quantile(q float64) int64 {
	if v.Count == 0 || v.quantile == nil {
		return 0
	}
	return min(v.quantile(q), v.Max)
}

// Observe adds a value.
func (s *Summary) Observe(v int64) { s.ObserveN(v, 1) }

// ObserveN adds a value n times.
func (s *Summary) ObserveN(v, n int64) {
	v = max(0, v)
	s.count.Add(n)
	s.sum.Add(v * n)
	s.hist.ObserveN(v, n)
	for low := s.min.Load(); low == 0 || v+1 < low; low = s.min.Load() {
		if s.min.CompareAndSwap(low, v+1) {
			break
		}
	}
	for high := s.max.Load(); v+1 > high; high = s.max.Load() {
		if s.max.CompareAndSwap(high, v+1) {
			break
		}
	}
}

// ObserveMs adds a duration in milliseconds, as Apache's metrics have them.
func (s *Summary) ObserveMs(d time.Duration) { s.Observe(d.Milliseconds()) }

// Values are what there is now. Quantiles are those since the start, also after a reset.
func (s *Summary) Values() SummaryValues {
	return SummaryValues{
		Count: s.count.Load(), Sum: s.sum.Load(), Min: max(0, s.min.Load()-1), Max: max(0, s.max.Load()-1),
		quantile: s.hist.Quantile,
	}
}

// Reset forgets count, sum and extremes.
func (s *Summary) Reset() {
	s.count.Store(0)
	s.sum.Store(0)
	s.min.Store(0)
	s.max.Store(0)
}

// Metrics are what the server counts. Times are in milliseconds. Apache's name of each stands beside it.
type Metrics struct {
	Latency  Summary   // of all requests: srvr's, reset by srst
	Received obs.Gauge // packets; srst sets them to 0
	Sent     obs.Gauge

	ReadLatency   Summary // readlatency
	UpdateLatency Summary // updatelatency
	FsyncTime     Summary // fsynctime
	BatchSize     Summary // sync_processor_batch_size
	PrepTime      Summary // prep_process_time, of a batch
	SnapshotTime  Summary // snapshottime
	LoadTime      Summary // startup_snap_load_time
	ReplayTime    Summary // startup_txns_load_time
	ReplayTxns    Summary // startup_txns_loaded
	ReplySize     Summary // of replies in bytes: last_, min_ and max_client_response_size
	LastReplySize obs.Gauge

	SlowSyncs         obs.Counter // fsync_threshold_exceed_count
	Commits           obs.Counter // commit_count
	Snapshots         obs.Counter // snap_count
	DigestMismatches  obs.Counter // digest_mismatches_count
	AuthFailed        obs.Counter // auth_failed_count
	BytesReceived     obs.Counter // bytes_received_count
	Connects          obs.Counter // connection_request_count: handshakes
	Rejected          obs.Counter // connection_rejected
	Drops             obs.Counter // connection_drop_count: connections closed
	Revalidated       obs.Counter // connection_revalidate_count
	SessionsExpired   obs.Counter // stale_sessions_expired
	EnsembleAuth      obs.Counter
	ContainersDeleted obs.Counter
	NodesCreated      obs.Counter // node_created_watch_count and the like: notifications by their event
	NodesDeleted      obs.Counter
	NodesChanged      obs.Counter
	ChildrenChanged   obs.Counter

	Ops [numOps]obs.Counter // op_count by request, see Metrics.Op
}

// numOps bounds the opcodes that are counted one by one; beside them are createSession and closeSession.
const numOps = 110

// Op is how many requests of a kind were answered.
func (m *Metrics) Op(op jute.OpCode) int64 {
	if i := opSlot(op); i >= 0 {
		return m.Ops[i].Load()
	}
	return 0
}

func (m *Metrics) countOp(op jute.OpCode, n int64) {
	if i := opSlot(op); i >= 0 {
		m.Ops[i].Add(n)
	}
}

func opSlot(op jute.OpCode) int {
	switch {
	case op == jute.OpCreateSession:
		return numOps - 1
	case op == jute.OpCloseSession:
		return numOps - 2
	case op > 0 && op < numOps-2:
		return int(op)
	}
	return -1
}

// Stats is the server at one moment.
type Stats struct {
	Start         time.Time
	Mode          string // standalone
	ReadOnly      bool
	Zxid          jute.Zxid
	Latency       SummaryValues
	Received      int64
	Sent          int64
	Outstanding   int64
	Connections   int // open, with or without a session
	Sessions      int
	LocalSessions int
	Nodes         int
	Ephemerals    int
	DataSize      int64
	Watches       int
}

// Stats gathers them.
func (s *Server) Stats() Stats {
	v := s.View()
	st := Stats{
		Start: s.started, Mode: "standalone", Zxid: v.Zxid(), Latency: s.metrics.Latency.Values(),
		Received: s.metrics.Received.Load(), Sent: s.metrics.Sent.Load(), Outstanding: s.outstanding.Load(),
		Connections: s.table.count(), Sessions: v.SessionCount(), Nodes: v.NodeCount(),
		Ephemerals: v.EphemeralCount(), DataSize: v.DataSize(),
	}
	s.watchMu.Lock()
	st.Watches = s.watches.Count()
	s.watchMu.Unlock()
	return st
}

// Metrics are the server's own; they may be read at any time.
func (s *Server) Metrics() *Metrics { return &s.metrics }

// View is the newest state of the tree.
func (s *Server) View() *ztree.View { return s.view.Load() }

// Config is what the server was started with.
func (s *Server) Config() *config.ZooKeeper { return s.zoo }

// ResetStats is srst.
func (s *Server) ResetStats() {
	s.metrics.Latency.Reset()
	s.metrics.Received.Set(0)
	s.metrics.Sent.Set(0)
}

// ResetConnections is crst.
func (s *Server) ResetConnections() {
	for _, c := range s.table.all() {
		c.mu.Lock()
		c.stats.reset()
		c.mu.Unlock()
	}
}

// ConnStats is one connection at one moment. Without a session, SessionID is 0, and what is about requests
// means nothing.
type ConnStats struct {
	ID          int64
	Remote      netip.AddrPort
	Interest    int // as Java's selector has it: 1 is read, 5 is written to as well, 0 is not read
	Queued      int64
	Received    int64
	Sent        int64
	SessionID   jute.SessionID
	LastOp      jute.OpCode // OpCreateSession after the handshake
	Established time.Time
	Timeout     int32 // ms
	LastCxid    int32
	LastZxid    jute.Zxid
	LastReply   time.Time
	LastLatency int64 // ms
	Latency     SummaryValues
}

// connCounters are a connection's, under its lock.
type connCounters struct {
	received, sent int64
	lastOp         jute.OpCode
	lastCxid       int32
	lastZxid       jute.Zxid
	lastReply      time.Time
	lastLatency    int64
	count, sum     int64
	min, max       int64
}

func (n *connCounters) reset() {
	n.received, n.sent, n.count, n.sum, n.min, n.max = 0, 0, 0, 0, math.MaxInt64, 0
	n.lastOp, n.lastCxid, n.lastZxid, n.lastReply, n.lastLatency = 0, -1, -1, time.Time{}, 0
}

// answered notes one reply.
func (n *connCounters) answered(op jute.OpCode, xid int32, zxid jute.Zxid) {
	n.lastOp, n.lastCxid, n.lastZxid = op, xid, zxid
}

// took notes that count replies took ms each.
func (n *connCounters) took(now time.Time, count, ms int64) {
	n.lastReply, n.lastLatency = now, ms
	n.sent += count
	n.count += count
	n.sum += count * ms
	n.min, n.max = min(n.min, ms), max(n.max, ms)
}

// Connections are all connections, by their number. Interest is 0 for one that is throttled.
func (s *Server) Connections() []ConnStats {
	all := s.table.all()
	out := make([]ConnStats, 0, len(all))
	for _, c := range all {
		out = append(out, c.snapshot())
	}
	slices.SortFunc(out, func(a, b ConnStats) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (c *conn) snapshot() ConnStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.stats
	st := ConnStats{
		ID: c.id, Remote: c.remote, Interest: 1, Queued: int64(c.pending.Load()), Received: n.received,
		Sent: n.sent, SessionID: c.session, LastOp: n.lastOp, Established: c.since, Timeout: c.timeout,
		LastCxid: n.lastCxid, LastZxid: n.lastZxid, LastReply: n.lastReply, LastLatency: n.lastLatency,
		Latency: SummaryValues{Count: n.count, Sum: n.sum, Max: n.max},
	}
	if n.count > 0 {
		st.Latency.Min = n.min
	}
	st.Latency.quantile = func(float64) int64 { return st.Latency.Max }
	switch {
	case c.parked.Load():
		st.Interest = 0
	case c.writing:
		st.Interest = 5
	}
	return st
}

// WatchSummary is wchs: connections that watch, paths, watches.
func (s *Server) WatchSummary() (connections, paths, watches int) {
	s.watchMu.Lock()
	defer s.watchMu.Unlock()
	return s.watches.Summary()
}

// SessionPaths is a session and paths.
type SessionPaths struct {
	Session jute.SessionID
	Paths   []string
}

// WatchesBySession is wchc.
func (s *Server) WatchesBySession() []SessionPaths {
	ids := s.table.sessionsByConn()
	var out []SessionPaths
	s.watchMu.Lock()
	defer s.watchMu.Unlock()
	for id, paths := range s.watches.ByWatcher() {
		out = append(out, SessionPaths{ids[int64(id)], slices.Clone(paths)})
	}
	return out
}

// PathSessions is a path and sessions.
type PathSessions struct {
	Path     string
	Sessions []jute.SessionID
}

// WatchesByPath is wchp.
func (s *Server) WatchesByPath() []PathSessions {
	ids := s.table.sessionsByConn()
	var out []PathSessions
	s.watchMu.Lock()
	defer s.watchMu.Unlock()
	for path, watchers := range s.watches.ByPath() {
		p := PathSessions{Path: path}
		for _, w := range watchers {
			p.Sessions = append(p.Sessions, ids[int64(w)])
		}
		out = append(out, p)
	}
	return out
}

// Bucket is sessions that are due together.
type Bucket struct {
	At       time.Time
	Ms       int64 // At on the clock of sessions, as Apache's commands over HTTP tell it
	Sessions []jute.SessionID
}

// SessionBuckets is dump's list of sessions by when they expire.
func (s *Server) SessionBuckets() []Bucket {
	out := []Bucket{}
	s.head.do(func() {
		s.head.sessions.ByDeadline(func(at int64, ids []jute.SessionID) {
			out = append(out, Bucket{s.clock.wall(at), at, ids})
		})
	})
	return out
}

// ConnBucket is connections that are closed together unless they are heard from.
type ConnBucket struct {
	At    time.Time
	Conns []ConnStats
}

// ConnectionBuckets is dump's list of connections: by when their silence would be too long, in steps of ten
// seconds, as Apache counts.
func (s *Server) ConnectionBuckets() []ConnBucket {
	const step = 10_000
	byTime := map[int64][]ConnStats{}
	for _, c := range s.table.all() {
		st := c.snapshot()
		wait := int64(st.Timeout)
		if st.SessionID == 0 {
			wait = s.opts.sessionless.Milliseconds()
		}
		at := ((c.heard.Load()+wait)/step + 1) * step
		byTime[at] = append(byTime[at], st)
	}
	out := make([]ConnBucket, 0, len(byTime))
	for at, conns := range byTime {
		slices.SortFunc(conns, func(a, b ConnStats) int { return cmp.Compare(a.ID, b.ID) })
		out = append(out, ConnBucket{s.clock.wall(at), conns})
	}
	slices.SortFunc(out, func(a, b ConnBucket) int { return a.At.Compare(b.At) })
	return out
}

// DigestEntry is the tree's digest after a transaction.
type DigestEntry struct {
	Zxid   jute.Zxid
	Digest uint64
}

const (
	digestEvery = 128
	digestKept  = 1024
)

// digestLog is the tree's digests, as the word hash tells them.
type digestLog []DigestEntry

// note adds the tree's digest if it is one of those that are kept.
func (l *digestLog) note(zxid jute.Zxid, t *ztree.Tree) {
	if zxid%digestEvery != 0 {
		return
	}
	if *l = append(*l, DigestEntry{zxid, t.Digest()}); len(*l) > digestKept {
		*l = (*l)[len(*l)-digestKept:]
	}
}

// Digests is hash: one in 128 transactions, the last 1024 of them.
func (s *Server) Digests() []DigestEntry {
	var out []DigestEntry
	s.head.do(func() { out = slices.Clone(s.head.digests) })
	return out
}

// DirSizes is dirs: the bytes of snapshots and of logs.
func (s *Server) DirSizes() (data, logs int64, err error) { return s.store.Sizes() }

// LastSnapshot is lsnp: the newest snapshot's zxid and when it was taken, as far as this run knows.
func (s *Server) LastSnapshot() (jute.Zxid, time.Time) {
	s.snaps.mu.Lock()
	defer s.snaps.mu.Unlock()
	return s.snaps.last, s.snaps.lastAt
}
