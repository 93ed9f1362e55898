package ensemble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/obs"
)

// defaultTraceMask is the one that Apache's server begins with: requests, sessions, warnings, and what it
// says to clients.
const defaultTraceMask = 306

// defaultMetricsPort is the one of Apache's provider.
const defaultMetricsPort = "7000"

// operations is what commands over HTTP have to remember.
type operations struct {
	mu              sync.Mutex
	snapshotAt      time.Time // of the last one that was asked for
	snapshotLimited obs.Counter
	snapshotFailed  obs.Counter
}

// Operating is the HTTP side of a server: commands for operators, and metrics for Prometheus.
type Operating struct {
	servers []*http.Server
	done    sync.WaitGroup
	// Admin and Metrics are where they listen; nil when they are off, or could not be had.
	Admin, Metrics net.Addr
}

// Operate starts what the configuration asks for. As with Apache's server a port that cannot be had is no
// reason not to serve clients: it is logged.
func Operate(ctx context.Context, s *Server) *Operating {
	z, o := s.zoo, &Operating{}
	if z.Bool("admin.enableServer") {
		a := &admin{s: s, url: "/" + strings.Trim(z.Text("admin.commandURL"), "/"), config: readConfig(z)}
		idle := time.Duration(z.Int("admin.idleTimeout")) * time.Millisecond
		addr := net.JoinHostPort(z.Text("admin.serverAddress"), strconv.Itoa(z.Int("admin.serverPort")))
		o.Admin = o.serve(ctx, s.log, listener{"AdminServer", addr, a, idle})
	}
	if strings.HasSuffix(z.Text("metricsProvider.className"), "PrometheusMetricsProvider") {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			s.writePrometheus(w)
		})
		port := defaultMetricsPort
		if z.IsSet("metricsProvider.httpPort") {
			port = strconv.Itoa(z.Int("metricsProvider.httpPort"))
		}
		addr := net.JoinHostPort(z.Text("metricsProvider.httpHost"), port)
		o.Metrics = o.serve(ctx, s.log, listener{"metrics", addr, mux, time.Minute})
	}
	return o
}

type listener struct {
	what, addr string
	handler    http.Handler
	idle       time.Duration
}

func (o *Operating) serve(ctx context.Context, log *slog.Logger, l listener) net.Addr {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", l.addr)
	if err != nil {
		log.Warn("no "+l.what+" over HTTP: its port can't be had", "address", l.addr, "error", err)
		return nil
	}
	server := &http.Server{
		Handler: l.handler, ReadHeaderTimeout: l.idle, IdleTimeout: l.idle, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	o.servers = append(o.servers, server)
	log.Info(l.what+" over HTTP", "address", ln.Addr())
	o.done.Go(func() {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Error(l.what+" over HTTP ended", "error", err)
		}
	})
	return ln.Addr()
}

// Close ends it; requests under way are cut off.
func (o *Operating) Close() {
	for _, s := range o.servers {
		_ = s.Close() // its listener's complaint helps nobody
	}
	o.done.Wait()
}

// admin answers commands.
type admin struct {
	s      *Server
	url    string
	config any // the file's text as it was at the start, or nil
}

func readConfig(z *config.ZooKeeper) any {
	if z.Path == "" {
		return nil
	}
	b, err := os.ReadFile(z.Path)
	if err != nil {
		return nil
	}
	return string(b)
}

// ServeHTTP implements http.Handler.
func (a *admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, a.url)
	if !ok || name != "" && name[0] != '/' {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
		return
	}
	if name = strings.Trim(name, "/"); name == "" {
		a.list(w)
		return
	}
	a.run(w, r, name)
}

// list is a page of links to the commands.
func (a *admin) list(w http.ResponseWriter) {
	var links []string
	for i := range adminCommands() {
		name := adminCommands()[i].names[0]
		links = append(links, fmt.Sprintf("<a href=\"%s/%s\">%s</a>", a.url, name, name))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, strings.Join(links, "\n<br/>\n"))
}

// adminRequest is a command that is being answered.
type adminRequest struct {
	*admin
	http   *http.Request
	out    object
	status int
	header http.Header
	stream io.ReadCloser // instead of out
}

func (q *adminRequest) fail(status int, text string) {
	q.status = status
	q.out.set("error", text)
}

// refuse is fail before the command has run. Apache tells the command's name first then.
func (q *adminRequest) refuse(status int, command, text string) {
	q.out.put("command", command)
	q.fail(status, text)
}

func (a *admin) run(w http.ResponseWriter, r *http.Request, name string) {
	q := &adminRequest{admin: a, http: r, status: http.StatusOK, header: w.Header()}
	all := adminCommands()
	at := slices.IndexFunc(all, func(c adminCommand) bool { return slices.Contains(c.names, name) })
	switch {
	case at < 0:
		q.out = object{{"command", name}, {"error", "Unknown command: " + name}}
	case a.s.failed.Load() && !all[at].always:
		q.refuse(http.StatusOK, all[at].names[0], "This ZooKeeper instance is not currently serving requests")
	case all[at].protected:
		if status, why := q.refused(); why != "" {
			q.refuse(status, all[at].names[0], why)
			break
		}
		all[at].run(q)
	default:
		all[at].run(q)
	}
	if q.stream != nil {
		defer q.stream.Close()
		w.Header().Set("Content-Type", "application/octet-stream")
		if _, err := io.Copy(w, q.stream); err != nil {
			a.s.log.Warn("a snapshot was not sent to its end", "error", err)
		}
		return
	}
	if at >= 0 {
		q.out.set("command", all[at].names[0])
		if !q.out.has("error") {
			q.out.put("error", nil)
		}
	}
	b := appendJSON(nil, q.out, 0)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(q.status)
	_, _ = w.Write(b)
}

// refused says why the request's credentials may not do everything at the root; nothing if they may.
func (q *adminRequest) refused() (status int, why string) {
	scheme, credentials, ok := strings.Cut(q.http.Header.Get("Authorization"), " ")
	if !ok {
		return http.StatusUnauthorized, "Auth info is missing for the command"
	}
	who, ok := q.s.authenticate(&jute.AuthPacket{Scheme: scheme, Auth: []byte(credentials)})
	if !ok {
		q.s.metrics.AuthFailed.Inc()
		return http.StatusUnauthorized, "Auth check failed for the command"
	}
	ids := []jute.ID{who}
	if host, _, err := net.SplitHostPort(q.http.RemoteAddr); err == nil {
		ids = append(ids, jute.ID{Scheme: "ip", ID: host})
	}
	v := q.s.View()
	root, _ := v.Lookup("/")
	for _, perm := range []int32{
		jute.PermRead, jute.PermWrite, jute.PermCreate, jute.PermDelete, jute.PermAdmin,
	} {
		if !v.Permits(root.ACL(), perm, ids) {
			return http.StatusForbidden, "Not authorized for the command"
		}
	}
	return 0, ""
}
