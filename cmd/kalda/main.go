// Command kalda is Apache Kafka and its tools in one binary. The first word, or the name it was called by,
// picks what it does: `kalda` and `kalda server` start a node, `kalda topics` is kafka-topics, and so on.
package main

import (
	"os"

	"github.com/kalda/kalda/internal/server/ensemble"
	"github.com/kalda/kalda/internal/server/node"
	"github.com/kalda/kalda/internal/tool"
)

func main() {
	os.Exit(tool.Main(os.Args, tool.Hooks{Server: node.Main, ZooKeeper: ensemble.Main, Dev: node.Dev}))
}
