package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A folder passes from one kind of node to the other. Each writes its share, and everyone sees all shares. What is seen
// right after writing is the reference: ids, configs, every record with offset, epoch, time and headers, the groups'
// offsets, and the window of an idempotent producer.

// trip is one folder's way.
type trip struct {
	*checks
	e      *env
	n      *node
	tool   string   // goclients/disk
	shares []string // JSON of what each writer saw
}

func (e *env) newTrip(kind, name string, out io.Writer) (*trip, error) {
	tool, err := e.goTool("disk")
	if err != nil {
		return nil, err
	}
	n, err := e.newNode(kind, filepath.Join(e.work, name))
	return &trip{checks: &checks{out: out}, e: e, n: n, tool: tool}, err
}

// under runs body with the folder under a node of the kind, which ends by the signal.
func (t *trip) under(kind string, end syscall.Signal, body func()) bool {
	t.n.kind = kind
	if !t.check(kind+" starts", t.n.start) {
		return false
	}
	body()
	return t.check(fmt.Sprintf("%s ends on %v", kind, end), func() error { return t.n.stop(end) })
}

// write adds a share, and keeps what its writer sees.
func (t *trip) write(prefix string) {
	env := []string{"BOOTSTRAP=" + t.n.address()}
	t.check(t.n.kind+" takes share "+prefix, func() error { return t.e.sh(t.e.work, env, t.tool, "fill", prefix) })
	t.check(t.n.kind+" shows share "+prefix, func() error {
		var b strings.Builder
		err := start(t.e.ctx, t.e.work, env, &b, t.tool, "see", prefix).Run()
		if err != nil {
			return fmt.Errorf("%w: %s", err, b.String())
		}
		file := filepath.Join(t.n.dir, prefix+".json")
		t.shares = append(t.shares, file)
		return os.WriteFile(file, []byte(b.String()), 0o644)
	})
}

// read checks all shares so far. The tool's own closing lines are counted by the runner.
func (t *trip) read() {
	for _, file := range t.shares {
		fmt.Fprintf(t.out, "%s reads %s\n", t.n.kind, filepath.Base(file))
		// Its exit code says no more than its closing line.
		err := start(t.e.ctx, t.e.work, []string{"BOOTSTRAP=" + t.n.address()}, t.out, t.tool, "check", file).Run()
		t.check(t.n.kind+" holds "+filepath.Base(file), func() error { return err })
	}
}

// snapshotted: the folder's metadata log has a snapshot beyond the bootstrap one, so that the next node has to load it.
func (t *trip) snapshotted() {
	t.check("a metadata snapshot is there", func() error {
		found, err := filepath.Glob(filepath.Join(t.n.data(), "__cluster_metadata-0", "*.checkpoint"))
		if err != nil {
			return err
		}
		for _, f := range found {
			if !strings.HasPrefix(filepath.Base(f), strings.Repeat("0", 20)+"-") {
				return nil
			}
		}
		return fmt.Errorf("only %v", found)
	})
}

// diskTheirs: Apache writes; Kalda opens it, adds to it, and is killed; Apache opens that again.
func (e *env) diskTheirs(out io.Writer) error {
	t, err := e.newTrip("apache", "theirs", out)
	if err != nil {
		return err
	}
	ok := t.under("apache", syscall.SIGTERM, func() { t.write("a") })
	t.snapshotted()
	ok = ok && t.under("kalda", syscall.SIGTERM, func() {
		t.read()
		t.write("b")
	})
	t.dump()
	ok = ok && t.under("apache", syscall.SIGKILL, func() {
		t.read()
		t.write("c")
	})
	ok = ok && t.under("kalda", syscall.SIGKILL, t.read)
	if ok {
		t.under("kalda", syscall.SIGTERM, t.read)
	}
	return t.finish()
}

// diskOurs: Kalda formats and writes, is killed, and recovers; Apache's dump tool reads its files; Apache opens them.
func (e *env) diskOurs(out io.Writer) error {
	t, err := e.newTrip("kalda", "ours", out)
	if err != nil {
		return err
	}
	ok := t.under("kalda", syscall.SIGKILL, func() { t.write("a") })
	ok = ok && t.under("kalda", syscall.SIGTERM, func() {
		t.read()
		t.write("b")
	})
	t.snapshotted()
	t.dump()
	ok = ok && t.under("apache", syscall.SIGTERM, func() {
		t.read()
		t.write("c")
	})
	if ok {
		t.under("kalda", syscall.SIGTERM, t.read)
	}
	return t.finish()
}
