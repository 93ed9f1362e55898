package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/server/ensemble"
)

func startZooKeeper(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "zoo.cfg")
	text := "tickTime=100\nclientPort=0\nclientPortAddress=127.0.0.1\ndataDir=" + t.TempDir() + "\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	z, _, err := config.LoadZooKeeper(file, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := ensemble.Start(t.Context(), ensemble.Options{Config: z, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s.Addr().String()
}

// process is a master whose network can be cut, which is what its death looks like from outside.
type process struct {
	*master
	t     *testing.T
	heard chan string
	stop  context.CancelFunc
	done  chan struct{}

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func start(t *testing.T, server, name string) *process {
	p := &process{t: t, heard: make(chan string, 100), done: make(chan struct{})}
	p.master = &master{
		servers: []string{server}, path: "/masters", name: name, timeout: time.Second,
		tell: func(text string) { p.heard <- text }, dial: p.connect,
	}
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	go func() {
		defer close(p.done)
		_ = p.run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-p.done
	})
	return p
}

func (p *process) connect(network, address string, timeout time.Duration) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		return nil, errors.New("no network")
	}
	conn, err := net.DialTimeout(network, address, timeout)
	p.conns = append(p.conns, conn)
	return conn, err
}

// die cuts the network; live gives it back.
func (p *process) die() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for _, c := range p.conns {
		if c != nil {
			c.Close()
		}
	}
	p.conns = nil
}

func (p *process) live() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

// hears waits for a line that begins so.
func (p *process) hears(start string) string {
	p.t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case text := <-p.heard:
			if strings.HasPrefix(text, start) {
				return text
			}
		case <-limit:
			p.t.Fatalf("%s never says %q", p.name, start)
		}
	}
}

func TestMasters(t *testing.T) {
	server := startZooKeeper(t)
	one := start(t, server, "one")
	place := strings.TrimPrefix(one.hears("one registers as "), "one registers as ")
	one.hears("one leads")
	two := start(t, server, "two")
	if got := two.hears("two waits for "); got != "two waits for "+place {
		t.Error(got)
	}

	one.die()
	one.hears("one no longer leads")
	two.hears("two leads")

	one.live()
	one.hears("one registers as ")
	one.hears("one waits for ")
	select {
	case text := <-two.heard:
		t.Errorf("the leader is disturbed: %s", text)
	default:
	}

	two.stop()
	two.hears("two steps down")
	one.hears("one leads")
}
