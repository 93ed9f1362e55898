package zklog

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
)

// histories makes a directory with three logs, transactions 1 to 30, and snapshots at 0, 10 and 20.
func histories(t *testing.T) *vfs.Mem {
	t.Helper()
	mem := vfs.NewMem()
	s := open(t, mem)
	k := tree{}
	if _, err := s.Recover(&k); err != nil {
		t.Fatal(err)
	}
	for zxid := jute.Zxid(1); zxid <= 30; zxid++ {
		if zxid%10 == 1 {
			if _, _, err := s.SaveSnapshot(k.snapshot()); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(s.Append(txn(zxid, 20+int(zxid))), s.Sync()); err != nil {
			t.Fatal(err)
		}
		k.apply(zxid)
		if zxid%10 == 0 {
			if err := s.Roll(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return mem.Kill()
}

// at is where the record of a transaction begins in its log, by its bytes.
func at(t *testing.T, file []byte, zxid jute.Zxid) int {
	t.Helper()
	i := bytes.Index(file, txn(zxid, 20+int(zxid)))
	if i < 0 {
		t.Fatalf("no transaction %v", zxid)
	}
	return i - frameHead
}

// bare takes our note off a file: then it is as Apache's server leaves it.
func bare(file []byte) []byte {
	i := bytes.LastIndex(file, []byte("KZLN"))
	if i < 0 {
		return file
	}
	clear(file[i : i+noteSize])
	return file
}

// TestDamage: what a start does about a log that can't be read whole. want is the last transaction; 0: it refuses, naming
// the file and where.
func TestDamage(t *testing.T) {
	cases := []struct {
		name   string
		file   string
		change func(t *testing.T, b []byte) []byte
		want   jute.Zxid
		where  jute.Zxid // the record that a refusal or warning is about
	}{
		{"a bit in the middle of the newest", "log.15", func(t *testing.T, b []byte) []byte {
			b[at(t, b, 25)+40] ^= 4
			return b
		}, 0, 25},
		{"the same, left by Apache", "log.15", func(t *testing.T, b []byte) []byte {
			b[at(t, b, 25)+40] ^= 4
			return bare(b)
		}, 0, 25},
		{"a bit in a record's length, left by Apache", "log.15", func(t *testing.T, b []byte) []byte {
			b[at(t, b, 25)+9] ^= 1
			return bare(b)
		}, 0, 25},
		{"a bit in the end mark, left by Apache", "log.15", func(t *testing.T, b []byte) []byte {
			b[at(t, b, 26)-1] ^= 1
			return bare(b)
		}, 0, 25},
		{"the last record of a file that our note covers", "log.15", func(t *testing.T, b []byte) []byte {
			b[at(t, b, 30)+20] ^= 4
			return b
		}, 0, 30},
		{"the last record torn, left by Apache", "log.15", func(t *testing.T, b []byte) []byte {
			clear(b[at(t, b, 30)+20:])
			return bare(b)
		}, 29, 30},
		{"the file cut within the last record", "log.15", func(t *testing.T, b []byte) []byte {
			return b[:at(t, b, 30)+20]
		}, 29, 30},
		{"the file cut within a record's header", "log.15", func(t *testing.T, b []byte) []byte {
			return b[:at(t, b, 30)+5]
		}, 29, 30},
		{"a hole, as pages come in any order, left by Apache", "log.15", func(t *testing.T, b []byte) []byte {
			from := at(t, b, 27)
			clear(b[from+15 : from+frameHead+txnHeader+20+27+1])
			return bare(b)
		}, 26, 27},
		{"the end of an older log cut, and the next goes on behind it", "log.b", func(t *testing.T, b []byte) []byte {
			return b[:at(t, b, 20)+20]
		}, 0, 20},
		{"the end of an older log zeros, left by Apache", "log.b", func(t *testing.T, b []byte) []byte {
			clear(b[at(t, b, 20)+20:])
			return bare(b)
		}, 0, 20},
		{"nothing but zeros", "log.15", func(_ *testing.T, b []byte) []byte { clear(b); return b }, 20, 0},
		{"nothing", "log.15", func(*testing.T, []byte) []byte { return nil }, 20, 0},
		{"less than a header", "log.15", func(_ *testing.T, b []byte) []byte { return b[:7] }, 20, 0},
		{"no log", "log.15", func(_ *testing.T, b []byte) []byte { copy(b, "nope"); return b }, 0, 0},
		{"an older log, not needed", "log.b", func(t *testing.T, b []byte) []byte {
			b[at(t, b, 15)+40] ^= 4
			return b
		}, 30, 0},
	}
	base := histories(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			fsys := base.Kill()
			path := "/d/version-2/" + c.file
			b, err := vfs.ReadFile(fsys, path)
			if err != nil {
				t.Fatal(err)
			}
			if c.file == "log.b" && c.want == 0 { // without the snapshot behind it, it is needed
				if err := fsys.Remove("/d/version-2/snapshot.14"); err != nil {
					t.Fatal(err)
				}
			}
			offset := 0
			if c.where != 0 {
				offset = at(t, b, c.where)
			}
			if err := vfs.WriteNew(fsys, path, c.change(t, b), true); err != nil {
				t.Fatal(err)
			}
			var got tree
			s := open(t, fsys)
			rec, err := s.Recover(&got)
			if c.want == 0 {
				if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), fmt.Sprintf("%s: offset %d:", path, offset)) {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil || rec.Last != c.want || got != want(c.want) {
				t.Fatalf("%+v %v", rec, err)
			}
			if c.where != 0 && (len(rec.Warnings) != 1 || !strings.Contains(rec.Warnings[0], fmt.Sprintf("%s: offset %d:", path, offset))) {
				t.Errorf("%q", rec.Warnings)
			}
			if err := errors.Join(s.Append(txn(c.want+1, 5)), s.Sync(), s.Close()); err != nil {
				t.Fatal(err)
			}
			s = open(t, fsys)
			if rec, err = s.Recover(&got); err != nil || rec.Last != c.want+1 || len(rec.Warnings) > 0 {
				t.Errorf("the next start: %+v %v", rec, err)
			}
		})
	}
}

// TestDamage_LaterEpoch: a tail that was torn may be left behind when a later leader's log goes on without it.
func TestDamage_LaterEpoch(t *testing.T) {
	mem := histories(t)
	path := "/d/version-2/log.15"
	b, err := vfs.ReadFile(mem, path)
	if err != nil {
		t.Fatal(err)
	}
	next := appendFrame(appendHeader(nil), txn(0x100000001, 5))
	err = errors.Join(vfs.WriteNew(mem, path, b[:at(t, b, 30)+20], true),
		vfs.WriteNew(mem, "/d/version-2/log.100000001", next, true))
	if err != nil {
		t.Fatal(err)
	}
	k := &kept{}
	s := open(t, mem)
	rec, err := s.Recover(k)
	if err != nil || rec.Last != 0x100000001 || len(k.txns) != 10 || len(rec.Warnings) != 1 {
		t.Errorf("%+v %d %v", rec, len(k.txns), err)
	}
}

// TestDamage_LargeRecords: what is right and wrong behind a bad record is found across any buffer.
func TestDamage_LargeRecords(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   int
		change func(b []byte, records []int64) []byte
		want   jute.Zxid
	}{
		{"a bit", 400 << 10, func(b []byte, r []int64) []byte { b[r[1]+200<<10] ^= 1; return b }, 0},
		{"a page of zeros", 400 << 10, func(b []byte, r []int64) []byte { clear(b[r[1]+100<<10:][:8<<10]); return b }, 1},
		{"the last one's end", 400 << 10, func(b []byte, r []int64) []byte { clear(b[r[2]+300<<10:]); return b }, 2},
		{"a length too long", 300, func(b []byte, r []int64) []byte { b[r[1]+9] = 0x40; return b }, 0},
		{"a length too short", 300, func(b []byte, r []int64) []byte { b[r[1]+10] = 0; return b }, 0},
		{"no length", 300, func(b []byte, r []int64) []byte { clear(b[r[1]+8:][:4]); return b }, 0},
		{"a checksum's upper half", 300, func(b []byte, r []int64) []byte { b[r[1]] = 1; return b }, 0},
	} {
		fsys := vfs.NewMem()
		s, err := Open(Options{FS: fsys, DataDir: "/d", TrustEmpty: true})
		if err != nil {
			t.Fatal(err)
		}
		b, starts := appendHeader(nil), []int64{}
		for zxid := jute.Zxid(1); zxid <= 3; zxid++ {
			starts = append(starts, int64(len(b)))
			b = appendFrame(b, txn(zxid, c.size))
		}
		b = c.change(append(b, make([]byte, 300<<10)...), starts)
		if err := vfs.WriteNew(fsys, "/d/version-2/log.1", b, true); err != nil {
			t.Fatal(err)
		}
		var got tree
		rec, err := s.Recover(&got)
		switch {
		case c.want == 0:
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), fmt.Sprintf("log.1: offset %d:", starts[1])) {
				t.Errorf("%s: %+v %v", c.name, rec, err)
			}
		case err != nil || rec.Last != c.want || got != want(c.want):
			t.Errorf("%s: %+v %v", c.name, rec, err)
		}
	}
}

