package kraft

import (
	"fmt"
	"time"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
)

// ID is a node.id. Negative: none (-1), or the n-th bootstrap server (-2-n) as the destination of a request.
type ID = int32

// NoID is the absent node.
const NoID ID = -1

// Offset is a place in the metadata log. The formats own it, and the types below.
type Offset = batch.Offset

// Epoch is a leadership's number.
type Epoch = batch.Epoch

// Key is a replica: its id, and the directory that holds its log.
type Key = record.ReplicaKey

// Voter is one member of a voter set.
type Voter = record.Voter

// Endpoint is where a voter listens under one listener name.
type Endpoint = record.VoterEndpoint

// NoOffset is an offset that isn't known.
const NoOffset Offset = -1

// Code is a Kafka error code, as far as these requests use them.
type Code int16

// Error codes on the wire.
const (
	Unknown            Code = -1
	None               Code = 0
	NotLeader          Code = 6
	BrokerNotAvailable Code = 8
	ClusterAuthFailed  Code = 31
	UnsupportedVersion Code = 35
	InvalidRequest     Code = 42
	FencedEpoch        Code = 74
	UnknownEpoch       Code = 75
	SnapshotNotFound   Code = 98
	PositionOutOfRange Code = 99
	InvalidVoterKey    Code = 125
)

// Role is the state that a replica is in.
type Role uint8

// The states of kraft.md 1.4.
const (
	Unattached Role = iota
	Prospective
	Candidate
	Leader
	Follower
	Resigned
	roles
)

func (r Role) String() string {
	return [...]string{"unattached", "prospective", "candidate", "leader", "follower", "resigned"}[r]
}

// SnapshotID names a snapshot: the state after every record below Offset, the last of which is of Epoch.
type SnapshotID struct {
	Offset Offset
	Epoch  Epoch
}

func (s SnapshotID) String() string { return fmt.Sprintf("%d-%d", s.Offset, s.Epoch) }

// EpochStart is an entry of the leader epoch cache.
type EpochStart struct {
	Epoch Epoch
	Start Offset
}

// EpochEnd is the first offset past an epoch.
type EpochEnd struct {
	Epoch Epoch
	End   Offset
}

// Election is what the quorum-state file holds. Version is the finalized kraft.version, which picks the
// file's format.
type Election struct {
	Epoch   Epoch
	Leader  ID  // NoID: none
	Voted   Key // ID NoID: none
	Version int16
	Voters  []ID // of a static quorum; version 0 of the file lists them
}

// Control is a control record that the core must know about.
type Control struct {
	Offset  Offset
	Voters  []Voter // nil: not a voter set
	Version int16   // -1: not a kraft.version
}

// Batch is one batch of the log, as bytes and by what the core needs to know of them.
type Batch struct {
	Base, Last Offset
	Epoch      Epoch
	Data       []byte
	Control    []Control
}

// Canary plants a bug, so that the simulation can show that it would find one.
type Canary uint8

// The bugs. Only the simulation's own test sets one.
const (
	NoCanary         Canary = iota
	CanaryOldEpochs         // a leader counts replicas for records of earlier epochs (Raft's figure 8)
	CanaryForgetVote        // a vote given is no reason not to give another
	CanaryEarlyFetch        // a follower acknowledges what it hasn't synced
)

// Config is a replica's identity and settings. All durations must be positive.
type Config struct {
	Self      Key
	CanVote   bool       // a controller; a broker is always an observer
	Listener  string     // the controller listener's name that voters use among themselves
	Endpoints []Endpoint // own, for the voter set
	Static    []Voter    // controller.quorum.voters
	Bootstrap []Endpoint // controller.quorum.bootstrap.servers; Name is ignored

	ElectionTimeout time.Duration
	BackoffMax      time.Duration
	FetchTimeout    time.Duration
	FetchWait       time.Duration // MaxWait of fetches, 500 ms
	RequestTimeout  time.Duration
	RetryBackoff    time.Duration

	FetchMaxBytes    int32
	SnapshotMaxBytes int32

	Seed   uint64
	Canary Canary
}

// Loaded is what the disk held. Control comes in log order, those of the latest snapshot first, at its end
// offset - 1.
type Loaded struct {
	Election Election
	Log      Log
	Control  []Control
}
