package group

import (
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/format/kerr"
)

func (c *Core) onList(in *List) Output {
	out := &Listed{}
	c.groups.Scan(func(_ string, g *group) bool {
		l := ListedGroup{Group: g.id, ProtocolType: g.protocolType, State: g.state.String(), Type: "classic"}
		if len(g.foreign) > 0 {
			l.Type, l.State = g.foreignType(), g.foreignState()
			l.ProtocolType = l.Type
		}
		if g.consumers != nil {
			l.Type, l.ProtocolType, l.State = consumerType, consumerType, g.consumers.state()
		}
		if in.wants(&l) {
			out.Groups = append(out.Groups, l)
		}
		return true
	})
	return out
}

func (in *List) wants(l *ListedGroup) bool {
	return (in.States == nil || slices.Contains(in.States, strings.ToLower(l.State))) &&
		(in.Types == nil || slices.Contains(in.Types, l.Type))
}

func (c *Core) onDescribe(in *Describe) Output {
	g := c.group(in.Group)
	if g == nil {
		return &Described{
			Code: kerr.GroupIDNotFound, Message: "Group " + in.Group + " not found.",
			State: dead.String(),
		}
	}
	if len(g.foreign) > 0 || g.consumers != nil {
		return &Described{
			Code: kerr.GroupIDNotFound, Message: "Group " + in.Group + " is not a classic group.",
			State: dead.String(),
		}
	}
	out := &Described{State: g.state.String(), ProtocolType: g.protocolType}
	known := g.state == stable && g.protocol != nil
	if known {
		out.Protocol = *g.protocol
	}
	for _, m := range g.members {
		d := DescribedMember{Member: m.id, Instance: m.instance, ClientID: m.clientID, ClientHost: m.clientHost}
		if known {
			d.Metadata, d.Assignment = m.metadata(*g.protocol), m.assignment
		}
		out.Members = append(out.Members, d)
	}
	return out
}

func (c *Core) onDelete(in *Delete) Output {
	g := c.group(in.Group)
	switch {
	case g == nil:
		return &Status{Code: kerr.GroupIDNotFound}
	case g.state != empty || g.foreignMembers() || g.consumers != nil && g.consumers.members.Len() > 0:
		return &Status{Code: kerr.NonEmptyGroup}
	case len(g.foreign) > 0:
		// Its state lives in other topics too: only its own coordinator can delete all of it.
		return &Status{
			Code:    kerr.GroupDeletionFailed,
			Message: "Group " + in.Group + " is of a type that this node can't delete.",
		}
	}
	gone := g.committed()
	for tp := range g.unstable {
		if g.offsets[tp] == nil {
			gone = append(gone, tp)
		}
	}
	slices.SortFunc(gone, compareTopicPartition)
	c.buryOffsets(g, gone)
	c.removeGroup(g)
	return &Status{}
}
