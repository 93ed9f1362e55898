package meta

import (
	"slices"

	"github.com/kalda/kalda/internal/format/record"
)

type election int8

const (
	electOnline    election = iota // keep the leader if it may stay, else any in-sync replica
	electPreferred                 // the first replica if it may lead
	electUnclean                   // if nobody may, any live replica: acknowledged records can be lost
)

// change plans what happens to one partition (kraft.md 4.6). Set the targets, then build. The order of
// build's steps decides results: the ISR settles before the leader, the leader before what is recorded
// about leaders.
type change struct {
	p     *Planner
	topic *Topic
	index int32
	old   *Partition

	isr, replicas, adding, removing []NodeID // targets
	dirs                            map[NodeID]UUID
	recovering                      bool
	election                        election
	acceptable                      func(NodeID) bool // may lead, as far as its node is concerned
	uncleanShutdown                 NodeID            // lost its page cache: can't be an eligible leader

	elr, lastELR []NodeID
}

func (p *Planner) change(t *Topic, index int32) *change {
	old := t.Partitions[index]
	c := &change{
		p: p, topic: t, index: index, old: old,
		isr: old.ISR, replicas: old.Replicas, adding: old.Adding, removing: old.Removing,
		dirs: map[NodeID]UUID{}, recovering: old.Recovering,
		elr: old.ELR, lastELR: old.LastELR, uncleanShutdown: NoNode,
	}
	if p.unclean(t.Name) {
		c.election = electUnclean
	}
	c.acceptable = func(id NodeID) bool {
		dir, moved := c.dirs[id]
		if !moved {
			dir = old.dirOf(id)
		}
		return p.active(id) && p.Image.Broker(id).dirOnline(dir)
	}
	return c
}

// build gives the record, nil if nothing changes.
func (c *change) build() *record.PartitionChange {
	r := record.NewPartitionChange()
	r.PartitionID, r.TopicID = c.index, c.topic.ID
	c.completeReassignment()
	c.planELR()
	c.planLeader(r)
	if r.Leader == record.NoLeaderChange && slices.ContainsFunc(c.old.Replicas, func(n NodeID) bool {
		return !slices.Contains(c.replicas, n)
	}) {
		r.Leader = c.old.Leader // a replica was dropped: it must not go on fetching in this epoch
	}
	if !slices.Equal(c.elr, c.old.ELR) {
		r.ELR = list(c.elr)
	}
	c.putISR(r)
	c.putLastKnown(r)
	c.putReplicas(r)
	if c.recovering != c.old.Recovering {
		r.RecoveryState = recovered
		if c.recovering {
			r.RecoveryState = recovering
		}
	}
	if r.Leader == record.NoLeaderChange && r.RecoveryState == record.NoRecoveryChange && r.ISR == nil &&
		r.Replicas == nil && r.Removing == nil && r.Adding == nil && r.ELR == nil && r.LastKnownELR == nil &&
		r.Directories == nil {
		return nil
	}
	return r
}

// completeReassignment ends a reassignment as soon as all its target replicas are in sync.
func (c *change) completeReassignment() {
	if len(c.adding) == 0 && len(c.removing) == 0 {
		return
	}
	isr, replicas := without(c.isr, c.removing...), without(c.replicas, c.removing...)
	if len(isr) == 0 || len(replicas) == 0 {
		return
	}
	for _, n := range replicas {
		if !slices.Contains(isr, n) {
			return
		}
	}
	c.isr, c.replicas, c.adding, c.removing = isr, replicas, nil, nil
}

// planELR: who leaves an ISR that is too small stays eligible, for it has everything that was acknowledged
// (KIP-966).
func (c *change) planELR() {
	if !c.p.elr() {
		return
	}
	if len(c.isr) >= c.p.minISR(c.topic) {
		c.elr = nil
		return
	}
	candidates := slices.Clone(c.old.ELR)
	for _, n := range c.old.ISR {
		if !slices.Contains(candidates, n) {
			candidates = append(candidates, n)
		}
	}
	c.elr = without(without(candidates, c.isr...), c.uncleanShutdown)
}

