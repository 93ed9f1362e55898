package quorum

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/core/kraft"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
)

// golden is one of Apache's metadata logs: see testdata/golden/MANIFEST.md.
type golden struct {
	name          string
	records       int // data records in the log
	end           int64
	lastSnapshot  int64
	bootstrap     int // data records of the 0-0 snapshot
	version       int16
	voters        []Voter
	serversToFind []string
}

func goldens() []golden {
	return []golden{
		{
			name: "static", records: 144, end: 145, lastSnapshot: 130, bootstrap: 6,
			voters: []Voter{{1, "127.0.0.1", 32011}},
		},
		{
			name: "standalone", records: 157, end: 160, lastSnapshot: 132, bootstrap: 6, version: 1,
			serversToFind: []string{"127.0.0.1:32021"},
		},
	}
}

func (g *golden) config(t *testing.T, fsys vfs.FS) Config {
	c := Config{
		NodeID: 1, ClusterID: "MkU3OEVBNTcwNTJENDM2Qg", Dir: "/data", Controller: true, FS: fsys, Voters: g.voters,
		BootstrapServers: g.serversToFind,
	}
	dir, err := base64.RawURLEncoding.DecodeString("mzcxpGanRUi9E9ZPzSbyPw")
	if err != nil {
		t.Fatal(err)
	}
	copy(c.DirectoryID[:], dir)
	return c
}

// disk copies the files that keep allows into memory.
func (g *golden) disk(t *testing.T, keep func(name string) bool) *vfs.Mem {
	t.Helper()
	fsys := vfs.NewMem()
	if err := fsys.MkdirAll("/data/"+partitionDir, 0o755); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("testdata/golden", g.name, partitionDir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if base := filepath.Base(name); keep(base) {
			if err := vfs.WriteFile(fsys, filepath.Join("/data", partitionDir, base), data); err != nil {
				t.Fatal(err)
			}
		}
	}
	return fsys
}

