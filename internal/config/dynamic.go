package config

// Dynamic is what the metadata log holds for this broker.
type Dynamic struct {
	Broker  map[string]string // of this broker
	Default map[string]string // of all brokers
}

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
	RetentionBytes, RetentionMs    int64
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
