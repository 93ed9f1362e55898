package broker

import (
	"unsafe"

	"github.com/tidwall/btree"

	"github.com/kalda/kalda/internal/core/meta"
)

// hosted is a topic with the partitions that this node hosts, by number; nil where it doesn't. Immutable.
type hosted struct {
	name  string
	id    meta.UUID
	parts []*Partition
}

// hosting is what this node hosts, by name and by id. Immutable: writers copy, which shares what doesn't
// change.
type hosting struct {
	byName *btree.Map[string, *hosted]
	byID   *btree.Map[string, *hosted] // by the id's bytes
}

func newHosting() *hosting {
	return &hosting{byName: &btree.Map[string, *hosted]{}, byID: &btree.Map[string, *hosted]{}}
}

func (h *hosting) copy() *hosting { return &hosting{byName: h.byName.Copy(), byID: h.byID.Copy()} }

func (h *hosting) set(t *hosted) {
	h.byName.Set(t.name, t)
	h.byID.Set(string(t.id[:]), t)
}

func (h *hosting) remove(t *hosted) {
	if now, _ := h.byName.Get(t.name); now != nil && now.id == t.id {
		h.byName.Delete(t.name)
	}
	h.byID.Delete(string(t.id[:]))
}

func (h *hosting) topic(name []byte) *hosted {
	t, _ := h.byName.Get(borrow(name))
	return t
}

func (h *hosting) topicByID(id *[16]byte) *hosted {
	t, _ := h.byID.Get(borrow(id[:]))
	return t
}

func (t *hosted) partition(n int32) *Partition {
	if t == nil || n < 0 || int(n) >= len(t.parts) {
		return nil
	}
	return t.parts[n]
}

// borrow is b as a string that lives as long as b stays as it is: for look-ups.
func borrow(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
