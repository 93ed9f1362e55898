package ztree

import (
	"iter"
	"strings"

	"github.com/tidwall/btree"

	"github.com/kalda/kalda/internal/format/jute"
)

// node is one znode. It fits a size class of 96 bytes, and there may be millions: think before adding a
// field.
//
// A node may be changed while its mark is the tree's present epoch: nobody else has seen it then. Any other
// belongs to some view, and is copied first.
type node struct {
	czxid, mzxid, pzxid         Zxid
	ctime, mtime                int64
	owner                       int64 // a session, or a kind: see owner.go
	version, cversion, aversion int32 // cversion is the raw one: children ever made
	mark                        uint32
	acl                         *aclEntry
	data                        string
	kids                        *kids // nil: none ever
}

// The lowest bit of a mark says that the data is null, the others are the epoch the node was made or copied
// in.
const nullData = 1

func (n *node) setData(data []byte) {
	n.mark &^= nullData
	if data == nil {
		n.mark |= nullData
	}
	n.data = string(data)
}

// bytes is a copy of the data, nil for null.
func (n *node) bytes() []byte {
	if n.mark&nullData != 0 {
		return nil
	}
	return []byte(n.data)
}

func (n *node) numKids() int {
	if n.kids == nil {
		return 0
	}
	return n.kids.m.Len()
}

func (n *node) child(name string) *node {
	if n.kids == nil {
		return nil
	}
	c, _ := n.kids.m.Get(name)
	return c
}

// kids are a node's children by name, with the same rule of epochs. They are few to most parents and a
// million to some.
type kids struct {
	epoch uint32
	m     *btree.Map[string, *node]
}

// kidsDegree makes leaves of at most 31 entries, 744 bytes: what one write to a large folder has to copy a
// few times.
const kidsDegree = 16

// lookup finds a node by its path. "" is the root too. No path is checked: an odd one just misses.
func lookup(root *node, path string) *node {
	if path == "" || path == "/" {
		return root
	}
	if path[0] != '/' {
		return nil
	}
	n := root
	for rest := path[1:]; ; {
		name, more, deeper := strings.Cut(rest, "/")
		if n = n.child(name); n == nil || !deeper {
			return n
		}
		rest = more
	}
}

// split gives parent ("" is the root) and name. The path has a slash.
func split(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:i], path[i+1:]
}

// rootless is the key of the root wherever paths are keys.
func rootless(path string) string {
	if path == "/" {
		return ""
	}
	return path
}

func (n *node) stat() jute.Stat {
	kids := int32(n.numKids())
	s := jute.Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Cversion: 2*n.cversion - kids, Aversion: n.aversion,
		DataLength: int32(len(n.data)), NumChildren: kids, Pzxid: n.pzxid,
	}
	return s
}

func (n *node) persisted() jute.StatPersisted {
	return jute.StatPersisted{
		Czxid: n.czxid, Mzxid: n.mzxid, Ctime: n.ctime, Mtime: n.mtime,
		Version: n.version, Cversion: n.cversion, Aversion: n.aversion,
		EphemeralOwner: n.owner, Pzxid: n.pzxid,
	}
}

// walk gives the node and all below it, parents first. The path handed out is the buffer's content at that
// moment.
func (n *node) walk(path []byte, visit func(path []byte, n *node) bool) bool {
	if !visit(path, n) {
		return false
	}
	if n.kids == nil {
		return true
	}
	ok := true
	n.kids.m.Scan(func(name string, c *node) bool {
		ok = c.walk(append(append(path, '/'), name...), visit)
		return ok
	})
	return ok
}

// Node is one znode of a view. The zero Node is none.
type Node struct {
	n     *node
	kinds *kinds
}

// Stat is what clients see.
func (n Node) Stat() jute.Stat {
	s := n.n.stat()
	s.EphemeralOwner = n.kinds.session(n.n.owner)
	return s
}

// Data is a copy, nil for null.
func (n Node) Data() []byte { return n.n.bytes() }

// DataLen is the length of the data.
func (n Node) DataLen() int { return len(n.n.data) }

// ACL must not be changed.
func (n Node) ACL() []jute.ACL { return n.n.acl.list }

// NumChildren counts children.
func (n Node) NumChildren() int { return n.n.numKids() }

// Children are the names, sorted.
func (n Node) Children() iter.Seq[string] {
	return func(yield func(string) bool) {
		if n.n.kids != nil {
			n.n.kids.m.Scan(func(name string, _ *node) bool { return yield(name) })
		}
	}
}

// AppendData adds the data as a buffer.
func (n Node) AppendData(dst []byte) []byte {
	if n.n.mark&nullData != 0 {
		return jute.AppendNull(dst)
	}
	return jute.AppendString(dst, n.n.data)
}

// AppendStat adds the stat.
func (n Node) AppendStat(dst []byte) []byte {
	s := n.Stat()
	return s.Append(dst)
}

// AppendChildren adds the names as a vector.
func (n Node) AppendChildren(dst []byte) []byte {
	dst = jute.AppendInt(dst, int32(n.n.numKids()))
	if n.n.kids != nil {
		n.n.kids.m.Scan(func(name string, _ *node) bool {
			dst = jute.AppendString(dst, name)
			return true
		})
	}
	return dst
}

func newKids() *btree.Map[string, *node] { return btree.NewMap[string, *node](kidsDegree) }

// cloneString frees a name from the longer text it was cut from, which nothing else may need.
func cloneString(s string) string { return strings.Clone(s) }
