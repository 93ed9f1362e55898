package kraft

import "time"

// Input is anything that happens to the core: a request, an answer, or news of the disk.
type Input interface{ input() }

// Received is a request of another node. The reply carries the tag.
type Received struct {
	Tag      uint64
	Listener string // it came in on; empty: the default one
	Body     Request
}

// Answered is the response to the request that left under this tag.
type Answered struct {
	Tag  uint64
	Body Response
}

// Failed says that no response comes to the request that left under this tag.
type Failed struct {
	Tag         uint64
	Unsupported bool // the peer doesn't know this version of the request
}

// Synced says that the log is durable below End.
type Synced struct{ End Offset }

// Installed ends an Install: the log now starts and ends at ID.Offset. Control is what the snapshot held.
// When Broken, the snapshot was no good and is gone, the log as before.
type Installed struct {
	ID      SnapshotID
	Control []Control
	Broken  bool
}

// Taken says that a snapshot of this node's own state machine is on disk.
type Taken struct{ ID SnapshotID }

// Trimmed says that the log now starts at Start, and that snapshots below it are gone.
type Trimmed struct{ Start Offset }

// Resign gives up leadership, if Epoch is still the current one.
type Resign struct{ Epoch Epoch }

// Shutdown asks for a graceful end: a leader resigns, and no elections are started. Quiet tells when to stop.
type Shutdown struct{}

// Request is one of the requests of the protocol.
type Request interface{ request() }

// Response is one of the answers.
type Response interface{ status() *Status }

// Status opens every response.
type Status struct {
	Top    Code // of the whole request, when the partition was not even looked at
	Error  Code // of the partition
	Leader ID   // whom the responder takes for the leader; NoID when it knows none
	Epoch  Epoch
	At     []Endpoint // of that leader on the request's listener
}

func (s *Status) status() *Status { return s }

// VoteRequest asks for a vote, or for the promise of one.
type VoteRequest struct {
	Candidate Key
	Voter     Key // whom the candidate believes to ask; ID NoID or a zero Dir match anybody
	Epoch     Epoch
	LastEpoch Epoch  // of the candidate's last record
	End       Offset // of the candidate's log
	Pre       bool
}

// VoteResponse answers a VoteRequest.
type VoteResponse struct {
	Status
	Granted bool
}

// BeginRequest announces a leader to a voter.
type BeginRequest struct {
	Voter  Key
	Leader ID
	Epoch  Epoch
	At     []Endpoint
}

// BeginResponse answers a BeginRequest.
type BeginResponse struct{ Status }

// EndRequest says that a leader has resigned, and who should be next.
type EndRequest struct {
	Leader     ID
	Epoch      Epoch
	Successors []Key // best first
	At         []Endpoint
}

// EndResponse answers an EndRequest.
type EndResponse struct{ Status }

// FetchRequest asks for the log from Offset on and acknowledges everything below.
type FetchRequest struct {
	From          Key // ID NoID: not a replica
	Epoch         Epoch
	Offset        Offset
	LastEpoch     Epoch
	HighWatermark Offset // NoOffset: unknown; NoHighWatermark: a version without it
	MaxWait       time.Duration
	MaxBytes      int32
}

// NoHighWatermark is the FetchRequest.HighWatermark of versions below 18.
const NoHighWatermark Offset = 1<<63 - 1

// FetchResponse answers a FetchRequest. A response that leaves the core names what to read of the log, one
// that comes in brings the batches.
type FetchResponse struct {
	Status
	HighWatermark Offset
	LogStart      Offset
	Diverging     *EpochEnd
	Snapshot      *SnapshotID

	Read     bool // out: the log from ReadFrom on, at most MaxBytes but at least a batch
	ReadFrom Offset
	MaxBytes int32
	Records  []byte // out: what the driver has read

	Batches []Batch // in: whole, with good checksums
	Bad     bool    // in: something after Batches was unusable
}

// SnapshotRequest asks for bytes of a snapshot.
type SnapshotRequest struct {
	From     Key
	Epoch    Epoch
	ID       SnapshotID
	Position int64
	MaxBytes int32
}

// SnapshotResponse answers a SnapshotRequest. Leaving with Error None, Size and Data are the driver's to fill
// in (or the errors SnapshotNotFound and PositionOutOfRange to set).
type SnapshotResponse struct {
	Status
	ID       SnapshotID
	Size     int64
	Position int64
	Data     []byte
	MaxBytes int32 // out
}

// DescribeRequest asks the leader how the replicas are.
type DescribeRequest struct{}

// DescribeResponse answers a DescribeRequest.
type DescribeResponse struct {
	Status
	HighWatermark Offset
	Voters        []Replica
	Observers     []Replica
	Nodes         []Voter
}

// Replica is one line of a DescribeResponse; -1 is unknown, times are ms.
type Replica struct {
	Key
	End          Offset
	LastFetch    int64
	LastCaughtUp int64
}

func (Received) input()           {}
func (Answered) input()           {}
func (Failed) input()             {}
func (Synced) input()             {}
func (Installed) input()          {}
func (Taken) input()              {}
func (Trimmed) input()            {}
func (Resign) input()             {}
func (Shutdown) input()           {}
func (*VoteRequest) request()     {}
func (*BeginRequest) request()    {}
func (*EndRequest) request()      {}
func (*FetchRequest) request()    {}
func (*SnapshotRequest) request() {}
func (DescribeRequest) request()  {}

// Effects is what must happen now: Election made durable, then Disk in order, then Replies and Sends in any
// order.
type Effects struct {
	Election *Election
	Disk     []DiskOp
	Replies  []Reply
	Sends    []Send
	Notes    []string // for the log
	Fatal    error    // the node must stop: going on would be unsafe
}

// Empty says that there is nothing to do.
func (e *Effects) Empty() bool {
	return e.Election == nil && e.Fatal == nil && len(e.Disk)+len(e.Replies)+len(e.Sends)+len(e.Notes) == 0
}

// DiskOp is one of Append, Truncate, WritePart, Install, Discard.
type DiskOp interface{ diskOp() }

// Append adds a batch to the log. Whoever does it reports Synced.
type Append struct{ Batch Batch }

// Truncate removes everything at and after To.
type Truncate struct{ To Offset }

// WritePart adds bytes to the unfinished snapshot ID; Position 0 starts it anew.
type WritePart struct {
	ID       SnapshotID
	Position int64
	Data     []byte
}

// Install makes the unfinished snapshot the state, and the log empty at its end. It is answered by Installed.
type Install struct{ ID SnapshotID }

// Discard forgets an unfinished snapshot.
type Discard struct{ ID SnapshotID }

func (Append) diskOp()    {}
func (Truncate) diskOp()  {}
func (WritePart) diskOp() {}
func (Install) diskOp()   {}
func (Discard) diskOp()   {}

// Reply answers the request received under Tag.
type Reply struct {
	Tag  uint64
	Body Response
}

// Send is a request to another node. A new request to a node abandons the one before.
type Send struct {
	Tag  uint64
	To   ID
	At   Endpoint
	Body Request
}
