// Package opt parses command lines by the rules that Apache Kafka's tools follow: long options with one or
// two dashes, values after a space or an equals sign, options whose value may be left out, and the same words
// when something is wrong. General flag libraries know neither of the first two, nor the words.
package opt

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Arity says whether an option takes a value.
type Arity uint8

// The arities.
const (
	None     Arity = iota // a switch
	Required              // always a value, which may look like an option
	Optional              // a value, unless the next word looks like an option
	Many                  // one value or more, up to the next word that looks like an option
)

// Flag is one option.
type Flag struct {
	Name  string // without dashes
	Short string // one letter or another spelling; empty: none
	Arity Arity
	Arg   string // what the value is, for the help text
	Help  string
}

// Spec is a tool's options, in the order the help text shows them.
type Spec struct {
	About      string
	Flags      []Flag
	Abbreviate bool // a start of a name that no other shares stands for it
}

// Options is a parsed command line.
type Options struct {
	seen map[string][]string
	Rest []string // words that are no options
}

// Error is a mistake on the command line. Its text is the one that Apache's tools print.
type Error struct{ Text string }

func (e *Error) Error() string { return e.Text }

// Errorf makes an Error.
func Errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

func (s *Spec) find(name string) *Flag {
	for i := range s.Flags {
		if f := &s.Flags[i]; f.Name == name || f.Short != "" && f.Short == name {
			return f
		}
	}
	switch name {
	case "help":
		return &Flag{Name: "help"}
	case "version":
		return &Flag{Name: "version"}
	}
	if s.Abbreviate {
		return s.abbreviated(name)
	}
	return nil
}

func (s *Spec) abbreviated(start string) *Flag {
	var only *Flag
	for i := range s.Flags {
		if start != "" && strings.HasPrefix(s.Flags[i].Name, start) {
			if only != nil {
				return nil
			}
			only = &s.Flags[i]
		}
	}
	return only
}

// TakesValue says whether the word is an option whose value is the next word.
func (s *Spec) TakesValue(word string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
	f := s.find(name)
	return f != nil && (f.Arity == Required || f.Arity == Many)
}

// Both is an option under both its names.
func (s *Spec) Both(name string) string {
	if f := s.find(name); f != nil && f.Short != "" {
		return "--" + name + "/-" + f.Short
	}
	return "--" + name
}

// Line shows the options as a usage line does: those not required in brackets.
func (s *Spec) Line(required []string) string {
	var b strings.Builder
	for i := range s.Flags {
		f := &s.Flags[i]
		text := "--" + f.Name
		if f.Arity != None {
			text += " " + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		}
		need := false
		for _, r := range required {
			need = need || r == f.Name
		}
		if !need {
			text = "[" + text + "]"
		}
		b.WriteString(" " + text)
	}
	return b.String()
}

// Parse reads args.
func (s *Spec) Parse(args []string) (*Options, error) {
	o := &Options{seen: make(map[string][]string)}
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			o.Rest = append(o.Rest, args[i+1:]...)
			break
		}
		if !s.looksLikeOption(word) {
			o.Rest = append(o.Rest, word)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(word[1:], "-"), "=")
		f := s.find(name)
		if f == nil {
			return nil, Errorf("%s is not a recognized option", name)
		}
		used, err := o.take(s, f, args[i+1:], value, hasValue)
		if err != nil {
			return nil, err
		}
		i += used
	}
	return o, nil
}

// take records one option and says how many of the words after it are its value.
func (o *Options) take(s *Spec, f *Flag, after []string, value string, hasValue bool) (int, error) {
	used := 0
	switch {
	case f.Arity == None:
		if _, again := o.seen[f.Name]; !again {
			o.seen[f.Name] = nil
		}
		return 0, nil
	case hasValue:
	case f.Arity == Many:
		for used < len(after) && !s.looksLikeOption(after[used]) {
			used++
		}
		if used == 0 {
			return 0, Errorf("Option %s requires an argument", f.Name)
		}
		o.seen[f.Name] = append(o.seen[f.Name], after[:used]...)
		return used, nil
	case f.Arity == Required:
		if len(after) == 0 {
			return 0, Errorf("Option %s requires an argument", f.Name)
		}
		value, used = after[0], 1
	case len(after) > 0 && !s.looksLikeOption(after[0]):
		value, used = after[0], 1
	default:
		if _, again := o.seen[f.Name]; !again {
			o.seen[f.Name] = nil
		}
		return 0, nil
	}
	o.seen[f.Name] = append(o.seen[f.Name], value)
	return used, nil
}

