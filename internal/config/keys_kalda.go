package config

// kaldaKeys are the keys of our own, by name. Apache's broker would only warn that it does not know them.
var kaldaKeys = []Key{
	{
		Name: "kalda.http.listener", Type: Str, Default: "",
		Doc: "Address of metrics (/metrics) and health (/health/live, /health/ready), as host:port; empty is off.",
	},
	{
		Name: "kalda.log.level", Type: Str, Default: "INFO", Valid: "anycase:TRACE,DEBUG,INFO,WARN,ERROR",
		Doc: "Least level of what is logged.",
	},
	{
		Name: "kalda.max.producer.ids.per.partition", Type: Int, Default: "20000", Valid: "0..",
		Doc: "Most producers that a partition remembers, about 400 bytes each; of more, those that were idle " +
			"longest are forgotten, as after producer.id.expiration.ms. 0 is no bound.",
	},
	{
		Name: "kalda.max.quota.clients", Type: Int, Default: "10000", Valid: "1..",
		Doc: "Most clients whose use is counted for each kind of quota, about 500 bytes each; further ones share " +
			"one account. Those that did nothing for a window are forgotten first.",
	},
	{
		Name: "kalda.max.telemetry.clients", Type: Int, Default: "1000", Valid: "0..",
		Doc: "Most clients whose own metrics are kept for /metrics (KIP-714); those that were silent longest are " +
			"forgotten first. 0, or no kalda.http.listener: clients aren't asked for them.",
	},
	{
		Name: "kalda.max.telemetry.metrics.per.client", Type: Int, Default: "1000", Valid: "1..",
		Doc: "Most metrics that one client may push, about 500 bytes each; a push of more is refused.",
	},
	{
		Name: "kalda.memory.limit", Type: Long, Default: "-1", Valid: "-1..",
		Doc: "Most memory of the process, in bytes. Requests may take a quarter of it, unless " +
			"queued.max.request.bytes is set; at the bound the node reads slower. -1 is what GOMEMLIMIT or the " +
			"container's limit says, if either does; 0 is no limit.",
	},
	{
		Name: "kalda.request.slow.ms", Type: Long, Default: "30000", Valid: "1000..",
		Doc: "How long a request may be on its way before, while memory is short, its connection is closed for " +
			"sending less than 16 KiB a second of it.",
	},
}

// authorizerKeys are keys that Apache's authorizer owns and its broker does not know, by name.
var authorizerKeys = []Key{
	{
		Name: "allow.everyone.if.no.acl.found", Type: Boolean, Default: "false", Status: Later,
		Doc: "Allow everybody what no ACL speaks of.",
	},
	{
		Name: "super.users", Type: Str, Default: "", Status: Later,
		Doc: "Principals that may do everything, separated by semicolons.",
	},
}

// removedKeys are what older brokers knew, with what to do instead.
var removedKeys = []struct{ name, advice string }{
	{"broker.id.generation.enable", "set node.id"},
	{"control.plane.listener.name", "requests of controllers come through controller.listener.names"},
	{"delegation.token.master.key", "it is called delegation.token.secret.key now"},
	{"inter.broker.protocol.version", "metadata.version took its place; see kafka-features"},
	{"log.message.downconversion.enable", "old record formats are no longer served"},
	{"log.message.format.version", "there is only one record format"},
	{
		"log.message.timestamp.difference.max.ms",
		"use log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms",
	},
	{"offsets.commit.required.acks", "commits are always written with acks=all"},
	{"reserved.broker.max.id", "set node.id"},
}
