package ensemble

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/obs"
)

// adminCommand is one command over HTTP, under its name and its short ones.
type adminCommand struct {
	names     []string
	run       func(*adminRequest)
	always    bool // also when no clients are served
	protected bool // needs credentials
}

// adminCommands is all of them, by name. Those about an ensemble answer as a server alone does.
func adminCommands() []adminCommand {
	c := func(run func(*adminRequest), names ...string) adminCommand {
		return adminCommand{names: names, run: run}
	}
	nothing := func(*adminRequest) {}
	return []adminCommand{
		c(adminConfiguration, "configuration", "conf", "config"),
		c(func(q *adminRequest) { q.s.ResetConnections() }, "connection_stat_reset", "crst"),
		c(func(q *adminRequest) { q.connections(true) }, "connections", "cons"),
		c(adminDirs, "dirs"),
		c(adminDump, "dump"),
		{names: []string{"environment", "env", "envi"}, run: adminEnvironment, always: true},
		{names: []string{"get_trace_mask", "gtmk"}, run: adminTraceMask, always: true},
		c(adminHash, "hash"),
		c(adminInitial, "initial_configuration", "icfg"),
		c(func(q *adminRequest) { q.out.put("read_only", false) }, "is_read_only", "isro"),
		c(adminLastSnapshot, "last_snapshot", "lsnp"),
		c(func(q *adminRequest) { q.fail(http.StatusOK, "server is not initialized") }, "leader", "lead"),
		c(adminMonitor, "monitor", "mntr"),
		c(nothing, "observer_connection_stat_reset", "orst"),
		c(adminObservers, "observers", "obsr"),
		{names: []string{"ruok"}, run: nothing, always: true},
		c(adminServerStats, "server_stats", "srvr"),
		{names: []string{"set_trace_mask", "stmk"}, run: adminSetTraceMask, always: true},
		{names: []string{"snapshot", "snap"}, run: adminSnapshot, protected: true},
		c(func(q *adminRequest) { q.s.ResetStats() }, "stat_reset", "srst"),
		c(func(q *adminRequest) { adminServerStats(q); q.connections(false) }, "stats", "stat"),
		{names: []string{"system_properties", "sysp"}, run: adminProperties, always: true},
		c(func(q *adminRequest) { q.out.put("current_config", object{}) }, "voting_view"),
		c(adminWatchSummary, "watch_summary", "wchs"),
		c(adminWatches, "watches", "wchc"),
		c(adminWatchesByPath, "watches_by_path", "wchp"),
		c(func(q *adminRequest) { q.out = object{{"voting", false}, {"zabstate", ""}} }, "zabstate"),
	}
}

func adminConfiguration(q *adminRequest) {
	for _, p := range q.s.configuration() {
		if p.key != "" {
			q.out.put(p.key, p.value)
		}
	}
	// The last two stand the other way round than in conf.
	if n := len(q.out); n > 1 {
		q.out[n-2], q.out[n-1] = q.out[n-1], q.out[n-2]
	}
}

func (q *adminRequest) connections(long bool) {
	list := []any{}
	for _, c := range q.s.Connections() {
		o := object{
			{"remote_socket_address", c.Remote.String()},
			{"interest_ops", c.Interest},
			{"outstanding_requests", c.Queued},
			{"packets_received", c.Received},
			{"packets_sent", c.Sent},
		}
		if long && c.SessionID != 0 {
			o = append(o, object{
				{"session_id", int64(c.SessionID)},
				{"last_operation", opShort(c.LastOp)},
				{"established", c.Established.UnixMilli()},
				{"session_timeout", int64(c.Timeout)},
				{"last_cxid", int64(c.LastCxid)},
				{"last_zxid", int64(c.LastZxid)},
				{"last_response_time", ms(c.LastReply)},
				{"last_latency", c.LastLatency},
				{"min_latency", c.Latency.Min},
				{"avg_latency", int64(c.Latency.Avg())},
				{"max_latency", c.Latency.Max},
			}...)
		}
		list = append(list, o)
	}
	q.out.put("connections", list)
	q.out.put("secure_connections", []any{})
}

func adminInitial(q *adminRequest) { q.out.put("initial_configuration", q.config) }

func adminObservers(q *adminRequest) {
	q.out = object{{"synced_observers", 0}, {"observers", []any{}}}
}

func adminDirs(q *adminRequest) {
	data, logs := q.s.dirSizes()
	q.out = object{{"datadir_size", data}, {"logdir_size", logs}}
}

func id(n jute.SessionID) string { return strconv.FormatInt(int64(n), 10) }

func adminDump(q *adminRequest) {
	expiry, owners := object{}, object{}
	for _, b := range q.s.SessionBuckets() {
		list := []any{}
		for _, n := range b.Sessions {
			list = append(list, int64(n))
		}
		expiry.put(strconv.FormatInt(b.Ms, 10), list)
	}
	for _, o := range q.s.ephemerals() {
		owners.put(id(o.Session), texts(o.Paths))
	}
	q.out = object{{"expiry_time_to_session_ids", expiry}, {"session_id_to_ephemeral_paths", owners}}
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}

func adminEnvironment(q *adminRequest) {
	for _, p := range environment() {
		q.out.put(p.name, p.value)
	}
}

func adminTraceMask(q *adminRequest) { q.out.put("tracemask", q.s.traceMask.Load()) }

