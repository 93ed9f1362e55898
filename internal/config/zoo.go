package config

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// ZooKeeper is one ZooKeeper server's configuration: zoo.cfg, and the -Dzookeeper.* settings of
// SERVER_JVMFLAGS and JVMFLAGS. It is immutable. What it has no field for, the getters give.
type ZooKeeper struct {
	Path   string // of the file; empty without one
	values map[string]string
	given  map[string]string // as the file has it, for /commands/initial_configuration

	DataDir, DataLogDir string // absolute
	ClientAddr          string // host:port for clients, an empty host for all; empty: none
	TickTime            int    // milliseconds, as are the next two
	MinSessionTimeout   int
	MaxSessionTimeout   int

	Servers    []ZooServer // the ensemble, by id; empty for a server alone
	Groups     map[int64][]int64
	Weights    map[int64]int64
	Standalone bool // runs without an ensemble
}

// zooLoader builds a ZooKeeper.
type zooLoader struct {
	*ZooKeeper
	lines    map[string]int
	warnings Warnings
	errs     []error
}

// LoadZooKeeper reads zoo.cfg. jvmFlags are the command-line flags that Apache's scripts would give to Java
// (SERVER_JVMFLAGS and JVMFLAGS): their -D settings count where the file sets nothing.
func LoadZooKeeper(path, jvmFlags string) (*ZooKeeper, Warnings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	return parseZooKeeper(path, string(text), jvmFlags)
}

// EmbeddedZooKeeper is the configuration of a server started without a file: clients on 2181.
func EmbeddedZooKeeper(dataDir, jvmFlags string) (*ZooKeeper, Warnings, error) {
	return parseZooKeeper("", "tickTime=2000\nclientPort=2181\ndataDir="+escapeProperty(dataDir), jvmFlags)
}

// ZooKeeperArgs is the configuration that the other form of the command line gives: a port, a directory and,
// if they are there, a tick time and the number of connections from one address.
func ZooKeeperArgs(args []string, jvmFlags string) (*ZooKeeper, Warnings, error) {
	if len(args) < 2 || len(args) > 4 {
		return nil, nil, errors.New("invalid number of arguments: port, dataDir, tickTime, maxClientCnxns")
	}
	var text strings.Builder
	for i, key := range []string{"clientPort", "dataDir", "tickTime", "maxClientCnxns"}[:len(args)] {
		text.WriteString(key + "=" + escapeProperty(args[i]) + "\n")
	}
	return parseZooKeeper("", text.String(), jvmFlags)
}

