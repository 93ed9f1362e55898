package tidy

import (
	"go/ast"
	"go/token"
	"strings"
)

// clocks are what package time has beside types.
var clocks = map[string]bool{
	"Now": true, "Sleep": true, "After": true, "AfterFunc": true, "Tick": true, "NewTimer": true, "NewTicker": true,
	"Since": true, "Until": true,
}

// seeded are the functions of math/rand/v2 that use no global state.
var seeded = map[string]bool{
	"New": true, "NewPCG": true, "NewChaCha8": true, "NewZipf": true,
	"Rand": true, "PCG": true, "ChaCha8": true, "Source": true, "Zipf": true,
}

// checkCores: an input in, effects out. Nothing in ring 2 has a second thread, waits, reads a clock or rolls a die of its
// own. Ring 1 has no clock and no thread either.
func checkCores(r *repo) (out []complaint) {
	for _, s := range r.production() {
		core, format := within(s.dir(), "internal/core"), within(s.dir(), "internal/format")
		if !core && !format {
			continue
		}
		names := importNames(s.ast)
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if why := impure(n, names); why != "" {
				out = append(out, r.at(s, n, "%s", why))
			}
			return true
		})
	}
	return out
}

func impure(n ast.Node, names map[string]string) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a goroutine in a pure ring: the driver in server owns those"
	case *ast.SelectStmt:
		return "a select in a pure ring: inputs come in through Step"
	case *ast.ChanType:
		return "a channel in a pure ring: effects are values"
	case *ast.SendStmt:
		return "a send in a pure ring: effects are values"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "a receive in a pure ring: inputs come in through Step"
		}
	case *ast.SelectorExpr:
		return impureCall(n, names)
	}
	return ""
}

func impureCall(n *ast.SelectorExpr, names map[string]string) string {
	x, ok := n.X.(*ast.Ident)
	if !ok {
		return ""
	}
	switch names[x.Name] {
	case "time":
		if clocks[n.Sel.Name] {
			return "time." + n.Sel.Name + " in a pure ring: take now as an argument, give the deadline back"
		}
	case "math/rand", "math/rand/v2":
		if !seeded[n.Sel.Name] {
			return "rand." + n.Sel.Name + " in a pure ring: use a seeded *rand.Rand that was handed in"
		}
	}
	return ""
}

// importNames is the local name of each import, by the last element (v2 apart) where none is given.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		p := strings.Trim(spec.Path.Value, `"`)
		switch {
		case spec.Name != nil:
			names[spec.Name.Name] = p
		default:
			base := strings.TrimSuffix(p, "/v2")
			names[base[strings.LastIndex(base, "/")+1:]] = p
		}
	}
	return names
}

// checkStart: the node starts in milliseconds, and so does each tool, so nothing runs before main.
func checkStart(r *repo) (out []complaint) {
	for _, s := range r.production() {
		names := importNames(s.ast)
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					out = append(out, r.at(s, d, "init runs at every start: call it from where it is needed"))
				}
			case *ast.GenDecl:
				if d.Tok == token.VAR && compiles(d, names) {
					out = append(out, r.at(s, d, "a regular expression compiled at every start: use sync.OnceValue, or none"))
				}
			}
		}
	}
	return out
}

func compiles(d *ast.GenDecl, names map[string]string) (found bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if sel, ok := n.(*ast.SelectorExpr); ok {
			x, ok := sel.X.(*ast.Ident)
			found = found || ok && names[x.Name] == "regexp" && strings.HasPrefix(sel.Sel.Name, "MustCompile")
		}
		return true
	})
	return found
}
