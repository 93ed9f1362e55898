package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

// serveCreateTopics has the controller make the topics: it answers once their records are committed and, on
// this node, visible, or when the request's time is up. From version 5 on the answer shows each topic's
// effective configs, which the controller, knowing only what is set on the topic, leaves to this broker.
func (b *Broker) serveCreateTopics(r *wire.Request) {
	req := kmsg.NewPtrCreateTopicsRequest()
	if !r.Decode(req) {
		return
	}
	b.cfg.Forward.Forward(req, originOf(r), func(resp kmsg.Response) {
		if made, ok := resp.(*kmsg.CreateTopicsResponse); ok && r.Version >= 5 && b.cfg.Node != nil {
			b.showConfigs(req, made)
		}
		r.Reply(resp)
	})
}

func (b *Broker) showConfigs(req *kmsg.CreateTopicsRequest, resp *kmsg.CreateTopicsResponse) {
	own := make(map[string]map[string]string, len(req.Topics))
	for i := range req.Topics {
		set := map[string]string{}
		for _, c := range req.Topics[i].Configs {
			if c.Value != nil {
				set[c.Name] = *c.Value
			}
		}
		own[req.Topics[i].Topic] = set
	}
	dyn := b.dynamic(b.Image())
	for i := range resp.Topics {
		t := &resp.Topics[i]
		if t.ErrorCode != 0 || len(t.Configs) > 0 {
			continue
		}
		for _, e := range b.cfg.Node.DescribeTopic(own[t.Topic], dyn) {
			c := kmsg.NewCreateTopicsResponseTopicConfig()
			c.Name, c.Value, c.ReadOnly = e.Key.Name, e.Value, e.ReadOnly
			c.Source, c.IsSensitive = int8(e.Source), e.Key.Sensitive()
			t.Configs = append(t.Configs, c)
		}
	}
}
