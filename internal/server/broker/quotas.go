package broker

import (
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/core/quota"
	"github.com/kalda/kalda/internal/wire"
)

// quotas slows down clients that use more than they may (broker.md 9). Without a quota in the cluster a
// request costs one load of a pointer.
type quotas struct {
	limits atomic.Pointer[quota.Limits] // nil when there are none
	now    func() time.Time
	meters [quota.Connections + 1]meter // no Mutation: the controller has that
}

// meter is a quota.Meter for many goroutines. Clients of one kind share its lock, only when there are quotas.
type meter struct {
	mu sync.Mutex
	*quota.Meter
}

func (q *quotas) init(c *Config) {
	q.now = c.Now
	w := quota.Window{Samples: c.QuotaSamples, Each: c.QuotaWindow}
	q.meters[quota.Produce].Meter = quota.NewMeter(w, 0, c.QuotaClients)
	q.meters[quota.Fetch].Meter = quota.NewMeter(w, 0, c.QuotaClients)
	// What is counted in time can't be made up for by waiting longer than a sample (broker.md 9).
	q.meters[quota.Request].Meter = quota.NewMeter(w, c.QuotaWindow, c.QuotaClients)
	q.meters[quota.Connections].Meter = quota.NewMeter(w, c.QuotaWindow, c.QuotaClients)
}

// apply takes over the quotas of an image, if d says that they changed.
func (q *quotas) apply(img *meta.Image, d *meta.Delta) {
	if d.Snapshot || d.Quotas {
		q.limits.Store(quota.FromRecords(img.Quotas()))
	}
}

// user is the name in a principal.
func user(principal string) string {
	_, name, ok := strings.Cut(principal, ":")
	if !ok {
		return principal
	}
	return name
}

// charge counts use against a client's quota.
func (q *quotas) charge(kind quota.Kind, r *wire.Request, n float64) time.Duration {
	limit, who, ok := q.limits.Load().Find(kind, user(r.Conn.Principal), r.ClientID)
	if !ok {
		return 0
	}
	m := &q.meters[kind]
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Record(who, n, limit, q.now())
}

// giveBack undoes charge.
func (q *quotas) giveBack(kind quota.Kind, r *wire.Request, n float64) {
	if _, who, ok := q.limits.Load().Find(kind, user(r.Conn.Principal), r.ClientID); ok {
		m := &q.meters[kind]
		m.mu.Lock()
		m.Take(who, n, q.now())
		m.mu.Unlock()
	}
}

// windowBytes is what a client may fetch at most in one window, so that one reply can't exceed it; ok is
// false without a quota.
func (q *quotas) windowBytes(r *wire.Request) (int, bool) {
	l := q.limits.Load()
	if !l.Any(quota.Fetch) {
		return 0, false
	}
	limit, _, ok := l.Find(quota.Fetch, user(r.Conn.Principal), r.ClientID)
	if !ok {
		return 0, false
	}
	w := q.meters[quota.Fetch].Window()
	n := limit * float64(w.Samples-1) * w.Each.Seconds()
	return int(min(n, 1<<31-1)), true
}

// Quotas is what the sockets ask.
func (b *Broker) Quotas() wire.Quotas { return &b.quotas }

// On tells whether any quota on requests is set.
func (q *quotas) On() bool { return q.limits.Load().Any(quota.Request) }

// keyWriteTxnMarkers is of brokers among themselves: no client's quota is for it.
const keyWriteTxnMarkers = 27

// Busy charges a request's time, as percents of one thread's.
func (q *quotas) Busy(r *wire.Request, busy time.Duration) time.Duration {
	if r.Key == keyWriteTxnMarkers || !q.On() {
		return 0
	}
	return q.charge(quota.Request, r, busy.Seconds()*100)
}

// Connect charges a new connection to its address. One that comes too early doesn't count.
func (q *quotas) Connect(from netip.Addr) time.Duration {
	l := q.limits.Load()
	if !l.Any(quota.Connections) {
		return 0
	}
	ip := from.String()
	limit, ok := l.OfIP(ip)
	if !ok {
		return 0
	}
	m := &q.meters[quota.Connections]
	m.mu.Lock()
	defer m.mu.Unlock()
	who, now := quota.Who{Client: ip}, q.now()
	d := m.Record(who, 1, limit, now)
	if d > 0 {
		m.Take(who, 1, now)
	}
	return d
}

// throttleProduce charges a Produce request: its bytes and its time. The longer wait holds.
func (q *quotas) throttleProduce(r *wire.Request, acks int16) time.Duration {
	l := q.limits.Load()
	if l == nil {
		return 0
	}
	var d time.Duration
	if l.Any(quota.Produce) {
		d = q.charge(quota.Produce, r, float64(r.Size))
	}
	if acks != 0 {
		d = max(d, q.Busy(r, r.Busy()))
	}
	r.Mute(d)
	return d
}

// throttleFetch charges a Fetch reply of about n bytes. When the client has to wait, it gets none of them, so
// they don't count.
func (q *quotas) throttleFetch(r *wire.Request, n int) time.Duration {
	l := q.limits.Load()
	if l == nil {
		return 0
	}
	var d time.Duration
	if l.Any(quota.Fetch) {
		d = q.charge(quota.Fetch, r, float64(n))
	}
	busy := q.Busy(r, r.Busy())
	if d = max(d, busy); d > 0 && l.Any(quota.Fetch) {
		q.giveBack(quota.Fetch, r, float64(n))
	}
	r.Mute(d)
	return d
}
