package broker

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// moved makes a node the leader of partition 0.
func moved(topic string, to record.NodeID, isr ...record.NodeID) record.Metadata {
	c := record.NewPartitionChange()
	c.TopicID, c.Leader, c.ISR = topicID(topic), to, isr
	return c
}

func TestFetchErrors(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c := f.raw()
	c.produce("t", records(3), 9)
	f.apply(moved("t", 1))
	epoch := f.Partition("t", 0).LeaderEpoch()
	if epoch != 1 {
		t.Fatalf("epoch %d", epoch)
	}
	for _, k := range []struct {
		name          string
		topic         string
		part          int32
		offset        int64
		epoch, lastly int32
		version       int16
		want          kerr.Code
	}{
		{"the end", "t", 0, 3, -1, -1, 12, kerr.None},
		{"past the end", "t", 0, 4, -1, -1, 12, kerr.OffsetOutOfRange},
		{"negative", "t", 0, -1, -1, -1, 12, kerr.OffsetOutOfRange},
		{"this epoch", "t", 0, 0, 1, -1, 12, kerr.None},
		{"an old epoch", "t", 0, 0, 0, -1, 12, kerr.FencedLeaderEpoch},
		{"a newer epoch", "t", 0, 0, 2, -1, 12, kerr.UnknownLeaderEpoch},
		{"last fetched in the old epoch", "t", 0, 3, -1, 0, 12, kerr.None},
		{"last fetched in an unknown epoch", "t", 0, 3, -1, 7, 12, kerr.OffsetOutOfRange},
		{"unknown topic", "nope", 0, 0, -1, -1, 12, kerr.UnknownTopicOrPartition},
		{"unknown topic id", "nope", 0, 0, -1, -1, 13, kerr.UnknownTopicID},
		{"unknown partition", "t", 1, 0, -1, -1, 18, kerr.UnknownTopicOrPartition},
	} {
		t.Run(k.name, func(t *testing.T) {
			req := fetchFrom(k.topic, k.part, k.offset)
			p := &req.Topics[0].Partitions[0]
			p.CurrentLeaderEpoch, p.LastFetchedEpoch = k.epoch, k.lastly
			req.MaxWaitMillis = 0
			got := do[*kmsg.FetchResponse](c, req, k.version).Topics[0].Partitions[0]
			if kerr.Code(got.ErrorCode) != k.want {
				t.Errorf("%v, want %v", kerr.Code(got.ErrorCode), k.want)
			}
			leader := got.CurrentLeader
			if k.want == kerr.FencedLeaderEpoch && (leader.LeaderID != 1 || leader.LeaderEpoch != 1) {
				t.Errorf("the leader is told as %+v", leader)
			}
		})
	}
}

func TestFetchTellsWhereLogsDiverge(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c := f.raw()
	c.produce("t", records(3), 9)
	f.apply(moved("t", 1))
	c.produce("t", records(3), 9)
	req := fetchFrom("t", 0, 5)
	req.Topics[0].Partitions[0].LastFetchedEpoch = 0
	got := do[*kmsg.FetchResponse](c, req, 12).Topics[0].Partitions[0]
	if got.DivergingEpoch.Epoch != 0 || got.DivergingEpoch.EndOffset != 3 || len(got.RecordBatches) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestFetchLimits(t *testing.T) {
	f := start(t)
	f.topic("t", 2)
	c := f.raw()
	size := len(records(10))
	for range 20 {
		for n := range int32(2) {
			do[*kmsg.ProduceResponse](c, produceTo("t", n, -1, records(10)), 9)
		}
	}
	both := func(max, first, second int32) (int, int) {
		req := fetchFrom("t", 0, 0)
		req.MaxBytes = max
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, fetchFrom("t", 1, 0).Topics[0].Partitions...)
		req.Topics[0].Partitions[0].PartitionMaxBytes = first
		req.Topics[0].Partitions[1].PartitionMaxBytes = second
		parts := do[*kmsg.FetchResponse](c, req, 12).Topics[0].Partitions
		return len(parts[0].RecordBatches), len(parts[1].RecordBatches)
	}
	for _, k := range []struct {
		name               string
		max, first, second int32
		want1, want2       int
	}{
		{"all", 1 << 20, 1 << 20, 1 << 20, 20 * size, 20 * size},
		{"one batch however big", 1, 1, 1, size, 0},
		{"a partition's limit", 1 << 20, int32(2 * size), 1 << 20, 2 * size, 20 * size},
		{"the request's limit", int32(21 * size), 1 << 20, 1 << 20, 20 * size, size},
		{"a cut batch", 1 << 20, int32(size + size/2), 1 << 20, size + size/2, 20 * size},
		{"the second smaller than its first batch", 1 << 20, 1 << 20, int32(size - 1), 20 * size, 0},
	} {
		if a, b := both(k.max, k.first, k.second); a != k.want1 || b != k.want2 {
			t.Errorf("%s: %d and %d bytes, want %d and %d", k.name, a, b, k.want1, k.want2)
		}
	}
}

