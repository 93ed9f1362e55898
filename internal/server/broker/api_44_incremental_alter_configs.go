package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveIncrementalAlterConfigs changes single keys. Levels of loggers are this broker's own; the controller
// does the rest.
func (b *Broker) serveIncrementalAlterConfigs(r *wire.Request) {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	if !r.Decode(req) {
		return
	}
	changes := make([]change, len(req.Resources))
	for i := range req.Resources {
		q := &req.Resources[i]
		c := &changes[i]
		c.kind, c.name = q.ResourceType, q.ResourceName
		for _, k := range q.Configs {
			c.keys = append(c.keys, keyChange{name: k.Name, op: k.Op, value: k.Value})
		}
	}
	b.judge(changes, req.ValidateOnly)
	pass := kmsg.NewPtrIncrementalAlterConfigsRequest()
	pass.SetVersion(r.Version)
	pass.ValidateOnly = req.ValidateOnly
	for i := range changes {
		if !changes[i].done {
			pass.Resources = append(pass.Resources, req.Resources[i])
		}
	}
	answer := func(resp *kmsg.IncrementalAlterConfigsResponse) {
		out := kmsg.NewPtrIncrementalAlterConfigsResponse()
		if resp != nil {
			out.ThrottleMillis = resp.ThrottleMillis
			for _, a := range resp.Resources {
				settle(changes, a.ResourceType, a.ResourceName, a.ErrorCode, a.ErrorMessage)
			}
		}
		for i := range changes {
			c := &changes[i]
			row := kmsg.NewIncrementalAlterConfigsResponseResource()
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
		a, _ := resp.(*kmsg.IncrementalAlterConfigsResponse)
		answer(a)
	})
}
