package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kalda/kalda"

// source is one file of the repository. Go files are parsed.
type source struct {
	path string // slash-separated, relative to the root
	text string
	ast  *ast.File // nil for anything but Go
}

func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }
func (s *source) dir() string  { return path.Dir(s.path) }

// isGenerated exempts from the budgets what no person writes.
func (s *source) isGenerated() bool { return s.ast != nil && ast.IsGenerated(s.ast) }

// repo is all that the rules look at.
type repo struct {
	fset  *token.FileSet
	files []*source
	index map[string]*source
	dirs  map[string]bool
}

// complaint is one broken rule at one place.
type complaint struct {
	file string
	line int
	text string
}

func (c complaint) String() string {
	if c.line > 0 {
		return fmt.Sprintf("%s:%d: %s", c.file, c.line, c.text)
	}
	return fmt.Sprintf("%s: %s", c.file, c.text)
}

func newRepo() *repo {
	return &repo{fset: token.NewFileSet(), index: map[string]*source{}, dirs: map[string]bool{".": true}}
}

func (r *repo) add(name, text string) error {
	s := &source{path: name, text: text}
	if strings.HasSuffix(name, ".go") {
		f, err := parser.ParseFile(r.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.ast = f
	}
	r.files = append(r.files, s)
	r.index[name] = s
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		r.dirs[d] = true
	}
	return nil
}

// goFiles are the Go files of the main module, tests too.
func (r *repo) goFiles() []*source {
	return slices.DeleteFunc(slices.Clone(r.files), func(s *source) bool {
		return s.ast == nil || !strings.HasPrefix(s.path, "internal/") && !strings.HasPrefix(s.path, "cmd/")
	})
}

// production leaves the tests out.
func (r *repo) production() []*source {
	return slices.DeleteFunc(r.goFiles(), (*source).isTest)
}

func (r *repo) at(s *source, n ast.Node, format string, args ...any) complaint {
	return complaint{file: s.path, line: r.fset.Position(n.Pos()).Line, text: fmt.Sprintf(format, args...)}
}

// madeByTools are folders that hold no work of ours, at the root or anywhere.
var madeByTools = map[string]bool{".git": true, ".cache": true, "node_modules": true, ".venv": true, "__pycache__": true}

var madeAtRoot = map[string]bool{"bin": true, "dist": true, "data": true}

// maxText is where a file stops being text worth reading: captures are data.
const maxText = 1 << 20

func loadRepo(t testing.TB) *repo {
	t.Helper()
	root := moduleRoot(t)
	r := newRepo()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if madeByTools[d.Name()] || madeAtRoot[rel] {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var text []byte
		if info.Size() <= maxText {
			if text, err = os.ReadFile(name); err != nil {
				return err
			}
		}
		return r.add(rel, string(text))
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}
