package ztree

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// hash is a node's part of the tree's digest, which is the sum of all parts, wrapping. What is below
// /zookeeper has none, as servers change quota statistics there without transactions.
func (t *Tree) hash(path string, n *node) uint64 {
	if !t.cfg.Digest || strings.HasPrefix(path, systemPath+"/") {
		return 0
	}
	b := append(append(t.scratch[:0], path...), n.data...)
	for _, v := range [...]int64{int64(n.czxid), int64(n.mzxid), int64(n.pzxid), n.ctime, n.mtime} {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	for _, v := range [...]int32{n.version, n.cversion, n.aversion} {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	b = binary.BigEndian.AppendUint64(b, uint64(n.owner))
	t.scratch = b
	return uint64(crc32.ChecksumIEEE(b))
}
