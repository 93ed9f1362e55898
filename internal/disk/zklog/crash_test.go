package zklog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
)

// txn is a transaction of some size: a header, and a body that only its zxid decides.
func txn(zxid jute.Zxid, size int) []byte {
	b := make([]byte, txnHeader, txnHeader+size)
	binary.BigEndian.PutUint64(b[zxidAt:], uint64(zxid))
	for i := range size {
		b = append(b, byte(int(zxid)*31+i)|1)
	}
	return b
}

// tree is the smallest state that shows whether it was restored: the sum of what was applied.
type tree struct {
	last jute.Zxid
	sum  int64
}

func (t *tree) apply(zxid jute.Zxid) { t.last, t.sum = zxid, t.sum+int64(zxid)*int64(zxid) }

func (t *tree) snapshot() *Snapshot {
	s := *t
	return &Snapshot{
		Zxid: t.last, Last: &s.last, Digest: &Digest{s.last, uint64(s.sum)},
		Sessions: func(yield func(jute.SessionID, int32) bool) { yield(1, 2) },
		ACLs:     func(func(int64, []jute.ACL) bool) {},
		Nodes: func(yield func(string, jute.DataNode) bool) {
			yield("", jute.DataNode{ACL: -1, Stat: jute.StatPersisted{Ctime: s.sum, Mzxid: s.last}})
		},
	}
}

func (t *tree) Begin() SnapshotVisitor        { *t = tree{}; return t }
func (t *tree) Loaded(*SnapshotInfo) error    { return nil }
func (t *tree) Session(jute.SessionID, int32) {}
func (t *tree) ACL(int64, []jute.ACL)         {}
func (t *tree) Node(_ string, n *jute.DataNode) error {
	t.sum, t.last = n.Stat.Ctime, n.Stat.Mzxid
	return nil
}

func (t *tree) Txn(e Entry) error {
	if e.Zxid != t.last+1 || !bytes.Equal(e.Data, txn(e.Zxid, len(e.Data)-txnHeader)) {
		return fmt.Errorf("%v after %v", e.Zxid, t.last)
	}
	t.apply(e.Zxid)
	return nil
}

// want is the state after a transaction.
func want(zxid jute.Zxid) (t tree) {
	for z := jute.Zxid(1); z <= zxid; z++ {
		t.apply(z)
	}
	return t
}

// life is a scripted history on a file system. acked is what was synced, sent what was written.
type life struct {
	tree        tree
	acked, sent jute.Zxid
	killed      bool // it ends without closing, its last batch not synced
}

func (l *life) run(fsys vfs.FS) error {
	s, err := Open(Options{FS: fsys, DataDir: "/d", PreAlloc: 8 << 10})
	if err != nil {
		return err
	}
	if !l.killed {
		defer s.Close()
	}
	rec, err := s.Recover(&l.tree)
	if err != nil {
		return err
	}
	if rec.Empty {
		if _, _, err := s.SaveSnapshot(l.tree.snapshot()); err != nil {
			return err
		}
	}
	for round := range 14 {
		var batch [][]byte
		for i := range 1 + round%3 {
			l.sent++
			batch = append(batch, txn(l.sent, 10+round*37%500+i*200))
		}
		if err := s.Append(batch...); err != nil {
			return err
		}
		if round%4 == 1 {
			continue // two appends, one sync
		}
		if err := s.Sync(); err != nil {
			return err
		}
		l.acked = l.sent
		if err := l.after(s, round); err != nil {
			return err
		}
	}
	return nil
}

// after does what a server does now and then: rolls, snapshots, purges.
func (l *life) after(s *Store, round int) error {
	for l.tree.last < l.acked {
		l.tree.apply(l.tree.last + 1)
	}
	if round%3 == 2 {
		if err := s.Roll(); err != nil {
			return err
		}
		if _, _, err := s.SaveSnapshot(l.tree.snapshot()); err != nil {
			return err
		}
	}
	if round == 11 {
		if _, err := s.Purge(3); err != nil {
			return err
		}
	}
	return nil
}

