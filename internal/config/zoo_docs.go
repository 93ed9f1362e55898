package config

import (
	"fmt"
	"strings"
)

// zooSections are the parts of docs/zoo-configuration.md.
var zooSections = [...]struct {
	title string
	table *[]Key
}{
	{"Server", &zooBasicKeys},
	{"Tree and disk", &zooDataKeys},
	{"Clients and requests", &zooClientKeys},
	{"Commands and metrics", &zooAdminKeys},
	{"Ensemble", &zooEnsembleKeys},
	{"Security", &zooSecurityKeys},
	{"TLS", &zooTLSKeys},
}

const zooIntro = `# ZooKeeper configuration

<!-- Made from the table in internal/config by "go test ./internal/config -update". Change it there. -->

Kalda reads Apache ZooKeeper's ` + "`zoo.cfg`" + `: all keys of 3.9 are known, with its types and defaults.
The column *act* says what a key does in this release:

- **yes**: it acts.
- **later**: it is checked, and has no effect yet. Setting it to anything but its default is warned about,
  once, at the start.
- **none**: there is nothing to tune here; the text says why. The same warning.

` + "`-Dzookeeper.<key>=<value>` in `SERVER_JVMFLAGS` or `JVMFLAGS`" + ` sets a key too, where the file
doesn't. A few have no ` + "`zookeeper.`" + ` before them (` + "`-Djute.maxbuffer=…`" + `): these are
taken from the file as well here, though Apache ZooKeeper doesn't. Other flags for Java are left alone.

An unknown key is warned about, with the nearest known name. A value that can't be is an error that names
file, line, key, value and reason; of keys that Apache's servers take for properties it is a warning, and the
default is taken, as they do.

The ensemble's lines are ` + "`server.N`, `group.N` and `weight.N`" + `; ` + "`superUser.N`" + ` and
` + "`authProvider.N`" + ` may be set for any N.
`

// ZooMarkdown renders docs/zoo-configuration.md.
func ZooMarkdown() string {
	var b strings.Builder
	b.WriteString(zooIntro)
	for _, s := range zooSections {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		b.WriteString("| key | type | default | range | act | what it does |\n|---|---|---|---|---|---|\n")
		for i := range *s.table {
			k := &(*s.table)[i]
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", k.Name, strings.ToLower(typeName(k.Type)),
				k.defaultCell(), k.rangeCell(), k.actCell(), strings.ReplaceAll(k.Doc, "|", `\|`))
		}
	}
	return b.String()
}
