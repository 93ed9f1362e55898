package config

// networkKeys are the keys about listeners, sockets, requests and the process, by name.
var networkKeys = []Key{
	{
		Name: "advertised.listeners", Type: List, Default: Null, Valid: "list+",
		Doc: "Addresses that clients and other brokers are told to use, when they differ from listeners. " +
			"When neither is set on a single node, each client is told the address it dialled.",
	},
	{
		Name: "background.threads", Type: Int, Default: "10", Valid: "1..", Mode: ClusterWide,
		Status: Nothing,
		Doc:    "Size of Apache's pool for background work. Background work runs in goroutines here.",
	},
	{
		Name: "config.providers", Type: List, Default: "", Valid: "list", Mode: ClusterWide,
		Status: Later,
		Doc:    "Names of providers that replace ${name:path:key} in values.",
	},
	{
		Name: "connection.failed.authentication.delay.ms", Type: Int, Default: "100", Valid: "0..",
		Status: Later,
		Doc:    "How long a failed authentication is left unanswered, to slow down guessing.",
	},
	{
		Name: "connections.max.idle.ms", Type: Long, Default: "600000",
		Doc: "A connection without traffic for this long is closed.",
	},
	{
		Name: "connections.max.reauth.ms", Type: Long, Default: "0", Status: Later,
		Doc: "After this long a SASL client has to authenticate again; 0 never asks.",
	},
	{
		Name: "controlled.shutdown.enable", Type: Boolean, Default: "true",
		Doc: "Hand leadership to other brokers before stopping.",
	},
	{
		Name: "early.start.listeners", Type: List, Default: Null, Valid: "list", Status: Later,
		Doc: "Listeners that open before the authorizer has loaded its ACLs; by default those of " +
			"controllers.",
	},
	{
		Name: "inter.broker.listener.name", Type: Str, Default: Null,
		Doc: "The listener that brokers use among themselves. Excludes security.inter.broker.protocol.",
	},
	{
		Name: "listener.security.protocol.map", Type: Str,
		Default: "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
		Mode:    PerBroker,
		Doc:     "Security protocol of each listener name, as NAME:PROTOCOL pairs.",
	},
	{
		Name: "listeners", Type: List, Default: "PLAINTEXT://:9092", Valid: "list+", Mode: PerBroker,
		Doc: "Endpoints to bind, as NAME://host:port. No host binds all interfaces, port 0 takes any free " +
			"one.",
	},
	{
		Name: "max.connection.creation.rate", Type: Int, Default: "2147483647", Valid: "0..",
		Mode: ClusterWide, Status: Later,
		Doc: "Most connections accepted in a second, over all listeners.",
	},
	{
		Name: "max.connections", Type: Int, Default: "2147483647", Valid: "0..", Mode: ClusterWide,
		Doc: "Most open connections of the broker, as far as open files (ulimit -n) and kalda.memory.limit " +
			"allow; each listener can have its own limit under its prefix.",
	},
	{
		Name: "max.connections.per.ip", Type: Int, Default: "2147483647", Valid: "0..", Mode: ClusterWide,
		Doc: "Most open connections from one address.",
	},
	{
		Name: "max.connections.per.ip.overrides", Type: Str, Default: "", Mode: ClusterWide,
		Doc: "Exceptions to max.connections.per.ip, as host:count pairs.",
	},
	{
		Name: "num.io.threads", Type: Int, Default: "8", Valid: "1..", Mode: ClusterWide, Status: Nothing,
		Doc: "Size of Apache's pool of request handlers. Requests are handled by the goroutine of their " +
			"connection here.",
	},
	{
		Name: "num.network.threads", Type: Int, Default: "3", Valid: "1..", Mode: ClusterWide,
		Status: Nothing,
		Doc: "Size of Apache's pool of network threads of a listener. Each connection has its own " +
			"goroutine here.",
	},
	{
		Name: "queued.max.request.bytes", Type: Long, Default: "-1",
		Doc: "Memory for requests and replies that are read, handled and sent, over all connections; -1 is a " +
			"quarter of kalda.memory.limit, or 256 MiB without one.",
	},
	{
		Name: "queued.max.requests", Type: Int, Default: "500", Valid: "1..", Status: Nothing,
		Doc: "Most requests that wait for a handler. A connection has at most one request in work here, so " +
			"max.connections is the bound.",
	},
	{
		Name: "request.timeout.ms", Type: Int, Default: "30000",
		Doc: "How long a request to another node may take before it is given up or tried again.",
	},
	{
		Name: "security.inter.broker.protocol", Type: Str, Default: "PLAINTEXT",
		Valid: "one:PLAINTEXT,SSL,SASL_PLAINTEXT,SASL_SSL",
		Doc:   "Security protocol between brokers, if inter.broker.listener.name is not set.",
	},
	{
		Name: "server.max.startup.time.ms", Type: Long, Default: "9223372036854775807", Valid: "0..",
		Status: Later, Internal: true,
		Doc: "Longest time the start may take before the process gives up.",
	},
	{
		Name: "socket.connection.setup.timeout.max.ms", Type: Long, Default: "30000", Status: Later,
		Doc: "Longest time that setting up a connection to another node may take after several failures.",
	},
	{
		Name: "socket.connection.setup.timeout.ms", Type: Long, Default: "10000", Status: Later,
		Doc: "Time that setting up a connection to another node may take.",
	},
	{
		Name: "socket.listen.backlog.size", Type: Int, Default: "50", Valid: "1..",
		Doc: "Length of the queue of connections that wait to be accepted, within the limits of the " +
			"operating system.",
	},
	{
		Name: "socket.receive.buffer.bytes", Type: Int, Default: "102400",
		Doc: "Receive buffer of a server socket; -1 leaves it to the operating system.",
	},
	{
		Name: "socket.request.max.bytes", Type: Int, Default: "104857600", Valid: "1..",
		Doc: "Longest request that is read; a longer one closes its connection.",
	},
	{
		Name: "socket.send.buffer.bytes", Type: Int, Default: "102400",
		Doc: "Send buffer of a server socket; -1 leaves it to the operating system.",
	},
	{
		Name: "unstable.api.versions.enable", Type: Boolean, Default: "false", Status: Later,
		Internal: true,
		Doc:      "Offer API versions that are still under development.",
	},
	{
		Name: "unstable.feature.versions.enable", Type: Boolean, Default: "false", Status: Later,
		Internal: true,
		Doc:      "Offer feature versions that are still under development.",
	},
}
