package ensemble_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/server/ensemble"
	"github.com/kalda/kalda/internal/tool/zk"
)

// serve starts a server with its HTTP side on free ports.
func serve(t *testing.T, more string) (*ensemble.Server, *ensemble.Operating) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "zoo.cfg")
	text := "tickTime=2000\nclientPort=0\nclientPortAddress=127.0.0.1\nadmin.serverPort=0\n" +
		"admin.serverAddress=127.0.0.1\nextendedTypesEnabled=true\n4lw.commands.whitelist=*\n" +
		"metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider\n" +
		"metricsProvider.httpPort=0\nmetricsProvider.httpHost=127.0.0.1\ndataDir=" + t.TempDir() + "\n" + more
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	z, _, err := config.LoadZooKeeper(file, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := ensemble.Start(t.Context(), ensemble.Options{Config: z, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	o := ensemble.Operate(t.Context(), s)
	t.Cleanup(o.Close)
	return s, o
}

// visitors opens the two sessions that were open when Apache's answers were recorded.
func visitors(t *testing.T, s *ensemble.Server) {
	t.Helper()
	open := func() *zk.Session {
		c := zk.Open(zk.Config{Servers: []string{s.Addr().String()}, Timeout: 30 * time.Second})
		t.Cleanup(c.Close)
		if !c.WaitConnected(20 * time.Second) {
			t.Fatal("no session")
		}
		return c
	}
	var errs []error
	do := func(err error) { errs = append(errs, err) }
	create := func(c *zk.Session, path string, flags int32) {
		_, err := c.Create(zk.Node{Path: path, Data: []byte("hello"), ACL: jute.OpenACL(), Flags: flags})
		do(err)
	}
	get := func(c *zk.Session, path string) {
		_, _, err := c.Get(path, true)
		do(err)
	}
	a, b := open(), open()
	create(a, "/a", 0)
	create(a, "/a/eph", jute.FlagEphemeral)
	get(a, "/a")
	do(a.AddWatch("/w", jute.AddPersistentRecursive))
	_, _, err := a.Children("/a", true)
	do(err)
	get(b, "/a")
	create(b, "/e2", jute.FlagEphemeral)
	get(b, "/a/eph")
	do(b.AddWatch("/a", jute.AddPersistent))
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func ask(t *testing.T, s *ensemble.Server, word string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if word == "stmk" {
		word += "\x00\x00\x00\x00\x00\x00\x01\x02"
	}
	if _, err := io.WriteString(conn, word); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var masks = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`0x[0-9a-f]+`), "HEX"},
	{regexp.MustCompile(`\w{3} \w{3} \d\d \d\d:\d\d:\d\d \w+ \d{4}`), "DATE"},
	{regexp.MustCompile(`3\.9\.5-[^"\n]*`), "VERSION"},
	{regexp.MustCompile(`[\w/.-]*/version-2`), "DIR"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "ADDR"},
	{regexp.MustCompile(`\d+\.\d+`), "F"},
	{regexp.MustCompile(`\b-?\d+\b|-\d+`), "#"},
}

func mask(text string) string {
	for _, m := range masks {
		text = m.what.ReplaceAllString(text, m.with)
	}
	return text
}

// recorded reads a file of answers: name and text, in order.
func recorded(t *testing.T, file string) (out [][2]string) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(b), "\n== ") {
		name, text, ok := strings.Cut(part, "\n")
		if ok && !strings.HasPrefix(part, "#") {
			out = append(out, [2]string{name, strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "|")})
		}
	}
	return out
}

// sorted is a text by its lines, for answers that Apache gives in the order of a hash table.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestWords_AnswerAsApache(t *testing.T) {
	s, _ := serve(t, "")
	visitors(t, s)
	for _, r := range recorded(t, "words-3.9.5.txt") {
		for deadline := time.Now().Add(20 * time.Second); s.Stats().Connections > 2 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond) // the one before goes when its client has
		}
		want, got := r[1], mask(ask(t, s, r[0]))
		switch r[0] {
		case "dump", "wchc", "wchp":
			want, got = sorted(want), sorted(got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-Apache +ours):\n%s", r[0], diff)
		}
	}
}

