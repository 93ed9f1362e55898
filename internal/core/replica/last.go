package replica

import "github.com/kalda/kalda/internal/format/batch"

// Last tells what a cleaner must keep of a producer: the last offset of its last batch, -1 if none is
// remembered, and its epoch. Not ok: the producer isn't known, or not any more.
func (p *Producers) Last(id int64) (data batch.Offset, epoch int16, ok bool) {
	known := p.byID[id]
	if known == nil {
		return -1, noEpoch, false
	}
	if e := known.last(); e != nil {
		return e.lastOffset, known.epoch, true
	}
	return -1, known.epoch, true
}