func TestGoldenLogIsAppliedWhole(t *testing.T) {
	for _, g := range goldens() {
		t.Run(g.name, func(t *testing.T) {
			fsys := g.disk(t, func(name string) bool {
				return !strings.HasSuffix(name, ".checkpoint") || strings.HasPrefix(name, "00000000000000000000-")
			})
			m := newList()
			q, err := Open(g.config(t, fsys), m)
			if err != nil {
				t.Fatal(err)
			}
			if err := q.Start(); err != nil {
				t.Fatal(err)
			}
			if len(m.recs) != g.records || m.restored != 0 {
				t.Errorf("%d records applied, want %d; restored %d", len(m.recs), g.records, m.restored)
			}
			if s := q.Status(); s.Epoch != 2 || s.LogEnd <= g.end || s.KRaftVersion != g.version || !m.leads() {
				t.Errorf("%+v", s)
			}
			if err := q.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestGoldenSnapshotIsLoaded(t *testing.T) {
	for _, g := range goldens() {
		t.Run(g.name, func(t *testing.T) {
			fsys := g.disk(t, func(string) bool { return true })
			m := newList()
			q, err := Open(g.config(t, fsys), m)
			if err != nil {
				t.Fatal(err)
			}
			if err := q.Start(); err != nil {
				t.Fatal(err)
			}
			defer q.Close(t.Context())
			if s := q.Status(); m.restored != 1 || s.Applied != s.LogEnd || s.LogEnd <= g.end {
				t.Errorf("restored %d times, %+v", m.restored, s)
			}
		})
	}
}

func TestGoldenBootstrap(t *testing.T) {
	for _, g := range goldens() {
		for _, older := range []bool{false, true} {
			fsys := g.disk(t, func(name string) bool { return name == "00000000000000000000-0000000000.checkpoint" })
			if older { // releases before 4.3 put the same records elsewhere
				from := "/data/" + partitionDir + "/00000000000000000000-0000000000.checkpoint"
				if g.version > 0 {
					continue
				}
				if err := fsys.Rename(from, "/data/bootstrap.checkpoint"); err != nil {
					t.Fatal(err)
				}
			}
			m := newList()
			q, err := Open(g.config(t, fsys), m)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(q.Bootstrap()); n != g.bootstrap {
				t.Errorf("%s: %d bootstrap records, want %d", g.name, n, g.bootstrap)
			}
			if err := q.Start(); err != nil {
				t.Fatal(err)
			}
			if !m.leads() || m.restored != 0 {
				t.Errorf("%s: leads %t, restored %d", g.name, m.leads(), m.restored)
			}
			if s := q.Status(); s.KRaftVersion != g.version {
				t.Errorf("%s: %+v", g.name, s)
			}
			q.Close(t.Context())
		}
	}
}

func TestGoldenQuorumState(t *testing.T) {
	for _, g := range goldens() {
		want, err := os.ReadFile(filepath.Join("testdata/golden", g.name, partitionDir, quorumStateFile))
		if err != nil {
			t.Fatal(err)
		}
		e, err := decodeElection(want)
		if err != nil {
			t.Fatal(err)
		}
		e.Voters = []kraft.ID{1}
		if got := encodeElection(&e); !bytes.Equal(got, want) {
			t.Errorf("%s\n%s", got, want)
		}
	}
	newer := `{"leaderId":1,"leaderEpoch":1,"votedId":-1,"data_version":2}`
	for _, bad := range []string{``, `{}`, newer, `null`} {
		if _, err := decodeElection([]byte(bad)); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

// TestGoldenSnapshotsAgain writes Apache's snapshots again from what was read of them.
func TestGoldenSnapshotsAgain(t *testing.T) {
	for _, g := range goldens() {
		files, err := filepath.Glob(filepath.Join("testdata/golden", g.name, partitionDir, "*.checkpoint"))
		if err != nil || len(files) != 4 {
			t.Fatal(err, files)
		}
		for _, name := range files {
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			id, ok := parseSnapshotName(filepath.Base(name))
			if !ok {
				t.Fatal(name)
			}
			var recs [][]byte
			h, err := readSnapshot(memFile{bytes.NewReader(want)}, id, func(r []byte) bool {
				recs = append(recs, r)
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			err = writeSnapshot(&got, h, 0, func(yield func([]byte) bool) {
				for _, r := range recs {
					if !yield(r) {
						return
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(withoutTimes(t, got.Bytes()), withoutTimes(t, want)) {
				t.Errorf("%s differs\n%x\n%x", name, got.Bytes(), want)
			}
		}
	}
}

// withoutTimes zeroes each batch's times, which tell when it was written, and its checksum.
func withoutTimes(t *testing.T, b []byte) []byte {
	b = bytes.Clone(b)
	for rest := b; len(rest) > 0; {
		v, r, err := batch.Next(rest)
		if err != nil {
			t.Fatal(err)
		}
		clear(v[27:43])
		v.SetCRC()
		rest = r
	}
	return b
}

// TestGoldenControlRecords decodes and encodes every control record of the logs.
func TestGoldenControlRecords(t *testing.T) {
	seen := map[record.ControlType]int{}
	for _, g := range goldens() {
		data, err := os.ReadFile(filepath.Join("testdata/golden", g.name, partitionDir, "00000000000000000000.log"))
		if err != nil {
			t.Fatal(err)
		}
		for len(data) > 0 {
			v, rest, err := batch.Next(data)
			if err != nil {
				t.Fatal(err)
			}
			data = rest
			if !v.Control() {
				continue
			}
			r, err := v.Records(nil)
			if err != nil {
				t.Fatal(err)
			}
			var rec batch.Record
			for r.Next(&rec) {
				seen[again(t, &rec)]++
			}
		}
	}
	for c := record.ControlLeaderChange; c <= record.ControlKRaftVoters; c++ {
		if c == record.ControlSnapshotHeader || c == record.ControlSnapshotFooter {
			continue
		}
		if seen[c] == 0 {
			t.Errorf("no control record of type %d", c)
		}
	}
}

func again(t *testing.T, rec *batch.Record) record.ControlType {
	t.Helper()
	c, err := record.DecodeControlKey(rec.Key)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	switch c {
	case record.ControlLeaderChange:
		m, err := record.DecodeLeaderChange(rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		got = m.Encode()
	case record.ControlKRaftVersion:
		n, err := record.DecodeKRaftVersion(rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		got = record.EncodeKRaftVersion(n)
	case record.ControlKRaftVoters:
		n, err := record.DecodeKRaftVoters(rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		got = record.EncodeKRaftVoters(n)
	}
	if !bytes.Equal(got, rec.Value) || !bytes.Equal(record.ControlKey(c), rec.Key) {
		t.Errorf("control record %d: %x, want %x", c, got, rec.Value)
	}
	return c
}

// TestDeliveredFromDisk: a batch that is no longer in memory is read.
func TestDeliveredFromDisk(t *testing.T) {
	var r recent
	for i := range 3 {
		r.add(kraft.Batch{Base: kraft.Offset(i), Last: kraft.Offset(i), Data: make([]byte, maxRecentBytes/2)})
	}
	if got := r.take(0, 3); got != nil {
		t.Errorf("%d batches", len(got))
	}
}