// TestPowerCutAtEveryOperation: whatever is lost of what wasn't synced, a start finds all that was, in order, and
// the next start finds the same.
func TestPowerCutAtEveryOperation(t *testing.T) {
	total := vfs.NewFaults(vfs.NewMem())
	if err := new(life).run(total); err != nil {
		t.Fatal(err)
	}
	for n := range total.Ops() {
		for seed := range uint64(6) {
			mem := vfs.NewMem()
			faults := vfs.NewFaults(mem)
			faults.HaltAfter(n)
			l := &life{}
			_ = l.run(faults)
			disk := mem.Crash(seed)
			for again := range 2 {
				var got tree
				last, err := restart(disk, &got)
				if err != nil {
					t.Fatalf("operation %d, seed %d, start %d: acked %v: %v", n, seed, again, l.acked, err)
				}
				if last < l.acked || last > l.sent+jute.Zxid(again) || got != want(last) {
					t.Fatalf("operation %d, seed %d, start %d: got %v of %v..%v", n, seed, again, last, l.acked, l.sent)
				}
				disk, l.acked = disk.Crash(seed+1), last
			}
		}
	}
}

// restart recovers and logs one more transaction.
func restart(fsys vfs.FS, into *tree) (jute.Zxid, error) {
	s, err := Open(Options{FS: fsys, DataDir: "/d", PreAlloc: 8 << 10})
	if err != nil {
		return 0, err
	}
	rec, err := s.Recover(into)
	if err != nil {
		return 0, err
	}
	if rec.Empty {
		if _, _, err := s.SaveSnapshot(into.snapshot()); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(s.Append(txn(rec.Last+1, 20)), s.Sync()); err != nil {
		return 0, err
	}
	return rec.Last, nil
}

// TestOneByteFlipped: a byte changed anywhere is refused, or nothing that was synced is lost.
func TestOneByteFlipped(t *testing.T) {
	for _, kill := range []bool{false, true} {
		base := vfs.NewMem()
		l := &life{killed: kill}
		if err := l.run(base); err != nil {
			t.Fatal(err)
		}
		if covered := newestNoteCoversAll(t, base); covered == kill || kill && l.acked == l.sent {
			t.Fatalf("killed %v, the newest log's note covers all: %v, acked %v of %v", kill, covered, l.acked, l.sent)
		}
		entries, err := base.ReadDir("/d/version-2")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != lockName {
				flipAll(t, base, e.Name(), l)
			}
		}
	}
}

// newestNoteCoversAll says whether the newest log file's note counts all its records as synced.
func newestNoteCoversAll(t *testing.T, fsys vfs.FS) bool {
	t.Helper()
	files, err := list(fsys, "/d/version-2", logPrefix)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	w, err := openWindow(fsys, files[len(files)-1].path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.f.Close()
	data, err := w.lastData()
	if err != nil {
		t.Fatal(err)
	}
	synced, ok, err := w.note(data)
	if err != nil || !ok {
		t.Fatal("no note", err)
	}
	end := int64(headerSize)
	for {
		b, err := w.frame(end)
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return synced == end
		}
		end += frameSize(b)
	}
}

func flipAll(t *testing.T, base *vfs.Mem, name string, l *life) {
	t.Helper()
	path := "/d/version-2/" + name
	whole, err := vfs.ReadFile(base, path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		if at > 60 && at%3 != 0 {
			continue // records are of odd lengths: each of their fields' bytes comes up in some
		}
		if at > 40 && at < len(whole)-40 && allZero(whole[at-40:at+40]) {
			continue // zeros ahead: one of them stands for all
		}
		for _, mask := range []byte{1 << (at % 8), whole[at]} {
			if mask == 0 {
				continue
			}
			disk := base.Crash(1)
			b := slices.Clone(whole)
			b[at] ^= mask
			if err := vfs.WriteNew(disk, path, b, true); err != nil {
				t.Fatal(err)
			}
			var got tree
			s := open(t, disk)
			rec, err := s.Recover(&got)
			switch {
			case errors.Is(err, ErrCorrupt):
				if !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "offset") {
					t.Fatalf("%s, byte %d: %v", name, at, err)
				}
			case err != nil:
				t.Fatalf("%s, byte %d: %v", name, at, err)
			case got != want(rec.Last) || rec.Last < l.acked:
				t.Fatalf("%s, byte %d ^ %#x: %v instead of %v: %v", name, at, mask, rec.Last, l.acked, rec.Warnings)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
