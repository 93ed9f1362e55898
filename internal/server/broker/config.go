package broker

import (
	"log/slog"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/obs"
)

// Config is what a Broker needs to know. Zero values mean the defaults told beside them.
type Config struct {
	NodeID    meta.NodeID
	ClusterID string
	Rack      string
	// Announced tells that advertised.listeners (or listeners with a real host) says where clients find this
	// node. If it is false and this is the only node, a client is told the address it dialled.
	Announced bool

	FS      vfs.FS   // default: the OS's
	LogDirs []string // log.dirs, formatted
	// DirIDs are the directory ids by position in LogDirs; used to find out which dirs a partition is assigned
	// to.
	DirIDs []meta.UUID
	// FailedDirs are those of log.dirs that can't even be identified, and why.
	FailedDirs map[string]error

	// Node is this node's static configuration, which DescribeConfigs and the like answer from; nil: they aren't
	// served.
	Node *config.Server
	// Logs are the levels of loggers, which configs of kind BROKER_LOGGER read and change; nil: there are none.
	Logs *obs.Logs

	// Topic makes the effective configuration of a topic from what is set on it; nil: Kafka's defaults alone.
	Topic func(overrides map[string]string) config.TopicConfig

	FetchMaxBytes         int32         // fetch.max.bytes; 55 MiB
	FetchSessions         int           // max.incremental.fetch.session.cache.slots; 1000, negative: none
	MaxRequestPartitions  int32         // max.request.partition.size.limit; 2000
	ProducerExpiry        time.Duration // producer.id.expiration.ms; 24 h
	ProducerExpiryCheck   time.Duration // producer.id.expiration.check.interval.ms; 10 min
	MaxProducers          int           // producers remembered per partition; no limit
	HWCheckpoint          time.Duration // replica.high.watermark.checkpoint.interval.ms; 5 s
	RecoveryCheckpoint    time.Duration // log.flush.offset.checkpoint.interval.ms; 60 s
	RetentionCheck        time.Duration // log.retention.check.interval.ms; 5 min
	InitialTaskDelay      time.Duration // log.initial.task.delay.ms; 30 s
	FlushCheck            time.Duration // log.flush.scheduler.interval.ms; never
	RecoveryThreads       int           // num.recovery.threads.per.data.dir; 2
	ProducerIDWait        time.Duration // how long InitProducerId waits for ids; request.timeout.ms; 30 s
	AutoCreateTopics      bool          // auto.create.topics.enable
	DefaultPartitions     int32         // num.partitions; 1
	DefaultReplication    int16         // default.replication.factor; 1
	OffsetsPartitions     int32         // offsets.topic.num.partitions; 50
	OffsetsReplication    int16         // offsets.topic.replication.factor; 3, as far as there are live brokers
	TransactionPartitions int32         // transaction.state.log.num.partitions; 50
	TelemetryMaxBytes     int           // telemetry.max.bytes; 1 MiB
	TelemetryClients      int           // kalda.max.telemetry.clients; 1000. Negative: clients aren't asked
	TelemetryMetrics      int           // kalda.max.telemetry.metrics.per.client; 1000
	QuotaSamples          int           // quota.window.num; 11
	QuotaWindow           time.Duration // quota.window.size.seconds; 1 s
	QuotaClients          int           // kalda.max.quota.clients; 10000

	Forward Forward // to the active controller
	Groups  Groups  // nil: group requests aren't served
	// Transactions coordinates transactions; nil: they aren't served.
	Transactions Transactions
	// VerifyTransactions is transaction.partition.verification.enable, which may change; nil: yes.
	VerifyTransactions func() bool
	// TxnRetry and TxnRetryMax are how often and how long adding partitions to a transaction is tried again
	// while the last one completes: add.partitions.to.txn.retry.backoff.ms and .max.ms; 20 ms, 100 ms.
	TxnRetry, TxnRetryMax time.Duration

	Log     *slog.Logger     // default: slog.Default()
	Metrics *Metrics         // default: not kept
	Now     func() time.Time // default: time.Now
}

func (c *Config) fill() {
	orDefault(&c.FetchMaxBytes, 55<<20)
	orDefault(&c.FetchSessions, 1000)
	orDefault(&c.MaxRequestPartitions, 2000)
	orDefault(&c.ProducerExpiry, 24*time.Hour)
	orDefault(&c.ProducerExpiryCheck, 10*time.Minute)
	orDefault(&c.HWCheckpoint, 5*time.Second)
	orDefault(&c.RecoveryCheckpoint, time.Minute)
	orDefault(&c.RetentionCheck, 5*time.Minute)
	orDefault(&c.InitialTaskDelay, 30*time.Second)
	orDefault(&c.RecoveryThreads, 2)
	orDefault(&c.ProducerIDWait, 30*time.Second)
	orDefault(&c.DefaultPartitions, 1)
	orDefault(&c.DefaultReplication, 1)
	orDefault(&c.OffsetsPartitions, 50)
	orDefault(&c.OffsetsReplication, 3)
	orDefault(&c.TransactionPartitions, 50)
	orDefault(&c.TelemetryMaxBytes, 1<<20)
	orDefault(&c.TelemetryClients, 1000)
	orDefault(&c.TelemetryMetrics, 1000)
	orDefault(&c.QuotaSamples, 11)
	orDefault(&c.QuotaWindow, time.Second)
	orDefault(&c.QuotaClients, 10000)
	if c.FS == nil {
		c.FS = vfs.OS()
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Metrics == nil {
		c.Metrics = new(Metrics)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Topic == nil {
		c.Topic = defaultTopic
	}
	orDefault(&c.TxnRetry, 20*time.Millisecond)
	orDefault(&c.TxnRetryMax, 100*time.Millisecond)
	if c.VerifyTransactions == nil {
		c.VerifyTransactions = func() bool { return true }
	}
}

func orDefault[T int | int16 | int32 | time.Duration](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}
