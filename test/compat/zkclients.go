package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// The suites of other people's clients against a ZooKeeper server. A script reads ZOOKEEPER.

// zkShared is the server that they share.
func (e *env) zkShared() (*zkNode, error) {
	n, err := e.newZKNode(e.node, "zk-shared")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(n.cfg())
	if err != nil {
		return nil, err
	}
	// go-zookeeper's tests expect short ticks and a super user whose password is "test".
	cfg := strings.Replace(string(text), "tickTime=2000", "tickTime=500", 1) +
		"DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=\n"
	if err := os.WriteFile(n.cfg(), []byte(cfg), 0o644); err != nil {
		return nil, err
	}
	return n, n.up()
}

// zkServerOf is the server of a run's ZooKeeper suites, once one of them needed it.
type zkServerOf struct {
	e *env
	n *zkNode
}

// run runs a suite against it, or against the one that was given.
func (z *zkServerOf) run(s suite, given string) result {
	fmt.Printf("--- %s: %s\n", s.name, s.what)
	began := time.Now()
	if z.n == nil && given == "" {
		n, err := z.e.zkShared()
		if err != nil {
			return result{suite: s.name, failed: 1, err: err}
		}
		z.n = n
	}
	before := z.e.at
	defer func() { z.e.at = before }()
	if given == "" {
		z.e.at = z.n.address
	}
	r := z.e.runOne(s)
	r.took = time.Since(began)
	return r
}

func (z *zkServerOf) end() {
	if z.n != nil {
		if err := z.n.stop(syscall.SIGTERM); err != nil {
			fmt.Println("FAIL the shared ZooKeeper's end:", err)
		}
	}
}

func zkJava(program string) func(e *env) (command, error) {
	return func(e *env) (command, error) {
		libs, err := e.jars("curator")
		return command{
			dir: e.here("java"), env: []string{"LIBS=" + libs}, args: []string{"./tool", "run", program, e.at},
		}, err
	}
}

func zkNodeJS(e *env) (command, error) {
	list := e.here("zknode", "package.json")
	dir, err := e.fetched("zknode", list, func(dir string) error {
		text, err := os.ReadFile(list)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "package.json"), text, 0o644); err != nil {
			return err
		}
		return e.sh(dir, nil, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
	})
	return command{
		dir: e.here("zknode"), env: []string{"NODE_PATH=" + filepath.Join(dir, "node_modules")},
		args: []string{"node", "suite.js"},
	}, err
}

// zkC builds the program on Apache's C client, which distributions have as a package.
func zkC(e *env) (command, error) {
	bin := filepath.Join(e.work, "zk-c")
	build := func() error {
		return e.sh(e.here("zkc"), nil, "gcc", "-DTHREADED", "-O1", "-Wall", "-o", bin, "smoke.c", "-lzookeeper_mt", "-lpthread")
	}
	if err := build(); err != nil {
		fmt.Println("installing the C client")
		if err := e.sh(e.root, []string{"DEBIAN_FRONTEND=noninteractive"}, "sh", "-c",
			"p='gcc libc6-dev libzookeeper-mt-dev'; apt-get install -qy $p || { apt-get update -q && apt-get install -qy $p; }"); err != nil {
			return command{}, fmt.Errorf("gcc and libzookeeper-mt-dev are needed: %w", err)
		}
		if err := build(); err != nil {
			return command{}, err
		}
	}
	return command{dir: e.work, args: []string{bin, e.at}}, nil
}

// gozkSkipped need several servers.
const gozkSkipped = "^(TestIntegration_NoQuorum|TestIntegration_IncrementalReconfig|TestIntegration_Reconfig)$"

const gozkModule = "github.com/go-zookeeper/zk@v1.0.4"

// gozk runs the integration tests of go-zookeeper/zk's own release.
func (e *env) gozk(out io.Writer) error {
	c := &checks{out: out}
	source, err := e.gozkSource()
	if err != nil {
		return err
	}
	forward, err := e.goTool("zkforward")
	if err != nil {
		return err
	}
	bin := filepath.Join(e.work, "zk-bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	if err := os.Symlink(forward, filepath.Join(bin, "zkServer.sh")); err != nil {
		return err
	}
	r, w := io.Pipe()
	cmd := start(e.ctx, source, []string{
		"ZOOKEEPER_BIN_PATH=" + bin, "ZK_VERSION=3.9.5", "ZOOKEEPER=" + e.at, "GOFLAGS=-mod=mod",
	}, w, "go", "test", "-vet=off", "-json", "-count=1", "-timeout=900s", "-run=^TestIntegration", "-skip="+gozkSkipped, ".")
	go func() { _ = w.CloseWithError(cmd.Run()) }()
	return c.goTests(r)
}

