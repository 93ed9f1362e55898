package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// plan is one topic to make.
type plan struct {
	name       string
	partitions int32
	configs    map[string]string
	records    int
	size       int // of a value, about
	opts       []kgo.Opt
}

func plans() []plan {
	codec := func(c kgo.CompressionCodec) []kgo.Opt {
		return []kgo.Opt{kgo.ProducerBatchCompression(c), kgo.DisableIdempotentWrite()}
	}
	return []plan{
		{name: "none", partitions: 3, records: 600, size: 100, opts: codec(kgo.NoCompression())},
		{name: "gzip", partitions: 3, records: 600, size: 100, opts: codec(kgo.GzipCompression())},
		{name: "snappy", partitions: 3, records: 600, size: 100, opts: codec(kgo.SnappyCompression())},
		{name: "lz4", partitions: 3, records: 600, size: 100, opts: codec(kgo.Lz4Compression())},
		{name: "zstd", partitions: 3, records: 600, size: 100, opts: codec(kgo.ZstdCompression())},
		{name: "idempotent", partitions: 2, records: 400, size: 100},
		// several segments, with indexes that have several entries
		{
			name: "segments", partitions: 1, configs: map[string]string{"segment.bytes": "1048576"}, records: 5000, size: 1000,
			opts: codec(kgo.NoCompression()),
		},
		{name: "compacted", partitions: 1, configs: map[string]string{"cleanup.policy": "compact"}, records: 300, size: 50},
		{name: "append-time", partitions: 1, configs: map[string]string{"message.timestamp.type": "LogAppendTime"}, records: 100, size: 50},
		{name: "producer-window", partitions: 1},
		{name: "empty", partitions: 5, configs: map[string]string{"retention.ms": "86400000", "max.message.bytes": "2000000"}},
		{name: "deleted", partitions: 2, records: 100, size: 50},
	}
}

func (d *disk) topic(name string) string { return d.prefix + "-" + name }

func (d *disk) fill() error {
	for _, p := range plans() {
		if err := d.make(p); err != nil {
			return fmt.Errorf("topic %s: %w", p.name, err)
		}
	}
	if _, err := d.adm.DeleteTopic(d.ctx, d.topic("deleted")); err != nil {
		return err
	}
	if err := d.grow(); err != nil {
		return err
	}
	if err := d.groups(); err != nil {
		return err
	}
	return d.openWindow()
}

func (d *disk) make(p plan) error {
	configs := map[string]*string{}
	for k, v := range p.configs {
		configs[k] = &v
	}
	if _, err := d.adm.CreateTopic(d.ctx, p.partitions, 1, configs, d.topic(p.name)); err != nil {
		return err
	}
	if p.records == 0 {
		return nil
	}
	cl, err := kgo.NewClient(append(p.opts, kgo.SeedBrokers(d.cl.OptValue(kgo.SeedBrokers).([]string)...),
		kgo.DefaultProduceTopic(d.topic(p.name)), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	var mu sync.Mutex
	var fault error
	// The same records for the same topic name, whichever broker takes them.
	chance := rand.New(rand.NewPCG(uint64(len(p.name)), uint64(p.records)))
	start := time.Now().Add(-time.Hour)
	for i := range p.records {
		r := &kgo.Record{Partition: int32(i) % p.partitions, Timestamp: start.Add(time.Duration(i) * time.Millisecond)}
		r.Key = fmt.Appendf(nil, "key-%d", i%50)
		if i%17 != 0 { // a null value now and then
			r.Value = fmt.Appendf(nil, "%d-%s", i, strings.Repeat(string(rune('a'+chance.IntN(26))), p.size+chance.IntN(p.size)))
		}
		if i%5 == 0 {
			r.Headers = []kgo.RecordHeader{{Key: "h", Value: []byte("1")}, {Key: "h"}}
		}
		cl.Produce(d.ctx, r, func(_ *kgo.Record, err error) {
			mu.Lock()
			defer mu.Unlock()
			fault = errors.Join(fault, err)
		})
		if i%50 == 49 { // batches of several sizes
			if err := cl.Flush(d.ctx); err != nil {
				return err
			}
		}
	}
	if err := cl.Flush(d.ctx); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	return fault
}

// grow adds partitions and changes configs after creation: more metadata records of more kinds.
func (d *disk) grow() error {
	if _, err := d.adm.UpdatePartitions(d.ctx, 7, d.topic("empty")); err != nil {
		return err
	}
	value := "3600000"
	alter := []kadm.AlterConfig{
		{Op: kadm.SetConfig, Name: "retention.ms", Value: &value},
		{Op: kadm.DeleteConfig, Name: "max.message.bytes"},
	}
	_, err := d.adm.AlterTopicConfigs(d.ctx, alter, d.topic("empty"))
	return err
}

// groups makes two: one with offsets committed from outside, with notes, and one that had a member.
func (d *disk) groups() error {
	var o kadm.Offsets
	for p := range int32(3) {
		o.Add(kadm.Offset{Topic: d.topic("gzip"), Partition: p, At: int64(10 * p), LeaderEpoch: 0, Metadata: fmt.Sprintf("note %d", p)})
	}
	if err := d.adm.CommitAllOffsets(d.ctx, d.topic("simple"), o); err != nil {
		return err
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(d.cl.OptValue(kgo.SeedBrokers).([]string)...), kgo.ConsumerGroup(d.topic("member")),
		kgo.ConsumeTopics(d.topic("zstd")), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit())
	if err != nil {
		return err
	}
	defer cl.Close()
	for n := 0; n < 600; {
		f := cl.PollFetches(d.ctx)
		if err := f.Err(); err != nil {
			return err
		}
		n += f.NumRecords()
	}
	return cl.CommitUncommittedOffsets(d.ctx)
}
