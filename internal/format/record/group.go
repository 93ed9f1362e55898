package record

import (
	"fmt"
	"math"
	"unicode/utf16"
)

// GroupKind is the kind of a record of __consumer_offsets: its key's version.
type GroupKind int16

// The kinds that exist in Kafka 4.4. Kinds past the last must be skipped on load: a newer node wrote them.
const (
	KindLegacyOffsetCommit GroupKind = 0 // as KindOffsetCommit; only very old nodes wrote it
	KindOffsetCommit       GroupKind = 1
	KindClassicGroup       GroupKind = 2
	KindConsumerFirst      GroupKind = 3 // 3..8 and 16 belong to groups of the consumer protocol (KIP-848)
	KindConsumerGroup      GroupKind = 3
	KindConsumerPartitions GroupKind = 4 // what a group knew of its topics; since 4.1 only ever buried
	KindConsumerMember     GroupKind = 5
	KindConsumerTarget     GroupKind = 6
	KindConsumerTargetOf   GroupKind = 7
	KindConsumerCurrent    GroupKind = 8
	KindConsumerLast       GroupKind = 8
	KindShareFirst         GroupKind = 9 // 9..15 belong to share groups (KIP-932)
	KindShareMember        GroupKind = 10
	KindShareGroup         GroupKind = 11
	KindShareTarget        GroupKind = 12 // as KindConsumerTarget
	KindShareTargetOf      GroupKind = 13 // as KindConsumerTargetOf
	KindShareCurrent       GroupKind = 14
	KindShareTopics        GroupKind = 15
	KindShareLast          GroupKind = 15
	KindConsumerRegex      GroupKind = 16
	KindStreamsFirst       GroupKind = 17 // 17..23 belong to streams groups (KIP-1071)
	KindStreamsMember      GroupKind = 19
	KindStreamsLast        GroupKind = 23
)

// GroupKey is a key of __consumer_offsets. Topic and Partition are set for offset commits only; of the kinds
// whose values aren't decoded here yet only Kind and Group are, which is what they all start with.
type GroupKey struct {
	Kind      GroupKind
	Group     string
	Topic     string
	Partition int32
	Name      string // the member, of kinds that are about one; the expression of 16
}

// DecodeGroupKey reads a key. A kind that doesn't exist (yet) is no error: Known tells.
func DecodeGroupKey(b []byte) (k GroupKey, err error) {
	c := groupCoder{coder: coder{b: b, decoding: true}}
	var kind int16
	c.int16(&kind)
	k.Kind = GroupKind(kind)
	if c.err != nil || !k.Known() {
		return k, c.err
	}
	k.code(&c)
	if c.err == nil && k.Kind <= KindConsumerRegex && k.Kind != KindShareFirst && len(c.b) > 0 {
		c.fail("bytes after the key")
	}
	if c.err != nil {
		return k, fmt.Errorf("group key of kind %d: %w", kind, c.err)
	}
	return k, nil
}

// Known says whether the kind is one of Kafka 4.4's.
func (k *GroupKey) Known() bool { return k.Kind >= 0 && k.Kind <= KindStreamsLast }

func (k *GroupKey) isOffset() bool {
	return k.Kind == KindOffsetCommit || k.Kind == KindLegacyOffsetCommit
}

func (k *GroupKey) named() bool {
	switch k.Kind {
	case KindConsumerMember, KindConsumerTargetOf, KindConsumerCurrent, KindConsumerRegex,
		KindShareMember, KindShareTargetOf, KindShareCurrent:
		return true
	}
	return false
}

// Encode is for keys of offset commits, and of classic, consumer and share groups.
func (k *GroupKey) Encode() []byte {
	c := groupCoder{coder: coder{b: make([]byte, 0, 12+len(k.Group)+len(k.Topic)+len(k.Name))}}
	kind := int16(k.Kind)
	c.int16(&kind)
	k.code(&c)
	return c.b
}

