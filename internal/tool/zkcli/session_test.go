package zkcli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/server/ensemble"
)

// startServer starts a ZooKeeper server and returns where it listens.
func startServer(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "zoo.cfg")
	text := "tickTime=2000\nclientPort=0\nclientPortAddress=127.0.0.1\nextendedTypesEnabled=true\ndataDir=" +
		t.TempDir() + "\n"
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
	return s.Addr().String()
}

// step is a line that is typed, and what it prints.
type step struct{ line, want string }

// steps reads a recorded session. Each "start" begins another run of the shell.
func steps(t *testing.T, file, host string) (runs [][]step) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), "HOST", host)
	for part := range strings.SplitSeq("\n"+text, "\n== ") {
		line, want, _ := strings.Cut(part, "\n")
		if strings.HasPrefix(part, "\n#") {
			continue
		}
		if line == "start" {
			runs = append(runs, nil)
		}
		last := len(runs) - 1
		runs[last] = append(runs[last], step{line, strings.TrimSuffix(want, "\n")})
	}
	return runs
}

// player types a session's lines, each when what was printed since the last one is what is wanted, or has
// had its time.
type player struct {
	t        *testing.T
	steps    []step
	at       int
	mu       sync.Mutex
	out, err strings.Builder
}

var masks = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`(time = ).*`), "${1}T"},
	{regexp.MustCompile(`zxid: \d+`), "zxid: N"},
	{regexp.MustCompile(`version: 3\.9\.5.*`), "version: V"},
	{regexp.MustCompile(`0x[0-9a-f]+`), "0xN"},
}

// printed is what was printed since the last line, in the form of the recording.
func (p *player) printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	writeLines(&b, "O ", p.out.String())
	writeLines(&b, "E ", p.err.String())
	out := strings.TrimSuffix(b.String(), "\n")
	for _, m := range masks {
		out = m.what.ReplaceAllString(out, m.with)
	}
	return out
}

func writeLines(b *strings.Builder, prefix, text string) {
	for line := range strings.Lines(text) {
		b.WriteString(prefix + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// inOrder sorts the lines and words of a text.
func inOrder(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n[], ", r) })
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// check compares what the last line printed.
func (p *player) check() {
	s := p.steps[p.at]
	shown := func() string { return p.printed() }
	if name, _, _ := strings.Cut(s.line, " "); name == "whoami" || name == "getEphemerals" {
		// Apache's server tells these in the order of a hash table.
		s.want = inOrder(s.want)
		shown = func() string { return inOrder(p.printed()) }
	}
	for deadline := time.Now().Add(5 * time.Second); shown() != s.want && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if got := shown(); got != s.want {
		p.t.Errorf("%s\nprints:\n%s\nApache's prints:\n%s", s.line, got, s.want)
	}
	p.mu.Lock()
	p.out.Reset()
	p.err.Reset()
	p.mu.Unlock()
}

// Read implements io.Reader: one line a call.
func (p *player) Read(b []byte) (int, error) {
	p.check()
	if p.at++; p.at == len(p.steps) {
		return 0, io.EOF
	}
	return copy(b, p.steps[p.at].line+"\n"), nil
}

type stream struct {
	p *player
	b *strings.Builder
}

func (s stream) Write(b []byte) (int, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.b.Write(b)
}

func TestSession_PrintsWhatApachesPrints(t *testing.T) {
	host := startServer(t)
	typed := 0
	for i, run := range steps(t, "testdata/session-3.9.5.txt", host) {
		p := &player{t: t, steps: run}
		streams := Streams{In: p, Out: stream{p, &p.out}, Err: stream{p, &p.err}, Version: "3.9.5-test"}
		if code := Main(streams, []string{"-server", host}); i == 0 && code != exitFailed {
			t.Errorf("exit code %d after a last command that failed", code)
		}
		p.check()
		typed += p.at
	}
	if typed < 400 {
		t.Errorf("%d lines were typed", typed)
	}
}

// once runs one command and returns its exit code and what it prints.
func once(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e strings.Builder
	code = Main(Streams{In: strings.NewReader(""), Out: &o, Err: &e, Version: "3.9.5-test"}, args)
	return code, o.String(), e.String()
}

func TestOneCommand(t *testing.T) {
	host := startServer(t)
	connected := fmt.Sprintf("Connecting to %s\n\nWATCHER::\n\n"+
		"WatchedEvent state:SyncConnected type:None path:null zxid: -1\n", host)
	for _, c := range []struct {
		args      []string
		code      int
		out, errs string // errs: how it begins
	}{
		{[]string{"create", "/sp", "two words"}, 0, connected, "Created /sp\n"},
		{[]string{"get", "/sp"}, 0, connected + "two words\n", ""},
		{[]string{"get", "/nope"}, 1, connected, "Node does not exist: /nope\n"},
		{[]string{"ls", "/"}, 0, connected + "[sp, zookeeper]\n", ""},
		{[]string{"delete", "-v", "x", "/sp"}, 1, "", "For input string: \"x\"\n"},
		{[]string{"nonsense"}, 127, "", "ZooKeeper -server host:port -client-configuration properties-file cmd args\n"},
		{[]string{"deleteall", "/sp"}, 0, connected, ""},
	} {
		code, out, errs := once(t, append([]string{"-server", host}, c.args...)...)
		if code != c.code || c.out != "" && out != c.out || !strings.HasPrefix(errs, c.errs) {
			t.Errorf("%v: %d\n%s%s", c.args, code, out, errs)
		}
	}
	if _, out, _ := once(t, "-server", host+"/zookeeper", "ls", "/"); !strings.HasSuffix(out, "[config, quota]\n") {
		t.Errorf("under a chroot: %s", out)
	}
	code, _, errs := once(t, "-server", "127.0.0.1:1", "ls", "/")
	if code != 1 || errs != "KeeperErrorCode = ConnectionLoss for /\n" {
		t.Errorf("without a server: %d %s", code, errs)
	}
	if code, _, _ := once(t, "-timeout", "300", "-waitforconnection", "-server", "127.0.0.1:1", "ls", "/"); code != 1 {
		t.Errorf("waiting for a server: %d", code)
	}
}

func TestComplete(t *testing.T) {
	host := startServer(t)
	once(t, "-server", host, "create", "/apple")
	once(t, "-server", host, "create", "/apple/pie")
	once(t, "-server", host, "create", "/apricot")
	var out strings.Builder
	s := &shell{out: &out, err: &out}
	s.cfg.Timeout = 10 * time.Second
	s.connect(host)
	defer s.session.Close()
	if !s.session.WaitConnected(10 * time.Second) {
		t.Fatal("no session")
	}
	for line, want := range map[string]string{
		"whoa":        "whoami ",
		"get":         "get",
		"get /zoo":    "get /zookeeper",
		"ls /a":       "ls /ap",
		"ls /app":     "ls /apple",
		"ls /apple/":  "ls /apple/pie",
		"ls /nothing": "ls /nothing",
	} {
		if got, pos, ok := s.complete(line, len(line)); !ok || got != want || pos != len(want) {
			t.Errorf("%s: %q at %d, want %q", line, got, pos, want)
		}
	}
	if !strings.Contains(out.String(), "getAcl") {
		t.Errorf("several ways to go on are not shown: %q", out.String())
	}
}
