package group

import (
	"container/heap"
	"time"
)

// timer is something to do at a time. Timers that are due together fire in the order in which they were set,
// so that a run can be repeated.
type timer struct {
	at    time.Time
	seq   uint64
	index int // in the heap, -1 when not set
	fire  func()
}

func newTimer(fire func()) *timer { return &timer{index: -1, fire: fire} }

func (t *timer) armed() bool { return t.index >= 0 }

// timers is the heap of all set timers. Moving a timer costs no allocation: heartbeats do it all day.
type timers struct {
	heap []*timer
	seq  uint64
}

func (t *timers) set(x *timer, at time.Time) {
	t.seq++
	x.at, x.seq = at, t.seq
	if x.armed() {
		heap.Fix(t, x.index)
	} else {
		heap.Push(t, x)
	}
}

func (t *timers) cancel(x *timer) {
	if x != nil && x.armed() {
		heap.Remove(t, x.index)
	}
}

// next takes the first timer that is due.
func (t *timers) next(now time.Time) *timer {
	if len(t.heap) == 0 || t.heap[0].at.After(now) {
		return nil
	}
	return heap.Pop(t).(*timer)
}

func (t *timers) deadline() time.Time {
	if len(t.heap) == 0 {
		return time.Time{}
	}
	return t.heap[0].at
}

// Len, Less, Swap, Push and Pop are for container/heap.
func (t *timers) Len() int { return len(t.heap) }

func (t *timers) Less(i, j int) bool {
	a, b := t.heap[i], t.heap[j]
	if !a.at.Equal(b.at) {
		return a.at.Before(b.at)
	}
	return a.seq < b.seq
}

func (t *timers) Swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.heap[i].index, t.heap[j].index = i, j
}

func (t *timers) Push(x any) {
	y := x.(*timer)
	y.index = len(t.heap)
	t.heap = append(t.heap, y)
}

func (t *timers) Pop() any {
	n := len(t.heap) - 1
	x := t.heap[n]
	t.heap[n] = nil
	t.heap = t.heap[:n]
	x.index = -1
	return x
}
