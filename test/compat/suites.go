package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// suite is one client's script. It reads BOOTSTRAP, prints "ok NAME" and "FAIL NAME", and last "N passed, M failed".
type suite struct {
	name  string
	what  string
	smoke bool
	// prepare fetches what it needs, and gives the command and its environment.
	prepare func(e *env) (command, error)
	// own suites start their nodes themselves, but for those with zk.
	own func(e *env, out io.Writer) error
	zk  bool // its server is a ZooKeeper
}

type command struct {
	dir  string
	env  []string
	args []string
}

type result struct {
	suite          string
	passed, failed int
	took           time.Duration
	err            error
}

// suiteLimit is for a machine that does something else too.
const suiteLimit = 15 * time.Minute

func suites() []suite {
	return []suite{
		{name: "java-smoke", what: "Apache's command-line tools, the short way", smoke: true, prepare: javaTools("smoke")},
		{name: "java-tools", what: "Apache's command-line tools", prepare: javaTools("")},
		{name: "java-clients", what: "Apache's Java clients: admin, producer, consumer, groups", smoke: true, prepare: javaClients("Clients.java")},
		{name: "java-groups", what: "Apache's consumers in groups of the new protocol, alone and rolled", prepare: javaClients("Groups.java")},
		{name: "kcat", what: "kcat on librdkafka", prepare: kcat},
		{name: "kafka-python", what: "kafka-python", prepare: python("kafka_python_suite.py")},
		{name: "confluent", what: "confluent-kafka for Python, on librdkafka", prepare: python("confluent_suite.py")},
		{name: "kafkajs", what: "kafkajs", prepare: kafkajs},
		{name: "sarama", what: "sarama", prepare: goClient("sarama")},
		{name: "franz-go", what: "franz-go", prepare: goClient("franz")},
		{name: "disk-ours", what: "a folder that Kalda wrote: Apache's dump tool, then an Apache node", own: (*env).diskOurs},
		{name: "disk-theirs", what: "a folder that Apache wrote, under Kalda, and back", own: (*env).diskTheirs},
		{name: "zk-words", what: "four-letter words, answered by Kalda and by Apache 3.9.5", own: (*env).zkWords},
		{name: "go-zookeeper", what: "go-zookeeper/zk's own integration tests", zk: true, own: (*env).gozk},
		{name: "zk-c", what: "Apache's C client", zk: true, prepare: zkC},
		{name: "zk-node", what: "node-zookeeper-client", zk: true, prepare: zkNodeJS},
		{name: "kazoo", what: "kazoo: nodes, watches, transactions, recipes", zk: true, prepare: python("kazoo_suite.py")},
		{name: "zk-java", what: "Apache's Java client 3.9.5 and its shell", zk: true, prepare: zkJava("ZooClient.java")},
		{name: "curator", what: "Curator's recipes", zk: true, prepare: zkJava("Recipes.java")},
		{name: "zk-disk-ours", what: "ZooKeeper's directories that Kalda wrote, under Apache 3.9.5, and back", own: (*env).zkDiskOurs},
		{name: "zk-disk-theirs", what: "ZooKeeper's directories that Apache 3.9.5 wrote, under Kalda, and back", own: (*env).zkDiskTheirs},
		{name: "kafka-39-on-zk", what: "Apache Kafka 3.9.2's brokers in ZooKeeper mode on Kalda, with faults", own: (*env).kafka39OnZK},
		{name: "compaction", what: "one folder, compacted by Apache and by Kalda: the same is left", own: (*env).compaction},
	}
}

// choose finds the suites of the names: all (or none) is everything but the smoke's short cut.
func choose(names []string, given bool) ([]suite, error) {
	all := suites()
	if len(names) == 0 {
		names = []string{"all"}
	}
	var out []suite
	for _, name := range names {
		switch name {
		case "all":
			out = append(out, all[1:]...)
		case "smoke":
			out = append(out, slices.DeleteFunc(slices.Clone(all), func(s suite) bool { return !s.smoke })...)
		case "zk":
			out = append(out, slices.DeleteFunc(slices.Clone(all), func(s suite) bool {
				return !s.zk && s.name != "zk-words"
			})...)
		default:
			i := slices.IndexFunc(all, func(s suite) bool { return s.name == name })
			if i < 0 {
				return nil, fmt.Errorf("no suite %s (-list names them)", name)
			}
			out = append(out, all[i])
		}
	}
	if given {
		out = slices.DeleteFunc(out, func(s suite) bool { return s.own != nil && !s.zk })
	}
	return out, nil
}

