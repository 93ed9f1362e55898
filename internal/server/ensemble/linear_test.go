package ensemble_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/server/ensemble"
)

// target is a server that can be ended without a warning, and started again on what is left.
type target interface {
	start() (addr string, err error)
	kill() error
}

// TestLinearizable_PowerCut: a server whose power goes in the midst of writes, so that what wasn't synced is lost in part,
// takes back nothing that it said, and what it never answered happened or didn't.
func TestLinearizable_PowerCut(t *testing.T) {
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	runLinear(t, &powerCut{disk: vfs.NewMem(), rand: r}, 6, 40*time.Millisecond)
}

// TestLinearizable_Kill is the same with a process that gets kill -9, on a real disk: `make linear`. The server may be
// another's: KALDA_LINEAR_SERVER is a command, to which the path of a zoo.cfg is added.
func TestLinearizable_Kill(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("KALDA_LINEAR"))
	if err != nil {
		t.Skip("KALDA_LINEAR is the number of rounds: make linear")
	}
	runLinear(t, newProcess(t), rounds, 300*time.Millisecond)
}

// runLinear has clients work, ends the server among that, and checks each round's history.
func runLinear(t *testing.T, on target, rounds int, each time.Duration) {
	addr, err := on.start()
	if err != nil {
		t.Fatal(err)
	}
	lost, all := 0, 0
	for round := range rounds {
		w := &workload{t: t, root: fmt.Sprintf("/%d", round), began: time.Now(), clients: make([]*client, 6)}
		w.prepare(addr)
		w.work(addr, func() {
			time.Sleep(each/2 + rand.N(each))
			if err := on.kill(); err != nil {
				t.Error(err)
			}
		})
		at := time.Since(w.began)
		if addr, err = on.start(); err != nil {
			t.Fatal(err)
		}
		lost += w.settle(at)
		w.work(addr, func() { time.Sleep(each / 2) })
		if n := w.settle(time.Since(w.began)); n > 0 {
			t.Errorf("round %d: %d requests without an answer from a server that nobody ended", round, n)
		}
		all += len(w.history)
		result, info := porcupine.CheckOperationsVerbose(zooKeeper(), w.history, 2*time.Minute)
		if result != porcupine.Ok {
			path := filepath.Join(os.TempDir(), fmt.Sprintf("kalda-linear-%d.html", os.Getpid()))
			t.Fatalf("round %d of %d operations: %v; see %s (%v)", round, len(w.history), result, path,
				porcupine.VisualizePath(zooKeeper(), info, path))
		}
	}
	t.Logf("%d rounds, %d operations, %d without an answer", rounds, all, lost)
	if lost == 0 {
		t.Error("no request was ever cut off: this showed nothing")
	}
	if err := on.kill(); err != nil {
		t.Error(err)
	}
}

// workload is one round.
type workload struct {
	t       *testing.T
	root    string
	began   time.Time
	clients []*client

	mu      sync.Mutex
	history []porcupine.Operation
	ids     int
	settled int // of history
}

// pairs are the registers, and one parent is for sequential nodes.
const pairs = 2

func (w *workload) prepare(addr string) {
	w.t.Helper()
	c, err := dial(addr, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.close()
	paths := []string{w.root, w.root + "/q"}
	for i := range pairs {
		pair := fmt.Sprintf("%s/p%d", w.root, i)
		paths = append(paths, pair, pair+"/a", pair+"/b")
	}
	for _, path := range paths {
		if _, code, err := c.create(path, jute.FlagPersistent, ""); err != nil || code != jute.OK {
			w.t.Fatal(path, code, err)
		}
	}
}

// work has all clients work until meanwhile is done, each with the session it had.
func (w *workload) work(addr string, meanwhile func()) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i := range w.clients {
		wg.Go(func() { w.client(i, addr, stop) })
	}
	meanwhile()
	close(stop)
	wg.Wait()
}

