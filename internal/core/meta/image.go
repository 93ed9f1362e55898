package meta

import (
	"iter"

	"github.com/tidwall/btree"

	"github.com/kalda/kalda/internal/format/record"
)

// Image is the cluster's metadata at one offset of its log. It never changes; Apply makes the next one.
type Image struct {
	Offset    int64 // of the last record applied, -1 for none
	Epoch     int32 // of that record
	Timestamp int64 // append time of that record's batch, ms

	features    map[string]int16
	brokers     *btree.Map[NodeID, *Broker]
	controllers *btree.Map[NodeID, *Controller]
	topics      *btree.Map[string, *Topic]
	topicIDs    *btree.Map[string, *Topic] // by the id's bytes
	flatNames   *btree.Map[string, string] // topic by its name with dots made underscores
	configs     *btree.Map[string, *configs]
	quotas      *btree.Map[string, *record.ClientQuota]
	acls        *btree.Map[string, *record.AccessControlEntry]
	scram       *btree.Map[string, *record.UserScramCredential]
	tokens      *btree.Map[string, *record.DelegationToken]

	nextProducerID int64 // 0: no block was ever given
	zkState        int8
	tx             *transaction
}

type configs struct {
	resource ConfigResource
	values   map[string]string
}

// transaction is an open metadata transaction (KIP-868): what to return to when it aborts.
type transaction struct {
	base    *Image
	delta   *Delta // up to Begin
	pending *Delta // of everything so far
}

// Empty is the image before the first record.
func Empty() *Image {
	return &Image{
		Offset: -1, Epoch: -1,
		features:    map[string]int16{},
		brokers:     &btree.Map[NodeID, *Broker]{},
		controllers: &btree.Map[NodeID, *Controller]{},
		topics:      &btree.Map[string, *Topic]{},
		topicIDs:    &btree.Map[string, *Topic]{},
		flatNames:   &btree.Map[string, string]{},
		configs:     &btree.Map[string, *configs]{},
		quotas:      &btree.Map[string, *record.ClientQuota]{},
		acls:        &btree.Map[string, *record.AccessControlEntry]{},
		scram:       &btree.Map[string, *record.UserScramCredential]{},
		tokens:      &btree.Map[string, *record.DelegationToken]{},
	}
}

// Features are the finalized features and their levels, metadata.version included. Not to be changed.
func (i *Image) Features() map[string]int16 { return i.features }

// Feature is the finalized level of a feature, 0 if none.
func (i *Image) Feature(name string) int16 { return i.features[name] }

// MetadataVersion is the finalized level of metadata.version, the oldest supported one before it is known.
func (i *Image) MetadataVersion() int16 {
	if v := i.features[FeatureMetadata]; v > 0 {
		return v
	}
	return MinMetadataVersion
}

// InTransaction says that the newest records aren't to be seen yet.
func (i *Image) InTransaction() bool { return i.tx != nil }

// Broker is a registered broker, nil if there is none with that id.
func (i *Image) Broker(id NodeID) *Broker {
	b, _ := i.brokers.Get(id)
	return b
}

// Brokers are the registered brokers by id, fenced ones too.
func (i *Image) Brokers() iter.Seq[*Broker] { return values(i.brokers) }

// Controller is a registered controller, nil if there is none with that id.
func (i *Image) Controller(id NodeID) *Controller {
	c, _ := i.controllers.Get(id)
	return c
}

// Controllers are the registered controllers by id.
func (i *Image) Controllers() iter.Seq[*Controller] { return values(i.controllers) }

// Topic is a topic by name, nil if there is none.
func (i *Image) Topic(name string) *Topic {
	t, _ := i.topics.Get(name)
	return t
}

// TopicByID is a topic by id, nil if there is none.
func (i *Image) TopicByID(id UUID) *Topic {
	t, _ := i.topicIDs.Get(string(id[:]))
	return t
}

// Topics are all topics by name.
func (i *Image) Topics() iter.Seq[*Topic] { return values(i.topics) }

// TopicsFrom are the topics whose name is at least from, by name.
func (i *Image) TopicsFrom(from string) iter.Seq[*Topic] {
	return func(yield func(*Topic) bool) {
		i.topics.Ascend(from, func(_ string, t *Topic) bool { return yield(t) })
	}
}

// TopicCount is the number of topics.
func (i *Image) TopicCount() int { return i.topics.Len() }

// Config is what is set on one resource, nil if nothing is. Not to be changed.
func (i *Image) Config(kind ConfigKind, name string) map[string]string {
	if c, ok := i.configs.Get(ConfigResource{kind, name}.key()); ok {
		return c.values
	}
	return nil
}

// Configs are all resources with something set, by kind and name. The maps are not to be changed.
func (i *Image) Configs() iter.Seq2[ConfigResource, map[string]string] {
	return func(yield func(ConfigResource, map[string]string) bool) {
		i.configs.Scan(func(_ string, c *configs) bool { return yield(c.resource, c.values) })
	}
}

// NextProducerID is where the next block of producer ids starts.
func (i *Image) NextProducerID() int64 { return i.nextProducerID }

// Quotas are the client quotas. Not to be changed.
func (i *Image) Quotas() iter.Seq[*record.ClientQuota] { return values(i.quotas) }

// ACLs are the access control entries by id. Not to be changed.
func (i *Image) ACLs() iter.Seq[*record.AccessControlEntry] { return values(i.acls) }

// Scram is a user's SCRAM credential for a mechanism, nil if there is none. Not to be changed.
func (i *Image) Scram(user string, mechanism int8) *record.UserScramCredential {
	c, _ := i.scram.Get(scramKey(user, mechanism))
	return c
}

// Scrams are all SCRAM credentials, by user. Not to be changed.
func (i *Image) Scrams() iter.Seq[*record.UserScramCredential] { return values(i.scram) }

// Tokens are the delegation tokens by id. Not to be changed.
func (i *Image) Tokens() iter.Seq[*record.DelegationToken] { return values(i.tokens) }

func values[K interface{ ~int32 | ~string }, V any](m *btree.Map[K, V]) iter.Seq[V] {
	return func(yield func(V) bool) {
		m.Scan(func(_ K, v V) bool { return yield(v) })
	}
}

func scramKey(user string, mechanism int8) string { return user + "\x00" + string(rune(mechanism)) }
