package config

// logKeys are the keys about the log of a broker, by name.
var logKeys = []Key{
	{
		Name: "alter.config.policy.class.name", Type: Class, Default: Null, Status: Later,
		Doc: "Policy that judges changed configs.",
	},
	{
		Name: "auto.create.topics.enable", Type: Boolean, Default: "true",
		Doc: "Create a topic when a client asks for one that does not exist.",
	},
	{
		Name: "compression.gzip.level", Type: Int, Default: "-1", Valid: "-1|1..9", Mode: ClusterWide,
		Doc: "Level of gzip when the broker compresses.",
	},
	{
		Name: "compression.lz4.level", Type: Int, Default: "9", Valid: "1..17", Mode: ClusterWide,
		Doc: "Level of lz4 when the broker compresses.",
	},
	{
		Name: "compression.type", Type: Str, Default: "producer",
		Valid: "one:uncompressed,zstd,lz4,snappy,gzip,producer", Mode: ClusterWide,
		Doc: "Compression of stored batches; producer keeps what the client chose.",
	},
	{
		Name: "compression.zstd.level", Type: Int, Default: "3", Valid: "-131072..22", Mode: ClusterWide,
		Doc: "Level of zstd when the broker compresses.",
	},
	{
		Name: "cordoned.log.dirs", Type: List, Default: "", Valid: "list", Mode: PerBroker, Status: Later,
		Doc: "Log directories that get no new partitions; * is all.",
	},
	{
		Name: "create.topic.policy.class.name", Type: Class, Default: Null, Status: Later,
		Doc: "Policy that judges new topics.",
	},
	{
		Name: "default.replication.factor", Type: Int, Default: "1",
		Doc: "Replicas of a topic that is created without a number.",
	},
	{
		Name: "delete.topic.enable", Type: Boolean, Default: "true",
		Doc: "Allow topics to be deleted.",
	},
	{
		Name: "log.cleaner.backoff.ms", Type: Long, Default: "15000", Valid: "0..", Mode: ClusterWide,
		Doc: "How long the cleaner rests when there is nothing to clean.",
	},
	{
		Name: "log.cleaner.dedupe.buffer.size", Type: Long, Default: "134217728", Mode: ClusterWide,
		Doc: "Memory of all cleaners for finding duplicate keys.",
	},
	{
		Name: "log.cleaner.delete.retention.ms", Type: Long, Default: "86400000", Valid: "0..",
		Mode: ClusterWide,
		Doc:  "How long a delete marker of a compacted topic stays, for readers to see it.",
	},
	{
		Name: "log.cleaner.enable", Type: Boolean, Default: "true",
		Doc: "Compact logs; off makes compacted topics grow for ever.",
	},
	{
		Name: "log.cleaner.io.buffer.load.factor", Type: Double, Default: "0.9", Mode: ClusterWide,
		Doc: "How full the table of keys may get; fuller is slower but cleans more at once.",
	},
	{
		Name: "log.cleaner.io.buffer.size", Type: Int, Default: "524288", Valid: "0..", Mode: ClusterWide,
		Doc: "Memory of all cleaners for reading and writing.",
	},
	{
		Name: "log.cleaner.io.max.bytes.per.second", Type: Double, Default: "1.7976931348623157E308",
		Mode: ClusterWide,
		Doc:  "Most bytes that all cleaners together read and write in a second.",
	},
	{
		Name: "log.cleaner.max.compaction.lag.ms", Type: Long, Default: "9223372036854775807",
		Valid: "1..", Mode: ClusterWide,
		Doc: "A record waits at most this long before it can be compacted.",
	},
	{
		Name: "log.cleaner.min.cleanable.ratio", Type: Double, Default: "0.5", Valid: "0..1",
		Mode: ClusterWide,
		Doc:  "Share of a log that must be uncompacted before it is cleaned.",
	},
	{
		Name: "log.cleaner.min.compaction.lag.ms", Type: Long, Default: "0", Valid: "0..",
		Mode: ClusterWide,
		Doc:  "A record stays uncompacted at least this long.",
	},
	{
		Name: "log.cleaner.threads", Type: Int, Default: "1", Valid: "0..", Mode: ClusterWide,
		Doc: "How many logs are cleaned at a time.",
	},
	{
		Name: "log.cleanup.policy", Type: List, Default: "delete", Valid: "list:compact,delete",
		Mode: ClusterWide,
		Doc:  "What happens to old segments: delete, compact, or both.",
	},
	{
		Name: "log.dir", Type: List, Default: "/tmp/kafka-logs", Valid: "list+",
		Doc: "Where logs are kept, if log.dirs is not set.",
	},
	{
		Name: "log.dir.failure.timeout.ms", Type: Long, Default: "30000", Valid: "1..", Status: Later,
		Doc: "A broker that can't tell the controller about a failed directory for this long stops.",
	},
	{
		Name: "log.dirs", Type: List, Default: Null, Valid: "list+",
		Doc: "Where logs are kept: one directory or several, separated by commas.",
	},
	{
		Name: "log.flush.interval.messages", Type: Long, Default: "9223372036854775807", Valid: "1..",
		Mode: ClusterWide,
		Doc:  "Records of a partition after which its log is synced to disk.",
	},
	{
		Name: "log.flush.interval.ms", Type: Long, Default: Null, Mode: ClusterWide,
		Doc: "How long a record may stay unsynced; unset is log.flush.scheduler.interval.ms.",
	},
	{
		Name: "log.flush.offset.checkpoint.interval.ms", Type: Int, Default: "60000", Valid: "0..",
		Doc: "How often recovery points are written.",
	},
	{
		Name: "log.flush.scheduler.interval.ms", Type: Long, Default: "9223372036854775807",
		Doc: "How often it is checked whether a log has to be synced.",
	},
	{
		Name: "log.flush.start.offset.checkpoint.interval.ms", Type: Int, Default: "60000", Valid: "0..",
		Doc: "How often log start offsets are written.",
	},
	{
		Name: "log.index.interval.bytes", Type: Int, Default: "4096", Valid: "0..", Mode: ClusterWide,
		Doc: "Bytes of log between two entries of an index.",
	},
	{
		Name: "log.index.size.max.bytes", Type: Int, Default: "10485760", Valid: "4..", Mode: ClusterWide,
		Doc: "Size of an index at which its segment is rolled.",
	},
	{
		Name: "log.initial.task.delay.ms", Type: Long, Default: "30000", Valid: "0..", Internal: true,
		Doc: "How long after the start the periodic work on logs begins.",
	},
	{
		Name: "log.local.retention.bytes", Type: Long, Default: "-2", Valid: "-2..", Mode: ClusterWide,
		Status: Later,
		Doc:    "Bytes of a partition kept on local disk when it is tiered; -2 is log.retention.bytes.",
	},
	{
		Name: "log.local.retention.ms", Type: Long, Default: "-2", Valid: "-2..", Mode: ClusterWide,
		Status: Later,
		Doc:    "How long a segment stays on local disk when it is tiered; -2 is log.retention.ms.",
	},
	{
		Name: "log.message.timestamp.after.max.ms", Type: Long, Default: "3600000", Valid: "0..",
		Mode: ClusterWide,
		Doc:  "How far a record's timestamp may be ahead of the broker's clock.",
	},
	{
		Name: "log.message.timestamp.before.max.ms", Type: Long, Default: "9223372036854775807",
		Valid: "0..", Mode: ClusterWide,
		Doc: "How far a record's timestamp may be behind the broker's clock.",
	},
	{
		Name: "log.message.timestamp.type", Type: Str, Default: "CreateTime",
		Valid: "one:CreateTime,LogAppendTime", Mode: ClusterWide,
		Doc: "Whose time a record carries: the producer's (CreateTime) or the broker's (LogAppendTime).",
	},
	{
		Name: "log.preallocate", Type: Boolean, Default: "false", Mode: ClusterWide, Status: Later,
		Doc: "Reserve the space of a new segment at once.",
	},
	{
		Name: "log.remote.copy.lag.bytes", Type: Long, Default: "-1", Valid: "-1..", Mode: ClusterWide,
		Status: Later,
		Doc: "Bytes behind the log's end before a segment is copied to remote storage; -1 is the local " +
			"retention.",
	},
	{
		Name: "log.remote.copy.lag.ms", Type: Long, Default: "0", Valid: "-1..", Mode: ClusterWide,
		Status: Later,
		Doc:    "Age of a segment before it is copied to remote storage; -1 is the local retention.",
	},
	{
		Name: "log.retention.bytes", Type: Long, Default: "-1", Mode: ClusterWide,
		Doc: "Bytes of a partition that are kept; -1 is no limit.",
	},
	{
		Name: "log.retention.check.interval.ms", Type: Long, Default: "300000", Valid: "1..",
		Doc: "How often old segments are looked for.",
	},
	{
		Name: "log.retention.hours", Type: Int, Default: "168",
		Doc: "How long a segment is kept, if neither log.retention.minutes nor log.retention.ms is set; " +
			"negative is for ever.",
	},
	{
		Name: "log.retention.minutes", Type: Int, Default: Null,
		Doc: "How long a segment is kept, if log.retention.ms is not set; negative is for ever.",
	},
	{
		Name: "log.retention.ms", Type: Long, Default: Null, Mode: ClusterWide,
		Doc: "How long a segment is kept; -1 is for ever.",
	},
	{
		Name: "log.roll.hours", Type: Int, Default: "168", Valid: "1..",
		Doc: "Age at which a segment is rolled, if log.roll.ms is not set.",
	},
	{
		Name: "log.roll.jitter.hours", Type: Int, Default: "0", Valid: "0..",
		Doc: "Most random time taken off log.roll.hours, if log.roll.jitter.ms is not set.",
	},
	{
		Name: "log.roll.jitter.ms", Type: Long, Default: Null, Mode: ClusterWide,
		Doc: "Most random time taken off the age at which a segment is rolled.",
	},
	{
		Name: "log.roll.ms", Type: Long, Default: Null, Mode: ClusterWide,
		Doc: "Age at which a segment is rolled even if it is not full.",
	},
	{
		Name: "log.segment.bytes", Type: Int, Default: "1073741824", Valid: "1048576..",
		Mode: ClusterWide,
		Doc:  "Size of a segment.",
	},
	{
		Name: "log.segment.delete.delay.ms", Type: Long, Default: "60000", Valid: "0..",
		Mode: ClusterWide,
		Doc:  "How long a deleted file stays on disk under its new name.",
	},
	{
		Name: "max.decompressed.message.bytes", Type: Int, Default: "2147483639", Valid: "1..2147483639",
		Mode: ClusterWide,
		Doc:  "Most bytes that a batch may hold once decompressed.",
	},
	{
		Name: "message.max.bytes", Type: Int, Default: "1048588", Valid: "0..", Mode: ClusterWide,
		Doc: "Largest batch, after compression, that is accepted.",
	},
	{
		Name: "min.insync.replicas", Type: Int, Default: "1", Valid: "1..", Mode: ClusterWide,
		Doc: "Replicas that must have a record before a producer with acks=all is told so.",
	},
	{
		Name: "num.partitions", Type: Int, Default: "1", Valid: "1..",
		Doc: "Partitions of a topic that is created without a number.",
	},
	{
		Name: "num.recovery.threads.per.data.dir", Type: Int, Default: "2", Valid: "1..",
		Mode: ClusterWide,
		Doc:  "How many logs of a directory are opened and recovered at a time.",
	},
	{
		Name: "num.replica.alter.log.dirs.threads", Type: Int, Default: Null, Status: Later,
		Doc: "How many threads move replicas between directories.",
	},
	{
		Name: "producer.id.expiration.check.interval.ms", Type: Int, Default: "600000", Valid: "1..",
		Internal: true,
		Doc:      "How often idle producers are looked for.",
	},
	{
		Name: "producer.id.expiration.ms", Type: Int, Default: "86400000", Valid: "1..",
		Mode: ClusterWide,
		Doc:  "How long a partition remembers an idempotent producer that does not write.",
	},
	{
		Name: "unclean.leader.election.enable", Type: Boolean, Default: "false", Mode: ClusterWide,
		Doc: "Allow a replica that is not in sync to lead when no other is left, at the price of lost " +
			"records.",
	},
}
