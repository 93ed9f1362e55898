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

const devUsage = `Usage: dev [--override property=value]...

Starts Kafka (clients on 9092, data in ./data) and ZooKeeper (port 2181, data in ./data/zookeeper) in one
process and runs until it is told to stop. The overrides are of Kafka's server.properties.
`

// serveBoth starts a node and a ZooKeeper server in this process.
func serveBoth(env *Env, args []string) int {
	s, code := startOptions(env, args, devUsage)
	switch {
	case code >= 0:
		return code
	case s.file != "" || s.daemon:
		fmt.Fprint(env.Err, devUsage)
		return 1
	}
	return env.Hooks.Dev(s.overrides)
}
