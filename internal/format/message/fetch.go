package message

import "encoding/binary"

// The versions of Fetch that are decoded here. v12 is flexible, v13 names topics by id.
const (
	FetchMin     = 4
	FetchMax     = 18
	fetchFlex    = 12
	fetchTopicID = 13
)

// Fetch is a Fetch request, v4 to v18. It is reused: Decode overwrites everything.
type Fetch struct {
	Version             int16
	ClusterID           string // v12, "" is none; aliases the body
	ReplicaID           int32  // -1 for consumers
	ReplicaEpoch        int64  // v15, -1 unknown
	MaxWaitMs           int32
	MinBytes, MaxBytes  int32
	ReadCommitted       bool
	SessionID           int32
	SessionEpoch        int32 // -1 below v7
	Topics              []FetchTopic
	Partitions          []FetchPartition
	Forgotten           []FetchTopic // ForgottenPartitions[First : First+N] are its
	ForgottenPartitions []int32
	Rack                string
}

// FetchTopic is one topic: Partitions[First : First+N] of the request are its.
type FetchTopic struct {
	Name     string // below v13; aliases the body
	ID       [16]byte
	First, N int
}

// FetchPartition is what is asked of one partition.
type FetchPartition struct {
	Index            int32
	LeaderEpoch      int32 // -1: not checked
	Offset           int64
	LastFetchedEpoch int32 // -1: none
	LogStart         int64 // the follower's, -1 for consumers
	MaxBytes         int32
	DirectoryID      [16]byte // the follower's, v17
	HighWatermark    int64    // the replica's, v18: math.MaxInt64 when it doesn't tell
}

// ByID says that topics are named by id.
func (f *Fetch) ByID() bool { return f.Version >= fetchTopicID }

// Decode reads a request body. Trailing bytes are ignored, as Apache does.
func (f *Fetch) Decode(version int16, body []byte) error {
	r := reader{b: body, flex: version >= fetchFlex}
	f.Version = version
	f.ClusterID, f.ReplicaID, f.ReplicaEpoch = "", -1, -1
	if version <= 14 {
		f.ReplicaID = r.int32()
	}
	f.MaxWaitMs = r.int32()
	f.MinBytes, f.MaxBytes = r.int32(), r.int32()
	f.ReadCommitted = r.int8() == 1
	f.SessionID, f.SessionEpoch = 0, -1
	if version >= 7 {
		f.SessionID, f.SessionEpoch = r.int32(), r.int32()
	}
	f.Topics, f.Partitions = f.Topics[:0], f.Partitions[:0]
	for n := r.count(3); n > 0 && !r.bad; n-- {
		f.decodeTopic(&r)
	}
	f.Forgotten, f.ForgottenPartitions = f.Forgotten[:0], f.ForgottenPartitions[:0]
	if version >= 7 {
		for n := r.count(3); n > 0 && !r.bad; n-- {
			f.decodeForgotten(&r)
		}
	}
	f.Rack = ""
	if version >= 11 {
		f.Rack, _ = r.string()
	}
	r.tags(f.tag)
	return r.err()
}

func (f *Fetch) tag(tag uint32, v *reader) {
	switch tag {
	case 0:
		f.ClusterID, _ = v.string()
	case 1:
		f.ReplicaID, f.ReplicaEpoch = v.int32(), v.int64()
	}
}

func (f *Fetch) decodeName(r *reader) (t FetchTopic) {
	if f.ByID() {
		t.ID = r.uuid()
	} else {
		t.Name, _ = r.string()
	}
	return t
}

func (f *Fetch) decodeTopic(r *reader) {
	t := f.decodeName(r)
	t.First = len(f.Partitions)
	for n := r.count(16); n > 0 && !r.bad; n-- {
		f.decodePartition(r)
	}
	t.N = len(f.Partitions) - t.First
	r.skipTags()
	f.Topics = append(f.Topics, t)
}

func (f *Fetch) decodePartition(r *reader) {
	p := FetchPartition{Index: r.int32(), LeaderEpoch: -1, LastFetchedEpoch: -1, LogStart: -1}
	p.HighWatermark = 1<<63 - 1
	if f.Version >= 9 {
		p.LeaderEpoch = r.int32()
	}
	p.Offset = r.int64()
	if f.Version >= fetchFlex {
		p.LastFetchedEpoch = r.int32()
	}
	if f.Version >= 5 {
		p.LogStart = r.int64()
	}
	p.MaxBytes = r.int32()
	if r.flex && len(r.b) > 0 && r.b[0] == 0 {
		r.b = r.b[1:] // no tags: what consumers send
	} else {
		r.tags(p.tag)
	}
	f.Partitions = append(f.Partitions, p)
}

func (p *FetchPartition) tag(tag uint32, v *reader) {
	switch tag {
	case 0:
		p.DirectoryID = v.uuid()
	case 1:
		p.HighWatermark = v.int64()
	}
}

