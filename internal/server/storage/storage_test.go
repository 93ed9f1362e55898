package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

const cluster = "MkU3OEVBNTcwNTJENDM2Qg"

// retime sets every time in a 0-0 snapshot to t, so that two of them can be compared.
func retime(t *testing.T, b []byte) []byte {
	t.Helper()
	b = bytes.Clone(b)
	for rest := b; len(rest) > 0; {
		v, next, err := batch.Next(rest)
		if err != nil {
			t.Fatal(err)
		}
		if v.Checksum() != v.CRC() {
			t.Fatal("checksum")
		}
		binary.BigEndian.PutUint64(v[27:], 1)
		binary.BigEndian.PutUint64(v[35:], 1)
		if i := bytes.Index(v[61:], []byte{0, 0, 0, 3, 22, 0, 0}); v.BaseOffset() == 0 && i >= 0 {
			binary.BigEndian.PutUint64(v[61+i+7:], 1) // last contained log timestamp
		}
		binary.BigEndian.PutUint32(v[17:], v.Checksum())
		rest = next
	}
	return b
}

func golden(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func snapshotOf(t *testing.T, fsys vfs.FS, dir string) []byte {
	t.Helper()
	b, err := vfs.ReadFile(fsys, filepath.Join(dir, metadataDir, bootstrapSnapshot))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func node(dirs ...string) Node {
	return Node{
		ID: 1, Controller: true, LogDirs: dirs, StaticVoters: true,
		Listener: "controller", Host: "127.0.0.1", Port: 33001,
	}
}

// TestFormatAgainstApache compares the 0-0 snapshot with what Apache's kafka-storage wrote, times aside.
func TestFormatAgainstApache(t *testing.T) {
	dynamic := node("/d")
	dynamic.StaticVoters = false
	for _, c := range []struct {
		file string
		o    Options
	}{
		{"static.bin", Options{Node: node("/d")}},
		{"initial.bin", Options{
			Node:    dynamic,
			Initial: "1@127.0.0.1:33001:Oq_AWqS9SQy28lWvNFLq2g,2@h:1:ZwKBMI0wlpBY3ytArM461w",
		}},
		{"no-initial.bin", Options{Node: dynamic, NoInitial: true, Features: []string{"metadata.version=20"}}},
	} {
		fsys := vfs.NewMem()
		c.o.ClusterID = cluster
		var out strings.Builder
		if err := Format(fsys, &c.o, &out); err != nil {
			t.Fatal(err)
		}
		got, want := retime(t, snapshotOf(t, fsys, "/d")), retime(t, golden(t, c.file))
		if !bytes.Equal(got, want) {
			t.Errorf("%s\n got %x\nwant %x", c.file, got, want)
		}
		p, err := seglog.LoadProperties(fsys, "/d")
		if err != nil || p.ClusterID != cluster || p.NodeID != 1 || p.Version != 1 {
			t.Errorf("%+v %v", p, err)
		}
		if c.o.Initial != "" && p.DirectoryID != "Oq_AWqS9SQy28lWvNFLq2g" {
			t.Error("the list gives the directory's id", p.DirectoryID)
		}
	}
}

// TestScramAgainstApache: the credential that Apache derived from the same argument.
func TestScramAgainstApache(t *testing.T) {
	dynamic := node("/d")
	dynamic.StaticVoters = false
	o := Options{Node: dynamic, ClusterID: cluster, Standalone: true, Release: "4.2", Scram: []string{
		`SCRAM-SHA-256=[name=alice,salt="c2FsdHNhbHRzYWx0",` +
			`saltedpassword="c2FsdGVkc2FsdGVkc2FsdGVkc2FsdGVkc2FsdGVkMTI=",iterations=4096]`,
	}}
	fsys := vfs.NewMem()
	if err := Format(fsys, &o, &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	got, want := retime(t, snapshotOf(t, fsys, "/d")), retime(t, golden(t, "standalone-scram.bin"))
	_, got, _ = batch.Next(got) // the voter's directory id is random
	_, want, _ = batch.Next(want)
	if !bytes.Equal(got, want) {
		t.Errorf("\n got %x\nwant %x", got, want)
	}
}

func TestFormatSays(t *testing.T) {
	fsys := vfs.NewMem()
	o := Options{Node: node("/a", "/b"), ClusterID: cluster}
	var out strings.Builder
	if err := Format(fsys, &o, &out); err != nil {
		t.Fatal(err)
	}
	want := "Formatting data directory /b with metadata.version 4.4-IV2.\n" +
		"Formatting metadata directory /a with metadata.version 4.4-IV2.\n"
	const first = "Bootstrap metadata: BootstrapMetadata(records=[ApiMessageAndVersion("
	if !strings.HasPrefix(out.String(), first) ||
		!strings.HasSuffix(out.String(), want) {
		t.Error(out.String())
	}
	err := Format(fsys, &o, &out)
	if err == nil || err.Error() != "Log directory /a is already formatted. Use --ignore-formatted to ignore "+
		"this directory and format the others." {
		t.Error(err)
	}
	out.Reset()
	o.Ignore = true
	const all = "All of the log directories are already formatted.\n"
	if err := Format(fsys, &o, &out); err != nil || out.String() != all {
		t.Error(err, out.String())
	}
	out.Reset()
	if !Info(fsys, &o.Node, &out) || !strings.HasPrefix(out.String(),
		"Found log directories:\n  /a\n  /b\n\nFound metadata: {cluster.id="+cluster+", directory.id=") {
		t.Error(out.String())
	}
	out.Reset()
	n := node("/none")
	if Info(fsys, &n, &out) || out.String() != "Found problem:\n  /none does not exist\n\n" {
		t.Error(out.String())
	}
}

func TestFormatRefuses(t *testing.T) {
	dynamic := node("/d")
	dynamic.StaticVoters = false
	broker := node("/d")
	broker.Controller = false
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Node: dynamic}, "Because controller.quorum.voters is not set on this controller"},
		{Options{Node: broker, Standalone: true}, "You cannot specify controller.quorum.voters"},
		{Options{Node: node("/d"), Release: "9.9"}, "Unknown metadata.version '9.9'"},
		{
			Options{Node: node("/d"), Release: "4.2", Features: []string{"metadata.version=20"}},
			"Use --release-version",
		},
		{
			Options{Node: node("/d"), Features: []string{"foo=1"}},
			"Unsupported feature: foo. Supported features are: elig",
		},
		{
			Options{Node: node("/d"), Features: []string{"share.version=9"}},
			"No feature:share.version with feature level 9",
		},
		{
			Options{Node: dynamic, NoInitial: true, Features: []string{"kraft.version=0"}},
			"Cannot set kraft.version to 0",
		},
		{Options{Node: node("/d"), Features: []string{"kraft.version=1"}}, "Cannot set kraft.version to 1 unless"},
		{Options{Node: node("/d"), Scram: []string{"SCRAM-SHA-256=[name=a]"}}, "You must supply one of 'password'"},
		{Options{Node: dynamic, Initial: "1@h:1:x"}, "Failed to parse directory ID"},
		{
			Options{Node: node("/d"), Release: "3.6", Features: []string{"eligible.leader.replicas.version=1"}},
			"eligible.leader.replicas.version could not be set to 1 because it depends on metadata.version level 23",
		},
	} {
		c.o.ClusterID = cluster
		err := Format(vfs.NewMem(), &c.o, &strings.Builder{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	fsys := vfs.NewMem()
	n := node("/a", "/b")
	if _, err := Check(fsys, &n, ""); !errors.Is(err, ErrNotFormatted) {
		t.Error(err)
	}
	c, formatted, err := Ready(fsys, &n)
	if err != nil || !formatted || len(c.Dirs) != 2 || c.Metadata.Path != "/a" {
		t.Fatal(c, formatted, err)
	}
	again, formatted, err := Ready(fsys, &n)
	if err != nil || formatted || again.ClusterID != c.ClusterID || again.Dirs[1] != c.Dirs[1] {
		t.Error(again, formatted, err)
	}
	n.LogDirs = append(n.LogDirs, "/c")
	if more, err := Check(fsys, &n, ""); err != nil || len(more.Dirs) != 3 {
		t.Error("a directory that was added", more, err)
	}
	n.ID = 7
	if _, err := Check(fsys, &n, ""); err == nil ||
		!strings.Contains(err.Error(), "Stored node id 1 doesn't match") ||
		!strings.Contains(err.Error(), "/a/meta.properties") || !strings.Contains(err.Error(), "7") {
		t.Error(err)
	}
	n.ID = 1
	if _, err := Check(fsys, &n, "other"); err == nil ||
		!strings.Contains(err.Error(), "Expected other, but read ") ||
		!strings.Contains(err.Error(), c.ClusterID) || !strings.Contains(err.Error(), "/a/meta.properties") {
		t.Error(err)
	}
}

func TestRandomUUID(t *testing.T) {
	for range 1000 {
		if u := RandomUUID(); len(u) != 22 || u[0] == '-' {
			t.Fatal(u)
		}
	}
}

func TestMetadataVersionNames(t *testing.T) {
	for name, want := range map[string]int16{
		"3.9": 21, "3.9.1": 21, "4.4": 33, "4.4-IV0": 31, "3.3": 7, "4.0-IV1": 23,
	} {
		if got, ok := meta.ParseMetadataVersion(name); !ok || got != want {
			t.Errorf("%s is %d, %v", name, got, ok)
		}
	}
	if meta.MetadataVersionName(33) != "4.4-IV2" || meta.MetadataVersionName(99) != "unknown" {
		t.Error("names")
	}
}
