package tool

import (
	"github.com/kalda/kalda/internal/tool/zkcli"
)

// ZooKeeperVersion is the version of Apache ZooKeeper that this build stands in for.
const ZooKeeperVersion = "3.9.5"

// zkCli is ZooKeeper's shell.
func zkCli(env *Env, args []string) int {
	return zkcli.Main(zkcli.Streams{
		In: env.In, Out: env.Out, Err: env.Err, Version: zooVersionLine(),
	}, args)
}

// zooVersionLine has the form of Apache's: release, a dash, the revision, the date.
func zooVersionLine() string {
	commit, date := buildInfo()
	return ZooKeeperVersion + "-" + commit + ", built on " + date
}
