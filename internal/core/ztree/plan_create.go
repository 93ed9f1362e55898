package ztree

import (
	"fmt"

	"github.com/kalda/kalda/internal/format/jute"
)

// wanted is what kind of node a create asks for.
type wanted struct {
	owner      int64
	ephemeral  bool
	sequential bool
	ttl        int64
}

// kindOf decides by opcode, flags and time to live together: only what clients in use send is taken.
func (pl *plan) kindOf(op jute.OpCode, flags int32, ttl int64) (w wanted, code jute.Code) {
	if flags < jute.FlagPersistent || flags > jute.FlagPersistentSequentialTTL {
		return w, jute.BadArguments
	}
	isTTL := flags == jute.FlagPersistentTTL || flags == jute.FlagPersistentSequentialTTL
	switch {
	case isTTL && !pl.p.t.cfg.ExtendedTypes:
		return w, jute.Unimplemented
	case isTTL != (op == jute.OpCreateTTL), isTTL && !validTTL(ttl), !isTTL && ttl >= 0:
		return w, jute.BadArguments
	case op == jute.OpCreateContainer && flags != jute.FlagContainer:
		return w, jute.BadArguments
	case flags == jute.FlagContainer && op != jute.OpCreateContainer:
		return w, pl.session() // the opcode makes the kind: a plain node, which go-zookeeper relies on
	}
	switch flags {
	case jute.FlagEphemeral, jute.FlagEphemeralSequential:
		w.ephemeral, w.owner = true, int64(pl.r.Session)
	case jute.FlagContainer:
		w.owner = containerOwner
	case jute.FlagPersistentTTL, jute.FlagPersistentSequentialTTL:
		w.ttl, w.owner = ttl, ttlOwner|ttl
	}
	switch flags {
	case jute.FlagPersistentSequential, jute.FlagEphemeralSequential, jute.FlagPersistentSequentialTTL:
		w.sequential = true
	}
	return w, pl.session()
}

func (pl *plan) create(op jute.OpCode, b *jute.CreateRequest, ttl int64) (jute.Record, jute.Code) {
	w, code := pl.kindOf(op, b.Flags, ttl)
	if code != jute.OK {
		return nil, code
	}
	if !hasParent(b.Path) {
		return nil, jute.BadArguments
	}
	acl := pl.p.t.guard.fix(b.ACL, pl.r.Auth)
	if len(acl) == 0 {
		return nil, jute.InvalidACL
	}
	parentPath, _ := split(b.Path)
	parent, kids := pl.p.head(parentPath)
	path, code := pl.place(b.Path, parent, w.sequential)
	if code != jute.OK {
		return nil, code
	}
	if code := pl.p.admits(path, int64(len(b.Data)), 1); code != jute.OK {
		return nil, code
	}
	up := *parent
	up.cversion++
	up.pzxid = pl.zxid
	pl.p.put(pl.zxid, parentPath, &up, kids+1)
	n := &node{
		czxid: pl.zxid, mzxid: pl.zxid, pzxid: pl.zxid, ctime: pl.now, mtime: pl.now, owner: w.owner,
		acl: &aclEntry{list: acl},
	}
	n.setData(b.Data)
	pl.p.put(pl.zxid, path, n, 0)
	return w.txn(op, &jute.CreateTxn{
		Path: path, Data: b.Data, ACL: acl, Ephemeral: w.ephemeral, ParentCVersion: up.cversion,
	}), jute.OK
}

// txn is the transaction of the kind of node.
func (w *wanted) txn(op jute.OpCode, c *jute.CreateTxn) jute.Record {
	switch op {
	case jute.OpCreateContainer:
		return &jute.CreateContainerTxn{Path: c.Path, Data: c.Data, ACL: c.ACL, ParentCVersion: c.ParentCVersion}
	case jute.OpCreateTTL:
		return &jute.CreateTTLTxn{
			Path: c.Path, Data: c.Data, ACL: c.ACL, ParentCVersion: c.ParentCVersion, TTL: w.ttl,
		}
	}
	return c
}

// place gives the final path, with its suffix, and says whether a node may come there.
func (pl *plan) place(path string, parent *node, sequential bool) (string, jute.Code) {
	if parent == nil {
		return "", jute.NoNode
	}
	if !pl.may(parent, jute.PermCreate) {
		return "", jute.NoAuth
	}
	if sequential {
		path += fmt.Sprintf("%010d", parent.cversion)
	}
	if !CheckPath(path) {
		return "", jute.BadArguments
	}
	if n, _ := pl.p.head(path); n != nil {
		return "", jute.NodeExists
	}
	if pl.p.t.kinds.session(parent.owner) != 0 {
		return "", jute.NoChildrenForEphemerals
	}
	return path, jute.OK
}
