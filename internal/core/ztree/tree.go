package ztree

import (
	"encoding/binary"
	"math"

	"github.com/kalda/kalda/internal/format/jute"
)

// The nodes every tree has.
const (
	systemPath = "/zookeeper"
	quotaPath  = "/zookeeper/quota"
	configPath = "/zookeeper/config"
)

// Tree is the state that transactions change. One goroutine owns it.
type Tree struct {
	cfg   Config
	kinds kinds
	guard guard

	root   *node
	epoch  uint32 // of the nodes nobody else has seen
	zxid   Zxid
	digest uint64

	nodes      int   // the root once
	ephemerals int   // nodes whose owner is a session
	dataSize   int64 // bytes of paths and data

	acls     aclTable
	aclKeys  cow[int64, *aclEntry]
	sessions cow[SessionID, int32]
	owned    cow[string, struct{}] // nodes with an owner of any kind, by owner and path

	last    *View // what View gave, while nothing changed
	peek    View
	scratch []byte
}

// maxEpoch is the largest that a mark holds.
const maxEpoch = math.MaxUint32 >> 1

// New is a fresh tree, with /zookeeper and its two children.
func New(cfg Config) *Tree {
	t := newTree(cfg)
	t.insert("", &node{mark: t.fresh(), acl: t.acls.open})
	t.insert(systemPath, &node{mark: t.fresh(), acl: t.acls.open})
	t.insert(quotaPath, &node{mark: t.fresh(), acl: t.acls.open})
	t.insert(configPath, t.newConfig())
	return t
}

// newConfig is /zookeeper/config: only a super user changes it, and its ACL's version is -1.
func (t *Tree) newConfig() *node {
	readOnly := []jute.ACL{{Perms: jute.PermRead, ID: jute.ID{Scheme: "world", ID: "anyone"}}}
	return &node{mark: t.fresh(), aversion: -1, acl: t.acquire(readOnly)}
}

func newTree(cfg Config) *Tree {
	return &Tree{
		cfg: cfg, kinds: kinds{cfg.ExtendedTypes, cfg.Emulate353TTL}, guard: newGuard(&cfg),
		acls: newACLTable(), aclKeys: newCow[int64, *aclEntry](),
		sessions: newCow[SessionID, int32](), owned: newCow[string, struct{}](),
	}
}

// Config is what the tree was made with.
func (t *Tree) Config() Config { return t.cfg }

// Zxid is the last transaction applied.
func (t *Tree) Zxid() Zxid { return t.zxid }

// Digest is the tree's digest now.
func (t *Tree) Digest() uint64 { return t.digest }

// SetZxid moves on without a transaction: to the start of a new epoch.
func (t *Tree) SetZxid(zxid Zxid) { t.zxid, t.last = zxid, nil }

// View is the state now, in O(1).
func (t *Tree) View() *View {
	if t.last != nil {
		return t.last
	}
	t.last = &View{
		cfg: &t.cfg, kinds: &t.kinds, guard: &t.guard, root: t.root, zxid: t.zxid, digest: t.digest,
		nodes: t.nodes, ephemerals: t.ephemerals, dataSize: t.dataSize,
		acls: t.aclKeys.share(), sessions: t.sessions.share(), owned: t.owned.share(),
	}
	if t.epoch++; t.epoch == maxEpoch {
		t.renumber()
	}
	return t.last
}

// Peek is the state now, for the tree's owner alone and until the next change: unlike a View it costs that
// change nothing.
func (t *Tree) Peek() *View {
	if t.last != nil {
		return t.last
	}
	t.peek = View{
		cfg: &t.cfg, kinds: &t.kinds, guard: &t.guard, root: t.root, zxid: t.zxid, digest: t.digest,
		nodes: t.nodes, ephemerals: t.ephemerals, dataSize: t.dataSize,
		acls: t.aclKeys.m, sessions: t.sessions.m, owned: t.owned.m,
	}
	return &t.peek
}

// renumber makes room for more epochs: once in two thousand million views.
func (t *Tree) renumber() {
	t.epoch = 1
	t.root = copyAll(t.root)
}

// copyAll copies a node and all below it into epoch 0.
func copyAll(n *node) *node {
	c := *n
	c.mark &= nullData
	if n.kids != nil {
		c.kids = &kids{m: n.kids.m.Copy()}
		n.kids.m.Scan(func(name string, k *node) bool {
			c.kids.m.Set(name, copyAll(k))
			return true
		})
	}
	return &c
}

