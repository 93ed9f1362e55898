package zklog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kalda/kalda/internal/core/ztree"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/disk/zklog"
	"github.com/kalda/kalda/internal/format/jute"
)

// restored is a tree made of a data directory, as a server makes it.
type restored struct {
	loader  *ztree.Loader
	tree    *ztree.Tree
	digests int // of transactions, compared
	cfg     ztree.Config
}

func (r *restored) Begin() zklog.SnapshotVisitor {
	r.loader = ztree.NewLoader(r.cfg)
	return r.loader
}

func (r *restored) Loaded(info *zklog.SnapshotInfo) (err error) {
	if info == nil {
		r.tree = ztree.New(r.cfg)
		return nil
	}
	if r.tree, err = r.loader.Finish(info.Zxid); err != nil {
		return err
	}
	if d := info.Digest; d != nil && d.Zxid == info.Zxid && d.Zxid > 0 && d.Value != r.tree.Digest() {
		return fmt.Errorf("the digest is %#x, the snapshot says %#x", r.tree.Digest(), d.Value)
	}
	return nil
}

func (r *restored) Txn(e zklog.Entry) error {
	txn, err := jute.DecodeTxn(e.Data)
	if err != nil {
		return err
	}
	r.tree.Apply(txn)
	if d := txn.Digest; d != nil {
		if r.digests++; d.Version != jute.DigestVersion || d.Tree != r.tree.Digest() {
			return fmt.Errorf("%v: the digest is %#x, the log says %+v", e.Zxid, r.tree.Digest(), d)
		}
	}
	return nil
}

// describe is all that a tree holds: ACLs by what they say, as their keys are a server's own.
func describe(v *ztree.View) (out []string) {
	for path, d := range v.Nodes() {
		n, _ := v.Lookup(path)
		if path == "/zookeeper/config" {
			continue // 3.4 has none
		}
		out = append(out, fmt.Sprintf("%s %q null %v %+v %v", path, d.Data, d.Data == nil, d.Stat, n.ACL()))
	}
	slices.Sort(out)
	for id, timeout := range v.Sessions() {
		out = append(out, fmt.Sprintf("session %v %d", id, timeout))
	}
	return out
}

// restore copies the directory without the named files, and makes a tree of it.
func restore(t *testing.T, dir string, without []string) (*restored, *zklog.Recovery) {
	t.Helper()
	fsys := vfs.NewMem()
	if err := fsys.MkdirAll("/d/version-2", 0o755); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "version-2", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if slices.Contains(without, filepath.Base(path)) {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteFile(fsys, "/d/version-2/"+filepath.Base(path), b); err != nil {
			t.Fatal(err)
		}
	}
	s, err := zklog.Open(zklog.Options{FS: fsys, DataDir: "/d", TrustEmpty: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := &restored{cfg: ztree.Config{Digest: true, ExtendedTypes: true}}
	rec, err := s.Recover(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Warnings) > 0 {
		t.Errorf("%q", rec.Warnings)
	}
	return r, rec
}

// TestGoldenVersions: what each older ZooKeeper wrote is read, and its snapshots and its logs make one tree: the last
// snapshot alone, and every older one (or none) with the logs after it. From 3.6 on the logs tell the digest after
// each transaction.
func TestGoldenVersions(t *testing.T) {
	for _, c := range []struct {
		version   string
		snapshots []string // the newest first
		last      jute.Zxid
		digests   int // in the logs
	}{
		{"3.4.14", []string{"snapshot.d"}, 0x1e, 0},
		{"3.5.10", []string{"snapshot.20", "snapshot.1a", "snapshot.0"}, 0x20, 0},
		{"3.6.4", []string{"snapshot.20", "snapshot.1a", "snapshot.0"}, 0x20, 31},
		{"3.7.2", []string{"snapshot.20", "snapshot.1a", "snapshot.0"}, 0x20, 31},
		{"3.8.4", []string{"snapshot.20", "snapshot.1a", "snapshot.0"}, 0x20, 31},
	} {
		t.Run(c.version, func(t *testing.T) {
			dir := filepath.Join("testdata/golden/versions", c.version)
			var first []string
			for i := range len(c.snapshots) + 1 {
				r, rec := restore(t, dir, c.snapshots[:i])
				if i < len(c.snapshots) && filepath.Base(rec.Snapshot) != c.snapshots[i] {
					t.Errorf("restored from %s", rec.Snapshot)
				}
				if rec.Last != c.last || r.tree.Zxid() != c.last {
					t.Errorf("%+v", rec)
				}
				if i == len(c.snapshots) && r.digests != c.digests {
					t.Errorf("%d digests", r.digests)
				}
				got := describe(r.tree.View())
				if first == nil {
					first = got
				}
				if diff := cmp.Diff(first, got); diff != "" {
					t.Errorf("without %v it is another tree:\n%s", c.snapshots[:i], diff)
				}
				checkVersionsTree(t, r.tree.View(), c.version != "3.4.14")
			}
		})
	}
}

// checkVersionsTree looks for what Versions.java made.
func checkVersionsTree(t *testing.T, v *ztree.View, kinds bool) {
	t.Helper()
	for path, want := range map[string]string{
		"/plain": "again", "/täst": "ü€", "/seq": "s", "/eph": "mine", "/eph2": "theirs", "/acl": "secret",
		"/multi": "m", "/seq/n-0000000005": "", "/multi/s-0000000000": "",
	} {
		if n, ok := v.Lookup(path); !ok || string(n.Data()) != want {
			t.Errorf("%s: %v", path, ok)
		}
	}
	for _, path := range []string{"/null", "/gone", "/never", "/theirs", "/seq/n-0000000001", "/seq/x-0000000004"} {
		if _, ok := v.Lookup(path); ok {
			t.Errorf("%s is there", path)
		}
	}
	var owners []string
	for id, paths := range v.EphemeralOwners() {
		if _, ok := v.SessionTimeout(id); !ok {
			t.Errorf("session %v is gone", id)
		}
		owners = append(owners, strings.Join(paths, " "))
	}
	if want := []string{"/eph /multi/e /seq/e-0000000003", "/eph2"}; !slices.Equal(owners, want) {
		t.Errorf("%q own", owners)
	}
	var idle []string
	if kinds {
		idle = []string{"/ttl"}
		if n, ok := v.Lookup("/container"); !ok || n.Stat().EphemeralOwner != 0 {
			t.Errorf("/container: %v", ok)
		}
	}
	if got := v.Idle(1<<50, 10); !slices.Equal(got, idle) {
		t.Errorf("%q are idle", got)
	}
	n, _ := v.Lookup("/acl2")
	if acl := n.ACL(); len(acl) != 2 || acl[0].ID.Scheme != "ip" || acl[1].ID.ID != "user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY=" {
		t.Errorf("/acl2: %v", acl)
	}
}
