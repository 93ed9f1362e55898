package config

// groupKeys are the keys of groups, by name.
var groupKeys = []Key{
	{
		Name: "consumer.assignment.interval.ms", Type: Int, Default: "1000", Valid: "0..",
		Synonyms: []Synonym{{"group.consumer.assignment.interval.ms", 1}},
		Doc:      "Least time between two assignments of the group.",
	},
	{
		Name: "consumer.assignor.offload.enable", Type: Boolean, Default: "true", Status: Later,
		Internal: true,
		Synonyms: []Synonym{{"group.consumer.assignor.offload.enable", 1}},
		Doc:      "Compute the group's assignments aside.",
	},
	{
		Name: "consumer.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: "1..",
		Synonyms: []Synonym{{"group.consumer.heartbeat.interval.ms", 1}},
		Doc:      "Heartbeat interval of the members.",
	},
	{
		Name: "consumer.session.timeout.ms", Type: Int, Default: "45000", Valid: "1..",
		Synonyms: []Synonym{{"group.consumer.session.timeout.ms", 1}},
		Doc:      "A member that is silent for this long is removed.",
	},
	{
		Name: "errors.deadletterqueue.copy.record.enable", Type: Boolean, Default: "false", Status: Later,
		Synonyms: []Synonym{{"errors.deadletterqueue.copy.record.enable", 1}},
		Doc:      "Copy the failed record itself, not only where it was.",
	},
	{
		Name: "errors.deadletterqueue.topic.name", Type: Str, Default: "", Status: Later,
		Synonyms: []Synonym{{"errors.deadletterqueue.topic.name", 1}},
		Doc:      "Topic that takes records the share group gave up.",
	},
	{
		Name: "share.assignment.interval.ms", Type: Int, Default: "1000", Valid: "0..", Status: Later,
		Synonyms: []Synonym{{"group.share.assignment.interval.ms", 1}},
		Doc:      "Least time between two assignments of the share group.",
	},
	{
		Name: "share.assignor.offload.enable", Type: Boolean, Default: "true", Status: Later,
		Internal: true,
		Synonyms: []Synonym{{"group.share.assignor.offload.enable", 1}},
		Doc:      "Compute the share group's assignments aside.",
	},
	{
		Name: "share.auto.offset.reset", Type: Str, Default: "latest", Valid: "reset", Status: Later,
		Synonyms: []Synonym{{"share.auto.offset.reset", 1}},
		Doc:      "Where a new share group starts: latest, earliest, or a duration back.",
	},
	{
		Name: "share.delivery.count.limit", Type: Int, Default: "5", Valid: "2..", Status: Later,
		Synonyms: []Synonym{{"group.share.delivery.count.limit", 1}},
		Doc:      "Deliveries after which a record is given up.",
	},
	{
		Name: "share.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: "1..", Status: Later,
		Synonyms: []Synonym{{"group.share.heartbeat.interval.ms", 1}},
		Doc:      "Heartbeat interval of the members.",
	},
	{
		Name: "share.isolation.level", Type: Str, Default: "read_uncommitted",
		Valid: "one:read_committed,read_uncommitted", Status: Later,
		Synonyms: []Synonym{{"share.isolation.level", 1}},
		Doc:      "Whether the share group sees records of open and aborted transactions.",
	},
	{
		Name: "share.partition.max.record.locks", Type: Int, Default: "2000", Valid: "100..",
		Status:   Later,
		Synonyms: []Synonym{{"group.share.partition.max.record.locks", 1}},
		Doc:      "Most records of a partition that are locked at a time.",
	},
	{
		Name: "share.record.lock.duration.ms", Type: Int, Default: "30000", Valid: "1000..",
		Status:   Later,
		Synonyms: []Synonym{{"group.share.record.lock.duration.ms", 1}},
		Doc:      "How long a record is locked for the member that got it.",
	},
	{
		Name: "share.renew.acknowledge.enable", Type: Boolean, Default: "true", Status: Later,
		Synonyms: []Synonym{{"share.renew.acknowledge.enable", 1}},
		Doc:      "Let members prolong their locks.",
	},
	{
		Name: "share.session.timeout.ms", Type: Int, Default: "45000", Valid: "1..", Status: Later,
		Synonyms: []Synonym{{"group.share.session.timeout.ms", 1}},
		Doc:      "A member that is silent for this long is removed.",
	},
	{
		Name: "streams.acceptable.recovery.lag", Type: Long, Default: "10000", Valid: "0..",
		Status: Later, Internal: true,
		Synonyms: []Synonym{{"group.streams.acceptable.recovery.lag", 1}},
		Doc:      "Lag up to which a standby counts as caught up.",
	},
	{
		Name: "streams.assignment.interval.ms", Type: Int, Default: "1000", Valid: "0..", Status: Later,
		Synonyms: []Synonym{{"group.streams.assignment.interval.ms", 1}},
		Doc:      "Least time between two assignments of the streams group.",
	},
	{
		Name: "streams.assignor.name", Type: Str, Default: Null, Status: Later,
		Synonyms: []Synonym{{"group.streams.assignors", 1}},
		Doc:      "Assignor of the streams group.",
	},
	{
		Name: "streams.assignor.offload.enable", Type: Boolean, Default: "true", Status: Later,
		Internal: true,
		Synonyms: []Synonym{{"group.streams.assignor.offload.enable", 1}},
		Doc:      "Compute the streams group's assignments aside.",
	},
	{
		Name: "streams.heartbeat.interval.ms", Type: Int, Default: "5000", Valid: "1..", Status: Later,
		Synonyms: []Synonym{{"group.streams.heartbeat.interval.ms", 1}},
		Doc:      "Heartbeat interval of the members.",
	},
	{
		Name: "streams.initial.rebalance.delay.ms", Type: Int, Default: "3000", Valid: "0..",
		Status:   Later,
		Synonyms: []Synonym{{"group.streams.initial.rebalance.delay.ms", 1}},
		Doc:      "How long the first rebalance of the empty group waits for more members.",
	},
	{
		Name: "streams.num.standby.replicas", Type: Int, Default: "0", Valid: "0..", Status: Later,
		Synonyms: []Synonym{{"group.streams.num.standby.replicas", 1}},
		Doc:      "Standby replicas of each stateful task.",
	},
	{
		Name: "streams.num.warmup.replicas", Type: Int, Default: "2", Valid: "0..", Status: Later,
		Internal: true,
		Synonyms: []Synonym{{"group.streams.num.warmup.replicas", 1}},
		Doc:      "Warm-up replicas at a time.",
	},
	{
		Name: "streams.rack.aware.assignment.tags", Type: List, Default: "", Valid: "list", Status: Later,
		Synonyms: []Synonym{{"group.streams.rack.aware.assignment.tags", 1}},
		Doc:      "Client tags that standby replicas are spread over.",
	},
	{
		Name: "streams.session.timeout.ms", Type: Int, Default: "45000", Valid: "1..", Status: Later,
		Synonyms: []Synonym{{"group.streams.session.timeout.ms", 1}},
		Doc:      "A member that is silent for this long is removed.",
	},
	{
		Name: "streams.task.offset.interval.ms", Type: Int, Default: "60000", Valid: "1..", Status: Later,
		Internal: true,
		Synonyms: []Synonym{{"group.streams.task.offset.interval.ms", 1}},
		Doc:      "How often members report task offsets.",
	},
}

// clientMetricsKeys are the keys of client metrics subscriptions, by name.
var clientMetricsKeys = []Key{
	{
		Name: "interval.ms", Type: Int, Default: "300000",
		Doc: "How often clients push.",
	},
	{
		Name: "match", Type: List, Default: "", Valid: "list",
		Doc: "Which clients push, as name=pattern pairs.",
	},
	{
		Name: "metrics", Type: List, Default: "", Valid: "list",
		Doc: "Prefixes of the metrics to push; * is all.",
	},
}
