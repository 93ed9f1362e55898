package controller

import (
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
)

// Config is what a Controller needs to know. Zero values take Apache's defaults.
type Config struct {
	NodeID    meta.NodeID
	ClusterID string
	Broker    bool // this process has the broker role too
	Alone     bool // this node is the only voter

	SessionTimeout    time.Duration // broker.session.timeout.ms, 9 s
	MaxIdle           time.Duration // metadata.max.idle.interval.ms, 500 ms; negative: no NoOp records
	Partitions        int32         // num.partitions, 1
	ReplicationFactor int16         // default.replication.factor, 1
	MinISR            int           // min.insync.replicas, 1
	Unclean           bool          // unclean.leader.election.enable
	KeepTopics        bool          // delete.topic.enable=false
	MaxRequestRecords int           // records that one request may write, 10000
	QuotaSamples      int           // controller.quota.window.num, 11
	QuotaWindow       time.Duration // controller.quota.window.size.seconds, 1 s
	QuotaClients      int           // kalda.max.quota.clients, 10000

	// Validate checks the whole resulting configuration of a resource; see meta.ValidateConfig. nil accepts
	// everything.
	Validate meta.ValidateConfig
	// ListKeys says of a key whether it is a list and what it is by default, for APPEND and SUBTRACT; nil:
	// none is.
	ListKeys meta.ListKey

	// DescribeTopic gives a new topic's whole configuration for the answer to CreateTopics; nil leaves it empty.
	DescribeTopic func(overrides map[string]string) []kmsg.CreateTopicsResponseTopicConfig

	// Bootstrap gives the records that an empty log must begin with (quorum.Quorum.Bootstrap); empty: the
	// defaults of the latest metadata.version.
	Bootstrap func() [][]byte
	// Rand is the source of topic ids and placement; nil: seeded by the operating system.
	Rand *rand.Rand
	// Fault is told of a record that can't be applied: the node can't go on. nil panics.
	Fault  func(error)
	Logger *slog.Logger
}

func (c *Config) setDefaults() {
	orDefault(&c.SessionTimeout, 9*time.Second)
	orDefault(&c.MaxIdle, 500*time.Millisecond)
	orDefault(&c.Partitions, 1)
	orDefault(&c.ReplicationFactor, 1)
	orDefault(&c.MinISR, 1)
	orDefault(&c.MaxRequestRecords, 10000)
	orDefault(&c.QuotaSamples, 11)
	orDefault(&c.QuotaWindow, time.Second)
	orDefault(&c.QuotaClients, 10000)
	if c.Rand == nil {
		c.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	if c.Fault == nil {
		c.Fault = func(err error) { panic(err) }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Bootstrap == nil {
		c.Bootstrap = func() [][]byte { return nil }
	}
}

func orDefault[T int | int16 | int32 | time.Duration](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}
