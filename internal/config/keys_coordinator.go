package config

// coordinatorKeys are the keys about the group coordinator, by name.
var coordinatorKeys = []Key{
	{
		Name: "errors.deadletterqueue.auto.create.topics.enable", Type: Boolean, Default: "false",
		Mode: ClusterWide, Status: Later,
		Doc: "Create the topic that takes a share group's failed records when it is missing.",
	},
	{
		Name: "errors.deadletterqueue.topic.name.prefix", Type: Str, Default: "dlq.", Mode: ClusterWide,
		Status: Later,
		Doc:    "Prefix of names of topics that take failed records.",
	},
	{
		Name: "group.consumer.assignment.interval.ms", Type: Int, Default: "1000", Valid: "0..",
		Mode: ClusterWide,
		Doc:  "Least time between two assignments of a consumer group.",
	},
	{
		Name: "group.consumer.assignor.offload.enable", Type: Boolean, Default: "true", Mode: ClusterWide,
		Status: Later, Internal: true,
		Doc: "Compute assignments of consumer groups aside.",
	},
	{
		Name: "group.consumer.assignors", Type: List, Default: "uniform,range", Valid: "list+",
		Doc: "Server-side assignors of consumer groups, the first being the default.",
	},
	{
		Name: "group.consumer.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: "1..",
		Doc: "Heartbeat interval of members of consumer groups.",
	},
	{
		Name: "group.consumer.max.assignment.interval.ms", Type: Int, Default: "15000", Valid: "0..",
		Doc: "Largest value a group may set for its assignment interval.",
	},
	{
		Name: "group.consumer.max.heartbeat.interval.ms", Type: Int, Default: "15000", Valid: "1..",
		Doc: "Largest value a group may set for its heartbeat interval.",
	},
	{
		Name: "group.consumer.max.session.timeout.ms", Type: Int, Default: "60000", Valid: "1..",
		Doc: "Largest value a group may set for its session timeout.",
	},
	{
		Name: "group.consumer.max.size", Type: Int, Default: "2147483647", Valid: "1..",
		Doc: "Most members of a consumer group.",
	},
	{
		Name: "group.consumer.migration.policy", Type: Str, Default: "bidirectional",
		Valid: "anycase:DISABLED,DOWNGRADE,UPGRADE,BIDIRECTIONAL",
		Doc:   "Which ways a group may change between the classic and the consumer protocol.",
	},
	{
		Name: "group.consumer.min.assignment.interval.ms", Type: Int, Default: "0", Valid: "0..",
		Doc: "Smallest value a group may set for its assignment interval.",
	},
	{
		Name: "group.consumer.min.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: "1..",
		Doc: "Smallest value a group may set for its heartbeat interval.",
	},
	{
		Name: "group.consumer.min.session.timeout.ms", Type: Int, Default: "45000", Valid: "1..",
		Doc: "Smallest value a group may set for its session timeout.",
	},
	{
		Name: "group.consumer.regex.refresh.interval.ms", Type: Int, Default: "600000", Valid: "10000..",
		Internal: true,
		Doc:      "How often subscriptions by pattern are matched with topics again.",
	},
	{
		Name: "group.consumer.session.timeout.ms", Type: Int, Default: "45000", Valid: "1..",
		Doc: "A member of a consumer group that is silent for this long is removed.",
	},
	{
		Name: "group.coordinator.append.linger.ms", Type: Int, Default: "-1", Valid: "-1..", Status: Later,
		Doc: "How long group changes are gathered before they are written; -1 is as long as it takes to " +
			"handle what waits.",
	},
	{
		Name: "group.coordinator.background.threads", Type: Int, Default: "2", Valid: "1..",
		Status: Nothing,
		Doc:    "Apache's threads for a group coordinator's background work.",
	},
	{
		Name: "group.coordinator.cached.buffer.max.bytes", Type: Int, Default: "1048588",
		Valid: "524288..", Mode: ClusterWide, Status: Later,
		Doc: "Largest buffer that a group coordinator keeps for the next write.",
	},
	{
		Name: "group.coordinator.rebalance.protocols", Type: List, Default: "classic,consumer,streams",
		Valid: "list+:consumer,classic,share,streams", Status: Later,
		Doc: "Group protocols that are enabled.",
	},
	{
		Name: "group.coordinator.threads", Type: Int, Default: "4", Valid: "1..", Status: Nothing,
		Doc: "Apache's threads of the group coordinator. Each partition of __consumer_offsets has its own " +
			"goroutine here.",
	},
	{
		Name: "group.initial.rebalance.delay.ms", Type: Int, Default: "3000",
		Doc: "How long the first rebalance of an empty group waits for more members.",
	},
	{
		Name: "group.max.session.timeout.ms", Type: Int, Default: "1800000",
		Doc: "Longest session timeout that a classic member may ask for.",
	},
	{
		Name: "group.max.size", Type: Int, Default: "2147483647", Valid: "1..",
		Doc: "Most members of a classic group.",
	},
	{
		Name: "group.min.session.timeout.ms", Type: Int, Default: "6000",
		Doc: "Shortest session timeout that a classic member may ask for.",
	},
	{
		Name: "group.share.assignment.interval.ms", Type: Int, Default: "1000", Valid: "0..",
		Mode: ClusterWide, Status: Later,
		Doc: "Least time between two assignments of a share group.",
	},
	{
		Name: "group.share.assignor.offload.enable", Type: Boolean, Default: "true", Mode: ClusterWide,
		Status: Later, Internal: true,
		Doc: "Compute assignments of share groups aside.",
	},
	{
		Name: "group.share.assignors", Type: List, Default: "simple", Valid: "list+", Status: Later,
		Doc: "Server-side assignors of share groups.",
	},
	{
		Name: "group.share.delivery.count.limit", Type: Int, Default: "5", Valid: "2..10", Status: Later,
		Doc: "Deliveries after which a record of a share group is given up.",
	},
	{
		Name: "group.share.dlq.manager.class.name", Type: Str,
		Default: "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager", Status: Later,
		Internal: true,
		Doc:      "Takes failed records of share groups.",
	},
	{
		Name: "group.share.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: "1..",
		Status: Later,
		Doc:    "Heartbeat interval of members of share groups.",
	},
	{
		Name: "group.share.initialize.retry.interval.ms", Type: Int, Default: "30000", Valid: "1..",
		Status: Later, Internal: true,
		Doc: "How long until the state of a share partition is set up again after a failure.",
	},
	{
		Name: "group.share.max.assignment.interval.ms", Type: Int, Default: "15000", Valid: "0..",
		Status: Later,
		Doc:    "Largest value a group may set for its assignment interval.",
	},
	{
		Name: "group.share.max.delivery.count.limit", Type: Int, Default: "10", Valid: "5..25",
		Status: Later,
		Doc:    "Largest value a group may set for its delivery count limit.",
	},
	{
		Name: "group.share.max.heartbeat.interval.ms", Type: Int, Default: "15000", Valid: "1..",
		Status: Later,
		Doc:    "Largest value a group may set for its heartbeat interval.",
	},
	{
		Name: "group.share.max.partition.max.record.locks", Type: Int, Default: "4000",
		Valid: "2000..10000", Status: Later,
		Doc: "Largest value a group may set for its record locks.",
	},
	{
		Name: "group.share.max.record.lock.duration.ms", Type: Int, Default: "60000",
		Valid: "30000..3600000", Status: Later,
		Doc: "Largest value a group may set for its lock duration.",
	},
	{
		Name: "group.share.max.session.timeout.ms", Type: Int, Default: "60000", Valid: "1..",
		Status: Later,
		Doc:    "Largest value a group may set for its session timeout.",
	},
	{
		Name: "group.share.max.share.sessions", Type: Int, Default: "2000", Valid: "1..", Status: Later,
		Doc: "Most share sessions of a broker.",
	},
	{
		Name: "group.share.max.size", Type: Int, Default: "200", Valid: "1..1000", Status: Later,
		Doc: "Most members of a share group.",
	},
	{
		Name: "group.share.min.assignment.interval.ms", Type: Int, Default: "0", Valid: "0..",
		Status: Later,
		Doc:    "Smallest value a group may set for its assignment interval.",
	},
	{
		Name: "group.share.min.delivery.count.limit", Type: Int, Default: "2", Valid: "2..5",
		Status: Later,
		Doc:    "Smallest value a group may set for its delivery count limit.",
	},
	{
		Name: "group.share.min.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: "1..",
		Status: Later,
		Doc:    "Smallest value a group may set for its heartbeat interval.",
	},
	{
		Name: "group.share.min.partition.max.record.locks", Type: Int, Default: "100", Valid: "100..2000",
		Status: Later,
		Doc:    "Smallest value a group may set for its record locks.",
	},
	{
		Name: "group.share.min.record.lock.duration.ms", Type: Int, Default: "15000",
		Valid: "1000..30000", Status: Later,
		Doc: "Smallest value a group may set for its lock duration.",
	},
	{
		Name: "group.share.min.session.timeout.ms", Type: Int, Default: "45000", Valid: "1..",
		Status: Later,
		Doc:    "Smallest value a group may set for its session timeout.",
	},
	{
		Name: "group.share.partition.max.record.locks", Type: Int, Default: "2000", Valid: "100..10000",
		Status: Later,
		Doc:    "Most records of a share partition that are locked at a time.",
	},
	{
		Name: "group.share.persister.class.name", Type: Str,
		Default: "org.apache.kafka.server.share.persister.DefaultStatePersister", Status: Later,
		Internal: true,
		Doc:      "Keeps the state of share groups; only the default one exists.",
	},
	{
		Name: "group.share.record.lock.duration.ms", Type: Int, Default: "30000", Valid: "1000..3600000",
		Status: Later,
		Doc:    "How long a record is locked for the member that got it.",
	},
	{
		Name: "group.share.session.timeout.ms", Type: Int, Default: "45000", Valid: "1..", Status: Later,
		Doc: "A member of a share group that is silent for this long is removed.",
	},
	{
		Name: "group.streams.acceptable.recovery.lag", Type: Long, Default: "10000", Valid: "0..",
		Status: Later, Internal: true,
		Doc: "Lag up to which a standby counts as caught up.",
	},
	{
		Name: "group.streams.assignment.interval.ms", Type: Int, Default: "1000", Valid: "0..",
		Mode: ClusterWide, Status: Later,
		Doc: "Least time between two assignments of a streams group.",
	},
	{
		Name: "group.streams.assignor.offload.enable", Type: Boolean, Default: "true", Mode: ClusterWide,
		Status: Later, Internal: true,
		Doc: "Compute assignments of streams groups aside.",
	},
	{
		Name: "group.streams.assignors", Type: List, Default: "sticky", Valid: "list+", Status: Later,
		Doc: "Server-side assignors of streams groups.",
	},
	{
		Name: "group.streams.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: "1..",
		Status: Later,
		Doc:    "Heartbeat interval of members of streams groups.",
	},
	{
		Name: "group.streams.initial.rebalance.delay.ms", Type: Int, Default: "3000", Valid: "0..",
		Status: Later,
		Doc:    "How long the first rebalance of an empty streams group waits for more members.",
	},
	{
		Name: "group.streams.max.assignment.interval.ms", Type: Int, Default: "15000", Valid: "0..",
		Status: Later,
		Doc:    "Largest value a group may set for its assignment interval.",
	},
	{
		Name: "group.streams.max.heartbeat.interval.ms", Type: Int, Default: "15000", Valid: "1..",
		Status: Later,
		Doc:    "Largest value a group may set for its heartbeat interval.",
	},
	{
		Name: "group.streams.max.session.timeout.ms", Type: Int, Default: "60000", Valid: "1..",
		Status: Later,
		Doc:    "Largest value a group may set for its session timeout.",
	},
	{
		Name: "group.streams.max.size", Type: Int, Default: "2147483647", Valid: "1..", Status: Later,
		Doc: "Most members of a streams group.",
	},
	{
		Name: "group.streams.max.standby.replicas", Type: Int, Default: "2", Valid: "0..", Status: Later,
		Doc: "Largest value a group may set for its standby replicas.",
	},
	{
		Name: "group.streams.max.warmup.replicas", Type: Int, Default: "20", Valid: "0..", Status: Later,
		Internal: true,
		Doc:      "Largest value a group may set for its warm-up replicas.",
	},
	{
		Name: "group.streams.min.assignment.interval.ms", Type: Int, Default: "0", Valid: "0..",
		Status: Later,
		Doc:    "Smallest value a group may set for its assignment interval.",
	},
	{
		Name: "group.streams.min.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: "1..",
		Status: Later,
		Doc:    "Smallest value a group may set for its heartbeat interval.",
	},
	{
		Name: "group.streams.min.session.timeout.ms", Type: Int, Default: "45000", Valid: "1..",
		Status: Later,
		Doc:    "Smallest value a group may set for its session timeout.",
	},
	{
		Name: "group.streams.min.task.offset.interval.ms", Type: Int, Default: "15000", Valid: "1..",
		Status: Later, Internal: true,
		Doc: "Smallest value a group may set for its task offset interval.",
	},
	{
		Name: "group.streams.num.standby.replicas", Type: Int, Default: "0", Valid: "0..", Status: Later,
		Doc: "Standby replicas of each stateful task.",
	},
	{
		Name: "group.streams.num.warmup.replicas", Type: Int, Default: "2", Valid: "0..", Status: Later,
		Internal: true,
		Doc:      "Warm-up replicas of a streams group at a time.",
	},
	{
		Name: "group.streams.rack.aware.assignment.tags", Type: List, Default: "", Valid: "list",
		Status: Later,
		Doc:    "Client tags that standby replicas are spread over.",
	},
	{
		Name: "group.streams.session.timeout.ms", Type: Int, Default: "45000", Valid: "1..",
		Status: Later,
		Doc:    "A member of a streams group that is silent for this long is removed.",
	},
	{
		Name: "group.streams.task.offset.interval.ms", Type: Int, Default: "60000", Valid: "1..",
		Status: Later, Internal: true,
		Doc: "How often members of a streams group report task offsets.",
	},
	{
		Name: "group.streams.topology.description.plugin.class", Type: Class, Default: Null,
		Status: Later,
		Doc:    "Takes descriptions of topologies.",
	},
	{
		Name: "offset.metadata.max.bytes", Type: Int, Default: "4096",
		Doc: "Longest note that can be committed with an offset.",
	},
	{
		Name: "offsets.commit.timeout.ms", Type: Int, Default: "5000", Valid: "1..",
		Doc: "A commit that is not replicated after this long fails.",
	},
	{
		Name: "offsets.load.buffer.size", Type: Int, Default: "5242880", Valid: "1..",
		Doc: "Bytes that are read at a time when a coordinator loads a partition.",
	},
	{
		Name: "offsets.retention.check.interval.ms", Type: Long, Default: "600000", Valid: "1..",
		Doc: "How often expired offsets are looked for.",
	},
	{
		Name: "offsets.retention.minutes", Type: Int, Default: "10080", Valid: "1..",
		Doc: "How long offsets of an inactive group are kept.",
	},
	{
		Name: "offsets.topic.compression.codec", Type: Int, Default: "0",
		Doc: "Compression of __consumer_offsets: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.",
	},
	{
		Name: "offsets.topic.num.partitions", Type: Int, Default: "50", Valid: "1..",
		Doc: "Partitions of __consumer_offsets when it is created.",
	},
	{
		Name: "offsets.topic.replication.factor", Type: Short, Default: "3", Valid: "1..",
		Doc: "Replicas of __consumer_offsets when it is created, as far as there are brokers.",
	},
	{
		Name: "offsets.topic.segment.bytes", Type: Int, Default: "104857600", Valid: "1..",
		Doc: "Segment size of __consumer_offsets.",
	},
}
