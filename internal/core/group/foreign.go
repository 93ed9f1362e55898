package group

import (
	"github.com/kalda/kalda/internal/format/record"
)

// A foreign group is one of the share or streams protocol that another node left in the log. Until their
// coordinator is here, its records are kept as they are, its offsets are served, and nobody may join
// it.

func kindType(k record.GroupKind) string {
	if k >= record.KindShareFirst && k <= record.KindShareLast {
		return "share"
	}
	return "streams"
}

func (g *group) foreignType() string {
	first := record.KindStreamsLast
	for _, k := range g.foreign {
		first = min(first, k)
	}
	return kindType(first)
}

func (g *group) foreignMembers() bool {
	for _, k := range g.foreign {
		if k == record.KindShareMember || k == record.KindStreamsMember {
			return true
		}
	}
	return false
}

func (g *group) foreignState() string {
	if g.foreignMembers() {
		return "Unknown"
	}
	return empty.String()
}

// replayForeign notes a record that isn't ours to understand.
func (c *Core) replayForeign(k *record.GroupKey, key, value []byte) {
	g := c.group(k.Group)
	if value == nil {
		if g != nil {
			delete(g.foreign, string(key))
			c.dropIfBare(g)
		}
		return
	}
	if g == nil {
		g = c.newGroup(k.Group)
	}
	if g.foreign == nil {
		g.foreign = map[string]record.GroupKind{}
	}
	g.foreign[string(key)] = k.Kind
}

// dropIfBare forgets a group of which the log holds nothing any more.
func (c *Core) dropIfBare(g *group) {
	if len(g.foreign) == 0 && g.consumers == nil && len(g.offsets) == 0 && len(g.unstable) == 0 && !g.classic() {
		c.dropGroup(g)
	}
}