// gozkSource is a copy of the released module, in which the reader of srvr knows the dates of today's releases too.
func (e *env) gozkSource() (string, error) {
	cmd := exec.CommandContext(e.ctx, "go", "mod", "download", "-json", gozkModule)
	cmd.Dir = e.work
	text, err := cmd.Output()
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(text, &module); err != nil {
		return "", err
	}
	to := filepath.Join(e.work, "gozk")
	if err := os.CopyFS(to, os.DirFS(module.Dir)); err != nil {
		return "", err
	}
	return to, e.sh(to, nil, "sed", "-i", "-e", `s#A-Za-z0-9\\.\\-]+), built on (\\d\\d/\\d\\d/\\d\\d\\d\\d #^,]+), built on ([-/0-9]+ #`,
		"-e", `s#buildTime, err := time.Parse.*#buildTime, err := time.Now(), error(nil)#`, "flw.go")
}

// goTests counts the tests in what `go test -json` prints, and shows why one failed.
func (c *checks) goTests(r io.Reader) error {
	said := map[string]*strings.Builder{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(c.out, lines.Text())
			continue
		}
		if e.Test == "" || strings.Contains(e.Test, "/") {
			continue
		}
		if said[e.Test] == nil {
			said[e.Test] = &strings.Builder{}
		}
		switch e.Action {
		case "output":
			said[e.Test].WriteString(e.Output)
		case "pass":
			c.check("go-zookeeper "+e.Test, func() error { return nil })
		case "fail":
			c.check("go-zookeeper "+e.Test, func() error { return fmt.Errorf("%s", said[e.Test]) })
		}
	}
	return c.finish()
}

// zkWords has a Kalda and an Apache server answer every four-letter word, and compares all but the numbers.
func (e *env) zkWords(out io.Writer) error {
	c := &checks{out: out}
	answers := map[string]map[string]string{}
	words := strings.Fields("ruok isro srvr stat cons conf dump wchs wchc wchp dirs hash gtmk mntr crst srst")
	for _, kind := range []string{"kalda", "apache"} {
		n, err := e.newZKNode(kind, "words-"+kind)
		if err != nil {
			return err
		}
		answers[kind] = map[string]string{}
		if !c.check(kind+" starts", n.up) {
			return c.finish()
		}
		if !c.check(kind+" serves", func() error { return n.serving() }) {
			return c.finish()
		}
		for _, word := range words {
			text, err := n.word(word)
			if err != nil {
				return err
			}
			answers[kind][word] = shape(text, n.dir)
			time.Sleep(20 * time.Millisecond) // its connection isn't to be in the next answer
		}
		c.check(kind+" ends", func() error { return n.stop(syscall.SIGTERM) })
	}
	for _, word := range words {
		c.check("both answer "+word+" in one shape", func() error {
			if a, k := answers["apache"][word], answers["kalda"][word]; a != k {
				return fmt.Errorf("Apache's:\n%s\nours:\n%s", a, k)
			}
			return nil
		})
	}
	return c.finish()
}

// serving waits until the server answers as one that serves clients.
func (n *zkNode) serving() error {
	for range 600 {
		if text, err := n.word("srvr"); err == nil && strings.Contains(text, "Mode: ") {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("it doesn't serve\n%s", lastOf(n.log))
}

// shape is an answer without its numbers, release and folder.
func shape(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "DIR")
	var b strings.Builder
	for line := range strings.Lines(text) {
		if i := strings.Index(line, "3.9.5-"); i >= 0 {
			line = line[:i] + "RELEASE\n"
		}
		if i := strings.Index(line, " expire at "); i >= 0 {
			line = line[:i] + " expire at DATE\n"
		}
		number := false
		for _, r := range line {
			digit := r >= '0' && r <= '9' || number && (r == 'x' || r == '.' || r >= 'a' && r <= 'f')
			if digit && !number {
				b.WriteByte('#')
			}
			if !digit && !(r == '-' && !number) {
				b.WriteRune(r)
			}
			number = digit
		}
	}
	return b.String()
}
