package seglog

import (
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
)

// What a node wrote and closed is found to be in order, however deep one looks; so is what Apache wrote.
func TestInspectFindsNoFault(t *testing.T) {
	m := vfs.NewMem()
	d := openDir(t, m)
	l := openLog(t, d)
	fill(t, l, 60)
	if err := d.Checkpoint(1_000_000); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 20)
	live, err := Inspect(m, "/data", InspectOptions{Live: true})
	if err != nil || len(live.Damage) > 0 || live.Clean {
		t.Fatalf("%+v, %v", live, err)
	}
	if err := d.Close(1); err != nil {
		t.Fatal(err)
	}
	for _, deep := range []bool{false, true} {
		in, err := Inspect(m, "/data", InspectOptions{Deep: deep})
		if err != nil || len(in.Damage) > 0 || !in.Clean || len(in.Logs) != 1 || in.Segments < 2 || in.Bytes == 0 {
			t.Errorf("deep %v: %+v, %v", deep, in, err)
		}
	}
}
