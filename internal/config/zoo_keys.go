package config

// zooBasicKeys are what a server is told first: ports, times, directories, the ensemble.
var zooBasicKeys = []Key{
	{
		Name: "clientPort", Type: Int, Default: Null, Valid: "0..65535",
		Doc: "Port for clients; may come from the server line instead.",
	},
	{
		Name: "clientPortAddress", Type: Str, Default: Null,
		Doc: "Address to listen on for clients; unset is all.",
	},
	{
		Name: "clientPortListenBacklog", Type: Int, Default: "-1", Status: Nothing,
		Doc: "Connections that may wait to be accepted; -1 is the system's choice.",
	},
	{
		Name: "connectToLearnerMasterLimit", Type: Int, Default: "0", Valid: "0..", Status: Later,
		Doc: "Ticks that a learner tries to reach its leader; 0 is initLimit.",
	},
	{
		Name: "dataDir", Type: Str, Default: Required, Valid: "nonempty",
		Doc: "Where snapshots, myid and, without dataLogDir, transaction logs are kept.",
	},
	{
		Name: "dataLogDir", Type: Str, Default: Null,
		Doc: "Where transaction logs are kept; unset is dataDir. A disk of its own makes writes faster.",
	},
	{
		Name: "dynamicConfigFile", Type: Str, Default: Null, Status: Later,
		Doc: "File with the servers of the ensemble.",
	},
	{
		Name: "electionAlg", Type: Int, Default: "3", Valid: "3..3",
		Doc: "Kind of leader election; there is one.",
	},
	{
		Name: "initLimit", Type: Int, Default: Null, Valid: "1..",
		Doc: "Ticks that a follower may take to connect and synchronise. Required in an ensemble.",
	},
	{
		Name: "localSessionsEnabled", Type: Boolean, Default: "false", Status: Later,
		Doc: "Sessions that only their server knows, until they need more.",
	},
	{
		Name: "localSessionsUpgradingEnabled", Type: Boolean, Default: "false", Status: Later,
		Doc: "Let a local session become a global one when it makes an ephemeral node.",
	},
	{
		Name: "maxClientCnxns", Type: Int, Default: "60", Valid: "0..",
		Doc: "Connections from one address; 0 is no limit.",
	},
	{
		Name: "maxCnxns", Type: Int, Default: "0", Valid: "0..",
		Doc: "Connections of all clients; 0 is no limit.",
	},
	{
		Name: "maxSessionTimeout", Type: Int, Default: "-1", Valid: "-1..",
		Doc: "Longest session timeout that clients get, in milliseconds; -1 is 20 ticks.",
	},
	{
		Name: "minSessionTimeout", Type: Int, Default: "-1", Valid: "-1..",
		Doc: "Shortest session timeout that clients get, in milliseconds; -1 is 2 ticks.",
	},
	{
		Name: "observerMasterPort", Type: Int, Default: "0", Valid: "0..65535", Status: Later,
		Doc: "Port on which a follower serves observers; 0 is off.",
	},
	{
		Name: "peerType", Type: Str, Default: "participant", Valid: "one:participant,observer", Status: Later,
		Doc: "Whether this server votes.",
	},
	{
		Name: "quorumListenOnAllIPs", Type: Boolean, Default: "false", Status: Later,
		Doc: "Listen to the other servers on all addresses, not only on that of the server line.",
	},
	{
		Name: "reconfigEnabled", Type: Boolean, Default: "false", Status: Later,
		Doc: "Allow the ensemble to be changed while it runs.",
	},
	{
		Name: "secureClientPort", Type: Int, Default: Null, Valid: "0..65535", Status: Later,
		Doc: "Port for clients that use TLS.",
	},
	{
		Name: "secureClientPortAddress", Type: Str, Default: Null, Status: Later,
		Doc: "Address to listen on for clients that use TLS; unset is all.",
	},
	{
		Name: "standaloneEnabled", Type: Boolean, Default: "true",
		Doc: "Run without an ensemble if there is one server only.",
	},
	{
		Name: "syncEnabled", Type: Boolean, Default: "true", Status: Later,
		Doc: "Let observers log and snapshot too.",
	},
	{
		Name: "syncLimit", Type: Int, Default: Null, Valid: "1..",
		Doc: "Ticks that a follower may be behind before it is dropped. Required in an ensemble.",
	},
	{
		Name: "tickTime", Type: Int, Default: "3000", Valid: "1..",
		Doc: "The unit of the other times, in milliseconds: heartbeats, and how exact session timeouts are.",
	},
}

