package record

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
)

// NodeID is a broker's or controller's node.id; -1 is none.
type NodeID int32

// UUID is a topic, directory or incarnation id: 16 raw bytes, text is unpadded URL-safe base64.
type UUID [16]byte

// String is the 22 characters that Kafka prints and parses.
func (u UUID) String() string { return base64.RawURLEncoding.EncodeToString(u[:]) }

// ParseUUID reads the text form; padding is tolerated, as Apache's parser does.
func ParseUUID(s string) (u UUID, err error) {
	t := s
	for len(t) > 22 && len(t) <= 24 && t[len(t)-1] == '=' {
		t = t[:len(t)-1]
	}
	b, err := base64.RawURLEncoding.DecodeString(t)
	if err != nil || len(b) != len(u) {
		return u, fmt.Errorf("%w: %q is not a 22-character base64 uuid", ErrCorrupt, s)
	}
	copy(u[:], b)
	return u, nil
}

// Key is a metadata record's type (kraft.md 3.2).
type Key uint16

// The metadata record types. 6, 13 and 16 are gaps of the preview in 2.8.
const (
	KeyRegisterBroker           Key = 0
	KeyUnregisterBroker         Key = 1
	KeyTopic                    Key = 2
	KeyPartition                Key = 3
	KeyConfig                   Key = 4
	KeyPartitionChange          Key = 5
	KeyFenceBroker              Key = 7
	KeyUnfenceBroker            Key = 8
	KeyRemoveTopic              Key = 9
	KeyDelegationToken          Key = 10
	KeyUserScramCredential      Key = 11
	KeyFeatureLevel             Key = 12
	KeyClientQuota              Key = 14
	KeyProducerIDs              Key = 15
	KeyBrokerRegistrationChange Key = 17
	KeyAccessControlEntry       Key = 18
	KeyRemoveAccessControlEntry Key = 19
	KeyNoOp                     Key = 20
	KeyZkMigrationState         Key = 21
	KeyRemoveUserScram          Key = 22
	KeyBeginTransaction         Key = 23
	KeyEndTransaction           Key = 24
	KeyAbortTransaction         Key = 25
	KeyRemoveDelegationToken    Key = 26
	KeyRegisterController       Key = 27
	KeyClearELR                 Key = 28
	KeyUnregisterController     Key = 29
)

// frameVersion starts every metadata record; 0 was the preview's and is refused.
const frameVersion = 1

// Metadata is one metadata record: a pointer to one of this package's structs, or *Unknown.
type Metadata interface {
	// Key is the record's type.
	Key() Key
	// Latest is the newest version that this code writes.
	Latest() int16
	code(c *coder, version int16)
}

// Unknown is a record of a type or version that this code doesn't know, kept as it came.
type Unknown struct {
	Type Key
	Raw  []byte // the whole record, frame included
}

// Key is the record's type.
func (u *Unknown) Key() Key { return u.Type }

// Latest is nothing for an unknown type.
func (u *Unknown) Latest() int16 { return 0 }

func (u *Unknown) code(*coder, int16) {}

// AppendMetadata appends m's bytes at that version, frame included.
func AppendMetadata(dst []byte, m Metadata, version int16) []byte {
	if u, ok := m.(*Unknown); ok {
		return append(dst, u.Raw...)
	}
	c := coder{b: dst}
	c.putUvarint(frameVersion)
	c.putUvarint(uint64(m.Key()))
	c.putUvarint(uint64(version))
	m.code(&c, version)
	return c.b
}

// DecodeMetadata reads one metadata record. A type or version that this code doesn't know gives *Unknown.
// Byte fields alias b.
func DecodeMetadata(b []byte) (m Metadata, version int16, err error) {
	c := coder{b: b, decoding: true}
	if v := c.uvarint(); c.err == nil && v != frameVersion {
		return nil, 0, fmt.Errorf("%w: metadata frame version %d", ErrCorrupt, v)
	}
	key, v := c.uvarint(), c.uvarint()
	if c.err != nil || key > 0x7fff || v > 0x7fff {
		return nil, 0, fmt.Errorf("%w: metadata frame", ErrCorrupt)
	}
	m = newMetadata(Key(key))
	if m == nil || int16(v) > m.Latest() {
		return &Unknown{Type: Key(key), Raw: b}, int16(v), nil
	}
	m.code(&c, int16(v))
	if c.err == nil && len(c.b) > 0 {
		c.err = fmt.Errorf("%w: %d trailing bytes", ErrCorrupt, len(c.b))
	}
	if c.err != nil {
		return nil, 0, fmt.Errorf("metadata record %d v%d: %w", key, v, c.err)
	}
	return m, int16(v), nil
}

func newMetadata(k Key) Metadata {
	switch k {
	case KeyRegisterBroker:
		return &RegisterBroker{}
	case KeyUnregisterBroker:
		return &UnregisterBroker{}
	case KeyTopic:
		return &Topic{}
	case KeyPartition:
		return &Partition{}
	case KeyConfig:
		return &Config{}
	case KeyPartitionChange:
		return NewPartitionChange()
	case KeyFenceBroker:
		return &FenceBroker{}
	case KeyUnfenceBroker:
		return &UnfenceBroker{}
	case KeyRemoveTopic:
		return &RemoveTopic{}
	case KeyFeatureLevel:
		return &FeatureLevel{}
	case KeyProducerIDs:
		return &ProducerIDs{}
	case KeyBrokerRegistrationChange:
		return &BrokerRegistrationChange{}
	case KeyNoOp:
		return &NoOp{}
	default:
		return newRareMetadata(k)
	}
}

func newRareMetadata(k Key) Metadata {
	switch k {
	case KeyDelegationToken:
		return &DelegationToken{}
	case KeyUserScramCredential:
		return &UserScramCredential{}
	case KeyClientQuota:
		return &ClientQuota{}
	case KeyAccessControlEntry:
		return &AccessControlEntry{}
	case KeyRemoveAccessControlEntry:
		return &RemoveAccessControlEntry{}
	case KeyZkMigrationState:
		return &ZkMigrationState{}
	case KeyRemoveUserScram:
		return &RemoveUserScram{}
	case KeyBeginTransaction:
		return &BeginTransaction{}
	case KeyEndTransaction:
		return &EndTransaction{}
	case KeyAbortTransaction:
		return &AbortTransaction{}
	case KeyRemoveDelegationToken:
		return &RemoveDelegationToken{}
	case KeyRegisterController:
		return &RegisterController{}
	case KeyClearELR:
		return &ClearELR{}
	case KeyUnregisterController:
		return &UnregisterController{}
	default:
		return nil
	}
}

// Reserved says that the id is one that never names a directory: the high half is zero and the low one,
// signed, below 100.
func (u UUID) Reserved() bool {
	return binary.BigEndian.Uint64(u[:8]) == 0 && int64(binary.BigEndian.Uint64(u[8:])) < 100
}
