package record

// The values of groups of the consumer protocol (KIP-848). All of them are flexible; there is one version.

// ConsumerGroup is the value of KindConsumerGroup.
type ConsumerGroup struct {
	Epoch        int32
	MetadataHash int64 // of the topics that members subscribe to, 0 for none
	Tags         []Tag
}

// DecodeConsumerGroup reads a value of KindConsumerGroup.
func DecodeConsumerGroup(b []byte) (v ConsumerGroup, err error) {
	err = decodeFlexible(b, "consumer group", v.code)
	return v, err
}

// Encode writes v.
func (v *ConsumerGroup) Encode() []byte { return encodeFlexible(16, v.code) }

func (v *ConsumerGroup) code(c *groupCoder) {
	c.int32(&v.Epoch)
	c.tags(&v.Tags, tag{0, v.MetadataHash != 0, func() { c.int64(&v.MetadataHash) }})
}

// ConsumerMember is the value of KindConsumerMember: what a member said about itself.
type ConsumerMember struct {
	InstanceID       *string
	RackID           *string
	ClientID         string
	ClientHost       string
	Topics           []string
	Regex            *string
	RebalanceTimeout int32 // ms
	Assignor         *string
	Classic          *ClassicMember // of members that speak the classic protocol
	Tags             []Tag
}

// ClassicMember is what a ConsumerMember has to remember of the classic protocol.
type ClassicMember struct {
	SessionTimeout int32 // ms
	Protocols      []ClassicProtocol
	Tags           []Tag
}

// ClassicProtocol is one of the protocols of a ClassicMember.
type ClassicProtocol struct {
	Name     string
	Metadata []byte
	Tags     []Tag
}

// DecodeConsumerMember reads a value of KindConsumerMember. Byte slices alias b.
func DecodeConsumerMember(b []byte) (v ConsumerMember, err error) {
	err = decodeFlexible(b, "consumer group member", v.code)
	return v, err
}

// Encode writes v.
func (v *ConsumerMember) Encode() []byte { return encodeFlexible(128, v.code) }

func (v *ConsumerMember) code(c *groupCoder) {
	c.nullableString(&v.InstanceID)
	c.nullableString(&v.RackID)
	c.string(&v.ClientID)
	c.string(&v.ClientHost)
	list(&c.coder, &v.Topics, false, 1, c.coder.string)
	c.nullableString(&v.Regex)
	c.int32(&v.RebalanceTimeout)
	c.nullableString(&v.Assignor)
	// Apache writes this tag always, null too.
	c.tags(&v.Tags, tag{0, true, func() { codeClassic(c, &v.Classic) }})
}

// codeClassic codes a nullable struct: a 1 before it, or a 0 instead of it.
func codeClassic(c *groupCoder, v **ClassicMember) {
	is := *v != nil
	if c.bool(&is); !is {
		return
	}
	if c.decoding {
		*v = &ClassicMember{}
	}
	m := *v
	c.int32(&m.SessionTimeout)
	list(&c.coder, &m.Protocols, false, 3, func(p *ClassicProtocol) {
		c.string(&p.Name)
		c.bytes(&p.Metadata)
		c.tags(&p.Tags)
	})
	c.tags(&m.Tags)
}

// ConsumerTarget is the value of KindConsumerTarget.
type ConsumerTarget struct {
	Epoch     int32
	Timestamp int64 // ms when it was computed, 0 unknown
	Tags      []Tag
}

// DecodeConsumerTarget reads a value of KindConsumerTarget.
func DecodeConsumerTarget(b []byte) (v ConsumerTarget, err error) {
	err = decodeFlexible(b, "target assignment", v.code)
	return v, err
}

// Encode writes v.
func (v *ConsumerTarget) Encode() []byte { return encodeFlexible(20, v.code) }

func (v *ConsumerTarget) code(c *groupCoder) {
	c.int32(&v.Epoch)
	c.tags(&v.Tags, tag{0, v.Timestamp != 0, func() { c.int64(&v.Timestamp) }})
}

