package record

// RegisterBroker replaces a broker's registration entirely.
type RegisterBroker struct {
	BrokerID             NodeID
	Migrating            bool // a ZooKeeper-mode broker that migrates
	IncarnationID        UUID
	BrokerEpoch          int64
	EndPoints            []EndPoint
	Features             []Feature
	Rack                 *string
	Fenced               bool
	InControlledShutdown bool
	LogDirs              []UUID
	CordonedLogDirs      []UUID // nil: not known
	Tags                 []Tag
}

// EndPoint is where a node listens under one listener name.
type EndPoint struct {
	Name, Host string
	Port       uint16
	Protocol   int16
	Tags       []Tag
}

// Feature is the range of one feature's levels that a node supports.
type Feature struct {
	Name     string
	Min, Max int16
	Tags     []Tag
}

// Key is the record's type.
func (*RegisterBroker) Key() Key { return KeyRegisterBroker }

// Latest is the newest version.
func (*RegisterBroker) Latest() int16 { return 4 }

func (r *RegisterBroker) code(c *coder, v int16) {
	c.node(&r.BrokerID)
	if v >= 2 {
		c.bool(&r.Migrating)
	}
	c.uuid(&r.IncarnationID)
	c.int64(&r.BrokerEpoch)
	c.endPoints(&r.EndPoints)
	c.features(&r.Features)
	c.nullableString(&r.Rack)
	c.bool(&r.Fenced)
	if v >= 1 {
		c.bool(&r.InControlledShutdown)
	}
	var known []tag
	if v >= 3 {
		known = append(known, tag{0, len(r.LogDirs) > 0, func() { c.uuids(&r.LogDirs) }})
	}
	if v >= 4 {
		known = append(known, tag{1, r.CordonedLogDirs != nil, func() { c.nullableUUIDs(&r.CordonedLogDirs) }})
	}
	c.tags(&r.Tags, known...)
}

func (c *coder) endPoints(v *[]EndPoint) {
	list(c, v, false, 7, func(e *EndPoint) {
		c.string(&e.Name)
		c.string(&e.Host)
		c.uint16(&e.Port)
		c.int16(&e.Protocol)
		c.tags(&e.Tags)
	})
}

func (c *coder) features(v *[]Feature) {
	list(c, v, false, 6, func(f *Feature) {
		c.string(&f.Name)
		c.int16(&f.Min)
		c.int16(&f.Max)
		c.tags(&f.Tags)
	})
}

// UnregisterBroker removes a registration; id and epoch must match it.
type UnregisterBroker struct {
	BrokerID    NodeID
	BrokerEpoch int64
	Tags        []Tag
}

// Key is the record's type.
func (*UnregisterBroker) Key() Key { return KeyUnregisterBroker }

// Latest is the newest version.
func (*UnregisterBroker) Latest() int16 { return 0 }

func (r *UnregisterBroker) code(c *coder, _ int16) {
	c.node(&r.BrokerID)
	c.int64(&r.BrokerEpoch)
	c.tags(&r.Tags)
}

// Topic makes a topic without partitions.
type Topic struct {
	Name    string
	TopicID UUID
	Tags    []Tag
}

// Key is the record's type.
func (*Topic) Key() Key { return KeyTopic }

// Latest is the newest version.
func (*Topic) Latest() int16 { return 0 }

func (r *Topic) code(c *coder, _ int16) {
	c.string(&r.Name)
	c.uuid(&r.TopicID)
	c.tags(&r.Tags)
}

// Partition is the full state of one partition.
type Partition struct {
	PartitionID    int32
	TopicID        UUID
	Replicas       []NodeID
	ISR            []NodeID
	Removing       []NodeID
	Adding         []NodeID
	Leader         NodeID
	LeaderEpoch    int32
	PartitionEpoch int32
	Directories    []UUID
	RecoveryState  int8
	ELR            []NodeID // nil: none ever
	LastKnownELR   []NodeID // nil: none ever
	Tags           []Tag
}

// Key is the record's type.
func (*Partition) Key() Key { return KeyPartition }

// Latest is the newest version.
func (*Partition) Latest() int16 { return 2 }

