package meta

import (
	"fmt"

	"github.com/kalda/kalda/internal/format/record"
)

func (b *builder) applyTopic(r *record.Topic) error {
	if b.img.Topic(r.Name) != nil || b.img.TopicByID(r.TopicID) != nil {
		return fmt.Errorf("%w: topic %s %s exists", ErrReplay, r.Name, r.TopicID)
	}
	b.putTopic(&Topic{Name: r.Name, ID: r.TopicID})
	if hasFlatName(r.Name) {
		own(b, &b.img.flatNames).Set(flatName(r.Name), r.Name)
	}
	b.ownTopics[r.TopicID] = struct{}{}
	return nil
}

func (b *builder) putTopic(t *Topic) {
	own(b, &b.img.topics).Set(t.Name, t)
	own(b, &b.img.topicIDs).Set(string(t.ID[:]), t)
	b.delta.Topics[t.ID] = struct{}{}
}

// topic gives a topic whose Partitions may be written to.
func (b *builder) topic(id UUID) (*Topic, error) {
	t := b.img.TopicByID(id)
	if t == nil {
		return nil, fmt.Errorf("%w: no topic %s", ErrReplay, id)
	}
	if _, ok := b.ownTopics[id]; !ok {
		t = &Topic{Name: t.Name, ID: t.ID, Partitions: append([]*Partition(nil), t.Partitions...)}
		b.putTopic(t)
		b.ownTopics[id] = struct{}{}
	}
	return t, nil
}

func (b *builder) applyRemoveTopic(r *record.RemoveTopic) error {
	t := b.img.TopicByID(r.TopicID)
	if t == nil {
		return fmt.Errorf("%w: no topic %s", ErrReplay, r.TopicID)
	}
	own(b, &b.img.topics).Delete(t.Name)
	own(b, &b.img.topicIDs).Delete(string(t.ID[:]))
	if hasFlatName(t.Name) {
		own(b, &b.img.flatNames).Delete(flatName(t.Name))
	}
	b.removeConfigs(ConfigResource{ConfigTopic, t.Name})
	delete(b.delta.Topics, t.ID)
	delete(b.ownTopics, t.ID)
	b.delta.Deleted = append(b.delta.Deleted, t)
	return nil
}

func (b *builder) applyPartition(r *record.Partition) error {
	t, err := b.topic(r.TopicID)
	if err != nil {
		return err
	}
	if r.PartitionID < 0 || int(r.PartitionID) > len(t.Partitions) {
		return fmt.Errorf("%w: partition %s-%d after %d partitions",
			ErrReplay, t.Name, r.PartitionID, len(t.Partitions))
	}
	p := &Partition{
		Replicas: r.Replicas, ISR: r.ISR, Adding: r.Adding, Removing: r.Removing,
		ELR: r.ELR, LastELR: r.LastKnownELR, Dirs: r.Directories,
		Leader: r.Leader, LeaderEpoch: r.LeaderEpoch, PartitionEpoch: r.PartitionEpoch,
		Recovering: r.RecoveryState == recovering,
	}
	if err := p.fillDirs(); err != nil {
		return err
	}
	if int(r.PartitionID) == len(t.Partitions) {
		t.Partitions = append(t.Partitions, p)
	} else {
		t.Partitions[r.PartitionID] = p
	}
	return nil
}

// LeaderRecoveryState on the wire.
const (
	recovered  int8 = 0
	recovering int8 = 1
)

func (p *Partition) fillDirs() error {
	if len(p.Dirs) == 0 && len(p.Replicas) > 0 {
		p.Dirs = make([]UUID, len(p.Replicas)) // DirMigrating: written before directories had ids
	}
	if len(p.Dirs) != len(p.Replicas) {
		return fmt.Errorf("%w: %d directories for %d replicas", ErrReplay, len(p.Dirs), len(p.Replicas))
	}
	return nil
}

func (b *builder) applyPartitionChange(r *record.PartitionChange) error {
	t, err := b.topic(r.TopicID)
	if err != nil {
		return err
	}
	old := t.Partition(r.PartitionID)
	if old == nil {
		return fmt.Errorf("%w: no partition %s-%d", ErrReplay, t.Name, r.PartitionID)
	}
	p, err := old.merge(r)
	if err != nil {
		return err
	}
	t.Partitions[r.PartitionID] = p
	return nil
}

// merge gives the partition after a change (kraft.md 3.3). The partition epoch always rises, the leader
// epoch whenever the record names a leader, even the present one.
func (p *Partition) merge(r *record.PartitionChange) (*Partition, error) {
	q := *p
	setNodes(&q.ISR, r.ISR)
	setNodes(&q.Removing, r.Removing)
	setNodes(&q.Adding, r.Adding)
	setNodes(&q.ELR, r.ELR)
	setNodes(&q.LastELR, r.LastKnownELR)
	if r.Replicas != nil {
		q.Replicas = r.Replicas
		if r.Directories == nil {
			q.Dirs = nil
		}
	}
	if r.Directories != nil {
		q.Dirs = r.Directories
	}
	if r.Leader != record.NoLeaderChange {
		q.Leader = r.Leader
		q.LeaderEpoch++
	}
	if r.RecoveryState != record.NoRecoveryChange {
		q.Recovering = r.RecoveryState == recovering
	}
	q.PartitionEpoch++
	if err := q.fillDirs(); err != nil {
		return nil, err
	}
	return &q, nil
}

func setNodes(dst *[]NodeID, v []NodeID) {
	if v != nil {
		*dst = v
	}
}

func (b *builder) applyClearELR(r *record.ClearELR) error {
	if r.TopicName != "" {
		t := b.img.Topic(r.TopicName)
		if t == nil {
			return fmt.Errorf("%w: no topic %s", ErrReplay, r.TopicName)
		}
		return b.clearELR(t)
	}
	var all []*Topic
	for t := range b.img.Topics() {
		all = append(all, t)
	}
	for _, t := range all {
		if err := b.clearELR(t); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) clearELR(t *Topic) error {
	for n, p := range t.Partitions {
		if len(p.ELR) == 0 && len(p.LastELR) == 0 {
			continue
		}
		w, err := b.topic(t.ID)
		if err != nil {
			return err
		}
		q := *p
		q.ELR, q.LastELR = nil, nil
		w.Partitions[n] = &q
	}
	return nil
}