func fetch(t *testing.T, url string, header ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

func TestCommands_AnswerAsApache(t *testing.T) {
	s, o := serve(t, "")
	visitors(t, s)
	base := "http://" + o.Admin.String() + "/commands/"
	for _, r := range recorded(t, "commands-3.9.5.txt") {
		status, header, body := fetch(t, base+r[0])
		if got := header.Get("Content-Type"); got != "application/json" {
			t.Errorf("%s: content type %q", r[0], got)
		}
		wantStatus, want, _ := strings.Cut(r[1], "\n")
		got := mask(body)
		if wantStatus != strconv.Itoa(status) {
			t.Errorf("%s: status %d, Apache's %s", r[0], status, wantStatus)
		}
		switch r[0] {
		case "connections": // after a reset Apache knows no last operation; here there was none
			got = regexp.MustCompile(`"(GETC|ADDW)"`).ReplaceAllString(got, `"NA"`)
		case "dump", "watches", "watches_by_path":
			want, got = strings.ReplaceAll(want, ",", ""), strings.ReplaceAll(got, ",", "")
			want, got = sorted(strings.ReplaceAll(want, `"/a/eph" "/a"`, `"/a" "/a/eph"`)), sorted(got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-Apache +ours):\n%s", r[0], diff)
		}
	}
}

func TestCommands_Snapshot(t *testing.T) {
	s, o := serve(t, "admin.rateLimiterIntervalInMS=0\n")
	visitors(t, s)
	url := "http://" + o.Admin.String() + "/commands/snap"
	status, header, body := fetch(t, url, "Authorization", "digest u:p")
	if status != http.StatusOK || header.Get("last_zxid") != s.View().Zxid().String() || len(body) < 100 ||
		!strings.HasPrefix(body, "ZKSN") {
		t.Errorf("%d %v, %d bytes", status, header, len(body))
	}
	status, header, body = fetch(t, url+"?streaming=false", "Authorization", "digest u:p")
	if status != http.StatusOK || header.Get("snapshot_size") == "" || !strings.Contains(body, `"error" : null`) {
		t.Errorf("%d %v %s", status, header, body)
	}
	c := zk.Open(zk.Config{Servers: []string{s.Addr().String()}, Timeout: 30 * time.Second})
	t.Cleanup(c.Close)
	acl := []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "digest", ID: "x:y"}}}
	if _, err := c.SetACL("/", acl, -1); err != nil {
		t.Fatal(err)
	}
	if status, _, body = fetch(t, url, "Authorization", "digest u:p"); status != http.StatusForbidden {
		t.Errorf("without permission: %d %s", status, body)
	}
	if status, _, body = fetch(t, url, "Authorization", "nosuch u:p"); status != http.StatusUnauthorized {
		t.Errorf("with an unknown scheme: %d %s", status, body)
	}
}

func TestCommands_Limits(t *testing.T) {
	_, o := serve(t, "")
	url := "http://" + o.Admin.String() + "/commands"
	fetch(t, url+"/snapshot?streaming=false", "Authorization", "digest u:p")
	if status, _, _ := fetch(t, url+"/snapshot", "Authorization", "digest u:p"); status != http.StatusTooManyRequests {
		t.Errorf("a second snapshot at once: %d", status)
	}
	if _, _, body := fetch(t, url); !strings.Contains(body, `<a href="/commands/ruok">ruok</a>`) {
		t.Errorf("the list is %s", body)
	}
	for path, want := range map[string]int{"x": http.StatusNotFound, "": http.StatusOK} {
		if status, _, _ := fetch(t, url+path); status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/ruok", nil)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", resp.StatusCode)
	}
}

func TestMetrics_HaveMntrsNames(t *testing.T) {
	s, o := serve(t, "")
	visitors(t, s)
	_, _, body := fetch(t, "http://"+o.Metrics.String()+"/metrics")
	for line := range strings.Lines(ask(t, s, "mntr")) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "zk_"), "\t")
		if prefix, rest, ok := strings.Cut(name, "_"); ok && slices.Contains([]string{"avg", "cnt", "sum"}, prefix) &&
			!strings.HasSuffix(rest, "latency") {
			name = rest + map[string]string{"avg": "{quantile=\"0.5\",}", "cnt": "_count", "sum": "_sum"}[prefix]
		} else if ok && strings.Contains("min max p50 p95 p99 p999", prefix) || name == "version" ||
			name == "server_state" || strings.HasSuffix(name, "latency") {
			continue
		}
		if !strings.Contains(body, "\n"+name+" ") {
			t.Errorf("no metric %s", name)
		}
	}
}

func TestOperate_GoesOnWithoutItsPort(t *testing.T) {
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	_, o := serve(t, "admin.serverPort="+port+"\n")
	if o.Admin != nil {
		t.Errorf("the commands are on %v", o.Admin)
	}
}

func TestWords_Whitelist(t *testing.T) {
	s, _ := serve(t, "4lw.commands.whitelist=ruok, stat\n")
	if got := ask(t, s, "ruok"); got != "imok" {
		t.Errorf("ruok: %q", got)
	}
	if got := ask(t, s, "srvr"); got != "srvr is not executed because it is not in the whitelist.\n" {
		t.Errorf("srvr: %q", got)
	}
}