// zooDataKeys are about the tree and what is on disk.
var zooDataKeys = []Key{
	{
		Name: "autopurge.purgeInterval", Type: Int, Default: "0", Valid: "0..",
		Doc: "Hours between two purges of old snapshots and logs; 0 is never.",
	},
	{
		Name: "autopurge.snapRetainCount", Type: Int, Default: "3",
		Doc: "Snapshots that a purge keeps, with the logs after them; less than 3 is 3.",
	},
	{
		Name: "closeSessionTxn.enabled", Type: Boolean, Default: "true",
		Doc: "Log which nodes go when a session ends.",
	},
	{
		Name: "commitLogCount", Type: Int, Default: "500", Valid: "0..", Status: Later,
		Doc: "Transactions kept in memory for followers that are behind.",
	},
	{
		Name: "datadir.autocreate", Type: Boolean, Default: "true",
		Doc: "Make the data directories if they are missing.",
	},
	{
		Name: "db.autocreate", Type: Boolean, Default: "true", Status: Later,
		Doc: "Start with an empty database if there is none, and vote with it.",
	},
	{
		Name: "digest.enabled", Type: Boolean, Default: "true",
		Doc: "Keep a sum over the tree, log it, and compare it after every transaction.",
	},
	{
		Name: "emulate353TTLNodes", Type: Boolean, Default: "false", Status: Later,
		Doc: "Store nodes with a time to live as 3.5.3 did.",
	},
	{
		Name: "enforceQuota", Type: Boolean, Default: "false",
		Doc: "Refuse what exceeds a hard quota, rather than log it.",
	},
	{
		Name: "extendedTypesEnabled", Type: Boolean, Default: "false",
		Doc: "Allow nodes with a time to live.",
	},
	{
		Name: "flushDelay", Type: Long, Default: "0", Status: Nothing,
		Doc: "Milliseconds that a sync may wait for more transactions. Here one takes all that came " +
			"while the last one ran.",
	},
	{
		Name: "forceSnapshotSync", Type: Boolean, Default: "false", Status: Later,
		Doc: "Always send learners a whole snapshot.",
	},
	{
		Name: "forceSync", Type: Str, Default: "yes",
		Doc: "Sync transactions to disk before they are answered; \"no\" loses some in a power cut.",
	},
	{
		Name: "fsync.warningthresholdms", Type: Long, Default: "1000", Valid: "0..",
		Doc: "A sync that takes longer is logged and counted.",
	},
	{
		Name: "maxBatchSize", Type: Int, Default: "1000", Valid: "1..",
		Doc: "Transactions in one sync, at most.",
	},
	{
		Name: "maxWriteQueuePollTime", Type: Long, Default: Null, Status: Nothing,
		Doc: "Milliseconds between two looks at flushDelay.",
	},
	{
		Name: "preAllocSize", Type: Long, Default: "65536",
		Doc: "KiB that a log file grows by ahead of need; 0 or less is off.",
	},
	{
		Name: "serializeLastProcessedZxidEnabled", Type: Boolean, Default: "true",
		Doc: "End snapshots with the last transaction that is in them.",
	},
	{
		Name: "skipACL", Type: Str, Default: "no",
		Doc: "\"yes\" grants everything to everybody.",
	},
	{
		Name: "snapCount", Type: Int, Default: "100000", Valid: "2..",
		Doc: "Transactions between two snapshots: from half of it to all of it, by chance.",
	},
	{
		Name: "snapSizeLimitInKb", Type: Long, Default: "4194304",
		Doc: "KiB of log between two snapshots, in the same way; 0 or less is no limit.",
	},
	{
		Name: "snapshot.compression.method", Type: Str, Default: "", Valid: "one:,gz,snappy",
		Doc: "Compression of snapshots.",
	},
	{
		Name: "snapshot.trust.empty", Type: Boolean, Default: "false",
		Doc: "Start from logs alone when there is no snapshot.",
	},
	{
		Name: "snapshotSizeFactor", Type: Double, Default: "0.33", Status: Later,
		Doc: "Share of the snapshot's size up to which a learner gets logs rather than the snapshot.",
	},
	{
		Name: "txnLogSizeLimitInKb", Type: Long, Default: "-1",
		Doc: "KiB at which a new log file begins; 0 or less is no limit.",
	},
	{
		Name: "znode.container.checkIntervalMs", Type: Long, Default: "60000", Valid: "1..",
		Doc: "How often containers and nodes past their time to live are looked for.",
	},
	{
		Name: "znode.container.maxNeverUsedIntervalMs", Type: Long, Default: "0", Valid: "0..",
		Doc: "How long a container without any child so far is kept; 0 is for ever.",
	},
	{
		Name: "znode.container.maxPerMinute", Type: Int, Default: "10000", Valid: "1..",
		Doc: "How many of them are deleted in a minute.",
	},
}

