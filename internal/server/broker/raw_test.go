package broker

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/batch"
)

// raw is a connection that speaks any version of any request.
type raw struct {
	net.Conn
	t    testing.TB
	corr int32
}

func (f *fixture) raw() *raw {
	f.t.Helper()
	c, err := net.Dial("tcp", f.addr)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return &raw{Conn: c, t: f.t}
}

func (c *raw) send(req kmsg.Request, version int16) {
	c.t.Helper()
	req.SetVersion(version)
	c.corr++
	b := (&kmsg.RequestFormatter{}).AppendRequest(nil, req, c.corr)
	if _, err := c.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

// body reads one reply without its header.
func (c *raw) body(flexible bool) []byte {
	c.t.Helper()
	var size [4]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		c.t.Fatal(err)
	}
	b := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(c, b); err != nil {
		c.t.Fatal(err)
	}
	if got := int32(binary.BigEndian.Uint32(b)); got != c.corr {
		c.t.Fatalf("reply to %d, want %d", got, c.corr)
	}
	if flexible {
		return b[5:]
	}
	return b[4:]
}

// do sends req and reads the reply, which must be exactly one response of that version.
func do[R kmsg.Response](c *raw, req kmsg.Request, version int16) R {
	c.t.Helper()
	c.send(req, version)
	resp := req.ResponseKind()
	resp.SetVersion(version)
	b := c.body(req.IsFlexible())
	if err := resp.ReadFrom(b); err != nil {
		c.t.Fatalf("%T v%d: %v in %x", resp, version, err, b)
	}
	if again := resp.AppendTo(nil); len(again) != len(b) {
		c.t.Fatalf("%T v%d: reply of %d bytes, kmsg writes %d: %x", resp, version, len(b), len(again), b)
	}
	return resp.(R)
}

// closed expects the end of the connection without a reply.
func (c *raw) closed() {
	c.t.Helper()
	if b, err := io.ReadAll(c); len(b) > 0 {
		c.t.Fatalf("got %x, %v; want the end", b, err)
	}
}

// records is a batch of n records, changed by opts.
func records(n int, opts ...func(*batch.Meta)) []byte {
	m := batch.NoProducer(0, 0, time.Now().UnixMilli())
	for _, o := range opts {
		o(&m)
	}
	recs := make([]batch.Record, n)
	for i := range recs {
		recs[i] = batch.Record{OffsetDelta: int32(i), Key: []byte("k"), Value: []byte("value")}
	}
	b, err := batch.Build(nil, m, recs)
	if err != nil {
		panic(err)
	}
	return b
}

func idempotent(id int64, epoch int16, seq int32) func(*batch.Meta) {
	return func(m *batch.Meta) { m.ProducerID, m.ProducerEpoch, m.BaseSequence = id, epoch, seq }
}

// produceTo is a Produce request for one partition, by name and by id.
func produceTo(topic string, n int32, acks int16, b []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, 1000
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.TopicID = topic, topicID(topic)
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = n, b
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func (c *raw) produce(topic string, b []byte, version int16) kmsg.ProduceResponseTopicPartition {
	c.t.Helper()
	resp := do[*kmsg.ProduceResponse](c, produceTo(topic, 0, -1, b), version)
	return resp.Topics[0].Partitions[0]
}

// fetchFrom is a Fetch request for one partition.
func fetchFrom(topic string, n int32, offset int64) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.MinBytes, req.MaxWaitMillis, req.ReplicaID, req.SessionEpoch = 1<<20, 1, 0, -1, -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = topic, topicID(topic)
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch = n, offset, 1<<20, -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func (c *raw) fetch(topic string, offset int64, version int16) kmsg.FetchResponseTopicPartition {
	c.t.Helper()
	resp := do[*kmsg.FetchResponse](c, fetchFrom(topic, 0, offset), version)
	if resp.ErrorCode != 0 {
		c.t.Fatalf("error %d of the whole fetch", resp.ErrorCode)
	}
	return resp.Topics[0].Partitions[0]
}
