package config

// transactionKeys are the keys about transactions and share state, by name.
var transactionKeys = []Key{
	{
		Name: "add.partitions.to.txn.retry.backoff.max.ms", Type: Int, Default: "100", Valid: "0..",
		Doc: "Longest time for which adding partitions is retried while the last transaction completes.",
	},
	{
		Name: "add.partitions.to.txn.retry.backoff.ms", Type: Int, Default: "20", Valid: "1..",
		Doc: "Wait between attempts to add partitions while the last transaction completes.",
	},
	{
		Name: "share.coordinator.append.linger.ms", Type: Int, Default: "-1", Valid: "-1..",
		Status: Later,
		Doc: "How long share state is gathered before it is written; -1 is as long as it takes to handle " +
			"what waits.",
	},
	{
		Name: "share.coordinator.cached.buffer.max.bytes", Type: Int, Default: "1048588",
		Valid: "524288..", Mode: ClusterWide, Status: Later,
		Doc: "Largest buffer that a share coordinator keeps for the next write.",
	},
	{
		Name: "share.coordinator.cold.partition.snapshot.interval.ms", Type: Int, Default: "300000",
		Valid: "1..", Status: Later, Internal: true,
		Doc: "How often state of idle share partitions is written again.",
	},
	{
		Name: "share.coordinator.load.buffer.size", Type: Int, Default: "5242880", Valid: "1..",
		Status: Later,
		Doc:    "Bytes that are read at a time when a share coordinator loads a partition.",
	},
	{
		Name: "share.coordinator.snapshot.update.records.per.snapshot", Type: Int, Default: "500",
		Valid: "0..500", Status: Later,
		Doc: "Updates of share state between two snapshots.",
	},
	{
		Name: "share.coordinator.state.topic.compression.codec", Type: Int, Default: "0", Status: Later,
		Doc: "Compression of __share_group_state.",
	},
	{
		Name: "share.coordinator.state.topic.min.isr", Type: Short, Default: "2", Valid: "1..",
		Status: Later,
		Doc:    "min.insync.replicas of __share_group_state.",
	},
	{
		Name: "share.coordinator.state.topic.num.partitions", Type: Int, Default: "50", Valid: "1..",
		Status: Later,
		Doc:    "Partitions of __share_group_state when it is created.",
	},
	{
		Name: "share.coordinator.state.topic.prune.interval.ms", Type: Int, Default: "300000",
		Valid: "1..", Status: Later, Internal: true,
		Doc: "How often old share state is deleted.",
	},
	{
		Name: "share.coordinator.state.topic.replication.factor", Type: Short, Default: "3", Valid: "1..",
		Status: Later,
		Doc:    "Replicas of __share_group_state when it is created.",
	},
	{
		Name: "share.coordinator.state.topic.segment.bytes", Type: Int, Default: "104857600",
		Valid: "1..", Status: Later,
		Doc: "Segment size of __share_group_state.",
	},
	{
		Name: "share.coordinator.threads", Type: Int, Default: "1", Valid: "1..", Status: Nothing,
		Doc: "Apache's threads of the share coordinator.",
	},
	{
		Name: "share.coordinator.write.timeout.ms", Type: Int, Default: "5000", Valid: "1..",
		Status: Later,
		Doc:    "A write of share state that is not replicated after this long fails.",
	},
	{
		Name: "transaction.abort.timed.out.transaction.cleanup.interval.ms", Type: Int, Default: "10000",
		Valid: "1..",
		Doc:   "How often transactions that took too long are looked for.",
	},
	{
		Name: "transaction.max.timeout.ms", Type: Int, Default: "900000", Valid: "1..",
		Doc: "Longest timeout that a transactional producer may ask for.",
	},
	{
		Name: "transaction.partition.verification.enable", Type: Boolean, Default: "true",
		Mode: ClusterWide,
		Doc:  "Ask the coordinator whether a transaction is under way before its first record is written.",
	},
	{
		Name: "transaction.remove.expired.transaction.cleanup.interval.ms", Type: Int, Default: "3600000",
		Valid: "1..",
		Doc:   "How often expired transactional ids are looked for.",
	},
	{
		Name: "transaction.state.log.load.buffer.size", Type: Int, Default: "5242880", Valid: "1..",
		Doc: "Bytes that are read at a time when a transaction coordinator loads a partition.",
	},
	{
		Name: "transaction.state.log.min.isr", Type: Int, Default: "2", Valid: "1..",
		Doc: "min.insync.replicas of __transaction_state.",
	},
	{
		Name: "transaction.state.log.num.partitions", Type: Int, Default: "50", Valid: "1..",
		Doc: "Partitions of __transaction_state when it is created.",
	},
	{
		Name: "transaction.state.log.replication.factor", Type: Short, Default: "3", Valid: "1..",
		Doc: "Replicas of __transaction_state when it is created, as far as there are brokers.",
	},
	{
		Name: "transaction.state.log.segment.bytes", Type: Int, Default: "104857600", Valid: "1..",
		Doc: "Segment size of __transaction_state.",
	},
	{
		Name: "transaction.two.phase.commit.enable", Type: Boolean, Default: "false", Status: Later,
		Doc: "Let producers hold transactions open for an outside coordinator.",
	},
	{
		Name: "transactional.id.expiration.ms", Type: Int, Default: "604800000", Valid: "1..",
		Doc: "How long an idle transactional id is remembered.",
	},
}
