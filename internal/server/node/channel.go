package node

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/server/broker"
	"github.com/kalda/kalda/internal/server/controller"
	"github.com/kalda/kalda/internal/server/quorum"
)

// channel takes requests to the active controller: to the one in this process while it leads, over the
// network otherwise.
type channel struct {
	self    meta.NodeID
	ctl     *controller.Controller // nil without the controller role
	raft    raft                   // answers DescribeQuorum while this node leads
	leader  func() (quorum.NodeID, int32)
	remote  *remote
	timeout time.Duration // request.timeout.ms: how long a client's request looks for a controller
	slots   chan struct{} // clients' requests under way over the network
}

// maxForwarded bounds the clients' requests that wait for a controller elsewhere.
const maxForwarded = 1000

func (c *channel) leading() bool {
	id, _ := c.leader()
	return c.ctl != nil && id == c.self
}

// call sends a request of this broker itself.
func (c *channel) call(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	req.SetVersion(req.MaxVersion())
	if !c.leading() {
		return c.remote.call(ctx, req)
	}
	ch := make(chan kmsg.Response, 1)
	c.ctl.Handle(req, controller.Origin{Principal: "User:ANONYMOUS"}, func(r kmsg.Response) { ch <- r })
	select {
	case r := <-ch:
		return r, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Forward sends a client's request (or one of the broker on a client's behalf). It implements broker.Forward.
func (c *channel) Forward(req kmsg.Request, from broker.Origin, reply func(kmsg.Response)) {
	if !c.leading() {
		c.abroad(req, from, reply)
		return
	}
	if req.Key() == int16(kmsg.DescribeQuorum) {
		c.raft.Handle(quorum.RaftRequest{Request: req, Listener: from.Listener, Reply: reply})
		return
	}
	origin := controller.Origin{
		Principal: from.Principal, ClientID: from.ClientID, Host: from.Host, Listener: from.Listener,
	}
	c.ctl.Handle(req, origin, func(resp kmsg.Response) {
		if controller.NotController(resp) && !c.leading() { // it lost leadership in between
			c.abroad(req, from, reply)
			return
		}
		reply(resp)
	})
}

func (c *channel) abroad(req kmsg.Request, from broker.Origin, reply func(kmsg.Response)) {
	select {
	case c.slots <- struct{}{}:
	default:
		reply(controller.Refuse(req, kerr.RequestTimedOut, "Too many requests wait for the controller."))
		return
	}
	go func() { // one a forwarded request, as many as slots: the network is slow and the caller mustn't wait
		defer func() { <-c.slots }()
		ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
		defer cancel()
		resp, err := c.send(ctx, req, from)
		if err != nil {
			resp = controller.Refuse(req, forwardError(err), err.Error())
		}
		reply(resp)
	}()
}

func (c *channel) send(ctx context.Context, req kmsg.Request, from broker.Origin) (kmsg.Response, error) {
	if !forwardable(req.Key()) { // the broker's own, such as AllocateProducerIds
		return c.remote.call(ctx, req)
	}
	return c.remote.envelope(ctx, req, from)
}

// forwardError is what a client is told when its request didn't get through. That the controller moved is
// nothing that the client could do anything about but try again.
func forwardError(err error) kerr.Code {
	var code kerr.Code
	if errors.As(err, &code) && code != kerr.NotController {
		return code
	}
	return kerr.RequestTimedOut
}
