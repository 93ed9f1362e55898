package ensemble

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

// Apache's exit codes, which scripts know.
const (
	broken    = 1 // anything else
	invalid   = 2 // a configuration that can't be
	noDataDir = 3 // a directory that can't be used
)

// Main runs a server until SIGTERM or SIGINT and returns the exit code. The arguments are a zoo.cfg, or a
// port and a directory and so on, or nothing: then it serves port 2181 from ./data/zookeeper.
func Main(args []string) int { return run(args, os.Getenv, os.Stdout, os.Stderr) }

func run(args []string, getenv func(string) string, out, errs io.Writer) int {
	began := time.Now()
	cfg, warnings, err := Load(args, getenv)
	if err != nil {
		fmt.Fprintln(errs, "Invalid config, exiting abnormally")
		fmt.Fprintln(errs, err)
		return invalid
	}
	log := obs.NewLogs(out, slog.LevelInfo).Named("zookeeper")
	for _, w := range warnings {
		log.Warn(w)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	s, err := Start(ctx, Options{Config: cfg, Log: log})
	if err != nil {
		log.Error("the server doesn't start", "error", err)
		fmt.Fprintln(errs, err)
		if errors.Is(err, errDataDir) {
			return noDataDir
		}
		return broken
	}
	operating := Operate(ctx, s)
	defer operating.Close()
	took := time.Since(began).Milliseconds()
	log.Info(fmt.Sprintf("ZooKeeper server started in %d ms", took), "address", s.Addr())
	if len(args) == 0 {
		fmt.Fprint(out, s.Banner())
	}
	code := 0
	select {
	case <-ctx.Done():
	case <-s.Fatal(): //nolint:errcheck // it is logged where it is made
		code = broken
	}
	stop() // a second signal ends the process at once
	log.Info("shutting down")
	if err := s.Stop(); err != nil {
		log.Error("the shutdown wasn't clean", "error", err)
		return broken
	}
	log.Info("shut down")
	return code
}

// Banner tells someone who started a server for the first time where it is and what to try.
func (s *Server) Banner() string {
	return fmt.Sprintf("\nZooKeeper clients connect to localhost:%d. Data is in %s. Try, in another terminal:\n"+
		"  kalda zkCli -server localhost:%[1]d create /hello world\n\n", s.Addr().Port, s.zoo.DataDir)
}

// Load reads the configuration that arguments and environment give, as Apache's scripts and server do.
func Load(args []string, getenv func(string) string) (*config.ZooKeeper, config.Warnings, error) {
	flags := strings.TrimSpace(getenv("SERVER_JVMFLAGS") + " " + getenv("JVMFLAGS"))
	switch len(args) {
	case 0:
		dir, err := filepath.Abs(filepath.Join("data", "zookeeper"))
		if err != nil {
			return nil, nil, err
		}
		return config.EmbeddedZooKeeper(dir, flags)
	case 1:
		return config.LoadZooKeeper(args[0], flags)
	}
	return config.ZooKeeperArgs(args, flags)
}
