package seglog

import (
	"testing"

	"github.com/kalda/kalda/internal/format/batch"
)

// Allocation budgets: none for a reader, wherever it reads. What the pools lose to a collection is averaged away.
func TestRead_AllocatesNothing(t *testing.T) {
	_, l := osLog(t, DefaultConfig())
	raw, _ := batch.Build(nil, batch.NoProducer(0, 0, 1000), []batch.Record{{Value: make([]byte, 100)}})
	for range 2000 {
		batch.Stamp(batch.View(raw), l.EndOffset(), 0)
		if err := l.Append(1000, raw); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		from batch.Offset
	}{{"start", 0}, {"middle", 1111}, {"end", 1999}} {
		if n := testing.AllocsPerRun(200, func() {
			s, err := l.Read(c.from, l.EndOffset(), 4<<10, true)
			if err != nil || s.Len() == 0 {
				t.Fatal(s.Len(), err)
			}
			s.Release()
		}); n > allocBudget {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
