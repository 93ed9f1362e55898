package config

// topicKeys are the keys of topics, by name.
var topicKeys = []Key{
	{
		Name: "cleanup.policy", Type: List, Default: "delete", Valid: "list:compact,delete",
		Synonyms: []Synonym{{"log.cleanup.policy", 1}},
		Doc:      "What happens to old segments: delete, compact, or both; empty keeps them for ever.",
	},
	{
		Name: "compression.gzip.level", Type: Int, Default: "-1", Valid: "-1|1..9",
		Synonyms: []Synonym{{"compression.gzip.level", 1}},
		Doc:      "Level of gzip when the broker compresses.",
	},
	{
		Name: "compression.lz4.level", Type: Int, Default: "9", Valid: "1..17",
		Synonyms: []Synonym{{"compression.lz4.level", 1}},
		Doc:      "Level of lz4 when the broker compresses.",
	},
	{
		Name: "compression.type", Type: Str, Default: "producer",
		Valid:    "one:uncompressed,zstd,lz4,snappy,gzip,producer",
		Synonyms: []Synonym{{"compression.type", 1}},
		Doc:      "Compression of stored batches; producer keeps what the client chose.",
	},
	{
		Name: "compression.zstd.level", Type: Int, Default: "3", Valid: "-131072..22",
		Synonyms: []Synonym{{"compression.zstd.level", 1}},
		Doc:      "Level of zstd when the broker compresses.",
	},
	{
		Name: "delete.retention.ms", Type: Long, Default: "86400000", Valid: "0..",
		Synonyms: []Synonym{{"log.cleaner.delete.retention.ms", 1}},
		Doc:      "How long a delete marker of a compacted topic stays, for readers to see it.",
	},
	{
		Name: "errors.deadletterqueue.group.enable", Type: Boolean, Default: "false", Status: Later,
		Doc: "Let share groups write their failed records to this topic.",
	},
	{
		Name: "file.delete.delay.ms", Type: Long, Default: "60000", Valid: "0..",
		Synonyms: []Synonym{{"log.segment.delete.delay.ms", 1}},
		Doc:      "How long a deleted file stays on disk under its new name.",
	},
	{
		Name: "flush.messages", Type: Long, Default: "9223372036854775807", Valid: "1..",
		Synonyms: []Synonym{{"log.flush.interval.messages", 1}},
		Doc:      "Records after which the log is synced to disk.",
	},
	{
		Name: "flush.ms", Type: Long, Default: "9223372036854775807", Valid: "0..",
		Synonyms: []Synonym{{"log.flush.interval.ms", 1}, {"log.flush.scheduler.interval.ms", 1}},
		Doc:      "How long a record may stay unsynced.",
	},
	{
		Name: "follower.replication.throttled.replicas", Type: List, Default: "", Valid: "replicas",
		Status: Later,
		Doc:    "Replicas whose fetching is throttled, as partition:broker pairs, or *.",
	},
	{
		Name: "index.interval.bytes", Type: Int, Default: "4096", Valid: "0..",
		Synonyms: []Synonym{{"log.index.interval.bytes", 1}},
		Doc:      "Bytes of log between two entries of an index.",
	},
	{
		Name: "internal.segment.bytes", Type: Int, Default: Null, Status: Later, Internal: true,
		Doc: "Segment size without the usual minimum; for tests.",
	},
	{
		Name: "leader.replication.throttled.replicas", Type: List, Default: "", Valid: "replicas",
		Status: Later,
		Doc:    "Replicas that are served throttled, as partition:broker pairs, or *.",
	},
	{
		Name: "local.retention.bytes", Type: Long, Default: "-2", Valid: "-2..", Status: Later,
		Synonyms: []Synonym{{"log.local.retention.bytes", 1}},
		Doc:      "Bytes of a partition kept on local disk when it is tiered; -2 is retention.bytes.",
	},
	{
		Name: "local.retention.ms", Type: Long, Default: "-2", Valid: "-2..", Status: Later,
		Synonyms: []Synonym{{"log.local.retention.ms", 1}},
		Doc:      "How long a segment stays on local disk when it is tiered; -2 is retention.ms.",
	},
	{
		Name: "max.compaction.lag.ms", Type: Long, Default: "9223372036854775807", Valid: "1..",
		Synonyms: []Synonym{{"log.cleaner.max.compaction.lag.ms", 1}},
		Doc:      "A record waits at most this long before it can be compacted.",
	},
	{
		Name: "max.decompressed.message.bytes", Type: Int, Default: "2147483639", Valid: "1..2147483639",
		Synonyms: []Synonym{{"max.decompressed.message.bytes", 1}},
		Doc:      "Most bytes that a batch may hold once decompressed.",
	},
	{
		Name: "max.message.bytes", Type: Int, Default: "1048588", Valid: "0..",
		Synonyms: []Synonym{{"message.max.bytes", 1}},
		Doc:      "Largest batch, after compression, that is accepted.",
	},
	{
		Name: "message.timestamp.after.max.ms", Type: Long, Default: "3600000", Valid: "0..",
		Synonyms: []Synonym{{"log.message.timestamp.after.max.ms", 1}},
		Doc:      "How far a record's timestamp may be ahead of the broker's clock.",
	},
	{
		Name: "message.timestamp.before.max.ms", Type: Long, Default: "9223372036854775807", Valid: "0..",
		Synonyms: []Synonym{{"log.message.timestamp.before.max.ms", 1}},
		Doc:      "How far a record's timestamp may be behind the broker's clock.",
	},
	{
		Name: "message.timestamp.type", Type: Str, Default: "CreateTime",
		Valid:    "one:CreateTime,LogAppendTime",
		Synonyms: []Synonym{{"log.message.timestamp.type", 1}},
		Doc:      "Whose time a record carries: the producer's (CreateTime) or the broker's (LogAppendTime).",
	},
	{
		Name: "min.cleanable.dirty.ratio", Type: Double, Default: "0.5", Valid: "0..1",
		Synonyms: []Synonym{{"log.cleaner.min.cleanable.ratio", 1}},
		Doc:      "Share of the log that must be uncompacted before it is cleaned.",
	},
	{
		Name: "min.compaction.lag.ms", Type: Long, Default: "0", Valid: "0..",
		Synonyms: []Synonym{{"log.cleaner.min.compaction.lag.ms", 1}},
		Doc:      "A record stays uncompacted at least this long.",
	},
	{
		Name: "min.insync.replicas", Type: Int, Default: "1", Valid: "1..",
		Synonyms: []Synonym{{"min.insync.replicas", 1}},
		Doc:      "Replicas that must have a record before a producer with acks=all is told so.",
	},
	{
		Name: "preallocate", Type: Boolean, Default: "false", Status: Later,
		Synonyms: []Synonym{{"log.preallocate", 1}},
		Doc:      "Reserve the space of a new segment at once.",
	},
	{
		Name: "remote.copy.lag.bytes", Type: Long, Default: "-1", Valid: "-1..", Status: Later,
		Synonyms: []Synonym{{"log.remote.copy.lag.bytes", 1}},
		Doc: "Bytes behind the log's end before a segment is copied to remote storage; -1 is the local " +
			"retention.",
	},
	{
		Name: "remote.copy.lag.ms", Type: Long, Default: "0", Valid: "-1..", Status: Later,
		Synonyms: []Synonym{{"log.remote.copy.lag.ms", 1}},
		Doc:      "Age of a segment before it is copied to remote storage; -1 is the local retention.",
	},
	{
		Name: "remote.log.copy.disable", Type: Boolean, Default: "false", Status: Later,
		Doc: "Stop copying to remote storage.",
	},
	{
		Name: "remote.log.delete.on.disable", Type: Boolean, Default: "false", Status: Later,
		Doc: "Delete what is in remote storage when it is turned off.",
	},
	{
		Name: "remote.storage.enable", Type: Boolean, Default: "false", Status: Later,
		Doc: "Keep old segments in remote storage.",
	},
	{
		Name: "retention.bytes", Type: Long, Default: "-1",
		Synonyms: []Synonym{{"log.retention.bytes", 1}},
		Doc:      "Bytes of a partition that are kept; -1 is no limit.",
	},
	{
		Name: "retention.ms", Type: Long, Default: "604800000", Valid: "-1..",
		Synonyms: []Synonym{
			{"log.retention.ms", 1},
			{"log.retention.minutes", 60000},
			{"log.retention.hours", 3600000},
		},
		Doc: "How long a segment is kept; -1 is for ever.",
	},
	{
		Name: "segment.bytes", Type: Int, Default: "1073741824", Valid: "1048576..",
		Synonyms: []Synonym{{"log.segment.bytes", 1}},
		Doc:      "Size of a segment.",
	},
	{
		Name: "segment.index.bytes", Type: Int, Default: "10485760", Valid: "4..",
		Synonyms: []Synonym{{"log.index.size.max.bytes", 1}},
		Doc:      "Size of an index at which its segment is rolled.",
	},
	{
		Name: "segment.jitter.ms", Type: Long, Default: "0", Valid: "0..",
		Synonyms: []Synonym{{"log.roll.jitter.ms", 1}, {"log.roll.jitter.hours", 3600000}},
		Doc:      "Most random time taken off segment.ms.",
	},
	{
		Name: "segment.ms", Type: Long, Default: "604800000", Valid: "1..",
		Synonyms: []Synonym{{"log.roll.ms", 1}, {"log.roll.hours", 3600000}},
		Doc:      "Age at which a segment is rolled even if it is not full.",
	},
	{
		Name: "unclean.leader.election.enable", Type: Boolean, Default: "false",
		Synonyms: []Synonym{{"unclean.leader.election.enable", 1}},
		Doc: "Allow a replica that is not in sync to lead when no other is left, at the price of lost " +
			"records.",
	},
}
