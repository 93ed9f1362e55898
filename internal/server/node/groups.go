package node

import (
	"crypto/rand"
	"strconv"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/server/broker"
	"github.com/kalda/kalda/internal/server/coordinator"
)

// groups lends the coordinator to the broker: each has a name of its own for the log under a shard.
type groups struct{ *coordinator.Groups }

// Lead implements broker.Groups.
func (g groups) Lead(partition, epoch int32, p *broker.Partition) { g.Groups.Lead(partition, epoch, p) }

func (n *Node) buildGroups() groups {
	c := n.cfg
	cfg := coordinator.Config{
		LoadBuffer:   c.Int("offsets.load.buffer.size"),
		WriteTimeout: millis(c.Scope, "offsets.commit.timeout.ms"),
		MaxBatch:     c.Int("message.max.bytes"),
		Codec:        batch.Codec(c.Int("offsets.topic.compression.codec")),
		Log:          n.logs.Named("group-coordinator"),
	}
	return groups{coordinator.NewGroups(cfg, groupConfig(c), func() (seed [32]byte) {
		_, _ = rand.Read(seed[:]) // never fails (crypto/rand)
		return seed
	})}
}

func groupConfig(c *config.Server) group.Config {
	g := group.Defaults()
	g.MinSessionTimeout = millis(c.Scope, "group.min.session.timeout.ms")
	g.MaxSessionTimeout = millis(c.Scope, "group.max.session.timeout.ms")
	g.InitialRebalanceDelay = millis(c.Scope, "group.initial.rebalance.delay.ms")
	g.MaxSize = c.Int("group.max.size")
	g.OffsetsRetention = time.Duration(c.Int("offsets.retention.minutes")) * time.Minute
	g.RetentionCheckInterval = millis(c.Scope, "offsets.retention.check.interval.ms")
	g.MaxMetadata = c.Int("offset.metadata.max.bytes")
	g.ConsumerSession = group.Bounds{
		Default: millis(c.Scope, "group.consumer.session.timeout.ms"),
		Min:     millis(c.Scope, "group.consumer.min.session.timeout.ms"),
		Max:     millis(c.Scope, "group.consumer.max.session.timeout.ms"),
	}
	g.ConsumerHeartbeat = group.Bounds{
		Default: millis(c.Scope, "group.consumer.heartbeat.interval.ms"),
		Min:     millis(c.Scope, "group.consumer.min.heartbeat.interval.ms"),
		Max:     millis(c.Scope, "group.consumer.max.heartbeat.interval.ms"),
	}
	g.AssignmentInterval = group.Bounds{
		Default: millis(c.Scope, "group.consumer.assignment.interval.ms"),
		Min:     millis(c.Scope, "group.consumer.min.assignment.interval.ms"),
		Max:     millis(c.Scope, "group.consumer.max.assignment.interval.ms"),
	}
	g.Node = strconv.Itoa(int(c.NodeID))
	g.ConsumerMaxSize = c.Int("group.consumer.max.size")
	g.Assignors = nil
	for _, name := range c.List("group.consumer.assignors") {
		g.Assignors = append(g.Assignors, config.AssignorName(name))
	}
	g.RegexRefresh = millis(c.Scope, "group.consumer.regex.refresh.interval.ms")
	policy := strings.ToLower(c.String("group.consumer.migration.policy"))
	g.Upgrade = policy == "bidirectional" || policy == "upgrade"
	g.Downgrade = policy == "bidirectional" || policy == "downgrade"
	return g
}
