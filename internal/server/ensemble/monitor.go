package ensemble

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kalda/kalda/internal/obs"
)

// metricKind is what a metric is to Prometheus; text is none.
type metricKind uint8

const (
	text metricKind = iota
	gauge
	counter
	summary
	percentiles // a summary with quantiles in mntr too
)

// metric is one of mntr's, at one moment. Its name is Apache's, without the zk_ that mntr puts before it.
type metric struct {
	name  string
	kind  metricKind
	value any // string, int64 or float64
	sum   SummaryValues
}

// word writes mntr's lines.
func (m *metric) word(w io.Writer) {
	m.each(func(prefix string, value any) {
		if f, ok := value.(float64); ok {
			value = decimal(f)
		}
		fmt.Fprintf(w, "zk_%s%s\t%v\n", prefix, m.name, value)
	})
}

// each gives the numbers that a metric is made of, with what stands before its name.
func (m *metric) each(visit func(prefix string, value any)) {
	if m.kind < summary {
		visit("", m.value)
		return
	}
	visit("avg_", m.sum.Avg())
	visit("min_", m.sum.Min)
	visit("max_", m.sum.Max)
	visit("cnt_", m.sum.Count)
	visit("sum_", m.sum.Sum)
	if m.kind == percentiles {
		visit("p50_", m.sum.Quantile(0.5))
		visit("p95_", m.sum.Quantile(0.95))
		visit("p99_", m.sum.Quantile(0.99))
		visit("p999_", m.sum.Quantile(0.999))
	}
}

// monitor is all that mntr tells, in the order of Apache's.
func (s *Server) monitor() []*metric {
	st := s.Stats()
	return append(s.gauges(&st), append(s.counters(), s.summaries()...)...)
}

func (s *Server) gauges(st *Stats) []*metric {
	m := &s.metrics
	replies := m.ReplySize.Values()
	last, low, high := m.LastReplySize.Load(), replies.Min, replies.Max
	if replies.Count == 0 {
		last, low, high = -1, -1, -1
	}
	open, limit := descriptors()
	g := func(name string, value any) *metric { return &metric{name: name, kind: gauge, value: value} }
	return []*metric{
		{name: "version", value: obs.ZooKeeperVersion()},
		{name: "server_state", value: st.Mode},
		g("ephemerals_count", int64(st.Ephemerals)),
		g("num_alive_connections", int64(st.Connections)),
		g("avg_latency", st.Latency.Avg()),
		g("outstanding_requests", st.Outstanding),
		g("znode_count", int64(st.Nodes)),
		g("global_sessions", int64(st.Sessions)),
		g("non_mtls_remote_conn_count", int64(0)),
		g("last_client_response_size", last),
		g("packets_sent", st.Sent),
		g("packets_received", st.Received),
		g("max_client_response_size", high),
		g("connection_drop_probability", float64(0)),
		g("watch_count", int64(st.Watches)),
		g("auth_failed_count", m.AuthFailed.Load()),
		g("min_latency", st.Latency.Min),
		g("max_file_descriptor_count", limit),
		g("approximate_data_size", st.DataSize),
		g("open_file_descriptor_count", open),
		g("local_sessions", int64(st.LocalSessions)),
		g("uptime", time.Since(st.Start).Milliseconds()),
		g("max_latency", st.Latency.Max),
		g("outstanding_tls_handshake", int64(0)),
		g("min_client_response_size", low),
		g("non_mtls_local_conn_count", int64(0)),
	}
}

// descriptors are how many files and sockets are open, and may be; -1 where the system doesn't say.
func descriptors() (open, limit int64) {
	open, limit = -1, -1
	if d, err := os.Open("/proc/self/fd"); err == nil {
		defer d.Close()
		if names, err := d.Readdirnames(-1); err == nil {
			open = int64(len(names)) - 1
		}
	}
	var r syscall.Rlimit
	if runtime.GOOS != "windows" && syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) == nil {
		limit = int64(r.Cur)
	}
	return open, limit
}

