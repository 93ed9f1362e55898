package broker

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The hand-written decoders accept what kmsg writes, take nothing else for more than it is, and never panic.

func FuzzProduceBody(f *testing.F) {
	for v := int16(3); v <= 13; v++ {
		req := produceTo("t", 1, -1, records(1))
		req.Version = v
		f.Add(v, req.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		if version < 3 || version > 13 {
			return
		}
		q := &produce{version: version}
		err := q.decode(body)
		if n := cap(q.parts); n > 2*len(body)+16 {
			t.Errorf("%d partitions from %d bytes", n, len(body))
		}
		req := kmsg.NewPtrProduceRequest()
		req.Version = version
		if req.ReadFrom(body) == nil && err == nil && len(req.Topics) != len(q.topics) {
			t.Errorf("%d topics, kmsg finds %d", len(q.topics), len(req.Topics))
		}
	})
}

func FuzzFetchBody(f *testing.F) {
	for v := int16(4); v <= 18; v++ {
		req := fetchFrom("t", 1, 5)
		req.Version = v
		req.SessionID, req.SessionEpoch = 7, 8
		forgotten := kmsg.NewFetchRequestForgottenTopic()
		forgotten.Topic, forgotten.Partitions = "u", []int32{1, 2}
		req.ForgottenTopics = append(req.ForgottenTopics, forgotten)
		f.Add(v, req.AppendTo(nil))
	}
	b := &Broker{}
	b.cfg.fill()
	f.Fuzz(func(t *testing.T, version int16, body []byte) {
		if version < 4 || version > 18 {
			return
		}
		q := &fetch{b: b, version: version}
		if q.decode(body) != nil {
			return
		}
		req := kmsg.NewPtrFetchRequest()
		req.Version = version
		if req.ReadFrom(body) != nil {
			return
		}
		n := 0
		for i := range req.Topics {
			n += len(req.Topics[i].Partitions)
		}
		if n != len(q.list) {
			t.Errorf("%d partitions, kmsg finds %d", len(q.list), n)
		}
		if n > 0 && q.list[0].offset != 0 && int64(q.list[0].offset) != firstOffset(req) {
			t.Errorf("offset %d, kmsg finds %d", q.list[0].offset, firstOffset(req))
		}
	})
}

func firstOffset(req *kmsg.FetchRequest) int64 {
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			return req.Topics[i].Partitions[j].FetchOffset
		}
	}
	return -1
}
