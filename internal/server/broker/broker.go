package broker

import (
	"log/slog"
	"sync/atomic"

	"github.com/kalda/kalda/internal/core/meta"
)

// Broker is the broker role of a node. Make it with New, feed it images with ApplyImage, serve Table.
type Broker struct {
	cfg   Config
	log   *slog.Logger
	m     *Metrics
	image atomic.Pointer[meta.Image]

	hosting  atomic.Pointer[hosting]
	logs     logs
	sessions sessions
	ids      producerIDs
	quotas   quotas
	clients  clientMetrics
	cleaner  cleaner

	creating creations       // topics made on demand
	idle     map[string]bool // keys of configs that were warned about
}

// New makes a Broker that has no partitions yet: the log dirs are locked and listed, no log is read.
func New(cfg Config) (*Broker, error) {
	cfg.fill()
	b := &Broker{cfg: cfg, log: cfg.Log, m: cfg.Metrics}
	b.image.Store(meta.Empty())
	b.hosting.Store(newHosting())
	b.logs.stop = make(chan struct{})
	b.logs.made = make(chan []*Partition, 64)
	b.sessions.init(&b.cfg)
	b.ids.b = b
	b.quotas.init(&b.cfg)
	b.clients.init(&b.cfg)
	b.cleaner.init(b)
	if err := b.openDirs(); err != nil {
		return nil, err
	}
	return b, nil
}

// Config is what the broker was made with.
func (b *Broker) Config() *Config { return &b.cfg }

// Image is the newest metadata whose partitions are ready.
func (b *Broker) Image() *meta.Image { return b.image.Load() }

// Partition is a hosted partition, nil if this node doesn't host it.
func (b *Broker) Partition(topic string, n int32) *Partition {
	t, _ := b.hosting.Load().byName.Get(topic)
	return t.partition(n)
}

// PartitionByID is a hosted partition by its topic's id, nil if this node doesn't host it.
func (b *Broker) PartitionByID(id meta.UUID, n int32) *Partition {
	raw := [16]byte(id)
	return b.hosting.Load().topicByID(&raw).partition(n)
}

// PreviousEpoch is the broker epoch with which all log directories were last closed cleanly, -1 if one
// wasn't: the controller then knows what the last run of this node may have lost (KIP-966).
func (b *Broker) PreviousEpoch() int64 {
	epoch := int64(-1)
	for i, d := range b.logs.dirs {
		if d.Dir == nil {
			return -1
		}
		clean, e := d.Clean()
		if !clean || i > 0 && e != epoch {
			return -1
		}
		epoch = e
	}
	return epoch
}