// counterNames are Apache's, in its order. Those that nothing here counts are about what a server that is
// alone, or has no TLS, no response cache and no throttle between its stages, never does: they are 0
// there too.
const counterNames = `watch_bytes stale_requests_dropped throttled_ops insecure_admin_count
connection_rejected sessionless_connections_expired dead_watchers_queued stale_requests
connection_drop_count response_packet_cache_hits bytes_received_count
add_dead_watcher_stall_time request_throttle_wait_count
requests_not_forwarded_to_commit_processor response_packet_cache_misses
prep_processor_request_queued stale_replies response_bytes ensemble_auth_fail diff_count
connection_revalidate_count quit_leading_due_to_disloyal_voter unrecoverable_error_count
unsuccessful_handshake commit_count outstanding_changes_queued request_commit_queued
ensemble_auth_skip skip_learner_request_to_next_processor_count proposal_count
large_requests_rejected outstanding_changes_removed restore_error_count
cnxn_closed_without_zk_server_running looking_count snapshot_rate_limited_count
learner_proposal_received_count digest_mismatches_count dead_watchers_cleared
ensemble_auth_success learner_commit_received_count snapshot_error_count
connection_request_count response_packet_get_children_cache_misses snap_count
stale_sessions_expired restore_rate_limited_count
response_packet_get_children_cache_hits sync_processor_request_queued
tls_handshake_exceeded revalidate_count`

func (s *Server) counters() (out []*metric) {
	m := &s.metrics
	prepared := m.PrepTime.Values().Count
	counted := map[string]int64{
		"connection_rejected":           m.Rejected.Load(),
		"connection_drop_count":         m.Drops.Load(),
		"bytes_received_count":          m.BytesReceived.Load(),
		"response_bytes":                m.ReplySize.Values().Sum,
		"connection_revalidate_count":   m.Revalidated.Load(),
		"digest_mismatches_count":       m.DigestMismatches.Load(),
		"connection_request_count":      m.Connects.Load(),
		"stale_sessions_expired":        m.SessionsExpired.Load(),
		"prep_processor_request_queued": prepared,
		"sync_processor_request_queued": m.BatchSize.Values().Sum,
		"ensemble_auth_skip":            m.EnsembleAuth.Load(),
		"snapshot_rate_limited_count":   s.ops.snapshotLimited.Load(),
		"snapshot_error_count":          s.ops.snapshotFailed.Load(),
	}
	for name := range strings.FieldsSeq(counterNames) {
		out = append(out, &metric{name: name, kind: counter, value: counted[name]})
	}
	return out
}

// summaryNames and percentileNames are Apache's, in its order. Without a value are those of stages that
// only members of an ensemble have, or that are one here.
const (
	summaryNames = `socket_closing_time proposal_process_time leader_unavailable_time
node_created_watch_count session_queues_drained write_commit_proc_req_queued
connection_token_deficit read_commit_proc_req_queued node_deleted_watch_count
startup_txns_load_time sync_processor_queue_size follower_sync_time
prep_processor_queue_size fsynctime inflight_snap_count reads_issued_from_session_queue
restore_time learner_request_processor_queue_size snapshottime unavailable_time
startup_txns_loaded reads_after_write_in_session_queue requests_in_session_queue
write_commit_proc_issued prep_process_time pending_session_queue_size
time_waiting_empty_pool_in_commit_processor_read_ms commit_process_time dbinittime
inflight_diff_count netty_queued_buffer_capacity election_time
commit_commit_proc_req_queued sync_processor_batch_size node_children_watch_count
write_batch_time_in_commit_processor read_commit_proc_issued
concurrent_request_processing_in_commit_processor observer_sync_time
node_changed_watch_count sync_process_time startup_snap_load_time`

	percentileNames = `prep_processor_queue_time_ms jvm_pause_time_ms close_session_prep_time
read_commitproc_time_ms updatelatency local_write_committed_time_ms
request_throttle_queue_time_ms readlatency quorum_ack_latency om_commit_process_time_ms
read_final_proc_time_ms commit_propagation_latency dead_watchers_cleaner_latency
write_final_proc_time_ms proposal_ack_creation_latency proposal_latency
om_proposal_process_time_ms sync_processor_queue_and_flush_time_ms propagation_latency
server_write_committed_time_ms sync_processor_queue_time_ms
sync_processor_queue_flush_time_ms write_commitproc_time_ms`
)

