package zkcli

import (
	"fmt"
	"slices"
	"strings"
)

// spec is the options of a command: their names, each with one dash whatever its length.
type spec struct {
	flags  []string // without a value
	values []string // with one
	one    []string // of these at most one
	need   string   // one of them is needed; this is what the complaint calls them
}

func (s *spec) has(name string) bool {
	return slices.Contains(s.flags, name) || slices.Contains(s.values, name)
}

func (s *spec) takes(name string) bool { return slices.Contains(s.values, name) }

// parsed is a command's arguments: options anywhere, the others in order.
type parsed struct {
	opts  map[string]string
	args  []string // the command's own name is the first
	multi map[string][]string
}

func (p *parsed) has(name string) bool {
	_, ok := p.opts[name]
	return ok
}

// parseError is a mistake in options; Apache prints it with the name of its exception.
type parseError struct{ class, text string }

func (e *parseError) Error() string { return "org.apache.commons.cli." + e.class + ": " + e.text }

// parse reads options by the rules of the parser that Apache's shell uses: they may stand anywhere, letters
// may be joined, a value may follow at once, after an equals sign or as the next word.
func (s *spec) parse(words []string) (*parsed, error) {
	p := &parsed{opts: map[string]string{}, multi: map[string][]string{}}
	r := reader{spec: s, out: p}
	for i, w := range words {
		var err error
		switch {
		case r.done || i == 0:
			p.args = append(p.args, w)
		case r.open != "" && !s.isOption(w):
			r.give(w)
		case w == "--":
			if err = r.missing(); err == nil {
				r.done = true
			}
		case len(w) < 2 || w[0] != '-':
			p.args = append(p.args, w)
		default:
			err = r.option(w)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.missing(); err != nil {
		return nil, err
	}
	if s.need != "" && r.chosen == "" {
		return nil, &parseError{"MissingOptionException", "Missing required option: " + s.need}
	}
	return p, nil
}

// isOption says whether a word that could be a value is an option instead. Negative numbers are values.
func (s *spec) isOption(w string) bool {
	if len(w) < 2 || w[0] != '-' || strings.Trim(w[1:], "0123456789.") == "" {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
	return w == "--" || s.has(name) || s.has(w[1:2])
}

type reader struct {
	spec   *spec
	out    *parsed
	open   string // the option that waits for its value
	chosen string // of the group
	done   bool   // no more options
}

func (r *reader) missing() error {
	if r.open != "" {
		return &parseError{"MissingArgumentException", "Missing argument for option: " + r.open}
	}
	return nil
}

func (r *reader) give(value string) {
	r.out.opts[r.open] = value
	r.out.multi[r.open] = append(r.out.multi[r.open], value)
	r.open = ""
}

func (r *reader) take(name string) error {
	if err := r.missing(); err != nil {
		return err
	}
	if slices.Contains(r.spec.one, name) {
		if r.chosen != "" && r.chosen != name {
			return &parseError{"AlreadySelectedException", fmt.Sprintf(
				"The option '%s' was specified but an option from this group has already been selected: '%s'",
				name, r.chosen)}
		}
		r.chosen = name
	}
	if r.spec.takes(name) {
		r.open = name
	} else {
		r.out.opts[name] = ""
	}
	return nil
}

// option reads a word that begins with a dash.
func (r *reader) option(w string) error {
	unknown := &parseError{"UnrecognizedOptionException", "Unrecognized option: " + w}
	if strings.HasPrefix(w, "--") {
		return unknown
	}
	if r.spec.has(w[1:]) {
		return r.take(w[1:])
	}
	if name, value, ok := strings.Cut(w[1:], "="); ok && r.spec.takes(name) {
		if err := r.take(name); err != nil {
			return err
		}
		r.give(value)
		return nil
	}
	for i := 1; i < len(w); i++ {
		name := w[i : i+1]
		if !r.spec.has(name) {
			return unknown
		}
		if err := r.take(name); err != nil {
			return err
		}
		if r.open != "" && i+1 < len(w) {
			r.give(w[i+1:])
			return nil
		}
	}
	return nil
}
