// Command master is a service that runs several times, of which one does the work: the master. The masters
// register sequential ephemeral nodes in ZooKeeper; the one with the lowest number leads, each other waits for
// the one before it. When the leader dies, its node goes with its session, and the next one takes over. When it
// comes back it gets a new number, and waits at the end of the line.
//
//	go run ./examples/master -name one &
//	go run ./examples/master -name two
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-zookeeper/zk"
)

func main() {
	servers := flag.String("server", "localhost:2181", "host:port of ZooKeeper servers, with commas between them")
	path := flag.String("path", "/masters", "the node that the masters meet under")
	name := flag.String("name", fmt.Sprintf("process-%d", os.Getpid()), "what this one is called")
	timeout := flag.Duration("timeout", 10*time.Second, "how long after its death a master still holds its place")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m := &master{
		servers: strings.Split(*servers, ","), path: *path, name: *name, timeout: *timeout,
		tell: func(text string) { fmt.Println(text) }, //nolint:forbidigo // a program's output
	}
	if err := m.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// quiet keeps the client library from writing to the log: what happens to the session is told by tell.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

var _ zk.Logger = quiet{}
