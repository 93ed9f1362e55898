package wire

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Buffers come in size classes: four small ones, then four to each power of two, so that a frame never takes
// more than a quarter above its size.
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

// memory bounds what buffers of requests hold, all connections together. At the bound connections wait before
// they take more, so the node reads slower instead of growing. One of them may overdraw: half-read frames
// that hold everything could otherwise wait for each other for ever.
type memory struct {
	limit   int64
	used    atomic.Int64
	waiting atomic.Int32

	mu   sync.Mutex
	free sync.Cond
	over *Conn // who overdraws
}

// plenty tells that memory is far from short: frames may take their announced size at once instead of as they
// arrive.
func (m *memory) plenty() bool { return m.used.Load() < m.limit/4 }

func (m *memory) try(n int) bool {
	if m.used.Add(int64(n)) <= m.limit {
		return true
	}
	m.used.Add(-int64(n))
	return false
}

// take takes n bytes for c, on its goroutine, waiting for them if it must. False: the connection died
// meanwhile.
func (m *memory) take(c *Conn, n int) bool {
	if m.try(n) {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting.Add(1)
	defer m.waiting.Add(-1)
	for !c.dead.Load() {
		if m.try(n) {
			return true
		}
		if m.over == nil || m.over == c {
			m.over, c.over = c, true
			m.used.Add(int64(n))
			return true
		}
		m.free.Wait()
	}
	return false
}

// force takes n bytes without asking: for the smallest buffers, whose number max.connections bounds.
func (m *memory) force(n int) { m.used.Add(int64(n)) }

func (m *memory) give(n int) {
	m.used.Add(-int64(n))
	if m.waiting.Load() > 0 {
		m.poke()
	}
}

// settle ends c's overdraft.
func (m *memory) settle(c *Conn) {
	m.mu.Lock()
	if m.over == c {
		m.over = nil
		m.free.Broadcast()
	}
	m.mu.Unlock()
}

func (m *memory) poke() {
	m.mu.Lock()
	m.free.Broadcast()
	m.mu.Unlock()
}
