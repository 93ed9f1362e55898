package zklog

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
)

// TestOpen_Refuses what can't be right, and says what to do.
func TestOpen_Refuses(t *testing.T) {
	for _, c := range []struct {
		opts  Options
		files []string
		want  string
	}{
		{Options{}, nil, "dataDir is not set"},
		{Options{DataDir: "/d", Compression: "lz4"}, nil, "gz and snappy are known"},
		{Options{DataDir: "/new", NoAutoCreate: true}, nil, "create it"},
		{Options{DataDir: "/d", LogDir: "/l"}, []string{"/d/version-2/log.5"}, "dataDir"},
		{Options{DataDir: "/d", LogDir: "/l"}, []string{"/l/version-2/snapshot.5.gz"}, "dataLogDir"},
		{Options{DataDir: "/d", LogDir: "/l"}, []string{"/d/version-2/snapshot.5", "/l/version-2/log.5", "/l/version-2/snapshot.x"}, ""},
	} {
		fsys := vfs.NewMem()
		for _, dir := range []string{"/d/version-2", "/l/version-2"} {
			if err := fsys.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range c.files {
			if err := vfs.WriteNew(fsys, f, []byte("x"), true); err != nil {
				t.Fatal(err)
			}
		}
		c.opts.FS = fsys
		s, err := Open(c.opts)
		if c.want == "" && err == nil {
			if _, err := Open(c.opts); err == nil {
				t.Error("two have the directory")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestSmallFiles: epochs, the server's id, the mark of an empty start.
func TestSmallFiles(t *testing.T) {
	fsys := vfs.NewMem()
	s := open(t, fsys)
	for _, e := range []Epoch{AcceptedEpoch, CurrentEpoch} {
		if n, ok, err := s.LoadEpoch(e); n != 0 || ok || err != nil {
			t.Errorf("%s of a new server: %d %v %v", e, n, ok, err)
		}
		for _, n := range []int64{7, 1 << 30} {
			if err := s.StoreEpoch(e, n); err != nil {
				t.Fatal(err)
			}
			if got, ok, err := s.LoadEpoch(e); got != n || !ok || err != nil {
				t.Errorf("%s: %d %v %v", e, got, ok, err)
			}
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := vfs.WriteNew(fsys, "/d/"+name, []byte(text), true); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := vfs.ReadFile(fsys, "/d/version-2/currentEpoch"); string(b) != "1073741824" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if n, ok, err := s.LoadPendingEpoch(); n != 0 || ok || err != nil {
		t.Errorf("%d %v %v", n, ok, err)
	}
	write("version-2/currentEpoch.tmp", "12\n")
	if n, ok, err := s.LoadPendingEpoch(); n != 12 || !ok || err != nil {
		t.Errorf("%d %v %v", n, ok, err)
	}
	write("version-2/acceptedEpoch", "many")
	if _, _, err := s.LoadEpoch(AcceptedEpoch); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "acceptedEpoch") {
		t.Error(err)
	}
	if id, ok, err := s.MyID(); id != 0 || ok || err != nil {
		t.Errorf("%d %v %v", id, ok, err)
	}
	for text, want := range map[string]int64{"3": 3, " 17 \nmore": 17, "255\n": 255, "256": -1, "-1": -1, "": -1, "x": -1} {
		write("myid", text)
		if id, ok, err := s.MyID(); want >= 0 && (id != want || !ok || err != nil) || want < 0 && err == nil {
			t.Errorf("%q: %d %v %v", text, id, ok, err)
		}
	}
	write("initialize", "")
	for _, want := range []bool{true, false} {
		if ok, err := s.TakeInitialize(); ok != want || err != nil {
			t.Errorf("%v %v", ok, err)
		}
	}
}

// TestFailed: after a write or a sync that failed nothing more is taken, and nothing is said to be durable: only a start,
// which reads the disk, can tell what is on it. It finds all that was synced before.
func TestFailed(t *testing.T) {
	for _, c := range []struct {
		op    vfs.Op
		short int
		err   error
	}{
		{vfs.OpWrite, 0, syscall.ENOSPC},
		{vfs.OpWrite, 30, syscall.ENOSPC},
		{vfs.OpSync, 0, syscall.EIO},
		{vfs.OpTruncate, 0, syscall.ENOSPC},
		{vfs.OpOpen, 0, syscall.EMFILE},
	} {
		mem := vfs.NewMem()
		faults := vfs.NewFaults(mem)
		s, err := Open(Options{FS: faults, DataDir: "/d", PreAlloc: 4 << 10, TrustEmpty: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recover(new(tree)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Append(txn(1, 5)), s.Sync()); err != nil {
			t.Fatal(err)
		}
		if c.op == vfs.OpOpen {
			if err := errors.Join(s.Roll(), s.Sync()); err != nil {
				t.Fatal(err)
			}
		}
		faults.Fail(c.op, "log.", 1, vfs.Fault{Err: c.err, Short: c.short})
		err = s.Append(txn(2, 9000))
		if c.op == vfs.OpSync {
			err = s.Sync()
		}
		if !errors.Is(err, c.err) {
			t.Errorf("%+v: %v", c, err)
		}
		for what, err := range map[string]error{"append": s.Append(txn(3, 5)), "sync": s.Sync(), "roll": s.Roll(), "truncate": s.TruncateTo(1)} {
			if !errors.Is(err, ErrFailed) || !errors.Is(err, c.err) {
				t.Errorf("%+v, %s: %v", c, what, err)
			}
		}
		_ = s.Close()
		for seed := range uint64(4) {
			var got tree
			s, err := Open(Options{FS: mem.Crash(seed), DataDir: "/d", TrustEmpty: true})
			if err != nil {
				t.Fatal(err)
			}
			if rec, err := s.Recover(&got); err != nil || rec.Last < 1 || rec.Last > 2 || got != want(rec.Last) {
				t.Errorf("%+v, after a restart: %+v %v", c, rec, err)
			}
		}
	}
}

// TestAppend_Refuses what would make a log that can't be read.
func TestAppend_Refuses(t *testing.T) {
	s := open(t, vfs.NewMem())
	if _, err := s.Recover(new(tree)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Append(), s.Append(txn(5, 5)), s.Sync(), s.Sync()); err != nil {
		t.Fatal(err)
	}
	for name, batch := range map[string][][]byte{
		"too short": {make([]byte, txnHeader-1)}, "backwards": {txn(4, 1)}, "again": {txn(5, 1)},
		"backwards within": {txn(7, 1), txn(6, 1)}, "twice": {txn(7, 1), txn(7, 1)},
	} {
		if err := s.Append(batch...); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if err := errors.Join(s.Append(txn(6, 5)), s.Sync()); err != nil {
		t.Error("refused ones spoil the log:", err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if err := s.Append(txn(8, 5)); err == nil {
		t.Error("taken by a closed one")
	}
}

// TestNoSync: forceSync=no asks the disk for nothing, and the files are the same.
func TestNoSync(t *testing.T) {
	fsys := vfs.NewMem()
	faults := vfs.NewFaults(fsys)
	s, err := Open(Options{FS: faults, DataDir: "/d", NoSync: true, TrustEmpty: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recover(new(tree)); err != nil {
		t.Fatal(err)
	}
	faults.Fail(vfs.OpSync, "log.", 1, vfs.Fault{Err: syscall.EIO, Forever: true})
	if err := errors.Join(s.Append(txn(1, 1)), s.Sync(), s.Roll(), s.Sync(), s.Append(txn(2, 1)), s.Sync(), s.Close()); err != nil {
		t.Error(err)
	}
	var got tree
	if s, err = Open(Options{FS: fsys, DataDir: "/d", TrustEmpty: true}); err != nil {
		t.Fatal(err)
	}
	if rec, err := s.Recover(&got); err != nil || rec.Last != 2 || got != want(2) {
		t.Errorf("%+v %v", rec, err)
	}
}

// TestCompressed: each way to write snapshots is read again, also a large one, and a cut or changed one is passed over
// for the one before it.
func TestCompressed(t *testing.T) {
	for _, method := range []string{"", "gz", "snappy"} {
		fsys := vfs.NewMem()
		s, err := Open(Options{FS: fsys, DataDir: "/d", Compression: method})
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for zxid := jute.Zxid(1); zxid <= 2; zxid++ {
			path, size, err := s.SaveSnapshot(largeSnapshot(zxid))
			if err != nil || size < 1000 {
				t.Fatal(path, size, err)
			}
			paths = append(paths, path)
		}
		k := &kept{}
		rec, err := s.Recover(k)
		if err != nil || rec.Snapshot != paths[1] || rec.Info.Nodes != 402 || !equal(k.paths, largePaths()) {
			t.Fatalf("%s: %+v %v", method, rec, err)
		}
		whole, err := vfs.ReadFile(fsys, paths[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 5, 100, len(whole) / 2, len(whole) - 1} {
			if err := vfs.WriteNew(fsys, paths[1], whole[:n], true); err != nil {
				t.Fatal(err)
			}
			rec, err := s.Recover(k)
			if err != nil || rec.Snapshot != paths[0] || len(rec.Warnings) != 1 || !strings.Contains(rec.Warnings[0], paths[1]) {
				t.Errorf("%q cut to %d: %+v %v", method, n, rec, err)
			}
		}
		if err := errors.Join(vfs.WriteNew(fsys, paths[1], whole[:50], true), vfs.WriteNew(fsys, paths[0], whole[:90], true)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recover(k); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), paths[1]) {
			t.Errorf("%q: none can be read: %v", method, err)
		}
	}
}

// largePaths and largeSnapshot are larger than any buffer: small nodes, and some of 100 KiB.
func largePaths() (out []string) {
	out = []string{"", "/n"}
	for i := range 400 {
		out = append(out, fmt.Sprintf("/n/%03d", i))
	}
	return out
}

func largeSnapshot(zxid jute.Zxid) *Snapshot {
	return &Snapshot{
		Zxid: zxid, Sessions: func(func(jute.SessionID, int32) bool) {},
		ACLs: func(yield func(int64, []jute.ACL) bool) { _ = yield(1, nil) && yield(2, jute.OpenACL()) },
		Nodes: func(yield func(string, jute.DataNode) bool) {
			for i, path := range largePaths() {
				n := jute.DataNode{ACL: -1, Data: make([]byte, i)}
				if i%50 == 1 {
					n.Data = make([]byte, 100<<10)
					for j := range n.Data {
						n.Data[j] = byte(j * j >> (i % 7))
					}
				}
				if !yield(path, n) {
					return
				}
			}
		},
	}
}