func adminSetTraceMask(q *adminRequest) {
	mask, err := strconv.ParseInt(q.http.URL.Query().Get("traceMask"), 10, 64)
	if err != nil {
		q.fail(http.StatusOK, "setTraceMask requires long traceMask argument")
		return
	}
	q.s.traceMask.Store(mask)
	adminTraceMask(q)
}

func adminHash(q *adminRequest) {
	list := []any{}
	for _, d := range q.s.Digests() {
		list = append(list, object{
			{"zxid", int64(d.Zxid)}, {"digest_version", int64(jute.DigestVersion)}, {"digest", d.Digest},
		})
	}
	q.out.put("digests", list)
}

func adminLastSnapshot(q *adminRequest) {
	zxid, at := q.s.LastSnapshot()
	q.out = object{{"zxid", strconv.FormatUint(uint64(zxid), 16)}, {"timestamp", max(0, at.Unix())}}
}

func adminMonitor(q *adminRequest) {
	for _, m := range q.s.monitor() {
		m.each(func(prefix string, value any) { q.out.put(prefix+m.name, value) })
	}
}

func adminServerStats(q *adminRequest) {
	st, m := q.s.Stats(), q.s.Metrics()
	data, logs := q.s.dirSizes()
	replies := m.ReplySize.Values()
	last, low, high := m.LastReplySize.Load(), replies.Min, replies.Max
	if replies.Count == 0 {
		last, low, high = -1, -1, -1
	}
	sizes := object{{"last_buffer_size", last}, {"min_buffer_size", low}, {"max_buffer_size", high}}
	q.out = object{
		{"version", obs.ZooKeeperVersion()},
		{"read_only", st.ReadOnly},
		{"server_stats", object{
			{"packets_sent", st.Sent},
			{"packets_received", st.Received},
			{"fsync_threshold_exceed_count", m.SlowSyncs.Load()},
			{"client_response_stats", sizes},
			{"data_dir_size", data},
			{"log_dir_size", logs},
			{"provider_null", false},
			{"last_processed_zxid", int64(st.Zxid)},
			{"outstanding_requests", st.Outstanding},
			{"server_state", st.Mode},
			{"avg_latency", st.Latency.Avg()},
			{"max_latency", st.Latency.Max},
			{"min_latency", st.Latency.Min},
			{"num_alive_client_connections", st.Connections},
			{"uptime", time.Since(st.Start).Milliseconds()},
			{"auth_failed_count", m.AuthFailed.Load()},
			{"non_mtlsremote_conn_count", 0},
			{"non_mtlslocal_conn_count", 0},
		}},
		{"client_response", sizes},
		{"node_count", st.Nodes},
	}
}

// adminProperties tells the settings under the names that Java's properties have. Passwords are not among
// them.
func adminProperties(q *adminRequest) {
	for _, p := range environment() {
		if kind, _, _ := strings.Cut(p.name, "."); kind == "java" || kind == "os" || kind == "user" {
			q.out.put(p.name, p.value)
		}
	}
	for _, p := range q.s.zoo.Settings() {
		q.out.put("zookeeper."+p.Name, p.Value)
	}
	slices.SortStableFunc(q.out, func(a, b field) int { return strings.Compare(a.name, b.name) })
}

func adminWatchSummary(q *adminRequest) {
	conns, paths, watches := q.s.WatchSummary()
	q.out = object{{"num_connections", conns}, {"num_paths", paths}, {"num_total_watches", watches}}
}

func adminWatches(q *adminRequest) {
	all := object{}
	for _, p := range q.s.WatchesBySession() {
		all.put(id(p.Session), texts(p.Paths))
	}
	q.out.put("session_id_to_watched_paths", all)
}

func adminWatchesByPath(q *adminRequest) {
	all := object{}
	for _, p := range q.s.WatchesByPath() {
		list := []any{}
		for _, n := range p.Sessions {
			list = append(list, int64(n))
		}
		all.put(p.Path, list)
	}
	q.out.put("path_to_session_ids", all)
}

// adminSnapshot writes a snapshot and sends it, or with streaming=false keeps it where snapshots are.
func adminSnapshot(q *adminRequest) {
	z, o := q.s.zoo, &q.s.ops
	if !z.Bool("admin.snapshot.enabled") {
		q.fail(http.StatusServiceUnavailable, "Snapshot command is disabled")
		return
	}
	limit := time.Duration(z.Int("admin.rateLimiterIntervalInMS")) * time.Millisecond
	o.mu.Lock()
	early := !o.snapshotAt.IsZero() && time.Since(o.snapshotAt) < limit
	if !early {
		o.snapshotAt = time.Now()
	}
	o.mu.Unlock()
	if early {
		o.snapshotLimited.Inc()
		q.fail(http.StatusTooManyRequests, "Snapshot command is rate limited")
		return
	}
	v := q.s.View()
	path, err := q.s.save(v)
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(path)
	}
	if err != nil {
		o.snapshotFailed.Inc()
		q.s.log.Error("no snapshot for an operator", "error", err)
		q.fail(http.StatusInternalServerError, "The snapshot failed: "+err.Error())
		return
	}
	q.header.Set("last_zxid", v.Zxid().String())
	q.header.Set("snapshot_size", strconv.FormatInt(info.Size(), 10))
	if q.http.URL.Query().Get("streaming") == "false" {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		o.snapshotFailed.Inc()
		q.fail(http.StatusInternalServerError, "The snapshot failed: "+err.Error())
		return
	}
	q.stream = f
}
