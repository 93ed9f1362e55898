package meta

import (
	"slices"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// Registration is what a broker says of itself when it starts.
type Registration struct {
	Broker        Broker // without epoch and state
	ClusterID     string
	Migrating     bool
	PreviousEpoch int64 // of the clean shutdown before, -1 if there was none
	Fresh         bool  // the session of the incarnation before is over: its id may be taken
}

// RegisterBroker plans a registration; the broker's epoch is the offset of the first record (kraft.md 4.3).
func (p *Planner) RegisterBroker(in *Registration) (recs [][]byte, epoch int64, f Failure) {
	old := p.Image.Broker(in.Broker.ID)
	if f = p.checkRegistration(in, old); !f.OK() {
		return nil, -1, f
	}
	o := p.output()
	b := in.Broker
	b.Fenced, b.InControlledShutdown, b.Epoch = true, false, p.Next
	switch {
	case old != nil && old.Incarnation == b.Incarnation:
		b.Fenced, b.InControlledShutdown, b.Epoch = old.Fenced, old.InControlledShutdown, old.Epoch
		b.CordonedLogDirs = old.CordonedLogDirs
	case old != nil && p.elr() && in.PreviousEpoch != old.Epoch:
		p.moveAway(o, b.ID, b.ID)
	case old != nil:
		p.moveAway(o, b.ID, NoNode)
	}
	o.put(b.record())
	return o.recs, b.Epoch, Failure{}
}

func (p *Planner) checkRegistration(in *Registration, old *Broker) Failure {
	if in.ClusterID != p.Rules.ClusterID {
		return failf(kerr.InconsistentClusterID, "Expected cluster ID %s, but got cluster ID %s",
			p.Rules.ClusterID, in.ClusterID)
	}
	if old != nil && old.Incarnation != in.Broker.Incarnation && !in.Fresh {
		return failf(kerr.DuplicateBrokerRegistration, "Another broker is registered with that broker id. "+
			"If the broker was recently restarted this should self-resolve once the "+
			"heartbeat manager expires the broker's session.")
	}
	if in.Migrating {
		return failf(kerr.BrokerIDNotRegistered, "Controller does not support registering ZK brokers.")
	}
	if p.Image.MetadataVersion() >= mvDirectories {
		if f := p.checkDirectories(in); !f.OK() {
			return f
		}
	}
	return p.checkFeatures(in.Broker.Features)
}

func (p *Planner) checkDirectories(in *Registration) Failure {
	dirs := in.Broker.LogDirs
	if len(dirs) == 0 {
		return failf(kerr.InvalidRegistration, "No directories specified in request")
	}
	for i, d := range dirs {
		if d.Reserved() {
			return failf(kerr.InvalidRegistration, "Reserved directory ID in request")
		}
		if slices.Contains(dirs[:i], d) {
			return failf(kerr.InvalidRegistration, "Duplicate directory ID in request")
		}
	}
	for b := range p.Image.Brokers() {
		for _, d := range b.LogDirs {
			if b.ID != in.Broker.ID && slices.Contains(dirs, d) {
				return failf(kerr.InvalidRegistration, "Broker %d is already registered with directory %s", b.ID, d)
			}
		}
	}
	return Failure{}
}

func (p *Planner) checkFeatures(supported map[string]FeatureRange) Failure {
	if _, ok := supported[FeatureMetadata]; !ok {
		return failf(kerr.InvalidRegistration, "Request features do not contain 'metadata.version'")
	}
	for _, name := range sortedKeys(p.Image.Features()) {
		level, r := p.Image.Feature(name), supported[name]
		if level != 0 && (level < r.Min || level > r.Max) {
			return failf(kerr.UnsupportedVersion, "Unable to register because the broker does not support "+
				"finalized version %d of %s. The broker wants a version between %d and %d, inclusive.",
				level, name, r.Min, r.Max)
		}
	}
	return Failure{}
}

// moveAway takes a broker out of every ISR and leadership. unclean names it if it also can't be an eligible
// leader any more.
func (p *Planner) moveAway(o *output, id, unclean NodeID) {
	for t := range p.Image.Topics() {
		for n, part := range t.Partitions {
			if !slices.Contains(part.ISR, id) && (unclean != id || !slices.Contains(part.ELR, id)) {
				continue
			}
			c := p.change(t, int32(n))
			c.isr = without(part.ISR, id)
			c.uncleanShutdown = unclean
			acceptable := c.acceptable
			c.acceptable = func(r NodeID) bool { return r != id && acceptable(r) }
			if r := c.build(); r != nil {
				o.put(r)
			}
		}
	}
}

// moveIn elects a broker that becomes usable where nobody leads.
func (p *Planner) moveIn(o *output, id NodeID) {
	b := p.Image.Broker(id)
	for t := range p.Image.Topics() {
		for n, part := range t.Partitions {
			if part.Leader != NoNode {
				continue
			}
			c := p.change(t, int32(n))
			acceptable := c.acceptable
			c.acceptable = func(r NodeID) bool { return r == id && b.dirOnline(part.dirOf(id)) || acceptable(r) }
			if r := c.build(); r != nil {
				o.put(r)
			}
		}
	}
}

// Fence plans that a broker's session is over.
func (p *Planner) Fence(id NodeID) [][]byte {
	o := p.output()
	if b := p.Image.Broker(id); b != nil && !b.Fenced {
		p.fence(o, b)
	}
	return o.recs
}

func (p *Planner) fence(o *output, b *Broker) {
	p.moveAway(o, b.ID, NoNode)
	o.put(&record.BrokerRegistrationChange{BrokerID: b.ID, BrokerEpoch: b.Epoch, Fenced: 1})
}

// UnregisterBroker plans that a broker is forgotten.
func (p *Planner) UnregisterBroker(id NodeID) (recs [][]byte, f Failure) {
	b := p.Image.Broker(id)
	if b == nil {
		return nil, failf(kerr.BrokerIDNotRegistered, "Broker ID %d is not currently registered", id)
	}
	o := p.output()
	p.moveAway(o, id, id)
	o.put(&record.UnregisterBroker{BrokerID: id, BrokerEpoch: b.Epoch})
	return o.recs, Failure{}
}

// Leads says that a broker leads at least one partition.
func (i *Image) Leads(id NodeID) bool {
	for t := range i.Topics() {
		for _, p := range t.Partitions {
			if p.Leader == id {
				return true
			}
		}
	}
	return false
}
