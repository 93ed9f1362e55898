package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// node is one broker and controller on one folder. kind may change between a stop and a start: that is the point.
type node struct {
	e    *env
	kind string // "kalda" or "apache"
	dir  string
	port int

	cmd  *exec.Cmd
	log  *os.File
	done chan struct{} // closed when the process has ended
	err  error         // how, once done is closed
}

const properties = `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:%[2]d
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:%[1]d,CONTROLLER://127.0.0.1:%[2]d
log.dirs=%[3]s
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
metadata.log.max.record.bytes.between.snapshots=4000
`

const clusterID = "MkU3OEVBNTcwNTJENDM2Qg"

// newNode makes a formatted folder, by the tool of the kind itself.
func (e *env) newNode(kind, dir string) (*node, error) {
	if kind != "kalda" && kind != "apache" {
		return nil, fmt.Errorf("no node of kind %q", kind)
	}
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	n := &node{e: e, kind: kind, dir: dir, port: ports[0]}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	text := fmt.Sprintf(properties, ports[0], ports[1], n.data())
	if err := os.WriteFile(n.properties(), []byte(text), 0o644); err != nil {
		return nil, err
	}
	args, env, err := n.command("kafka-storage", "format", "-t", clusterID, "-c", n.properties())
	if err != nil {
		return nil, err
	}
	return n, e.sh(dir, env, args...)
}

func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func (n *node) data() string       { return filepath.Join(n.dir, "data") }
func (n *node) properties() string { return filepath.Join(n.dir, "server.properties") }
func (n *node) address() string    { return net.JoinHostPort("127.0.0.1", strconv.Itoa(n.port)) }

// command is the node's kind's way to run a tool, or its server.
func (n *node) command(tool string, args ...string) (all, env []string, err error) {
	if n.kind == "kalda" {
		return append([]string{n.e.kalda, tool}, args...), nil, nil
	}
	libs, err := n.e.apache()
	env = []string{"LIBS=" + libs}
	if tool == "server" {
		env = append(env, "HEAP=-Xms256m -Xmx512m -XX:+UseG1GC")
	}
	return append([]string{n.e.here("java", "tool"), tool}, args...), env, err
}

// start starts it and waits until it takes connections.
func (n *node) start() error {
	args, env, err := n.command("server", n.properties())
	if err != nil {
		return err
	}
	if n.log, err = os.OpenFile(filepath.Join(n.dir, "node.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	// Not bound to the run's context: the node is stopped in order, after its clients.
	n.cmd = start(context.WithoutCancel(n.e.ctx), n.dir, env, n.log, args...)
	if err := n.cmd.Start(); err != nil {
		return err
	}
	n.done = make(chan struct{})
	go func() {
		n.err = n.cmd.Wait()
		close(n.done)
	}()
	for end := time.Now().Add(4 * time.Minute); ; {
		c, err := net.DialTimeout("tcp", n.address(), time.Second)
		if err == nil {
			return c.Close()
		}
		select {
		case <-n.done:
			return fmt.Errorf("%s did not start: %w\n%s", n.kind, n.err, n.lastLog())
		case <-n.e.ctx.Done():
			return errors.Join(n.e.ctx.Err(), n.stop(syscall.SIGKILL))
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("%s takes no connection at %s\n%s", n.kind, n.address(), n.lastLog()), n.stop(syscall.SIGKILL))
		}
	}
}

// stop sends the signal and waits for the end. SIGTERM has to end it cleanly.
func (n *node) stop(signal syscall.Signal) error {
	defer n.log.Close()
	select {
	case <-n.done:
		return fmt.Errorf("%s ended by itself: %w\n%s", n.kind, n.err, n.lastLog())
	default:
	}
	if err := n.cmd.Process.Signal(signal); err != nil {
		return err
	}
	select {
	case <-n.done:
	case <-time.After(time.Minute):
		return errors.Join(fmt.Errorf("%s did not end on %v\n%s", n.kind, signal, n.lastLog()), n.cmd.Process.Kill())
	}
	if signal == syscall.SIGTERM && n.kind == "kalda" && n.err != nil {
		return fmt.Errorf("exit after SIGTERM: %w", n.err)
	}
	return nil
}

// ended tells whether the process is gone.
func (n *node) ended() bool {
	select {
	case <-n.done:
		return true
	default:
		return false
	}
}

// lastLog is the end of what it wrote.
func (n *node) lastLog() string {
	text, err := os.ReadFile(filepath.Join(n.dir, "node.log"))
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "    " + strings.Join(all[max(0, len(all)-20):], "\n    ")
}

// checks counts a suite of our own.
type checks struct {
	out            io.Writer
	passed, failed int
}

// check runs one, and says ok or FAIL.
func (c *checks) check(name string, body func() error) bool {
	if err := body(); err != nil {
		c.failed++
		fmt.Fprintf(c.out, "FAIL %s: %v\n", name, err)
		return false
	}
	c.passed++
	fmt.Fprintln(c.out, "ok", name)
	return true
}

func (c *checks) finish() error {
	fmt.Fprintf(c.out, "%d passed, %d failed\n", c.passed, c.failed)
	if c.failed > 0 {
		return errors.New("checks failed")
	}
	return nil
}
