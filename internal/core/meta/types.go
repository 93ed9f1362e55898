package meta

// NodeID is a broker's or controller's node.id; -1 is none.
type NodeID int32

// NoNode is the absent node.
const NoNode NodeID = -1

// UUID is a topic, directory or incarnation id.
type UUID [16]byte

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
	Incarnation          UUID
	Endpoints            []Endpoint
	Features             map[string]FeatureRange
	Rack                 string // empty: none
	Fenced               bool
	InControlledShutdown bool
	LogDirs              []UUID
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

// ConfigKind is a config resource's type, with the wire's numbers.
type ConfigKind int8

// The kinds of resources that hold configs.
const (
	ConfigTopic         ConfigKind = 2
	ConfigBroker        ConfigKind = 4 // name "" is the cluster-wide default
	ConfigClientMetrics ConfigKind = 16
	ConfigGroup         ConfigKind = 32
)
