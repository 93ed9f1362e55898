package broker

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/kalda/kalda/internal/wire"
)

// waiters are the fetches parked on a partition. Parking and leaving are a slice's append and swap; waking
// those who want any byte at all is one atomic each.
type waiters struct {
	n  atomic.Int32 // so that an append without anybody waiting takes no lock
	mu sync.Mutex
	l  []*waiter
}

// waiter is one parked fetch on one partition.
type waiter struct {
	on    *waiters
	fetch *parkedFetch
	at    int // in on.l
}

// parkedFetch is what a fetch waits for, on however many partitions.
type parkedFetch struct {
	conn    *wire.Conn
	missing atomic.Int64 // bytes until fetch.min.bytes
}

func (w *waiters) add(e *waiter) {
	w.mu.Lock()
	e.on, e.at = w, len(w.l)
	w.l = append(w.l, e)
	w.n.Store(int32(len(w.l)))
	w.mu.Unlock()
}

// leave takes e out. It must be in.
func (e *waiter) leave() {
	w := e.on
	w.mu.Lock()
	last := len(w.l) - 1
	w.l[e.at] = w.l[last]
	w.l[e.at].at = e.at
	w.l[last] = nil
	w.l = w.l[:last]
	w.n.Store(int32(last))
	w.mu.Unlock()
	e.on, e.fetch = nil, nil
}

// wake tells the parked that there are so many bytes more to read. One that then has enough is left to the
// caller to resume when it holds no lock: it saves a switch to another goroutine, which takes longer than the
// answer. The others wake, so that nobody has to answer many.
func (w *waiters) wake(bytes int) (resume *wire.Conn) {
	if w.n.Load() == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.l {
		if e.fetch.missing.Add(-int64(bytes)) > 0 {
			continue
		}
		if resume == nil {
			resume = e.fetch.conn
		} else {
			e.fetch.conn.Wake()
		}
	}
	return resume
}

// wakeAll makes all the parked look again.
func (w *waiters) wakeAll() { wake(w.wake(math.MaxInt32)) }

// wake is for who can't resume.
func wake(c *wire.Conn) {
	if c != nil {
		c.Wake()
	}
}
