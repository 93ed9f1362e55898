package message

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var id1 = [16]byte{1, 2, 3}

func produceRequest(v int16) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = v, -1, 1500
	txn := "txn"
	req.TransactionID = &txn
	for _, n := range []int{2, 1} {
		t := kmsg.NewProduceRequestTopic()
		if v >= 13 {
			t.TopicID = id1
		} else {
			t.Topic = fmt.Sprintf("topic-%d", n)
		}
		for i := range n {
			p := kmsg.NewProduceRequestTopicPartition()
			p.Partition, p.Records = int32(i), []byte(strings.Repeat("r", i+1))
			t.Partitions = append(t.Partitions, p)
		}
		req.Topics = append(req.Topics, t)
	}
	return req
}

func TestProduce_AgreesWithKmsg(t *testing.T) {
	for v := int16(ProduceMin); v <= ProduceMax; v++ {
		var p Produce
		if err := p.Decode(v, produceRequest(v).AppendTo(nil)); err != nil {
			t.Fatalf("v%d: %v", v, err)
		}
		if p.TransactionalID != "txn" || !p.Transactional || p.Acks != -1 || p.TimeoutMs != 1500 {
			t.Errorf("v%d: %+v", v, p)
		}
		want := []ProducePartition{{0, []byte("r")}, {1, []byte("rr")}, {0, []byte("r")}}
		if d := cmp.Diff(want, p.Partitions); d != "" {
			t.Errorf("v%d: %s", v, d)
		}
		checkProduceResponse(t, &p)
	}
}

func checkProduceResponse(t *testing.T, p *Produce) {
	t.Helper()
	results := []ProduceResult{
		{BaseOffset: 7, AppendTime: 8, LogStart: 2, LeaderID: -1},
		{Code: 87, BaseOffset: -1, AppendTime: -1, LogStart: -1, BadRecords: []int32{3}, Message: "bad", LeaderID: -1},
		{Code: 6, BaseOffset: -1, AppendTime: -1, LogStart: -1, LeaderID: 4, LeaderEpoch: 5},
	}
	b := p.AppendResponse(nil, results, []Node{{ID: 4, Host: "h", Port: 9092}}, 11)
	resp := kmsg.NewPtrProduceResponse()
	resp.Version = p.Version
	if err := resp.ReadFrom(b); err != nil {
		t.Fatalf("v%d: %v", p.Version, err)
	}
	if string(resp.AppendTo(nil)) != string(b) {
		t.Errorf("v%d: kmsg writes what it read differently", p.Version)
	}
	second, third := resp.Topics[0].Partitions[1], resp.Topics[1].Partitions[0]
	if resp.ThrottleMillis != 11 || resp.Topics[0].Partitions[0].BaseOffset != 7 || second.ErrorCode != 87 {
		t.Errorf("v%d: %+v", p.Version, resp)
	}
	if p.Version >= 8 && (*second.ErrorMessage != "bad" || second.ErrorRecords[0].RelativeOffset != 3) {
		t.Errorf("v%d: %+v", p.Version, second)
	}
	if p.Version >= 10 && (third.CurrentLeader.LeaderID != 4 || resp.Brokers[0].Host != "h") {
		t.Errorf("v%d: %+v", p.Version, third)
	}
}

func fetchRequest(v int16) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version = v
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.IsolationLevel = 500, 1, 1000, 1
	req.SessionID, req.SessionEpoch, req.Rack = 5, 6, "rack"
	cluster := "cluster"
	req.ClusterID = &cluster
	if v >= 15 {
		req.ReplicaState.ID, req.ReplicaState.Epoch = 3, 4
	} else {
		req.ReplicaID = 3
	}
	topic := kmsg.NewFetchRequestTopic()
	forgotten := kmsg.NewFetchRequestForgottenTopic()
	if v >= 13 {
		topic.TopicID, forgotten.TopicID = id1, id1
	} else {
		topic.Topic, forgotten.Topic = "t", "f"
	}
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.CurrentLeaderEpoch, p.FetchOffset, p.LastFetchedEpoch = 1, 2, 3, 4
	p.LogStartOffset, p.PartitionMaxBytes, p.ReplicaDirectoryID, p.HighWatermark = 5, 6, id1, 7
	topic.Partitions = append(topic.Partitions, kmsg.NewFetchRequestTopicPartition(), p)
	forgotten.Partitions = []int32{8, 9}
	req.Topics = append(req.Topics, topic)
	req.ForgottenTopics = append(req.ForgottenTopics, forgotten)
	return req
}

