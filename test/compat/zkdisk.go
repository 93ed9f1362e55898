package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A ZooKeeper's directories pass from one kind of server to the other, as in disk.go. Each adds a share, and each sees all
// shares as they were: data, stats, access lists, ephemerals of sessions that are still alive, times to live. Both keep a
// digest of the whole tree: what one noted live, the other has to come to from the files.

const smallNodes = 1_000_000

// zkTrip is one directory's way.
type zkTrip struct {
	*checks
	n       *zkNode
	tool    string            // goclients/zk
	seen    string            // what the last server showed in the end
	digests map[string]string // what it noted, by zxid
}

func (e *env) newZKTrip(kind, name string, out io.Writer) (*zkTrip, error) {
	tool, err := e.goTool("zk")
	if err != nil {
		return nil, err
	}
	n, err := e.newZKNode(kind, name)
	return &zkTrip{checks: &checks{out: out}, n: n, tool: tool}, err
}

// under runs body with the directories under a server of the kind, which ends by the signal.
func (t *zkTrip) under(kind string, end syscall.Signal, body func()) bool {
	t.n.kind = kind
	if !t.check(kind+" starts", t.n.up) {
		return false
	}
	body()
	t.check(kind+" notes digests", t.note)
	return t.check(fmt.Sprintf("%s ends on %v", kind, end), func() error { return t.n.stop(end) })
}

func (t *zkTrip) run(args ...string) (string, error) {
	var b strings.Builder
	err := start(t.n.e.ctx, t.n.e.work, []string{"ZOOKEEPER=" + t.n.address}, &b, append([]string{t.tool}, args...)...).Run()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, b.String())
	}
	return b.String(), nil
}

// write adds a share and keeps what the server shows then.
func (t *zkTrip) write(prefix string, small int) {
	t.check(t.n.kind+" takes share "+prefix, func() error {
		_, err := t.run("fill", prefix, strconv.Itoa(small))
		return err
	})
	t.check(t.n.kind+" has its digest past its last snapshot", func() error { return t.past(prefix) })
	t.check(t.n.kind+" shows everything", func() error {
		text, err := t.run("see")
		if err != nil {
			return err
		}
		t.seen = filepath.Join(t.n.dir, prefix+".json")
		return os.WriteFile(t.seen, []byte(text), 0o644)
	})
}

// past has changes made until the newest digest noted is of a transaction that is only in the log: then the next server
// comes by it.
func (t *zkTrip) past(prefix string) error {
	for range 20 {
		if _, err := t.run("more", prefix); err != nil {
			return err
		}
		newest, err := t.newestSnapshot()
		if err != nil {
			return err
		}
		found, err := t.hash()
		if err != nil {
			return err
		}
		for zxid := range found {
			if z, err := strconv.ParseUint(zxid, 16, 64); err == nil && z > newest {
				return nil
			}
		}
	}
	return fmt.Errorf("there is a newer snapshot each time")
}

func (t *zkTrip) newestSnapshot() (newest uint64, err error) {
	names, err := filepath.Glob(filepath.Join(t.n.dir, "data", "version-2", "snapshot.*"))
	for _, name := range names {
		if z, err := strconv.ParseUint(filepath.Ext(name)[1:], 16, 64); err == nil {
			newest = max(newest, z)
		}
	}
	return newest, err
}

// hash is what the server noted of its tree, by zxid, both hexadecimal.
func (t *zkTrip) hash() (map[string]string, error) {
	text, err := t.n.word("hash")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(text) {
		zxid, d, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			return nil, fmt.Errorf("no digest: %.200s", text)
		}
		out[zxid] = d
	}
	return out, nil
}

func (t *zkTrip) note() (err error) {
	t.digests, err = t.hash()
	return err
}

// read checks that all is as the last server left it.
func (t *zkTrip) read() {
	t.check(t.n.kind+" shows everything as it was", func() error {
		_, err := t.run("check", t.seen)
		return err
	})
	t.check(t.n.kind+" comes to the same digests", func() error {
		now, err := t.hash()
		if err != nil {
			return err
		}
		same := 0
		for zxid, d := range now {
			was, both := t.digests[zxid]
			switch {
			case both && was != d:
				return fmt.Errorf("at %s %s, it was %s", zxid, d, was)
			case both:
				same++
			}
		}
		if same == 0 {
			return fmt.Errorf("nothing to compare: %d noted before, %d now", len(t.digests), len(now))
		}
		fmt.Fprintf(t.out, "%d digests of %d compared\n", same, len(now))
		return nil
	})
	t.check(t.n.kind+" found no digest mismatch in the log", func() error {
		text, err := t.n.word("mntr")
		if err != nil {
			return err
		}
		for line := range strings.Lines(text) {
			if name, value, _ := strings.Cut(strings.TrimSpace(line), "\t"); name == "zk_digest_mismatches_count" {
				if value != "0" {
					return fmt.Errorf("%s mismatches", value)
				}
				return nil
			}
		}
		return fmt.Errorf("mntr doesn't say: %.300s", text)
	})
}

// zkDiskTheirs: Apache writes, a million small nodes among it; Kalda opens that, adds to it, and is killed; Apache opens
// that.
func (e *env) zkDiskTheirs(out io.Writer) error {
	t, err := e.newZKTrip("apache", "zk-theirs", out)
	if err != nil {
		return err
	}
	ok := t.under("apache", syscall.SIGTERM, func() { t.write("a", smallNodes) })
	ok = ok && t.under("kalda", syscall.SIGKILL, func() {
		t.read()
		t.write("b", 2000)
	})
	ok = ok && t.under("apache", syscall.SIGKILL, func() {
		t.read()
		t.write("c", 2000)
	})
	if ok {
		t.under("kalda", syscall.SIGTERM, t.read)
	}
	return t.finish()
}

// zkDiskOurs: Kalda writes and is killed; Apache opens it, adds to it, and is killed; Kalda opens that.
func (e *env) zkDiskOurs(out io.Writer) error {
	t, err := e.newZKTrip("kalda", "zk-ours", out)
	if err != nil {
		return err
	}
	ok := t.under("kalda", syscall.SIGKILL, func() { t.write("a", smallNodes) })
	ok = ok && t.under("apache", syscall.SIGKILL, func() {
		t.read()
		t.write("b", 2000)
	})
	ok = ok && t.under("kalda", syscall.SIGTERM, func() {
		t.read()
		t.write("c", 2000)
	})
	if ok {
		t.under("apache", syscall.SIGTERM, t.read)
	}
	return t.finish()
}
