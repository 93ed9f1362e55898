package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// TopicConfig is the effective configuration of a topic on this broker.
type TopicConfig struct {
	CleanupDelete, CleanupCompact  bool
	CompressionType                string // producer, uncompressed, gzip, snappy, lz4, zstd
	GzipLevel, LZ4Level, ZstdLevel int
	MaxMessageBytes                int
	MaxDecompressedBytes           int
	LogAppendTime                  bool
	TimestampBeforeMaxMs           int64
	TimestampAfterMaxMs            int64
	SegmentBytes                   int
	SegmentMs, SegmentJitterMs     int64
	SegmentIndexBytes              int
	IndexIntervalBytes             int
	FlushMessages, FlushMs         int64
	RetentionBytes, RetentionMs    int64 // -1: for ever
	LocalRetentionBytes            int64 // -2: as RetentionBytes
	LocalRetentionMs               int64 // -2: as RetentionMs
	DeleteRetentionMs              int64
	MinCompactionLagMs             int64
	MaxCompactionLagMs             int64
	MinCleanableDirtyRatio         float64
	FileDeleteDelayMs              int64
	Preallocate                    bool
	MinInsyncReplicas              int
	UncleanLeaderElection          bool
	RemoteStorage                  bool
	LeaderThrottledReplicas        []string
	FollowerThrottledReplicas      []string
}

// synonym returns the broker key that gives a topic or group key its value, and the value in the topic
// key's unit. The first synonym that is not null wins, wherever it is set: a log.roll.hours set at run time
// loses to a log.roll.ms in the file.
func (s *Server) synonym(scope Scope, k *Key) (name, value string) {
	for _, y := range k.Synonyms {
		b := plainKey(y.Name)
		if b == nil {
			continue // a group key that is its own synonym
		}
		v, ok := scope.raw(b, y.Name)
		if !ok {
			continue
		}
		if k.Name == "retention.ms" {
			return y.Name, retention(b, v, y.Factor)
		}
		return y.Name, scale(b, v, y.Factor)
	}
	return k.Name, k.Default
}

func scale(k *Key, value string, factor int64) string {
	if factor == 1 {
		return k.canonical(value)
	}
	n, _ := parseInt(Long, value)
	return strconv.FormatInt(n*factor, 10)
}

// retention is scale for a time of which every negative value means for ever.
func retention(k *Key, value string, factor int64) string {
	if n, _ := parseInt(Long, value); n < 0 {
		return "-1"
	}
	return scale(k, value, factor)
}

// values are the effective values of a resource's keys.
type values struct {
	table     []Key
	overrides map[string]string
	server    *Server
	scope     Scope
}

func (v *values) raw(name string) string {
	k := find(v.table, name)
	if k == nil {
		panic("config: no key " + name)
	}
	if o, ok := v.overrides[name]; ok && k.check(o) == nil {
		return k.canonical(o)
	}
	_, value := v.server.synonym(v.scope, k)
	return value
}

func (v *values) int(name string) int {
	n, _ := strconv.Atoi(v.raw(name))
	return n
}

func (v *values) int64(name string) int64 {
	n, _ := strconv.ParseInt(v.raw(name), 10, 64)
	return n
}

func (v *values) float(name string) float64 {
	f, _ := parseFloat(v.raw(name))
	return f
}

func (v *values) bool(name string) bool { return v.raw(name) == "true" }

func (v *values) list(name string) []string { return parseList(v.raw(name)) }

// Topic returns the effective configuration of a topic with these overrides. Overrides that are not valid
// are passed over, and reported: another release may have written them, and a topic has to work all the
// same.
func (s *Server) Topic(overrides map[string]string, dyn Dynamic) (TopicConfig, error) {
	var bad []error
	for name, value := range overrides {
		if k := TopicKey(name); k == nil {
			bad = append(bad, fmt.Errorf("Unknown topic config name: %s", name))
		} else if err := k.check(value); err != nil {
			bad = append(bad, err)
		}
	}
	v := &values{topicKeys, overrides, s, s.With(dyn)}
	policy := v.list("cleanup.policy")
	c := TopicConfig{
		CleanupDelete:             slices.Contains(policy, "delete"),
		CleanupCompact:            slices.Contains(policy, "compact"),
		CompressionType:           v.raw("compression.type"),
		GzipLevel:                 v.int("compression.gzip.level"),
		LZ4Level:                  v.int("compression.lz4.level"),
		ZstdLevel:                 v.int("compression.zstd.level"),
		MaxMessageBytes:           v.int("max.message.bytes"),
		MaxDecompressedBytes:      v.int("max.decompressed.message.bytes"),
		LogAppendTime:             v.raw("message.timestamp.type") == "LogAppendTime",
		TimestampBeforeMaxMs:      v.int64("message.timestamp.before.max.ms"),
		TimestampAfterMaxMs:       v.int64("message.timestamp.after.max.ms"),
		SegmentBytes:              v.int("segment.bytes"),
		SegmentMs:                 v.int64("segment.ms"),
		SegmentJitterMs:           v.int64("segment.jitter.ms"),
		SegmentIndexBytes:         v.int("segment.index.bytes"),
		IndexIntervalBytes:        v.int("index.interval.bytes"),
		FlushMessages:             v.int64("flush.messages"),
		FlushMs:                   v.int64("flush.ms"),
		RetentionBytes:            v.int64("retention.bytes"),
		RetentionMs:               v.int64("retention.ms"),
		LocalRetentionBytes:       v.int64("local.retention.bytes"),
		LocalRetentionMs:          v.int64("local.retention.ms"),
		DeleteRetentionMs:         v.int64("delete.retention.ms"),
		MinCompactionLagMs:        v.int64("min.compaction.lag.ms"),
		MaxCompactionLagMs:        v.int64("max.compaction.lag.ms"),
		MinCleanableDirtyRatio:    v.float("min.cleanable.dirty.ratio"),
		FileDeleteDelayMs:         v.int64("file.delete.delay.ms"),
		Preallocate:               v.bool("preallocate"),
		MinInsyncReplicas:         v.int("min.insync.replicas"),
		UncleanLeaderElection:     v.bool("unclean.leader.election.enable"),
		RemoteStorage:             v.bool("remote.storage.enable"),
		LeaderThrottledReplicas:   v.list("leader.replication.throttled.replicas"),
		FollowerThrottledReplicas: v.list("follower.replication.throttled.replicas"),
	}
	if n := v.raw("internal.segment.bytes"); n != Null {
		c.SegmentBytes = v.int("internal.segment.bytes")
	}
	return c, errors.Join(bad...)
}
