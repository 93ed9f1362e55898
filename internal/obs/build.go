package obs

import (
	"runtime/debug"
	"time"
)

// ZooKeeperRelease is the release of Apache ZooKeeper that this build stands in for.
const ZooKeeperRelease = "3.9.5"

// Build is the commit that the binary was built from and its time, as Apache ZooKeeper's tools print one.
func Build() (commit, date string) {
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

// ZooKeeperVersion is release, revision and date in one line: clients take the release from its start.
func ZooKeeperVersion() string {
	commit, date := Build()
	return ZooKeeperRelease + "-" + commit + ", built on " + date
}
