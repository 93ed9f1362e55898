package broker

import (
	"math"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/compact"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/format/batch"
)

// defaultTopic is Kafka's defaults, for a Broker that nobody gave a configuration.
func defaultTopic(map[string]string) config.TopicConfig {
	const week = 7 * 24 * 3600_000
	return config.TopicConfig{
		CleanupDelete: true, CompressionType: "producer", GzipLevel: -1, LZ4Level: 9, ZstdLevel: 3,
		MaxMessageBytes: 1048588, MaxDecompressedBytes: 1 << 30,
		TimestampBeforeMaxMs: math.MaxInt64, TimestampAfterMaxMs: 3600_000,
		SegmentBytes: 1 << 30, SegmentMs: week, SegmentIndexBytes: 10 << 20, IndexIntervalBytes: 4096,
		FlushMessages: math.MaxInt64, FlushMs: math.MaxInt64, RetentionBytes: -1, RetentionMs: week,
		LocalRetentionBytes: -2, LocalRetentionMs: -2, DeleteRetentionMs: 24 * 3600_000,
		MaxCompactionLagMs: math.MaxInt64, MinCleanableDirtyRatio: 0.5, FileDeleteDelayMs: 60_000,
		MinInsyncReplicas: 1,
	}
}

// topicRules is a topic's configuration as the partitions use it. Immutable, but for the codec's own state.
type topicRules struct {
	batch   batch.Rules
	codec   batch.Decompressor
	log     seglog.Config
	compact compact.Config
	minISR  int
}

func newTopicRules(c config.TopicConfig) *topicRules {
	r := &topicRules{minISR: c.MinInsyncReplicas}
	r.batch = batch.Rules{
		MaxBytes: c.MaxMessageBytes, Compacted: c.CleanupCompact, LogAppendTime: c.LogAppendTime,
		BeforeMaxMs: c.TimestampBeforeMaxMs, AfterMaxMs: c.TimestampAfterMaxMs, Level: batch.DefaultLevel,
	}
	r.batch.Target, r.batch.Level = codecOf(&c)
	r.codec.MaxBytes = c.MaxDecompressedBytes
	r.log = seglog.Config{
		SegmentBytes: int64(c.SegmentBytes), SegmentMs: c.SegmentMs, SegmentJitterMs: c.SegmentJitterMs,
		IndexBytes: int64(c.SegmentIndexBytes), IndexIntervalBytes: int64(c.IndexIntervalBytes),
		FlushMessages: c.FlushMessages, FlushMs: c.FlushMs,
		RetentionBytes: c.RetentionBytes, RetentionMs: c.RetentionMs, FileDeleteDelayMs: c.FileDeleteDelayMs,
		Delete: c.CleanupDelete, Compact: c.CleanupCompact, MaxCompactionLagMs: c.MaxCompactionLagMs,
	}
	r.compact = compact.Config{
		MinLagMs: c.MinCompactionLagMs, MaxLagMs: c.MaxCompactionLagMs, MinDirty: c.MinCleanableDirtyRatio,
		DeleteRetentionMs: c.DeleteRetentionMs, SegmentBytes: r.log.SegmentBytes, IndexBytes: r.log.IndexBytes,
	}
	return r
}

// codecOf is the codec that compression.type asks for, nil for the producer's, and its level.
func codecOf(c *config.TopicConfig) (*batch.Codec, int) {
	codec, level := batch.None, batch.DefaultLevel
	switch c.CompressionType {
	case "gzip":
		codec, level = batch.Gzip, c.GzipLevel
		if level == -1 {
			level = batch.DefaultLevel
		}
	case "snappy":
		codec = batch.Snappy
	case "lz4":
		codec, level = batch.LZ4, c.LZ4Level
	case "zstd":
		codec, level = batch.Zstd, c.ZstdLevel
	case "uncompressed":
	default:
		return nil, level
	}
	return &codec, level
}
