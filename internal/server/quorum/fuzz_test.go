package quorum

import (
	"bytes"
	"os"
	"testing"

	"github.com/kalda/kalda/internal/core/kraft"
)

func FuzzSnapshot(f *testing.F) {
	dir := "testdata/golden/standalone/" + partitionDir
	b, err := os.ReadFile(dir + "/00000000000000000048-0000000001.checkpoint")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = readSnapshot(memFile{bytes.NewReader(b)}, kraft.SnapshotID{Offset: 48, Epoch: 1}, anything)
		_, _ = kraft.Split(b)
	})
}

func FuzzQuorumState(f *testing.F) {
	f.Add([]byte(`{"leaderId":1,"leaderEpoch":1,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA",` +
		`"data_version":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decodeElection(b)
		if err != nil {
			return
		}
		again, err := decodeElection(encodeElection(&e))
		if e.Version == 0 {
			e.Voted.Dir = [16]byte{} // that form has no room for it
		}
		if err != nil || again.Voted != e.Voted || again.Epoch != e.Epoch || again.Leader != e.Leader {
			t.Errorf("%+v, then %+v: %v", e, again, err)
		}
	})
}
