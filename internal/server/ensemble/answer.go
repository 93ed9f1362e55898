package ensemble

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/user"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/obs"
)

// answerWord answers a four-letter word in the shape of Apache's 3.9.
func (s *Server) answerWord(word string, rest io.Reader, w io.Writer) {
	switch word {
	case "ruok":
		fmt.Fprint(w, "imok")
	case "isro":
		fmt.Fprint(w, "rw")
	case "srvr":
		fmt.Fprintf(w, "Zookeeper version: %s\n", obs.ZooKeeperVersion())
		s.wordServer(w)
	case "stat":
		fmt.Fprintf(w, "Zookeeper version: %s\nClients:\n", obs.ZooKeeperVersion())
		s.wordConnections(w, false)
		fmt.Fprintln(w)
		s.wordServer(w)
	case "cons":
		s.wordConnections(w, true)
		fmt.Fprintln(w)
	case "crst":
		s.ResetConnections()
		fmt.Fprintln(w, "Connection stats reset.")
	case "srst":
		s.ResetStats()
		fmt.Fprintln(w, "Server stats reset.")
	case "conf":
		for _, p := range s.configuration() {
			fmt.Fprintf(w, "%s=%v\n", p.word, p.value)
		}
	case "envi":
		fmt.Fprintln(w, "Environment:")
		for _, p := range environment() {
			fmt.Fprintf(w, "%s=%s\n", p.name, p.value)
		}
	case "dirs":
		data, logs := s.dirSizes()
		fmt.Fprintf(w, "datadir_size: %d\nlogdir_size: %d\n", data, logs)
	case "dump":
		s.wordDump(w)
	case "wchs", "wchc", "wchp":
		s.wordWatches(word, w)
	case "hash":
		for _, d := range s.Digests() {
			fmt.Fprintf(w, "%x: %d\n", uint64(d.Zxid), d.Digest)
		}
	case "gtmk":
		fmt.Fprint(w, s.traceMask.Load())
	case "stmk":
		var b [8]byte
		if _, err := io.ReadFull(rest, b[:]); err == nil {
			s.traceMask.Store(int64(binary.BigEndian.Uint64(b[:])))
			fmt.Fprint(w, s.traceMask.Load())
		}
	case "mntr":
		for _, m := range s.monitor() {
			m.word(w)
		}
	}
}

func (s *Server) wordServer(w io.Writer) {
	st := s.Stats()
	fmt.Fprintf(w, "Latency min/avg/max: %d/%s/%d\n", st.Latency.Min, decimal(st.Latency.Avg()), st.Latency.Max)
	fmt.Fprintf(w, "Received: %d\nSent: %d\nConnections: %d\n", st.Received, st.Sent, st.Connections)
	fmt.Fprintf(w, "Outstanding: %d\nZxid: %v\nMode: %s\nNode count: %d\n", st.Outstanding, st.Zxid, st.Mode,
		st.Nodes)
}

// decimal is a number as Java prints one that was rounded to four places.
func decimal(f float64) string {
	text := strconv.FormatFloat(f, 'f', 4, 64)
	text = strings.TrimRight(text, "0")
	if strings.HasSuffix(text, ".") {
		text += "0"
	}
	return text
}

func (s *Server) wordConnections(w io.Writer, long bool) {
	for _, c := range s.Connections() {
		fmt.Fprintf(w, " /%s[%d](queued=%d,recved=%d,sent=%d", c.Remote, c.Interest, c.Queued, c.Received, c.Sent)
		if long && c.SessionID != 0 {
			fmt.Fprintf(w, ",sid=%v,lop=%s,est=%d,to=%d,lcxid=0x%x,lzxid=%v,lresp=%d,llat=%d,minlat=%d,avglat=%d,"+
				"maxlat=%d", c.SessionID, opShort(c.LastOp), c.Established.UnixMilli(), c.Timeout,
				uint32(c.LastCxid), c.LastZxid, ms(c.LastReply), c.LastLatency, c.Latency.Min,
				int64(c.Latency.Avg()), c.Latency.Max)
		}
		fmt.Fprintln(w, ")")
	}
}

func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

var opNames = map[jute.OpCode]string{
	jute.OpCreate: "CREA", jute.OpDelete: "DELE", jute.OpExists: "EXIS",
	jute.OpGetData: "GETD", jute.OpSetData: "SETD", jute.OpGetACL: "GETA", jute.OpSetACL: "SETA",
	jute.OpGetChildren: "GETC", jute.OpSync: "SYNC", jute.OpPing: "PING", jute.OpGetChildren2: "GETC",
	jute.OpCheck: "CHEC", jute.OpMulti: "MULT", jute.OpCreate2: "CREA", jute.OpReconfig: "RECO",
	jute.OpCheckWatches: "CHKW", jute.OpRemoveWatches: "REMW", jute.OpCreateContainer: "CREC",
	jute.OpCreateTTL: "CRTT", jute.OpMultiRead: "MLTR", jute.OpSetWatches: "SETW", jute.OpSASL: "SASL",
	jute.OpGetEphemerals: "GETE", jute.OpGetAllChildrenNumber: "GACN", jute.OpSetWatches2: "STW2",
	jute.OpAddWatch: "ADDW", jute.OpWhoAmI: "WHOM", jute.OpCreateSession: "SESS", jute.OpCloseSession: "CLOS",
	jute.OpError: "ERRO", jute.OpDeleteContainer: "DELC",
}

// opShort is a request's name where connections are listed; NA when there was none.
func opShort(op jute.OpCode) string {
	if name, ok := opNames[op]; ok {
		return name
	}
	return "NA"
}

