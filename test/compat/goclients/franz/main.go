// Command franz is the franz-go suite: kgo and kadm against BOOTSTRAP.
package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/test/compat/goclients/internal/suite"
)

type franz struct {
	*suite.Suite
	ctx     context.Context
	adm     *kadm.Client
	written suite.Log
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	f := &franz{Suite: suite.New("franz"), ctx: ctx}
	cl, err := kgo.NewClient(kgo.SeedBrokers(f.Bootstrap))
	if err != nil {
		panic(err)
	}
	f.adm = kadm.NewClient(cl)
	f.Check("create a topic", f.create)
	f.Check("describe it", f.describe)
	f.Check("topic configs", f.configs)
	for _, c := range codecs() {
		f.Check("produce "+c.name, func() error {
			return f.produce(c.name, kgo.ProducerBatchCompression(c.codec), kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.LeaderAck()))
		})
	}
	f.Check("produce acks 0", func() error {
		return f.produce("acks0", kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.NoAck()))
	})
	f.Check("produce idempotent", func() error { return f.produce("idempotent") })
	f.Check("consume from the beginning", f.consume)
	f.Check("consume without fetch sessions", f.consumeSessionless)
	f.Check("offsets", f.offsets)
	f.Check("two members, a rebalance, commit", func() error { return suite.TwoMembers(&f.written, f.member(kgo.RangeBalancer())) })
	f.Check("describe the group", f.describeGroup)
	f.Check("resume at the committed offsets", func() error {
		return suite.Resume(&f.written, func() error { return f.produce("resume") }, f.member(kgo.RangeBalancer()))
	})
	f.Check("cooperative rebalance", f.cooperative)
	f.Check("delete the group", f.deleteGroup)
	f.Check("more partitions", f.grow)
	f.Check("delete the topic", f.deleteTopic)
	f.Finish()
}

type codec struct {
	name  string
	codec kgo.CompressionCodec
}

func codecs() []codec {
	return []codec{
		{"none", kgo.NoCompression()},
		{"gzip", kgo.GzipCompression()},
		{"snappy", kgo.SnappyCompression()},
		{"lz4", kgo.Lz4Compression()},
		{"zstd", kgo.ZstdCompression()},
	}
}

func (f *franz) create() error {
	r, err := f.adm.CreateTopic(f.ctx, suite.Partitions, 1, nil, f.Topic)
	if err != nil {
		return err
	}
	if r.NumPartitions != suite.Partitions {
		return fmt.Errorf("answer: %+v", r)
	}
	if _, err = f.adm.CreateTopic(f.ctx, 1, 1, nil, f.Topic); !errors.Is(err, kerr.TopicAlreadyExists) {
		return fmt.Errorf("created twice: %v", err)
	}
	return nil
}

func (f *franz) describe() error {
	t, err := f.adm.ListTopics(f.ctx, f.Topic)
	if err != nil {
		return err
	}
	if len(t[f.Topic].Partitions) != suite.Partitions || t[f.Topic].ID == (kadm.TopicID{}) {
		return fmt.Errorf("topic: %+v", t)
	}
	for _, p := range t[f.Topic].Partitions {
		if p.Leader < 0 || len(p.ISR) != 1 || p.Err != nil {
			return fmt.Errorf("partition: %+v", p)
		}
	}
	return nil
}

func (f *franz) configs() error {
	value := "7200000"
	if _, err := f.adm.AlterTopicConfigs(f.ctx, []kadm.AlterConfig{{Name: "retention.ms", Value: &value}}, f.Topic); err != nil {
		return err
	}
	// Apache's broker may answer from the metadata of a moment before.
	return suite.Until("the new value", func() bool {
		r, err := f.adm.DescribeTopicConfigs(f.ctx, f.Topic)
		return err == nil && len(r) == 1 && slices.ContainsFunc(r[0].Configs, func(c kadm.Config) bool {
			return c.Key == "retention.ms" && c.MaybeValue() == value && c.Source == kmsg.ConfigSourceDynamicTopicConfig
		})
	})
}

func (f *franz) produce(label string, opts ...kgo.Opt) error {
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(f.Bootstrap), kgo.DefaultProduceTopic(f.Topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	var mu sync.Mutex
	var fault error
	f.written.Values(label, 300, func(p int32, v string) {
		r := &kgo.Record{Partition: p, Key: []byte("k"), Value: []byte(v), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("1")}}}
		cl.Produce(f.ctx, r, func(_ *kgo.Record, err error) {
			mu.Lock()
			defer mu.Unlock()
			fault = errors.Join(fault, err)
		})
	})
	if err := cl.Flush(f.ctx); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	return fault
}

