package quorum

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/kalda/kalda/internal/disk/vfs"
)

// Voter is one entry of controller.quorum.voters.
type Voter struct {
	ID   NodeID
	Host string
	Port uint16
}

// Endpoint is where one of this node's controller listeners is reached.
type Endpoint struct {
	Listener string // upper case
	Host     string
	Port     uint16
}

// Config is what a quorum needs to know. Zero durations and sizes take Apache's defaults (kraft.md 1.2, 2.4).
type Config struct {
	NodeID      NodeID
	ClusterID   string
	DirectoryID [16]byte // directory.id of Dir's meta.properties
	Dir         string   // metadata.log.dir; __cluster_metadata-0 is made in it
	Controller  bool     // process.roles has "controller": may vote and must sync before it fetches on

	Voters           []Voter    // controller.quorum.voters, may be empty
	BootstrapServers []string   // controller.quorum.bootstrap.servers, "host:port"
	Endpoints        []Endpoint // own, advertised; that of the first of controller.listener.names first
	// ControllerListener is the first of controller.listener.names, for nodes that have no Endpoints.
	ControllerListener string

	ElectionTimeout    time.Duration // controller.quorum.election.timeout.ms
	ElectionBackoffMax time.Duration // controller.quorum.election.backoff.max.ms
	FetchTimeout       time.Duration // controller.quorum.fetch.timeout.ms
	RequestTimeout     time.Duration // controller.quorum.request.timeout.ms
	RetryBackoff       time.Duration // controller.quorum.retry.backoff.ms

	FetchMaxBytes         int32 // controller.quorum.fetch.max.bytes
	FetchSnapshotMaxBytes int32 // controller.quorum.fetch.snapshot.max.bytes

	SegmentBytes     int64         // metadata.log.segment.bytes
	SegmentTime      time.Duration // metadata.log.segment.ms
	SnapshotBytes    int64         // metadata.log.max.record.bytes.between.snapshots
	SnapshotInterval time.Duration // metadata.log.max.snapshot.interval.ms; negative: no snapshots by time
	RetentionBytes   int64         // metadata.max.retention.bytes; negative: no bound
	Retention        time.Duration // metadata.max.retention.ms; negative: no bound

	QueueSize int // submitted functions and requests that may wait, default 4096

	FS vfs.FS // nil: the operating system's

	// Dial connects to a peer's controller listener; nil is plain TCP. Authentication and encryption belong
	// here.
	Dial   func(ctx context.Context, address string) (net.Conn, error)
	Logger *slog.Logger
}

func (c *Config) setDefaults() {
	duration := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	duration(&c.ElectionTimeout, time.Second)
	duration(&c.ElectionBackoffMax, time.Second)
	duration(&c.FetchTimeout, 2*time.Second)
	duration(&c.RequestTimeout, 2*time.Second)
	duration(&c.RetryBackoff, 20*time.Millisecond)
	duration(&c.SegmentTime, 7*24*time.Hour)
	duration(&c.SnapshotInterval, time.Hour)
	duration(&c.Retention, 7*24*time.Hour)
	orDefault(&c.FetchMaxBytes, 1<<20)
	orDefault(&c.FetchSnapshotMaxBytes, 1<<20)
	orDefault(&c.SegmentBytes, 1<<30)
	orDefault(&c.SnapshotBytes, 20<<20)
	orDefault(&c.RetentionBytes, 100<<20)
	orDefault(&c.QueueSize, 4096)
	if c.FS == nil {
		c.FS = vfs.OS()
	}
	if c.Dial == nil {
		var d net.Dialer
		c.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return d.DialContext(ctx, "tcp", address)
		}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

func orDefault[T int | int32 | int64](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}
