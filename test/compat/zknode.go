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

// process is something that this suite started: it waits for its port, ends it by its own process id, and keeps its log.
type process struct {
	e       *env
	name    string
	log     string
	address string

	cmd  *exec.Cmd
	file *os.File
	done chan struct{} // closed when it has ended
	err  error         // how, once done is closed
}

// start starts it and waits until it takes connections.
func (p *process) start(dir string, env []string, args ...string) (err error) {
	if p.file, err = os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	// Not bound to the run's context: it is stopped in order, after its clients.
	p.cmd = start(context.WithoutCancel(p.e.ctx), dir, env, p.file, args...)
	if err := p.cmd.Start(); err != nil {
		return errors.Join(err, p.file.Close())
	}
	done := make(chan struct{})
	p.done = done
	go func() {
		p.err = p.cmd.Wait()
		close(done)
	}()
	for end := time.Now().Add(4 * time.Minute); ; {
		c, err := net.DialTimeout("tcp", p.address, time.Second)
		if err == nil {
			return c.Close()
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s did not start: %w\n%s", p.name, p.err, lastOf(p.log))
		case <-p.e.ctx.Done():
			return errors.Join(p.e.ctx.Err(), p.stop(syscall.SIGKILL))
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("%s takes no connection at %s\n%s", p.name, p.address, lastOf(p.log)),
				p.stop(syscall.SIGKILL))
		}
	}
}

// running tells whether it was started and hasn't ended.
func (p *process) running() bool {
	if p.done == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// stop sends the signal and waits for the end.
func (p *process) stop(signal syscall.Signal) error {
	defer p.file.Close()
	if !p.running() {
		return fmt.Errorf("%s ended by itself: %w\n%s", p.name, p.err, lastOf(p.log))
	}
	if err := p.cmd.Process.Signal(signal); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(time.Minute):
	}
	return errors.Join(fmt.Errorf("%s did not end on %v\n%s", p.name, signal, lastOf(p.log)), p.cmd.Process.Kill())
}

func lastOf(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "    " + strings.Join(all[max(0, len(all)-20):], "\n    ")
}

// zkNode is one ZooKeeper server on one directory; the kind may change between a stop and a start.
type zkNode struct {
	process
	kind string // "kalda" or "apache"
	dir  string
}

const zooCfg = `tickTime=2000
dataDir=%[1]s/data
dataLogDir=%[1]s/log
clientPortAddress=127.0.0.1
clientPort=%[2]d
maxClientCnxns=0
maxSessionTimeout=1200000
snapCount=1000
4lw.commands.whitelist=*
admin.enableServer=false
extendedTypesEnabled=true
`

func (e *env) newZKNode(kind, name string) (*zkNode, error) {
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	n := &zkNode{kind: kind, dir: filepath.Join(e.work, name)}
	n.process = process{
		e: e, name: name, log: filepath.Join(n.dir, "server.log"),
		address: net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0])),
	}
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		return nil, err
	}
	return n, os.WriteFile(n.cfg(), fmt.Appendf(nil, zooCfg, n.dir, ports[0]), 0o644)
}

func (n *zkNode) cfg() string { return filepath.Join(n.dir, "zoo.cfg") }

func (n *zkNode) up() error {
	n.name = n.kind
	var env []string
	args := []string{n.e.kalda, "zookeeper", n.cfg()}
	if n.kind != "kalda" {
		libs, err := n.e.jars("zookeeper")
		if err != nil {
			return err
		}
		env = []string{"LIBS=" + libs, "HEAP=-Xms512m -Xmx2g"}
		args = []string{n.e.here("java", "tool"), "zookeeper", n.cfg()}
	}
	if err := n.process.start(n.dir, env, args...); err != nil {
		return err
	}
	// Apache's listens before it has its data.
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		text, err := n.word("srvr")
		if err == nil && strings.Contains(text, "Mode: ") {
			return nil
		}
		if time.Now().After(end) || !n.running() {
			return errors.Join(fmt.Errorf("%s doesn't serve: %q\n%s", n.name, text, lastOf(n.log)), err)
		}
	}
}

// word asks a four-letter word.
func (n *zkNode) word(word string) (string, error) {
	c, err := net.DialTimeout("tcp", n.address, 10*time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, word); err != nil {
		return "", err
	}
	text, err := io.ReadAll(c)
	return string(text), err
}
