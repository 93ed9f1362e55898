package group

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/format/batch"
)

// What Apache's coordinator left in its log is what ours knows after a replay, at every point: whole segments, and
// then each of their prefixes, after which the group must go on.
func TestReplayOfApache(t *testing.T) {
	for name, want := range map[string]string{
		"15": "", "20": "", "25": "gold-kip848/consumer/Empty/consumer", "38": "mm/consumer/Stable/classic",
		"18": "", "37": "gold-classic/consumer/Empty/classic",
	} {
		recs := goldenRecords(t, "../../format/record/testdata/golden/group/consumer_offsets-"+name+".log")
		for n := len(recs); n > 0; n-- {
			c := New(Defaults(), [32]byte{1})
			for i, r := range recs[:n] {
				if err := c.Replay(int64(i), -1, r.Key, r.Value); err != nil {
					t.Fatalf("%s, record %d: %v", name, i, err)
				}
			}
			now := time.UnixMilli(1e12)
			c.Loaded(now)
			c.Step(now, 1, &List{})
			var ids, all []string
			for _, g := range c.Drain().Replies[0].Out.(*Listed).Groups {
				ids = append(ids, g.Group)
				all = append(all, strings.Join([]string{g.Group, g.ProtocolType, g.State, g.Type}, "/"))
			}
			if got := strings.Join(all, " "); n == len(recs) && got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
			// All sessions end; then nobody is left, and the group can be deleted.
			c.Tick(now.Add(24 * time.Hour))
			for _, id := range ids {
				c.Step(now.Add(48*time.Hour), 2, &Delete{Group: id})
			}
			for _, r := range c.Drain().Replies {
				if s, ok := r.Out.(*Status); ok && s.Code.String() != "NONE" && s.Code.String() != "GROUP_ID_NOT_FOUND" &&
					name != "18" { // a share group isn't ours to delete
					t.Errorf("%s after %d records: %v", name, n, s)
				}
			}
		}
	}
}

func goldenRecords(t *testing.T, path string) (recs []batch.Record) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for len(b) > 0 {
		v, rest, err := batch.Next(b)
		if err != nil {
			t.Fatal(err)
		}
		b = rest
		r, err := v.Records(nil)
		if err != nil {
			t.Fatal(err)
		}
		var rec batch.Record
		for r.Next(&rec) {
			recs = append(recs, rec)
		}
		r.Close()
	}
	return recs
}
