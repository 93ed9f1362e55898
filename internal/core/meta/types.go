package meta

import "github.com/kalda/kalda/internal/format/record"

// NodeID is a broker's or controller's node.id; -1 is none.
type NodeID = record.NodeID

// NoNode is the absent node.
const NoNode NodeID = -1

// UUID is a topic, directory or incarnation id.
type UUID = record.UUID

// Directory ids that name no directory (kraft.md 0.4).
var (
	DirMigrating  = UUID{}      // not yet known
	DirUnassigned = UUID{15: 1} // the broker has yet to choose
	DirLost       = UUID{15: 2} // some directory that is offline
	MetadataTopic = UUID{15: 1} // the topic id of __cluster_metadata
)

// Endpoint is where a broker listens under one listener name.
type Endpoint struct {
	Name     string // listener name, upper case
	Host     string
	Port     uint16
	Protocol int16 // 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL
}

// FeatureRange is the versions of one feature that a node supports.
type FeatureRange struct{ Min, Max int16 }

// Broker is a registered broker. Immutable once in an Image.
type Broker struct {
	ID                   NodeID
	Epoch                int64 // broker epoch: offset of its registration record
	RegisterOffset       int64 // of its newest registration record: caught up once read that far
	Incarnation          UUID
	Endpoints            []Endpoint
	Features             map[string]FeatureRange
	Rack                 string // empty: none
	Fenced               bool
	InControlledShutdown bool
	LogDirs              []UUID
	CordonedLogDirs      []UUID // nil: the broker never told
}

// Active says that the broker may lead partitions and be in ISRs.
func (b *Broker) Active() bool { return b != nil && !b.Fenced && !b.InControlledShutdown }

// Controller is a registered controller. Immutable once in an Image.
type Controller struct {
	ID          NodeID
	Incarnation UUID
	ZkReady     bool
	Endpoints   []Endpoint
	Features    map[string]FeatureRange
}

// Partition is one partition's placement and leadership. Immutable once in an Image.
type Partition struct {
	Replicas, ISR    []NodeID
	Adding, Removing []NodeID
	ELR, LastELR     []NodeID // eligible leader replicas (KIP-966)
	Dirs             []UUID   // of each replica, by position in Replicas
	Leader           NodeID   // NoNode: offline
	LeaderEpoch      int32
	PartitionEpoch   int32
	Recovering       bool // after an unclean election
}

// Topic is a topic with its partitions, by index. Immutable once in an Image.
type Topic struct {
	Name       string
	ID         UUID
	Partitions []*Partition
}

// Partition is the partition with that index, nil if there is none.
func (t *Topic) Partition(index int32) *Partition {
	if t == nil || index < 0 || int(index) >= len(t.Partitions) {
		return nil
	}
	return t.Partitions[index]
}

// ConfigKind is a config resource's type, with the wire's numbers.
type ConfigKind int8

// The kinds of resources that hold configs.
const (
	ConfigTopic         ConfigKind = 2
	ConfigBroker        ConfigKind = 4 // name "" is the cluster-wide default
	ConfigBrokerLogger  ConfigKind = 8 // never in an image
	ConfigClientMetrics ConfigKind = 16
	ConfigGroup         ConfigKind = 32
)

// ConfigResource names what holds configs.
type ConfigResource struct {
	Kind ConfigKind
	Name string
}

func (r ConfigResource) key() string { return string([]byte{byte(r.Kind)}) + r.Name }
