package ensemble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/disk/zklog"
	"github.com/kalda/kalda/internal/format/jute"
)

// attempt creates nodes /n0, /n1 and so on until the server fails it; it gives how many were acknowledged and
// how many asked for.
func attempt(addr net.Addr, from, n int) (acked, asked int) {
	acked, asked = from, from
	nc, err := net.Dial("tcp", addr.String())
	if err != nil {
		return acked, asked
	}
	defer nc.Close()
	c := client{nc: nc}
	b := frameOf((&jute.ConnectRequest{Timeout: 30000, Password: make([]byte, 16)}).Append(nil))
	if _, err := nc.Write(b); err != nil {
		return acked, asked
	}
	if _, err := c.read(); err != nil {
		return acked, asked
	}
	for ; asked < from+n; asked++ {
		data := strings.Repeat("d", 50+asked*13%200)
		r := createOf(fmt.Sprintf("/n%d", asked), data, 0)
		if _, err := nc.Write(bytesOf(int32(asked+1), jute.OpCreate, r)); err != nil {
			return acked, asked + 1
		}
		b, err := c.read()
		var h jute.ReplyHeader
		h.Decode(jute.NewDecoder(b, 0))
		if err != nil || h.Err != jute.OK {
			return acked, asked + 1
		}
		acked = asked + 1
	}
	return acked, asked
}

// holds says how many of /n0, /n1 and so on a server has, which are to be the first ones without a gap.
func holds(t *testing.T, s *Server, acked, asked int) int {
	t.Helper()
	n := 0
	for ; n <= asked; n++ {
		if _, there := s.View().Lookup(fmt.Sprintf("/n%d", n)); !there {
			break
		}
	}
	root, _ := s.View().Lookup("/")
	if n < acked || n > asked || root.NumChildren() != n+1 {
		t.Errorf("%d acknowledged, %d asked for: the first %d are there, of %d", acked, asked, n, root.NumChildren()-1)
	}
	if m := s.metrics.DigestMismatches.Load(); m != 0 {
		t.Errorf("%d transactions gave another digest than when they were made", m)
	}
	return n
}

// TestPowerCut cuts the power at every operation on the disk of a scripted history, snapshots among them. What
// was acknowledged is there afterwards, and the server goes on.
func TestPowerCut(t *testing.T) {
	history := []string{"snapCount=6", "txnLogSizeLimitInKb=2", "preAllocSize=4"}
	all := vfs.NewFaults(vfs.NewMem())
	s := serveOn(t, all, testConfig(t, "/d", history...))
	attempt(s.Addr(), 0, 30)
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	// A third of all places in each run, by chance; KALDA_POWERCUT=all is all of them.
	total, step, first := all.Ops(), 3, 1+rand.IntN(3)
	if os.Getenv("KALDA_POWERCUT") == "all" {
		step, first = 1, 1
	}
	for cut := first; cut < total; cut += step {
		mem := vfs.NewMem()
		faults := vfs.NewFaults(mem)
		faults.HaltAfter(cut)
		acked, asked := 0, 0
		if s, err := startOn(faults, testConfig(t, "/d", history...)); err == nil {
			acked, asked = attempt(s.Addr(), 0, 30)
			_ = s.Stop()
		}
		s, err := startOn(mem.Crash(uint64(cut)), testConfig(t, "/d", history...))
		if err != nil {
			t.Fatalf("cut at %d of %d: %v", cut, total, err)
		}
		n := holds(t, s, acked, asked)
		if more, _ := attempt(s.Addr(), n, 3); more != n+3 {
			t.Errorf("cut at %d: %d writes after it", cut, more-n)
		}
		if err := s.Stop(); err != nil || t.Failed() {
			t.Fatalf("cut at %d of %d: %v", cut, total, err)
		}
	}
}

func startOn(fs vfs.FS, cfg *config.ZooKeeper) (*Server, error) {
	return Start(context.Background(), Options{Config: cfg, Log: logTo(io.Discard), FS: fs})
}

