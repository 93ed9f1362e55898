package node

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
)

// How often a controller looks whether the metadata knows it, and how soon it tells again.
const (
	registrationCheck = 10 * time.Second
	registrationRetry = 100 * time.Millisecond
	registrationWait  = 5 * time.Second
)

// keepRegistered sees to it that the metadata names this controller, with its present endpoints (kraft.md
// 5.4): features can't be raised while a voter is unknown.
func (n *Node) keepRegistered(ctx context.Context) {
	for {
		wait := registrationCheck
		if !n.controllerKnown() && !n.tellController(ctx) {
			wait = registrationRetry
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func (n *Node) controllerKnown() bool {
	c := n.image.Load().Controller(meta.NodeID(n.cfg.NodeID))
	return c != nil && c.Incarnation == n.incarnated
}

func (n *Node) tellController(ctx context.Context) bool {
	if n.image.Load().Offset < 0 {
		return false // no leader yet, or nothing replicated
	}
	ctx, cancel := context.WithTimeout(ctx, registrationWait)
	defer cancel()
	resp, err := n.channel.call(ctx, n.controllerRegistration())
	r, ok := resp.(*kmsg.ControllerRegistrationResponse)
	if err == nil && ok && r.ErrorCode != 0 {
		err = codeError("ControllerRegistration", r.ErrorCode)
	}
	if err != nil {
		n.log.Debug("this controller isn't registered yet", "error", err)
	}
	return err == nil && ok
}

func (n *Node) controllerRegistration() *kmsg.ControllerRegistrationRequest {
	req := kmsg.NewPtrControllerRegistrationRequest()
	req.ControllerID, req.IncarnationID = n.cfg.NodeID, n.incarnated
	for _, l := range n.cfg.AdvertisedControllers {
		e := kmsg.NewControllerRegistrationRequestListener()
		e.Name, e.Host, e.Port, e.SecurityProtocol = l.Name, hostOf(l.Host), n.portOf(l), l.Protocol
		req.Listeners = append(req.Listeners, e)
	}
	for name, r := range meta.Supported() {
		f := kmsg.NewControllerRegistrationRequestFeature()
		f.Name, f.MinSupportedVersion, f.MaxSupportedVersion = name, r.Min, r.Max
		req.Features = append(req.Features, f)
	}
	return req
}
