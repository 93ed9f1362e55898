package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// serveAlterConfigs replaces configs as a whole: a key that isn't given is reset. What this broker can
// judge or must do itself is answered here, the rest by the controller.
func (b *Broker) serveAlterConfigs(r *wire.Request) {
	req := kmsg.NewPtrAlterConfigsRequest()
	if !r.Decode(req) {
		return
	}
	changes := make([]change, len(req.Resources))
	for i := range req.Resources {
		q := &req.Resources[i]
		c := &changes[i]
		c.kind, c.name = q.ResourceType, q.ResourceName
		for _, k := range q.Configs {
			c.keys = append(c.keys, keyChange{name: k.Name, op: kmsg.IncrementalAlterConfigOpSet, value: k.Value})
		}
		if c.kind == kmsg.ConfigResourceTypeBrokerLogger {
			c.refuse(kerr.InvalidRequest, "Unexpected resource type BROKER_LOGGER.")
		}
	}
	b.judge(changes, req.ValidateOnly)
	pass := kmsg.NewPtrAlterConfigsRequest()
	pass.SetVersion(r.Version)
	pass.ValidateOnly = req.ValidateOnly
	for i := range changes {
		if !changes[i].done {
			pass.Resources = append(pass.Resources, req.Resources[i])
		}
	}
	answer := func(resp *kmsg.AlterConfigsResponse) {
		out := kmsg.NewPtrAlterConfigsResponse()
		if resp != nil {
			out.ThrottleMillis = resp.ThrottleMillis
			for _, a := range resp.Resources {
				settle(changes, a.ResourceType, a.ResourceName, a.ErrorCode, a.ErrorMessage)
			}
		}
		for i := range changes {
			c := &changes[i]
			row := kmsg.NewAlterConfigsResponseResource()
			row.ResourceType, row.ResourceName = c.kind, c.name
			row.ErrorCode, row.ErrorMessage = c.outcome()
			out.Resources = append(out.Resources, row)
		}
		r.Reply(out)
	}
	if len(pass.Resources) == 0 {
		answer(nil)
		return
	}
	b.cfg.Forward.Forward(pass, originOf(r), func(resp kmsg.Response) {
		a, _ := resp.(*kmsg.AlterConfigsResponse)
		answer(a)
	})
}
