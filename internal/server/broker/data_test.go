package broker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

func TestProduceAndConsumeEachCodec(t *testing.T) {
	f := start(t)
	for name, codec := range map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		t.Run(name, func(t *testing.T) {
			f.topic(name, 2)
			p := f.client(kgo.ProducerBatchCompression(codec), kgo.RecordPartitioner(kgo.ManualPartitioner()))
			const n = 500
			for i := range n {
				r := &kgo.Record{Topic: name, Partition: int32(i % 2)}
				r.Value = []byte(fmt.Sprint(i, strings.Repeat("x", i)))
				p.Produce(f.ctx(), r, func(_ *kgo.Record, err error) {
					if err != nil {
						t.Error(err)
					}
				})
			}
			if err := p.Flush(f.ctx()); err != nil {
				t.Fatal(err)
			}
			c := f.client(kgo.ConsumeTopics(name), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
			next := map[int32]int64{}
			for seen := 0; seen < n; {
				fs := c.PollFetches(f.ctx())
				if err := fs.Err(); err != nil {
					t.Fatal(err)
				}
				fs.EachRecord(func(r *kgo.Record) {
					i := int(r.Offset)*2 + int(r.Partition)
					if r.Offset != next[r.Partition] || string(r.Value) != fmt.Sprint(i, strings.Repeat("x", i)) {
						t.Errorf("record %d of partition %d is %.20q", r.Offset, r.Partition, r.Value)
					}
					next[r.Partition]++
					seen++
				})
			}
		})
	}
}

func TestRestartKeepsRecordsAndProducers(t *testing.T) {
	f := start(t)
	f.topic("t", 3)
	p := f.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for i := range 30 {
		r := &kgo.Record{Topic: "t", Partition: int32(i % 3), Value: []byte("v")}
		if err := p.ProduceSync(f.ctx(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	f.stop()
	f.run()
	for n := range int32(3) {
		part := f.Partition("t", n)
		if part.LEO() != 10 || part.HW() != 10 || part.LogStart() != 0 {
			t.Errorf("partition %d: end %d, high watermark %d, start %d", n, part.LEO(), part.HW(), part.LogStart())
		}
		if err := part.ensureProducers(); err != nil {
			t.Fatal(err)
		}
		if part.producers.Len() != 1 {
			t.Errorf("partition %d knows %d producers", n, part.producers.Len())
		}
	}
}

// TestReplayIsWrittenDown: the producers' state that was made from many batches after an unclean stop isn't
// made from them again if the node is killed once more before its next checkpoint.
func TestReplayIsWrittenDown(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	p := f.client(kgo.DefaultProduceTopic("t"))
	rs := make([]*kgo.Record, replayed+1)
	for i := range rs {
		rs[i] = &kgo.Record{Value: []byte("v")}
	}
	if err := p.ProduceSync(f.ctx(), rs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	part := f.Partition("t", 0)
	part.mu.Lock()
	part.known.Store(false) // as after a kill: nothing is known, and no snapshot was written
	part.mu.Unlock()
	if err := part.ensureProducers(); err != nil {
		t.Fatal(err)
	}
	from, _, err := part.log.LatestProducers(part.LEO())
	if err != nil || from != part.LEO() || part.producers.Len() != 1 {
		t.Errorf("snapshot at %d of %d, %v", from, part.LEO(), err)
	}
}
