package zklog

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/format/snappystream"
)

const golden = "testdata/golden"

// kept is all that a snapshot and the logs said, to be compared or written again.
type kept struct {
	sessions []session
	acls     []aclEntry
	paths    []string
	nodes    []jute.DataNode
	info     *SnapshotInfo
	txns     [][]byte
}

type session struct {
	id      jute.SessionID
	timeout int32
}

type aclEntry struct {
	key int64
	acl []jute.ACL
}

func (k *kept) Begin() SnapshotVisitor          { *k = kept{}; return k }
func (k *kept) Loaded(info *SnapshotInfo) error { k.info = info; return nil }
func (k *kept) Txn(e Entry) error               { k.txns = append(k.txns, bytes.Clone(e.Data)); return nil }

func (k *kept) Session(id jute.SessionID, timeout int32) {
	k.sessions = append(k.sessions, session{id, timeout})
}
func (k *kept) ACL(key int64, acl []jute.ACL) { k.acls = append(k.acls, aclEntry{key, acl}) }

func (k *kept) Node(path string, n *jute.DataNode) error {
	c := *n
	c.Data = bytes.Clone(n.Data)
	k.paths, k.nodes = append(k.paths, path), append(k.nodes, c)
	return nil
}

func (k *kept) snapshot() *Snapshot {
	return &Snapshot{
		Zxid: k.info.Zxid, Digest: k.info.Digest, Last: k.info.Last,
		Sessions: func(yield func(jute.SessionID, int32) bool) {
			for _, s := range k.sessions {
				yield(s.id, s.timeout)
			}
		},
		ACLs: func(yield func(int64, []jute.ACL) bool) {
			for _, a := range k.acls {
				yield(a.key, a.acl)
			}
		},
		Nodes: k.each(),
	}
}

func (k *kept) each() iter.Seq2[string, jute.DataNode] {
	return func(yield func(string, jute.DataNode) bool) {
		for i := range k.paths {
			if !yield(k.paths[i], k.nodes[i]) {
				return
			}
		}
	}
}

// digest is ZooKeeper's sum over a tree.
func (k *kept) digest() (sum uint64) {
	for path, n := range k.each() {
		if strings.HasPrefix(path, "/zookeeper/") {
			continue
		}
		b := append([]byte(path), n.Data...)
		for _, v := range []int64{int64(n.Stat.Czxid), int64(n.Stat.Mzxid), int64(n.Stat.Pzxid), n.Stat.Ctime, n.Stat.Mtime} {
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		}
		for _, v := range []int32{n.Stat.Version, n.Stat.Cversion, n.Stat.Aversion} {
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		}
		sum += uint64(crc32.ChecksumIEEE(binary.BigEndian.AppendUint64(b, uint64(n.Stat.EphemeralOwner))))
	}
	return sum
}

// uncompressed is a golden snapshot's content.
func uncompressed(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r io.Reader = bytes.NewReader(b)
	switch filepath.Ext(path) {
	case ".gz":
		r, err = gzip.NewReader(r)
	case ".snappy":
		r = snappystream.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGolden_SnapshotsAreWrittenAsTheyWereRead(t *testing.T) {
	paths, _ := filepath.Glob(golden + "/version-2/snapshot.*")
	if len(paths) != 4 {
		t.Fatal(paths)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			k := &kept{}
			info, err := ReadSnapshotFile(path, k)
			if err != nil {
				t.Fatal(err)
			}
			k.info = info
			var out bytes.Buffer
			if err := k.snapshot().Encode(&out); err != nil {
				t.Fatal(err)
			}
			if want := uncompressed(t, path); !bytes.Equal(out.Bytes(), want) {
				t.Errorf("written again: %d bytes, read: %d", out.Len(), len(want))
			}
			if info.Digest == nil || info.Last == nil || *info.Last != info.Zxid {
				t.Fatalf("%+v %+v %v", info, info.Digest, *info.Last)
			}
			if got := k.digest(); got != info.Digest.Value && info.Digest.Zxid > 0 {
				t.Errorf("the tree's digest is %d, the snapshot says %d", got, info.Digest.Value)
			}
			if info.Nodes != len(k.nodes) || info.Sessions != len(k.sessions) {
				t.Errorf("%+v", info)
			}
		})
	}
}

// goldenMem is a memory file system with a copy of the golden directory in /d.
func goldenMem(t *testing.T, skip ...string) *vfs.Mem {
	t.Helper()
	fsys := vfs.NewMem()
	if err := fsys.MkdirAll("/d/version-2", 0o755); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(golden + "/version-2/*")
	for _, path := range paths {
		if slices.Contains(skip, filepath.Base(path)) {
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
	return fsys
}

func open(t *testing.T, fsys vfs.FS) *Store {
	t.Helper()
	s, err := Open(Options{FS: fsys, DataDir: "/d", PreAlloc: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGolden_RecoversWithAnyOfTheSnapshots(t *testing.T) {
	for i, c := range []struct {
		skip string
		txns int
		from jute.Zxid
	}{{"", 3, 0x26}, {"snapshot.26.snappy snapshot.26.gz", 6, 0x23}, {"snapshot.26.snappy snapshot.26.gz snapshot.23", 41, 0}} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			fsys := goldenMem(t, strings.Fields(c.skip)...)
			s := open(t, fsys)
			k := &kept{}
			rec, err := s.Recover(k)
			if err != nil {
				t.Fatal(err)
			}
			if rec.Last != 0x29 || rec.Txns != c.txns || rec.Info.Zxid != c.from || rec.Empty || len(rec.Warnings) > 0 {
				t.Errorf("%+v %+v", rec, rec.Info)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestGolden_LogsAreWrittenAsTheyWereRead: what Apache logged, logged by us, is the same file up to the zeros.
func TestGolden_LogsAreWrittenAsTheyWereRead(t *testing.T) {
	for _, name := range []string{"log.1", "log.24", "log.27"} {
		want, err := os.ReadFile(filepath.Join(golden, versionDir, name))
		if err != nil {
			t.Fatal(err)
		}
		zxid, _, _ := parseName(name, logPrefix)
		k := readAll(t, open(t, goldenMem(t)), zxid, want)
		fsys := vfs.NewMem()
		s := open(t, fsys)
		if err := s.Append(k...); err != nil {
			t.Fatal(err)
		}
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
		got, err := vfs.ReadFile(fsys, "/d/version-2/"+name)
		if err != nil {
			t.Fatal(err)
		}
		end := int(s.log.end)
		if !bytes.Equal(got[:end+noteZeros], want[:end+noteZeros]) || !allZero(want[end:]) {
			t.Errorf("%s differs", name)
		}
	}
}

// readAll gives the transactions of a log file, each of which is also decoded and encoded.
func readAll(t *testing.T, s *Store, from jute.Zxid, file []byte) (out [][]byte) {
	t.Helper()
	r, err := s.Read(from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	size := int64(headerSize)
	var e Entry
	for r.Next(&e) && size+frameSize(e.Data) <= int64(len(file)) && bytes.Contains(file, e.Data) {
		size += frameSize(e.Data)
		out = append(out, bytes.Clone(e.Data))
		txn, err := jute.DecodeTxn(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		if again := txn.Append(nil); !bytes.Equal(again, e.Data) || txn.Header.Zxid != e.Zxid {
			t.Errorf("transaction %v is decoded and encoded differently", e.Zxid)
		}
	}
	if r.Err() != nil || len(out) == 0 {
		t.Fatal(r.Err(), len(out))
	}
	return out
}
