package config

import (
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goldenDynamic is what testdata/golden/MANIFEST says was altered.
var goldenDynamic = Dynamic{
	Default: map[string]string{
		"log.retention.ms": "7777", "log.cleaner.threads": "2", "foo.dyn": "x", "message.max.bytes": "3000000",
		"min.insync.replicas": "1",
	},
	Broker: map[string]string{
		"message.max.bytes": "4000000", "leader.replication.throttled.rate": "5",
		"listener.name.plaintext.max.connections":       "778",
		"listener.name.plaintext.ssl.keystore.password": "zzz",
	},
}

func golden(t *testing.T) *Server {
	t.Helper()
	s, _, err := Load("testdata/golden/server.properties", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func dump(list []Entry) string {
	quote := func(s *string) string {
		if s == nil {
			return "null"
		}
		return fmt.Sprintf("%q", *s)
	}
	lines := make([]string, 0, len(list))
	for _, e := range list {
		doc := "doc"
		if e.Key.Doc == "" {
			doc = "nodoc"
		}
		l := fmt.Sprintf("%s=%s source=%d readonly=%v sensitive=%v type=%d %s",
			e.Key.Name, quote(e.Value), e.Source, e.ReadOnly, e.Key.Sensitive(), e.Key.Type, doc)
		for _, o := range e.Synonyms {
			l += fmt.Sprintf(" %d:%s=%s", o.Source, o.Name, quote(o.Value))
		}
		lines = append(lines, l)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n") + "\n"
}

// differs are the lines of which ours are meant to differ from Apache's, by file and key.
var differs = map[string]string{
	"broker_1.txt leader.replication.throttled.rate": "we document it",
	"broker_1.txt log.retention.hours": "Apache shows the default when a finer unit is set at " +
		"run time",
	"broker_1.txt kalda.http.listener":                    "ours",
	"broker_1.txt kalda.log.level":                        "ours",
	"broker_1.txt kalda.memory.limit":                     "ours",
	"broker_1.txt kalda.max.quota.clients":                "ours",
	"broker_1.txt kalda.max.telemetry.clients":            "ours",
	"broker_1.txt kalda.max.telemetry.metrics.per.client": "ours",
	"broker_1.txt kalda.max.producer.ids.per.partition":   "ours",
	"broker_1.txt kalda.request.slow.ms":                  "ours",
}

func TestDescribeAsApache(t *testing.T) {
	s := golden(t)
	t1 := map[string]string{
		"retention.ms": "1000", "cleanup.policy": " compact , delete ", "min.cleanable.dirty.ratio": "0.50",
	}
	for file, list := range map[string][]Entry{
		"topic_t1.txt":       s.DescribeTopic(t1, goldenDynamic),
		"topic_plain.txt":    s.DescribeTopic(nil, goldenDynamic),
		"broker_1.txt":       s.DescribeBroker(goldenDynamic),
		"broker_default.txt": s.DescribeDefaultBroker(goldenDynamic),
		"group.txt":          s.DescribeGroup(nil, goldenDynamic),
		"client_metrics.txt": s.DescribeClientMetrics(nil),
	} {
		t.Run(file, func(t *testing.T) {
			want, err := os.ReadFile("testdata/golden/" + file)
			if err != nil {
				t.Fatal(err)
			}
			drop := func(lines string) []string {
				return slices.DeleteFunc(strings.Split(lines, "\n"), func(l string) bool {
					name, _, _ := strings.Cut(l, "=")
					return differs[file+" "+name] != ""
				})
			}
			// Apache keeps the spaces around a string in a synonym; nobody means them.
			trimmed := strings.ReplaceAll(string(want), `"lz4 "`, `"lz4"`)
			if diff := cmp.Diff(drop(trimmed), drop(dump(list))); diff != "" {
				t.Error("-Apache +ours\n" + diff)
			}
		})
	}
}

func TestNoSecretIsDescribed(t *testing.T) {
	s := golden(t)
	for _, list := range [][]Entry{s.DescribeBroker(goldenDynamic), s.DescribeDefaultBroker(goldenDynamic)} {
		text := dump(list)
		for _, secret := range []string{`"secret"`, `"zzz"`, `"baz"`} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is shown", secret)
			}
		}
	}
}
