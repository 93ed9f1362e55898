package tool

import (
	"fmt"
	"runtime/debug"
	"time"
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
	commit, _ := buildInfo()
	return fmt.Sprintf("%s (Kalda %s, commit %s)", KafkaVersion, Version, commit)
}

// buildInfo is the commit that the binary was built from, and its time as Apache ZooKeeper's tools print one.
func buildInfo() (commit, date string) {
	commit, date = "unknown", "1970-01-01 00:00 UTC"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return commit, date
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = s.Value[:12]
		case s.Key == "vcs.time":
			if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
				date = t.UTC().Format("2006-01-02 15:04 UTC")
			}
		}
	}
	return commit, date
}
