package group

import (
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// UUID is a topic's id; zero is unknown.
type UUID = [16]byte

// Config is what the server's configuration says about groups.
type Config struct {
	MinSessionTimeout      time.Duration // group.min.session.timeout.ms
	MaxSessionTimeout      time.Duration // group.max.session.timeout.ms
	InitialRebalanceDelay  time.Duration // group.initial.rebalance.delay.ms
	MaxSize                int           // group.max.size
	OffsetsRetention       time.Duration // offsets.retention.minutes
	RetentionCheckInterval time.Duration // offsets.retention.check.interval.ms
	MaxMetadata            int           // offset.metadata.max.bytes
	ConsumerSession        Bounds        // group.consumer.session.timeout.ms, and what groups may choose
	ConsumerHeartbeat      Bounds        // group.consumer.heartbeat.interval.ms
	AssignmentInterval     Bounds        // group.consumer.assignment.interval.ms
	Node                   string        // the broker's id: its configs are in the image
	ConsumerMaxSize        int           // group.consumer.max.size
	Assignors              []string      // group.consumer.assignors; the first is the default
	RegexRefresh           time.Duration // group.consumer.regex.refresh.interval.ms
	Upgrade, Downgrade     bool          // group.consumer.migration.policy
	Warn                   func(msg string, args ...any)
}

// Bounds is a setting that a group may have a value of its own for.
type Bounds struct{ Default, Min, Max time.Duration }

// Defaults are Apache's.
func Defaults() Config {
	return Config{
		MinSessionTimeout:      6 * time.Second,
		MaxSessionTimeout:      30 * time.Minute,
		InitialRebalanceDelay:  3 * time.Second,
		MaxSize:                1<<31 - 1,
		OffsetsRetention:       7 * 24 * time.Hour,
		RetentionCheckInterval: 10 * time.Minute,
		MaxMetadata:            4096,
		ConsumerSession:        Bounds{45 * time.Second, 45 * time.Second, 60 * time.Second},
		ConsumerHeartbeat:      Bounds{5 * time.Second, 5 * time.Second, 15 * time.Second},
		AssignmentInterval:     Bounds{time.Second, 0, 15 * time.Second},
		ConsumerMaxSize:        1<<31 - 1,
		Assignors:              []string{"uniform", "range"},
		RegexRefresh:           10 * time.Minute,
		Upgrade:                true,
		Downgrade:              true,
	}
}

// newMemberJoinTimeout bounds how long a member that was added without MEMBER_ID_REQUIRED may stay unheard of
// while it waits for a rebalance to complete: its client may be gone, and without its id it can't heartbeat
// (KAFKA-9752).
const newMemberJoinTimeout = 5 * time.Minute

// Ref names a request to its driver. 0 is none.
type Ref uint64

// Input is a request, or an event of the cluster.
type Input interface {
	// Reject is the reply to the request that says only that it failed.
	Reject(kerr.Code) Output
}

// Output is a reply.
type Output interface{ output() }

// Reply answers a request.
type Reply struct {
	Ref Ref
	Out Output
}

// Effects are what the driver does for the core, in this order: append, wait for the commit, reply.
type Effects struct {
	Append  []batch.Record
	Txn     *Txn // whose transaction Append is part of, or ends; nil: none's
	Replies []Reply
}

// Protocol is one of the protocols that a member can speak, best first.
type Protocol struct {
	Name     string
	Metadata []byte
}

// Join asks for membership in the group's next generation.
type Join struct {
	Group, Member    string
	Instance         *string // static membership (KIP-345)
	ClientID         string
	ClientHost       string
	SessionTimeout   time.Duration
	RebalanceTimeout time.Duration
	ProtocolType     string
	Protocols        []Protocol
	RequireMember    bool // v4+: the member must come back with the id that MEMBER_ID_REQUIRED told it (KIP-394)
	CanSkip          bool // v9+: understands SkipAssignment (KIP-814)
	Image            *meta.Image
}

// Joined is the reply to Join.
type Joined struct {
	Code           kerr.Code
	Generation     int32
	ProtocolType   *string
	Protocol       *string
	Leader, Member string
	SkipAssignment bool
	Members        []JoinedMember // to the leader only
}

// JoinedMember tells the leader of a member.
type JoinedMember struct {
	Member   string
	Instance *string
	Metadata []byte
}

// Assignment is one member's share.
type Assignment struct {
	Member string
	Data   []byte
}

// Sync asks for the member's assignment; the leader's brings all of them.
type Sync struct {
	Group, Member string
	Instance      *string
	Generation    int32
	ProtocolType  *string // nil: not asserted
	Protocol      *string
	Assignments   []Assignment
}

// Synced is the reply to Sync.
type Synced struct {
	Code         kerr.Code
	ProtocolType *string
	Protocol     *string
	Assignment   []byte
}

// Heartbeat keeps a member's session.
type Heartbeat struct {
	Group, Member string
	Instance      *string
	Generation    int32
}

// Status is the reply to requests that have nothing but an outcome.
type Status struct {
	Code    kerr.Code
	Message string
}

// Leave takes members out of the group.
type Leave struct {
	Group   string
	Members []LeaveMember
}

// LeaveMember names one by its id, or by its instance with an empty id (an administrator's removal).
type LeaveMember struct {
	Member   string
	Instance *string
}

// Left is the reply to Leave; Codes is by the request's order, nil if Code isn't None.
type Left struct {
	Code  kerr.Code
	Codes []kerr.Code
}

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// Commit stores offsets.
type Commit struct {
	Group, Member string
	Instance      *string
	Generation    int32         // < 0: no membership
	Epochs        bool          // v9+: unknown groups are answered with GROUP_ID_NOT_FOUND
	Retention     time.Duration // < 0: the broker's
	Offsets       []CommitOffset
}

// CommitOffset is one offset of a Commit.
type CommitOffset struct {
	TopicPartition
	TopicID     UUID
	Offset      int64
	LeaderEpoch int32
	Metadata    string
}

// Codes is the reply to Commit and DeleteOffsets. If Code isn't None the request failed as a whole; else Each
// is by the request's order.
type Codes struct {
	Code kerr.Code
	Each []kerr.Code
}

// Fetch reads offsets.
type Fetch struct {
	Group         string
	Member        string
	MemberEpoch   int32 // < 0: not asserted
	All           bool  // every offset of the group, instead of Partitions
	Partitions    []TopicPartition
	RequireStable bool
}

// Fetched is the reply to Fetch: by the request's order, or all by topic and partition.
type Fetched struct {
	Code    kerr.Code
	Offsets []FetchedOffset
}

// FetchedOffset is one answer of Fetched; Offset -1 is none.
type FetchedOffset struct {
	TopicPartition
	Offset      int64
	LeaderEpoch int32
	Metadata    string
	Code        kerr.Code
}

// DeleteOffsets forgets offsets of partitions that the group isn't subscribed to.
type DeleteOffsets struct {
	Group      string
	Partitions []TopicPartition
}

// Delete forgets a group.
type Delete struct{ Group string }

// List names the groups. Filters are lower case; nil is no filter.
type List struct{ States, Types []string }

// Listed is the reply to List, by name.
type Listed struct {
	Code   kerr.Code
	Groups []ListedGroup
}

// ListedGroup is one group of Listed.
type ListedGroup struct{ Group, ProtocolType, State, Type string }

// Describe tells about a group.
type Describe struct{ Group string }

// Described is the reply to Describe.
type Described struct {
	Code         kerr.Code
	Message      string
	State        string
	ProtocolType string
	Protocol     string
	Members      []DescribedMember
}

// DescribedMember is one member of Described.
type DescribedMember struct {
	Member               string
	Instance             *string
	ClientID, ClientHost string
	Metadata, Assignment []byte
}

// TopicsDeleted drops the offsets of topics that are no more.
type TopicsDeleted struct{ Topics []string }

func (*Joined) output()    {}
func (*Synced) output()    {}
func (*Status) output()    {}
func (*Left) output()      {}
func (*Codes) output()     {}
func (*Fetched) output()   {}
func (*Listed) output()    {}
func (*Described) output() {}

// tooLarge is what a member hears whose records didn't fit into a batch.
func tooLarge(c kerr.Code) kerr.Code {
	if c == kerr.MessageTooLarge {
		return kerr.UnknownServerError
	}
	return c
}

// Reject is a Joined. It tells the member id back, unless the reply that is withdrawn would have been the
// first to tell it.
func (j *Join) Reject(c kerr.Code) Output {
	return &Joined{Code: tooLarge(c), Generation: -1, Member: j.Member}
}

// Reject is a Synced.
func (*Sync) Reject(c kerr.Code) Output { return &Synced{Code: tooLarge(c)} }

// Reject is a Status. A heartbeat is fine while the group is being loaded: the client would only lose its
// time.
func (*Heartbeat) Reject(c kerr.Code) Output {
	if c == kerr.CoordinatorLoadInProgress {
		c = kerr.None
	}
	return &Status{Code: c}
}

// Reject is a Left.
func (*Leave) Reject(c kerr.Code) Output { return &Left{Code: tooLarge(c)} }

// Reject is Codes. What is too large for a batch has its own code here.
func (*Commit) Reject(c kerr.Code) Output {
	if c == kerr.MessageTooLarge {
		c = kerr.InvalidCommitOffsetSize
	}
	return &Codes{Code: c}
}

// Reject is a Fetched.
func (*Fetch) Reject(c kerr.Code) Output { return &Fetched{Code: c} }

// Reject is Codes.
func (*DeleteOffsets) Reject(c kerr.Code) Output { return &Codes{Code: tooLarge(c)} }

// Reject is a Status.
func (*Delete) Reject(c kerr.Code) Output { return &Status{Code: tooLarge(c)} }

// Reject is a Listed. A partition that moved away has no groups to list; that is no error.
func (*List) Reject(c kerr.Code) Output {
	if c == kerr.NotCoordinator {
		c = kerr.None
	}
	return &Listed{Code: c}
}

// Reject is a Described.
func (*Describe) Reject(c kerr.Code) Output { return &Described{Code: c} }

// Reject is a Status, which nobody waits for.
func (*TopicsDeleted) Reject(c kerr.Code) Output { return &Status{Code: c} }
