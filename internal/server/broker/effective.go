package broker

import (
	"strconv"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/meta"
)

// dynamic is what an image holds for this broker and for all brokers.
func (b *Broker) dynamic(img *meta.Image) config.Dynamic {
	return config.Dynamic{
		Broker:  img.Config(meta.ConfigBroker, strconv.Itoa(int(b.cfg.NodeID))),
		Default: img.Config(meta.ConfigBroker, ""),
	}
}

// topicConfig is the effective configuration of a topic by an image: its own values, then the broker's
// dynamic ones, then the file's. What is set and not valid is passed over.
func (b *Broker) topicConfig(img *meta.Image, topic string) config.TopicConfig {
	own := img.Config(meta.ConfigTopic, topic)
	if b.cfg.Node == nil {
		return b.cfg.Topic(own)
	}
	c, err := b.cfg.Node.Topic(own, b.dynamic(img))
	if err != nil {
		b.log.Warn("configs of a topic were passed over", "topic", topic, "reason", err)
	}
	return c
}

// configsChanged tells whether a delta may change the configuration of every topic: a broker key gives
// topics their defaults.
func (b *Broker) configsChanged(d *meta.Delta) bool {
	if d.Snapshot {
		return true
	}
	for _, name := range []string{"", strconv.Itoa(int(b.cfg.NodeID))} {
		if _, ok := d.Configs[meta.ConfigResource{Kind: meta.ConfigBroker, Name: name}]; ok {
			return true
		}
	}
	return false
}

// noteIdle warns of configs that were set and have no effect in this release, each key once: nothing is
// accepted in silence that doesn't act. Only the image's goroutine calls it.
func (b *Broker) noteIdle(img *meta.Image, d *meta.Delta) {
	for res := range d.Configs {
		if res.Kind == meta.ConfigBroker && res.Name != "" && res.Name != strconv.Itoa(int(b.cfg.NodeID)) {
			continue
		}
		for name := range img.Config(res.Kind, res.Name) {
			if !config.Idle(config.Resource(res.Kind), name) || b.idle[name] {
				continue
			}
			if b.idle == nil {
				b.idle = map[string]bool{}
			}
			b.idle[name] = true
			b.log.Warn("a config was set that has no effect while this release "+
				"runs", "key", name, "resource", res.Name)
		}
	}
}
