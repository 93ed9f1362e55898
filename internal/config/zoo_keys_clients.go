package config

// zooClientKeys are about connections and requests.
var zooClientKeys = []Key{
	{
		Name: "clientTcpKeepAlive", Type: Boolean, Default: "false",
		Doc: "TCP keep-alive on clients' connections.",
	},
	{
		Name: "commitProcessor.maxCommitBatchSize", Type: Int, Default: "1", Status: Nothing,
		Doc: "Java's queues.",
	},
	{
		Name: "commitProcessor.maxReadBatchSize", Type: Int, Default: "-1", Status: Nothing,
		Doc: "Java's queues.",
	},
	{
		Name: "commitProcessor.numWorkerThreads", Type: Int, Default: Null, Status: Nothing,
		Doc: "Java's threads. Here reads are answered by their connections.",
	},
	{
		Name: "commitProcessor.shutdownTimeout", Type: Long, Default: "5000", Status: Nothing,
		Doc: "Java's threads.",
	},
	{
		Name: "connection_throttle_decrease_ratio", Type: Double, Default: "0", Valid: "0..1", Status: Later,
		Doc: "Share of tokens left at which it shrinks.",
	},
	{
		Name: "connection_throttle_drop_decrease", Type: Double, Default: "0.002", Valid: "0..1", Status: Later,
		Doc: "What it shrinks by.",
	},
	{
		Name: "connection_throttle_drop_increase", Type: Double, Default: "0.02", Valid: "0..1", Status: Later,
		Doc: "What the chance to drop grows by.",
	},
	{
		Name: "connection_throttle_fill_count", Type: Int, Default: "1", Valid: "1..", Status: Later,
		Doc: "Tokens that come back each time.",
	},
	{
		Name: "connection_throttle_fill_time", Type: Int, Default: "1", Valid: "1..", Status: Later,
		Doc: "Milliseconds after which tokens come back.",
	},
	{
		Name: "connection_throttle_freeze_time", Type: Int, Default: "-1", Valid: "-1..", Status: Later,
		Doc: "Milliseconds between two changes of the chance to drop; -1 is off.",
	},
	{
		Name: "connection_throttle_global_session_weight", Type: Int, Default: "3", Valid: "1..", Status: Later,
		Doc: "Weight of a new session.",
	},
	{
		Name: "connection_throttle_local_session_weight", Type: Int, Default: "1", Valid: "1..", Status: Later,
		Doc: "Weight of a local session.",
	},
	{
		Name: "connection_throttle_renew_session_weight", Type: Int, Default: "2", Valid: "1..", Status: Later,
		Doc: "Weight of a session that comes back.",
	},
	{
		Name: "connection_throttle_tokens", Type: Int, Default: "0", Valid: "0..", Status: Later,
		Doc: "Sessions that may begin at once, before they are throttled; 0 is off.",
	},
	{
		Name: "connection_throttle_weight_enabled", Type: Boolean, Default: "false", Status: Later,
		Doc: "Weigh sessions by what they cost.",
	},
	{
		Name: "enableEagerACLCheck", Type: Boolean, Default: "false", Status: Later,
		Doc: "Let a learner check ACLs before it forwards a write.",
	},
	{
		Name: "globalOutstandingLimit", Type: Int, Default: "1000", Valid: "1..",
		Doc: "Requests in process before connections that have one are not read further.",
	},
	{
		Name: "jute.maxbuffer", Type: Int, Default: "1048575", Valid: "1..",
		Doc: "Bytes of a client's frame, at most.",
	},
	{
		Name: "jute.maxbuffer.extrasize", Type: Int, Default: Null, Status: Nothing,
		Doc: "What a record may be longer than that. Here records are bounded by their frames.",
	},
	{
		Name: "kalda.maxIdentitiesPerConnection", Type: Int, Default: "1000", Valid: "1..",
		Doc: "Identities that one connection may have, its address among them; one more fails and disconnects it.",
	},
	{
		Name: "kalda.maxOutgoingBytes", Type: Int, Default: "67108864", Valid: "65536..",
		Doc: "Bytes of replies and notifications that wait for one client to read them; beyond that it is " +
			"disconnected.",
	},
	{
		Name: "kalda.maxWatchesPerConnection", Type: Int, Default: "1000000", Valid: "0..",
		Doc: "Paths that one connection may watch; one more gets QUOTAEXCEEDED. 0 is no limit.",
	},
	{
		Name: "largeRequestMaxBytes", Type: Int, Default: "104857600", Valid: "1..", Status: Later,
		Doc: "Bytes of all large requests in process.",
	},
	{
		Name: "largeRequestThreshold", Type: Int, Default: "-1", Valid: "-1..", Status: Later,
		Doc: "Bytes from which a request is large; -1 is off.",
	},
	{
		Name: "maxGetChildrenResponseCacheSize", Type: Int, Default: "400", Status: Nothing,
		Doc: "Cached lists of children. Here replies are made from the tree as fast.",
	},
	{
		Name: "maxResponseCacheSize", Type: Int, Default: "400", Status: Nothing,
		Doc: "Cached replies. Here replies are made from the tree as fast.",
	},
	{
		Name: "netty.advancedFlowControl.enabled", Type: Boolean, Default: "false", Status: Nothing,
		Doc: "Java's other network library.",
	},
	{
		Name: "nio.directBufferBytes", Type: Int, Default: "65536", Status: Nothing,
		Doc: "Java's buffers.",
	},
	{
		Name: "nio.numSelectorThreads", Type: Int, Default: Null, Status: Nothing,
		Doc: "Java's threads.",
	},
	{
		Name: "nio.numWorkerThreads", Type: Int, Default: Null, Status: Nothing,
		Doc: "Java's threads.",
	},
	{
		Name: "nio.sessionlessCnxnTimeout", Type: Int, Default: "10000", Valid: "1..",
		Doc: "Milliseconds after which a connection without a session is closed.",
	},
	{
		Name: "nio.shutdownTimeout", Type: Long, Default: "5000", Status: Nothing,
		Doc: "Java's threads.",
	},
	{
		Name: "readonlymode.enabled", Type: Boolean, Default: "false", Status: Later,
		Doc: "Serve reads to clients that ask for it while there is no quorum.",
	},
	{
		Name: "request_stale_connection_check", Type: Boolean, Default: "true", Status: Later,
		Doc: "Drop requests whose connection is closed.",
	},
	{
		Name: "request_stale_latency_check", Type: Boolean, Default: "false", Status: Later,
		Doc: "Drop requests that waited longer than their session's timeout.",
	},
	{
		Name: "request_throttle_drop_stale", Type: Boolean, Default: "true", Status: Later,
		Doc: "Drop stale requests when requests are throttled.",
	},
	{
		Name: "request_throttle_max_requests", Type: Int, Default: "0", Valid: "0..", Status: Later,
		Doc: "Requests in process before others wait; 0 is no limit.",
	},
	{
		Name: "request_throttle_stall_time", Type: Int, Default: "100", Valid: "1..", Status: Later,
		Doc: "Milliseconds that they wait.",
	},
	{
		Name: "serverCnxnFactory", Type: Str, Default: Null, Status: Nothing,
		Doc: "Java's network library: there is one here, which does TLS too.",
	},
	{
		Name: "throttledOpEnforcementInterval", Type: Int, Default: "0", Status: Nothing,
		Doc: "How often that is looked at.",
	},
	{
		Name: "throttled_op_wait_time", Type: Int, Default: "0", Valid: "0..", Status: Later,
		Doc: "Milliseconds in the queue after which a request is refused; 0 is off.",
	},
	{
		Name: "watchManagerName", Type: Str, Default: Null, Status: Nothing,
		Doc: "Java's watch tables: there is one kind here.",
	},
}

