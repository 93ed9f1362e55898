package node

import "github.com/kalda/kalda/internal/obs"

const (
	cleanerMetrics = "kafka_log_logcleaner_"
	cleanerManager = "kafka_log_logcleanermanager_"
)

// registerCleaner shows what compaction does.
func (n *Node) registerCleaner() {
	b := &n.metrics.broker
	for _, g := range []struct {
		name, help string
		value      *obs.Gauge
	}{
		{
			cleanerMetrics + "cleaner_recopy_percent", "Share of the last compacted log that was kept.",
			&b.CleanerRecopy,
		},
		{
			cleanerMetrics + "max_buffer_utilization_percent", "Share of the table of keys that was used last.",
			&b.CleanerBuffer,
		},
		{cleanerMetrics + "max_clean_time_secs", "How long the last compaction took.", &b.CleanerTime},
		{
			cleanerMetrics + "max_compaction_delay_secs", "By how much the latest log is over max.compaction.lag.ms.",
			&b.MaxCompactionDelay,
		},
		{cleanerManager + "max_dirty_percent", "Share of the dirtiest log that isn't compacted.", &b.MaxDirty},
	} {
		n.reg.Gauge(gauge(g.name, g.help), g.value)
	}
	n.reg.Counter(counter(cleanerMetrics+"cleanedlogs_total", "Compactions of logs."), &b.CleanedLogs)
	n.reg.Counter(counter(cleanerMetrics+"cleanedbytes_total", "Bytes of logs that were compacted."),
		&b.CleanedBytes)
	n.reg.Func(gauge(cleanerMetrics+"deadthreadcount", "Workers of the cleaner that there should be."),
		func() float64 { return float64(n.broker.CleanersMissing()) })
	n.reg.Func(gauge(cleanerManager+"time_since_last_run_ms", "Since a log to compact was looked for."),
		func() float64 { return float64(n.broker.SinceCleanerRan().Milliseconds()) })
	const dirLabel = "logDirectory"
	count := gauge(cleanerManager+"uncleanable_partitions_count", "Logs that couldn't be compacted.", dirLabel)
	bytes := gauge(cleanerManager+"uncleanable_bytes", "Bytes of logs that couldn't be compacted.", dirLabel)
	n.reg.OnScrape(func(emit func(obs.Sample)) {
		for dir, un := range n.broker.Uncleanable() {
			emit(obs.Sample{Desc: count, Values: []string{dir}, Value: float64(un[0])})
			emit(obs.Sample{Desc: bytes, Values: []string{dir}, Value: float64(un[1])})
		}
	})
}