func TestFetchWaits(t *testing.T) {
	f := start(t)
	f.topic("t", 3)
	p, c := f.raw(), f.raw()
	size := len(records(1))
	req := fetchFrom("t", 0, 0)
	for n := range int32(2) {
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, fetchFrom("t", n+1, 0).Topics[0].Partitions...)
	}
	req.MaxWaitMillis, req.MinBytes = 20000, int32(3*size)
	c.send(req, 12)
	for n := range int32(3) {
		for n < 2 && f.m.ParkedFetch.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		do[*kmsg.ProduceResponse](p, produceTo("t", n, -1, records(1)), 9)
	}
	resp := kmsg.NewPtrFetchResponse()
	resp.Version = 12
	if err := resp.ReadFrom(c.body(true)); err != nil {
		t.Fatal(err)
	}
	for _, part := range resp.Topics[0].Partitions {
		if len(part.RecordBatches) != size {
			t.Errorf("partition %d: %d bytes", part.Partition, len(part.RecordBatches))
		}
	}
	for n := range int32(3) {
		if left := f.Partition("t", n).waits.n.Load(); left != 0 {
			t.Errorf("%d still parked on partition %d", left, n)
		}
	}
	req.MaxWaitMillis = 30
	for i := range req.Topics[0].Partitions {
		req.Topics[0].Partitions[i].FetchOffset = 1
	}
	got := do[*kmsg.FetchResponse](c, req, 12).Topics[0].Partitions[0]
	if got.ErrorCode != 0 || len(got.RecordBatches) != 0 {
		t.Errorf("after the wait: %+v", got)
	}
}

func TestParkedFetchesEndWithTheirTopicAndTheirClient(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c, gone := f.raw(), f.raw()
	req := fetchFrom("t", 0, 0)
	req.MaxWaitMillis = 20000
	gone.send(req, 12)
	c.send(req, 12)
	for f.m.ParkedFetch.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	f.apply(&record.RemoveTopic{TopicID: topicID("t")})
	resp := kmsg.NewPtrFetchResponse()
	resp.Version = 12
	if err := resp.ReadFrom(c.body(true)); err != nil {
		t.Fatal(err)
	}
	switch code := kerr.Code(resp.Topics[0].Partitions[0].ErrorCode); code {
	case kerr.UnknownTopicOrPartition, kerr.NotLeaderOrFollower: // the image may come a moment later
	default:
		t.Errorf("%v", code)
	}
	if f.Partition("t", 0) != nil {
		t.Error("the partition is still there")
	}
}

func TestFetchSessions(t *testing.T) {
	for _, v := range []int16{7, 12, 13, 18} {
		f := start(t)
		f.topic("t", 2)
		f.topic("u", 1)
		c := f.raw()
		req := fetchFrom("t", 0, 0)
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, fetchFrom("t", 1, 0).Topics[0].Partitions...)
		req.Topics = append(req.Topics, fetchFrom("u", 0, 0).Topics...)
		req.SessionEpoch = 0
		resp := do[*kmsg.FetchResponse](c, req, v)
		id := resp.SessionID
		if id == 0 || len(resp.Topics) != 2 || len(resp.Topics[0].Partitions) != 2 {
			t.Fatalf("v%d: a full fetch gave %+v", v, resp)
		}
		next := func(epoch int32, change func(*kmsg.FetchRequest)) *kmsg.FetchResponse {
			req := kmsg.NewPtrFetchRequest()
			req.MaxBytes, req.SessionID, req.SessionEpoch = 1<<20, id, epoch
			if change != nil {
				change(req)
			}
			return do[*kmsg.FetchResponse](c, req, v)
		}
		if resp = next(1, nil); resp.ErrorCode != 0 || resp.SessionID != id || len(resp.Topics) != 0 {
			t.Fatalf("v%d: nothing changed, but: %+v", v, resp)
		}
		do[*kmsg.ProduceResponse](c, produceTo("u", 0, -1, records(1)), 9)
		resp = next(2, nil)
		if len(resp.Topics) != 1 || resp.Topics[0].Partitions[0].HighWatermark != 1 {
			t.Fatalf("v%d: one topic changed, but: %+v", v, resp)
		}
		resp = next(3, func(req *kmsg.FetchRequest) {
			req.Topics = fetchFrom("u", 0, 1).Topics // the client has read it
			ft := kmsg.NewFetchRequestForgottenTopic()
			ft.Topic, ft.TopicID, ft.Partitions = "t", topicID("t"), []int32{1}
			req.ForgottenTopics = append(req.ForgottenTopics, ft)
		})
		if len(resp.Topics) != 0 {
			t.Fatalf("v%d: %+v", v, resp)
		}
		do[*kmsg.ProduceResponse](c, produceTo("t", 1, -1, records(1)), 9)
		if resp = next(4, nil); len(resp.Topics) != 0 {
			t.Fatalf("v%d: a forgotten partition came back: %+v", v, resp)
		}
		if resp = next(7, nil); kerr.Code(resp.ErrorCode) != kerr.InvalidFetchSessionEpoch {
			t.Fatalf("v%d: wrong epoch: %v", v, kerr.Code(resp.ErrorCode))
		}
		if resp = next(-1, nil); resp.ErrorCode != 0 || resp.SessionID != 0 {
			t.Fatalf("v%d: closing: %+v", v, resp)
		}
		if resp = next(5, nil); kerr.Code(resp.ErrorCode) != kerr.FetchSessionIDNotFound {
			t.Fatalf("v%d: closed, but: %v", v, kerr.Code(resp.ErrorCode))
		}
	}
}