// zooAdminKeys are about commands and metrics.
var zooAdminKeys = []Key{
	{
		Name: "4lw.commands.whitelist", Type: List, Default: "srvr",
		Doc: "Four-letter words that are answered; * is all.",
	},
	{
		Name: "admin.commandURL", Type: Str, Default: "/commands",
		Doc: "Path of the commands over HTTP.",
	},
	{
		Name: "admin.enableServer", Type: Boolean, Default: "true",
		Doc: "Serve commands over HTTP.",
	},
	{
		Name: "admin.forceHttps", Type: Boolean, Default: "false", Status: Later,
		Doc: "Refuse plain HTTP.",
	},
	{
		Name: "admin.idleTimeout", Type: Int, Default: "30000", Valid: "1..",
		Doc: "Milliseconds after which an idle HTTP connection is closed.",
	},
	{
		Name: "admin.needClientAuth", Type: Boolean, Default: "false", Status: Later,
		Doc: "Ask HTTP clients for certificates.",
	},
	{
		Name: "admin.portUnification", Type: Boolean, Default: "false", Status: Later,
		Doc: "HTTP and HTTPS on one port.",
	},
	{
		Name: "admin.rateLimiterIntervalInMS", Type: Int, Default: "300000", Valid: "0..",
		Doc: "Milliseconds between two snapshots or restores that are asked for.",
	},
	{
		Name: "admin.restore.enabled", Type: Boolean, Default: "true",
		Doc: "Allow the tree to be replaced over HTTP.",
	},
	{
		Name: "admin.serverAddress", Type: Str, Default: "0.0.0.0",
		Doc: "Address of the commands over HTTP.",
	},
	{
		Name: "admin.serverPort", Type: Int, Default: "8080", Valid: "0..65535",
		Doc: "Port of the commands over HTTP.",
	},
	{
		Name: "admin.snapshot.enabled", Type: Boolean, Default: "true",
		Doc: "Allow snapshots to be asked for over HTTP.",
	},
	{
		Name: "jvm.pause.info-threshold.ms", Type: Long, Default: "1000", Status: Nothing,
		Doc: "There is no JVM that pauses.",
	},
	{
		Name: "jvm.pause.monitor", Type: Boolean, Default: "false", Status: Nothing,
		Doc: "There is no JVM that pauses.",
	},
	{
		Name: "jvm.pause.sleep.time.ms", Type: Long, Default: "500", Status: Nothing,
		Doc: "There is no JVM that pauses.",
	},
	{
		Name: "jvm.pause.warn-threshold.ms", Type: Long, Default: "10000", Status: Nothing,
		Doc: "There is no JVM that pauses.",
	},
	{
		Name: "metricsProvider.className", Type: Str,
		Default: "org.apache.zookeeper.metrics.impl.DefaultMetricsProvider",
		Doc:     "Where metrics go: a name that ends in PrometheusMetricsProvider serves them over HTTP.",
	},
	{
		Name: "metricsProvider.exportJvmInfo", Type: Boolean, Default: "true", Status: Nothing,
		Doc: "There is no JVM to tell about.",
	},
	{
		Name: "metricsProvider.httpHost", Type: Str, Default: "0.0.0.0",
		Doc: "Address of the metrics.",
	},
	{
		Name: "metricsProvider.httpPort", Type: Int, Default: Null, Valid: "0..65535",
		Doc: "Port of the metrics; Apache's default is 7000.",
	},
	{
		Name: "metricsProvider.httpsPort", Type: Int, Default: Null, Valid: "0..65535", Status: Later,
		Doc: "Port of the metrics over HTTPS.",
	},
	{
		Name: "metricsProvider.maxQueueSize", Type: Int, Default: "1000000", Status: Nothing,
		Doc: "Java's queues.",
	},
	{
		Name: "metricsProvider.numWorkerThreads", Type: Int, Default: "1", Status: Nothing,
		Doc: "Java's threads.",
	},
	{
		Name: "metricsProvider.workerShutdownTimeoutMs", Type: Long, Default: "1000", Status: Nothing,
		Doc: "Java's threads.",
	},
}
