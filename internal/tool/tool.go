// Package tool holds Kalda's command-line tools: one file per tool, with the flags, output shapes, error
// texts and exit codes of Apache Kafka's tool of the same name, so that scripts written for the one run on
// the other.
//
// A tool is a function from arguments and standard streams to an exit code. Nothing here touches os.Args,
// os.Stdin or os.Exit: Main does, once, which keeps every tool callable from a test.
package tool

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Env is what a tool sees of the process it runs in.
type Env struct {
	Name   string // the tool's name, such as kafka-topics
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	Hooks  Hooks
}

// Hooks are the parts of the program that live outside this package.
type Hooks struct {
	// Server runs a node until it is told to stop, and returns its exit code. An empty file means the built-in
	// configuration: one combined node, clients on 9092, controller on 9093, data in ./data.
	Server func(file string, overrides []string) int
	// ZooKeeper runs a ZooKeeper server until it is told to stop, and returns its exit code. The arguments are
	// those of Apache's: a zoo.cfg, or a port and a directory; none means port 2181 and ./data/zookeeper.
	ZooKeeper func(args []string) int
	// Dev runs a node and a ZooKeeper server in one process, both with the built-in configuration.
	Dev func(overrides []string) int
}

// Tool is one command.
type Tool struct {
	Name  string // Apache's name
	Short string // one line for `kalda help`
	Run   func(*Env, []string) int
}

// Main picks a tool by the program's own name or by the first word, runs it and returns the exit code.
func Main(argv []string, hooks Hooks) int {
	env := &Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Hooks: hooks}
	return Dispatch(env, argv)
}

// Dispatch is Main over a given environment. argv[0] is the program's name: a link called kafka-topics.sh is
// kafka-topics, anything that is no tool's name leaves the choice to the first argument.
func Dispatch(env *Env, argv []string) int {
	if len(argv) == 0 {
		argv = []string{"kalda"}
	}
	if t := find(filepath.Base(argv[0])); t != nil && filepath.Base(argv[0]) != "kalda" {
		return run(env, t, argv[1:])
	}
	if len(argv) == 1 {
		return serve(env, nil)
	}
	word, rest := argv[1], argv[2:]
	if t := find(word); t != nil {
		return run(env, t, rest)
	}
	fmt.Fprintf(env.Err, "kalda: no tool is called %q\n", word)
	if near := nearest(word); near != "" {
		fmt.Fprintf(env.Err, "Did you mean %s?\n", near)
	}
	fmt.Fprintln(env.Err, "`kalda help` lists the tools.")
	return 1
}

func run(env *Env, t *Tool, args []string) int {
	env.Name = t.Name
	return t.Run(env, args)
}

// find returns the tool of that name: with or without kafka-, with or without .sh; nil when there is none.
func find(word string) *Tool {
	word = strings.TrimSuffix(word, ".sh")
	all := Tools()
	for i := range all {
		if name := all[i].Name; word == name || word == strings.TrimPrefix(name, "kafka-") {
			return &all[i]
		}
	}
	switch word {
	case "--help", "-h", "-help":
		return &Tool{Name: "help", Run: help}
	case "--version", "-v", "-version":
		return &Tool{Name: "version", Run: version}
	}
	return nil
}