func TestBigFetchesComeFromTheFile(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c := f.raw()
	var want []byte
	for i := range 30 {
		b := records(1000)
		c.produce("t", bytes.Clone(b), 9)
		batch.Stamp(b, batch.Offset(1000*i), 0)
		want = append(want, b...)
	}
	for _, v := range []int16{4, 11, 12, 18} {
		if got := c.fetch("t", 0, v); !bytes.Equal(got.RecordBatches, want) {
			t.Fatalf("v%d: %d bytes, want %d, or other ones", v, len(got.RecordBatches), len(want))
		}
	}
}

func TestHighWatermarkWaitsForFollowers(t *testing.T) {
	f := start(t)
	f.apply(&record.Topic{Name: "t", TopicID: topicID("t")}, &record.Partition{
		TopicID: topicID("t"), Replicas: []record.NodeID{1, 2}, ISR: []record.NodeID{1, 2}, Leader: 1,
		Directories: []record.UUID{{}, {}},
	})
	c, follower := f.raw(), f.raw()
	c.send(produceTo("t", 0, -1, records(2)), 9)
	for f.m.ParkedProduce.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	if hw := f.Partition("t", 0).HW(); hw != 0 {
		t.Fatalf("high watermark %d before the follower has it", hw)
	}
	req := fetchFrom("t", 0, 0)
	req.ReplicaID = 2
	if got := do[*kmsg.FetchResponse](follower, req, 12).Topics[0].Partitions[0]; len(got.RecordBatches) == 0 {
		t.Fatal("the follower gets nothing")
	}
	req.Topics[0].Partitions[0].FetchOffset = 2
	do[*kmsg.FetchResponse](follower, req, 12)
	resp := kmsg.NewPtrProduceResponse()
	resp.Version = 9
	if err := resp.ReadFrom(c.body(true)); err != nil || resp.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatalf("%+v %v", resp, err)
	}
	short := produceTo("t", 0, -1, records(1))
	short.TimeoutMillis = 5
	p := do[*kmsg.ProduceResponse](c, short, 9).Topics[0].Partitions[0]
	if kerr.Code(p.ErrorCode) != kerr.RequestTimedOut {
		t.Errorf("%v", kerr.Code(p.ErrorCode))
	}
	c.send(produceTo("t", 0, -1, records(1)), 9)
	for f.m.ParkedProduce.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	f.apply(moved("t", 2))
	err := resp.ReadFrom(c.body(true))
	if err != nil || kerr.Code(resp.Topics[0].Partitions[0].ErrorCode) != kerr.NotLeaderOrFollower {
		t.Fatalf("%+v %v", resp, err)
	}
	f.apply(configRecords("t", []string{"min.insync.replicas=2"})...)
	f.apply(moved("t", 1, 1))
	if p := c.produce("t", records(1), 9); kerr.Code(p.ErrorCode) != kerr.NotEnoughReplicas {
		t.Errorf("%v", kerr.Code(p.ErrorCode))
	}
}

