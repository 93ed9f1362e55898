package tool

import (
	"github.com/kalda/kalda/internal/obs"
	"github.com/kalda/kalda/internal/tool/zkcli"
)

// zkCli is ZooKeeper's shell.
func zkCli(env *Env, args []string) int {
	return zkcli.Main(zkcli.Streams{
		In: env.In, Out: env.Out, Err: env.Err, Version: obs.ZooKeeperVersion(),
	}, args)
}
