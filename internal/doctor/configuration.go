package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/config"
)

// loadConfig reads the configuration. Without one there is nothing else to examine offline.
func (x *examination) loadConfig() {
	var warnings config.Warnings
	var err error
	if x.o.File == "" {
		dir, aerr := filepath.Abs("data")
		if aerr != nil {
			dir = "data"
		}
		x.cfg, warnings, err = config.Embedded(dir, x.o.Overrides)
	} else {
		x.cfg, warnings, err = config.Load(x.o.File, x.o.Overrides)
	}
	for _, e := range flatten(err) {
		x.badConfig(e)
	}
	if err != nil {
		x.cfg = nil
		return
	}
	x.checked("configuration " + x.file("as a node would read it"))
	for _, w := range warnings {
		where, text := x.split(w)
		if isList(text) {
			continue // keys tells each of them
		}
		do := "Remove it."
		if _, guess, ok := strings.Cut(text, "Did you mean "); ok {
			do = "Write " + strings.TrimSuffix(guess, "?") + ", or remove it."
		}
		x.add(Warning, "config", where, text, do)
	}
}

// isList tells the warnings that gather keys without effect.
func isList(text string) bool {
	return strings.HasPrefix(text, "not supported in this release, no effect: ") ||
		strings.HasPrefix(text, "nothing to tune here, no effect")
}

func (x *examination) badConfig(err error) {
	var e *config.Error
	if errors.As(err, &e) && e.Path != "" {
		x.add(Error, "config", strings.TrimSuffix((&config.Error{Path: e.Path, Line: e.Line}).Error(), ": "+
			""), e.Reason,
			"Correct it: a node doesn't start with it.")
		return
	}
	x.add(Error, "config", x.file("as a whole"), err.Error(), "Correct it: a node doesn't start with it.")
}

// flatten takes errors that were joined apart.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	// What is wanted is the join itself, not what it wraps.
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}

// split divides a warning into path:line and text.
func (x *examination) split(w string) (where, text string) {
	if x.o.File == "" || !strings.HasPrefix(w, x.o.File) {
		return "configuration", w
	}
	where, text, ok := strings.Cut(w, ": ")
	if !ok {
		return "configuration", w
	}
	return where, text
}

// keys tells the keys that are set and do nothing.
func (x *examination) keys() {
	for _, name := range x.cfg.Keys() {
		k := config.BrokerKey(name)
		value, _ := x.cfg.Plain(name)
		if k == nil || value == k.Default || x.o.File == "" && !x.overridden(name) {
			continue
		}
		switch {
		case isJava(k) && value != "":
			x.add(Warning, "jvm", x.file(name), name+" names Java classes ("+value+"), and there is no JVM to "+
				"load them",
				"Remove it; what they did has to be done another way. "+k.Doc)
		case k.Status == config.Later:
			x.add(Warning, "config", x.file(name), name+" has no effect in this release", "Don't rely on it: "+k.Doc)
		case k.Status == config.Nothing:
			x.add(Info, "config", x.file(name), name+" has nothing to tune here", "Remove it, or leave it: "+k.Doc)
		}
	}
}

// isJava tells keys whose values are names of classes, whatever their type.
func isJava(k *config.Key) bool {
	return k.Status != config.Acts && (k.Type == config.Class ||
		slices.Contains([]string{"metric.reporters", "security.providers", "config.providers"}, k.Name))
}

func (x *examination) overridden(key string) bool {
	for _, o := range x.o.Overrides {
		if name, _, _ := strings.Cut(o, "="); strings.TrimSpace(name) == key {
			return true
		}
	}
	return false
}

// factors holds replication factors against what else is configured.
func (x *examination) factors() {
	type pair struct{ factor, least string }
	for _, p := range []pair{
		{"default.replication.factor", "min.insync.replicas"},
		{"transaction.state.log.replication.factor", "transaction.state.log.min.isr"},
	} {
		if n, least := x.cfg.Int(p.factor), x.cfg.Int(p.least); least > n && n > 0 {
			x.add(Error, "replication", x.file(p.least), fmt.Sprintf("%s=%d is more than %s=%d: no record is ever "+
				"acknowledged with acks=all", p.least, least, p.factor, n),
				"Lower "+p.least+", or raise "+p.factor+".")
		}
	}
	if n := x.cfg.Int("default.replication.factor"); n > 1 && x.alone() {
		x.add(Warning, "replication", x.file("default.replication.factor"),
			fmt.Sprintf("default.replication.factor=%d, "+
				"and this node is its own only controller: alone it can't make a topic", n),
			"Set it to 1, or start enough brokers before topics are made.")
	}
}

// alone tells that nothing in the configuration speaks of another node.
func (x *examination) alone() bool {
	if !x.cfg.Broker || !x.cfg.Controller {
		return false
	}
	for _, v := range x.cfg.Voters {
		if v.ID != x.cfg.NodeID {
			return false
		}
	}
	return len(x.cfg.Voters) == 1 || len(x.cfg.BootstrapServers) == 1
}

// jvmVariables are what Apache's scripts give the JVM.
var jvmVariables = [...]struct{ name, do string }{
	{"KAFKA_HEAP_OPTS", "There is no heap to size: kalda.memory.limit bounds memory."},
	{"KAFKA_JVM_PERFORMANCE_OPTS", "Nothing takes its place."},
	{"KAFKA_GC_LOG_OPTS", "Nothing takes its place."},
	{"KAFKA_JMX_OPTS", "Metrics are at kalda.http.listener, under /metrics."},
	{"JMX_PORT", "Metrics are at kalda.http.listener, under /metrics."},
	{"KAFKA_OPTS", "System properties and agents have no effect; use configuration keys."},
	{"KAFKA_LOG4J_OPTS", "The level of logging is kalda.log.level."},
}

func (x *examination) environment() {
	for _, v := range jvmVariables {
		if x.host.Getenv(v.name) != "" {
			x.add(Info, "jvm", "environment: "+v.name, v.name+" is set, and there is no JVM", v.do)
		}
	}
}
