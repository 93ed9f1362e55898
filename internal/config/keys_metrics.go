package config

// metricsKeys are the keys about metrics and quotas, by name.
var metricsKeys = []Key{
	{
		Name: "alter.log.dirs.replication.quota.window.num", Type: Int, Default: "11", Valid: "1..",
		Status: Later,
		Doc:    "Samples kept for the quota of moves between directories.",
	},
	{
		Name: "alter.log.dirs.replication.quota.window.size.seconds", Type: Int, Default: "1",
		Valid: "1..", Status: Later,
		Doc: "Length of one such sample.",
	},
	{
		Name: "client.quota.callback.class", Type: Class, Default: Null, Status: Later,
		Doc: "Decides client quotas.",
	},
	{
		Name: "controller.quota.window.num", Type: Int, Default: "11", Valid: "1..",
		Doc: "Samples kept for quotas of changes to the cluster.",
	},
	{
		Name: "controller.quota.window.size.seconds", Type: Int, Default: "1", Valid: "1..",
		Doc: "Length of one such sample.",
	},
	{
		Name: "kafka.metrics.polling.interval.secs", Type: Int, Default: "10", Valid: "1..",
		Status: Nothing,
		Doc:    "Interval of reporters written in Java.",
	},
	{
		Name: "kafka.metrics.reporters", Type: List, Default: "", Valid: "list", Status: Nothing,
		Doc: "Metrics reporters written in Java. Metrics are at /metrics of kalda.http.listener.",
	},
	{
		Name: "metric.reporters", Type: List, Default: "org.apache.kafka.common.metrics.JmxReporter",
		Valid: "list", Mode: ClusterWide, Status: Nothing,
		Doc: "Metrics reporters written in Java. Metrics are at /metrics of kalda.http.listener.",
	},
	{
		Name: "metrics.num.samples", Type: Int, Default: "2", Valid: "1..", Status: Nothing,
		Doc: "Samples of Java's rate metrics. Counters are exported and rates are taken by whoever scrapes " +
			"them.",
	},
	{
		Name: "metrics.recording.level", Type: Str, Default: "INFO", Status: Nothing,
		Doc: "Level of Java's metrics.",
	},
	{
		Name: "metrics.sample.window.ms", Type: Long, Default: "30000", Valid: "1..", Status: Nothing,
		Doc: "Length of a sample of Java's rate metrics.",
	},
	{
		Name: "quota.window.num", Type: Int, Default: "11", Valid: "1..",
		Doc: "Samples kept for client quotas.",
	},
	{
		Name: "quota.window.size.seconds", Type: Int, Default: "1", Valid: "1..",
		Doc: "Length of one such sample.",
	},
	{
		Name: "replication.quota.window.num", Type: Int, Default: "11", Valid: "1..", Status: Later,
		Doc: "Samples kept for replication quotas.",
	},
	{
		Name: "replication.quota.window.size.seconds", Type: Int, Default: "1", Valid: "1..",
		Status: Later,
		Doc:    "Length of one such sample.",
	},
	{
		Name: "telemetry.max.bytes", Type: Int, Default: "1048576", Valid: "1..",
		Doc: "Largest push of client metrics.",
	},
}