func (s *Server) summaries() (out []*metric) {
	m := &s.metrics
	fsync := m.FsyncTime.Values()
	measured := map[string]SummaryValues{
		"readlatency":                        m.ReadLatency.Values(),
		"updatelatency":                      m.UpdateLatency.Values(),
		"fsynctime":                          fsync,
		"sync_processor_queue_flush_time_ms": fsync, // a flush is a sync, and what waits for it was written
		"sync_processor_batch_size":          m.BatchSize.Values(),
		"prep_process_time":                  m.PrepTime.Values(),
		"snapshottime":                       m.SnapshotTime.Values(),
		"startup_snap_load_time":             m.LoadTime.Values(),
		"startup_txns_load_time":             m.ReplayTime.Values(),
		"startup_txns_loaded":                m.ReplayTxns.Values(),
		"dbinittime":                         added(m.LoadTime.Values(), m.ReplayTime.Values()),
		"node_created_watch_count":           each(m.NodesCreated.Load()),
		"node_deleted_watch_count":           each(m.NodesDeleted.Load()),
		"node_changed_watch_count":           each(m.NodesChanged.Load()),
		"node_children_watch_count":          each(m.ChildrenChanged.Load()),
	}
	for name := range strings.FieldsSeq(summaryNames) {
		out = append(out, &metric{name: name, kind: summary, sum: measured[name]})
	}
	for name := range strings.FieldsSeq(percentileNames) {
		out = append(out, &metric{name: name, kind: percentiles, sum: measured[name]})
	}
	return out
}

// added is the time of two steps that follow each other once.
func added(a, b SummaryValues) SummaryValues {
	if a.Count == 0 {
		return b
	}
	return SummaryValues{Count: a.Count, Sum: a.Sum + b.Sum, Min: a.Min + b.Min, Max: a.Max + b.Max}
}

// each is a count of single things as a summary.
func each(n int64) SummaryValues {
	v := SummaryValues{Count: n, Sum: n}
	if n > 0 {
		v.Min, v.Max = 1, 1
	}
	return v
}

// writePrometheus writes the metrics in Prometheus's text format, as Apache's provider does: names without
// zk_, a summary with its quantiles, sum and count.
func (s *Server) writePrometheus(w io.Writer) {
	for _, m := range s.monitor() {
		if m.kind == text {
			continue
		}
		kind := map[metricKind]string{gauge: "gauge", counter: "counter"}[m.kind]
		if m.kind >= summary {
			kind = "summary"
		}
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.name, m.name, kind)
		if m.kind < summary {
			fmt.Fprintf(w, "%s %s\n", m.name, float(m.value))
			continue
		}
		quantiles := []float64{0.5}
		if m.kind == percentiles {
			quantiles = []float64{0.5, 0.9, 0.99}
		}
		for _, q := range quantiles {
			value := "NaN"
			if m.sum.Count > 0 && m.sum.quantile != nil {
				value = float(m.sum.Quantile(q))
			}
			fmt.Fprintf(w, "%s{quantile=\"%s\",} %s\n", m.name, strconv.FormatFloat(q, 'g', -1, 64), value)
		}
		fmt.Fprintf(w, "%s_count %s\n%s_sum %s\n", m.name, float(m.sum.Count), m.name, float(m.sum.Sum))
	}
}

// float is a number as Java prints a double.
func float(v any) string {
	f, ok := v.(float64)
	if !ok {
		f = float64(v.(int64))
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
