package tool

import "fmt"

const zooKeeperUsage = `Usage: zookeeper [zoo.cfg]
       zookeeper port dataDir [tickTime [maxClientCnxns]]

Starts a ZooKeeper server and runs until it is told to stop. Without arguments it serves port 2181 from
./data/zookeeper. -Dzookeeper.* settings are taken from SERVER_JVMFLAGS and JVMFLAGS.
`

// serveZooKeeper starts a ZooKeeper server, with the arguments that Apache's takes.
func serveZooKeeper(env *Env, args []string) int {
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h" || args[0] == "-help") {
		fmt.Fprint(env.Out, zooKeeperUsage)
		return 0
	}
	return env.Hooks.ZooKeeper(args)
}