func (k *GroupKey) code(c *groupCoder) {
	c.string(&k.Group)
	switch {
	case k.isOffset():
		c.string(&k.Topic)
		c.int32(&k.Partition)
	case k.named():
		c.string(&k.Name)
	}
}

// OffsetValue is a committed offset. Version 4 is what Kafka 4.4 writes, version 1 where the client asked for
// a retention.
type OffsetValue struct {
	Version         int16
	Offset          int64
	LeaderEpoch     int32 // of the record before Offset; -1 unknown. v3+
	Metadata        string
	CommitTimestamp int64
	ExpireTimestamp int64 // -1: by the group's state. v1 only
	TopicID         UUID  // zero: unknown. v4+
	Tags            []Tag
}

// NoExpiry is OffsetValue's ExpireTimestamp of commits without a retention of their own.
const NoExpiry = -1

// DecodeOffsetValue reads a value of KindOffsetCommit.
func DecodeOffsetValue(b []byte) (v OffsetValue, err error) {
	v.LeaderEpoch, v.ExpireTimestamp = -1, NoExpiry
	c := groupCoder{coder: coder{b: b, decoding: true}}
	c.int16(&v.Version)
	if err := c.version(v.Version, 4, "offset commit"); err != nil {
		return v, err
	}
	v.code(&c)
	return v, c.done("offset commit")
}

// Encode writes v in its Version.
func (v *OffsetValue) Encode() []byte {
	c := groupCoder{coder: coder{b: make([]byte, 0, 48+len(v.Metadata))}, flexible: v.Version >= 4}
	c.int16(&v.Version)
	v.code(&c)
	return c.b
}

func (v *OffsetValue) code(c *groupCoder) {
	c.int64(&v.Offset)
	if v.Version >= 3 {
		c.int32(&v.LeaderEpoch)
	}
	c.string(&v.Metadata)
	c.int64(&v.CommitTimestamp)
	if v.Version == 1 {
		c.int64(&v.ExpireTimestamp)
	}
	if v.Version >= 4 {
		c.tags(&v.Tags, tag{0, v.TopicID != UUID{}, func() { c.uuid(&v.TopicID) }})
	}
}

// GroupValue is a classic group's generation. Version 3 is what Kafka 4.4 writes.
type GroupValue struct {
	Version        int16
	ProtocolType   string // empty: none yet
	Generation     int32
	Protocol       *string
	Leader         *string
	StateTimestamp int64 // ms when the group got into its state; -1 unknown. v2+
	Members        []GroupMember
	Tags           []Tag
}

// GroupMember is a member of a GroupValue.
type GroupMember struct {
	ID               string
	InstanceID       *string // v3+
	ClientID         string
	ClientHost       string
	RebalanceTimeout int32 // ms; -1: as the session timeout. v1+
	SessionTimeout   int32 // ms
	Subscription     []byte
	Assignment       []byte
	Tags             []Tag
}

// DecodeGroupValue reads a value of KindClassicGroup. Byte slices alias b.
func DecodeGroupValue(b []byte) (v GroupValue, err error) {
	v.StateTimestamp = -1
	c := groupCoder{coder: coder{b: b, decoding: true}}
	c.int16(&v.Version)
	if err := c.version(v.Version, 4, "classic group"); err != nil {
		return v, err
	}
	v.code(&c)
	return v, c.done("classic group")
}

// Encode writes v in its Version.
func (v *GroupValue) Encode() []byte {
	c := groupCoder{flexible: v.Version >= 4}
	c.int16(&v.Version)
	v.code(&c)
	return c.b
}

func (v *GroupValue) code(c *groupCoder) {
	c.string(&v.ProtocolType)
	c.int32(&v.Generation)
	c.nullableString(&v.Protocol)
	c.nullableString(&v.Leader)
	if v.Version >= 2 {
		c.int64(&v.StateTimestamp)
	}
	n := int32(len(v.Members))
	c.count(&n, 10)
	if c.decoding && n > 0 {
		v.Members = make([]GroupMember, n)
	}
	for i := 0; i < len(v.Members) && c.err == nil; i++ {
		v.Members[i].code(c, v.Version)
	}
	if v.Version >= 4 {
		c.tags(&v.Tags)
	}
}

