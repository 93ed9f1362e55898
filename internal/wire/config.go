package wire

import (
	"log/slog"
	"time"

	"github.com/kalda/kalda/internal/obs"
)

// Config is what a Server needs to know. Zero values mean the defaults told beside them.
type Config struct {
	Listeners []Listener

	MaxFrame        int32          // socket.request.max.bytes; 100 MiB
	MaxBody         int            // longest body that is decoded into structures; 16 MiB. See API.MaxBody
	MaxRequestBytes int64          // memory for requests and replies, all connections together; 256 MiB
	MaxConns        int            // max.connections; no limit
	MaxConnsPerIP   int            // max.connections.per.ip; no limit. See PerIP
	PerIP           map[string]int // max.connections.per.ip.overrides, by address text
	MaxIdle         time.Duration  // connections.max.idle.ms; 10 min; negative: never
	SlowFrame       time.Duration  // kalda.request.slow.ms; 30 s. See crawls
	Backlog         int            // socket.listen.backlog.size; the OS's
	SendBuffer      int            // socket.send.buffer.bytes; <= 0: the OS's
	ReceiveBuffer   int            // socket.receive.buffer.bytes; <= 0: the OS's

	Quotas Quotas // nil: nobody is slowed down

	Log     *slog.Logger // default: slog.Default()
	Metrics *Metrics     // default: not kept
}

// Listener is one address to listen on.
type Listener struct {
	Name     string // upper case, e.g. PLAINTEXT
	Host     string // empty: all interfaces
	Port     int    // 0: an ephemeral one
	MaxConns int    // listener.name.<l>.max.connections; 0: no limit
}

// Metrics is what the sockets count. The zero value is ready.
type Metrics struct {
	Accepted, Refused, IdleClosed obs.Counter
	Connections                   obs.Gauge
	RequestBytes, ReplyBytes      obs.Counter
	BadFrames                     obs.Counter
	MemoryUsed                    obs.Gauge // of Config.MaxRequestBytes; read by obs from the server
	Requests                      [maxKey + 1]RequestMetrics
}

// RequestMetrics is what is counted for one API key.
type RequestMetrics struct {
	Count obs.Counter
	Total obs.Histogram // from the arrival of the bytes to the reply being ready
}

func (c *Config) fill() {
	if c.MaxFrame <= 0 {
		c.MaxFrame = 100 << 20
	}
	if c.MaxBody <= 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.MaxRequestBytes <= 0 {
		c.MaxRequestBytes = 256 << 20
	}
	if c.MaxIdle == 0 {
		c.MaxIdle = 10 * time.Minute
	}
	if c.SlowFrame <= 0 {
		c.SlowFrame = 30 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Metrics == nil {
		c.Metrics = new(Metrics)
	}
}
