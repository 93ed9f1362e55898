package broker

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// fetch is one Fetch request: what was asked, and what there is. Pooled; a connection's goroutine owns it.
type fetch struct {
	b         *Broker
	version   int16
	replica   int32 // a follower's node id, negative for consumers
	maxWait   int32
	minBytes  int
	maxBytes  int
	committed bool
	sessionID int32
	epoch     int32
	names     []byte // what topic names are copied to: the request's bytes don't outlive its parking
	list      []fetchPart
	forgotten []replica.PartKey

	session *replica.Session // nil without one
	full    bool             // every partition is told, changed or not
	until   time.Time
	total   int // bytes read
	failed  bool
	start   int // of the reply, in what the connection writes

	parked   parkedFetch
	waits    []waiter
	onResume func(*wire.Request)
}

// fetchPart is one partition of a request, or of its session.
type fetchPart struct {
	topic       string
	id          [16]byte
	n           int32
	leaderEpoch int32
	lastFetched int32
	maxBytes    int32
	offset      batch.Offset
	logStart    batch.Offset // the follower's
	part        *replica.Part

	p     *Partition
	bound batch.Offset // up to where was read
	got   fetched
	tell  bool
}

// fetched is what a read of a partition gave.
type fetched struct {
	code           kerr.Code
	hw, lso, start batch.Offset
	slice          seglog.Slice
	aborted        []seglog.AbortedTxn
	diverging      bool
	divEpoch       int32
	divEnd         batch.Offset
}

var fetches sync.Pool

func newFetch() *fetch {
	if q, ok := fetches.Get().(*fetch); ok {
		return q
	}
	q := new(fetch)
	q.onResume = q.resume
	return q
}

func (b *Broker) serveFetch(r *wire.Request) {
	q := newFetch()
	q.b, q.version = b, r.Version
	if err := q.decode(r.Body); err != nil {
		r.Close("body of Fetch can't be read: " + err.Error())
		q.free()
		return
	}
	if code := q.begin(r.Received); code != kerr.None {
		q.refuse(r, code)
		q.free()
		return
	}
	if most, ok := b.quotas.windowBytes(r); ok && q.replica < 0 {
		q.maxBytes = min(q.maxBytes, most)
		q.minBytes = min(q.minBytes, q.maxBytes)
	}
	b.m.FetchPartitions.Add(int64(len(q.list)))
	q.until = r.Received.Add(time.Duration(q.maxWait) * time.Millisecond)
	q.parked.conn = r.Waker()
	q.serve(r)
}

func (q *fetch) free() {
	if q.session != nil {
		q.b.sessions.end(q.session)
	}
	clear(q.list)
	clear(q.forgotten)
	q.b, q.session, q.sessionID, q.full, q.committed = nil, nil, 0, false, false
	q.list, q.forgotten, q.names, q.waits = q.list[:0], q.forgotten[:0], q.names[:0], q.waits[:0]
	fetches.Put(q)
}

// serve reads, and answers or parks.
func (q *fetch) serve(r *wire.Request) {
	q.read()
	for !q.enough() && time.Now().Before(q.until) {
		if q.park() {
			r.Park(q.until, q.onResume)
			return
		}
		q.read()
	}
	q.answer(r)
	q.free()
}

// enough tells whether to answer now (broker.md 5.7).
func (q *fetch) enough() bool {
	return q.maxWait <= 0 || q.total >= q.minBytes || q.failed || len(q.list) == 0
}

// park puts the fetch where its condition will come true: on its partitions. False: it may have come true
// meanwhile.
func (q *fetch) park() bool {
	q.release()
	q.parked.missing.Store(int64(q.minBytes - q.total))
	q.waits = slices.Grow(q.waits[:0], len(q.list))[:len(q.list)]
	for i := range q.list {
		w := &q.waits[i]
		w.fetch = &q.parked
		q.list[i].p.waits.add(w)
	}
	for i := range q.list {
		f := &q.list[i]
		if f.p.bound(q) != f.bound || !f.p.role.Load().leading {
			q.leave()
			return false
		}
	}
	q.b.m.ParkedFetch.Add(1)
	return true
}

func (q *fetch) leave() {
	for i := range q.waits {
		q.waits[i].leave()
	}
	q.waits = q.waits[:0]
}

// resume runs when there may be enough, when the time is up, or when the client is gone.
func (q *fetch) resume(r *wire.Request) {
	late := !time.Now().Before(q.until)
	if !r.Gone() && !late && q.parked.missing.Load() > 0 {
		return
	}
	q.leave()
	q.b.m.ParkedFetch.Add(-1)
	if r.Gone() {
		q.free()
		return
	}
	if late {
		q.b.m.FetchExpired.Inc()
	}
	q.serve(r)
}

