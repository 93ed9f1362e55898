package seglog

import (
	"sync/atomic"

	"github.com/kalda/kalda/internal/format/batch"
)

// ring remembers where the last appends to a segment began, for readers at the end of the log. The newest
// mark is the end. One writer, any number of readers, no lock: a reader that was overtaken by a whole round
// tries again.
type ring struct {
	n     atomic.Uint64 // marks ever made; the last is at n-1
	marks [ringSize]struct {
		offset, pos atomic.Int64
	}
}

const ringSize = 16

// push is called by the segment's one writer.
func (r *ring) push(o batch.Offset, pos int64) {
	n := r.n.Load()
	m := &r.marks[n%ringSize]
	m.offset.Store(int64(o))
	m.pos.Store(pos)
	r.n.Store(n + 1)
}

// floor is the newest mark at or before o, exact if there is one at o itself. Not ok: it is too far back for
// the ring.
func (r *ring) floor(o batch.Offset) (offset batch.Offset, pos int64, ok bool) {
	n := r.n.Load()
	for i := n; i > 0 && i+ringSize > n+1; i-- {
		m := &r.marks[(i-1)%ringSize]
		if offset = batch.Offset(m.offset.Load()); offset <= o {
			pos = m.pos.Load()
			// By now the writer may be filling the slot of mark n() - ringSize, but none after it.
			return offset, pos, i-1+ringSize > r.n.Load()
		}
	}
	return 0, 0, false
}
