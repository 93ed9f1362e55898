package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Warnings are remarks about a file that loads all the same, one line each.
type Warnings []string

// Error is a property that can't be used. Line is 0 when it came from --override or is missing.
type Error struct {
	Path   string // or --override
	Line   int
	Reason string // names the key and its value
}

// Error gives path:line: reason.
func (e *Error) Error() string {
	switch {
	case e.Path == "":
		return e.Reason
	case e.Line == 0:
		return e.Path + ": " + e.Reason
	}
	return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Reason)
}

// loader builds a Server.
type loader struct {
	*Server
	lines    map[string]int // of each key in the file
	warnings Warnings
	errs     []error
}

// Load reads a server.properties file, replaces properties by the overrides ("key=value"), and checks the
// whole. An error names the file, the line, the key, the value and the reason; all that are found are
// joined.
func Load(path string, overrides []string) (*Server, Warnings, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	return parse(path, string(text), overrides)
}

// embeddedFile is what a node without a file runs with. 9404 is the port that Prometheus' JMX exporter made
// usual.
const embeddedFile = `process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://:9092,CONTROLLER://127.0.0.1:9093
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:9093
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
kalda.http.listener=:9404
`

// Embedded is the configuration of a node started without a file: broker and controller in one, clients on
// 9092, controller on 9093, data in dataDir, metrics and health on 9404.
func Embedded(dataDir string, overrides []string) (*Server, Warnings, error) {
	overrides = append([]string{"log.dirs=" + dataDir}, overrides...)
	return parse("", embeddedFile, overrides)
}

func parse(path, text string, overrides []string) (*Server, Warnings, error) {
	list, err := parseProperties(text)
	if err != nil {
		return nil, nil, &Error{Path: path, Reason: err.Error()}
	}
	l := &loader{Server: &Server{Path: path}, lines: map[string]int{}}
	l.values = make(map[string]string, len(list)+len(overrides))
	for _, p := range list {
		if first, twice := l.lines[p.key]; twice {
			l.warn(p.key, fmt.Sprintf("%s is set again; line %d is ignored", p.key, first))
		}
		l.values[p.key], l.lines[p.key] = p.value, p.line
	}
	for _, o := range overrides {
		key, value, ok := strings.Cut(o, "=")
		if !ok {
			return nil, nil, fmt.Errorf("--override %s: property=value is expected", o)
		}
		key = strings.TrimSpace(key)
		l.values[key] = value
		delete(l.lines, key)
	}
	l.checkValues()
	if len(l.errs) == 0 {
		l.derive()
	}
	if len(l.errs) > 0 {
		return nil, nil, errors.Join(l.errs...)
	}
	return l.Server, l.warnings, nil
}

// keys returns the keys that are set, by their place in the file.
func (l *loader) keys() []string {
	keys := make([]string, 0, len(l.values))
	for k := range l.values {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		a, b := l.lines[keys[i]], l.lines[keys[j]]
		return a < b || (a == b && keys[i] < keys[j])
	})
	return keys
}

func (l *loader) checkValues() {
	var later, nothing []string
	for _, name := range l.keys() {
		k := BrokerKey(name)
		if k == nil {
			l.unknown(name)
			continue
		}
		if k.Mode == DynamicOnly {
			l.warn(name, name+" can only be set while the node runs (kafka-configs); it is ignored here")
			continue
		}
		if err := k.check(l.values[name]); err != nil {
			l.fail(name, err.Error())
			continue
		}
		if k.canonical(l.values[name]) == k.Default {
			continue // asks for what happens anyway
		}
		switch k.Status {
		case Later:
			later = append(later, name)
		case Nothing:
			nothing = append(nothing, name)
		}
	}
	if len(later) > 0 {
		l.warnings = append(l.warnings, l.prefix("")+"not supported in this release, no effect: "+l.places(later))
	}
	if len(nothing) > 0 {
		l.warnings = append(l.warnings,
			l.prefix("")+"nothing to tune here, no effect (docs/configuration.md says why): "+l.places(nothing))
	}
}

// places lists keys with their lines.
func (l *loader) places(keys []string) string {
	var b strings.Builder
	for i, k := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(k)
		if n := l.lines[k]; n > 0 {
			fmt.Fprintf(&b, " (line %d)", n)
		}
	}
	return b.String()
}

// pluginPrefixes are of keys that plugins read, which no table can know.
var pluginPrefixes = [...]string{"rlmm.config.", "rsm.config.", "config.providers.", "confluent."}

func (l *loader) unknown(name string) {
	for _, r := range removedKeys {
		if r.name == name {
			l.warn(name, name+" was removed in Kafka 4.0 and has no effect: "+r.advice)
			return
		}
	}
	if strings.HasPrefix(name, "zookeeper.") {
		l.warn(name, name+" has no effect: metadata is kept by controllers, not by ZooKeeper")
		return
	}
	for _, p := range pluginPrefixes {
		if strings.HasPrefix(name, p) {
			l.warn(name, name+" is for a plugin that is not supported in this release; no effect")
			return
		}
	}
	text := "unknown key " + name + "; no effect"
	_, base := cutListener(name)
	if base == "" {
		base = name
	}
	if n := nearest(base); n != "" {
		text += ". Did you mean " + strings.TrimSuffix(name, base) + n + "?"
	}
	l.warn(name, text)
}

// prefix is path:line: of a key.
func (l *loader) prefix(key string) string {
	e := Error{Path: l.Path, Line: l.lines[key]}
	return e.Error()
}

func (l *loader) warn(key, text string) { l.warnings = append(l.warnings, l.prefix(key)+text) }

// fail notes that a key can't be used as it is set.
func (l *loader) fail(key, reason string) {
	v, set := l.values[key]
	secret := BrokerKey(key).Type == Password
	switch {
	case set && !secret && !(strings.Contains(reason, v) && strings.Contains(reason, key)):
		reason = key + "=" + v + ": " + reason
	case !strings.Contains(reason, key):
		reason = key + ": " + reason
	}
	path := l.Path
	if set && l.lines[key] == 0 && path != "" {
		path = "--override"
	}
	l.errs = append(l.errs, &Error{Path: path, Line: l.lines[key], Reason: reason})
}

// absolute makes a directory's name independent of where the process is.
func absolute(dir string) string {
	if a, err := filepath.Abs(dir); err == nil {
		return a
	}
	return dir
}