// looksLikeOption tells options from values and other words; a lone dash and negative numbers are values.
func (s *Spec) looksLikeOption(word string) bool {
	if len(word) < 2 || word[0] != '-' {
		return false
	}
	_, err := strconv.ParseFloat(word, 64)
	return err != nil
}

// Has says whether any of the options was given.
func (o *Options) Has(names ...string) bool {
	for _, n := range names {
		if _, ok := o.seen[n]; ok {
			return true
		}
	}
	return false
}

// All returns every value of an option.
func (o *Options) All(name string) []string { return o.seen[name] }

// One returns the value of an option that may be given once; empty when it was not given.
func (o *Options) One(name string) (string, error) {
	switch v := o.seen[name]; len(v) {
	case 0:
		return "", nil
	case 1:
		return v[0], nil
	default:
		return "", Errorf("Found multiple arguments for option %s, but you asked for only one", name)
	}
}

// Or is One with a default, for options whose repetition is harmless: the last one wins.
func (o *Options) Or(name, def string) string {
	if v := o.seen[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return def
}

// Int is One as a whole number.
func (o *Options) Int(name string, def int) (int, error) {
	v, err := o.Int64(name, int64(def))
	if err == nil && v != int64(int32(v)) {
		return 0, Errorf("Cannot parse argument '%d' of option %s", v, name)
	}
	return int(v), err
}

// Int64 is One as a whole number.
func (o *Options) Int64(name string, def int64) (int64, error) {
	v, err := o.One(name)
	if err != nil || !o.Has(name) || v == "" {
		return def, err
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		return 0, Errorf("Cannot parse argument '%s' of option %s", v, name)
	}
	return n, nil
}

// Need reports the first of the options that was not given.
func (o *Options) Need(names ...string) error {
	for _, n := range names {
		if !o.Has(n) {
			return Errorf("Missing required argument \"[%s]\"", n)
		}
	}
	return nil
}

// NeedArgument is Need in the words of Apache's tools that have sub-commands.
func (o *Options) NeedArgument(names ...string) error {
	for _, n := range names {
		if !o.Has(n) {
			return Errorf("argument --%s is required", n)
		}
	}
	return nil
}

// Exclude reports the first of others that was given together with name.
func (o *Options) Exclude(name string, others ...string) error {
	if !o.Has(name) {
		return nil
	}
	for _, other := range others {
		if other != name && o.Has(other) {
			return Errorf("Option \"[%s]\" can't be used with option \"[%s]\"", name, other)
		}
	}
	return nil
}

// Count says how many of the options were given.
func (o *Options) Count(names ...string) int {
	n := 0
	for _, name := range names {
		if o.Has(name) {
			n++
		}
	}
	return n
}

const helpColumn = 44

// WriteHelp prints what the tool does and its options.
func (s *Spec) WriteHelp(w io.Writer) {
	fmt.Fprintf(w, "%-*s%s\n%-*s%s\n", helpColumn, "Option", "Description", helpColumn, "------", "-----------")
	for i := range s.Flags {
		s.Flags[i].writeHelp(w)
	}
	(&Flag{Name: "help", Help: "Print usage information."}).writeHelp(w)
	(&Flag{Name: "version", Help: "Display Kafka version."}).writeHelp(w)
}

func (f *Flag) writeHelp(w io.Writer) {
	left := "--" + f.Name
	if f.Short != "" {
		left = "-" + f.Short + ", " + left
	}
	switch f.Arity {
	case Required, Many:
		left += " <" + f.Arg + ">"
	case Optional:
		left += " [" + f.Arg + "]"
	}
	lines := wrap(f.Help, 110-helpColumn)
	if len(left) >= helpColumn {
		fmt.Fprintln(w, left)
		left = ""
	}
	for _, line := range lines {
		fmt.Fprintf(w, "%-*s%s\n", helpColumn, left, line)
		left = ""
	}
}

// wrap breaks text into lines of at most width columns.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
