package compact

import (
	"container/heap"
	"encoding/binary"

	"github.com/kalda/kalda/internal/format/batch"
)

// Aborted is an aborted transaction, as the transaction indexes tell.
type Aborted struct {
	ProducerID       int64
	First, Last      batch.Offset // Last is its marker
	LastStableOffset batch.Offset
}

// Txns follows the transactions of a log while a pass goes over it, from its start and over all groups of
// segments. The zero value is ready.
type Txns struct {
	ahead     byFirst            // aborted ones that the pass hasn't come to
	aborted   map[int64]*seen    // being passed, by producer
	committed map[int64]bool     // of which data was passed
	Keep      func(Aborted)      // told of each aborted one whose marker is kept; nil: nobody wants to know
	codec     batch.Decompressor // of markers
}

type seen struct {
	Aborted
	data bool
}

// Add tells of aborted transactions that end or begin in what comes next. It may tell of one again.
func (t *Txns) Add(list []Aborted) {
	for _, a := range list {
		heap.Push(&t.ahead, a)
	}
}

// reach takes in the aborted transactions that have begun at offset o.
func (t *Txns) reach(o batch.Offset) {
	for len(t.ahead) > 0 && t.ahead[0].First <= o {
		a, _ := heap.Pop(&t.ahead).(Aborted)
		if t.aborted[a.ProducerID] == nil {
			if t.aborted == nil {
				t.aborted = make(map[int64]*seen)
			}
			t.aborted[a.ProducerID] = &seen{Aborted: a}
		}
	}
}

// data passes a batch of records, and says whether it was aborted: nothing of it counts.
func (t *Txns) data(v batch.View) bool {
	t.reach(v.LastOffset())
	if !v.Transactional() {
		return false
	}
	if a := t.aborted[v.ProducerID()]; a != nil {
		a.data = true
		return true
	}
	if t.committed == nil {
		t.committed = make(map[int64]bool)
	}
	t.committed[v.ProducerID()] = true
	return false
}

// control passes a control batch, and says whether it is of no use any more: the marker of a transaction of
// which no data is left.
func (t *Txns) control(v batch.View) bool {
	t.reach(v.LastOffset())
	if v.Count() == 0 {
		return true
	}
	id := v.ProducerID()
	switch t.kind(v) {
	case abortMarker:
		a := t.aborted[id]
		delete(t.aborted, id)
		if a == nil || !a.data {
			return true
		}
		if t.Keep != nil {
			t.Keep(a.Aborted)
		}
		return false
	case commitMarker:
		had := t.committed[id]
		delete(t.committed, id)
		return !had
	}
	return false
}

const (
	abortMarker  = 0
	commitMarker = 1
)

// kind is the type of a control batch's record, -1 if it can't be read.
func (t *Txns) kind(v batch.View) int {
	r, err := v.Records(&t.codec)
	if err != nil {
		return -1
	}
	defer r.Close()
	var s batch.Span
	if !r.NextSpan(&s) || len(s.Key) < 4 {
		return -1
	}
	return int(binary.BigEndian.Uint16(s.Key[2:]))
}

// byFirst is a heap.
type byFirst []Aborted

func (h *byFirst) Len() int           { return len(*h) }
func (h *byFirst) Less(i, j int) bool { return (*h)[i].First < (*h)[j].First }
func (h *byFirst) Swap(i, j int)      { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }

func (h *byFirst) Push(x any) {
	a, _ := x.(Aborted)
	*h = append(*h, a)
}

func (h *byFirst) Pop() any {
	old := *h
	a := old[len(old)-1]
	*h = old[:len(old)-1]
	return a
}