func (f *Fetch) decodeForgotten(r *reader) {
	t := f.decodeName(r)
	t.First = len(f.ForgottenPartitions)
	for n := r.count(4); n > 0 && !r.bad; n-- {
		f.ForgottenPartitions = append(f.ForgottenPartitions, r.int32())
	}
	t.N = len(f.ForgottenPartitions) - t.First
	r.skipTags()
	f.Forgotten = append(f.Forgotten, t)
}

// FetchAborted is one aborted transaction in the range of a response.
type FetchAborted struct{ ProducerID, FirstOffset int64 }

// FetchResult is the outcome for one partition, but for its records.
type FetchResult struct {
	Index            int32
	Code             int16
	HighWatermark    int64
	LastStable       int64
	LogStart         int64
	Aborted          []FetchAborted // nil is null: of read_uncommitted
	PreferredReplica int32          // -1: the leader
	DivergingEpoch   int32          // -1 with DivergingEnd -1: none
	DivergingEnd     int64
	LeaderID         int32 // -1 with LeaderEpoch -1: not told
	LeaderEpoch      int32
}

// NewFetchResult is a result that tells nothing yet.
func NewFetchResult(index int32) FetchResult {
	return FetchResult{
		Index: index, HighWatermark: -1, LastStable: -1, LogStart: -1,
		PreferredReplica: -1, DivergingEpoch: -1, DivergingEnd: -1, LeaderID: -1, LeaderEpoch: -1,
	}
}

// AppendHead begins a response of the given number of topics.
func (f *Fetch) AppendHead(b []byte, code int16, session int32, topics int, throttleMs int32) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(throttleMs))
	if f.Version >= 7 {
		b = binary.BigEndian.AppendUint16(b, uint16(code))
		b = binary.BigEndian.AppendUint32(b, uint32(session))
	}
	return appendCount(b, f.Version >= fetchFlex, topics)
}

// AppendTopic begins a topic of the given number of partitions.
func (f *Fetch) AppendTopic(b []byte, name string, id [16]byte, partitions int) []byte {
	flex := f.Version >= fetchFlex
	if f.ByID() {
		b = append(b, id[:]...)
	} else {
		b = appendString(b, flex, name)
	}
	return appendCount(b, flex, partitions)
}

// AppendPartition appends everything up to the records, whose size in bytes is n; they follow, then
// AppendPartitionTail.
func (f *Fetch) AppendPartition(b []byte, o *FetchResult, n int) []byte {
	flex := f.Version >= fetchFlex
	b = binary.BigEndian.AppendUint32(b, uint32(o.Index))
	b = binary.BigEndian.AppendUint16(b, uint16(o.Code))
	b = binary.BigEndian.AppendUint64(b, uint64(o.HighWatermark))
	b = binary.BigEndian.AppendUint64(b, uint64(o.LastStable))
	if f.Version >= 5 {
		b = binary.BigEndian.AppendUint64(b, uint64(o.LogStart))
	}
	if o.Aborted == nil {
		b = appendNull(b, flex)
	} else {
		b = appendCount(b, flex, len(o.Aborted))
	}
	for _, a := range o.Aborted {
		b = binary.BigEndian.AppendUint64(b, uint64(a.ProducerID))
		b = binary.BigEndian.AppendUint64(b, uint64(a.FirstOffset))
		if flex {
			b = append(b, 0)
		}
	}
	if f.Version >= 11 {
		b = binary.BigEndian.AppendUint32(b, uint32(o.PreferredReplica))
	}
	return appendCount(b, flex, n)
}

// AppendPartitionTail ends a partition.
func (f *Fetch) AppendPartitionTail(b []byte, o *FetchResult) []byte {
	if f.Version < fetchFlex {
		return b
	}
	diverges := o.DivergingEpoch != -1 || o.DivergingEnd != -1
	leader := o.LeaderID != -1 || o.LeaderEpoch != -1
	n := byte(0)
	if diverges {
		n++
	}
	if leader {
		n++
	}
	b = append(b, n)
	if diverges {
		b = appendTag(b, 0, 13)
		b = binary.BigEndian.AppendUint32(b, uint32(o.DivergingEpoch))
		b = binary.BigEndian.AppendUint64(b, uint64(o.DivergingEnd))
		b = append(b, 0)
	}
	if leader {
		b = appendTag(b, 1, 9)
		b = binary.BigEndian.AppendUint32(b, uint32(o.LeaderID))
		b = binary.BigEndian.AppendUint32(b, uint32(o.LeaderEpoch))
		b = append(b, 0)
	}
	return b
}

// AppendTopicTail ends a topic.
func (f *Fetch) AppendTopicTail(b []byte) []byte {
	if f.Version < fetchFlex {
		return b
	}
	return append(b, 0)
}

// AppendTail ends a response.
func (f *Fetch) AppendTail(b []byte, nodes []Node) []byte {
	switch {
	case f.Version >= 16:
		return appendNodes(b, nodes)
	case f.Version >= fetchFlex:
		return append(b, 0)
	}
	return b
}
