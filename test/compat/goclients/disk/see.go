package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// seen is all that a client can see of what fill made.
type seen struct {
	Prefix string
	Topics map[string]topic
	Groups map[string]map[string]string // group -> topic/partition -> offset, leader epoch, note
}

type topic struct {
	ID         string
	Configs    map[string]string // those set on the topic
	Partitions []partition
}

type partition struct {
	Start, End int64
	Records    int
	Hash       string // of every record: offset, leader epoch, time and its kind, key, value, headers
}

func (d *disk) see() (*seen, error) {
	s := &seen{Prefix: d.prefix, Topics: map[string]topic{}, Groups: map[string]map[string]string{}}
	topics, err := d.adm.ListTopics(d.ctx)
	if err != nil {
		return nil, err
	}
	for name, t := range topics {
		if !strings.HasPrefix(name, d.prefix+"-") {
			continue
		}
		seen, err := d.seeTopic(name, int32(len(t.Partitions)))
		if err != nil {
			return nil, fmt.Errorf("topic %s: %w", name, err)
		}
		seen.ID = t.ID.String()
		s.Topics[name] = *seen
	}
	for _, g := range []string{d.topic("simple"), d.topic("member")} {
		o, err := d.adm.FetchOffsets(d.ctx, g)
		if err != nil {
			return nil, fmt.Errorf("group %s: %w", g, err)
		}
		s.Groups[g] = map[string]string{}
		for _, r := range o.Sorted() {
			s.Groups[g][fmt.Sprintf("%s/%d", r.Topic, r.Partition)] = fmt.Sprintf("%d %d %s", r.At, r.LeaderEpoch, r.Metadata)
		}
	}
	return s, nil
}

func (d *disk) seeTopic(name string, partitions int32) (*topic, error) {
	t := &topic{Configs: map[string]string{}}
	configs, err := d.adm.DescribeTopicConfigs(d.ctx, name)
	if err != nil {
		return nil, err
	}
	for _, c := range configs[0].Configs {
		if c.Source == kmsg.ConfigSourceDynamicTopicConfig {
			t.Configs[c.Key] = c.MaybeValue()
		}
	}
	start, err := d.adm.ListStartOffsets(d.ctx, name)
	if err != nil {
		return nil, err
	}
	end, err := d.adm.ListEndOffsets(d.ctx, name)
	if err != nil {
		return nil, err
	}
	for p := range partitions {
		from, _ := start.Lookup(name, p)
		to, _ := end.Lookup(name, p)
		if from.Err != nil || to.Err != nil {
			return nil, fmt.Errorf("partition %d: %v, %v", p, from.Err, to.Err)
		}
		seen := partition{Start: from.Offset, End: to.Offset}
		if err := d.seeRecords(name, p, &seen); err != nil {
			return nil, fmt.Errorf("partition %d: %w", p, err)
		}
		t.Partitions = append(t.Partitions, seen)
	}
	return t, nil
}

// seeRecords reads a partition to its end.
func (d *disk) seeRecords(name string, p int32, seen *partition) error {
	hash := sha256.New()
	defer func() { seen.Hash = hex.EncodeToString(hash.Sum(nil)[:8]) }()
	if seen.Start == seen.End {
		return nil
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(d.cl.OptValue(kgo.SeedBrokers).([]string)...),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{name: {p: kgo.NewOffset().At(seen.Start)}}))
	if err != nil {
		return err
	}
	defer cl.Close()
	for next := seen.Start; next < seen.End; {
		f := cl.PollFetches(d.ctx)
		if err := f.Err(); err != nil {
			return err
		}
		f.EachRecord(func(r *kgo.Record) {
			seen.Records++
			next = r.Offset + 1
			fmt.Fprintf(hash, "%d %d %d %d %q %t %q %t %q\n", r.Offset, r.LeaderEpoch, r.Timestamp.UnixMilli(),
				r.Attrs.TimestampType(), r.Key, r.Key == nil, r.Value, r.Value == nil, r.Headers)
		})
	}
	return nil
}
