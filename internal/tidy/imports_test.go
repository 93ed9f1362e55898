package tidy

import (
	"path"
	"strconv"
	"strings"
)

// layer is one row of DESIGN's import table. The longest matching prefix of a package's path is its row.
type layer struct {
	dir   string   // package path below the module; covers what is below it
	ours  []string // which of ours it may import, by prefix; "*" for all
	std   []string // which of the standard library; nil for all
	noStd []string // what it may not, when std is nil
	libs  []string // which libraries, by prefix; "*" for all
}

// pureStd is the standard library without a way out of the process, a clock, or a second goroutine. "time" is there for
// its types: checkCores refuses its clocks.
var pureStd = []string{
	"bytes", "cmp", "container", "crypto/md5", "crypto/sha256", "crypto/sha512", "crypto/hmac", "encoding", "errors", "fmt",
	"hash", "iter", "maps", "math", "regexp", "slices", "sort", "strconv", "strings", "time", "unicode", "unique",
}

const (
	kmsg  = "github.com/twmb/franz-go/pkg/kmsg"
	kbin  = "github.com/twmb/franz-go/pkg/kbin"
	btree = "github.com/tidwall/btree"
)

var table = []layer{
	// ring 1
	{
		dir: "internal/format", noStd: []string{"os", "net", "log", "context"},
		libs: []string{"github.com/klauspost/compress", "github.com/pierrec/lz4/v4"},
	},
	{
		dir: "internal/format/record", noStd: []string{"os", "net", "log", "context"}, libs: []string{kmsg, kbin},
		ours: []string{"internal/format/batch"}, // control records have a batch's framing
	},
	{
		dir: "internal/format/otlp", noStd: []string{"os", "net", "log", "context"},
		libs: []string{"google.golang.org/protobuf/encoding/protowire"},
	},
	// ring 2
	{dir: "internal/core", ours: []string{"internal/format"}, std: pureStd, libs: []string{btree}},
	{dir: "internal/core/group", ours: []string{"internal/format", "internal/core/meta"}, std: pureStd, libs: []string{btree}},
	{dir: "internal/core/txn", ours: []string{"internal/format", "internal/core/meta"}, std: pureStd, libs: []string{btree}},
	{dir: "internal/core/replica", ours: []string{"internal/format", "internal/core/meta"}, std: pureStd, libs: []string{btree}},
	// ring 3
	{
		dir: "internal/disk", ours: []string{"internal/format", "internal/disk"}, noStd: []string{"net"},
		libs: []string{"golang.org/x/sys"},
	},
	{
		dir: "internal/wire", ours: []string{"internal/format", "internal/obs"},
		libs: []string{kmsg, kbin, "golang.org/x/sys"},
	},
	// ring 4: a sibling only where it says so; node composes them all
	{dir: "internal/server", ours: rings123("internal/server/quorum"), libs: []string{"*"}},
	{dir: "internal/server/node", ours: []string{"*"}, libs: []string{"*"}},
	{dir: "internal/doctor", ours: []string{"internal/config", "internal/disk"}, libs: []string{"github.com/twmb/franz-go"}},
	{dir: "internal/config", ours: []string{"internal/format"}, libs: []string{}},
	{dir: "internal/obs", ours: []string{}, libs: []string{"github.com/prometheus"}},
	{dir: "internal/console", ours: []string{"internal/obs", "internal/config"}, libs: []string{"*"}},
	{dir: "internal/tool", ours: []string{"*"}, libs: []string{"*"}},
	{dir: "internal/sim", ours: []string{"*"}, noStd: []string{"net"}, libs: []string{"*"}},
	{dir: "internal/tidy", ours: []string{}, libs: []string{}},
	{dir: "internal/deps", libs: []string{"*"}},
	{dir: "examples", ours: []string{}, libs: []string{"github.com/go-zookeeper/zk"}},
	{dir: "test/faults", ours: []string{"internal/format"}, libs: []string{"github.com/twmb/franz-go"}},
	{dir: "cmd", ours: []string{"internal/tool", "internal/server/node", "internal/server/ensemble", "internal/config", "internal/obs"}, libs: []string{}},
}

func rings123(more ...string) []string {
	return append([]string{
		"internal/format", "internal/core", "internal/disk", "internal/wire", "internal/config", "internal/obs",
		"internal/console",
	}, more...)
}

// never are edges that no row may allow.
func never(to string) string {
	switch {
	case within(to, "cmd"):
		return "main is imported by nobody"
	case within(to, "internal/sim"):
		return "the simulator is imported by nobody"
	case within(to, "internal/tidy"):
		return "tidy is imported by nobody"
	}
	return ""
}

func within(pkg, dir string) bool {
	return dir == "*" || pkg == dir || strings.HasPrefix(pkg, dir+"/")
}

func anyWithin(pkg string, dirs []string) bool {
	for _, d := range dirs {
		if within(pkg, d) {
			return true
		}
	}
	return false
}

func rowOf(pkg string) *layer {
	var best *layer
	for i := range table {
		if within(pkg, table[i].dir) && (best == nil || len(table[i].dir) > len(best.dir)) {
			best = &table[i]
		}
	}
	return best
}

func checkImports(r *repo) (out []complaint) {
	for _, s := range r.production() {
		row := rowOf(s.dir())
		if row == nil {
			out = append(out, complaint{s.path, 0, "this package has no row in tidy's import table: give it one"})
			continue
		}
		for _, spec := range s.ast.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			if why := row.refuses(s.dir(), to); why != "" {
				out = append(out, r.at(s, spec, "must not import %s: %s", to, why))
			}
		}
	}
	return out
}

// refuses says why the row's package may not import to, or nothing.
func (l *layer) refuses(from, to string) string {
	if ours, ok := strings.CutPrefix(to, module+"/"); ok {
		if why := never(ours); why != "" {
			return why
		}
		if ours == from || within(ours, from) || anyWithin(ours, l.ours) {
			return ""
		}
		return "the import table (DESIGN 2) allows " + l.dir + " only " + strings.Join(l.ours, ", ")
	}
	if isStd(to) {
		if anyWithin(to, l.noStd) || l.std != nil && !anyWithin(to, l.std) {
			return l.dir + " may not use that part of the standard library"
		}
		return ""
	}
	if !anyWithin(to, l.libs) {
		return l.dir + " may not use that library"
	}
	return ""
}

// isStd: the first element of a module's path has a dot.
func isStd(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".") && path.Clean(pkg) == pkg
}
