package meta

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// ValidateConfig checks what a resource's configuration would be: the keys set on it, after the change. It
// returns an error whose text goes to the client, as Apache's would; see refused for the code.
type ValidateConfig func(res ConfigResource, values map[string]string) error

// ListKey says of a configuration key of a kind of resource whether it is a list, and its value when it
// isn't set.
type ListKey func(kind ConfigKind, name string) (def string, isList bool)

// Rules is the configuration that plans obey.
type Rules struct {
	ClusterID         string
	Self              NodeID // the controller that plans
	Partitions        int32  // num.partitions
	ReplicationFactor int16  // default.replication.factor
	MinISR            int    // min.insync.replicas
	Unclean           bool   // unclean.leader.election.enable
	KeepTopics        bool   // delete.topic.enable=false
	Validate          ValidateConfig
	ListKeys          ListKey
}

// Planner decides: each method reads the image and an input and gives records that carry it out, and what
// to answer. It changes nothing; whoever appends the records makes the next image from them.
type Planner struct {
	Image *Image
	Rules *Rules
	Next  int64      // the offset that the next record will get
	Rand  *rand.Rand // ids and placement
	// Mutations is asked before partitions are created or deleted, how many; false: the client has to wait
	// (KIP-599). nil allows everything.
	Mutations func(partitions int) bool
}

// mutate asks for the right to create or delete n partitions.
func (p *Planner) mutate(n int) Failure {
	if p.Mutations == nil || p.Mutations(n) {
		return Failure{}
	}
	return failf(kerr.ThrottlingQuotaExceeded, "The throttling quota has been exceeded.")
}

// Failure is why one thing of a request can't be done. The zero value is success.
type Failure struct {
	Code    kerr.Code
	Message string
}

// OK says that nothing failed.
func (f Failure) OK() bool { return f.Code == kerr.None }

func failf(code kerr.Code, format string, args ...any) Failure {
	return Failure{Code: code, Message: fmt.Sprintf(format, args...)}
}

// refused is a configuration that Rules.Validate doesn't accept: InvalidConfig, unless the error tells
// another code.
func refused(err error) Failure {
	var coded interface{ ErrorCode() int16 }
	if errors.As(err, &coded) {
		return Failure{kerr.Code(coded.ErrorCode()), err.Error()}
	}
	return Failure{kerr.InvalidConfig, err.Error()}
}

// output collects encoded records, each at the version that the finalized metadata.version writes (kraft.md
// 3.5).
type output struct {
	mv   int16
	recs [][]byte
}

func (p *Planner) output() *output { return &output{mv: p.Image.MetadataVersion()} }

func (o *output) put(m record.Metadata) {
	o.recs = append(o.recs, record.AppendMetadata(nil, m, recordVersion(m, o.mv)))
}

func recordVersion(m record.Metadata, mv int16) int16 {
	switch r := m.(type) {
	case *record.RegisterBroker:
		return registerBrokerVersion(mv)
	case *record.Partition, *record.PartitionChange:
		return partitionVersion(mv)
	case *record.BrokerRegistrationChange:
		return r.Version()
	}
	return 0
}

// NewUUID draws a random id of RFC 4122 version 4 that is neither reserved nor looks like a flag.
func NewUUID(r *rand.Rand) UUID {
	for {
		var u UUID
		hi, lo := r.Uint64(), r.Uint64()
		for i := range 8 {
			u[i] = byte(hi >> (56 - 8*i))
			u[8+i] = byte(lo >> (56 - 8*i))
		}
		u[6] = u[6]&0x0f | 0x40
		u[8] = u[8]&0x3f | 0x80
		if u.String()[0] != '-' {
			return u
		}
	}
}

// topicConfig is a topic's effective value of a key that brokers also have, under the same name: the
// topic's own, else the cluster's default, else what the configuration file says.
func (p *Planner) topicConfig(topic, key, static string) string {
	if v, ok := p.Image.Config(ConfigTopic, topic)[key]; ok {
		return v
	}
	if v, ok := p.Image.Config(ConfigBroker, "")[key]; ok {
		return v
	}
	return static
}

// minISR is the number of in-sync replicas that a topic wants, never more than it has replicas.
func (p *Planner) minISR(t *Topic) int {
	n, err := strconv.Atoi(p.topicConfig(t.Name, "min.insync.replicas", strconv.Itoa(p.Rules.MinISR)))
	if err != nil || n < 1 {
		n = max(p.Rules.MinISR, 1)
	}
	if len(t.Partitions) > 0 {
		n = min(n, len(t.Partitions[0].Replicas))
	}
	return n
}

func (p *Planner) unclean(topic string) bool {
	return p.topicConfig(topic, "unclean.leader.election.enable", strconv.FormatBool(p.Rules.Unclean)) == "true"
}

func (p *Planner) elr() bool { return p.Image.Feature(FeatureELR) > 0 }

// active says that a broker may lead and join ISRs.
func (p *Planner) active(id NodeID) bool { return p.Image.Broker(id).Active() }

// defaultDir is the directory that a new replica on a broker is recorded with: its only one, or for the
// broker to choose.
func (p *Planner) defaultDir(id NodeID) UUID {
	b := p.Image.Broker(id)
	switch {
	case p.Image.MetadataVersion() < mvDirectories:
		return DirMigrating
	case b == nil:
		return DirUnassigned
	case len(b.LogDirs) == 0:
		return DirMigrating
	case len(b.LogDirs) == 1:
		return b.LogDirs[0]
	default:
		return DirUnassigned
	}
}

// dirOnline says that a replica in that directory of a broker can be used.
func (b *Broker) dirOnline(dir UUID) bool {
	switch {
	case b == nil || dir == DirLost:
		return false
	case dir == DirUnassigned || dir == DirMigrating || len(b.LogDirs) == 0:
		return true
	default:
		return slices.Contains(b.LogDirs, dir)
	}
}

// dirOf is the directory of a replica.
func (p *Partition) dirOf(id NodeID) UUID {
	if i := slices.Index(p.Replicas, id); i >= 0 && i < len(p.Dirs) {
		return p.Dirs[i]
	}
	return DirUnassigned
}
