package config

// kraftKeys are the keys about the node, the metadata quorum and the registration of brokers, by name.
var kraftKeys = []Key{
	{
		Name: "broker.heartbeat.interval.ms", Type: Int, Default: "2000",
		Doc: "How often a broker tells the controller that it lives.",
	},
	{
		Name: "broker.id", Type: Int, Default: "-1",
		Doc: "Older name of node.id.",
	},
	{
		Name: "broker.session.timeout.ms", Type: Int, Default: "9000",
		Doc: "A broker that is silent for this long is fenced.",
	},
	{
		Name: "controller.listener.names", Type: List, Default: Required, Valid: "list+",
		Doc: "Names of the listeners that controllers use; the first is the one other nodes connect to.",
	},
	{
		Name: "controller.performance.always.log.threshold.ms", Type: Long, Default: "2000", Valid: "0..",
		Status: Later, Internal: true,
		Doc: "A controller event that takes this long is always logged.",
	},
	{
		Name: "controller.performance.sample.period.ms", Type: Long, Default: "60000", Valid: "100..",
		Status: Later, Internal: true,
		Doc: "Period of the report on slow controller events.",
	},
	{
		Name: "controller.quorum.append.linger.ms", Type: Int, Default: "25", Valid: "0..", Status: Nothing,
		Doc: "Time that Apache gathers records before it writes them. " +
			"Here all that has come is written at once, with one sync.",
	},
	{
		Name: "controller.quorum.auto.join.enable", Type: Boolean, Default: "false", Status: Later,
		Doc: "Let a controller that is not a voter add itself to the voters.",
	},
	{
		Name: "controller.quorum.bootstrap.servers", Type: List, Default: "", Valid: "list",
		Doc: "Controllers to ask for the leader, as host:port pairs.",
	},
	{
		Name: "controller.quorum.election.backoff.max.ms", Type: Int, Default: "1000", Valid: "0..",
		Doc: "Longest wait of a successor before it stands for election.",
	},
	{
		Name: "controller.quorum.election.timeout.ms", Type: Int, Default: "1000", Valid: "0..",
		Doc: "How long an election may take before a new one begins.",
	},
	{
		Name: "controller.quorum.fetch.max.bytes", Type: Int, Default: "1048576", Valid: "1..",
		Doc: "Most bytes of the metadata log in one fetch.",
	},
	{
		Name: "controller.quorum.fetch.snapshot.max.bytes", Type: Int, Default: "1048576", Valid: "1..",
		Doc: "Most bytes of a metadata snapshot in one fetch.",
	},
	{
		Name: "controller.quorum.fetch.timeout.ms", Type: Int, Default: "2000", Valid: "0..",
		Doc: "A controller that can't fetch from the leader for this long stands for election.",
	},
	{
		Name: "controller.quorum.request.timeout.ms", Type: Int, Default: "2000", Valid: "0..",
		Doc: "How long a request to another controller may take.",
	},
	{
		Name: "controller.quorum.retry.backoff.ms", Type: Int, Default: "20", Valid: "0..",
		Doc: "How long to wait after a failed request to a controller.",
	},
	{
		Name: "controller.quorum.voters", Type: List, Default: "", Valid: "list",
		Doc: "The controllers of a static quorum, as id@host:port.",
	},
	{
		Name: "initial.broker.registration.timeout.ms", Type: Int, Default: "60000",
		Doc: "A broker that can't register with the controller for this long stops.",
	},
	{
		Name: "internal.metadata.delete.delay.millis", Type: Long, Default: "60000", Status: Later,
		Internal: true,
		Doc:      "How long deleted files of the metadata log stay; for tests.",
	},
	{
		Name: "internal.metadata.log.segment.bytes", Type: Int, Default: Null, Status: Later,
		Internal: true,
		Doc:      "Segment size of the metadata log without the usual minimum; for tests.",
	},
	{
		Name: "internal.metadata.max.batch.size.in.bytes", Type: Int, Default: "8388608", Status: Later,
		Internal: true,
		Doc:      "Largest batch of the metadata log; for tests.",
	},
	{
		Name: "metadata.log.dir", Type: Str, Default: Null,
		Doc: "Where the metadata log is kept; the first of log.dirs if not set.",
	},
	{
		Name: "metadata.log.max.record.bytes.between.snapshots", Type: Long, Default: "20971520",
		Valid: "1..",
		Doc:   "Bytes of the metadata log after which a snapshot is made.",
	},
	{
		Name: "metadata.log.max.snapshot.interval.ms", Type: Long, Default: "3600000", Valid: "0..",
		Doc: "Time after which a snapshot is made if the metadata changed; 0 is never.",
	},
	{
		Name: "metadata.log.segment.bytes", Type: Int, Default: "1073741824", Valid: "8388608..",
		Doc: "Segment size of the metadata log.",
	},
	{
		Name: "metadata.log.segment.ms", Type: Long, Default: "604800000",
		Doc: "Age at which a segment of the metadata log is rolled.",
	},
	{
		Name: "metadata.max.idle.interval.ms", Type: Int, Default: "500", Valid: "0..",
		Doc: "An idle leader writes a no-op record this often; 0 is never.",
	},
	{
		Name: "metadata.max.retention.bytes", Type: Long, Default: "104857600",
		Doc: "Bytes of metadata log and snapshots after which old ones are deleted; negative is no limit.",
	},
	{
		Name: "metadata.max.retention.ms", Type: Long, Default: "604800000",
		Doc: "Age at which old metadata snapshots and the log before them are deleted; negative is no " +
			"limit.",
	},
	{
		Name: "node.id", Type: Int, Default: Required, Valid: "0..",
		Doc: "Number of this node, unique in the cluster.",
	},
	{
		Name: "process.roles", Type: List, Default: Required, Valid: "list+:broker,controller",
		Doc: "What this node is: broker, controller, or both.",
	},
}
