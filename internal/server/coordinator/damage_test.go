package coordinator

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// holedLog is a log that can't be read at some offsets.
type holedLog struct {
	*memLog
	at, behind batch.Offset
}

type hole batch.Offset

func (h hole) Error() string        { return "damaged" }
func (h hole) Behind() batch.Offset { return batch.Offset(h) }

func (l *holedLog) ReadLocal(from batch.Offset, max int, dst []byte) ([]byte, error) {
	if from >= l.at && from < l.behind {
		return nil, fmt.Errorf("read: %w", hole(l.behind))
	}
	if from < l.at {
		max = 1 // never beyond the hole
	}
	return l.memLog.ReadLocal(from, max, dst)
}

// A damaged batch among committed offsets costs what it held and nothing else: it isn't replayed, it is told
// of, and the groups go on with what they had committed before.
func TestDamagedBatchIsNotReplayed(t *testing.T) {
	for damaged := range 3 {
		for _, how := range []string{"payload", "counts", "hole"} {
			for _, chunk := range []int{1, 1 << 20} {
				if how != "counts" || chunk > 1 { // alone, it takes the log to tell where it ends
					damagedLoad(t, damaged, how, chunk)
				}
			}
		}
	}
}

func damagedLoad(t *testing.T, damaged int, how string, chunk int) {
	t.Helper()
	g := newGroups(t, Config{})
	log := &memLog{}
	g.Lead(0, 0, log)
	want := map[string]int64{}
	for i, id := range []string{"a", "b", "a"} {
		if c := do[*group.Codes](t, g, 0, commit(id, int64(10*i))); c.Code != kerr.None {
			t.Fatal(c.Code)
		}
		if i != damaged {
			want[id] = int64(10 * i)
		}
	}
	if len(log.batches) != 3 {
		t.Fatal(len(log.batches))
	}
	b := bytes.Clone(log.batches[damaged])
	again := Log(&memLog{batches: append(append([][]byte(nil), log.batches...), nil)[:3], leo: log.leo})
	switch how {
	case "payload":
		b[len(b)-10] ^= 1
	case "counts":
		b[24] ^= 1
	default:
		v := batch.View(b)
		again = &holedLog{again.(*memLog), v.BaseOffset(), v.LastOffset() + 1}
	}
	if m, ok := again.(*memLog); ok {
		m.batches[damaged] = b
	}
	g = newGroups(t, Config{LoadBuffer: chunk})
	g.Lead(0, 0, again)
	for _, id := range []string{"a", "b"} {
		at := int64(-1)
		for _, o := range do[*group.Fetched](t, g, 0, fetch(id)).Offsets {
			at = o.Offset
		}
		if w, ok := want[id]; ok && at != w || !ok && at >= 0 {
			t.Errorf("batch %d, %s, chunks of %d: %s is at %d; want %v", damaged, how, chunk, id, at, want)
		}
	}
	if g.Metrics.Skipped.Load() == 0 {
		t.Errorf("batch %d, %s: not told", damaged, how)
	}
	if c := do[*group.Codes](t, g, 0, commit("a", 99)); c.Code != kerr.None {
		t.Error(c.Code)
	}
}
