package seglog

import "math"

// Config is the part of a topic's configuration that its logs act on. Fields are named after the topic keys.
type Config struct {
	SegmentBytes       int64 // segment.bytes
	SegmentMs          int64 // segment.ms
	SegmentJitterMs    int64 // segment.jitter.ms
	IndexBytes         int64 // segment.index.bytes
	IndexIntervalBytes int64 // index.interval.bytes
	FlushMessages      int64 // flush.messages
	FlushMs            int64 // flush.ms
	RetentionBytes     int64 // retention.bytes, -1 for no limit
	RetentionMs        int64 // retention.ms, -1 for no limit
	FileDeleteDelayMs  int64 // file.delete.delay.ms
	Delete, Compact    bool  // cleanup.policy
	MaxCompactionLagMs int64 // max.compaction.lag.ms
}

// DefaultConfig is Kafka's defaults.
func DefaultConfig() Config {
	return Config{
		SegmentBytes: 1 << 30, SegmentMs: 7 * 24 * 3600_000, IndexBytes: 10 << 20, IndexIntervalBytes: 4096,
		FlushMessages: math.MaxInt64, FlushMs: math.MaxInt64, RetentionBytes: -1, RetentionMs: 7 * 24 * 3600_000,
		FileDeleteDelayMs: 60_000, Delete: true, MaxCompactionLagMs: math.MaxInt64,
	}
}

// segmentMs is after how long a segment is full.
func (c *Config) segmentMs() int64 {
	if c.Compact {
		return min(c.SegmentMs, c.MaxCompactionLagMs)
	}
	return c.SegmentMs
}