func (r *Partition) code(c *coder, v int16) {
	c.int32(&r.PartitionID)
	c.uuid(&r.TopicID)
	c.nodes(&r.Replicas)
	c.nodes(&r.ISR)
	c.nodes(&r.Removing)
	c.nodes(&r.Adding)
	c.node(&r.Leader)
	c.int32(&r.LeaderEpoch)
	c.int32(&r.PartitionEpoch)
	if v >= 1 {
		c.uuids(&r.Directories)
	}
	known := []tag{{0, r.RecoveryState != 0, func() { c.int8(&r.RecoveryState) }}}
	if v >= 2 {
		known = append(known,
			tag{1, r.ELR != nil, func() { c.nullableNodes(&r.ELR) }},
			tag{2, r.LastKnownELR != nil, func() { c.nullableNodes(&r.LastKnownELR) }})
	}
	c.tags(&r.Tags, known...)
}

// Config sets one configuration key of one resource; a nil value deletes it.
type Config struct {
	ResourceType int8
	ResourceName string
	Name         string
	Value        *string
	Tags         []Tag
}

// Key is the record's type.
func (*Config) Key() Key { return KeyConfig }

// Latest is the newest version.
func (*Config) Latest() int16 { return 0 }

func (r *Config) code(c *coder, _ int16) {
	c.int8(&r.ResourceType)
	c.string(&r.ResourceName)
	c.string(&r.Name)
	c.nullableString(&r.Value)
	c.tags(&r.Tags)
}

// Values of PartitionChange that say nothing.
const (
	NoLeaderChange   NodeID = -2
	NoRecoveryChange int8   = -1
)

// PartitionChange changes some fields of a partition: nil lists, NoLeaderChange and NoRecoveryChange leave
// theirs alone.
type PartitionChange struct {
	PartitionID   int32
	TopicID       UUID
	ISR           []NodeID
	Leader        NodeID
	Replicas      []NodeID
	Removing      []NodeID
	Adding        []NodeID
	RecoveryState int8
	ELR           []NodeID
	LastKnownELR  []NodeID
	Directories   []UUID
	Tags          []Tag
}

// NewPartitionChange changes nothing.
func NewPartitionChange() *PartitionChange {
	return &PartitionChange{Leader: NoLeaderChange, RecoveryState: NoRecoveryChange}
}

// Key is the record's type.
func (*PartitionChange) Key() Key { return KeyPartitionChange }

// Latest is the newest version.
func (*PartitionChange) Latest() int16 { return 2 }

func (r *PartitionChange) code(c *coder, v int16) {
	c.int32(&r.PartitionID)
	c.uuid(&r.TopicID)
	known := []tag{
		{0, r.ISR != nil, func() { c.nullableNodes(&r.ISR) }},
		{1, r.Leader != NoLeaderChange, func() { c.node(&r.Leader) }},
		{2, r.Replicas != nil, func() { c.nullableNodes(&r.Replicas) }},
		{3, r.Removing != nil, func() { c.nullableNodes(&r.Removing) }},
		{4, r.Adding != nil, func() { c.nullableNodes(&r.Adding) }},
		{5, r.RecoveryState != NoRecoveryChange, func() { c.int8(&r.RecoveryState) }},
	}
	if v >= 2 {
		known = append(known,
			tag{6, r.ELR != nil, func() { c.nullableNodes(&r.ELR) }},
			tag{7, r.LastKnownELR != nil, func() { c.nullableNodes(&r.LastKnownELR) }})
	}
	if v >= 1 {
		known = append(known, tag{8, r.Directories != nil, func() { c.nullableUUIDs(&r.Directories) }})
	}
	c.tags(&r.Tags, known...)
}

// FenceBroker fences a broker, below metadata.version 3.3-IV2.
type FenceBroker struct {
	BrokerID NodeID
	Epoch    int64
	Tags     []Tag
}

// Key is the record's type.
func (*FenceBroker) Key() Key { return KeyFenceBroker }

// Latest is the newest version.
func (*FenceBroker) Latest() int16 { return 0 }

func (r *FenceBroker) code(c *coder, _ int16) {
	c.node(&r.BrokerID)
	c.int64(&r.Epoch)
	c.tags(&r.Tags)
}

// UnfenceBroker unfences a broker, below metadata.version 3.3-IV2.
type UnfenceBroker struct {
	BrokerID NodeID
	Epoch    int64
	Tags     []Tag
}