// read reads all partitions in their order, within the request's bounds.
func (q *fetch) read() {
	q.release()
	h := q.b.hosting.Load()
	q.total, q.failed = 0, false
	left := q.maxBytes
	for i := range q.list {
		f := &q.list[i]
		f.got = fetched{hw: -1, lso: -1, start: -1}
		q.resolve(h, f)
		if f.p != nil {
			f.p.fetch(q, f, left, q.total == 0)
		}
		n := f.got.slice.Len()
		q.total += n
		left -= n
		q.failed = q.failed || f.got.code != kerr.None || f.got.diverging
	}
}

// release lets go of the files of the last read.
func (q *fetch) release() {
	for i := range q.list {
		q.list[i].got.slice.Release()
	}
}

// resolve finds the partition, or the code that tells why there is none.
func (q *fetch) resolve(h *hosting, f *fetchPart) {
	var t *hosted
	var known *meta.Topic
	unknown := kerr.UnknownTopicOrPartition
	if q.version >= 13 {
		if t = h.topicByID(&f.id); t == nil {
			known, unknown = q.b.Image().TopicByID(f.id), kerr.UnknownTopicID
		}
	} else if t, _ = h.byName.Get(f.topic); t == nil {
		known = q.b.Image().Topic(f.topic)
	}
	if f.p = t.partition(f.n); f.p != nil {
		return
	}
	f.got.code = unknown
	if t != nil {
		f.got.code = notHosted(len(t.parts), f.n)
	} else if known != nil {
		f.got.code = notHosted(len(known.Partitions), f.n)
	}
}

// bound is up to where a fetch may read.
func (p *Partition) bound(q *fetch) batch.Offset {
	switch {
	case q.replica >= 0:
		return p.LEO()
	case q.committed:
		return p.LSO()
	}
	return p.HW()
}

// fetch reads for one partition of a request: at most left bytes, or one batch however big if one is set.
func (p *Partition) fetch(q *fetch, f *fetchPart, left int, one bool) {
	r := p.role.Load()
	got := &f.got
	switch {
	case p.offline():
		got.code = kerr.KafkaStorageError
	case !r.leading, q.replica >= 0 && !slices.Contains(r.Replicas, meta.NodeID(q.replica)):
		got.code = kerr.NotLeaderOrFollower
	default:
		got.code = r.fence(f.leaderEpoch)
	}
	if got.code != kerr.None {
		return
	}
	if q.committed {
		if err := p.ensureProducers(); err != nil {
			q.storageError(f, err)
			return
		}
	}
	if f.lastFetched >= 0 && f.lastFetched != r.LeaderEpoch && p.diverges(q, f) {
		return
	}
	f.bound = p.bound(q)
	hw, lso, start, end := p.HW(), p.LSO(), p.LogStart(), p.LEO()
	if f.offset < start || f.offset > end {
		got.code = kerr.OffsetOutOfRange
		return
	}
	got.hw, got.lso, got.start = hw, lso, start
	if q.replica >= 0 {
		p.followed(meta.NodeID(q.replica), follower{start: f.logStart, end: f.offset})
	}
	if f.offset < f.bound && (left > 0 || one) {
		p.readSlice(q, f, min(left, int(f.maxBytes)), one)
	}
}

func (p *Partition) readSlice(q *fetch, f *fetchPart, limit int, one bool) {
	s, err := p.log.Read(f.offset, f.bound, max(limit, 0), one)
	if err == nil && q.committed && s.Len() > 0 {
		f.got.aborted, err = p.log.Aborted(f.offset, f.bound)
	}
	if err != nil {
		s.Release()
		q.storageError(f, err)
		return
	}
	f.got.slice = s
}

func (q *fetch) storageError(f *fetchPart, err error) {
	f.got = fetched{hw: -1, lso: -1, start: -1, code: kerr.KafkaStorageError}
	if isOutOfRange(err) {
		f.got.code = kerr.OffsetOutOfRange
		return
	}
	q.b.m.FailedFetch.Inc()
	if errors.Is(err, seglog.ErrCorrupt) {
		f.got.code = kerr.CorruptMessage
		if errors.As(err, new(*seglog.HoleError)) {
			return // said when it was found: whoever reads there asks again and again
		}
	}
	q.b.log.Error("fetch failed", "partition", f.p.String(), "offset", f.offset, "error", err)
	q.b.ioFailed(f.p.dir, err)
}

// diverges tells where the client's log and this one part, if they do (KIP-595).
func (p *Partition) diverges(q *fetch, f *fetchPart) bool {
	e, end, err := p.log.EndOffsetForEpoch(batch.Epoch(f.lastFetched))
	switch {
	case err != nil:
		q.storageError(f, err)
		return true
	case end == seglog.NoOffset:
		f.got.code = kerr.OffsetOutOfRange
		return true
	case int32(e) < f.lastFetched || end < f.offset:
		f.got.diverging, f.got.divEpoch, f.got.divEnd = true, int32(e), end
		f.got.hw, f.got.lso, f.got.start = p.HW(), p.LSO(), p.LogStart()
		return true
	}
	return false
}
