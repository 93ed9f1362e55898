package meta

import (
	"slices"

	"github.com/kalda/kalda/internal/format/kerr"
)

// Reassignment asks for a partition to have other replicas, or for such a change to be given up.
type Reassignment struct {
	Topic     string
	Partition int32
	Replicas  []NodeID
	Cancel    bool // Replicas don't count
	KeepSize  bool // refuse another number of replicas
}

// Reassign plans one reassignment (KIP-455). It ends when all the new replicas are in sync, which may be at
// once; until then the partition has the old ones, too.
func (p *Planner) Reassign(in *Reassignment) (recs [][]byte, f Failure) {
	t := p.Image.Topic(in.Topic)
	if t == nil {
		return nil, failf(kerr.UnknownTopicOrPartition, "Unable to find a topic named %s.", in.Topic)
	}
	part := t.Partition(in.Partition)
	if part == nil {
		return nil, failf(kerr.UnknownTopicOrPartition, "Unable to find partition %s:%d.", in.Topic, in.Partition)
	}
	c := p.change(t, in.Partition)
	if in.Cancel {
		f = c.cancelReassignment(in)
	} else {
		f = c.reassign(in)
	}
	if !f.OK() {
		return nil, f
	}
	o := p.output()
	if r := c.build(); r != nil {
		o.put(r)
	}
	return o.recs, Failure{}
}

// Reassigning says that the partition is on its way to other replicas.
func (p *Partition) Reassigning() bool { return len(p.Adding) > 0 || len(p.Removing) > 0 }

func (c *change) reassign(in *Reassignment) Failure {
	if f := c.p.checkAssignment(in.Replicas); !f.OK() {
		return f
	}
	size := len(c.old.Replicas) - len(c.old.Removing)
	if in.KeepSize && len(in.Replicas) != size {
		return failf(kerr.InvalidReplicationFactor, "The replication factor is changed from %d to %d",
			size, len(in.Replicas))
	}
	// One that goes on already is replaced: its replicas are the current ones.
	c.removing = without(c.old.Replicas, in.Replicas...)
	c.adding = without(in.Replicas, c.old.Replicas...)
	slices.Sort(c.removing)
	slices.Sort(c.adding)
	c.replicas = slices.Concat(in.Replicas, c.removing)
	return Failure{}
}

func (c *change) cancelReassignment(in *Reassignment) Failure {
	if !c.old.Reassigning() {
		return failf(kerr.NoReassignmentInProgress, "No partition reassignment is in progress.")
	}
	c.replicas, c.isr = without(c.old.Replicas, c.old.Adding...), without(c.old.ISR, c.old.Adding...)
	c.adding, c.removing = nil, nil
	if len(c.isr) > 0 {
		return Failure{}
	}
	if !c.p.unclean(c.topic.Name) || len(c.replicas) == 0 {
		return failf(kerr.InvalidReplicaAssignment, "Unable to revert partition assignment for %s:%d "+
			"because it would require an unclean leader election.", in.Topic, in.Partition)
	}
	c.isr, c.recovering = c.replicas[:1], true
	return Failure{}
}
