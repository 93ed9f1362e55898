package ztree

import (
	"github.com/tidwall/btree"
)

// cow is a map that views share until it changes.
type cow[K ~int64 | ~string, V any] struct {
	m      *btree.Map[K, V]
	shared bool
}

func newCow[K ~int64 | ~string, V any]() cow[K, V] { return cow[K, V]{m: btree.NewMap[K, V](0)} }

// share gives the map as it is, not to be changed any more.
func (c *cow[K, V]) share() *btree.Map[K, V] {
	c.shared = true
	return c.m
}

// change gives the map to change it.
func (c *cow[K, V]) change() *btree.Map[K, V] {
	if c.shared {
		c.m, c.shared = c.m.Copy(), false
	}
	return c.m
}
