package seglog

import (
	"slices"
	"sync/atomic"

	"github.com/kalda/kalda/internal/format/batch"
)

// NoEpoch and NoOffset are the answers for what isn't known.
const (
	NoEpoch  batch.Epoch  = -1
	NoOffset batch.Offset = -1
)

// epochCache is a log's leader epochs with their first offsets, both increasing. Readers take the slice as
// it is, the one writer replaces it.
type epochCache struct {
	p     atomic.Pointer[[]EpochEntry]
	dirty bool // the file is older; the writer's
}

func (c *epochCache) entries() []EpochEntry {
	if p := c.p.Load(); p != nil {
		return *p
	}
	return nil
}

func (c *epochCache) set(es []EpochEntry) {
	c.p.Store(&es)
	c.dirty = true
}

// latest is the newest epoch, NoEpoch without any.
func (c *epochCache) latest() batch.Epoch {
	es := c.entries()
	if len(es) == 0 {
		return NoEpoch
	}
	return es[len(es)-1].Epoch
}

// assign says that epoch e starts at offset o. Entries that contradict go: an epoch of a leader that wrote
// nothing, or what was truncated.
func (c *epochCache) assign(e batch.Epoch, o batch.Offset) {
	es := c.entries()
	n := len(es)
	if n > 0 && es[n-1].Epoch == e && es[n-1].Start <= o || e < 0 {
		return
	}
	for n > 0 && (es[n-1].Epoch >= e || es[n-1].Start >= o) {
		n--
	}
	c.set(append(slices.Clone(es[:n]), EpochEntry{e, o}))
}

// truncateEnd drops the epochs that start at o or later.
func (c *epochCache) truncateEnd(o batch.Offset) {
	es := c.entries()
	n := len(es)
	for n > 0 && es[n-1].Start >= o {
		n--
	}
	if n < len(es) {
		c.set(slices.Clone(es[:n]))
	}
}

// truncateStart drops the epochs that end before o; the one that covers o starts there now.
func (c *epochCache) truncateStart(o batch.Offset) {
	es := c.entries()
	n := 0
	for n < len(es) && es[n].Start <= o {
		n++
	}
	if n == 0 || n == 1 && es[0].Start == o {
		return
	}
	es = slices.Clone(es[n-1:])
	es[0].Start = o
	c.set(es)
}

// endOffset answers OffsetForLeaderEpoch: the largest known epoch up to e, and where the next one starts, or
// end.
func (c *epochCache) endOffset(e batch.Epoch, end batch.Offset) (batch.Epoch, batch.Offset) {
	es := c.entries()
	if len(es) == 0 || e > es[len(es)-1].Epoch || e < 0 {
		return NoEpoch, NoOffset
	}
	if e == es[len(es)-1].Epoch {
		return e, end
	}
	i, found := slices.BinarySearchFunc(es, e, func(x EpochEntry, e batch.Epoch) int {
		return int(x.Epoch) - int(e)
	})
	switch {
	case found:
		return e, es[i+1].Start
	case i == 0:
		return e, es[0].Start
	}
	return es[i-1].Epoch, es[i].Start
}

// at is the epoch of the record at offset o.
func (c *epochCache) at(o batch.Offset) batch.Epoch {
	es := c.entries()
	for _, e := range slices.Backward(es) {
		if e.Start <= o {
			return e.Epoch
		}
	}
	return NoEpoch
}