// TopicPartitions are partitions of one topic.
type TopicPartitions struct {
	TopicID    UUID
	Partitions []int32
	Epochs     []int32 // the epochs in which they were assigned, or nil. KindConsumerCurrent only
	Tags       []Tag
}

// ConsumerTargetOf is the value of KindConsumerTargetOf: what one member shall have.
type ConsumerTargetOf struct {
	Topics []TopicPartitions
	Tags   []Tag
}

// DecodeConsumerTargetOf reads a value of KindConsumerTargetOf.
func DecodeConsumerTargetOf(b []byte) (v ConsumerTargetOf, err error) {
	err = decodeFlexible(b, "target assignment of a member", v.code)
	return v, err
}

// Encode writes v.
func (v *ConsumerTargetOf) Encode() []byte { return encodeFlexible(64, v.code) }

func (v *ConsumerTargetOf) code(c *groupCoder) {
	list(&c.coder, &v.Topics, false, 18, func(t *TopicPartitions) {
		c.uuid(&t.TopicID)
		list(&c.coder, &t.Partitions, false, 4, c.int32)
		c.tags(&t.Tags)
	})
	c.tags(&v.Tags)
}

// ConsumerCurrent is the value of KindConsumerCurrent: where a member is.
type ConsumerCurrent struct {
	Epoch         int32
	PreviousEpoch int32
	State         int8 // 0 stable, 1 has to revoke, 2 waits for others to revoke
	Assigned      []TopicPartitions
	Revoking      []TopicPartitions
	Tags          []Tag
}

// DecodeConsumerCurrent reads a value of KindConsumerCurrent.
func DecodeConsumerCurrent(b []byte) (v ConsumerCurrent, err error) {
	err = decodeFlexible(b, "current assignment of a member", v.code)
	return v, err
}

// Encode writes v.
func (v *ConsumerCurrent) Encode() []byte { return encodeFlexible(96, v.code) }

func (v *ConsumerCurrent) code(c *groupCoder) {
	c.int32(&v.Epoch)
	c.int32(&v.PreviousEpoch)
	c.int8(&v.State)
	each := func(t *TopicPartitions) {
		c.uuid(&t.TopicID)
		list(&c.coder, &t.Partitions, false, 4, c.int32)
		c.tags(&t.Tags, tag{0, t.Epochs != nil, func() { list(&c.coder, &t.Epochs, true, 4, c.int32) }})
	}
	list(&c.coder, &v.Assigned, false, 18, each)
	list(&c.coder, &v.Revoking, false, 18, each)
	c.tags(&v.Tags)
}

// ConsumerRegex is the value of KindConsumerRegex: what an expression stood for.
type ConsumerRegex struct {
	Topics    []string
	Version   int64 // offset of the metadata that it was resolved with
	Timestamp int64 // ms
	Tags      []Tag
}

// DecodeConsumerRegex reads a value of KindConsumerRegex.
func DecodeConsumerRegex(b []byte) (v ConsumerRegex, err error) {
	err = decodeFlexible(b, "regular expression", v.code)
	return v, err
}

// Encode writes v.
func (v *ConsumerRegex) Encode() []byte { return encodeFlexible(64, v.code) }

func (v *ConsumerRegex) code(c *groupCoder) {
	list(&c.coder, &v.Topics, false, 1, c.coder.string)
	c.int64(&v.Version)
	c.int64(&v.Timestamp)
	c.tags(&v.Tags)
}

// decodeFlexible reads a value whose only version is 0, and flexible.
func decodeFlexible(b []byte, what string, code func(*groupCoder)) error {
	c := groupCoder{coder: coder{b: b, decoding: true}}
	var version int16
	c.int16(&version)
	if err := c.version(version, 0, what); err != nil {
		return err
	}
	c.flexible = true
	code(&c)
	return c.done(what)
}

func encodeFlexible(size int, code func(*groupCoder)) []byte {
	c := groupCoder{coder: coder{b: make([]byte, 2, size)}, flexible: true}
	code(&c)
	return c.b
}