// TestDiskFails: a log that can't be written or synced ends service. Nothing that isn't on the disk is
// acknowledged, and what was acknowledged is there after a restart.
func TestDiskFails(t *testing.T) {
	for name, f := range map[string]struct {
		op  vfs.Op
		err error
	}{
		"full":      {vfs.OpWrite, syscall.ENOSPC},
		"broken":    {vfs.OpWrite, syscall.EIO},
		"lost sync": {vfs.OpSync, syscall.EIO},
	} {
		t.Run(name, func(t *testing.T) {
			mem := vfs.NewMem()
			faults := vfs.NewFaults(mem)
			var log bytes.Buffer
			var mu sync.Mutex
			s, err := Start(context.Background(), Options{
				Config: testConfig(t, "/d"), Log: logTo(lockedWriter{&mu, &log}), FS: faults,
			})
			if err != nil {
				t.Fatal(err)
			}
			faults.Fail(f.op, "log.", 12, vfs.Fault{Err: f.err, Short: 20, Forever: true})
			acked, asked := attempt(s.Addr(), 0, 1000)
			if err := <-s.Fatal(); !errors.Is(err, f.err) {
				t.Error("the reason is", err)
			}
			if acked == 0 || asked != acked+1 {
				t.Errorf("%d acknowledged, %d asked for", acked, asked)
			}
			_ = s.Stop()
			mu.Lock()
			if !strings.Contains(log.String(), "can't go on") || !strings.Contains(log.String(), f.err.Error()) {
				t.Error("the log says:", log.String())
			}
			mu.Unlock()
			holds(t, serveOn(t, mem.Crash(1), testConfig(t, "/d")), acked, asked)
		})
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// written makes a data directory with 40 nodes, several snapshots and logs.
func written(t *testing.T) (dir string, digest uint64) {
	dir = t.TempDir()
	s := serveOn(t, nil, testConfig(t, dir, "snapCount=8", "forceSync=no"))
	for n := 0; n < 40; n += 5 { // a snapshot is left out while the last one is being written
		attempt(s.Addr(), n, 5)
		s.snaps.wg.Wait()
	}
	digest = s.View().Digest()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "version-2"), digest
}

func newest(t *testing.T, dir, prefix string) string {
	files, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	slices.SortFunc(files, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return files[len(files)-1]
}

// logWith is the log file in which that stands.
func logWith(t *testing.T, dir, part string) string {
	files, err := filepath.Glob(filepath.Join(dir, "log.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(part)) {
			return path
		}
	}
	t.Fatalf("no log has %q", part)
	return ""
}

// flip changes one byte of a file, at the place where part stands, plus off.
func flip(t *testing.T, path, part string, off int) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte(part))
	if at < 0 {
		t.Fatalf("%s has no %q", path, part)
	}
	b[at+off] ^= 0x40
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedFiles: a log that is damaged before its end is refused, with its name and the offset; a torn tail
// is cut; a damaged newest snapshot is passed over for the one before.
func TestDamagedFiles(t *testing.T) {
	t.Run("log", func(t *testing.T) {
		dir, _ := written(t)
		path := logWith(t, dir, "/n37")
		for { // without a snapshot that has n37 already: what it covers is not read
			files, _ := filepath.Glob(filepath.Join(dir, "snapshot.*"))
			if len(files) == 1 {
				break
			}
			if err := os.Remove(newest(t, dir, "snapshot.")); err != nil {
				t.Fatal(err)
			}
		}
		flip(t, path, "/n37", 2)
		_, err := startOn(nil, testConfig(t, filepath.Dir(dir)))
		if !errors.Is(err, zklog.ErrCorrupt) || !strings.Contains(err.Error(), path) ||
			!regexp.MustCompile(`offset \d+`).MatchString(err.Error()) {
			t.Error("started, or the reason names no place:", err)
		}
	})
	t.Run("tail", func(t *testing.T) {
		dir, _ := written(t)
		path := newest(t, dir, "log.")
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		all, _ := io.ReadAll(f)
		end := int64(bytes.LastIndexByte(bytes.TrimRight(all[:bytes.Index(all, []byte("/n39"))+40], "\x00"), 'd'))
		if err := f.Truncate(end); err != nil { // within the last record, and what says how far it was synced is gone
			t.Fatal(err)
		}
		f.Close()
		s := serveOn(t, nil, testConfig(t, filepath.Dir(dir)))
		holds(t, s, 39, 40)
	})
	t.Run("snapshot", func(t *testing.T) {
		dir, digest := written(t)
		flip(t, newest(t, dir, "snapshot."), "/n1", 2)
		s := serveOn(t, nil, testConfig(t, filepath.Dir(dir)))
		holds(t, s, 40, 40)
		if s.View().Digest() != digest {
			t.Error("the digest differs")
		}
	})
}

const childEnv = "KALDA_TEST_ZOOKEEPER"

// TestMain lets the test's program be the server that TestKill kills.
func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Exit(Main([]string{path}))
	}
	os.Exit(m.Run())
}

// TestKill kills a server's process under writes, several times; nothing that was acknowledged is lost.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr()
	ln.Close()
	dir := t.TempDir()
	cfg := filepath.Join(dir, "zoo.cfg")
	text := fmt.Sprintf("tickTime=2000\ndataDir=%s\nclientPort=%d\nsnapCount=200\nadmin.enableServer=false\n", dir,
		addr.(*net.TCPAddr).Port)
	if err := os.WriteFile(cfg, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	acked, asked := 0, 0
	for round := range 4 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+cfg)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the server answers", func() bool {
			nc, err := net.Dial("tcp", addr.String())
			if err == nil {
				nc.Close()
			}
			return err == nil
		})
		time.AfterFunc(time.Duration(50+round*60)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		acked, asked = attempt(addr, present(addr, asked), 100_000)
		_ = cmd.Wait()
	}
	if acked == 0 {
		t.Fatal("it was always killed too soon")
	}
	holds(t, serveOn(t, nil, testConfig(t, dir)), acked, asked)
}

// present is how many of the nodes up to asked a server has: the last one may have got lost.
func present(addr net.Addr, asked int) int {
	nc, err := net.Dial("tcp", addr.String())
	if err != nil || asked == 0 {
		return asked
	}
	defer nc.Close()
	c := client{nc: nc}
	_, _ = nc.Write(frameOf((&jute.ConnectRequest{Timeout: 30000, Password: make([]byte, 16)}).Append(nil)))
	_, _ = c.read()
	_, _ = nc.Write(bytesOf(1, jute.OpExists, &jute.PathWatch{Path: fmt.Sprintf("/n%d", asked-1)}))
	b, err := c.read()
	var h jute.ReplyHeader
	h.Decode(jute.NewDecoder(b, 0))
	if err == nil && h.Err == jute.OK {
		return asked
	}
	return asked - 1
}
