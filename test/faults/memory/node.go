package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// node is a server process under watch.
type node struct {
	o    *options
	cmd  *exec.Cmd
	addr string
	log  bytes.Buffer
	stop chan struct{}
	wg   sync.WaitGroup
	peak atomic.Int64 // resident bytes

	probes, failures atomic.Int64
	worst            atomic.Int64 // of a probe, ns
	lastErr          atomic.Value
}

// start runs a node with the memory limit and more keys, and a topic t.
func start(o *options, partitions int32, topic map[string]string, keys ...string) (*node, error) {
	dir, err := os.MkdirTemp(o.dir, "node-")
	if err != nil {
		return nil, err
	}
	n := &node{o: o, addr: fmt.Sprintf("127.0.0.1:%d", o.port), stop: make(chan struct{})}
	args := []string{"server"}
	for _, k := range append([]string{
		fmt.Sprintf("listeners=PLAINTEXT://%s,CONTROLLER://127.0.0.1:%d", n.addr, o.port+1),
		fmt.Sprintf("controller.quorum.voters=1@127.0.0.1:%d", o.port+1), "kalda.http.listener=",
		"log.dirs=" + filepath.Join(dir, "data"), "socket.listen.backlog.size=4096",
		fmt.Sprintf("kalda.memory.limit=%d", o.limit),
	}, keys...) {
		args = append(args, "--override", k)
	}
	n.cmd = exec.Command(o.kalda, args...)
	n.cmd.Stdout, n.cmd.Stderr = &n.log, &n.log
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	if err := n.create(partitions, topic); err != nil {
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait()
		return nil, fmt.Errorf("%w\n%s", err, n.tail())
	}
	n.wg.Go(n.watch)
	n.wg.Go(n.probe)
	return n, nil
}

func (n *node) create(partitions int32, topic map[string]string) error {
	for range 200 {
		c, err := net.Dial("tcp", n.addr)
		if err == nil {
			c.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(n.addr))
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	configs := map[string]*string{}
	for k, v := range topic {
		configs[k] = &v
	}
	_, err = kadm.NewClient(cl).CreateTopic(ctx, partitions, 1, configs, "t")
	return err
}

// tail is the end of the node's log.
func (n *node) tail() string {
	s := n.log.String()
	return s[max(0, len(s)-2000):]
}

func (n *node) rss() int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(n.cmd.Process.Pid) + "/status")
	if err != nil {
		return -1
	}
	return field(string(b), "VmHWM:")
}

// now is the resident memory at this moment.
func (n *node) now() int64 {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(n.cmd.Process.Pid) + "/status")
	return field(string(b), "VmRSS:")
}

func field(status, name string) int64 {
	_, rest, _ := strings.Cut(status, name)
	f := strings.Fields(rest)
	if len(f) == 0 {
		return -1
	}
	kb, _ := strconv.ParseInt(f[0], 10, 64)
	return kb << 10
}

// watch keeps the peak.
func (n *node) watch() {
	for {
		select {
		case <-n.stop:
			return
		case <-time.After(100 * time.Millisecond):
			if r := n.rss(); r > n.peak.Load() {
				n.peak.Store(r)
			}
		}
	}
}

// probe asks for metadata on a connection of its own, again and again.
func (n *node) probe() {
	c := &client{}
	for {
		select {
		case <-n.stop:
			c.close()
			return
		case <-time.After(100 * time.Millisecond):
		}
		began := time.Now()
		err := c.ask(n.addr)
		n.probes.Add(1)
		if err != nil {
			n.failures.Add(1)
			n.lastErr.Store(err)
			c.close()
			c = &client{}
		}
		if d := int64(time.Since(began)); d > n.worst.Load() {
			n.worst.Store(d)
		}
	}
}

// finish stops the node and judges it.
func (n *node) finish() error {
	close(n.stop)
	n.wg.Wait()
	rss := max(n.rss(), n.peak.Load())
	_ = n.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan error, 1)
	go func() { done <- n.cmd.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-time.After(60 * time.Second):
		_ = n.cmd.Process.Kill()
		err = errors.New("it doesn't stop")
	}
	fmt.Printf("  peak RSS %d MiB of %d; %d probes, %d failed, slowest %d ms\n", rss>>20, n.o.limit>>20,
		n.probes.Load(), n.failures.Load(), n.worst.Load()/int64(time.Millisecond))
	switch {
	case err != nil:
		return fmt.Errorf("the node ended with %w\n%s", err, n.tail())
	case rss > n.o.limit:
		return fmt.Errorf("%d MiB resident", rss>>20)
	case n.failures.Load() > 0 || n.probes.Load() == 0:
		return fmt.Errorf("%d of %d probes failed: %v", n.failures.Load(), n.probes.Load(), n.lastErr.Load())
	}
	return nil
}