// javaDate is the form of Java's Date.
const javaDate = "Mon Jan 02 15:04:05 MST 2006"

func (s *Server) wordDump(w io.Writer) {
	buckets := s.SessionBuckets()
	fmt.Fprintf(w, "SessionTracker dump:\nSession Sets (%d)/(%d):\n", len(buckets), s.View().SessionCount())
	for _, b := range buckets {
		fmt.Fprintf(w, "%d expire at %s:\n", len(b.Sessions), b.At.Format(javaDate))
		for _, id := range b.Sessions {
			fmt.Fprintf(w, "\t%v\n", id)
		}
	}
	owners := s.ephemerals()
	fmt.Fprintf(w, "ephemeral nodes dump:\nSessions with Ephemerals (%d):\n", len(owners))
	for _, o := range owners {
		fmt.Fprintf(w, "%v:\n", o.Session)
		for _, path := range o.Paths {
			fmt.Fprintf(w, "\t%s\n", path)
		}
	}
	conns, total := s.ConnectionBuckets(), 0
	for _, b := range conns {
		total += len(b.Conns)
	}
	fmt.Fprintf(w, "Connections dump:\nConnections Sets (%d)/(%d):\n", len(conns), total)
	for _, b := range conns {
		fmt.Fprintf(w, "%d expire at %s:\n", len(b.Conns), b.At.Format(javaDate))
		for _, c := range b.Conns {
			fmt.Fprintf(w, "\tip: /%s sessionId: %v\n", c.Remote, c.SessionID)
		}
	}
}

// ephemerals lists the sessions that own nodes.
func (s *Server) ephemerals() (out []SessionPaths) {
	for id, paths := range s.View().EphemeralOwners() {
		out = append(out, SessionPaths{id, paths})
	}
	return out
}

func (s *Server) wordWatches(word string, w io.Writer) {
	switch word {
	case "wchs":
		conns, paths, watches := s.WatchSummary()
		fmt.Fprintf(w, "%d connections watching %d paths\nTotal watches:%d\n", conns, paths, watches)
	case "wchc":
		for _, p := range s.WatchesBySession() {
			fmt.Fprintf(w, "%v\n", p.Session)
			for _, path := range p.Paths {
				fmt.Fprintf(w, "\t%s\n", path)
			}
		}
		fmt.Fprintln(w)
	case "wchp":
		for _, p := range s.WatchesByPath() {
			fmt.Fprintln(w, p.Path)
			for _, id := range p.Sessions {
				fmt.Fprintf(w, "\t%v\n", id)
			}
		}
		fmt.Fprintln(w)
	}
}

// confEntry is a setting under the names that conf and the commands over HTTP have for it.
type confEntry struct {
	word, key string
	value     any
}

func (s *Server) configuration() []confEntry {
	z := s.zoo
	data, logs := s.dirSizes()
	port := -1
	if a := s.Addr(); a != nil {
		port = a.Port
	}
	return []confEntry{
		{"clientPort", "client_port", port},
		{"secureClientPort", "", -1},
		{"dataDir", "data_dir", z.DataDir + "/version-2"},
		{"dataDirSize", "", data},
		{"dataLogDir", "data_log_dir", z.DataLogDir + "/version-2"},
		{"dataLogSize", "", logs},
		{"tickTime", "tick_time", z.TickTime},
		{"maxClientCnxns", "max_client_cnxns", s.opts.maxPerIP},
		{"minSessionTimeout", "min_session_timeout", z.MinSessionTimeout},
		{"maxSessionTimeout", "max_session_timeout", z.MaxSessionTimeout},
		{"clientPortListenBacklog", "client_port_listen_backlog", z.Int("clientPortListenBacklog")},
		{"serverId", "server_id", 0},
	}
}

func (s *Server) dirSizes() (data, logs int64) {
	data, logs, err := s.DirSizes()
	if err != nil {
		s.log.Warn("the directories' sizes aren't known", "error", err)
	}
	return data, logs
}

type envEntry struct{ name, value string }

// environment is envi's list. What is about a Java machine is told of this process: its names are what
// tools look for.
func environment() []envEntry {
	host, _ := os.Hostname()
	dir, _ := os.Getwd()
	exe, _ := os.Executable()
	name, home := "unknown", ""
	if u, err := user.Current(); err == nil {
		name, home = u.Username, u.HomeDir
	}
	used, total := memory()
	limit := debug.SetMemoryLimit(-1)
	mb := func(n int64) string { return strconv.FormatInt(n>>20, 10) + "MB" }
	return []envEntry{
		{"zookeeper.version", obs.ZooKeeperVersion()},
		{"host.name", host},
		{"java.version", runtime.Version()},
		{"java.vendor", "none: this is a Go program"},
		{"java.home", ""},
		{"java.class.path", exe},
		{"java.library.path", ""},
		{"java.io.tmpdir", os.TempDir()},
		{"java.compiler", "<NA>"},
		{"os.name", osName()},
		{"os.arch", runtime.GOARCH},
		{"os.version", osRelease()},
		{"user.name", name},
		{"user.home", home},
		{"user.dir", dir},
		{"os.memory.free", mb(total - used)},
		{"os.memory.max", mb(limit)},
		{"os.memory.total", mb(total)},
	}
}

func osName() string {
	if runtime.GOOS == "linux" {
		return "Linux"
	}
	return runtime.GOOS
}

func osRelease() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// memory is what the process uses of what it has from the system.
func memory() (used, total int64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"},
	}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())
}
