package broker

import (
	"slices"

	"github.com/kalda/kalda/internal/core/meta"
)

// ApplyImage makes img the visible image, after it has made, changed and removed the partitions that d tells
// of: a client that sees a leader can write to it at once. It is called in the order of images, by one
// goroutine at a time.
func (b *Broker) ApplyImage(img *meta.Image, d *meta.Delta) {
	b.logs.placing.Lock()
	defer b.logs.placing.Unlock()
	old := b.image.Load()
	h := b.hosting.Load().copy()
	gone := b.goneTopics(h, img, d)
	for _, t := range gone {
		b.removeTopic(h, t)
	}
	b.applyTopics(h, img, d)
	b.applyConfigs(h, img, d)
	b.hosting.Store(h)
	b.image.Store(img)
	b.quotas.apply(img, d)
	b.clients.apply(img, d)
	b.countRoles(h)
	b.noteIdle(img, d)
	if b.cfg.Groups != nil {
		if names := deletedNames(old, img, d); len(names) > 0 {
			b.cfg.Groups.Deleted(names)
		}
	}
}

// goneTopics are the hosted topics that img doesn't have any more.
func (b *Broker) goneTopics(h *hosting, img *meta.Image, d *meta.Delta) (gone []*hosted) {
	if d.Snapshot {
		h.byID.Scan(func(_ string, t *hosted) bool {
			if img.TopicByID(t.id) == nil {
				gone = append(gone, t)
			}
			return true
		})
		return gone
	}
	for _, t := range d.Deleted {
		id := [16]byte(t.ID)
		if t := h.topicByID(&id); t != nil {
			gone = append(gone, t)
		}
	}
	return gone
}

func deletedNames(old, img *meta.Image, d *meta.Delta) (names []string) {
	if d.Snapshot {
		for t := range old.Topics() {
			if img.TopicByID(t.ID) == nil {
				names = append(names, t.Name)
			}
		}
		return names
	}
	for _, t := range d.Deleted {
		names = append(names, t.Name)
	}
	return names
}

func (b *Broker) removeTopic(h *hosting, t *hosted) {
	h.remove(t)
	for _, p := range t.parts {
		if p == nil {
			continue
		}
		led, epoch := p.IsLeader(), p.LeaderEpoch()
		p.remove(false)
		if c := b.coordinatorOf(t.name); led && c != nil {
			c.Resign(p.n, epoch)
		}
	}
}

// applyTopics makes and changes the partitions of changed topics.
func (b *Broker) applyTopics(h *hosting, img *meta.Image, d *meta.Delta) {
	var opened []opening
	var changed []*meta.Topic
	take := func(t *meta.Topic) {
		changed = append(changed, t)
		opened = b.hostTopic(h, img, t, opened)
	}
	if d.Snapshot {
		for t := range img.Topics() {
			take(t)
		}
	} else {
		for id := range d.Topics {
			if t := img.TopicByID(id); t != nil {
				take(t)
			}
		}
	}
	b.openLogs(opened)
	for _, t := range changed {
		b.setRoles(h, t)
	}
	if len(opened) > 0 {
		parts := make([]*Partition, len(opened))
		for i := range opened {
			parts[i] = opened[i].p
		}
		b.materialize(parts)
	}
}

// hostTopic makes the partitions of t that this node should host and doesn't yet, without their logs.
func (b *Broker) hostTopic(h *hosting, img *meta.Image, t *meta.Topic, opened []opening) []opening {
	id := [16]byte(t.ID)
	now := h.topicByID(&id)
	next := &hosted{name: t.Name, id: t.ID, parts: make([]*Partition, len(t.Partitions))}
	if now != nil {
		copy(next.parts, now.parts)
	}
	var rules *topicRules
	any := false
	for n, m := range t.Partitions {
		mine := slices.Contains(m.Replicas, b.cfg.NodeID)
		switch p := next.parts[n]; {
		case mine && p == nil:
			if rules == nil {
				rules = newTopicRules(b.topicConfig(img, t.Name))
			}
			p = &Partition{b: b, topic: next.name, id: t.ID, n: int32(n)}
			p.rules.Store(rules)
			p.role.Store(&role{Partition: *m})
			next.parts[n] = p
			opened = append(opened, opening{p, m})
		case !mine && p != nil:
			p.remove(false)
			next.parts[n] = nil
		}
		any = any || next.parts[n] != nil
	}
	switch {
	case any:
		h.set(next)
	case now != nil:
		h.remove(now)
	}
	return opened
}

// setRoles tells the partitions of t what metadata says about them.
func (b *Broker) setRoles(h *hosting, t *meta.Topic) {
	id := [16]byte(t.ID)
	host := h.topicByID(&id)
	if host == nil {
		return
	}
	for n, p := range host.parts {
		if p == nil {
			continue
		}
		was := p.LeaderEpoch()
		began, ended := p.setRole(t.Partitions[n])
		c := b.coordinatorOf(t.Name)
		if c == nil {
			continue
		}
		if began {
			c.Lead(p.n, p.LeaderEpoch(), p)
		}
		if ended {
			c.Resign(p.n, was)
		}
	}
}

// applyConfigs gives changed configurations to the partitions they concern.
func (b *Broker) applyConfigs(h *hosting, img *meta.Image, d *meta.Delta) {
	set := func(t *hosted) {
		rules := newTopicRules(b.topicConfig(img, t.name))
		for _, p := range t.parts {
			if p != nil {
				p.setRules(rules)
			}
		}
	}
	if b.configsChanged(d) {
		h.byID.Scan(func(_ string, t *hosted) bool { set(t); return true })
		return
	}
	for c := range d.Configs {
		if t, _ := h.byName.Get(c.Name); t != nil && c.Kind == meta.ConfigTopic {
			set(t)
		}
	}
}

func (p *Partition) setRules(r *topicRules) {
	p.rules.Store(r)
	if p.log != nil {
		p.log.SetConfig(r.log)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.role.Load().leading {
		p.advance(0) // min.insync.replicas may allow more now
	}
}

// countRoles sets the gauges.
func (b *Broker) countRoles(h *hosting) {
	if h.byID.Len() > 1000 {
		return // obs counts when it is asked; see Counts
	}
	parts, leaders := 0, 0
	h.byID.Scan(func(_ string, t *hosted) bool {
		for _, p := range t.parts {
			if p != nil {
				parts++
				if p.IsLeader() {
					leaders++
				}
			}
		}
		return true
	})
	b.m.Partitions.Set(int64(parts))
	b.m.Leaders.Set(int64(leaders))
}
