package config

// replicationKeys are the keys about replicas and reading from them, by name.
var replicationKeys = []Key{
	{
		Name: "auto.leader.rebalance.enable", Type: Boolean, Default: "true", Status: Later,
		Doc: "Give leadership back to preferred replicas from time to time.",
	},
	{
		Name: "broker.rack", Type: Str, Default: Null,
		Doc: "Rack of this broker; replicas are spread over racks.",
	},
	{
		Name: "controller.socket.timeout.ms", Type: Int, Default: "30000", Status: Nothing,
		Doc: "Socket timeout of a channel that KRaft does not have.",
	},
	{
		Name: "delete.records.purgatory.purge.interval.requests", Type: Int, Default: "1",
		Status: Nothing,
		Doc:    "How often a purgatory is purged. Waiting requests are kept with their partition here.",
	},
	{
		Name: "fetch.max.bytes", Type: Int, Default: "57671680", Valid: "1024..",
		Doc: "Most bytes that one fetch gets.",
	},
	{
		Name: "fetch.purgatory.purge.interval.requests", Type: Int, Default: "1000", Status: Nothing,
		Doc: "How often a purgatory is purged. Waiting requests are kept with their partition here.",
	},
	{
		Name: "follower.fetch.last.tiered.offset.enable", Type: Boolean, Default: "false",
		Mode: ClusterWide, Status: Later,
		Doc: "Let a new follower of a tiered partition start at the last tiered offset.",
	},
	{
		Name: "follower.replication.throttled.rate", Type: Long, Default: "9223372036854775807",
		Valid: "0..", Mode: DynamicOnly, Status: Later,
		Doc: "Bytes a second that throttled replicas of this broker fetch.",
	},
	{
		Name: "leader.imbalance.check.interval.seconds", Type: Long, Default: "300", Valid: "1..",
		Status: Later,
		Doc:    "How often the imbalance of leaders is checked.",
	},
	{
		Name: "leader.replication.throttled.rate", Type: Long, Default: "9223372036854775807",
		Valid: "0..", Mode: DynamicOnly, Status: Later,
		Doc: "Bytes a second that throttled replicas are sent by this broker.",
	},
	{
		Name: "max.incremental.fetch.session.cache.slots", Type: Int, Default: "1000", Valid: "0..",
		Doc: "Most incremental fetch sessions that are kept.",
	},
	{
		Name: "max.request.partition.size.limit", Type: Int, Default: "2000", Valid: "1..",
		Doc: "Most partitions in one page of DescribeTopicPartitions.",
	},
	{
		Name: "num.replica.fetchers", Type: Int, Default: "1", Valid: "1..", Mode: ClusterWide,
		Status: Later,
		Doc:    "Connections to each leader that replicas are fetched over.",
	},
	{
		Name: "producer.purgatory.purge.interval.requests", Type: Int, Default: "1000", Status: Nothing,
		Doc: "How often a purgatory is purged. Waiting requests are kept with their partition here.",
	},
	{
		Name: "replica.alter.log.dirs.io.max.bytes.per.second", Type: Long,
		Default: "9223372036854775807", Valid: "0..", Mode: DynamicOnly, Status: Later,
		Doc: "Bytes a second that moving replicas between directories may take.",
	},
	{
		Name: "replica.fetch.backoff.ms", Type: Int, Default: "1000", Valid: "0..", Status: Later,
		Doc: "How long a follower waits after a failed fetch.",
	},
	{
		Name: "replica.fetch.max.bytes", Type: Int, Default: "1048576", Valid: "0..", Status: Later,
		Doc: "Bytes of a partition that a follower asks for at a time.",
	},
	{
		Name: "replica.fetch.min.bytes", Type: Int, Default: "1", Status: Later,
		Doc: "Least bytes that a follower waits for.",
	},
	{
		Name: "replica.fetch.response.max.bytes", Type: Int, Default: "10485760", Valid: "0..",
		Status: Later,
		Doc:    "Bytes that a follower asks for at a time.",
	},
	{
		Name: "replica.fetch.wait.max.ms", Type: Int, Default: "500", Status: Later,
		Doc: "Longest time a follower's fetch waits for data.",
	},
	{
		Name: "replica.high.watermark.checkpoint.interval.ms", Type: Long, Default: "5000",
		Doc: "How often high watermarks are written.",
	},
	{
		Name: "replica.lag.time.max.ms", Type: Long, Default: "30000", Status: Later,
		Doc: "A follower that is behind for this long leaves the in-sync replicas.",
	},
	{
		Name: "replica.selector.class", Type: Str, Default: Null, Status: Later,
		Doc: "Chooses the replica that a consumer reads from.",
	},
	{
		Name: "replica.socket.receive.buffer.bytes", Type: Int, Default: "65536", Status: Later,
		Doc: "Receive buffer of a follower's connection.",
	},
	{
		Name: "replica.socket.timeout.ms", Type: Int, Default: "30000", Status: Later,
		Doc: "Socket timeout of a follower's connection.",
	},
	{
		Name: "share.fetch.purgatory.purge.interval.requests", Type: Int, Default: "1000",
		Status: Nothing,
		Doc:    "How often a purgatory is purged. Waiting requests are kept with their partition here.",
	},
	{
		Name: "unclean.leader.election.interval.ms", Type: Long, Default: "300000", Valid: "1..",
		Status: Later, Internal: true,
		Doc: "How often partitions that allow an unclean leader are looked at.",
	},
}
