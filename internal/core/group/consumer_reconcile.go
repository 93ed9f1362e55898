package group

import "slices"

// reconciling is one look at one member: where it is, where it shall go, and what is in the way.
type reconciling struct {
	target  parts
	epoch   int32           // that target was made for
	owned   parts           // what the member says it has;
	told    bool            // it said so
	others  func(part) bool // somebody else has it still
	changed bool            // it subscribes to other topics now
	wants   func(UUID) bool // it subscribes to that topic
}

// next is where m goes (broker.md 6.5). What isn't in the target any more must be given up, and that must be
// said, before the member gets to the target's epoch; what others have still is left out until they gave it
// up. That is the whole of "a partition has one owner".
func (r *reconciling) next(m *consumer) *consumer {
	switch {
	case m.state == memberUnrevoked:
		if !r.owns(m.revoking) {
			return r.compute(m, m.epoch+1)
		}
	case m.state != memberStable || m.epoch != r.epoch:
		if n := r.compute(m, m.epoch); !n.standsAs(m) {
			return n
		}
	}
	if r.changed {
		return r.unsubscribe(m)
	}
	return m
}

func (m *consumer) standsAs(n *consumer) bool {
	return m.epoch == n.epoch && m.previous == n.previous && m.state == n.state &&
		slices.Equal(m.assigned, n.assigned) && slices.Equal(m.revoking, n.revoking)
}

// owns says whether the member has something of h still. One that doesn't say what it has, has it.
func (r *reconciling) owns(h holding) bool {
	if !r.told {
		return len(h) > 0
	}
	for _, x := range h {
		if r.owned.has(x.part) {
			return true
		}
	}
	return false
}

func (r *reconciling) compute(m *consumer, epoch int32) *consumer {
	n := *m
	kept, gone := m.assigned.split(r.target.has)
	if len(gone) > 0 && r.owns(gone) {
		n.epoch, n.previous, n.state, n.assigned, n.revoking = epoch, m.epoch, memberUnrevoked, kept, gone
		return &n
	}
	n.epoch, n.previous, n.state, n.revoking = r.epoch, m.epoch, memberStable, nil
	var added holding
	for _, p := range r.target {
		if _, has := kept.find(p); has {
			continue
		}
		if r.others(p) {
			n.state = memberUnreleased
			continue
		}
		added = append(added, held{p, r.epoch})
	}
	n.assigned = kept.merge(added)
	return &n
}

// unsubscribe makes the member give up topics that it doesn't subscribe to any more, before there is a new
// assignment.
func (r *reconciling) unsubscribe(m *consumer) *consumer {
	kept, gone := m.assigned.split(func(p part) bool { return r.wants(p.topic) })
	if len(gone) == 0 {
		return m
	}
	n := *m
	n.assigned = kept
	if r.owns(gone) {
		n.state, n.revoking = memberUnrevoked, m.revoking.merge(gone)
	}
	return &n
}