func TestListOffsets(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	f.topic("empty", 1)
	c := f.raw()
	at := func(ms int64) func(*batch.Meta) { return func(m *batch.Meta) { m.BaseTimestamp = ms } }
	for _, ms := range []int64{1000, 3000, 2000} {
		c.produce("t", records(2, at(ms)), 9)
	}
	ask := func(topic string, ts int64, v int16) kmsg.ListOffsetsResponseTopicPartition {
		req := kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID = -1
		tp := kmsg.NewListOffsetsRequestTopic()
		tp.Topic = topic
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Timestamp, p.CurrentLeaderEpoch = ts, -1
		tp.Partitions = append(tp.Partitions, p)
		req.Topics = append(req.Topics, tp)
		return do[*kmsg.ListOffsetsResponse](c, req, v).Topics[0].Partitions[0]
	}
	for _, k := range []struct {
		topic         string
		ts            int64
		version       int16
		code          kerr.Code
		offset, stamp int64
	}{
		{"t", -1, 1, 0, 6, -1},
		{"t", -2, 1, 0, 0, -1},
		{"t", -3, 7, 0, 2, 3000},
		{"t", -4, 8, 0, 0, -1},
		{"t", -5, 9, 0, -1, -1},
		{"t", -6, 11, 0, -1, -1},
		{"t", -3, 6, kerr.UnsupportedVersion, -1, -1},
		{"t", -7, 11, kerr.UnsupportedVersion, -1, -1},
		{"t", 0, 5, 0, 0, 1000},
		{"t", 1000, 5, 0, 0, 1000},
		{"t", 1001, 5, 0, 2, 3000},
		{"t", 3001, 5, 0, -1, -1},
		{"empty", -1, 11, 0, 0, -1},
		{"empty", -2, 11, 0, 0, -1},
		{"empty", -3, 11, 0, -1, -1},
		{"empty", 5, 11, 0, -1, -1},
		{"nope", -1, 5, kerr.UnknownTopicOrPartition, -1, -1},
	} {
		got := ask(k.topic, k.ts, k.version)
		if kerr.Code(got.ErrorCode) != k.code || got.Offset != k.offset || got.Timestamp != k.stamp {
			t.Errorf("%s at %d, v%d: %+v, want %+v", k.topic, k.ts, k.version, got, k)
		}
	}
}

func TestInitProducerID(t *testing.T) {
	f := start(t)
	c := f.raw()
	f.ctl.fail = 2 // the controller isn't there at first
	seen := map[int64]bool{}
	for i := range 2500 {
		req := kmsg.NewPtrInitProducerIDRequest()
		resp := do[*kmsg.InitProducerIDResponse](c, req, int16(i%6))
		if resp.ErrorCode != 0 || resp.ProducerEpoch != 0 || resp.ProducerID < 4000 || seen[resp.ProducerID] {
			t.Fatalf("%d: %+v", i, resp)
		}
		seen[resp.ProducerID] = true
	}
	f.stop()
	f.run()
	resp := do[*kmsg.InitProducerIDResponse](f.raw(), kmsg.NewPtrInitProducerIDRequest(), 4)
	if resp.ErrorCode != 0 || seen[resp.ProducerID] {
		t.Errorf("after a restart: %+v", resp)
	}
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID = new("tx")
	resp = do[*kmsg.InitProducerIDResponse](f.raw(), req, 4)
	if kerr.Code(resp.ErrorCode) != kerr.TransactionalIDAuthorizationFailed {
		t.Errorf("%v", kerr.Code(resp.ErrorCode))
	}
}

func TestTopicOfTheSameNameIsAnother(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	f.raw().produce("t", records(5), 9)
	f.stop()
	f.img = nil // deleted and made again while this node was away
	f.run()
	other := record.UUID{1, 2, 3}
	f.apply(&record.Topic{Name: "t", TopicID: other}, &record.Partition{
		TopicID: other, Replicas: []record.NodeID{1}, ISR: []record.NodeID{1}, Leader: 1,
		Directories: []record.UUID{{}},
	})
	if end := f.Partition("t", 0).LEO(); end != 0 {
		t.Errorf("the new topic has the old one's %d records\n%s", end, f.logs)
	}
	if p := f.raw().produce("t", records(1), 9); p.ErrorCode != 0 || p.BaseOffset != 0 {
		t.Errorf("%+v", p)
	}
	f.stop()
	f.img = nil
	f.run()
	f.PutStraysAside()
	var names []string
	entries, err := os.ReadDir(f.dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), "stray") {
			names = append(names, e.Name())
		}
	}
	if len(names) != 2 {
		t.Errorf("put aside: %v, want both logs", names)
	}
}

func TestSeveralLogDirs(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	f := &fixture{t: t, logs: new(logBuffer), ctl: &fakeController{}, dirs: dirs}
	f.run()
	t.Cleanup(func() { f.stop() })
	f.topic("t", 9)
	c := f.raw()
	for n := range int32(9) {
		do[*kmsg.ProduceResponse](c, produceTo("t", n, -1, records(1)), 9)
	}
	for _, d := range f.Broker.logs.dirs {
		if d.count != 3 {
			t.Errorf("%d partitions in %s", d.count, d.path)
		}
	}
	f.stop()
	f.run()
	for n := range int32(9) {
		if end := f.Partition("t", n).LEO(); end != 1 {
			t.Errorf("partition %d ends at %d after the restart", n, end)
		}
	}
}
