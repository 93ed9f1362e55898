// Command zk fills a ZooKeeper with one of everything, and says what is in it.
//
//	zk fill PREFIX COUNT   a share of nodes below /PREFIX, COUNT small ones among them
//	zk more PREFIX         a few more changes
//	zk see                 all there is, as JSON
//	zk get PATH            a node's data
//	zk ls PATH             its children, a line each
//	zk check FILE          compares with what see said before
//
// ZOOKEEPER is the server, host:port.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"
)

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// connect opens a session that outlives this process by ten minutes, unless it is closed.
func connect() (*zk.Conn, error) {
	c, _, err := zk.Connect([]string{os.Getenv("ZOOKEEPER")}, 10*time.Minute, zk.WithLogger(quiet{}))
	if err != nil {
		return nil, err
	}
	return c, c.AddAuth("digest", []byte("user:password"))
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "zk:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("fill, more, get, ls, see or check?")
	}
	c, err := connect()
	if err != nil {
		return err
	}
	switch args[0] {
	case "fill":
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return fill(c, "/"+args[1], n) // and the session stays, with its ephemerals
	case "more":
		defer c.Close()
		return more(c, "/"+args[1])
	case "get":
		defer c.Close()
		data, _, err := c.Get(args[1])
		fmt.Println(string(data))
		return err
	case "ls":
		defer c.Close()
		names, _, err := c.Children(args[1])
		slices.Sort(names)
		for _, name := range names {
			fmt.Println(name)
		}
		return err
	case "see":
		defer c.Close()
		s, err := see(c)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(s)
	}
	defer c.Close()
	text, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	var before map[string]string
	if err := json.Unmarshal(text, &before); err != nil {
		return err
	}
	now, err := see(c)
	if err != nil {
		return err
	}
	return compare(before, now)
}

// compare reports each node that is another, up to a few.
func compare(before, now map[string]string) error {
	all := map[string]bool{}
	for path := range before {
		all[path] = true
	}
	for path := range now {
		all[path] = true
	}
	paths := make([]string, 0, len(all))
	for path := range all {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	failed := 0
	for _, path := range paths {
		if before[path] != now[path] {
			if failed++; failed <= 10 {
				fmt.Printf("%s\n    was %s\n    is  %s\n", path, before[path], now[path])
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d nodes differ", failed, len(paths))
	}
	return nil
}
