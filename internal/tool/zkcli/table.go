package zkcli

// command is one word of the shell.
type command struct {
	name, args string // the usage
	details    string // more of it, for those that show their options
	spec       spec
	least      int // how many words it needs, its own among them
	run        func(*shell, *parsed) error
	// always is run instead of run, without a connection too; Apache's shell complains then all the same.
	always func(*shell, []string) error
}

func (c *command) line() string { return c.name + " " + c.args }

func (c *command) usage() string { return c.line() + c.details }

func find(name string) *command {
	all := commands()
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	return nil
}

const (
	addWatchArgs = "[-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - " +
		"default is PERSISTENT_RECURSIVE"
	reconfigArgs = "[-s] [-v version] [[-file path] | [-members serverID=host:port1:port2;port3[,...]*]] | " +
		"[-add serverId=host:port1:port2;port3[,...]]* [-remove serverId[,...]*]"
	quotaNeed = "[-n num soft quota, -b bytes soft quota, -N num hard quota, -B bytes hard quota]"

	getDetails = "\n -b   Output data in base64 format\n -s   Print znode stats additionally\n" +
		" -w   Watch for changes on the znode\n -x   Output data in hexdump format\n"
	setDetails = "\n -b         Supply data in base64 format\n -s         Print znode stats additionally\n" +
		" -v <arg>   Set with an expected version\n"
)

var quotaKinds = []string{"n", "b", "N", "B"}

// commands is all of them, as the usage lists them.
func commands() []command {
	f := func(names ...string) spec { return spec{flags: names} }
	return []command{
		{name: "addWatch", args: addWatchArgs, spec: spec{values: []string{"m"}}, least: 2, run: doAddWatch},
		{name: "addauth", args: "scheme auth", least: 2, run: doAddAuth},
		{name: "close", run: doClose},
		{name: "config", args: "[-c] [-w] [-s]", spec: f("c", "w", "s"), run: doConfig},
		{name: "connect", args: "host:port", always: doConnect},
		{
			name: "create", args: "[-s] [-e] [-c] [-t ttl] path [data] [acl]",
			spec: spec{flags: []string{"s", "e", "c"}, values: []string{"t"}}, least: 2, run: doCreate,
		},
		{
			name: "delete", args: "[-v version] path", spec: spec{values: []string{"v"}}, least: 2,
			run: doDelete,
		},
		{
			name: "deleteall", args: "path [-b batch size]", spec: spec{values: []string{"b"}}, least: 2,
			run: doDeleteAll,
		},
		{
			name: "delquota", args: "[-n|-b|-N|-B] path", spec: spec{flags: quotaKinds, one: quotaKinds}, least: 2,
			run: doDelQuota,
		},
		{
			name: "get", args: "[-s] [-w] [-b] [-x] path", details: getDetails, spec: f("s", "w", "b", "x"), least: 2,
			run: doGet,
		},
		{name: "getAcl", args: "[-s] path", spec: f("s"), least: 2, run: doGetACL},
		{name: "getAllChildrenNumber", args: "path", least: 2, run: doCount},
		{name: "getEphemerals", args: "path", run: doEphemerals},
		{name: "history", always: doHistory},
		{name: "listquota", args: "path", least: 2, run: doListQuota},
		{name: "ls", args: "[-s] [-w] [-R] path", spec: f("s", "w", "R"), least: 2, run: doList},
		{name: "printwatches", args: "on|off", always: doPrintWatches},
		{name: "quit", always: doQuit},
		{
			name: "reconfig", args: reconfigArgs,
			spec: spec{flags: []string{"s"}, values: []string{"v", "file", "members", "add", "remove"}},
			run:  doReconfig,
		},
		{name: "redo", args: "cmdno", always: doRedo},
		{
			name: "removewatches", args: "path [-c|-d|-a] [-l]", spec: f("c", "d", "a", "l"), least: 2,
			run: doRemoveWatches,
		},
		{
			name: "set", args: "path data [-s] [-v version] [-b]", details: setDetails,
			spec: spec{flags: []string{"s", "b"}, values: []string{"v"}}, least: 3, run: doSet,
		},
		{
			name: "setAcl", args: "[-s] [-v version] [-R] path acl",
			spec: spec{flags: []string{"s", "R"}, values: []string{"v"}}, least: 3, run: doSetACL,
		},
		{
			name: "setquota", args: "-n|-b|-N|-B val path",
			spec: spec{values: quotaKinds, one: quotaKinds, need: quotaNeed}, least: 2, run: doSetQuota,
		},
		{name: "stat", args: "[-w] path", spec: f("w"), least: 2, run: doStat},
		{name: "sync", args: "path", least: 2, run: doSync},
		{name: "version", run: doVersion},
		{name: "whoami", run: doWhoAmI},
	}
}
