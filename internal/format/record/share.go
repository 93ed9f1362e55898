package record

import "fmt"

// ShareKind is the kind of a record of __share_group_state: its key's version.
type ShareKind int16

// The kinds of records of __share_group_state.
const (
	KindShareSnapshot ShareKind = 0 // all that is known of a share partition; null buries it
	KindShareUpdate   ShareKind = 1 // what changed since the snapshot
)

// ShareKey is a key of __share_group_state.
type ShareKey struct {
	Kind      ShareKind
	Group     string
	TopicID   UUID
	Partition int32
}

// DecodeShareKey reads a key. A kind that doesn't exist (yet) is no error: Known tells.
func DecodeShareKey(b []byte) (k ShareKey, err error) {
	c := groupCoder{coder: coder{b: b, decoding: true}}
	c.int16((*int16)(&k.Kind))
	if c.err != nil || !k.Known() {
		return k, c.err
	}
	k.code(&c)
	return k, c.done("share state key")
}

// Known says whether the kind is one of Kafka 4.4's.
func (k *ShareKey) Known() bool { return k.Kind == KindShareSnapshot || k.Kind == KindShareUpdate }

// Encode writes k.
func (k *ShareKey) Encode() []byte {
	c := groupCoder{coder: coder{b: make([]byte, 0, 24+len(k.Group))}}
	c.int16((*int16)(&k.Kind))
	k.code(&c)
	return c.b
}

func (k *ShareKey) code(c *groupCoder) {
	c.string(&k.Group)
	c.uuid(&k.TopicID)
	c.int32(&k.Partition)
}

// Coordinator is the partition of __share_group_state, which has n, that a share partition's state is in.
func (k *ShareKey) Coordinator(n int32) int32 {
	return Coordinator(fmt.Sprintf("%s:%s:%d", k.Group, k.TopicID, k.Partition), n)
}

// Delivery states of records of a share group, as they stand in its records.
const (
	ShareAvailable    int8 = 0
	ShareAcquired     int8 = 1 // never stored: a lock doesn't outlive its partition's leader
	ShareAcknowledged int8 = 2
	ShareArchived     int8 = 4
)

// ShareState is the value of a KindShareSnapshot, and of a KindShareUpdate, which has no StateEpoch and no
// times.
type ShareState struct {
	SnapshotEpoch    int32
	StateEpoch       int32
	LeaderEpoch      int32
	StartOffset      int64 // -1: none yet
	CreateTimestamp  int64
	WriteTimestamp   int64
	Batches          []ShareBatch
	DeliveryComplete int32 // records past StartOffset that are done with; -1 unknown
	Tags             []Tag
}

// ShareBatch is what became of neighbouring records.
type ShareBatch struct {
	First, Last   int64
	State         int8
	DeliveryCount int16
	Tags          []Tag
}

// DecodeShareState reads a value.
func DecodeShareState(kind ShareKind, b []byte) (v ShareState, err error) {
	v.DeliveryComplete = -1
	err = decodeFlexible(b, "share state", func(c *groupCoder) { v.code(c, kind) })
	return v, err
}

// Encode writes v as a value of that kind.
func (v *ShareState) Encode(kind ShareKind) []byte {
	return encodeFlexible(64+len(v.Batches)*20, func(c *groupCoder) { v.code(c, kind) })
}

func (v *ShareState) code(c *groupCoder, kind ShareKind) {
	c.int32(&v.SnapshotEpoch)
	if kind == KindShareSnapshot {
		c.int32(&v.StateEpoch)
	}
	c.int32(&v.LeaderEpoch)
	c.int64(&v.StartOffset)
	if kind == KindShareSnapshot {
		c.int64(&v.CreateTimestamp)
		c.int64(&v.WriteTimestamp)
	}
	list(&c.coder, &v.Batches, false, 20, func(b *ShareBatch) {
		c.int64(&b.First)
		c.int64(&b.Last)
		c.int8(&b.State)
		c.int16(&b.DeliveryCount)
		c.tags(&b.Tags)
	})
	c.tags(&v.Tags, tag{0, v.DeliveryComplete != -1, func() { c.int32(&v.DeliveryComplete) }})
}
