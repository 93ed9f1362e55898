package tool

import (
	"fmt"

	"github.com/kalda/kalda/internal/obs"
)

// Version is Kalda's version; the linker sets it for releases.
var Version = "0.1.0-dev"

// KafkaVersion is the version of Apache Kafka that this build stands in for.
const KafkaVersion = "4.4.0"

func version(env *Env, args []string) int {
	if len(args) > 0 && args[0] == "--short" {
		fmt.Fprintln(env.Out, Version)
		return 0
	}
	fmt.Fprintln(env.Out, versionLine())
	return 0
}

// versionLine begins with Kafka's version, as Apache's tools print it, because scripts compare that.
func versionLine() string {
	commit, _ := obs.Build()
	return fmt.Sprintf("%s (Kalda %s, commit %s)", KafkaVersion, Version, commit)
}
