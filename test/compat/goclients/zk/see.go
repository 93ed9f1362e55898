package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// see is every node by path: data, stat and access list. Of folders with very many children it is their number and names,
// and one child in 500.
func see(c *zk.Conn) (map[string]string, error) {
	out := map[string]string{}
	return out, node(c, "/", out)
}

func node(c *zk.Conn, path string, out map[string]string) error {
	if path == "/zookeeper/config" {
		return nil // a server's own
	}
	data, stat, err := c.Get(path)
	if err != nil {
		return fmt.Errorf("get %s: %w", path, err)
	}
	acl, _, err := c.GetACL(path)
	if err != nil {
		return fmt.Errorf("getACL %s: %w", path, err)
	}
	names, _, err := c.Children(path)
	if err != nil {
		return fmt.Errorf("children %s: %w", path, err)
	}
	slices.Sort(names)
	out[path] = fmt.Sprintf("data %s stat %+v acl %v children %s", short(string(data)), *stat, acl,
		short(strings.Join(names, "/")))
	step := 1
	if len(names) > 5000 {
		step = 500
	}
	for i := 0; i < len(names); i += step {
		if err := node(c, strings.TrimSuffix(path, "/")+"/"+names[i], out); err != nil {
			return err
		}
	}
	return nil
}

// short is the text, or its length and hash.
func short(s string) string {
	if len(s) <= 60 {
		return fmt.Sprintf("%q", s)
	}
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%d:%s", len(s), hex.EncodeToString(sum[:8]))
}
