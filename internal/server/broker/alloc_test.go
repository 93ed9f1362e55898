package broker

import (
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// replay sends one prepared request again and again, without allocating itself.
type replay struct {
	*raw
	req []byte
	buf []byte
}

func (c *raw) replay(req kmsg.Request, version int16) *replay {
	req.SetVersion(version)
	return &replay{c, (&kmsg.RequestFormatter{}).AppendRequest(nil, req, 1), make([]byte, 4<<20)}
}

func (r *replay) round() {
	if _, err := r.Write(r.req); err != nil {
		r.t.Fatal(err)
	}
	r.read()
}

func (r *replay) read() {
	if _, err := io.ReadFull(r, r.buf[:4]); err != nil {
		r.t.Fatal(err)
	}
	if _, err := io.ReadFull(r, r.buf[:binary.BigEndian.Uint32(r.buf)]); err != nil {
		r.t.Fatal(err)
	}
}

func TestNoAllocationPerRequest(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	f.raw().produce("t", records(1000), 9) // big enough for sendfile
	for _, k := range []struct {
		name    string
		req     kmsg.Request
		version int16
	}{
		{"produce v9", produceTo("t", 0, -1, records(100)), 9},
		{"produce v13", produceTo("t", 0, 1, records(1)), 13},
		{"fetch v11, a file's range", fetchFrom("t", 0, 0), 11},
		{"fetch v18, a file's range", fetchFrom("t", 0, 0), 18},
		{"fetch v12, nothing there", fetchFrom("t", 0, 1000), 12},
	} {
		if k.name == "fetch v12, nothing there" {
			f.topic("u", 1)
			k.req = fetchFrom("u", 0, 0)
		}
		r := f.raw().replay(k.req, k.version)
		r.round()
		if n := testing.AllocsPerRun(300, r.round); n > allocBudget {
			t.Errorf("%s: %v allocations a request", k.name, n)
		}
	}
}

// What clients ask all the time beside records allocates little, and no more for being asked often.
func TestFewAllocationsPerRequest(t *testing.T) {
	f := start(t)
	f.topic("t", 10)
	offsets := kmsg.NewPtrListOffsetsRequest()
	end := kmsg.NewListOffsetsRequestTopic()
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Timestamp = -1
	end.Topic, end.Partitions = "t", append(end.Partitions, part)
	offsets.Topics = append(offsets.Topics, end)
	metadata := kmsg.NewPtrMetadataRequest()
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = new("t")
	metadata.Topics = append(metadata.Topics, topic)
	for _, k := range []struct {
		name    string
		req     kmsg.Request
		version int16
		budget  float64
	}{
		{"ApiVersions", kmsg.NewPtrApiVersionsRequest(), 3, 6},
		{"Metadata of a topic of 10 partitions", metadata, 12, 25},
		{"ListOffsets", offsets, 7, 14},
	} {
		r := f.raw().replay(k.req, k.version)
		r.round()
		n := testing.AllocsPerRun(200, r.round)
		if n > k.budget && allocBudget < 1 {
			t.Errorf("%s: %v allocations a request, at most %v", k.name, n, k.budget)
		}
	}
}

// A consumer that waits, and a producer that ends its wait: both without allocation.
func TestNoAllocationPerWait(t *testing.T) {
	f := start(t)
	f.topic("t", 1, "segment.bytes=1048576")
	produce := f.raw().replay(produceTo("t", 0, -1, records(1)), 9)
	produce.round()
	req := fetchFrom("t", 0, 0x1122334455667788)
	req.MaxWaitMillis = 10000
	fetch := f.raw().replay(req, 12)
	offset := bytes.Index(fetch.req, []byte("\x11\x22\x33\x44\x55\x66\x77\x88"))
	at := func() { binary.BigEndian.PutUint64(fetch.req[offset:], uint64(f.Partition("t", 0).LEO())) }
	n := testing.AllocsPerRun(300, func() {
		at()
		if _, err := fetch.Write(fetch.req); err != nil {
			t.Fatal(err)
		}
		for f.m.ParkedFetch.Load() == 0 {
			runtime.Gosched()
		}
		produce.round()
		fetch.read()
	})
	if n > allocBudget {
		t.Errorf("%v allocations a wait", n)
	}
}