func TestFetch_AgreesWithKmsg(t *testing.T) {
	for v := int16(FetchMin); v <= FetchMax; v++ {
		var f Fetch
		if err := f.Decode(v, fetchRequest(v).AppendTo(nil)); err != nil {
			t.Fatalf("v%d: %v", v, err)
		}
		if f.ReplicaID != 3 || !f.ReadCommitted || f.MaxBytes != 1000 || f.MaxWaitMs != 500 || len(f.Partitions) != 2 {
			t.Errorf("v%d: %+v", v, f)
		}
		if v >= 7 && (f.SessionEpoch != 6 || f.ForgottenPartitions[1] != 9) {
			t.Errorf("v%d: %+v", v, f)
		}
		if v >= 12 && (f.ClusterID != "cluster" || f.Rack != "rack") {
			t.Errorf("v%d: %+v", v, f)
		}
		if v >= 18 {
			want := FetchPartition{1, 2, 3, 4, 5, 6, id1, 7}
			if d := cmp.Diff(want, f.Partitions[1]); d != "" {
				t.Error(d)
			}
		}
		checkFetchResponse(t, &f)
	}
}

func checkFetchResponse(t *testing.T, f *Fetch) {
	t.Helper()
	first := NewFetchResult(0)
	first.HighWatermark, first.LastStable, first.LogStart = 10, 9, 1
	first.Aborted = []FetchAborted{{1, 2}}
	second := NewFetchResult(1)
	second.Code, second.DivergingEpoch, second.DivergingEnd = 6, 1, 2
	second.LeaderID, second.LeaderEpoch = 3, 4
	b := f.AppendHead(nil, 0, 77, 1, 5)
	b = f.AppendTopic(b, "t", id1, 2)
	b = append(f.AppendPartition(b, &first, 3), "abc"...)
	b = f.AppendPartitionTail(b, &first)
	b = f.AppendPartitionTail(f.AppendPartition(b, &second, 0), &second)
	b = f.AppendTail(f.AppendTopicTail(b), []Node{{ID: 3, Host: "h", Port: 1, Rack: "r"}})
	resp := kmsg.NewPtrFetchResponse()
	resp.Version = f.Version
	if err := resp.ReadFrom(b); err != nil {
		t.Fatalf("v%d: %v", f.Version, err)
	}
	if string(resp.AppendTo(nil)) != string(b) {
		t.Errorf("v%d: kmsg writes what it read differently", f.Version)
	}
	p := resp.Topics[0].Partitions
	if string(p[0].RecordBatches) != "abc" || p[0].HighWatermark != 10 || p[0].AbortedTransactions[0].FirstOffset != 2 {
		t.Errorf("v%d: %+v", f.Version, p[0])
	}
	if f.Version >= 12 && (p[1].DivergingEpoch.EndOffset != 2 || p[1].CurrentLeader.LeaderEpoch != 4) {
		t.Errorf("v%d: %+v", f.Version, p[1])
	}
	if f.Version >= 16 && resp.Brokers[0].Host != "h" {
		t.Errorf("v%d: %+v", f.Version, resp)
	}
}

func TestDecode_RefusesTruncation(t *testing.T) {
	for v := int16(ProduceMin); v <= ProduceMax; v++ {
		b := produceRequest(v).AppendTo(nil)
		for n := range b {
			if new(Produce).Decode(v, b[:n]) == nil {
				t.Fatalf("Produce v%d of %d bytes passes with %d", v, len(b), n)
			}
		}
	}
	for v := int16(FetchMin); v <= FetchMax; v++ {
		b := fetchRequest(v).AppendTo(nil)
		for n := range b {
			if new(Fetch).Decode(v, b[:n]) == nil {
				t.Fatalf("Fetch v%d of %d bytes passes with %d", v, len(b), n)
			}
		}
	}
}

func TestDecode_AllocatesNothing(t *testing.T) {
	var p Produce
	var f Fetch
	pb, fb := produceRequest(12).AppendTo(nil), fetchRequest(12)
	fb.ClusterID, fb.ReplicaID = nil, -1
	fb.Topics[0].Partitions[1].ReplicaDirectoryID, fb.Topics[0].Partitions[1].HighWatermark = [16]byte{}, 1<<63-1
	body := fb.AppendTo(nil)
	if n := testing.AllocsPerRun(50, func() { _ = p.Decode(12, pb); _ = f.Decode(12, body) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzProduce_Decode(f *testing.F) {
	for v := int16(ProduceMin); v <= ProduceMax; v++ {
		f.Add(v, produceRequest(v).AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, v int16, b []byte) {
		if v < ProduceMin || v > ProduceMax {
			return
		}
		var p Produce
		if p.Decode(v, b) == nil && len(p.Partitions)*5 > len(b) {
			t.Errorf("%d partitions in %d bytes", len(p.Partitions), len(b))
		}
	})
}

func FuzzFetch_Decode(f *testing.F) {
	for v := int16(FetchMin); v <= FetchMax; v++ {
		f.Add(v, fetchRequest(v).AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, v int16, b []byte) {
		if v < FetchMin || v > FetchMax {
			return
		}
		var r Fetch
		if r.Decode(v, b) == nil && len(r.Partitions)*16 > len(b) {
			t.Errorf("%d partitions in %d bytes", len(r.Partitions), len(b))
		}
	})
}
