package controller

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/server/quorum"
)

// request is one request being handled on the quorum's goroutine.
type request struct {
	w     quorum.Writer
	req   kmsg.Request
	from  Origin
	reply func(kmsg.Response)
}

func (c *Controller) handle(r *request) {
	r.reply(c.notController(r.req))
}

func (c *Controller) notController(req kmsg.Request) kmsg.Response {
	return req.ResponseKind()
}

// Lead makes this node the active controller.
func (c *Controller) Lead(w quorum.Writer) {
	c.lead = &leadership{epoch: w.Epoch(), pending: c.committed}
}

func (l *leadership) tick(now time.Time, w quorum.Writer, c *Controller) time.Time { return time.Time{} }
