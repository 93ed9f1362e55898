package broker

import (
	"math"

	"github.com/kalda/kalda/internal/config"
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