func (m *GroupMember) code(c *groupCoder, version int16) {
	c.string(&m.ID)
	if version >= 3 {
		c.nullableString(&m.InstanceID)
	}
	c.string(&m.ClientID)
	c.string(&m.ClientHost)
	if version >= 1 {
		c.int32(&m.RebalanceTimeout)
	} else if c.decoding {
		m.RebalanceTimeout = -1
	}
	c.int32(&m.SessionTimeout)
	c.bytes(&m.Subscription)
	c.bytes(&m.Assignment)
	if version >= 4 {
		c.tags(&m.Tags)
	}
}

// groupCoder adds to coder the layouts from before flexible versions.
type groupCoder struct {
	coder
	flexible bool
}

func (c *groupCoder) version(v, last int16, what string) error {
	if c.err == nil && (v < 0 || v > last) {
		c.fail(fmt.Sprintf("version %d", v))
	}
	c.flexible = v >= 4
	if c.err != nil {
		return fmt.Errorf("%s: %w", what, c.err)
	}
	return nil
}

func (c *groupCoder) done(what string) error {
	if c.err == nil && len(c.b) > 0 {
		c.fail("bytes after the value")
	}
	if c.err != nil {
		return fmt.Errorf("%s: %w", what, c.err)
	}
	return nil
}

func (c *groupCoder) string(v *string) {
	if c.flexible {
		c.coder.string(v)
		return
	}
	if !c.decoding {
		c.putShort(len(*v))
		c.b = append(c.b, *v...)
		return
	}
	n := c.short()
	if n < 0 {
		c.fail("null string")
		return
	}
	*v = string(c.take(uint64(n)))
}

func (c *groupCoder) nullableString(v **string) {
	switch {
	case c.flexible:
		c.coder.nullableString(v)
	case c.decoding:
		n := c.short()
		if n < -1 {
			c.fail("string length")
		}
		if n < 0 {
			*v = nil
			return
		}
		s := string(c.take(uint64(n)))
		*v = &s
	case *v == nil:
		c.putShort(-1)
	default:
		c.string(*v)
	}
}

func (c *groupCoder) bytes(v *[]byte) {
	if c.flexible {
		c.coder.bytes(v)
		return
	}
	n := int32(len(*v))
	c.int32(&n)
	if !c.decoding {
		c.b = append(c.b, *v...)
		return
	}
	if n < 0 {
		c.fail("null bytes")
		return
	}
	*v = c.take(uint64(n))
}

// count codes an array's length; when decoding, elements of min bytes must fit into what is left.
func (c *groupCoder) count(n *int32, min int) {
	switch {
	case c.flexible && c.decoding:
		*n = int32(c.uvarint()) - 1
	case c.flexible:
		c.putUvarint(uint64(*n) + 1)
	default:
		c.int32(n)
	}
	if c.decoding && (*n < 0 || int64(*n)*int64(min) > int64(len(c.b))) {
		c.fail("array longer than its record")
		*n = 0
	}
}

func (c *groupCoder) short() int16 {
	var n int16
	c.int16(&n)
	return n
}

func (c *groupCoder) putShort(n int) {
	if n > math.MaxInt16 {
		panic("record: string over 32 KiB") // requests can't carry one to us
	}
	i := int16(n)
	c.int16(&i)
}

// Coordinator is the partition of an internal topic with n partitions that is responsible for a group or
// transactional id: the string's hash as in Java, over UTF-16 code units, without its sign.
func Coordinator(id string, n int32) int32 {
	h := int32(0)
	for _, r := range id {
		if r >= 0x10000 {
			hi, lo := utf16.EncodeRune(r)
			h = 31*(31*h+hi) + lo
		} else {
			h = 31*h + r
		}
	}
	if h == math.MinInt32 {
		return 0
	}
	return max(h, -h) % n
}