func (c *change) valid(n NodeID) bool {
	return c.acceptable(n) && (slices.Contains(c.isr, n) || len(c.isr) == 0 && slices.Contains(c.elr, n))
}

func (c *change) planLeader(r *record.PartitionChange) {
	leader, unclean := c.elect()
	if leader == c.old.Leader {
		return
	}
	r.Leader = leader
	if leader == NoNode {
		return
	}
	if unclean {
		c.isr = []NodeID{leader}
		c.elr = nil
		c.recovering = true
	} else if !slices.Contains(c.isr, leader) {
		c.isr = []NodeID{leader}
		c.elr = without(c.elr, leader)
	}
}

func (c *change) elect() (leader NodeID, unclean bool) {
	if c.election == electPreferred && len(c.replicas) > 0 && c.valid(c.replicas[0]) {
		return c.replicas[0], false
	}
	if c.old.Leader != NoNode && c.valid(c.old.Leader) {
		return c.old.Leader, false
	}
	if i := slices.IndexFunc(c.replicas, c.valid); i >= 0 {
		return c.replicas[i], false
	}
	if len(c.elr) == 0 && len(c.isr) == 0 && len(c.lastELR) == 1 && c.acceptable(c.lastELR[0]) {
		return c.lastELR[0], true
	}
	if c.election == electUnclean {
		if i := slices.IndexFunc(c.replicas, c.acceptable); i >= 0 {
			return c.replicas[i], true
		}
	}
	return NoNode, false
}

// putISR: without ELR an ISR never becomes empty. Its last member stays: who else would know what was
// acknowledged?
func (c *change) putISR(r *record.PartitionChange) {
	if len(c.isr) == 0 && !c.p.elr() {
		c.isr = c.old.ISR
	}
	if !slices.Equal(c.isr, c.old.ISR) {
		r.ISR = list(c.isr)
	}
	shrank := len(c.isr) < len(c.old.ISR)
	if shrank && c.p.Image.MetadataVersion() < mvNoEpochBump && r.Leader == record.NoLeaderChange {
		r.Leader = c.old.Leader
	}
}

// putLastKnown remembers who led last when nobody leads, and forgets it when somebody does.
func (c *change) putLastKnown(r *record.PartitionChange) {
	switch {
	case !c.p.elr():
	case r.Leader == NoNode && c.old.Leader != NoNode && len(c.old.LastELR) == 0:
		r.LastKnownELR = []NodeID{c.old.Leader}
	case r.Leader >= 0 && len(c.old.LastELR) > 0:
		r.LastKnownELR = []NodeID{}
	}
}

func (c *change) putReplicas(r *record.PartitionChange) {
	if !slices.Equal(c.replicas, c.old.Replicas) {
		r.Replicas = list(c.replicas)
	}
	if !slices.Equal(c.removing, c.old.Removing) {
		r.Removing = list(c.removing)
	}
	if !slices.Equal(c.adding, c.old.Adding) {
		r.Adding = list(c.adding)
	}
	if c.p.Image.MetadataVersion() < mvDirectories {
		return
	}
	dirs := make([]UUID, len(c.replicas))
	for i, n := range c.replicas {
		switch dir, ok := c.dirs[n]; {
		case ok:
			dirs[i] = dir
		case slices.Contains(c.old.Replicas, n):
			dirs[i] = c.old.dirOf(n)
		default:
			dirs[i] = c.p.defaultDir(n)
		}
	}
	if r.Replicas != nil || !slices.Equal(dirs, c.old.Dirs) {
		r.Directories = dirs
	}
}

func without(in []NodeID, drop ...NodeID) []NodeID {
	out := make([]NodeID, 0, len(in))
	for _, n := range in {
		if !slices.Contains(drop, n) {
			out = append(out, n)
		}
	}
	return out
}

// list makes an empty list a present one.
func list(in []NodeID) []NodeID {
	if in == nil {
		return []NodeID{}
	}
	return in
}
