package ztree

import (
	"fmt"

	"github.com/kalda/kalda/internal/format/jute"
)

// Loader builds a tree from a snapshot: sessions, ACLs, nodes (parents first, the root as ""), Finish.
type Loader struct {
	t    *Tree
	acls map[int64][]jute.ACL

	parentPath string // of the last node: snapshots have siblings together
	parent     *node
}

// NewLoader starts an empty tree.
func NewLoader(cfg Config) *Loader { return &Loader{t: newTree(cfg), acls: map[int64][]jute.ACL{}} }

// Session adds a session.
func (l *Loader) Session(id SessionID, timeout int32) { l.t.sessions.change().Set(id, timeout) }

// ACL adds an entry of the snapshot's table.
func (l *Loader) ACL(key int64, acl []jute.ACL) { l.acls[key] = acl }

// Node adds a node. The data is copied. An error: no parent, or there already.
func (l *Loader) Node(path string, d *jute.DataNode) error {
	t := l.t
	if path == "/" {
		return nil // what ends the list
	}
	n := &node{
		mark: t.fresh(), czxid: d.Stat.Czxid, mzxid: d.Stat.Mzxid, pzxid: d.Stat.Pzxid, ctime: d.Stat.Ctime,
		mtime: d.Stat.Mtime, owner: d.Stat.EphemeralOwner, version: d.Stat.Version, cversion: d.Stat.Cversion,
		aversion: d.Stat.Aversion,
	}
	n.setData(d.Data)
	n.acl = l.entry(d.ACL)
	if path == "" {
		if t.root != nil {
			return fmt.Errorf("znode %q: there twice", path)
		}
		t.root = n
		t.count(path, n, 1)
		return nil
	}
	return l.below(path, n)
}

// below puts a node under its parent.
func (l *Loader) below(path string, n *node) error {
	t := l.t
	if t.root == nil || path[0] != '/' {
		return fmt.Errorf("znode %q: before the root", path)
	}
	parent, name := split(path)
	if l.parent == nil || parent != l.parentPath {
		l.parentPath, l.parent = parent, lookup(t.root, parent)
	}
	if l.parent == nil || name == "" {
		return fmt.Errorf("znode %q: before its parent", path)
	}
	if _, twice := t.ownKids(l.parent).m.Set(cloneString(name), n); twice {
		return fmt.Errorf("znode %q: there twice", path)
	}
	t.count(path, n, 1)
	return nil
}

// entry is the ACL of a key. A fuzzy snapshot may lack one that a transaction to come brings: nobody may do
// anything until then.
func (l *Loader) entry(key int64) *aclEntry {
	t := l.t
	if key == openKey {
		return t.acls.open
	}
	list, ok := l.acls[key]
	if !ok {
		t.acls.next = max(t.acls.next, key+1)
		return &aclEntry{key: key, list: []jute.ACL{{}}, refs: 1}
	}
	if list == nil {
		list = []jute.ACL{}
	}
	return t.acquire(list)
}

// Finish gives the tree, as it is at zxid. The nodes that every tree has are made where they are missing
// (old snapshots have no /zookeeper/config).
func (l *Loader) Finish(zxid Zxid) (*Tree, error) {
	t := l.t
	if t.root == nil {
		return nil, fmt.Errorf("a snapshot without a root")
	}
	for _, path := range []string{systemPath, quotaPath, configPath} {
		if lookup(t.root, path) == nil {
			n := &node{mark: t.fresh(), acl: t.acls.open}
			if path == configPath {
				n = t.newConfig()
			}
			t.insert(path, n)
		}
	}
	t.recountAll()
	t.zxid = zxid
	return t, nil
}