// TestDamage_SnapshotFields: a snapshot whose seals are right, and whose content can't be, is refused where it is wrong.
func TestDamage_SnapshotFields(t *testing.T) {
	head := jute.AppendLong(jute.AppendInt(jute.AppendInt(nil, snapMagic), fileVersion), snapDBID)
	ints := func(b []byte, n ...int32) []byte {
		b = bytes.Clone(b)
		for _, i := range n {
			b = jute.AppendInt(b, i)
		}
		return b
	}
	root := (&jute.DataNode{ACL: -1}).Append(jute.AppendString(ints(head, 0, 0), ""))
	for name, b := range map[string][]byte{
		"another file":            []byte("nope, nothing of the kind"),
		"negative sessions":       ints(head, -5),
		"negative lists":          ints(head, 0, -1),
		"a list of -7 entries":    ints(head, 0, 1, 0, 3, -7),
		"a scheme of -1":          ints(head, 0, 1, 0, 3, 1, 31, -1),
		"a path of -9":            ints(root, -9),
		"a path of 2 GiB":         ints(root, 1<<31-1),
		"data of -2":              ints(jute.AppendString(bytes.Clone(root), "/a"), -2),
		"data of 2 GiB":           ints(jute.AppendString(bytes.Clone(root), "/a"), 1<<31-1),
		"nothing behind a path":   jute.AppendString(bytes.Clone(root), "/a"),
		"a seal of another sum":   ints(jute.AppendString(bytes.Clone(root), "/"), 0, 5, 1),
		"a seal of another text":  jute.AppendString(jute.AppendLong(jute.AppendString(bytes.Clone(root), "/"), 5), "#"),
		"a million million lists": ints(head, 0, 1<<31-1),
	} {
		_, err := ReadSnapshot(bytes.NewReader(b), &kept{})
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "offset ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var whole bytes.Buffer
	if err := largeSnapshot(3).Encode(&whole); err != nil {
		t.Fatal(err)
	}
	odd := errors.New("odd")
	if _, err := ReadSnapshot(bytes.NewReader(whole.Bytes()), refuser{odd}); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "odd") {
		t.Error(err)
	}
	if _, err := ReadSnapshot(bytes.NewReader(append(whole.Bytes(), make([]byte, 50)...)), &kept{}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("bytes behind it: %v", err)
	}
	if err := largeSnapshot(3).Encode(&limited{200 << 10}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
}

type refuser struct{ err error }

func (refuser) Session(jute.SessionID, int32)       {}
func (refuser) ACL(int64, []jute.ACL)               {}
func (r refuser) Node(string, *jute.DataNode) error { return r.err }

// limited takes so many bytes.
type limited struct{ left int }

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// TestDamage_OlderSnapshots: bad snapshots are passed over as long as the logs after an older one are whole.
func TestDamage_OlderSnapshots(t *testing.T) {
	base := histories(t)
	cut := func(fsys *vfs.Mem, name string) {
		path := "/d/version-2/" + name
		b, err := vfs.ReadFile(fsys, path)
		if err == nil {
			b[len(b)/2] ^= 1
			err = vfs.WriteNew(fsys, path, b, true)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fsys := base.Kill()
	for i, name := range []string{"snapshot.14", "snapshot.a"} {
		cut(fsys, name)
		var got tree
		rec, err := open(t, fsys.Kill()).Recover(&got)
		if err != nil || rec.Last != 30 || got != want(30) || rec.Txns != 20+10*i || len(rec.Warnings) != i+1 {
			t.Errorf("without %s: %+v %v", name, rec, err)
		}
	}
	if err := fsys.Remove("/d/version-2/log.b"); err != nil { // purged, say
		t.Fatal(err)
	}
	if _, err := open(t, fsys).Recover(new(tree)); err == nil {
		t.Error("transactions are missing, and nobody minds")
	}
	fsys = base.Kill()
	cut(fsys, "snapshot.14")
	if err := fsys.Remove("/d/version-2/log.b"); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, fsys).Recover(new(tree)); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "0xb on are missing") {
		t.Error(err)
	}
	fsys = base.Kill()
	for _, name := range []string{"snapshot.14", "snapshot.a", "snapshot.0"} {
		if err := fsys.Remove("/d/version-2/" + name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open(t, fsys).Recover(new(tree)); err == nil || !strings.Contains(err.Error(), "snapshot.trust.empty") {
		t.Errorf("logs without a snapshot: %v", err)
	}
}

// TestDamage_UnreadableIsNoDamage: a disk that gives no bytes says nothing about them. Nothing is cut or passed over.
func TestDamage_UnreadableIsNoDamage(t *testing.T) {
	base := histories(t)
	total := vfs.NewFaults(base.Kill())
	if s, err := Open(Options{FS: total, DataDir: "/d"}); err != nil {
		t.Fatal(err)
	} else if _, err := s.Recover(new(tree)); err != nil {
		t.Fatal(err)
	}
	for _, op := range []vfs.Op{vfs.OpRead, vfs.OpOpen, vfs.OpStat, vfs.OpReadDir} {
		for nth := range total.Ops() {
			fsys := base.Kill()
			faults := vfs.NewFaults(fsys)
			faults.Fail(op, "", nth+1, vfs.Fault{Err: syscall.EIO})
			s, err := Open(Options{FS: faults, DataDir: "/d"})
			if err == nil {
				_, err = s.Recover(new(tree))
			}
			if err != nil && (!errors.Is(err, syscall.EIO) || errors.Is(err, ErrCorrupt)) {
				t.Errorf("%s %d: %v", op, nth, err)
			}
			var got tree
			if rec, err := open(t, fsys.Kill()).Recover(&got); err != nil || rec.Last != 30 || got != want(30) || len(rec.Warnings) > 0 {
				t.Fatalf("%s %d, the next start: %+v %v", op, nth, rec, err)
			}
		}
	}
}

// TestTruncateTo: what is later is gone, for every start from then on, also when the power goes within it: then all of it
// is there still, or a part from the end is gone, but nothing below.
func TestTruncateTo(t *testing.T) {
	base := histories(t)
	for _, zxid := range []jute.Zxid{0, 9, 10, 11, 20, 25, 29} {
		ops := vfs.NewFaults(base.Kill())
		if _, err := truncate(ops, zxid); err != nil {
			t.Fatalf("to %v: %v", zxid, err)
		}
		for n := range ops.Ops() + 1 {
			disk := base.Kill()
			faults := vfs.NewFaults(disk)
			if n < ops.Ops() {
				faults.HaltAfter(n)
			}
			done, err := truncate(faults, zxid)
			after := disk.Crash(uint64(n))
			var got tree
			rec, rerr := open(t, after).Recover(&got)
			if rerr != nil {
				t.Fatalf("to %v, operation %d: %v", zxid, n, rerr)
			}
			if got != want(rec.Last) || rec.Last < zxid || rec.Last > 30 || done && rec.Last != zxid {
				t.Fatalf("to %v, operation %d (%v): %+v", zxid, n, err, rec)
			}
			for _, name := range names(t, after) {
				if z, _, ok := parseName(name, snapPrefix); ok && done && z > zxid {
					t.Errorf("to %v: %s is there", zxid, name)
				}
			}
		}
	}
	s := open(t, base.Kill())
	if _, err := s.Recover(new(tree)); err != nil {
		t.Fatal(err)
	}
	if err := s.TruncateTo(30); !errors.Is(err, ErrNotFound) || s.LastLogged() != 30 {
		t.Errorf("nothing to cut: %v", err)
	}
}

func names(t *testing.T, fsys vfs.FS) (out []string) {
	t.Helper()
	entries, err := fsys.ReadDir("/d/version-2")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, filepath.Base(e.Name()))
	}
	return out
}

// truncate recovers, cuts and recovers again; done says that it was cut.
func truncate(fsys vfs.FS, zxid jute.Zxid) (done bool, err error) {
	s, err := Open(Options{FS: fsys, DataDir: "/d", PreAlloc: 8 << 10})
	if err != nil {
		return false, err
	}
	var got tree
	if _, err := s.Recover(&got); err != nil {
		return false, err
	}
	if err := s.TruncateTo(zxid); err != nil {
		return false, err
	}
	rec, err := s.Recover(&got)
	if err == nil && (rec.Last != zxid || got != want(zxid)) {
		err = fmt.Errorf("%+v", rec)
	}
	return true, err
}