func escapeProperty(s string) string { return strings.ReplaceAll(s, `\`, `\\`) }

func parseZooKeeper(path, text, jvmFlags string) (*ZooKeeper, Warnings, error) {
	list, err := parseProperties(text)
	if err != nil {
		return nil, nil, &Error{Path: path, Reason: err.Error()}
	}
	l := &zooLoader{
		ZooKeeper: &ZooKeeper{Path: path, values: map[string]string{}, given: map[string]string{}},
		lines:     map[string]int{},
	}
	for _, p := range list {
		value := strings.TrimSpace(p.value)
		l.given[p.key] = value
		key := zooName(p.key)
		if first, twice := l.lines[key]; twice {
			l.warn(p.line, "%s is set again; line %d is ignored", p.key, first)
		}
		l.values[key], l.lines[key] = value, p.line
	}
	l.takeFlags(jvmFlags)
	l.check()
	if len(l.errs) == 0 {
		l.derive()
	}
	if len(l.errs) > 0 {
		return nil, nil, errors.Join(l.errs...)
	}
	return l.ZooKeeper, l.warnings, nil
}

func (l *zooLoader) warn(line int, format string, args ...any) {
	e := Error{Path: l.Path, Line: line, Reason: fmt.Sprintf(format, args...)}
	l.warnings = append(l.warnings, e.Error())
}

func (l *zooLoader) fail(key, format string, args ...any) {
	l.errs = append(l.errs, &Error{Path: l.Path, Line: l.lines[key], Reason: fmt.Sprintf(format, args...)})
}

// takeFlags takes the -D settings. The file is stronger, except where Apache doesn't look into it.
func (l *zooLoader) takeFlags(flags string) {
	for _, f := range splitFlags(flags) {
		setting, ok := strings.CutPrefix(f, "-D")
		if !ok {
			continue // the heap's size and the like
		}
		property, value, _ := strings.Cut(setting, "=")
		name, ours := strings.CutPrefix(property, "zookeeper.")
		if !ours && !zooBare(property) || ours && zooForJava(name) {
			continue
		}
		name = zooName(name)
		if _, set := l.values[name]; set && !zooBare(name) {
			continue
		}
		l.values[name] = strings.TrimSpace(value)
		delete(l.lines, name)
	}
}

// splitFlags splits a line as a shell does: at blanks that are not within quotes.
func splitFlags(s string) (out []string) {
	var b strings.Builder
	quote, some := rune(0), false
	for _, c := range s {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(c)
		case c == '"' || c == '\'':
			quote, some = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if b.Len() > 0 || some {
				out = append(out, b.String())
			}
			b.Reset()
			some = false
		default:
			b.WriteRune(c)
		}
	}
	if b.Len() > 0 || some {
		out = append(out, b.String())
	}
	return out
}

// check holds every value against its row.
func (l *zooLoader) check() {
	var later, nothing []string
	for _, name := range l.keys() {
		k := ZooKey(name)
		if k == nil {
			l.unknown(name)
			continue
		}
		value := l.values[name]
		if value == "" && k.Type != Str {
			delete(l.values, name) // as if it weren't there
			continue
		}
		if err := k.check(value); err != nil {
			if zooParsed(name) {
				l.fail(name, "%v", err)
				continue
			}
			l.warn(l.lines[name], "%v; the default is taken", err) // Java's properties are as lenient
			delete(l.values, name)
			continue
		}
		if l.lines[name] > 0 && zooBare(name) {
			l.warn(l.lines[name], "%s acts here; Apache ZooKeeper takes it from -D%s alone", name, name)
		}
		if k.canonical(value) == k.Default {
			continue
		}
		switch k.Status {
		case Acts:
		case Later:
			later = append(later, name)
		case Nothing:
			nothing = append(nothing, name)
		}
	}
	if len(later) > 0 {
		l.warn(0, "not supported in this release, no effect: %s", strings.Join(later, ", "))
	}
	if len(nothing) > 0 {
		l.warn(0, "nothing to tune here, no effect (docs/zoo-configuration.md says why): %s",
			strings.Join(nothing, ", "))
	}
}

func (l *zooLoader) unknown(name string) {
	if zooMember(name) || strings.HasPrefix(name, "authProvider.") {
		return
	}
	hint := ""
	if near := zooNearest(name); near != "" {
		hint = "; did you mean " + near + "?"
	}
	l.warn(l.lines[name], "unknown key %s%s", name, hint)
}

// keys are the names that are set, by their place.
func (l *zooLoader) keys() []string {
	keys := make([]string, 0, len(l.values))
	for k := range l.values {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		a, b := l.lines[keys[i]], l.lines[keys[j]]
		return a < b || a == b && keys[i] < keys[j]
	})
	return keys
}

// derive fills the fields.
func (l *zooLoader) derive() {
	z := l.ZooKeeper
	z.TickTime = z.Int("tickTime")
	l.deriveDirs()
	if z.MinSessionTimeout = z.Int("minSessionTimeout"); z.MinSessionTimeout == -1 {
		z.MinSessionTimeout = 2 * z.TickTime
	}
	if z.MaxSessionTimeout = z.Int("maxSessionTimeout"); z.MaxSessionTimeout == -1 {
		z.MaxSessionTimeout = 20 * z.TickTime
	}
	if z.MinSessionTimeout > z.MaxSessionTimeout {
		l.fail("minSessionTimeout", "minSessionTimeout %d must not be longer than maxSessionTimeout %d",
			z.MinSessionTimeout, z.MaxSessionTimeout)
	}
	host, hasHost := z.String("clientPortAddress")
	port := z.Int("clientPort")
	switch {
	case z.IsSet("clientPort"):
		z.ClientAddr = net.JoinHostPort(host, strconv.Itoa(port))
	case hasHost:
		l.fail("clientPortAddress", "clientPortAddress is set but clientPort is not set")
	}
	l.deriveServers()
	if z.ClientAddr == "" && len(l.errs) == 0 {
		l.warn(0, "clientPort is not set: no client can connect")
	}
}

func (l *zooLoader) deriveDirs() {
	dir, ok := l.String("dataDir")
	if !ok {
		l.fail("dataDir", "dataDir is not set")
		return
	}
	logs, ok := l.String("dataLogDir")
	if !ok || logs == "" {
		logs = dir
	}
	for _, d := range []struct {
		key, dir string
		to       *string
	}{{"dataDir", dir, &l.DataDir}, {"dataLogDir", logs, &l.DataLogDir}} {
		abs, err := filepath.Abs(d.dir)
		if err != nil {
			l.fail(d.key, "%s: %v", d.key, err)
		}
		*d.to = abs
	}
}
