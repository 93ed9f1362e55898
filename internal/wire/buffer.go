package wire

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// Buffers come in size classes: four small ones, then four to each power of two, so that a frame never
// takes more than a quarter above its size.
const (
	smallBuffer = 4 << 10
	busyBuffer  = 256 << 10 // what a busy connection reads at once: a few batches, well inside a core's cache
	smallOnes   = 4
	classes     = smallOnes + 4*14
)

type buffer struct {
	b     []byte
	class int
}

var bufferPools [classes]sync.Pool

// classOf is the smallest class of at least n bytes.
func classOf(n int) (class, size int) {
	size = smallBuffer
	for class < smallOnes {
		if n <= size {
			return class, size
		}
		class, size = class+1, size*4
	}
	top := bits.Len(uint(n-1)) - 1 // 2^top < n <= 2^(top+1), for n not a power of two itself
	quarter := 1 << (top - 2)
	k := (n - 1<<top + quarter - 1) / quarter // 1..4
	return smallOnes + 4*(top-18) + k - 1, 1<<top + k*quarter
}

func newBuffer(n int) *buffer {
	class, size := classOf(n)
	if b, ok := bufferPools[class].Get().(*buffer); ok {
		return b
	}
	return &buffer{make([]byte, size), class}
}

func (b *buffer) free() { bufferPools[b.class].Put(b) }

// memory bounds what requests and replies hold, all connections together. At the bound connections wait, in
// the order they came, before they take more: the node reads slower instead of growing. One of them may
// overdraw: half-read frames that hold everything could otherwise wait for each other for ever.
type memory struct {
	limit   int64
	used    atomic.Int64
	waiting atomic.Int32
	replies atomic.Int64 // what of used is for replies

	mu          sync.Mutex
	first, last *Conn // who waits
	over        *Conn // who overdraws
}

// wait is a connection's place in the queue.
type wait struct {
	next  *Conn
	n     int
	over  bool // what it got is an overdraft
	ready chan bool
}

// plenty tells that memory is far from short: frames may take their announced size at once instead of as
// they arrive.
func (m *memory) plenty() bool { return m.used.Load() < m.limit/4 }

// try takes n bytes if they are there and nobody waits for them.
func (m *memory) try(n int) bool { return m.waiting.Load() == 0 && m.fits(n) }

// fits never counts what it doesn't get: that would refuse others.
func (m *memory) fits(n int) bool {
	for {
		used := m.used.Load()
		if used+int64(n) > m.limit {
			return false
		}
		if m.used.CompareAndSwap(used, used+int64(n)) {
			return true
		}
	}
}

// take takes n bytes for c, on its goroutine, waiting for them if it must. False: the connection died
// meanwhile.
func (m *memory) take(c *Conn, n int) bool {
	if m.try(n) {
		return true
	}
	m.mu.Lock()
	if m.over == c {
		m.used.Add(int64(n))
		m.mu.Unlock()
		return true
	}
	w := &c.wait
	if w.ready == nil {
		w.ready = make(chan bool, 1)
	}
	w.n, w.next, w.over = n, nil, false
	if m.last == nil {
		m.first = c
	} else {
		m.last.wait.next = c
	}
	m.last = c
	m.waiting.Add(1)
	asked := ticks(time.Now())
	c.queued.Store(true)
	m.grant()
	m.mu.Unlock()
	ok := <-w.ready
	c.last.Store(ticks(time.Now())) // it was the node that took its time
	c.frameAt.Add(c.last.Load() - asked)
	c.queued.Store(false)
	c.over = c.over || w.over
	return ok
}

// grant serves the queue as far as there is memory. The caller holds mu.
func (m *memory) grant() {
	for m.first != nil {
		c := m.first
		w := &c.wait
		dead := c.dead.Load()
		if !dead && !m.fits(w.n) {
			if m.over != nil {
				return
			}
			m.over, w.over = c, true
			m.used.Add(int64(w.n))
		}
		if m.first = w.next; m.first == nil {
			m.last = nil
		}
		m.waiting.Add(-1)
		w.ready <- !dead
	}
}

// force takes n bytes without asking: for the smallest buffers, whose number max.connections bounds, and
// for replies that are there already.
func (m *memory) force(n int) { m.used.Add(int64(n)) }

func (m *memory) give(n int) {
	m.used.Add(-int64(n))
	if m.waiting.Load() > 0 {
		m.mu.Lock()
		m.grant()
		m.mu.Unlock()
	}
}

// settle ends c's overdraft.
func (m *memory) settle(c *Conn) {
	m.mu.Lock()
	if m.over == c {
		m.over = nil
		m.grant()
	}
	m.mu.Unlock()
}

// poke lets the dead out of the queue.
func (m *memory) poke() {
	if m.waiting.Load() == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var before *Conn
	for c := m.first; c != nil; {
		next := c.wait.next
		if !c.dead.Load() {
			before, c = c, next
			continue
		}
		if before == nil {
			m.first = next
		} else {
			before.wait.next = next
		}
		if m.last == c {
			m.last = before
		}
		m.waiting.Add(-1)
		c.wait.ready <- false
		c = next
	}
	m.grant()
}
