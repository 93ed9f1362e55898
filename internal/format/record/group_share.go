package record

// The values of share groups (KIP-932) in __consumer_offsets. All of them are flexible; there is one version.

// ShareMember is the value of KindShareMember: what a member said about itself.
type ShareMember struct {
	RackID     *string
	ClientID   string
	ClientHost string
	Topics     []string
	Tags       []Tag
}

// DecodeShareMember reads a value of KindShareMember.
func DecodeShareMember(b []byte) (v ShareMember, err error) {
	err = decodeFlexible(b, "share group member", v.code)
	return v, err
}

// Encode writes v.
func (v *ShareMember) Encode() []byte { return encodeFlexible(96, v.code) }

func (v *ShareMember) code(c *groupCoder) {
	c.nullableString(&v.RackID)
	c.string(&v.ClientID)
	c.string(&v.ClientHost)
	list(&c.coder, &v.Topics, false, 1, c.coder.string)
	c.tags(&v.Tags)
}

// ShareGroup is the value of KindShareGroup.
type ShareGroup struct {
	Epoch        int32
	MetadataHash int64 // of the topics that members subscribe to, 0 for none
	Tags         []Tag
}

// DecodeShareGroup reads a value of KindShareGroup.
func DecodeShareGroup(b []byte) (v ShareGroup, err error) {
	err = decodeFlexible(b, "share group", v.code)
	return v, err
}

// Encode writes v.
func (v *ShareGroup) Encode() []byte { return encodeFlexible(16, v.code) }

func (v *ShareGroup) code(c *groupCoder) {
	c.int32(&v.Epoch)
	c.int64(&v.MetadataHash)
	c.tags(&v.Tags)
}

// ShareCurrent is the value of KindShareCurrent: where a member is. It has nothing to revoke: partitions are
// shared.
type ShareCurrent struct {
	Epoch         int32
	PreviousEpoch int32
	State         int8 // always 0
	Assigned      []TopicPartitions
	Tags          []Tag
}

// DecodeShareCurrent reads a value of KindShareCurrent.
func DecodeShareCurrent(b []byte) (v ShareCurrent, err error) {
	err = decodeFlexible(b, "current assignment of a share member", v.code)
	return v, err
}

// Encode writes v.
func (v *ShareCurrent) Encode() []byte { return encodeFlexible(64, v.code) }

func (v *ShareCurrent) code(c *groupCoder) {
	c.int32(&v.Epoch)
	c.int32(&v.PreviousEpoch)
	c.int8(&v.State)
	list(&c.coder, &v.Assigned, false, 18, func(t *TopicPartitions) {
		c.uuid(&t.TopicID)
		list(&c.coder, &t.Partitions, false, 4, c.int32)
		c.tags(&t.Tags)
	})
	c.tags(&v.Tags)
}

// ShareTopics is the value of KindShareTopics: of which partitions the share coordinator has state, will
// have, or has to forget.
type ShareTopics struct {
	Initializing []ShareTopic
	Initialized  []ShareTopic
	Deleting     []ShareTopic // without partitions: all of them
	Tags         []Tag
}

// ShareTopic is a topic of ShareTopics.
type ShareTopic struct {
	TopicID    UUID
	Name       string
	Partitions []int32
	Tags       []Tag
}

// DecodeShareTopics reads a value of KindShareTopics.
func DecodeShareTopics(b []byte) (v ShareTopics, err error) {
	err = decodeFlexible(b, "partitions of a share group", v.code)
	return v, err
}

// Encode writes v.
func (v *ShareTopics) Encode() []byte { return encodeFlexible(64, v.code) }

func (v *ShareTopics) code(c *groupCoder) {
	each := func(t *ShareTopic) {
		c.uuid(&t.TopicID)
		c.string(&t.Name)
		list(&c.coder, &t.Partitions, false, 4, c.int32)
		c.tags(&t.Tags)
	}
	list(&c.coder, &v.Initializing, false, 19, each)
	list(&c.coder, &v.Initialized, false, 19, each)
	list(&c.coder, &v.Deleting, false, 18, func(t *ShareTopic) {
		c.uuid(&t.TopicID)
		c.string(&t.Name)
		c.tags(&t.Tags)
	})
	c.tags(&v.Tags)
}