// runAll runs the suites one after another, against one node that all of them share.
func (e *env) runAll(chosen []suite) (results []result) {
	var shared *node
	zk, given := &zkServerOf{e: e}, e.at
	defer zk.end()
	defer func() {
		if shared != nil {
			if err := shared.stop(syscall.SIGTERM); err != nil {
				fmt.Println("FAIL the shared node's end:", err)
			}
		}
	}()
	for _, s := range chosen {
		if s.zk {
			results = append(results, zk.run(s, given))
			if e.ctx.Err() != nil {
				break
			}
			continue
		}
		if s.own == nil && e.at == "" && shared == nil {
			n, err := e.newNode(e.node, filepath.Join(e.work, "shared"))
			if err == nil {
				err = n.start()
			}
			if err != nil {
				return append(results, result{suite: s.name, failed: 1, err: err})
			}
			shared, e.at = n, n.address()
		}
		if shared != nil && shared.ended() && s.own == nil {
			return append(results, result{suite: s.name, failed: 1, err: shared.stop(syscall.SIGTERM)})
		}
		fmt.Printf("--- %s: %s\n", s.name, s.what)
		start := time.Now()
		r := e.runOne(s)
		r.took = time.Since(start)
		results = append(results, r)
		if e.ctx.Err() != nil {
			break
		}
	}
	return results
}

// runOne runs one suite; its output goes to a log and, as far as it matters, to the screen.
func (e *env) runOne(s suite) result {
	r := result{suite: s.name}
	log, err := os.Create(filepath.Join(e.work, s.name+".log"))
	if err != nil {
		return result{suite: s.name, failed: 1, err: err}
	}
	defer log.Close()
	seen := &counter{show: e.show}
	out := io.MultiWriter(log, seen)
	if s.own != nil {
		err = s.own(e, out)
	} else {
		err = e.runCommand(s, out)
	}
	seen.flush()
	r.passed, r.failed = seen.passed, seen.failed
	if err != nil && r.failed == 0 || r.passed+r.failed == 0 {
		r.failed++
		r.err = errors.Join(err, seen.tail())
	}
	return r
}

func (e *env) runCommand(s suite, out io.Writer) error {
	c, err := s.prepare(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(e.ctx, suiteLimit)
	defer cancel()
	return start(ctx, c.dir, append(c.env, "BOOTSTRAP="+e.at, "ZOOKEEPER="+e.at), out, c.args...).Run()
}

// start makes a command in a process group of its own, so that ending it ends what it started too.
func start(ctx context.Context, dir string, env []string, out io.Writer, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// sh runs a command whose output matters only when it fails.
func (e *env) sh(dir string, env []string, args ...string) error {
	var b strings.Builder
	if err := start(e.ctx, dir, env, &b, args...).Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, b.String())
	}
	return nil
}

// counter reads a suite's output as it comes.
type counter struct {
	show           bool
	passed, failed int  // as the closing lines say
	ok             int  // checks since the last closing line: all there is of a suite that was cut off
	failing        bool // inside a failure's explanation
	rest           string
	last           []string
}

var closing = regexp.MustCompile(`^(\d+) passed, (\d+) failed$`)

// Write takes output in any pieces.
func (c *counter) Write(p []byte) (int, error) {
	c.rest += string(p)
	for {
		line, rest, ok := strings.Cut(c.rest, "\n")
		if !ok {
			return len(p), nil
		}
		c.rest = rest
		c.line(line)
	}
}

func (c *counter) flush() {
	if c.rest != "" {
		c.line(c.rest)
		c.rest = ""
	}
	c.passed += c.ok
	c.ok = 0
}

func (c *counter) line(line string) {
	c.last = append(c.last, line)
	if len(c.last) > 15 {
		c.last = c.last[1:]
	}
	switch m := closing.FindStringSubmatch(line); {
	case m != nil:
		p, _ := strconv.Atoi(m[1])
		f, _ := strconv.Atoi(m[2])
		c.passed += p
		c.failed += f
		c.ok, c.failing = 0, false
		return
	case strings.HasPrefix(line, "FAIL "):
		c.failing = true
	case strings.HasPrefix(line, "ok "):
		c.ok++
		c.failing = false
	}
	if c.failing || c.show {
		fmt.Println("   ", line)
	}
}

// tail is the end of an output that ended badly.
func (c *counter) tail() error {
	if len(c.last) == 0 {
		return nil
	}
	return fmt.Errorf("its last lines:\n    %s", strings.Join(c.last, "\n    "))
}
