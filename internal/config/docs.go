package config

import (
	"fmt"
	"strings"
)

// docSections are the parts of docs/configuration.md.
var docSections = [...]struct {
	title, intro string
	table        *[]Key
}{
	{"Node, quorum and registration", "", &kraftKeys},
	{"Listeners, sockets and requests", "Each listener can have its own value of a key of sockets, " +
		"connections, TLS " +
		"or SASL under `listener.name.<name>.`, the name in lower case.", &networkKeys},
	{"Log", "", &logKeys},
	{"Replicas and reading", "", &replicationKeys},
	{"Groups", "", &coordinatorKeys},
	{"Transactions and share state", "", &transactionKeys},
	{"Security", "", &securityKeys},
	{"Authorizer", "", &authorizerKeys},
	{"Metrics and quotas", "", &metricsKeys},
	{"Tiered storage", "", &remoteKeys},
	{"Kalda's own", "Apache Kafka warns that it does not know these and starts all the same.", &kaldaKeys},
	{"Topics", "Set when a topic is created, or with `kafka-configs --entity-type topics`. A topic without a " +
		"value of " +
		"its own takes the broker's, from the first key under *broker key* that is set.", &topicKeys},
	{"Groups' own", "Set with `kafka-configs --entity-type groups`.", &groupKeys},
	{"Client metrics subscriptions", "Set with `kafka-configs --entity-type " +
		"client-metrics`.", &clientMetricsKeys},
}

const docIntro = `# Configuration

<!-- Made from the table in internal/config by "go test ./internal/config -update". Change it there. -->

Kalda reads Apache Kafka's ` + "`server.properties`" + `: all keys of Apache Kafka 4.4 are known, with its
types, defaults and ranges. The column *act* says what a key does in this release:

- **yes**: it acts.
- **later**: it is checked, and has no effect yet. Setting it to anything but its default is warned about,
  once, at the start.
- **none**: there is nothing to tune here; the text says why. The same warning.

*Change* says how a broker key can change while the node runs: **-** not at all, **broker** for one broker,
**cluster** for one or for all (` + "`kafka-configs --entity-type brokers`" + `).

An unknown key is warned about, with the nearest known name. A value that can't be is an error that names
file, line, key, value and reason.
`

// Markdown renders docs/configuration.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(docIntro)
	for _, s := range docSections {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		if s.intro != "" {
			b.WriteString(s.intro + "\n\n")
		}
		last := "change"
		if s.table == &topicKeys || s.table == &groupKeys || s.table == &clientMetricsKeys {
			last = "broker key"
		}
		fmt.Fprintf(&b, "| key | type | default | range | %s | act | what it does "+
			"|\n|---|---|---|---|---|---|---|\n", last)
		for i := range *s.table {
			k := &(*s.table)[i]
			cell := k.changeCell()
			if last == "broker key" {
				cell = k.synonymCell()
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", k.Name, strings.ToLower(typeName(k.Type)),
				k.defaultCell(), k.rangeCell(), cell, k.actCell(), strings.ReplaceAll(k.Doc, "|", `\|`))
		}
	}
	return b.String()
}

func (k *Key) defaultCell() string {
	switch k.Default {
	case Null:
		return "unset"
	case Required:
		return "**required**"
	case "":
		return "empty"
	}
	return "`" + strings.ReplaceAll(k.Default, "|", `\|`) + "`"
}

func (k *Key) rangeCell() string {
	kind, names, some := strings.Cut(k.Valid, ":")
	switch {
	case some:
		return strings.ReplaceAll(names, ",", ", ")
	case kind == "list" || kind == "nonempty" || kind == "":
		return ""
	case kind == "list+":
		return "not empty"
	case kind == "replicas":
		return `\*, or partition:broker, …`
	case kind == "reset":
		return "latest, earliest, by_duration:PnDTnHnMn.nS"
	}
	also, spec, either := strings.Cut(kind, "|")
	if !either {
		also, spec = "", kind
	} else {
		also += " or "
	}
	lo, hi, _ := strings.Cut(spec, "..")
	if hi == "" {
		return also + "≥ " + lo
	}
	return also + lo + " … " + hi
}

func (k *Key) changeCell() string {
	switch k.Mode {
	case PerBroker:
		return "broker"
	case ClusterWide:
		return "cluster"
	case DynamicOnly:
		return "only so"
	}
	return "-"
}

func (k *Key) synonymCell() string {
	names := make([]string, len(k.Synonyms))
	for i, s := range k.Synonyms {
		names[i] = "`" + s.Name + "`"
	}
	return strings.Join(names, ", ")
}

func (k *Key) actCell() string {
	switch k.Status {
	case Later:
		return "later"
	case Nothing:
		return "none"
	}
	return "yes"
}
