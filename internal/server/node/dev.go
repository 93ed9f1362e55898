package node

import (
	"context"
	"os"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/obs"
	"github.com/kalda/kalda/internal/server/ensemble"
)

// Dev runs Kafka and ZooKeeper in one process until SIGTERM or SIGINT: what Main and a ZooKeeper server do
// without a file, with their data in ./data and ./data/zookeeper. Overrides are of server.properties.
func Dev(overrides []string) int {
	builtIn := func() (*config.ZooKeeper, config.Warnings, error) { return ensemble.Load(nil, os.Getenv) }
	return run("", overrides, zooKeeper(builtIn), os.Stdout, os.Stderr)
}

// zooKeeper starts a ZooKeeper server.
func zooKeeper(load func() (*config.ZooKeeper, config.Warnings, error)) beside {
	return func(ctx context.Context, logs *obs.Logs) (companion, error) {
		log := logs.Named("zookeeper")
		cfg, warnings, err := load()
		if err != nil {
			return companion{}, err
		}
		for _, w := range warnings {
			log.Warn(w)
		}
		s, err := ensemble.Start(ctx, ensemble.Options{Config: cfg, Log: log})
		if err != nil {
			return companion{}, err
		}
		operating := ensemble.Operate(ctx, s)
		return companion{
			banner: s.Banner(),
			fatal:  s.Fatal(),
			stop: func() error {
				operating.Close()
				return s.Stop()
			},
		}, nil
	}
}
