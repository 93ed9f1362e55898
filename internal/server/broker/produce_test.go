package broker

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

func TestProduceEveryVersion(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c := f.raw()
	for v := int16(3); v <= 13; v++ {
		p := c.produce("t", records(3), v)
		if p.ErrorCode != 0 || p.BaseOffset != int64(v-3)*3 || p.LogAppendTime != -1 {
			t.Errorf("v%d: %+v", v, p)
		}
		if v >= 5 && p.LogStartOffset != 0 {
			t.Errorf("v%d: log start %d", v, p.LogStartOffset)
		}
	}
	for v := int16(4); v <= 18; v++ {
		p := c.fetch("t", 4, v)
		if p.ErrorCode != 0 || p.HighWatermark != 33 || p.LastStableOffset != 33 {
			t.Fatalf("fetch v%d: %+v", v, p)
		}
		if first, _, err := batch.Next(p.RecordBatches); err != nil || first.BaseOffset() != 3 {
			t.Errorf("fetch v%d starts at %d: %v", v, first.BaseOffset(), err)
		}
	}
}

func TestProduceRefusals(t *testing.T) {
	f := start(t)
	f.topic("t", 1, "max.message.bytes=1000")
	f.topic("compacted", 1, "cleanup.policy=compact")
	f.topic("__consumer_offsets", 1)
	now := time.Now().UnixMilli()
	flip := func(b []byte, at int) []byte { b[at] ^= 1; return b }
	resum := func(b []byte) []byte { batch.View(b).SetCRC(); return b }
	put := func(b []byte, at int, v uint32) []byte { binary.BigEndian.PutUint32(b[at:], v); return resum(b) }
	zstd := func(m *batch.Meta) { m.Codec = batch.Zstd }
	future := func(m *batch.Meta) { m.BaseTimestamp += 2 * 3600_000 }
	transactional := func(m *batch.Meta) { m.Transactional = true }
	nullKeys, _ := batch.Build(nil, batch.NoProducer(0, 0, now), []batch.Record{{Value: []byte("v")}})
	for _, c := range []struct {
		name, topic string
		version     int16
		records     []byte
		want        kerr.Code
	}{
		{"no batch", "t", 9, nil, kerr.InvalidRecord},
		{"empty", "t", 9, []byte{}, kerr.InvalidRecord},
		{"half a batch", "t", 9, records(1)[:50], kerr.InvalidRecord},
		{"two batches", "t", 9, append(records(1), records(1)...), kerr.InvalidRecord},
		{"bad crc", "t", 9, flip(records(2), 17), kerr.CorruptMessage},
		{"flipped value", "t", 9, flip(records(2), 70), kerr.CorruptMessage},
		{"old magic", "t", 9, func() []byte { b := records(1); b[16] = 1; return b }(), kerr.InvalidRecord},
		{"base offset", "t", 9, func() []byte { b := records(1); b[7] = 5; return b }(), kerr.InvalidRecord},
		{"count lies", "t", 9, put(records(2), 57, 3), kerr.InvalidRecord},
		{"huge count", "t", 9, put(put(records(2), 57, math.MaxInt32), 23, math.MaxInt32-1), kerr.InvalidRecord},
		{"last offset lies", "t", 9, put(records(2), 23, 7), kerr.InvalidRecord},
		{"record length lies", "t", 9, resum(flip(records(2), 61)), kerr.InvalidRecord},
		{"control batch", "t", 9, records(1, func(m *batch.Meta) { m.Control = true }), kerr.InvalidRecord},
		{"too large", "t", 9, records(200), kerr.MessageTooLarge},
		{"zstd below v7", "t", 6, records(1, zstd), kerr.UnsupportedCompressionType},
		{"zstd from v7", "t", 7, records(1, zstd), kerr.None},
		{"from the future", "t", 9, records(1, future), kerr.InvalidTimestamp},
		{"no key where keys are due", "compacted", 9, nullKeys, kerr.InvalidRecord},
		{"with a key", "compacted", 9, records(1), kerr.None},
		{
			"transactional", "t", 9, records(1, idempotent(5, 0, 0), transactional),
			kerr.TransactionalIDAuthorizationFailed,
		},
		{"internal topic", "__consumer_offsets", 9, records(1), kerr.InvalidTopicException},
		{"unknown topic", "nope", 9, records(1), kerr.UnknownTopicOrPartition},
		{"unknown topic id", "nope", 13, records(1), kerr.UnknownTopicID},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := f.raw()
			conn.t = t
			p := conn.produce(c.topic, c.records, c.version)
			if kerr.Code(p.ErrorCode) != c.want {
				msg := ""
				if p.ErrorMessage != nil {
					msg = *p.ErrorMessage
				}
				t.Errorf("%v (%s), want %v", kerr.Code(p.ErrorCode), msg, c.want)
			}
			if c.want != kerr.None && (p.BaseOffset != -1 || p.LogAppendTime != -1) {
				t.Errorf("an error with offset %d, time %d", p.BaseOffset, p.LogAppendTime)
			}
		})
	}
}

