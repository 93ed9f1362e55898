package quorum

import (
	"time"

	"github.com/kalda/kalda/internal/core/kraft"
)

// writer is an Engine as its machine sees it.
type writer Engine

func (w *writer) Now() time.Time { return w.now }

func (w *writer) Epoch() int32 { return int32(w.core.State().Epoch) }

// Leading is true only once everything before this epoch is applied: earlier, the machine could only plan on
// old state.
func (w *writer) Leading() bool {
	s := w.core.State()
	return s.Role == kraft.Leader && w.told.leading && w.told.epoch == s.Epoch
}

func (w *writer) Append(records [][]byte) (int64, error) {
	if !w.Leading() {
		return -1, ErrNotLeader
	}
	size := 0
	for _, r := range records {
		size += len(r) + 16
	}
	if size > maxBatchBytes {
		return -1, ErrTooLarge
	}
	last, ok := w.core.Append(w.now, records)
	if !ok {
		return -1, ErrNotLeader
	}
	return int64(last), nil
}

func (w *writer) EndOffset() int64 { return int64(w.core.State().Log.End) }

func (w *writer) HighWatermark() int64 { return int64(w.core.State().HighWatermark) }

func (w *writer) Resign() {
	w.core.Step(w.now, kraft.Resign{Epoch: w.core.State().Epoch})
}
