package node

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/server/broker"
	"github.com/kalda/kalda/internal/server/controller"
	"github.com/kalda/kalda/internal/server/quorum"
	"github.com/kalda/kalda/internal/wire"
)

func millis(s config.Scope, key string) time.Duration {
	switch k := config.BrokerKey(key); k.Type {
	case config.Int:
		return time.Duration(s.Int(key)) * time.Millisecond
	default:
		if v := s.Int64(key); v < int64(1<<63-1)/int64(time.Millisecond) {
			return time.Duration(v) * time.Millisecond
		}
		return 1<<63 - 1
	}
}

// orNever is d, or negative where zero turns something off.
func orNever(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

func quorumConfig(c *config.Server, id identity) quorum.Config {
	q := quorum.Config{
		NodeID: quorum.NodeID(c.NodeID), ClusterID: id.cluster, DirectoryID: id.metadataDir,
		Dir: c.MetadataLogDir, Controller: c.Controller,
		ElectionTimeout:       millis(c.Scope, "controller.quorum.election.timeout.ms"),
		ElectionBackoffMax:    millis(c.Scope, "controller.quorum.election.backoff.max.ms"),
		FetchTimeout:          millis(c.Scope, "controller.quorum.fetch.timeout.ms"),
		RequestTimeout:        millis(c.Scope, "controller.quorum.request.timeout.ms"),
		RetryBackoff:          millis(c.Scope, "controller.quorum.retry.backoff.ms"),
		FetchMaxBytes:         int32(c.Int("controller.quorum.fetch.max.bytes")),
		FetchSnapshotMaxBytes: int32(c.Int("controller.quorum.fetch.snapshot.max.bytes")),
		SegmentBytes:          int64(c.Int("metadata.log.segment.bytes")),
		SegmentTime:           millis(c.Scope, "metadata.log.segment.ms"),
		SnapshotBytes:         c.Int64("metadata.log.max.record.bytes.between.snapshots"),
		SnapshotInterval:      orNever(millis(c.Scope, "metadata.log.max.snapshot.interval.ms")),
		RetentionBytes:        c.Int64("metadata.max.retention.bytes"),
		Retention:             millis(c.Scope, "metadata.max.retention.ms"),
	}
	for _, v := range c.Voters {
		q.Voters = append(q.Voters, quorum.Voter{ID: quorum.NodeID(v.ID), Host: v.Host, Port: uint16(v.Port)})
	}
	for _, b := range c.BootstrapServers {
		q.BootstrapServers = append(q.BootstrapServers, net.JoinHostPort(b.Host, strconv.Itoa(b.Port)))
	}
	if len(c.ControllerListenerNames) > 0 {
		q.ControllerListener = c.ControllerListenerNames[0]
	}
	for _, l := range c.AdvertisedControllers {
		at := quorum.Endpoint{Listener: l.Name, Host: hostOf(l.Host), Port: uint16(l.Port)}
		q.Endpoints = append(q.Endpoints, at)
	}
	return q
}

// hostOf is what to tell others when the operator named no host: this machine's name.
func hostOf(host string) string {
	if host != "" {
		return host
	}
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return "localhost"
}

func controllerConfig(c *config.Server, id identity) controller.Config {
	return controller.Config{
		NodeID: meta.NodeID(c.NodeID), ClusterID: id.cluster, Broker: c.Broker, Alone: alone(c),
		SessionTimeout:    millis(c.Scope, "broker.session.timeout.ms"),
		MaxIdle:           orNever(millis(c.Scope, "metadata.max.idle.interval.ms")),
		Partitions:        int32(c.Int("num.partitions")),
		ReplicationFactor: int16(c.Int("default.replication.factor")),
		MinISR:            c.Int("min.insync.replicas"),
		Unclean:           c.Bool("unclean.leader.election.enable"),
		KeepTopics:        !c.Bool("delete.topic.enable"),
		QuotaSamples:      c.Int("controller.quota.window.num"),
		QuotaWindow:       time.Duration(c.Int("controller.quota.window.size.seconds")) * time.Second,
		QuotaClients:      c.Int("kalda.max.quota.clients"),
	}
}

// alone tells that this node is the only voter, as far as its configuration says.
func alone(c *config.Server) bool {
	if !c.Controller {
		return false
	}
	if len(c.Voters) > 0 {
		return len(c.Voters) == 1 && c.Voters[0].ID == c.NodeID
	}
	for _, b := range c.BootstrapServers {
		own := false
		for _, l := range c.ControllerListeners {
			own = own || l.Port == b.Port
		}
		if !own {
			return false
		}
	}
	return true
}

func brokerConfig(c *config.Server, id identity) broker.Config {
	return broker.Config{
		NodeID: meta.NodeID(c.NodeID), ClusterID: id.cluster, Rack: c.String("broker.rack"),
		LogDirs: id.logDirs, DirIDs: id.dirs, FailedDirs: id.failed, Node: c,
		FetchMaxBytes:        int32(c.Int("fetch.max.bytes")),
		FetchSessions:        orNone(c.Int("max.incremental.fetch.session.cache.slots")),
		MaxRequestPartitions: int32(c.Int("max.request.partition.size.limit")),
		ProducerExpiry:       millis(c.Scope, "producer.id.expiration.ms"),
		ProducerExpiryCheck:  millis(c.Scope, "producer.id.expiration.check.interval.ms"),
		HWCheckpoint:         millis(c.Scope, "replica.high.watermark.checkpoint.interval.ms"),
		RecoveryCheckpoint: min(millis(c.Scope, "log.flush.offset.checkpoint.interval.ms"),
			millis(c.Scope, "log.flush.start.offset.checkpoint.interval.ms")),
		RetentionCheck:        millis(c.Scope, "log.retention.check.interval.ms"),
		InitialTaskDelay:      millis(c.Scope, "log.initial.task.delay.ms"),
		FlushCheck:            millis(c.Scope, "log.flush.scheduler.interval.ms"),
		RecoveryThreads:       c.Int("num.recovery.threads.per.data.dir"),
		ProducerIDWait:        millis(c.Scope, "request.timeout.ms"),
		AutoCreateTopics:      c.Bool("auto.create.topics.enable"),
		DefaultPartitions:     int32(c.Int("num.partitions")),
		DefaultReplication:    int16(c.Int("default.replication.factor")),
		OffsetsPartitions:     int32(c.Int("offsets.topic.num.partitions")),
		OffsetsReplication:    int16(c.Int("offsets.topic.replication.factor")),
		TransactionPartitions: int32(c.Int("transaction.state.log.num.partitions")),
		MaxProducers:          c.Int("kalda.max.producer.ids.per.partition"),
		TelemetryMaxBytes:     c.Int("telemetry.max.bytes"),
		TelemetryClients:      telemetryClients(c),
		TelemetryMetrics:      c.Int("kalda.max.telemetry.metrics.per.client"),
		QuotaSamples:          c.Int("quota.window.num"),
		QuotaWindow:           time.Duration(c.Int("quota.window.size.seconds")) * time.Second,
		QuotaClients:          c.Int("kalda.max.quota.clients"),
	}
}

// telemetryClients is how many clients' metrics are kept: none when nobody could see them.
func telemetryClients(c *config.Server) int {
	if c.String("kalda.http.listener") == "" {
		return -1
	}
	return orNone(c.Int("kalda.max.telemetry.clients"))
}

func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

func wireConfig(c *config.Server) (wire.Config, error) {
	w := wire.Config{
		MaxFrame:      int32(c.Int("socket.request.max.bytes")),
		MaxConns:      c.Int("max.connections"),
		MaxConnsPerIP: c.Int("max.connections.per.ip"),
		MaxIdle:       orNever(millis(c.Scope, "connections.max.idle.ms")),
		SlowFrame:     millis(c.Scope, "kalda.request.slow.ms"),
		Backlog:       c.Int("socket.listen.backlog.size"),
		SendBuffer:    c.Int("socket.send.buffer.bytes"),
		ReceiveBuffer: c.Int("socket.receive.buffer.bytes"),
	}
	limits, err := config.ParseIPOverrides(c.String("max.connections.per.ip.overrides"))
	if err != nil {
		return w, err
	}
	w.PerIP = make(map[string]int, len(limits))
	for _, l := range limits {
		for _, addr := range addresses(l.Host) {
			w.PerIP[addr] = l.Max
		}
	}
	for _, list := range [][]config.Listener{c.BrokerListeners, c.ControllerListeners} {
		for _, l := range list {
			w.Listeners = append(w.Listeners, wire.Listener{
				Name: l.Name, Host: l.Host, Port: l.Port, MaxConns: c.OnListener(l.Name).Int("max.connections"),
			})
		}
	}
	return w, nil
}

// addresses are those that a host name stands for now; an address stands for itself, and so does what
// can't be resolved.
func addresses(host string) []string {
	if net.ParseIP(host) != nil {
		return []string{host}
	}
	found, err := net.DefaultResolver.LookupHost(context.Background(), host)
	if err != nil {
		return []string{host}
	}
	return found
}
