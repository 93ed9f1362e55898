package broker

import (
	"context"
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

	creating creations // topics made on demand
}

// New makes a Broker that has no partitions yet: the log dirs are locked and listed, no log is read.
func New(cfg Config) (*Broker, error) {
	cfg.fill()
	b := &Broker{cfg: cfg, log: cfg.Log, m: cfg.Metrics}
	b.image.Store(meta.Empty())
	return b, nil
}

// Config is what the broker was made with.
func (b *Broker) Config() *Config { return &b.cfg }

// Image is the newest metadata whose partitions are ready.
func (b *Broker) Image() *meta.Image { return b.image.Load() }

// ApplyImage makes img the visible image, after it has made, changed and removed the partitions that d tells of. It is
// called in the order of images, by one goroutine at a time.
func (b *Broker) ApplyImage(img *meta.Image, d *meta.Delta) {
	b.image.Store(img)
}

// Partition is a hosted partition, nil if this node doesn't host it.
func (b *Broker) Partition(topic string, n int32) *Partition { return nil }

// PartitionByID is a hosted partition by its topic's id, nil if this node doesn't host it.
func (b *Broker) PartitionByID(id meta.UUID, n int32) *Partition { return nil }

// Start begins the background tasks: checkpoints, retention, expiry.
func (b *Broker) Start() {}

// Close stops the background tasks, flushes and closes the logs and marks the shutdown as clean. No request may be served
// any more.
func (b *Broker) Close(ctx context.Context) error { return nil }
