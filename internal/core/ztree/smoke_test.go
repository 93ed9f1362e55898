package ztree

import (
	"testing"

	"github.com/kalda/kalda/internal/format/jute"
)

// TestFresh: the counts of a fresh tree are those that Apache's four-letter words tell.
func TestFresh(t *testing.T) {
	v := New(Config{Digest: true}).View()
	if v.NodeCount() != 5 || v.DataSize() != 44 || v.EphemeralCount() != 0 {
		t.Errorf("nodes %d, data %d, ephemerals %d", v.NodeCount(), v.DataSize(), v.EphemeralCount())
	}
	n, _ := v.Lookup("/")
	if s := n.Stat(); s.Cversion != -1 || s.NumChildren != 1 {
		t.Errorf("the root's stat: %+v", s)
	}
	if got := v.Digest(); got == 0 {
		t.Error("no digest")
	}
	if _, code := v.Read("/nothing", nil); code != jute.NoNode {
		t.Error(code)
	}
}
