package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
)

var decisionName = regexp.MustCompile(`^docs/adr/(\d{4})-[a-z0-9-]+\.md$`)

// checkDecisions: docs/adr/README.md lists every decision, and their numbers have no gap and no double.
func checkDecisions(r *repo) (out []complaint) {
	const index = "docs/adr/README.md"
	list := r.index[index]
	if list == nil {
		return []complaint{{index, 0, "missing: it lists the decisions"}}
	}
	seen := map[int]string{}
	for _, s := range r.files {
		if s.dir() != "docs/adr" || s.path == index {
			continue
		}
		m := decisionName.FindStringSubmatch(s.path)
		if m == nil {
			out = append(out, complaint{s.path, 0, "a decision is named NNNN-title.md"})
			continue
		}
		n, _ := strconv.Atoi(m[1])
		if seen[n] != "" {
			out = append(out, complaint{s.path, 0, "has the number of " + seen[n]})
		}
		seen[n] = s.path
		if !strings.Contains(list.text, "]("+path.Base(s.path)+")") {
			out = append(out, complaint{index, 0, "does not list " + path.Base(s.path)})
		}
	}
	for n := 1; n <= len(seen); n++ {
		if seen[n] == "" {
			out = append(out, complaint{index, 0, fmt.Sprintf("decision %04d is missing", n)})
		}
	}
	return out
}

var apiName = regexp.MustCompile(`^internal/server/broker/api_(\d+)_[a-z0-9_]+\.go$`)

// checkAPIs: one file per API key, and docs/compat.md has a row for each, by its key.
func checkAPIs(r *repo) (out []complaint) {
	const page = "docs/compat.md"
	text := ""
	if s := r.index[page]; s != nil {
		text = s.text
	}
	for _, s := range r.production() {
		if !strings.HasPrefix(path.Base(s.path), "api_") {
			continue
		}
		m := apiName.FindStringSubmatch(s.path)
		if m == nil {
			out = append(out, complaint{s.path, 0, "an API's file is internal/server/broker/api_KEY_name.go"})
			continue
		}
		key, _ := strconv.Atoi(m[1])
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^\| %d \|`, key)).MatchString(text) {
			out = append(out, complaint{page, 0, fmt.Sprintf("has no row for key %d (%s)", key, s.path)})
		}
	}
	return out
}

// checkTestdata: a file that no test names, by itself or by its folder, is left over. A corpus of found inputs belongs to a
// fuzz target that exists.
func checkTestdata(r *repo) (out []complaint) {
	names, fuzz := map[string]string{}, map[string]bool{}
	for _, s := range r.goFiles() {
		if !s.isTest() {
			continue
		}
		names[s.dir()] += literals(s.ast)
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Fuzz") {
				fuzz[s.dir()+" "+f.Name.Name] = true
			}
		}
	}
	for _, s := range r.files {
		dir, rest, ok := strings.Cut(s.path, "/testdata/")
		if !ok || path.Base(rest) == "README.md" { // where the others come from
			continue
		}
		if target, ok := strings.CutPrefix(rest, "fuzz/"); ok {
			target, _, _ = strings.Cut(target, "/")
			if !fuzz[dir+" "+target] {
				out = append(out, complaint{s.path, 0, "an input of a fuzz target that is gone"})
			}
			continue
		}
		if !named(names[dir], rest) {
			out = append(out, complaint{s.path, 0, "no test of its package names it, nor its folder"})
		}
	}
	return out
}

// literals are a file's strings, one a line.
func literals(f *ast.File) string {
	var b strings.Builder
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				b.WriteString(s + "\n")
			}
		}
		return true
	})
	return b.String()
}

// named: the file, its name without what follows a dot, one of its folders, or testdata as a whole.
func named(strs, file string) bool {
	stem, _, _ := strings.Cut(path.Base(file), ".")
	candidates := []string{path.Base(file), stem}
	for d := path.Dir(file); d != "."; d = path.Dir(d) {
		candidates = append(candidates, path.Base(d))
	}
	for line := range strings.Lines(strs) {
		line = strings.TrimSpace(line)
		if line == "testdata" || strings.HasPrefix(line, "testdata/*") || strings.HasSuffix(line, "/testdata") {
			return true
		}
		for _, c := range candidates {
			if strings.Contains(line, c) {
				return true
			}
		}
	}
	return false
}
