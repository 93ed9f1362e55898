package config

// remoteKeys are the keys about tiered storage, by name.
var remoteKeys = []Key{
	{
		Name: "remote.fetch.max.wait.ms", Type: Int, Default: "500", Valid: "1..", Mode: ClusterWide,
		Status: Later,
		Doc:    "Longest time a fetch waits for remote storage.",
	},
	{
		Name: "remote.list.offsets.request.timeout.ms", Type: Long, Default: "30000", Valid: "1..",
		Mode: ClusterWide, Status: Later,
		Doc: "Longest time a lookup of offsets waits for remote storage.",
	},
	{
		Name: "remote.log.index.file.cache.total.size.bytes", Type: Long, Default: "1073741824",
		Valid: "1..", Mode: ClusterWide, Status: Later,
		Doc: "Disk space for indexes of remote segments.",
	},
	{
		Name: "remote.log.index.file.cache.ttl.ms", Type: Long, Default: "900000", Valid: "-1..",
		Status: Later, Internal: true,
		Doc: "How long an unused index of a remote segment is kept.",
	},
	{
		Name: "remote.log.manager.copier.thread.pool.size", Type: Int, Default: "10", Valid: "1..",
		Mode: ClusterWide, Status: Later,
		Doc: "How many segments are copied to remote storage at a time.",
	},
	{
		Name: "remote.log.manager.copy.max.bytes.per.second", Type: Long, Default: "9223372036854775807",
		Valid: "1..", Mode: ClusterWide, Status: Later,
		Doc: "Bytes a second that are copied to remote storage.",
	},
	{
		Name: "remote.log.manager.copy.quota.window.num", Type: Int, Default: "11", Valid: "1..",
		Status: Later,
		Doc:    "Samples kept for that quota.",
	},
	{
		Name: "remote.log.manager.copy.quota.window.size.seconds", Type: Int, Default: "1", Valid: "1..",
		Status: Later,
		Doc:    "Length of one such sample.",
	},
	{
		Name: "remote.log.manager.expiration.thread.pool.size", Type: Int, Default: "10", Valid: "1..",
		Mode: ClusterWide, Status: Later,
		Doc: "How many threads expire remote segments.",
	},
	{
		Name: "remote.log.manager.fetch.max.bytes.per.second", Type: Long, Default: "9223372036854775807",
		Valid: "1..", Mode: ClusterWide, Status: Later,
		Doc: "Bytes a second that are read from remote storage.",
	},
	{
		Name: "remote.log.manager.fetch.quota.window.num", Type: Int, Default: "11", Valid: "1..",
		Status: Later,
		Doc:    "Samples kept for that quota.",
	},
	{
		Name: "remote.log.manager.fetch.quota.window.size.seconds", Type: Int, Default: "1", Valid: "1..",
		Status: Later,
		Doc:    "Length of one such sample.",
	},
	{
		Name: "remote.log.manager.follower.thread.pool.size", Type: Int, Default: "2", Valid: "1..",
		Mode: ClusterWide, Status: Later,
		Doc: "How many threads keep followers' view of remote segments.",
	},
	{
		Name: "remote.log.manager.task.interval.ms", Type: Long, Default: "30000", Valid: "1..",
		Status: Later,
		Doc:    "How often segments are looked for that can be copied or expired.",
	},
	{
		Name: "remote.log.manager.task.retry.backoff.max.ms", Type: Long, Default: "30000", Valid: "1..",
		Status: Later, Internal: true,
		Doc: "Longest wait after a failed task.",
	},
	{
		Name: "remote.log.manager.task.retry.backoff.ms", Type: Long, Default: "500", Valid: "1..",
		Status: Later, Internal: true,
		Doc: "First wait after a failed task.",
	},
	{
		Name: "remote.log.manager.task.retry.jitter", Type: Double, Default: "0.2", Valid: "0..0.5",
		Status: Later, Internal: true,
		Doc: "Random share of those waits.",
	},
	{
		Name: "remote.log.manager.thread.pool.size", Type: Int, Default: "2", Valid: "1..", Status: Later,
		Doc: "Older size of the pools for remote segments.",
	},
	{
		Name: "remote.log.metadata.custom.metadata.max.bytes", Type: Int, Default: "128", Valid: "0..",
		Status: Later,
		Doc:    "Longest note that remote storage may attach to a segment.",
	},
	{
		Name: "remote.log.metadata.manager.class.name", Type: Str,
		Default: "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
		Valid:   "nonempty", Status: Later,
		Doc: "Keeps what is known about remote segments.",
	},
	{
		Name: "remote.log.metadata.manager.class.path", Type: Str, Default: Null, Status: Nothing,
		Doc: "Java class path of that class.",
	},
	{
		Name: "remote.log.metadata.manager.impl.prefix", Type: Str, Default: "rlmm.config.",
		Valid: "nonempty", Status: Later,
		Doc: "Prefix of keys passed to that class.",
	},
	{
		Name: "remote.log.metadata.manager.listener.name", Type: Str, Default: Null, Valid: "nonempty",
		Status: Later,
		Doc:    "Listener that it uses to reach brokers.",
	},
	{
		Name: "remote.log.reader.max.pending.tasks", Type: Int, Default: "100", Valid: "1..",
		Status: Later,
		Doc:    "Most reads that wait for remote storage.",
	},
	{
		Name: "remote.log.reader.threads", Type: Int, Default: "10", Valid: "1..", Mode: ClusterWide,
		Status: Later,
		Doc:    "How many reads of remote storage run at a time.",
	},
	{
		Name: "remote.log.storage.manager.class.name", Type: Str, Default: Null, Valid: "nonempty",
		Status: Later,
		Doc:    "Keeps remote segments.",
	},
	{
		Name: "remote.log.storage.manager.class.path", Type: Str, Default: Null, Status: Nothing,
		Doc: "Java class path of that class.",
	},
	{
		Name: "remote.log.storage.manager.impl.prefix", Type: Str, Default: "rsm.config.",
		Valid: "nonempty", Status: Later,
		Doc: "Prefix of keys passed to that class.",
	},
	{
		Name: "remote.log.storage.system.enable", Type: Boolean, Default: "false", Status: Later,
		Doc: "Tiered storage for topics that ask for it.",
	},
}
