package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// combined is the file that the cases of golden/load.txt change.
const combined = "process.roles=broker,controller;node.id=1;controller.quorum.voters=1@127.0.0.1:9093;" +
	"controller.listener.names=CONTROLLER;listeners=PLAINTEXT://:9092,CONTROLLER://127.0.0.1:9093;" +
	"log.dirs=/tmp/x"

// stricter are cases that Apache lets pass and that can only be mistakes, or that this release can't do.
var stricter = map[string]bool{
	"listeners=PLAINTEXT://:99999,CONTROLLER://:9093":                                       true,
	"listeners=PLAINTEXT://:-1,CONTROLLER://:9093":                                          true,
	"controller.quorum.voters=1@h:1,1@g:2":                                                  true,
	"group.min.session.timeout.ms=10;group.max.session.timeout.ms=5":                        true,
	"log.cleaner.min.compaction.lag.ms=10;log.cleaner.max.compaction.lag.ms=5":              true,
	"listener.security.protocol.map=PLAINTEXT:PLAINTEXT,PLAINTEXT:SSL,CONTROLLER:PLAINTEXT": true,
}

// looser are cases that Apache refuses, about keys that have no effect yet: they are warned about.
var looser = map[string]bool{
	"group.consumer.assignors=foo": true,
	"principal.builder.class=foo":  true,
	"early.start.listeners=FOO":    true,
	"cordoned.log.dirs=/nope":      true,
}

func applyCase(spec string) string {
	var lines []string
	props := map[string]string{}
	var order []string
	for _, kv := range append(strings.Split(combined, ";"), strings.Split(spec, ";")...) {
		if gone, ok := strings.CutPrefix(kv, "-"); ok {
			delete(props, gone)
			continue
		}
		k, v, _ := strings.Cut(kv, "=")
		if _, known := props[k]; !known {
			order = append(order, k)
		}
		props[k] = v
	}
	for _, k := range order {
		if v, ok := props[k]; ok {
			lines = append(lines, k+"="+v)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// TestLoadAsApache loads what Apache loads and refuses what it refuses; load_errors.txt shows both texts.
func TestLoadAsApache(t *testing.T) {
	cases, err := os.ReadFile("testdata/golden/load.txt")
	if err != nil {
		t.Fatal(err)
	}
	var texts strings.Builder
	for line := range strings.Lines(string(cases)) {
		spec, apache, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
		_, _, err := parse("server.properties", applyCase(spec), nil)
		refused := apache != "OK"
		if refused != (err != nil) && !(err != nil && stricter[spec]) && !(err == nil && looser[spec]) {
			t.Errorf("%s\n  Apache: %s\n  ours:   %v", spec, apache, err)
		}
		if err != nil {
			ours := strings.ReplaceAll(err.Error(), "\n", "\n          ")
			fmt.Fprintf(&texts, "%s\n  Apache: %s\n  ours:   %s\n", spec, apache, ours)
		}
	}
	compareFile(t, "testdata/load_errors.txt", texts.String())
}

func compareFile(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is stale (go test ./internal/config -update)\n%s", path, diff)
	}
}

func load(t *testing.T, text string, overrides ...string) (*Server, Warnings, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server.properties")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, w, err := Load(path, overrides)
	for i := range w {
		w[i] = strings.TrimPrefix(w[i], filepath.Dir(path)+"/")
	}
	return s, w, err
}

func TestLoadTypedFields(t *testing.T) {
	s, warnings, err := load(t, `
# a comment
process.roles = broker,controller
node.id: 7
listeners=PLAINTEXT://:9092,internal://127.0.0.1:9095,CONTROLLER://:9093
advertised.listeners=PLAINTEXT://kafka.example:19092,INTERNAL://127.0.0.1:9095
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=INTERNAL
controller.listener.names=CONTROLLER
controller.quorum.voters=7@a:9093,8@[::1]:9094
log.dirs=/a, /b,/a
log.retention.hours=1
listener.name.internal.max.connections=5
num.io.threads=16
num.network.threads=3
log.retentoin.ms=5
zookeeper.connect=localhost:2181
inter.broker.protocol.version=2.8
ssl.keystore.location=/x
`, "num.partitions=4", "log.dirs=/c,/b")
	if err != nil {
		t.Fatal(err)
	}
	if s.NodeID != 7 || !s.Broker || !s.Controller || s.InterBrokerListener != "INTERNAL" {
		t.Errorf("%+v", s)
	}
	if diff := cmp.Diff([]Listener{{"PLAINTEXT", "", 9092, 0}, {"INTERNAL", "127.0.0.1", 9095, 0}},
		s.BrokerListeners); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Listener{{"PLAINTEXT", "kafka.example", 19092, 0}, {"INTERNAL", "127.0.0.1", 9095, 0}},
		s.Advertised); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Voter{{7, "a", 9093}, {8, "::1", 9094}}, s.Voters); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/c", "/b"}, s.LogDirs); diff != "" {
		t.Error(diff)
	}
	if s.MetadataLogDir != "/c" || s.Int("num.partitions") != 4 || s.Int("broker.id") != 7 {
		t.Error(s.MetadataLogDir, s.Int("num.partitions"))
	}
	if n := s.OnListener("INTERNAL").Int("max.connections"); n != 5 {
		t.Error(n)
	}
	if n := s.OnListener("PLAINTEXT").Int("max.connections"); n != 1<<31-1 {
		t.Error(n)
	}
	want := Warnings{
		"server.properties:16: unknown key log.retentoin.ms; no effect. Did you mean log.retention.ms?",
		"server.properties:17: zookeeper.connect has no effect: metadata is kept by controllers, not by ZooKeeper",
		"server.properties:18: inter.broker.protocol.version was removed in Kafka 4.0 and has no effect: " +
			"metadata.version took its place; see kafka-features",
		"server.properties: not supported in this release, no effect: ssl.keystore.location (line 19)",
		"server.properties: nothing to tune here, no effect (docs/configuration.md says why): num.io.threads " +
			"(line 14)",
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
}

func TestLoadNamesFileLineKeyAndReason(t *testing.T) {
	_, _, err := load(t, "process.roles=broker\n\nnum.partitions=\\\n  many\nlog.segment.bytes=5\n")
	if err == nil {
		t.Fatal("loaded")
	}
	for _, want := range []string{
		"server.properties:3: Invalid value many for configuration num.partitions: Not a number of type INT",
		"server.properties:5: Invalid value 5 for configuration log.segment.bytes: Value must be at least 1048576",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if _, _, err = load(t, "process.roles=broker\n", "num.partitions=many"); err == nil ||
		!strings.HasPrefix(err.Error(), "--override: Invalid value many") {
		t.Error(err)
	}
	if _, _, err = Load("/no/such/server.properties", nil); err == nil || !strings.Contains(err.Error(),
		"/no/such/") {
		t.Error(err)
	}
}

func TestEmbedded(t *testing.T) {
	s, warnings, err := Embedded("./data", nil)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if s.NodeID != 1 || len(s.BrokerListeners) != 1 || len(s.ControllerListeners) != 1 ||
		s.Registers("PLAINTEXT") ||
		s.HTTPListener == "" || !strings.HasSuffix(s.LogDirs[0], "/data") || !filepath.IsAbs(s.LogDirs[0]) {
		t.Errorf("%+v", s)
	}
	if s, _, err = Embedded("./data", []string{"listeners=PLAINTEXT://:1,CONTROLLER://:2"}); err != nil {
		t.Fatal(err)
	}
	if s.BrokerListeners[0].Port != 1 {
		t.Error(s.BrokerListeners)
	}
}
