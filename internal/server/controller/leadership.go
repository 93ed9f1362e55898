package controller

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/server/quorum"
)

// leadership is what a Controller has while it is the active one.
type leadership struct {
	epoch   int32
	start   int64       // end of the log when it began
	pending *meta.Image // with everything appended
	steps   []step      // appended, not committed, in order
	parked  []parked    // replies that wait, by offset
	lastOut time.Time   // of the newest append

	sessions map[meta.NodeID]*session
}

// step is one appended batch and the image that it makes.
type step struct {
	last  int64
	img   *meta.Image
	delta *meta.Delta
}

// parked is a reply that waits for an offset.
type parked struct {
	offset int64
	req    kmsg.Request
	reply  func(kmsg.Response)
	resp   kmsg.Response
}

// take gives the image made when b was appended; nil if this leader didn't append it.
func (l *leadership) take(b quorum.Batch) (*meta.Image, *meta.Delta) {
	if l == nil || len(l.steps) == 0 || l.steps[0].last != b.Last || l.epoch != b.Epoch {
		return nil, nil
	}
	s := l.steps[0]
	l.steps[0] = step{}
	l.steps = l.steps[1:]
	img := *s.img
	img.Timestamp = b.AppendTime
	return &img, s.delta
}

// fire sends the replies that waited for an offset up to last.
func (l *leadership) fire(last int64) {
	if l == nil {
		return
	}
	for len(l.parked) > 0 && l.parked[0].offset <= last {
		p := l.parked[0]
		l.parked[0] = parked{}
		l.parked = l.parked[1:]
		p.reply(p.resp)
	}
}

func (l *leadership) abandon(c *Controller) {
	for _, p := range l.parked {
		p.reply(c.notController(p.req))
	}
}
