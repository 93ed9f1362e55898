package broker

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

func deleteTo(topic string, offset int64) *kmsg.DeleteRecordsRequest {
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = 50
	t := kmsg.NewDeleteRecordsRequestTopic()
	t.Topic = topic
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Offset = offset
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func (c *raw) deleteTo(topic string, offset int64, version int16) kmsg.DeleteRecordsResponseTopicPartition {
	c.t.Helper()
	return do[*kmsg.DeleteRecordsResponse](c, deleteTo(topic, offset), version).Topics[0].Partitions[0]
}

func TestDeleteRecords(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	f.topic("compacted", 1, "cleanup.policy=compact")
	f.topic("both", 1, "cleanup.policy=compact,delete")
	f.topic("neither", 1, "cleanup.policy=")
	f.topic(offsetsTopic, 1)
	c := f.raw()
	for _, topic := range []string{"t", "compacted", "both", "neither"} {
		c.produce(topic, records(4), 9)
		c.produce(topic, records(6), 9)
	}
	for i, k := range []struct {
		topic  string
		offset int64
		code   kerr.Code
		low    int64
	}{
		{"t", 11, kerr.OffsetOutOfRange, -1},
		{"t", -2, kerr.OffsetOutOfRange, -1},
		{"t", 0, 0, 0},
		{"t", 2, 0, 2}, // inside the first batch
		{"t", 1, 0, 2}, // never back
		{"t", 4, 0, 4},
		{"compacted", 4, kerr.PolicyViolation, -1},
		{"both", 4, 0, 4},
		{"both", -1, 0, 10},
		{"neither", 4, 0, 4},
		{offsetsTopic, 0, kerr.InvalidTopicException, -1},
		{"other", 0, kerr.UnknownTopicOrPartition, -1},
	} {
		got := c.deleteTo(k.topic, k.offset, int16(i%3))
		if kerr.Code(got.ErrorCode) != k.code || got.LowWatermark != k.low {
			t.Errorf("%+v: %+v", k, got)
		}
	}
	if got := c.fetch("t", 3, 12); kerr.Code(got.ErrorCode) != kerr.OffsetOutOfRange {
		t.Errorf("fetch of what was deleted: %+v", got)
	}
}

// Nothing was flushed and nothing closed: the reply alone promises that the records stay deleted.
func TestDeletedRecordsStayDeletedOverACrash(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c := f.raw()
	c.produce("t", records(10), 9)
	if got := c.deleteTo("t", 7, 2); got.LowWatermark != 7 {
		t.Fatalf("%+v", got)
	}
	f.crash()
	f.run()
	if got := f.Partition("t", 0).LogStart(); got != 7 {
		t.Errorf("the log starts at %d after a crash", got)
	}
}

// A follower that is live and never told where its log starts may have everything.
func TestDeleteRecordsWaitsForLiveFollowers(t *testing.T) {
	f := start(t)
	f.apply(&record.RegisterBroker{BrokerID: 2, BrokerEpoch: 8},
		&record.Topic{Name: "t", TopicID: topicID("t")},
		&record.Partition{
			TopicID: topicID("t"), Leader: 1, Replicas: []record.NodeID{1, 2}, ISR: []record.NodeID{1},
			Directories: []record.UUID{{}, {}},
		})
	c := f.raw()
	c.produce("t", records(10), 9)
	if got := c.deleteTo("t", 7, 2); kerr.Code(got.ErrorCode) != kerr.RequestTimedOut {
		t.Fatalf("%+v", got)
	}
	p := f.Partition("t", 0)
	if len(p.lows) != 0 {
		t.Errorf("%d still wait for the low watermark", len(p.lows))
	}
	p.followed(2, follower{start: 6, end: 10})
	req := deleteTo("t", 7)
	req.TimeoutMillis = 20_000
	c.send(req, 2)
	waits := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.lows) > 0
	}
	for range 5000 {
		if waits() {
			break
		}
		time.Sleep(time.Millisecond)
	}
	p.followed(2, follower{start: 8, end: 10})
	resp := kmsg.NewPtrDeleteRecordsResponse()
	resp.SetVersion(2)
	if err := resp.ReadFrom(c.body(true)); err != nil {
		t.Fatal(err)
	}
	if got := resp.Topics[0].Partitions[0]; got.ErrorCode != 0 || got.LowWatermark != 7 {
		t.Errorf("%+v", got)
	}
}
