package ensemble

import (
	"encoding/json"
	"strconv"
	"strings"
)

// object is JSON with its fields in order, printed as Apache's commands print it.
type object []field

type field struct {
	name  string
	value any
}

func (o *object) put(name string, value any) { *o = append(*o, field{name, value}) }

// set replaces a field that is there already, at its place.
func (o *object) set(name string, value any) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	o.put(name, value)
}

func (o *object) has(name string) bool {
	for i := range *o {
		if (*o)[i].name == name {
			return true
		}
	}
	return false
}

// appendJSON prints a value: a field on each line, two more spaces for each object, lists on one line.
func appendJSON(b []byte, v any, depth int) []byte {
	switch v := v.(type) {
	case object:
		if len(v) == 0 {
			return append(b, "{ }"...)
		}
		b = append(b, '{')
		for i, f := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '\n')
			b = append(b, strings.Repeat("  ", depth+1)...)
			b = append(appendText(b, f.name), " : "...)
			b = appendJSON(b, f.value, depth+1)
		}
		b = append(b, '\n')
		return append(append(b, strings.Repeat("  ", depth)...), '}')
	case []any:
		if len(v) == 0 {
			return append(b, "[ ]"...)
		}
		b = append(b, "[ "...)
		for i, e := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendJSON(b, e, depth)
		}
		return append(b, " ]"...)
	case nil:
		return append(b, "null"...)
	case string:
		return appendText(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case uint64:
		return strconv.AppendUint(b, v, 10)
	case float64:
		return append(b, decimal(v)...)
	default:
		panic("ensemble: a command answers with a type that has no form in JSON")
	}
}

func appendText(b []byte, s string) []byte {
	var w strings.Builder
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be
	return append(b, strings.TrimSuffix(w.String(), "\n")...)
}
