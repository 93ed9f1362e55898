package message

import "encoding/binary"

// The versions of Produce that are decoded here. v9 is flexible, v13 names topics by id.
const (
	ProduceMin     = 3
	ProduceMax     = 13
	produceFlex    = 9
	produceTopicID = 13
)

// Produce is a Produce request, v3 to v13. It is reused: Decode overwrites everything.
type Produce struct {
	Version         int16
	TransactionalID string
	Transactional   bool // a TransactionalID is given
	Acks            int16
	TimeoutMs       int32
	Topics          []ProduceTopic
	Partitions      []ProducePartition // of all topics, in order
}

// ProduceTopic is one topic: Partitions[First : First+N] of the request are its.
type ProduceTopic struct {
	Name     string // below v13; aliases the body
	ID       [16]byte
	First, N int
}

// ProducePartition is one partition's records. Records alias the body; nil is null.
type ProducePartition struct {
	Index   int32
	Records []byte
}

// Decode reads a request body. Trailing bytes are ignored, as Apache does.
func (p *Produce) Decode(version int16, body []byte) error {
	r := reader{b: body, flex: version >= produceFlex}
	p.Version = version
	p.TransactionalID, p.Transactional = r.string()
	p.Acks = r.int16()
	p.TimeoutMs = r.int32()
	p.Topics, p.Partitions = p.Topics[:0], p.Partitions[:0]
	for n := r.count(3); n > 0 && !r.bad; n-- {
		p.decodeTopic(&r)
	}
	r.skipTags()
	return r.err()
}

func (p *Produce) decodeTopic(r *reader) {
	t := ProduceTopic{First: len(p.Partitions)}
	if p.Version >= produceTopicID {
		t.ID = r.uuid()
	} else {
		t.Name, _ = r.string()
	}
	for n := r.count(5); n > 0 && !r.bad; n-- {
		p.Partitions = append(p.Partitions, ProducePartition{Index: r.int32(), Records: r.bytes()})
		r.skipTags()
	}
	t.N = len(p.Partitions) - t.First
	r.skipTags()
	p.Topics = append(p.Topics, t)
}

// ProduceResult is the outcome for one partition.
type ProduceResult struct {
	Code        int16
	BaseOffset  int64 // -1 on an error
	AppendTime  int64 // ms, -1 unless the topic stamps its own time
	LogStart    int64
	BadRecords  []int32 // indices of the records at fault, v8
	Message     string  // v8
	LeaderID    int32   // v10, told with NOT_LEADER_OR_FOLLOWER; -1 otherwise
	LeaderEpoch int32
}

// AppendResponse appends the response body: results are in the order of p.Partitions.
func (p *Produce) AppendResponse(b []byte, results []ProduceResult, nodes []Node, throttleMs int32) []byte {
	flex := p.Version >= produceFlex
	b = appendCount(b, flex, len(p.Topics))
	for i := range p.Topics {
		t := &p.Topics[i]
		if p.Version >= produceTopicID {
			b = append(b, t.ID[:]...)
		} else {
			b = appendString(b, flex, t.Name)
		}
		b = appendCount(b, flex, t.N)
		for j := t.First; j < t.First+t.N; j++ {
			b = binary.BigEndian.AppendUint32(b, uint32(p.Partitions[j].Index))
			b = results[j].append(b, p.Version)
		}
		if flex {
			b = append(b, 0)
		}
	}
	b = binary.BigEndian.AppendUint32(b, uint32(throttleMs))
	switch {
	case p.Version >= 10:
		return appendNodes(b, nodes)
	case flex:
		return append(b, 0)
	}
	return b
}

func (o *ProduceResult) append(b []byte, version int16) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(o.Code))
	b = binary.BigEndian.AppendUint64(b, uint64(o.BaseOffset))
	b = binary.BigEndian.AppendUint64(b, uint64(o.AppendTime))
	if version >= 5 {
		b = binary.BigEndian.AppendUint64(b, uint64(o.LogStart))
	}
	if version < 8 {
		return b
	}
	flex := version >= produceFlex
	b = appendCount(b, flex, len(o.BadRecords))
	for _, i := range o.BadRecords {
		b = binary.BigEndian.AppendUint32(b, uint32(i))
		b = appendNullable(b, flex, o.Message)
		if flex {
			b = append(b, 0)
		}
	}
	b = appendNullable(b, flex, o.Message)
	switch {
	case version >= 10 && o.LeaderID >= 0:
		b = append(b, 1)
		b = appendTag(b, 0, 9)
		b = binary.BigEndian.AppendUint32(b, uint32(o.LeaderID))
		b = binary.BigEndian.AppendUint32(b, uint32(o.LeaderEpoch))
		return append(b, 0)
	case flex:
		return append(b, 0)
	}
	return b
}
