package meta

import "maps"

// Delta is what changed from one image to a later one.
type Delta struct {
	Topics  map[UUID]struct{} // made or changed, and there in the later image
	Deleted []*Topic          // as the earlier image had them; a name may come again with another id
	Brokers map[NodeID]struct{}
	Configs map[ConfigResource]struct{}

	Features, Controllers, ProducerIDs, Quotas, ACLs, Scram, Tokens bool

	Snapshot bool // the later image came from a snapshot: everything may have changed
}

func newDelta() *Delta {
	return &Delta{
		Topics: map[UUID]struct{}{}, Brokers: map[NodeID]struct{}{}, Configs: map[ConfigResource]struct{}{},
	}
}

func (d *Delta) clone() *Delta {
	c := *d
	c.Topics, c.Brokers, c.Configs = maps.Clone(d.Topics), maps.Clone(d.Brokers), maps.Clone(d.Configs)
	c.Deleted = append([]*Topic(nil), d.Deleted...)
	return &c
}

// Empty says that nothing changed but the offset.
func (d *Delta) Empty() bool {
	return len(d.Topics) == 0 && len(d.Deleted) == 0 && len(d.Brokers) == 0 && len(d.Configs) == 0 &&
		!d.Snapshot && !d.Features && !d.Controllers && !d.ProducerIDs && !d.Quotas &&
		!d.ACLs && !d.Scram && !d.Tokens
}

// Then adds what changed after d, so that d leads from its earlier image to next's later one.
func (d *Delta) Then(next *Delta) {
	for _, t := range next.Deleted {
		delete(d.Topics, t.ID)
		d.Deleted = append(d.Deleted, t)
	}
	maps.Copy(d.Topics, next.Topics)
	maps.Copy(d.Brokers, next.Brokers)
	maps.Copy(d.Configs, next.Configs)
	d.Features = d.Features || next.Features
	d.Controllers = d.Controllers || next.Controllers
	d.ProducerIDs = d.ProducerIDs || next.ProducerIDs
	d.Quotas = d.Quotas || next.Quotas
	d.ACLs = d.ACLs || next.ACLs
	d.Scram = d.Scram || next.Scram
	d.Tokens = d.Tokens || next.Tokens
	d.Snapshot = d.Snapshot || next.Snapshot
}