// Key is the record's type.
func (*UnfenceBroker) Key() Key { return KeyUnfenceBroker }

// Latest is the newest version.
func (*UnfenceBroker) Latest() int16 { return 0 }

func (r *UnfenceBroker) code(c *coder, _ int16) {
	c.node(&r.BrokerID)
	c.int64(&r.Epoch)
	c.tags(&r.Tags)
}

// RemoveTopic removes a topic, its partitions and its configuration.
type RemoveTopic struct {
	TopicID UUID
	Tags    []Tag
}

// Key is the record's type.
func (*RemoveTopic) Key() Key { return KeyRemoveTopic }

// Latest is the newest version.
func (*RemoveTopic) Latest() int16 { return 0 }

func (r *RemoveTopic) code(c *coder, _ int16) {
	c.uuid(&r.TopicID)
	c.tags(&r.Tags)
}

// FeatureLevel finalizes a feature; level 0 removes it.
type FeatureLevel struct {
	Name  string
	Level int16
	Tags  []Tag
}

// Key is the record's type.
func (*FeatureLevel) Key() Key { return KeyFeatureLevel }

// Latest is the newest version, frozen at 0: it must be readable before metadata.version is known.
func (*FeatureLevel) Latest() int16 { return 0 }

func (r *FeatureLevel) code(c *coder, _ int16) {
	c.string(&r.Name)
	c.int16(&r.Level)
	c.tags(&r.Tags)
}

// ProducerIDs says where the next block of producer ids starts.
type ProducerIDs struct {
	BrokerID       NodeID
	BrokerEpoch    int64
	NextProducerID int64
	Tags           []Tag
}

// Key is the record's type.
func (*ProducerIDs) Key() Key { return KeyProducerIDs }

// Latest is the newest version.
func (*ProducerIDs) Latest() int16 { return 0 }

func (r *ProducerIDs) code(c *coder, _ int16) {
	c.node(&r.BrokerID)
	c.int64(&r.BrokerEpoch)
	c.int64(&r.NextProducerID)
	c.tags(&r.Tags)
}

// BrokerRegistrationChange updates parts of a registration; id and epoch must match it.
type BrokerRegistrationChange struct {
	BrokerID             NodeID
	BrokerEpoch          int64
	Fenced               int8   // 1 fence, -1 unfence, 0 as it was
	InControlledShutdown int8   // 1 entered
	LogDirs              []UUID // empty: as they were
	CordonedLogDirs      []UUID // nil: as they were
	Tags                 []Tag
}

// Key is the record's type.
func (*BrokerRegistrationChange) Key() Key { return KeyBrokerRegistrationChange }

// Latest is the newest version.
func (*BrokerRegistrationChange) Latest() int16 { return 3 }

// Version is the lowest one that carries what is set.
func (r *BrokerRegistrationChange) Version() int16 {
	switch {
	case r.CordonedLogDirs != nil:
		return 3
	case len(r.LogDirs) > 0:
		return 2
	case r.InControlledShutdown != 0:
		return 1
	}
	return 0
}

func (r *BrokerRegistrationChange) code(c *coder, v int16) {
	c.node(&r.BrokerID)
	c.int64(&r.BrokerEpoch)
	known := []tag{{0, r.Fenced != 0, func() { c.int8(&r.Fenced) }}}
	if v >= 1 {
		known = append(known, tag{1, r.InControlledShutdown != 0, func() { c.int8(&r.InControlledShutdown) }})
	}
	if v >= 2 {
		known = append(known, tag{2, len(r.LogDirs) > 0, func() { c.uuids(&r.LogDirs) }})
	}
	if v >= 3 {
		known = append(known, tag{3, r.CordonedLogDirs != nil, func() { c.nullableUUIDs(&r.CordonedLogDirs) }})
	}
	c.tags(&r.Tags, known...)
}

// NoOp keeps offsets moving.
type NoOp struct{ Tags []Tag }

// Key is the record's type.
func (*NoOp) Key() Key { return KeyNoOp }

// Latest is the newest version.
func (*NoOp) Latest() int16 { return 0 }

func (r *NoOp) code(c *coder, _ int16) { c.tags(&r.Tags) }