// zooEnsembleKeys are about the other servers.
var zooEnsembleKeys = []Key{
	{
		Name: "cnxTimeout", Type: Int, Default: "5000", Valid: "1..", Status: Later,
		Doc: "Milliseconds to connect to a server for election.",
	},
	{
		Name: "electionPortBindRetry", Type: Int, Default: "3", Valid: "0..", Status: Later,
		Doc: "Times that binding the election port is tried; 0 is for ever.",
	},
	{
		Name: "fastleader.maxNotificationInterval", Type: Int, Default: "60000", Valid: "1..", Status: Later,
		Doc: "Longest wait between two votes, in milliseconds.",
	},
	{
		Name: "fastleader.minNotificationInterval", Type: Int, Default: "200", Valid: "1..", Status: Later,
		Doc: "Shortest wait between two votes, in milliseconds.",
	},
	{
		Name: "leader.closeSocketAsync", Type: Boolean, Default: "false", Status: Nothing,
		Doc: "Java's threads.",
	},
	{
		Name: "leader.maxConcurrentDiffSyncs", Type: Int, Default: "100", Valid: "1..", Status: Later,
		Doc: "Learners that get logs at a time.",
	},
	{
		Name: "leader.maxConcurrentSnapSyncs", Type: Int, Default: "10", Valid: "1..", Status: Later,
		Doc: "Learners that get a snapshot at a time.",
	},
	{
		Name: "leader.maxTimeToWaitForEpoch", Type: Int, Default: "-1", Valid: "-1..", Status: Later,
		Doc: "Milliseconds that a leader waits for a quorum; -1 is initLimit.",
	},
	{
		Name: "leader.snapPingIntervalInSeconds", Type: Int, Default: "-1", Status: Later,
		Doc: "Seconds between two snapshots that all servers take together; -1 is off.",
	},
	{
		Name: "leaderServes", Type: Str, Default: "yes", Valid: "one:yes,no", Status: Later,
		Doc: "Whether the leader has clients.",
	},
	{
		Name: "learner.asyncSending", Type: Boolean, Default: "false", Status: Nothing,
		Doc: "Java's threads.",
	},
	{
		Name: "learner.closeSocketAsync", Type: Boolean, Default: "false", Status: Nothing,
		Doc: "Java's threads.",
	},
	{
		Name: "multiAddress.enabled", Type: Boolean, Default: "false", Status: Later,
		Doc: "Allow several addresses of a server, separated by |.",
	},
	{
		Name: "multiAddress.reachabilityCheckEnabled", Type: Boolean, Default: "true", Status: Later,
		Doc: "Try which of them can be reached.",
	},
	{
		Name: "multiAddress.reachabilityCheckTimeoutMs", Type: Int, Default: "1000", Valid: "1..", Status: Later,
		Doc: "How long that may take.",
	},
	{
		Name: "observer.election.DelayMs", Type: Int, Default: "200", Valid: "0..", Status: Later,
		Doc: "Milliseconds that an observer waits before it looks for a leader.",
	},
	{
		Name: "observer.reconnectDelayMs", Type: Long, Default: "0", Valid: "0..", Status: Later,
		Doc: "Most milliseconds, by chance, that an observer waits before it connects.",
	},
	{
		Name: "oraclePath", Type: Str, Default: Null, Status: Later,
		Doc: "File that decides between two servers.",
	},
	{
		Name: "portUnification", Type: Boolean, Default: "false", Status: Later,
		Doc: "Accept TLS and plain connections of other servers on one port.",
	},
	{
		Name: "quorum.auth.enableSasl", Type: Boolean, Default: "false", Status: Later,
		Doc: "SASL between servers.",
	},
	{
		Name: "quorum.auth.kerberos.servicePrincipal", Type: Str, Default: "zkquorum/localhost", Status: Later,
		Doc: "Kerberos principal of the other servers.",
	},
	{
		Name: "quorum.auth.learner.saslLoginContext", Type: Str, Default: "QuorumLearner", Status: Later,
		Doc: "JAAS section of a learner.",
	},
	{
		Name: "quorum.auth.learnerRequireSasl", Type: Boolean, Default: "false", Status: Later,
		Doc: "Learners insist on SASL.",
	},
	{
		Name: "quorum.auth.server.saslLoginContext", Type: Str, Default: "QuorumServer", Status: Later,
		Doc: "JAAS section of a leader.",
	},
	{
		Name: "quorum.auth.serverRequireSasl", Type: Boolean, Default: "false", Status: Later,
		Doc: "Leaders insist on SASL.",
	},
	{
		Name: "quorum.cnxn.threads.size", Type: Int, Default: "20", Status: Nothing,
		Doc: "Java's threads.",
	},
	{
		Name: "quorumCnxnTimeoutMs", Type: Int, Default: "-1", Valid: "-1..", Status: Later,
		Doc: "Milliseconds of silence after which an election connection is closed; -1 is by syncLimit.",
	},
	{
		Name: "sslQuorum", Type: Boolean, Default: "false", Status: Later,
		Doc: "TLS between servers.",
	},
	{
		Name: "sslQuorumReloadCertFiles", Type: Boolean, Default: "false", Status: Later,
		Doc: "Read their certificates again when the files change.",
	},
	{
		Name: "tcpKeepAlive", Type: Boolean, Default: "false", Status: Later,
		Doc: "TCP keep-alive between servers.",
	},
}