func (f *franz) consume() error { return f.readAll() }

func (f *franz) consumeSessionless() error {
	return f.readAll(kgo.DisableFetchSessions(), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
}

func (f *franz) readAll(opts ...kgo.Opt) error {
	start := map[int32]kgo.Offset{}
	for p := range int32(suite.Partitions) {
		start[p] = kgo.NewOffset().AtStart()
	}
	cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(f.Bootstrap),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{f.Topic: start}))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	var got suite.Log
	ctx, cancel := context.WithTimeout(f.ctx, time.Minute)
	defer cancel()
	for got.Count() < f.written.Count() {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		fetches.EachRecord(func(r *kgo.Record) { got.Add(r.Partition, string(r.Value)) })
	}
	return f.written.Same(&got, suite.Mark{})
}

func (f *franz) offsets() error {
	start, err := f.adm.ListStartOffsets(f.ctx, f.Topic)
	if err != nil {
		return err
	}
	end, err := f.adm.ListEndOffsets(f.ctx, f.Topic)
	if err != nil {
		return err
	}
	for p := range int32(suite.Partitions) {
		s, _ := start.Lookup(f.Topic, p)
		e, _ := end.Lookup(f.Topic, p)
		if s.Offset != 0 || e.Offset != int64(f.written.Len(p)) {
			return fmt.Errorf("partition %d: %d to %d", p, s.Offset, e.Offset)
		}
	}
	at, err := f.adm.ListOffsetsAfterMilli(f.ctx, 1, f.Topic)
	if err != nil {
		return err
	}
	if o, _ := at.Lookup(f.Topic, 0); o.Offset != 0 {
		return fmt.Errorf("offset by time: %+v", o)
	}
	max, err := f.adm.ListMaxTimestampOffsets(f.ctx, f.Topic)
	if err != nil {
		return err
	}
	if o, _ := max.Lookup(f.Topic, 0); o.Offset < 0 {
		return fmt.Errorf("offset of the largest time: %+v", o)
	}
	return nil
}

func (f *franz) describeGroup() error {
	d, err := f.adm.DescribeGroups(f.ctx, f.Group)
	if err != nil {
		return err
	}
	if d[f.Group].State != "Empty" {
		return fmt.Errorf("group: %+v", d)
	}
	o, err := f.adm.FetchOffsets(f.ctx, f.Group)
	if err != nil {
		return err
	}
	for p := range int32(suite.Partitions) {
		if c, _ := o.Lookup(f.Topic, p); c.At != int64(f.written.Len(p)) {
			return fmt.Errorf("partition %d: committed %d", p, c.At)
		}
	}
	l, err := f.adm.ListGroups(f.ctx)
	if err != nil {
		return err
	}
	if _, ok := l[f.Group]; !ok {
		return errors.New("not listed")
	}
	return nil
}

func (f *franz) cooperative() error {
	saved := f.Group
	defer func() { f.Group = saved }()
	f.Group += "-coop"
	if err := suite.TwoMembers(&f.written, f.member(kgo.CooperativeStickyBalancer())); err != nil {
		return err
	}
	_, err := f.adm.DeleteGroup(f.ctx, f.Group)
	return err
}

func (f *franz) deleteGroup() error {
	if _, err := f.adm.DeleteGroup(f.ctx, f.Group); err != nil {
		return err
	}
	l, err := f.adm.ListGroups(f.ctx)
	if err != nil {
		return err
	}
	if _, ok := l[f.Group]; ok {
		return errors.New("still listed")
	}
	return nil
}

func (f *franz) grow() error {
	if _, err := f.adm.UpdatePartitions(f.ctx, suite.Partitions+1, f.Topic); err != nil {
		return err
	}
	return suite.Until("the new partition", func() bool {
		t, err := f.adm.ListTopics(f.ctx, f.Topic)
		return err == nil && len(t[f.Topic].Partitions) == suite.Partitions+1
	})
}

func (f *franz) deleteTopic() error {
	if _, err := f.adm.DeleteTopic(f.ctx, f.Topic); err != nil {
		return err
	}
	return suite.Until("the topic gone", func() bool {
		t, err := f.adm.ListTopics(f.ctx)
		return err == nil && !t.Has(f.Topic)
	})
}
