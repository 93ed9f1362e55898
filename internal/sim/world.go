package sim

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// world is the clock and everything that is going to happen.
type world struct {
	now    time.Time
	rng    *rand.Rand
	events eventHeap
	seq    int
}

func newWorld(seed uint64) *world {
	return &world{now: time.Unix(1_700_000_000, 0), rng: rand.New(rand.NewPCG(seed, 1))}
}

// after schedules fn. Events of the same time happen in the order of their scheduling.
func (w *world) after(d time.Duration, fn func()) {
	w.seq++
	heap.Push(&w.events, event{w.now.Add(d), w.seq, fn})
}

// step makes the next event happen, false when there is none.
func (w *world) step() bool {
	if len(w.events) == 0 {
		return false
	}
	e := heap.Pop(&w.events).(event)
	if e.at.After(w.now) {
		w.now = e.at
	}
	e.fn()
	return true
}

func (w *world) chance(percent float64) bool { return w.rng.Float64()*100 < percent }

func (w *world) between(a, b time.Duration) time.Duration {
	return a + time.Duration(w.rng.Int64N(int64(b-a)+1))
}

type event struct {
	at  time.Time
	seq int
	fn  func()
}

type eventHeap []event

func (h eventHeap) Len() int      { return len(h) }
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at.Before(h[j].at) || h[i].at.Equal(h[j].at) && h[i].seq < h[j].seq
}

func (h *eventHeap) Push(x any) { *h = append(*h, x.(event)) }

func (h *eventHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}
