package group

import (
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
)

// ConsumerHeartbeat is all that a member of the consumer protocol ever asks: to be in, to stay, to leave.
// What is nil is as it was.
type ConsumerHeartbeat struct {
	Group, Member        string
	Epoch                int32 // 0 joins, -1 leaves, -2 leaves for now (static members)
	Instance, Rack       *string
	ClientID, ClientHost string
	RebalanceTimeout     time.Duration // < 0: as it was
	Topics               []string
	Regex, Assignor      *string
	Owned                []Partition
	Image                *meta.Image
}

// Partition names a partition by its topic's id.
type Partition = part

// NewPartition is partition n of a topic.
func NewPartition(topic UUID, n int32) Partition { return part{topic, n} }

// Topic is the topic's id.
func (p part) Topic() UUID { return p.topic }

// Number is the partition's.
func (p part) Number() int32 { return p.n }

// ConsumerBeat is the reply to ConsumerHeartbeat.
type ConsumerBeat struct {
	Code       kerr.Code
	Message    string
	Member     string
	Epoch      int32
	Interval   time.Duration
	Assignment []Partition // nil: as it was
}

// DescribeConsumers tells about a group of the consumer protocol.
type DescribeConsumers struct {
	Group string
	Image *meta.Image
}

// ConsumersDescribed is the reply to DescribeConsumers.
type ConsumersDescribed struct {
	Code                   kerr.Code
	Message                string
	State                  string
	Epoch, AssignmentEpoch int32
	Assignor               string
	Members                []DescribedConsumer
}

// DescribedConsumer is one member of ConsumersDescribed.
type DescribedConsumer struct {
	Member               string
	Instance, Rack       *string
	Epoch                int32
	ClientID, ClientHost string
	Topics               []string
	Regex                string
	Has, Target          []Partition
	Classic              bool
}

func (*ConsumerBeat) output()       {}
func (*ConsumersDescribed) output() {}

// Reject is a ConsumerBeat.
func (*ConsumerHeartbeat) Reject(c kerr.Code) Output { return &ConsumerBeat{Code: tooLarge(c)} }

// Reject is a ConsumersDescribed.
func (*DescribeConsumers) Reject(c kerr.Code) Output { return &ConsumersDescribed{Code: c} }

func (c *Core) onDescribeConsumers(in *DescribeConsumers) Output {
	c.see(in.Image)
	g := c.group(in.Group)
	if g == nil {
		return &ConsumersDescribed{Code: kerr.GroupIDNotFound, Message: "Group " + in.Group + " not found."}
	}
	if g.consumers == nil {
		return &ConsumersDescribed{
			Code: kerr.GroupIDNotFound, Message: "Group " + in.Group + " is not a consumer group.",
		}
	}
	s := g.consumers
	out := &ConsumersDescribed{
		State: s.state(), Epoch: s.epoch, AssignmentEpoch: s.assignmentEpoch, Assignor: s.preferred(&c.cfg),
	}
	for _, m := range s.all() {
		out.Members = append(out.Members, DescribedConsumer{
			Member: m.id, Instance: m.instance, Rack: m.rack, Epoch: m.epoch, ClientID: m.clientID,
			ClientHost: m.clientHost, Topics: m.topics, Regex: m.regex,
			Has: m.assigned.merge(m.revoking).parts(), Target: s.target[m.id], Classic: m.classic != nil,
		})
	}
	return out
}
