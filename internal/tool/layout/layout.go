// Package layout decodes records of Apache Kafka's internal topics and of its metadata log into JSON, as
// Apache's
// tools print them: by a table of layouts (layouts.txt), not by a Go type each. A dump shows every field of
// every
// version, in the order and the spelling of the schema, which is what such a table is; it also shows what the
// server's own decoders make of the same bytes from a second side.
//
// The table is parsed when it is first used: it costs nothing where nothing is dumped.
package layout

import (
	_ "embed" // for the table
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed layouts.txt
var text string

// kind is the type of a field's value, or of an array's elements.
type kind uint8

const (
	kindBool kind = iota
	kindInt8
	kindInt16
	kindUint16
	kindInt32
	kindInt64
	kindFloat64
	kindString
	kindBytes
	kindUUID
	kindStruct
	kindMaybeStruct // a byte in front says whether there is one
)

// Layout is the fields of a record type, or of a structure in it.
type Layout struct {
	Low, High int16 // versions
	flexible  int16 // from this version on: compact lengths and tags; -1 never
	fields    []field
}

type field struct {
	name     string
	kind     kind
	array    bool
	from, to int16
	tag      int // -1: none
	omitted  string
	inner    *Layout
}

var table = sync.OnceValue(func() map[string]*Layout {
	all, err := parse(text)
	if err != nil {
		panic("layout: " + err.Error())
	}
	return all
})

// Find returns the layout of a record type by its schema's name; nil when there is none.
func Find(name string) *Layout { return table()[name] }

// Names returns the names of all record types.
func Names() []string {
	var names []string
	for name := range table() {
		names = append(names, name)
	}
	return names
}

// parse reads the table: a line "Name low-high [flexible N+]" for each record type, then its fields, one a
// line, each level of structure one column further in.
func parse(text string) (map[string]*Layout, error) {
	all := make(map[string]*Layout)
	var open []*Layout // by level
	for n, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		words := strings.Fields(line)
		level := len(line) - len(strings.TrimLeft(line, " "))
		if len(words) < 2 || level > len(open) {
			return nil, fmt.Errorf("line %d: %q", n+1, line)
		}
		if level == 0 {
			l, err := parseType(words)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n+1, err)
			}
			all[words[0]] = l
			open = []*Layout{l}
			continue
		}
		open = open[:level]
		f, err := parseField(words, open[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if f.kind == kindStruct || f.kind == kindMaybeStruct {
			f.inner = &Layout{Low: open[0].Low, High: open[0].High, flexible: open[0].flexible}
			open = append(open, f.inner)
		}
		open[level-1].fields = append(open[level-1].fields, f)
	}
	return all, nil
}

func parseType(words []string) (*Layout, error) {
	l := &Layout{flexible: -1}
	low, high, _ := strings.Cut(words[1], "-")
	var err error
	if l.Low, err = version(low); err != nil {
		return nil, err
	}
	if l.High, err = version(high); err != nil {
		return nil, err
	}
	if len(words) == 4 {
		l.flexible, err = version(strings.TrimSuffix(words[3], "+"))
	}
	return l, err
}

func version(s string) (int16, error) {
	n, err := strconv.ParseInt(s, 10, 16)
	return int16(n), err
}

func parseField(words []string, of *Layout) (f field, err error) {
	f = field{name: words[0], from: of.Low, to: of.High, tag: -1}
	name := words[1]
	if rest, ok := strings.CutPrefix(name, "[]"); ok {
		f.array, name = true, rest
	}
	if f.kind, err = parseKind(name); err != nil {
		return f, err
	}
	words = words[2:]
	if len(words) > 0 && words[0] != "tag" {
		from, to, both := strings.Cut(strings.TrimSuffix(words[0], "+"), "-")
		if f.from, err = version(from); err != nil {
			return f, err
		}
		if both {
			f.to, err = version(to)
		}
		words = words[1:]
	}
	if len(words) == 4 && err == nil {
		f.tag, err = strconv.Atoi(words[1])
		f.omitted = words[3]
	}
	return f, err
}

func parseKind(name string) (kind, error) {
	kinds := []string{
		"bool", "int8", "int16", "uint16", "int32", "int64", "float64", "string", "bytes", "uuid",
		"struct", "struct?",
	}
	for i, k := range kinds {
		if k == name {
			return kind(i), nil
		}
	}
	return 0, fmt.Errorf("no type is called %s", name)
}
