// Command memory holds a node to its memory limit: it starts one with kalda.memory.limit and gives it what it
// can't swallow: more produce than disk and processor take, thousands of silent connections and of frames
// that never end, readers that don't read. The node's resident memory must stay below the limit all the
// time, and a probe on a connection of its own must go on being served.
//
//	make faults                              all, about four minutes
//	go run ./test/faults/memory -only slow   one of them
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

type options struct {
	kalda   string
	dir     string
	port    int
	limit   int64
	seconds int
	conns   int
	many    int
}

type scenario struct {
	name string
	run  func(*options) error
}

func main() { os.Exit(run()) }

func run() (code int) {
	var o options
	only := ""
	flag.StringVar(&o.kalda, "kalda", "bin/kalda", "the binary")
	flag.StringVar(&o.dir, "dir", "", "where the node's data goes; default: a temporary folder")
	flag.IntVar(&o.port, "port", 40192, "the node's port; the one after it is its controller's")
	flag.Int64Var(&o.limit, "limit", 256<<20, "kalda.memory.limit")
	flag.IntVar(&o.seconds, "seconds", 60, "how long the flood lasts")
	flag.IntVar(&o.conns, "conns", 1000, "connections of the flood")
	flag.IntVar(&o.many, "many", 10000, "silent connections, and half-sent frames")
	flag.StringVar(&only, "only", "", "run the scenarios whose names contain this")
	flag.Parse()
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "kalda-memory-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		defer func() { _ = os.RemoveAll(dir) }()
		o.dir = dir
	}
	for _, s := range []scenario{
		{"flood", flood},
		{"silent", silent},
		{"half", half},
		{"slow", slow},
		{"slow-copied", slowCopied},
		{"bodies", bodies},
	} {
		if !strings.Contains(s.name, only) {
			continue
		}
		began := time.Now()
		err := s.run(&o)
		verdict := "ok"
		if err != nil {
			verdict, code = "FAILED: "+err.Error(), 1
		}
		fmt.Printf("%-12s %s (%.0f s)\n", s.name, verdict, time.Since(began).Seconds())
	}
	return code
}
