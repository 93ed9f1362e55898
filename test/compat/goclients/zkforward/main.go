// Command zkforward stands in for a ZooKeeper server that somebody else's tests start and kill: it empties the tree of the
// server under test, and forwards the port of its zoo.cfg there. Its death is what clients see as the death of their server.
//
//	ZOOKEEPER=host:port zkforward start-foreground zoo.cfg
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

func main() {
	if err := run(os.Getenv("ZOOKEEPER"), os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, "zkforward:", err)
		os.Exit(1)
	}
}

func run(to, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		settings[key] = value
	}
	// The servers of one test share a folder: the first of them empties the tree.
	mark := filepath.Join(filepath.Dir(settings["dataDir"]), ".emptied")
	if f, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL, 0o644); err == nil {
		f.Close()
		if err := empty(to); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+settings["clientPort"])
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go forward(c, to)
	}
}

func forward(c net.Conn, to string) {
	defer c.Close()
	s, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer s.Close()
	done := make(chan struct{}, 2)
	pass := func(from, to net.Conn) {
		_, _ = io.Copy(to, from)
		done <- struct{}{}
	}
	go pass(c, s)
	go pass(s, c)
	<-done
}

// empty deletes all nodes but the server's own.
func empty(to string) error {
	conn, _, err := zk.Connect([]string{to}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.AddAuth("digest", []byte("super:test")); err != nil {
		return err
	}
	names, _, err := conn.Children("/")
	for _, name := range names {
		if name != "zookeeper" {
			remove(conn, "/"+name)
		}
	}
	return err
}

func remove(conn *zk.Conn, path string) {
	names, _, _ := conn.Children(path)
	for _, name := range names {
		remove(conn, path+"/"+name)
	}
	_ = conn.Delete(path, -1) // somebody else's ephemeral may have gone meanwhile
}