// fresh is the mark of a node that no view has.
func (t *Tree) fresh() uint32 { return t.epoch << 1 }

func (t *Tree) isOwn(n *node) bool { return n.mark>>1 == t.epoch }

// ownCopy is the node to change in place of n.
func (t *Tree) ownCopy(n *node) *node {
	c := *n
	c.mark = t.fresh() | n.mark&nullData
	return &c
}

// own finds a node to change it: it and all above it are this epoch's from then on.
func (t *Tree) own(path string) *node {
	if !t.isOwn(t.root) {
		t.root = t.ownCopy(t.root)
	}
	n := t.root
	for rest := path; n != nil && rest != "" && rest != "/"; {
		var name string
		name, rest = cutFirst(rest)
		c := n.child(name)
		if c != nil && !t.isOwn(c) {
			c = t.ownCopy(c)
			t.ownKids(n).m.Set(name, c)
		}
		n = c
	}
	return n
}

// cutFirst takes the first name off a path: "/a/b" is a and "/b".
func cutFirst(path string) (name, rest string) {
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			return path[1:i], path[i:]
		}
	}
	return path[1:], ""
}

// ownKids are the children of a node of this epoch, to change them.
func (t *Tree) ownKids(n *node) *kids {
	switch {
	case n.kids == nil:
		n.kids = &kids{epoch: t.epoch, m: newKids()}
	case n.kids.epoch != t.epoch:
		n.kids = &kids{epoch: t.epoch, m: n.kids.m.Copy()}
	}
	return n.kids
}

// insert puts a new node at a path whose parent is there, and counts it.
func (t *Tree) insert(path string, n *node) {
	if path == "" {
		t.root = n
	} else {
		parent, name := split(path)
		t.ownKids(t.own(parent)).m.Set(cloneString(name), n)
	}
	t.count(path, n, 1)
}

// remove takes a node out, and whatever is below it, which only replay over a fuzzy snapshot may find there.
func (t *Tree) remove(path string, n *node) {
	parent, name := split(path)
	t.ownKids(t.own(parent)).m.Delete(name)
	if n.numKids() == 0 {
		t.count(path, n, -1)
		t.release(n.acl)
		return
	}
	n.walk([]byte(path), func(path []byte, n *node) bool {
		t.count(string(path), n, -1)
		t.release(n.acl)
		return true
	})
}

// count keeps the totals, the digest and the list of owned nodes: by is 1 for a node that comes, -1 for one
// that goes.
func (t *Tree) count(path string, n *node, by int) {
	t.nodes += by
	t.dataSize += int64(by) * int64(len(path)+len(n.data))
	t.digest += uint64(by) * t.hash(path, n)
	if n.owner == 0 {
		return
	}
	if t.kinds.session(n.owner) != 0 {
		t.ephemerals += by
	}
	if by > 0 {
		t.owned.change().Set(ownedKey(n.owner, path), struct{}{})
	} else {
		t.owned.change().Delete(ownedKey(n.owner, path))
	}
}

// ownedKey sorts by owner, containers before times to live before sessions, then by path.
func ownedKey(owner int64, path string) string {
	b := make([]byte, 0, 8+len(path))
	return string(append(binary.BigEndian.AppendUint64(b, ownerRank(owner)), path...))
}

func ownerRank(owner int64) uint64 { return uint64(owner) ^ 1<<63 }

func splitOwnedKey(key string) (owner int64, path string) {
	return int64(binary.BigEndian.Uint64([]byte(key[:8])) ^ 1<<63), key[8:]
}

// edit changes a node that is there and keeps the totals right. Its owner and place stay as they are.
func (t *Tree) edit(path string, change func(n *node)) *node {
	n := t.own(path)
	t.digest -= t.hash(path, n)
	t.dataSize -= int64(len(n.data))
	change(n)
	t.dataSize += int64(len(n.data))
	t.digest += t.hash(path, n)
	return n
}

// SetConfig writes /zookeeper/config locally, without a transaction.
func (t *Tree) SetConfig(data []byte, version Zxid) {
	t.last = nil
	if lookup(t.root, configPath) == nil {
		return
	}
	t.edit(configPath, func(n *node) {
		n.setData(data)
		n.version, n.mzxid = -1, version
	})
}
