package ztree

import (
	"iter"
	"strings"

	"github.com/tidwall/btree"

	"github.com/kalda/kalda/internal/format/jute"
)

// View is an immutable state of the tree. Any number of goroutines may read it.
type View struct {
	cfg        *Config
	kinds      *kinds
	guard      *guard
	root       *node
	zxid       Zxid
	digest     uint64
	nodes      int
	ephemerals int
	dataSize   int64
	acls       *btree.Map[int64, *aclEntry]
	sessions   *btree.Map[SessionID, int32]
	owned      *btree.Map[string, struct{}]
}

// Zxid is the last transaction in the view.
func (v *View) Zxid() Zxid { return v.zxid }

// Digest is the tree's digest.
func (v *View) Digest() uint64 { return v.digest }

// NodeCount is as Apache counts: the root twice.
func (v *View) NodeCount() int { return v.nodes + 1 }

// EphemeralCount is the number of ephemerals.
func (v *View) EphemeralCount() int { return v.ephemerals }

// DataSize is about the bytes of paths and data, the root twice.
func (v *View) DataSize() int64 { return v.dataSize + 1 }

// SessionCount is the number of sessions.
func (v *View) SessionCount() int { return v.sessions.Len() }

// Sessions are all sessions and their timeouts, by id.
func (v *View) Sessions() iter.Seq2[SessionID, int32] {
	return func(yield func(SessionID, int32) bool) { v.sessions.Scan(yield) }
}

// SessionTimeout is one session's.
func (v *View) SessionTimeout(id SessionID) (int32, bool) { return v.sessions.Get(id) }

// ACLCount is the number of ACLs in the table.
func (v *View) ACLCount() int { return v.acls.Len() }

// ACLs is the table of ACLs that nodes refer to by key, the open one (-1) left out.
func (v *View) ACLs() iter.Seq2[int64, []jute.ACL] {
	return func(yield func(int64, []jute.ACL) bool) {
		v.acls.Scan(func(key int64, e *aclEntry) bool { return yield(key, e.list) })
	}
}

// Nodes are all nodes, parents first; the root's path is "". Data is valid until the next one.
func (v *View) Nodes() iter.Seq2[string, jute.DataNode] {
	return func(yield func(string, jute.DataNode) bool) {
		data := []byte{}
		v.root.walk(nil, func(path []byte, n *node) bool {
			d := jute.DataNode{ACL: n.acl.key, Stat: n.persisted()}
			if n.mark&nullData == 0 {
				data = append(data[:0], n.data...)
				d.Data = data
			}
			return yield(string(path), d)
		})
	}
}

// Lookup finds a node without a check.
func (v *View) Lookup(path string) (Node, bool) {
	n := lookup(v.root, path)
	return Node{n, v.kinds}, n != nil
}

// Read finds a node that ids may read: getData, getChildren, getChildren2, exists.
func (v *View) Read(path string, ids []jute.ID) (Node, jute.Code) {
	n := lookup(v.root, path)
	if n == nil {
		return Node{}, jute.NoNode
	}
	if !v.guard.permits(n.acl.list, jute.PermRead, ids) {
		return Node{}, jute.NoAuth
	}
	return Node{n, v.kinds}, jute.OK
}

// ReadACL is getACL: passwords masked unless ids may administer.
func (v *View) ReadACL(path string, ids []jute.ID) ([]jute.ACL, jute.Stat, jute.Code) {
	n := lookup(v.root, path)
	if n == nil {
		return nil, jute.Stat{}, jute.NoNode
	}
	acl := n.acl.list
	if !v.guard.permits(acl, jute.PermRead|jute.PermAdmin, ids) {
		return nil, jute.Stat{}, jute.NoAuth
	}
	if !v.guard.permits(acl, jute.PermAdmin, ids) {
		acl = mask(acl)
	}
	return acl, Node{n, v.kinds}.Stat(), jute.OK
}

// Descendants is getAllChildrenNumber.
func (v *View) Descendants(path string, ids []jute.ID) (int32, jute.Code) {
	n, code := v.Read(path, ids)
	if code != jute.OK {
		return 0, code
	}
	count := int32(-1)
	n.n.walk(nil, func([]byte, *node) bool {
		count++
		return true
	})
	return count, jute.OK
}

// Ephemerals are a session's, whose path begins with prefix, sorted.
func (v *View) Ephemerals(id SessionID, prefix string) []string {
	if strings.TrimSpace(prefix) == "" {
		prefix = "/"
	}
	return ephemerals(v.owned, v.kinds, id, prefix)
}

func ephemerals(m *btree.Map[string, struct{}], k *kinds, id SessionID, prefix string) []string {
	out := []string{}
	if k.session(int64(id)) != id {
		return out
	}
	from := ownedKey(int64(id), prefix)
	m.Ascend(from, func(key string, _ struct{}) bool {
		if !strings.HasPrefix(key, from) {
			return false
		}
		out = append(out, key[8:])
		return true
	})
	return out
}

// EphemeralOwners are the sessions that own ephemerals, and their paths (dump).
func (v *View) EphemeralOwners() iter.Seq2[SessionID, []string] {
	return func(yield func(SessionID, []string) bool) {
		var last SessionID
		var paths []string
		more := true
		v.owned.Scan(func(key string, _ struct{}) bool {
			owner, path := splitOwnedKey(key)
			id := v.kinds.session(owner)
			if id == 0 {
				return true
			}
			if id != last && paths != nil {
				more = yield(last, paths)
				paths = nil
			}
			last, paths = id, append(paths, path)
			return more
		})
		if more && paths != nil {
			yield(last, paths)
		}
	}
}

// DeadSessions own ephemerals, and are not in the table of sessions.
func (v *View) DeadSessions() []SessionID {
	var out []SessionID
	for id := range v.EphemeralOwners() {
		if _, ok := v.sessions.Get(id); !ok {
			out = append(out, id)
		}
	}
	return out
}

// Idle are containers and TTL nodes to delete at now, at most limit. The driver asks for each to be deleted
// by a deleteContainer request, which looks again.
func (v *View) Idle(now int64, limit int) []string {
	var out []string
	v.owned.Scan(func(key string, _ struct{}) bool {
		owner, path := splitOwnedKey(key)
		if owner > 0 {
			return false // sessions from here on
		}
		if v.kinds.reapable(owner) && v.idle(lookup(v.root, path), now) {
			out = append(out, path)
		}
		return len(out) < limit
	})
	return out
}

func (v *View) idle(n *node, now int64) bool {
	if n == nil || n.numKids() > 0 {
		return false
	}
	if ttl, ok := v.kinds.ttl(n.owner); ok {
		return now-n.mtime > ttl
	}
	if n.cversion > 0 {
		return true
	}
	return v.cfg.NeverUsedInterval > 0 && now-n.mtime > v.cfg.NeverUsedInterval
}

// Permits says whether ids have any of perms on what has that ACL.
func (v *View) Permits(acl []jute.ACL, perms int32, ids []jute.ID) bool {
	return v.guard.permits(acl, perms, ids)
}
