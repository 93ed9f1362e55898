package node

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/wire"
)

var updatePage = flag.Bool("update-compat-page", false, "rewrite docs/compat.md")

// served is the versions of APIs by key, and their names.
type served map[int16]kmsg.ApiVersionsResponseApiKey

// TestCompatPage_SaysWhatIsServed compares docs/compat.md with what the listeners' tables hold.
func TestCompatPage_SaysWhatIsServed(t *testing.T) {
	n, _ := started(t, embedded(t, t.TempDir()))
	defer stop(t, n)
	page := filepath.Join("..", "..", "..", "docs", "compat.md")
	var b strings.Builder
	b.WriteString(compatHead)
	compatTable(&b, "Clients' and brokers' listeners", apache(t, "apis_broker.txt"), rows(n.broker.Table()))
	compatTable(&b, "Controllers' listeners", apache(t, "apis_controller.txt"),
		rows(controllerTable(n.quorum, n.ctl, func(*wire.Request) {}, func(*wire.Request) {})))
	if *updatePage {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != b.String() {
		t.Error("docs/compat.md is not what the tables say: go test ./internal/server/node -run CompatPage -update-compat-page")
	}
}

const compatHead = `# Compatibility

Made by a test from the tables that the listeners serve from; the middle columns are what Apache Kafka 4.4.0 itself
tells in ApiVersions. A version is served only when it does all that it promises. Clients that pass, and how that is
tested: [operations](operations.md), [test/compat](../test/compat/README.md).
`

func rows(t *wire.Table) served {
	out := served{}
	for _, r := range t.Rows() {
		out[r.ApiKey] = r
	}
	return out
}

// apache is a listener's table of Apache 4.4.0.
func apache(t *testing.T, name string) served {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := served{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		var r kmsg.ApiVersionsResponseApiKey
		if _, err := fmt.Sscan(s.Text(), &r.ApiKey, &r.MinVersion, &r.MaxVersion); err != nil {
			t.Fatalf("%s: %q: %v", name, s.Text(), err)
		}
		out[r.ApiKey] = r
	}
	return out
}

func compatTable(b *strings.Builder, title string, theirs, ours served) {
	fmt.Fprintf(b, "\n## %s\n\n| key | API | Apache 4.4.0 | Kalda |\n|---|---|---|---|\n", title)
	var keys []int16
	for k := range theirs {
		keys = append(keys, k)
	}
	for k := range ours {
		if _, ok := theirs[k]; !ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	done := 0
	for _, k := range keys {
		if _, ok := ours[k]; ok {
			done++
		}
		fmt.Fprintf(b, "| %d | %s | %s | %s |\n", k, kmsg.NameForKey(k), versionsOf(theirs, k), versionsOf(ours, k))
	}
	fmt.Fprintf(b, "\n%d of %d are served.\n", done, len(keys))
}

func versionsOf(s served, key int16) string {
	r, ok := s[key]
	switch {
	case !ok:
		return "no"
	case r.MinVersion == r.MaxVersion:
		return fmt.Sprint(r.MinVersion)
	}
	return fmt.Sprintf("%d to %d", r.MinVersion, r.MaxVersion)
}