func TestProduceWholeRequestRefusals(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c := f.raw()
	req := produceTo("t", 0, 2, records(1))
	p := do[*kmsg.ProduceResponse](c, req, 9).Topics[0].Partitions[0]
	if kerr.Code(p.ErrorCode) != kerr.InvalidRequiredAcks {
		t.Errorf("acks=2: %v", kerr.Code(p.ErrorCode))
	}
	req = produceTo("t", 0, -1, records(1))
	req.TransactionID = new("tx")
	p = do[*kmsg.ProduceResponse](c, req, 9).Topics[0].Partitions[0]
	if kerr.Code(p.ErrorCode) != kerr.TransactionalIDAuthorizationFailed {
		t.Errorf("transactional id: %v", kerr.Code(p.ErrorCode))
	}
	if end := f.Partition("t", 0).LEO(); end != 0 {
		t.Errorf("something was written: end %d", end)
	}
}

func TestProduceSeveralPartitionsAndDuplicates(t *testing.T) {
	f := start(t)
	f.topic("t", 2)
	f.topic("u", 1)
	c := f.raw()
	req := produceTo("t", 1, -1, records(2))
	req.Topics = append(req.Topics, produceTo("u", 0, -1, records(1)).Topics...)
	req.Topics = append(req.Topics, produceTo("t", 1, -1, records(3)).Topics...) // the same again
	req.Topics = append(req.Topics, produceTo("t", 2, -1, records(3)).Topics...) // out of range
	resp := do[*kmsg.ProduceResponse](c, req, 11)
	var got []int64
	for _, tp := range resp.Topics {
		got = append(got, tp.Partitions[0].BaseOffset)
	}
	if len(got) != 4 || got[0] != 0 || got[1] != 0 || got[2] != 2 || got[3] != -1 {
		t.Errorf("offsets %v", got)
	}
	if code := kerr.Code(resp.Topics[3].Partitions[0].ErrorCode); code != kerr.UnknownTopicOrPartition {
		t.Errorf("out of range: %v", code)
	}
}

func TestProduceWithoutAcks(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c := f.raw()
	c.send(produceTo("t", 0, 0, records(2)), 9)
	if p := c.produce("t", records(1), 9); p.BaseOffset != 2 { // the next reply belongs to the next request
		t.Errorf("offset %d", p.BaseOffset)
	}
	c.send(produceTo("nope", 0, 0, records(2)), 9)
	c.closed()
	if !strings.Contains(f.logs.String(), "UNKNOWN_TOPIC_OR_PARTITION") {
		t.Errorf("the log is silent: %s", f.logs)
	}
}

