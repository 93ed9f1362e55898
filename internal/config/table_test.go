package config

import (
	"sort"
	"strings"
	"testing"
)

func allTables() map[string][]Key {
	m := map[string][]Key{"topic": topicKeys, "group": groupKeys, "client metrics": clientMetricsKeys}
	for _, s := range docSections {
		m[s.title] = *s.table
	}
	return m
}

// TestTable checks what the compiler can't: order, names, defaults within ranges.
func TestTable(t *testing.T) {
	for title, table := range allTables() {
		if !sort.SliceIsSorted(table, func(i, j int) bool { return table[i].Name < table[j].Name }) {
			t.Errorf("%s: not sorted by name", title)
		}
		for i := range table {
			k := &table[i]
			if i > 0 && table[i-1].Name == k.Name {
				t.Errorf("%s: twice", k.Name)
			}
			if k.Doc == "" || !strings.HasSuffix(k.Doc, ".") {
				t.Errorf("%s: the text is no sentence", k.Name)
			}
			if k.Default != Null && k.Default != Required {
				if err := k.check(k.Default); err != nil && !strings.Contains(err.Error(), "must not be empty") {
					t.Errorf("default: %v", err)
				}
				if c := k.canonical(k.Default); c != k.Default {
					t.Errorf("%s: default %s is not canonical: %s", k.Name, k.Default, c)
				}
			}
			for _, s := range k.Synonyms {
				b := plainKey(s.Name)
				if b == nil && s.Name != k.Name {
					t.Errorf("%s: no synonym %s", k.Name, s.Name)
				}
				if b != nil && (b.Status == Acts) != (k.Status == Acts) {
					t.Errorf("%s acts, %s does not, or the other way", k.Name, s.Name)
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, table := range brokerTables {
		for i := range *table {
			if n := (*table)[i].Name; seen[n] {
				t.Errorf("%s is in two tables", n)
			} else {
				seen[n] = true
			}
		}
	}
}

func TestMarkdownIsFresh(t *testing.T) {
	compareFile(t, "../../docs/configuration.md", Markdown())
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"log.retention.hour": "log.retention.hours", "advertised.listener": "advertised.listeners",
		"num.partition": "num.partitions", "message.max.byte": "message.max.bytes", "nothing.like.it.at.all": "",
	} {
		if got := nearest(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestIdle(t *testing.T) {
	for _, c := range []struct {
		r    Resource
		name string
		want bool
	}{
		{ResourceTopic, "retention.ms", false},
		{ResourceTopic, "remote.storage.enable", true},
		{ResourceBroker, "log.retention.ms", false},
		{ResourceBroker, "max.connections", true},
		{ResourceBroker, "num.io.threads", true},
		{ResourceBroker, "foo", false},
		{ResourceTopic, "foo", true},
		{ResourceGroup, "streams.session.timeout.ms", true},
	} {
		if got := Idle(c.r, c.name); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