// nearest returns the tool's name that shares the longest start or contains the word.
func nearest(word string) string {
	word = strings.TrimPrefix(strings.TrimSuffix(word, ".sh"), "kafka-")
	best, score := "", 2
	for _, t := range Tools() {
		short := strings.TrimPrefix(t.Name, "kafka-")
		n := commonPrefix(short, word)
		if n > score {
			best, score = t.Name, n
		}
	}
	return best
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Tools lists every tool in the order `kalda help` shows them.
func Tools() []Tool {
	return []Tool{
		{"server", "start a node: kalda server [server.properties] [--override key=value]...", serve},
		{"zookeeper", "start a ZooKeeper server: kalda zookeeper [zoo.cfg]", serveZooKeeper},
		{"dev", "start Kafka and ZooKeeper in one process, for a first try", serveBoth},
		{"kafka-storage", "format log directories and say what is in them", storageTool},
		{
			"kafka-server-start", "start a node, as Apache's script does (-daemon puts it in the background)",
			serverStart,
		},
		{"kafka-server-stop", "stop the nodes on this machine", serverStop},
		{"kafka-topics", "create, list, describe, alter and delete topics", topics},
		{"kafka-console-producer", "write lines from standard input to a topic", consoleProducer},
		{"kafka-console-consumer", "print the records of topics", consoleConsumer},
		{"kafka-consumer-groups", "list, describe, delete groups and move their offsets", consumerGroups},
		{"kafka-get-offsets", "print offsets of topics by position or time", getOffsets},
		{"kafka-delete-records", "delete the records of partitions before given offsets", deleteRecords},
		{"kafka-run-class", "run a tool by the name of Apache's class", runClass},
		{"kafka-configs", "show and change configurations of topics, brokers, groups, users, clients", configs},
		{"kafka-producer-perf-test", "measure how fast records are sent", producePerf},
		{"kafka-consumer-perf-test", "measure how fast records are consumed", consumePerf},
		{"kafka-e2e-latency", "measure the way of a record to a broker and back", endToEnd},
		{"kafka-log-dirs", "say what lies in the log directories of brokers", logDirs},
		{"kafka-groups", "list groups of every type", listAllGroups},
		{"kafka-cluster", "say a cluster's id, nodes and their versions", clusterTool},
		{"kafka-broker-api-versions", "say which versions each broker serves", brokerAPIVersions},
		{"kafka-features", "describe and change features, say what belongs to a release", featuresTool},
		{"kafka-leader-election", "have partitions led by their first replica, or any alive", leaderElection},
		{"kafka-metadata-quorum", "describe the metadata quorum", metadataQuorum},
		{"kafka-dump-log", "print what is in segments, indexes, snapshots", dumpLog},
		{"zkCli", "ZooKeeper's shell: zkCli [-server host:port] [command]", zkCli},
		{"zkServer", "start, stop and ask a ZooKeeper server, as Apache's script does", zkServer},
		{"zkCleanup", "remove old ZooKeeper snapshots and logs: zkCleanup [dirs] -n count", zkCleanup},
		{"zkSnapShotToolkit", "show what is in a ZooKeeper snapshot", zkSnapshot},
		{"zkTxnLogToolkit", "show a ZooKeeper transaction log, mend its checksums, cut it", zkTxnLog},
		{"doctor", "look for what will go wrong: configuration, data folders, running nodes", doctorTool},
		{"version", "print the version", version},
		{"help", "list the tools", help},
	}
}

// help lists the tools; --names gives the bare names of Apache's, one a line, which the packaging script
// reads.
func help(env *Env, args []string) int {
	if len(args) > 0 && args[0] == "--names" {
		for _, t := range Tools() {
			if strings.HasPrefix(t.Name, "kafka-") || strings.HasPrefix(t.Name, "zk") {
				fmt.Fprintln(env.Out, t.Name)
			}
		}
		return 0
	}
	fmt.Fprint(env.Out, helpHead)
	for _, t := range Tools() {
		fmt.Fprintf(env.Out, "  %-28s %s\n", t.Name, t.Short)
	}
	fmt.Fprint(env.Out, helpTail)
	return 0
}

const helpHead = `Kalda is Apache Kafka and Apache ZooKeeper in one binary: servers and command-line tools.

  kalda                        start a node here: clients on 9092, data in ./data
  kalda <tool> [arguments]     run a tool; "kafka-" and ".sh" may be left out

Tools:
`

const helpTail = `
"kalda <tool> --help" shows a tool's flags. A link to this binary that is named like
a tool (kafka-topics.sh) runs that tool.
`