func TestIdempotenceWindow(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c := f.raw()
	for i := range int32(7) {
		p := c.produce("t", records(2, idempotent(9, 0, 2*i)), 9)
		if p.ErrorCode != 0 || p.BaseOffset != int64(2*i) {
			t.Fatalf("batch %d: %+v", i, p)
		}
	}
	for i := range int32(7) {
		p := c.produce("t", records(2, idempotent(9, 0, 2*i)), 9)
		if i < 2 {
			if kerr.Code(p.ErrorCode) != kerr.OutOfOrderSequenceNumber {
				t.Errorf("batch %d, out of the window: %+v", i, p)
			}
		} else if p.ErrorCode != 0 || p.BaseOffset != int64(2*i) {
			t.Errorf("batch %d again: %+v", i, p)
		}
	}
	p := c.produce("t", records(1, idempotent(9, 0, 20)), 9)
	if kerr.Code(p.ErrorCode) != kerr.OutOfOrderSequenceNumber {
		t.Errorf("a gap: %+v", p)
	}
	if p := c.produce("t", records(1, idempotent(9, 1, 0)), 9); p.ErrorCode != 0 || p.BaseOffset != 14 {
		t.Errorf("a new epoch: %+v", p)
	}
	p = c.produce("t", records(1, idempotent(9, 0, 14)), 9)
	if kerr.Code(p.ErrorCode) != kerr.InvalidProducerEpoch {
		t.Errorf("the old epoch: %+v", p)
	}
	f.stop()
	f.run()
	c = f.raw()
	if p := c.produce("t", records(1, idempotent(9, 1, 0)), 9); p.ErrorCode != 0 || p.BaseOffset != 14 {
		t.Errorf("the last batch again, after a restart: %+v", p)
	}
}

func TestTopicConfigsActAtOnce(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c := f.raw()
	big := records(100)
	if p := c.produce("t", bytes.Clone(big), 9); p.ErrorCode != 0 {
		t.Fatal(p)
	}
	f.apply(configRecords("t", []string{"max.message.bytes=100"})...)
	if p := c.produce("t", bytes.Clone(big), 9); kerr.Code(p.ErrorCode) != kerr.MessageTooLarge {
		t.Errorf("max.message.bytes: %+v", p)
	}
	f.apply(configRecords("t", []string{
		"max.message.bytes=1000000", "message.timestamp.type=LogAppendTime", "compression.type=lz4",
	})...)
	p := c.produce("t", bytes.Clone(big), 9)
	if p.ErrorCode != 0 || p.LogAppendTime <= 0 {
		t.Errorf("LogAppendTime: %+v", p)
	}
	got, _, err := batch.Next(c.fetch("t", 100, 12).RecordBatches)
	if err != nil || !got.LogAppendTime() || got.Codec() != batch.LZ4 || got.MaxTimestamp() != p.LogAppendTime {
		t.Errorf("stored as codec %d, time %d: %v", got.Codec(), got.MaxTimestamp(), err)
	}
}

func TestPipelinedProducesKeepTheirOrder(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c := f.raw()
	var all []byte
	for range 50 {
		c.corr++
		req := produceTo("t", 0, -1, records(1))
		req.Version = 9
		all = append(all, (&kmsg.RequestFormatter{}).AppendRequest(nil, req, c.corr)...)
	}
	if _, err := c.Write(all); err != nil {
		t.Fatal(err)
	}
	c.corr = 0
	for i := range int64(50) {
		c.corr++
		resp := kmsg.NewPtrProduceResponse()
		resp.Version = 9
		if err := resp.ReadFrom(c.body(true)); err != nil {
			t.Fatal(err)
		}
		if got := resp.Topics[0].Partitions[0].BaseOffset; got != i {
			t.Fatalf("request %d got offset %d", i, got)
		}
	}
}

func TestTruncatedBodiesClose(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	for _, req := range []kmsg.Request{produceTo("t", 0, -1, records(1)), fetchFrom("t", 0, 0)} {
		for v := int16(4); v <= 13; v += 3 {
			req.SetVersion(v)
			whole := (&kmsg.RequestFormatter{}).AppendRequest(nil, req, 1)
			body := len(req.AppendTo(nil))
			for cut := 1; cut < body; cut += 1 + body/10 {
				b := bytes.Clone(whole[:len(whole)-cut])
				binary.BigEndian.PutUint32(b, uint32(len(b)-4))
				c := f.raw()
				if _, err := c.Write(b); err != nil {
					t.Fatal(err)
				}
				c.closed()
			}
		}
	}
	if end := f.Partition("t", 0).LEO(); end != 0 {
		t.Errorf("something was written: end %d", end)
	}
	if !strings.Contains(f.logs.String(), "body of Produce can't be read") {
		t.Error("the log is silent")
	}
}
