package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/obs"
)

// stopTimeout is how long a clean stop may take (Apache waits five minutes for a controlled shutdown).
const stopTimeout = 5 * time.Minute

// Main runs a node until SIGTERM or SIGINT and returns the exit code. Without a file it runs the embedded
// default in ./data, which it formats when it is new.
func Main(file string, overrides []string) int {
	return run(file, overrides, nil, os.Stdout, os.Stderr)
}

// companion is what runs in the same process, and ends with it.
type companion struct {
	banner string // for someone who started it for the first time
	fatal  <-chan error
	stop   func() error
}

// beside starts a companion; nil is none.
type beside func(ctx context.Context, logs *obs.Logs) (companion, error)

func run(file string, overrides []string, with beside, out, errs io.Writer) int {
	began := time.Now()
	cfg, warnings, err := load(file, overrides)
	if err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	logs := obs.NewLogs(out, levelOf(cfg.String("kalda.log.level")))
	log := logs.Named("node")
	for _, w := range warnings {
		log.Warn(w)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	n, other, err := startBoth(ctx, cfg, logs, with)
	if err != nil {
		log.Error("the node doesn't start", "error", err)
		return 1
	}
	log.Info(fmt.Sprintf("Kafka Server started in %d ms", time.Since(began).Milliseconds()))
	if file == "" {
		fmt.Fprint(out, n.banner(), other.banner)
	}
	code := 0
	select {
	case <-ctx.Done():
	case <-n.Fatal(): //nolint:errcheck // it is logged where it is made
		code = 1
	case <-other.fatal: //nolint:errcheck // as is this
		code = 1
	}
	stop() // a second signal ends the process at once
	log.Info("shutting down")
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := errors.Join(n.Stop(ctx), other.stop()); err != nil {
		log.Error("the shutdown wasn't clean", "error", err)
		return 1
	}
	log.Info("shut down")
	return code
}

// startBoth starts a node, and what runs beside it first.
func startBoth(
	ctx context.Context, cfg *config.Server, logs *obs.Logs, with beside,
) (*Node, companion, error) {
	other := companion{stop: func() error { return nil }}
	if with != nil {
		var err error
		if other, err = with(ctx, logs); err != nil {
			return nil, other, err
		}
	}
	n, err := Start(ctx, cfg, logs)
	if err != nil {
		return nil, other, errors.Join(err, other.stop())
	}
	return n, other, nil
}

func load(file string, overrides []string) (*config.Server, config.Warnings, error) {
	if file != "" {
		return config.Load(file, overrides)
	}
	dir, err := filepath.Abs("data")
	if err != nil {
		return nil, nil, err
	}
	return config.Embedded(dir, overrides)
}

func levelOf(name string) slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(name)); err != nil {
		return slog.LevelInfo
	}
	return l
}

// banner tells someone who started a node for the first time where it is and what to try.
func (n *Node) banner() string {
	addr := "localhost:9092"
	for _, l := range n.cfg.BrokerListeners {
		if a := n.wire.Addr(l.Name); a != nil {
			addr = fmt.Sprintf("localhost:%d", a.Port)
			break
		}
	}
	s := fmt.Sprintf("\nKalda is running: Kafka clients connect to %s. Data is in %s.\n", addr, n.cfg.LogDirs[0])
	if n.cfg.HTTPListener != "" {
		http := n.cfg.HTTPListener
		if strings.HasPrefix(http, ":") {
			http = "localhost" + http
		}
		s += fmt.Sprintf("Metrics: http://%[1]s/metrics, health: http://%[1]s/health/ready\n", http)
	}
	return s + fmt.Sprintf(`Try, in another terminal:
  kalda topics --bootstrap-server %[1]s --create --topic hello --partitions 3
  echo 'hello, world' | kalda console-producer --bootstrap-server %[1]s --topic hello
  kalda console-consumer --bootstrap-server %[1]s --topic hello --from-beginning

`, addr)
}
