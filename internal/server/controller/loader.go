package controller

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/server/quorum"
)

// Publish makes an image visible. It is called synchronously, in order of offsets, on the quorum's
// goroutine, and before the replies that wait for that offset go out. It must not block.
type Publish func(img *meta.Image, d *meta.Delta)

// Loader is the quorum.Machine of a node without the controller role: it builds images and publishes them.
type Loader struct {
	publish Publish
	fault   func(error)
	log     *slog.Logger
	img     *meta.Image // newest, perhaps inside a metadata transaction
	seen    atomic.Pointer[meta.Image]
}

// NewLoader makes a Loader. fault is told of a record that can't be applied: the node can't go on.
func NewLoader(publish Publish, fault func(error), log *slog.Logger) *Loader {
	l := &Loader{publish: publish, fault: fault, log: log, img: meta.Empty()}
	l.seen.Store(l.img)
	return l
}

// Image is the newest published image, an empty one before the first.
func (l *Loader) Image() *meta.Image { return l.seen.Load() }

// Apply takes one committed batch.
func (l *Loader) Apply(b quorum.Batch) {
	img, d, err := l.img.Apply(b.Base, b.Epoch, b.AppendTime, b.Records)
	if err != nil {
		l.fault(err)
		return
	}
	img.Offset = b.Last
	l.show(img, d)
}

func (l *Loader) show(img *meta.Image, d *meta.Delta) {
	l.img = img
	if img.InTransaction() {
		return
	}
	l.publish(img, d)
	l.seen.Store(img)
}

// Restore replaces everything with a snapshot.
func (l *Loader) Restore(s *quorum.Snapshot) {
	img, d, err := l.seen.Load().FromSnapshot(s.Offset-1, s.Epoch, s.Time, s.Records)
	if err != nil {
		l.fault(err)
		return
	}
	l.show(img, d)
}

// Lead can't happen on a node that is no voter.
func (l *Loader) Lead(w quorum.Writer) {
	l.log.Error("a node without the controller role leads the metadata quorum", "epoch", w.Epoch())
	w.Resign()
}

// Follow notes nothing: the quorum itself knows the leader.
func (l *Loader) Follow(quorum.NodeID, int32) {}

// Tick has no periodic work.
func (l *Loader) Tick(time.Time, quorum.Writer) time.Time { return time.Time{} }

// Snapshot cuts the image as it is now.
func (l *Loader) Snapshot() func(yield func(record []byte) bool) {
	if l.img.InTransaction() {
		return nil
	}
	return l.img.Snapshot()
}
