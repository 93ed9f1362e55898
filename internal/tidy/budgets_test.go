package tidy

import (
	"fmt"
	"go/ast"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// The budgets of DESIGN 6. Tests are free in functions, lines and parameters, not in files; generated code is free.
const (
	maxFunction = 70  // lines of the body, comments and blank lines counted out
	maxFile     = 800 // lines
	maxLine     = 110 // columns; a tab is one
	maxParams   = 5
)

const budgetsFile = "testdata/budgets.txt"

// excess is one thing over a budget: what, where, and by how much it may be.
type excess struct {
	key  string // kind, file and name, as the ratchet's line begins
	size int
	line int
}

func measure(r *repo) (out []excess) {
	for _, s := range r.goFiles() {
		if s.isGenerated() {
			continue
		}
		if n := strings.Count(s.text, "\n"); n > maxFile {
			out = append(out, excess{"file " + s.path, n, 1})
		}
		if s.isTest() {
			continue
		}
		if n, at := longest(s.text); n > maxLine {
			out = append(out, excess{"line " + s.path, n, at})
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				out = append(out, measureFunc(r, s, f)...)
			}
		}
	}
	return out
}

// longest is the width and number of a file's longest line.
func longest(text string) (width, at int) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if w := utf8.RuneCountInString(strings.TrimRight(line, "\n")); w > width {
			width, at = w, n
		}
	}
	return width, at
}

func measureFunc(r *repo, s *source, f *ast.FuncDecl) (out []excess) {
	name, line := funcName(f), r.fset.Position(f.Pos()).Line
	if f.Body != nil {
		if n := bodyLines(r, s, f); n > maxFunction {
			out = append(out, excess{"func " + s.path + " " + name, n, line})
		}
	}
	if n := f.Type.Params.NumFields(); n > maxParams {
		out = append(out, excess{"params " + s.path + " " + name, n, line})
	}
	return out
}

// bodyLines counts the lines between the braces that hold code.
func bodyLines(r *repo, s *source, f *ast.FuncDecl) int {
	from, to := r.fset.Position(f.Body.Lbrace).Line, r.fset.Position(f.Body.Rbrace).Line
	n := 0
	for i, line := range strings.Split(s.text, "\n") {
		if i < from || i >= to-1 {
			continue
		}
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// ratchet compares what is over now with what was allowed to be.
func ratchet(now []excess, allowed map[string]int) (complaints []string, shrunk map[string]int) {
	shrunk = map[string]int{}
	for _, e := range now {
		limit, ok := allowed[e.key]
		switch {
		case !ok:
			complaints = append(complaints, fmt.Sprintf("%s: %d is over budget (at line %d): split it", e.key, e.size, e.line))
			continue
		case e.size > limit:
			complaints = append(complaints, fmt.Sprintf("%s: grew from %d to %d (at line %d)", e.key, limit, e.size, e.line))
			shrunk[e.key] = limit
			continue
		case e.size < limit:
			complaints = append(complaints, fmt.Sprintf("%s: shrank from %d to %d: run with -update", e.key, limit, e.size))
		}
		shrunk[e.key] = e.size
	}
	for key := range allowed {
		if _, ok := shrunk[key]; !ok {
			complaints = append(complaints, fmt.Sprintf("%s: within budget now: run with -update", key))
		}
	}
	slices.Sort(complaints)
	return complaints, shrunk
}

func testBudgets(t *testing.T, r *repo) {
	allowed := loadBudgets(t)
	complaints, shrunk := ratchet(measure(r), allowed)
	if *update {
		storeBudgets(t, shrunk)
	}
	for _, c := range complaints {
		t.Error(c)
	}
}

func loadBudgets(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile(budgetsFile)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]int{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cut := strings.LastIndex(line, " ")
		n, err := strconv.Atoi(line[cut+1:])
		if err != nil {
			t.Fatalf("%s: %q: %v", budgetsFile, line, err)
		}
		allowed[line[:cut]] = n
	}
	return allowed
}

const budgetsHead = `# What was over its budget when the budgets came, and by how much it still is: KIND FILE [NAME] SIZE.
# This list only shrinks: -update drops and lowers entries, and never adds one.
`

func storeBudgets(t *testing.T, allowed map[string]int) {
	t.Helper()
	var lines []string
	for key, n := range allowed {
		lines = append(lines, fmt.Sprintf("%s %d\n", key, n))
	}
	slices.Sort(lines)
	if err := os.WriteFile(budgetsFile, []byte(budgetsHead+strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}