func (w *workload) client(i int, addr string, stop chan struct{}) {
	c, err := dial(addr, w.clients[i])
	if err != nil {
		select {
		case <-stop: // the server is down
		default:
			w.t.Error(err)
		}
		return
	}
	w.clients[i] = c
	defer c.close()
	r := rand.New(rand.NewPCG(rand.Uint64(), uint64(i)))
	var versions [pairs]int32
	for {
		select {
		case <-stop:
			return
		default:
		}
		in := w.choose(r, versions[:])
		call := time.Since(w.began)
		out, err := w.do(c, in)
		w.mu.Lock()
		w.history = append(w.history, porcupine.Operation{
			ClientId: i, Input: in, Output: out, Call: int64(call), Return: int64(time.Since(w.began)),
		})
		w.mu.Unlock()
		if err != nil {
			return
		}
		if p := int(in.object[len(in.object)-1] - '0'); in.kind <= kindBoth && out.code == jute.OK && !in.second {
			versions[p] = out.version
		}
	}
}

// choose makes up a request. versions are what the client saw last.
func (w *workload) choose(r *rand.Rand, versions []int32) input {
	pair := r.IntN(pairs)
	in := input{object: fmt.Sprintf("%s/p%d", w.root, pair), second: r.IntN(2) == 0}
	w.mu.Lock()
	w.ids++
	in.value = strconv.Itoa(w.ids)
	w.mu.Unlock()
	switch n := r.IntN(12); n {
	case 0, 1, 2:
		in.kind = kindRead
	case 3, 4, 5:
		in.kind = kindWrite
	case 6, 7:
		in.kind, in.second, in.version = kindCAS, false, versions[pair]
	case 8, 9:
		in.kind, in.second, in.version = kindBoth, false, versions[pair]
	case 10:
		return input{object: w.root + "/q", kind: kindCreate}
	default:
		return input{object: w.root + "/q", kind: kindList}
	}
	if in.kind == kindRead {
		in.value = ""
	}
	return in
}

// do carries a request out. With an error there was no answer.
func (w *workload) do(c *client, in input) (output, error) {
	path := in.object + "/a"
	if in.second {
		path = in.object + "/b"
	}
	out := output{}
	var err error
	switch in.kind {
	case kindRead:
		var r jute.GetDataResponse
		out.code, err = c.call(jute.OpGetData, &jute.PathWatch{Path: path}, &r)
		out.value, out.version = string(r.Data), r.Stat.Version
	case kindWrite, kindCAS:
		version := int32(-1)
		if in.kind == kindCAS {
			version = in.version
		}
		var r jute.StatResponse
		body := &jute.SetDataRequest{Path: path, Data: []byte(in.value), Version: version}
		out.code, err = c.call(jute.OpSetData, body, &r)
		out.version = r.Stat.Version
	case kindBoth:
		out, err = w.both(c, in)
	case kindCreate:
		var name string
		name, out.code, err = c.create(in.object+"/n-", jute.FlagPersistentSequential, "")
		out.n, _ = strconv.Atoi(strings.TrimLeft(name[strings.LastIndexByte(name, '-')+1:], "0") + "0")
		out.n /= 10
	case kindList:
		var r jute.StringsResponse
		out.code, err = c.call(jute.OpGetChildren, &jute.PathWatch{Path: in.object}, &r)
		out.n = len(r.Names)
	}
	if err != nil {
		return output{lost: true}, err
	}
	return out, nil
}

