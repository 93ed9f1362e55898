package ensemble_test

import (
	"fmt"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/kalda/kalda/internal/format/jute"
)

// What clients did and were told, and what may be told if all operations happened one after another, each between its
// request and its reply.

// kind is what a client does.
type kind uint8

const (
	kindRead   kind = iota // getData of one register
	kindWrite              // setData, any version
	kindCAS                // setData, one version
	kindBoth               // multi: check and set the first register, set the second one to the same
	kindCreate             // a sequential create
	kindList               // getChildren of the sequential nodes' parent
)

// input is a request. The registers of a pair are a and b; sequential nodes have a parent of their own.
type input struct {
	object  string // the pair's or the parent's path: what is checked on its own
	kind    kind
	second  bool // of the pair
	value   string
	version int32 // that CAS and Both want
}

// output is a reply. lost: there was none, since the server died.
type output struct {
	lost    bool
	code    jute.Code
	value   string
	version int32
	n       int // the number in a sequential name; of children
}

// register is one of a pair.
type register struct {
	value   string
	version int32
}

// state of an object: a pair, or a parent.
type state struct {
	of   [2]register
	made int
}

// does gives the state after an operation, and the reply to it.
func (s state) does(in input) (state, output) {
	r := &s.of[0]
	if in.second {
		r = &s.of[1]
	}
	switch in.kind {
	case kindRead:
		return s, output{value: r.value, version: r.version}
	case kindCAS:
		if r.version != in.version {
			return s, output{code: jute.BadVersion}
		}
		fallthrough
	case kindWrite:
		r.value, r.version = in.value, r.version+1
		return s, output{version: r.version}
	case kindBoth:
		if s.of[0].version != in.version {
			return s, output{code: jute.BadVersion}
		}
		for i := range s.of {
			s.of[i].value, s.of[i].version = in.value, s.of[i].version+1
		}
		return s, output{version: s.of[1].version}
	case kindCreate:
		s.made++
		return s, output{n: s.made - 1}
	}
	return s, output{n: s.made}
}

// zooKeeper is one server's promise: every operation at one moment, in the order of all.
func zooKeeper() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) (out [][]porcupine.Operation) {
			at := map[string]int{}
			for _, o := range history {
				object := o.Input.(input).object
				i, there := at[object]
				if !there {
					i = len(out)
					at[object] = i
					out = append(out, nil)
				}
				out[i] = append(out[i], o)
			}
			return out
		},
		Init: func() []any { return []any{state{}} },
		Step: func(from, in, out any) []any {
			s, told := from.(state), out.(output)
			after, want := s.does(in.(input))
			switch {
			case told.lost && after == s:
				return []any{s}
			case told.lost: // it happened or it didn't
				return []any{s, after}
			case told == want:
				return []any{after}
			}
			return nil
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
	}
	return m.ToModel()
}

// TestLinear_FindsViolations: the checker is no yes-man.
func TestLinear_FindsViolations(t *testing.T) {
	op := func(from, to int64, in input, out output) porcupine.Operation {
		return porcupine.Operation{Input: in, Output: out, Call: from, Return: to}
	}
	write := func(from, to int64, value string, lost bool) porcupine.Operation {
		return op(from, to, input{kind: kindWrite, value: value}, output{lost: lost, version: 1 - int32(map[bool]int{true: 1}[lost])})
	}
	read := func(from, to int64, value string, version int32) porcupine.Operation {
		return op(from, to, input{}, output{value: value, version: version})
	}
	both := input{kind: kindBoth, value: "m"}
	for name, c := range map[string]struct {
		history []porcupine.Operation
		want    bool
	}{
		"read what was written":         {[]porcupine.Operation{write(1, 2, "x", false), read(3, 4, "x", 1)}, true},
		"read behind a write":           {[]porcupine.Operation{write(1, 2, "x", false), read(3, 4, "", 0)}, false},
		"read beside a write":           {[]porcupine.Operation{write(1, 4, "x", false), read(2, 3, "", 0)}, true},
		"new, then old":                 {[]porcupine.Operation{write(1, 8, "x", false), read(2, 3, "x", 1), read(4, 5, "", 0)}, false},
		"a lost write that happened":    {[]porcupine.Operation{write(1, 2, "x", true), read(3, 4, "x", 1)}, true},
		"a lost write that didn't":      {[]porcupine.Operation{write(1, 2, "x", true), read(3, 4, "", 0)}, true},
		"a lost write, later after all": {[]porcupine.Operation{write(1, 2, "x", true), read(3, 4, "", 0), read(5, 6, "x", 1)}, false},
		"half of a multi": {[]porcupine.Operation{
			op(1, 2, both, output{version: 1}), op(3, 4, input{second: true}, output{}),
		}, false},
		"a number twice": {[]porcupine.Operation{
			op(1, 2, input{kind: kindCreate}, output{}), op(1, 2, input{kind: kindCreate}, output{}),
		}, false},
		"a number left out": {[]porcupine.Operation{op(1, 2, input{kind: kindCreate}, output{n: 1})}, false},
		"a child missing": {[]porcupine.Operation{
			op(1, 2, input{kind: kindCreate}, output{}), op(3, 4, input{kind: kindList}, output{n: 0}),
		}, false},
	} {
		if got := porcupine.CheckOperations(zooKeeper(), c.history); got != c.want {
			t.Errorf("%s: linearizable %v", name, got)
		}
	}
}
