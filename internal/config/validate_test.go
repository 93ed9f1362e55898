package config

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// otherwise are the golden cases that are somebody else's to answer: existence of topics and brokers,
// operations and null values (the controller), levels of loggers (the broker), features.
func otherwise(kind, name, op, key, value string) bool {
	switch {
	case kind == "logger", name == "nope", name == "2", strings.ContainsAny(name, "/"), value == "NULL":
		return true
	case op == "app" || op == "sub" || op == "del":
		return true
	case kind == "topic" && op == "create" && (key == "-" || strings.Contains(key, "=NULL")):
		return true
	case key == "min.insync.replicas" && kind == "broker" && name != "-":
		return true
	}
	return false
}

// wordedOtherwise are golden cases with another outcome or text, and why.
var wordedOtherwise = map[string]string{
	// There are no thread pools whose size could be doubled at most.
	"broker 1 set num.io.threads 100":      "OK",
	"broker - set num.io.threads 100":      "OK",
	"broker 1 set log.cleaner.threads 100": "OK",
	"topic t1 set min.cleanable.dirty.ratio NaN": "INVALID_CONFIG Invalid value NaN for configuration " +
		"min.cleanable.dirty.ratio: Not a number of type DOUBLE",
	"broker 1 set max.connections.per.ip.overrides localhost:x": "INVALID_REQUEST localhost:x: host:count is " +
		"expected",
	"broker 1 set listeners PLAINTEXT://:1": "INVALID_REQUEST This release cannot change these configs while " +
		"the " +
		"broker runs: [listeners]",
	// Both values are wrong, and either may be named.
	"topic x1 create cleanup.policy=foo;retention.ms=x": "INVALID_CONFIG Invalid value foo for configuration " +
		"cleanup.policy: String must be one of: compact, delete",
}

func TestValidateAsApache(t *testing.T) {
	s, _, err := Embedded(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]Resource{
		"topic": ResourceTopic, "broker": ResourceBroker, "group": ResourceGroup,
		"cm": ResourceClientMetrics, "logger": ResourceBrokerLogger,
	}
	cases, err := os.ReadFile("testdata/golden/validate.txt")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(cases)) {
		spec, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " => ")
		f := append(strings.SplitN(spec, " ", 5), "")
		kind, name, op, key, value := f[0], f[1], f[2], f[3], f[4]
		if otherwise(kind, name, op, key, value) {
			continue
		}
		checked++
		before := map[string]string{}
		if name == "t1" {
			before["retention.ms"] = "1000"
		}
		after := maps.Clone(before)
		if op == "create" {
			for kv := range strings.SplitSeq(key, ";") {
				k, v, _ := strings.Cut(kv, "=")
				after[k] = v
			}
		} else {
			after[key] = value
		}
		if name == "-" {
			name = ""
		}
		got := "OK <nil>"
		if r := s.Validate(kinds[kind], name, before, after); r != nil {
			got = map[int16]string{invalidConfig: "INVALID_CONFIG", invalidRequest: "INVALID_REQUEST"}[r.Code] + " " +
				"" + r.Message
		}
		if w, ok := wordedOtherwise[spec]; ok {
			want = strings.Replace(w, "OK", "OK <nil>", 1)
		}
		if got != want {
			t.Errorf("%s\n  want %s\n  got  %s", spec, want, got)
		}
	}
	if checked < 70 {
		t.Errorf("only %d cases were checked", checked)
	}
}

func TestValidateJudgesChangesOnly(t *testing.T) {
	s, _, err := Embedded(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]string{"key.of.a.newer.release": "x"}
	after := map[string]string{"key.of.a.newer.release": "x", "retention.ms": "5"}
	if r := s.Validate(ResourceTopic, "t", before, after); r != nil {
		t.Error(r)
	}
}

func TestTopicConfigPrecedence(t *testing.T) {
	s, _, err := Embedded(t.TempDir(), []string{
		"log.retention.hours=2", "log.roll.hours=3",
		"log.retention.bytes=9",
		"compression.type= lz4 ", "log.cleanup.policy=compact,delete",
	})
	if err != nil {
		t.Fatal(err)
	}
	dyn := Dynamic{
		Default: map[string]string{
			"log.retention.minutes": "1", "message.max.bytes": "5",
			"min.insync.replicas": "2",
		},
		Broker: map[string]string{"message.max.bytes": "6", "log.segment.bytes": "not a number"},
	}
	c, err := s.Topic(map[string]string{"segment.ms": "77", "min.cleanable.dirty.ratio": "0.25"}, dyn)
	if err != nil {
		t.Fatal(err)
	}
	if c.RetentionMs != 2*3600*1000 || c.SegmentMs != 77 || c.RetentionBytes != 9 ||
		c.CompressionType != "lz4" ||
		!c.CleanupCompact || !c.CleanupDelete || c.MaxMessageBytes != 6 || c.MinInsyncReplicas != 2 ||
		c.SegmentBytes != 1<<30 || c.MinCleanableDirtyRatio != 0.25 {
		t.Errorf("%+v", c)
	}
	if c, err = s.Topic(map[string]string{"segment.ms": "x", "what": "y"}, Dynamic{}); err == nil ||
		c.SegmentMs != 3*3600*1000 {
		t.Error(c.SegmentMs, err)
	}
}

func TestNegativeRetentionIsForEver(t *testing.T) {
	s, _, err := Embedded(t.TempDir(), []string{"log.retention.hours=-5"})
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := s.Topic(nil, Dynamic{}); c.RetentionMs != -1 {
		t.Error(c.RetentionMs)
	}
}

func TestListDefault(t *testing.T) {
	s, _, err := Embedded(t.TempDir(), []string{"log.cleanup.policy=compact"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r          Resource
		name, want string
		ok         bool
	}{
		{ResourceTopic, "cleanup.policy", "compact", true},
		{ResourceTopic, "retention.ms", "", false},
		{ResourceBroker, "log.cleanup.policy", "compact", true},
		{ResourceBroker, "nope", "", false},
		{ResourceBroker, "listener.name.x.ssl.cipher.suites", "", true},
		{ResourceGroup, "nope", "", false},
		{ResourceClientMetrics, "metrics", "", true},
		{ResourceBrokerLogger, "root", "", false},
		{ResourceTopic, "leader.replication.throttled.replicas", "", true},
	} {
		if v, ok := s.ListDefault(c.r, c.name, Dynamic{}); v != c.want || ok != c.ok {
			t.Errorf("%+v: %q %v", c, v, ok)
		}
	}
	dyn := Dynamic{Default: map[string]string{"log.cleanup.policy": "delete"}}
	if v, _ := s.ListDefault(ResourceTopic, "cleanup.policy", dyn); v != "delete" {
		t.Error(v)
	}
}