// both is a multi that checks the first register and sets both.
func (w *workload) both(c *client, in input) (out output, err error) {
	set := func(name string) jute.Op {
		body := &jute.SetDataRequest{Path: in.object + name, Data: []byte(in.value), Version: -1}
		return jute.Op{Type: jute.OpSetData, Body: body}
	}
	var r jute.MultiResponse
	check := &jute.PathVersion{Path: in.object + "/a", Version: in.version}
	body := &jute.MultiRequest{Ops: []jute.Op{{Type: jute.OpCheck, Body: check}, set("/a"), set("/b")}}
	out.code, err = c.call(jute.OpMulti, body, &r)
	if err == nil && len(r.Results) != 3 {
		err = fmt.Errorf("%d results of 3", len(r.Results))
		w.t.Error(err)
	}
	if err == nil {
		out.code, out.version = r.Results[0].Err, r.Results[2].Stat.Version
	}
	return out, err
}

// settle ends what got no answer: it happened before the server was started again, or never. It says how many those are.
func (w *workload) settle(at time.Duration) (lost int) {
	for i := range w.history {
		if o := &w.history[i]; i >= w.settled && o.Output.(output).lost {
			o.Return = int64(at)
			lost++
		}
	}
	w.settled = len(w.history)
	return lost
}

// powerCut is a server in this process, on a disk in memory that loses what wasn't synced.
type powerCut struct {
	disk   *vfs.Mem
	faults *vfs.Faults
	rand   *rand.Rand
	server *ensemble.Server
}

func (p *powerCut) start() (string, error) {
	cfg, _, err := config.ZooKeeperArgs([]string{"1", "/zk"}, "-Dzookeeper.snapCount=300 -Dzookeeper.preAllocSize=64")
	if err != nil {
		return "", err
	}
	cfg.ClientAddr = "127.0.0.1:0"
	p.faults = vfs.NewFaults(p.disk)
	p.server, err = ensemble.Start(context.Background(), ensemble.Options{
		Config: cfg, FS: p.faults, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return "", err
	}
	return p.server.Addr().String(), nil
}

// kill takes the power away after the next few operations of the disk.
func (p *powerCut) kill() error {
	p.faults.HaltAfter(p.faults.Ops() + p.rand.IntN(5))
	select {
	case <-p.server.Fatal():
	case <-time.After(2 * time.Second): // nobody writes
	}
	_ = p.server.Stop() // it can't be clean
	p.disk = p.disk.Crash(p.rand.Uint64())
	return nil
}

// process is a server of its own, on a real disk.
type process struct {
	t    *testing.T
	argv []string
	addr string
	cmd  *exec.Cmd
	log  *os.File
}

func newProcess(t *testing.T) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{t: t, argv: strings.Fields(os.Getenv("KALDA_LINEAR_SERVER"))}
	if len(p.argv) == 0 {
		bin := filepath.Join(dir, "kalda")
		if out, err := exec.Command("go", "build", "-o", bin, "../../../cmd/kalda").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		p.argv = []string{bin, "zookeeper"}
	}
	port := 23100 + os.Getpid()%800
	p.addr = fmt.Sprintf("127.0.0.1:%d", port)
	cfg := fmt.Sprintf("tickTime=2000\ndataDir=%s\nclientPort=%d\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n"+
		"maxClientCnxns=0\nsnapCount=2000\n", filepath.Join(dir, "data"), port)
	path := filepath.Join(dir, "zoo.cfg")
	if err := os.WriteFile(path, []byte(cfg), 0o600); err != nil {
		t.Fatal(err)
	}
	p.argv = append(p.argv, path)
	var err error
	if p.log, err = os.Create(filepath.Join(dir, "server.log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.log.Close()
		if text, err := os.ReadFile(p.log.Name()); err == nil && t.Failed() {
			t.Logf("the server's last lines:\n%s", text[max(0, len(text)-4000):])
		}
	})
	return p
}

func (p *process) start() (string, error) {
	p.cmd = exec.Command(p.argv[0], p.argv[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		return "", err
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		c, err := dial(p.addr, nil)
		if err == nil {
			c.close()
			return p.addr, nil
		}
		if time.Now().After(end) {
			return "", err
		}
	}
}

func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = p.cmd.Wait() // it says that it was killed
	return nil
}
