package tool

import (
	"fmt"
	"strings"
)

// runClass is kafka-run-class for the classes of the tools that are built in: scripts call some of them so.
func runClass(env *Env, args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(env.Err, "USAGE: kafka-run-class classname [opts]")
		return 1
	}
	if t := find(toolOfClass(args[0])); t != nil {
		return run(env, t, args[1:])
	}
	fmt.Fprintf(env.Err, "Error: Could not find or load main class %s\n", args[0])
	return 1
}

// toolOfClass names the tool of a class, whatever its package: those changed over the versions.
func toolOfClass(class string) string {
	switch name := class[strings.LastIndex(class, ".")+1:]; name {
	case "Kafka":
		return "kafka-server-start"
	case "TopicCommand":
		return "kafka-topics"
	case "ConfigCommand":
		return "kafka-configs"
	case "ConsumerGroupCommand":
		return "kafka-consumer-groups"
	case "ConsoleProducer":
		return "kafka-console-producer"
	case "ConsoleConsumer":
		return "kafka-console-consumer"
	case "GetOffsetShell":
		return "kafka-get-offsets"
	case "StorageTool":
		return "kafka-storage"
	case "ProducerPerformance":
		return "kafka-producer-perf-test"
	case "ConsumerPerformance":
		return "kafka-consumer-perf-test"
	case "EndToEndLatency":
		return "kafka-e2e-latency"
	case "DumpLogSegments":
		return "kafka-dump-log"
	case "ClusterTool":
		return "kafka-cluster"
	case "FeatureCommand":
		return "kafka-features"
	case "MetadataQuorumCommand":
		return "kafka-metadata-quorum"
	case "GroupsCommand":
		return "kafka-groups"
	case "LogDirsCommand":
		return "kafka-log-dirs"
	case "DeleteRecordsCommand":
		return "kafka-delete-records"
	case "LeaderElectionCommand":
		return "kafka-leader-election"
	case "BrokerApiVersionsCommand":
		return "kafka-broker-api-versions"
	}
	return class
}
