package main

import (
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// share makes nodes and remembers the first error.
type share struct {
	c   *zk.Conn
	err error
}

func (s *share) create(path, data string, flags int32, acl []zk.ACL) string {
	if s.err != nil {
		return ""
	}
	name, err := s.c.Create(path, []byte(data), flags, acl)
	if err != nil {
		s.err = fmt.Errorf("create %s: %w", path, err)
	}
	return name
}

func (s *share) do(what string, err error) {
	if s.err == nil && err != nil {
		s.err = fmt.Errorf("%s: %w", what, err)
	}
}

// fill makes one of everything below root.
func fill(c *zk.Conn, root string, small int) error {
	s := &share{c: c}
	open := zk.WorldACL(zk.PermAll)
	s.create(root, "share", 0, open)
	s.create(root+"/empty", "", 0, open)
	s.create(root+"/täst", "ü€", 0, open)
	s.create(root+"/large", string(make([]byte, 500_000)), 0, open)
	s.create(root+"/secret", "mine", 0, zk.DigestACL(zk.PermAll, "user", "password"))
	s.create(root+"/mixed", "", 0, []zk.ACL{
		{Perms: zk.PermRead, Scheme: "ip", ID: "127.0.0.0/8"},
		{Perms: zk.PermAll, Scheme: "digest", ID: "user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY="},
		{Perms: zk.PermWrite | zk.PermAdmin, Scheme: "auth"},
	})
	s.create(root+"/readonly", "", 0, open)
	_, err := c.SetACL(root+"/readonly", zk.WorldACL(zk.PermRead|zk.PermAdmin), 0)
	s.do("setACL", err)
	s.create(root+"/seq", "", 0, open)
	for range 5 {
		s.create(root+"/seq/n-", "", zk.FlagSequence, open)
		s.create(root+"/seq/e-", "", zk.FlagSequence|zk.FlagEphemeral, open)
	}
	s.do("delete", c.Delete(root+"/seq/n-0000000004", -1))
	s.create(root+"/ephemeral", "of the session", zk.FlagEphemeral, open)
	_, err = c.CreateContainer(root+"/container", nil, zk.FlagContainer, open)
	s.do("createContainer", err)
	s.create(root+"/container/child", "", 0, open)
	_, err = c.CreateTTL(root+"/ttl", []byte("t"), zk.FlagTTL, open, 100*time.Hour)
	s.do("createTTL", err)
	_, err = c.CreateTTL(root+"/ttl-", nil, zk.FlagPersistentSequentialWithTTL, open, 200*time.Hour)
	s.do("createTTL", err)
	for v := range 3 {
		_, err := c.Set(root+"/empty", fmt.Appendf(nil, "version %d", v), int32(v))
		s.do("setData", err)
	}
	s.multi(root)
	s.left(root)
	s.small(root, small)
	return s.err
}

// multi does one that succeeds and one that doesn't.
func (s *share) multi(root string) {
	open := zk.WorldACL(zk.PermAll)
	_, err := s.c.Multi(
		&zk.CreateRequest{Path: root + "/multi", Data: []byte("m"), Acl: open},
		&zk.CreateRequest{Path: root + "/multi/n-", Acl: open, Flags: zk.FlagSequence},
		&zk.CreateRequest{Path: root + "/multi/gone", Acl: open},
		&zk.SetDataRequest{Path: root + "/multi", Data: []byte("changed"), Version: 0},
		&zk.CheckVersionRequest{Path: root + "/multi", Version: 1},
		&zk.DeleteRequest{Path: root + "/multi/gone", Version: -1},
	)
	s.do("multi", err)
	_, err = s.c.Multi(
		&zk.CreateRequest{Path: root + "/never", Acl: open},
		&zk.DeleteRequest{Path: root + "/nowhere", Version: -1},
	)
	if err == nil {
		s.do("multi", fmt.Errorf("a multi that can't succeed did"))
	}
}

// left has a session that ends, with its ephemerals.
func (s *share) left(root string) {
	other, err := connect()
	if err != nil {
		s.do("connect", err)
		return
	}
	_, err = other.Create(root+"/theirs", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	s.do("create", err)
	other.Close()
}

const perMulti = 500

// small makes that many nodes in folders of up to 100,000, a multi of 500 at a time.
func (s *share) small(root string, n int) {
	open := zk.WorldACL(zk.PermAll)
	s.create(root+"/many", "", 0, open)
	dir := ""
	for i := 0; i < n && s.err == nil; i += perMulti {
		if i%100_000 == 0 {
			dir = fmt.Sprintf("%s/many/%02d", root, i/100_000)
			s.create(dir, "", 0, open)
		}
		ops := make([]any, 0, perMulti)
		for j := i; j < min(n, i+perMulti); j++ {
			ops = append(ops, &zk.CreateRequest{Path: fmt.Sprintf("%s/%07d", dir, j), Data: fmt.Appendf(nil, "%d", j), Acl: open})
		}
		_, err := s.c.Multi(ops...)
		s.do("multi of creates", err)
	}
}

// more changes something 150 times: the servers note their digest every 128 transactions.
func more(c *zk.Conn, root string) error {
	for i := range 150 {
		if _, err := c.Set(root+"/empty", fmt.Appendf(nil, "more %d", i), -1); err != nil {
			return err
		}
	}
	return nil
}
