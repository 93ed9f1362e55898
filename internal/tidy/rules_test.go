package tidy

import (
	"strings"
	"testing"
)

// made is a repository of a few lines.
func made(t *testing.T, files map[string]string) *repo {
	t.Helper()
	r := newRepo()
	for name, text := range files {
		if err := r.add(name, text); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// TestRules_CatchWhatTheyAreFor breaks each rule once: a rule that can't fail guards nothing.
func TestRules_CatchWhatTheyAreFor(t *testing.T) {
	ours := func(p string) string { return "package x\nimport _ \"" + module + "/" + p + "\"\n" }
	for _, c := range []struct {
		name  string
		check func(*repo) []complaint
		file  string
		text  string
		want  string
	}{
		{"core imports disk", checkImports, "internal/core/meta/a.go", ours("internal/disk/vfs"), "allows internal/core"},
		{"core imports a core", checkImports, "internal/core/kraft/a.go", ours("internal/core/meta"), "allows internal/core"},
		{"core uses sync", checkImports, "internal/core/meta/a.go", "package x\nimport \"sync\"\n", "standard library"},
		{"core uses kmsg", checkImports, "internal/core/meta/a.go", "package x\nimport \"" + kmsg + "\"\n", "that library"},
		{"format uses os", checkImports, "internal/format/batch/a.go", "package x\nimport \"os/exec\"\n", "standard library"},
		{"disk imports wire", checkImports, "internal/disk/vfs/a.go", ours("internal/wire"), "allows internal/disk"},
		{"wire imports server", checkImports, "internal/wire/a.go", ours("internal/server/broker"), "allows internal/wire"},
		{"server imports a sibling", checkImports, "internal/server/broker/a.go", ours("internal/server/node"), "allows"},
		{"tool imports sim", checkImports, "internal/tool/a.go", ours("internal/sim"), "imported by nobody"},
		{"unknown package", checkImports, "internal/util/a.go", "package util\n", "no row"},
		{"goroutine", checkCores, "internal/core/a/a.go", "package a\nfunc f() { go f() }\n", "a goroutine"},
		{"channel", checkCores, "internal/core/a/a.go", "package a\nvar c chan int\n", "a channel"},
		{"clock", checkCores, "internal/core/a/a.go", "package a\nimport \"time\"\nvar t = time.Now\n", "time.Now"},
		{"chance", checkCores, "internal/core/a/a.go", "package a\nimport \"math/rand/v2\"\nvar t = rand.IntN(3)\n", "rand.IntN"},
		{"init", checkStart, "internal/tool/a.go", "package a\nfunc init() {}\n", "init runs"},
		{"regexp", checkStart, "internal/tool/a.go", "package a\nimport \"regexp\"\nvar r = regexp.MustCompile(`a`)\n", "compiled"},
		{"no package comment", checkPackageComments, "internal/wire/a.go", "package wire\n", "no package comment"},
		{"two titles", checkTitles, "README.md", "# a\n\n# b\n", "2 titles"},
		{"dead link", checkLinks, "docs/a.md", "# a\n[b](b.md)\n", "no such file"},
		{"dead anchor", checkLinks, "docs/a.md", "# a\n[b](#c)\n", "no such heading"},
		{"reminder", checkReminders, "internal/wire/a.go", "package wire // TO" + "DO later\n", "a reminder"},
		{"decision not listed", checkDecisions, "docs/adr/0001-a.md", "# a\n", "does not list"},
		{"api not listed", checkAPIs, "internal/server/broker/api_00_produce.go", "package broker\n", "no row for key 0"},
		{"misnamed api", checkAPIs, "internal/server/broker/api_produce.go", "package broker\n", "api_KEY_name"},
		{"unused testdata", checkTestdata, "internal/wire/testdata/a.bin", "", "no test"},
		{"corpus without target", checkTestdata, "internal/wire/testdata/fuzz/FuzzA/1", "", "that is gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{c.file: c.text, "docs/adr/README.md": "# decisions\n"}
			got := c.check(made(t, files))
			if len(got) != 1 || !strings.Contains(got[0].String(), c.want) {
				t.Errorf("got %v, want one with %q", got, c.want)
			}
		})
	}
}

func TestRules_LetGoodThingsBe(t *testing.T) {
	r := made(t, map[string]string{
		"docs/adr/README.md":                         "# decisions\n- [one](0001-one.md)\n",
		"docs/adr/0001-one.md":                       "# 1. One\n",
		"docs/compat.md":                             "# Compatibility\n\n## What & why\n\n| key |\n|---|\n| 0 | Produce |\n",
		"README.md":                                  "# k\n[x](docs/compat.md#what--why) [y](docs) [z](https://example.org/z)\n```\n# no title\n[q](q.md)\n```\n",
		"internal/core/meta/meta.go":                 "// Package meta is.\npackage meta\nimport \"time\"\nfunc f(now time.Time) time.Time { return now } // TODO(#4): more\n",
		"internal/core/group/group.go":               "// Package group is.\npackage group\nimport _ \"" + module + "/internal/core/meta\"\n",
		"internal/server/broker/api_00_produce.go":   "// Package broker is.\npackage broker\n",
		"internal/wire/wire.go":                      "// Package wire is.\npackage wire\n",
		"internal/wire/wire_test.go":                 "package wire\nfunc FuzzFrame() { read(\"testdata/golden/x.bin\") }\n",
		"internal/wire/testdata/golden/x.bin":        "\x00",
		"internal/wire/testdata/fuzz/FuzzFrame/0001": "go test fuzz v1\n",
	})
	for _, rule := range rules {
		for _, c := range rule.check(r) {
			t.Errorf("%s: %v", rule.name, c)
		}
	}
}

func TestRatchet_OnlyTurnsOneWay(t *testing.T) {
	now := []excess{{"func a.go F", 90, 1}, {"func a.go G", 80, 2}, {"func a.go H", 75, 3}}
	allowed := map[string]int{"func a.go G": 85, "func a.go H": 72, "func a.go gone": 99}
	complaints, shrunk := ratchet(now, allowed)
	want := []string{
		"func a.go F: 90 is over budget (at line 1): split it",
		"func a.go G: shrank from 85 to 80: run with -update",
		"func a.go H: grew from 72 to 75 (at line 3)",
		"func a.go gone: within budget now: run with -update",
	}
	if strings.Join(complaints, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(complaints, "\n"))
	}
	if len(shrunk) != 2 || shrunk["func a.go G"] != 80 || shrunk["func a.go H"] != 72 {
		t.Errorf("shrunk: %v", shrunk)
	}
}

func TestMeasure_CountsCodeLinesOnly(t *testing.T) {
	body := strings.Repeat("\tf()\n\t// why\n\n", maxFunction)
	r := made(t, map[string]string{
		"internal/wire/a.go": "package wire\nfunc f() {\n" + body + "}\n",
		"internal/wire/b.go": "package wire\nfunc (g *G[T]) f(a, b, c, d, e, f int) {\n" + body + "\tf()\n}\n",
	})
	var keys []string
	for _, e := range measure(r) {
		keys = append(keys, e.key)
	}
	if got := strings.Join(keys, "; "); got != "func internal/wire/b.go G.f; params internal/wire/b.go G.f" {
		t.Errorf("got %s", got)
	}
}
