package opt

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func testSpec() *Spec {
	return &Spec{Flags: []Flag{
		{Name: "topic", Arity: Required, Arg: "t", Help: "A topic."},
		{Name: "list", Help: "List."},
		{Name: "state", Arity: Optional, Arg: "s", Help: "States."},
		{Name: "config", Short: "c", Arity: Required, Arg: "f", Help: "A file."},
		{Name: "offset", Arity: Required, Arg: "o", Help: "An offset."},
	}}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		line, option string
		want         []string
		rest         []string
	}{
		{"--topic a", "topic", []string{"a"}, nil},
		{"--topic=a", "topic", []string{"a"}, nil},
		{"-topic a", "topic", []string{"a"}, nil},
		{"-topic=a=b", "topic", []string{"a=b"}, nil},
		{"--topic a --topic b", "topic", []string{"a", "b"}, nil},
		{"--topic --list", "topic", []string{"--list"}, nil},
		{"-c f", "config", []string{"f"}, nil},
		{"--offset -2", "offset", []string{"-2"}, nil},
		{"--state --list", "state", nil, nil},
		{"--state Empty --list", "state", []string{"Empty"}, nil},
		{"--list word", "topic", nil, []string{"word"}},
		{"-- --topic", "topic", nil, []string{"--topic"}},
	} {
		o, err := testSpec().Parse(strings.Fields(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if got := o.All(c.option); !reflect.DeepEqual(got, c.want) || !reflect.DeepEqual(o.Rest, c.rest) {
			t.Errorf("%s: %s = %q, rest %q, want %q, %q", c.line, c.option, got, o.Rest, c.want, c.rest)
		}
	}
}

// The texts are those of Apache Kafka 4.4.0's tools.
func TestParseErrors(t *testing.T) {
	for line, want := range map[string]string{
		"--bogus":          "bogus is not a recognized option",
		"--top a":          "top is not a recognized option",
		"--list --topic":   "Option topic requires an argument",
		"--topic a --bad=": "bad is not a recognized option",
	} {
		if _, err := testSpec().Parse(strings.Fields(line)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestValues(t *testing.T) {
	o, err := testSpec().Parse(strings.Fields("--topic a --topic b --offset x --list"))
	if err != nil {
		t.Fatal(err)
	}
	_, several := o.One("topic")
	_, number := o.Int("offset", 0)
	for _, c := range []struct {
		err  error
		want string
	}{
		{several, "Found multiple arguments for option topic, but you asked for only one"},
		{number, "Cannot parse argument 'x' of option offset"},
		{o.Need("list", "config"), `Missing required argument "[config]"`},
		{o.Exclude("list", "config", "topic"), `Option "[list]" can't be used with option "[topic]"`},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	if o.Count("list", "topic", "config") != 2 || o.Or("topic", "") != "b" || o.Or("config", "d") != "d" {
		t.Error("Count or Or")
	}
}

func TestAbbreviate(t *testing.T) {
	s := testSpec()
	s.Abbreviate = true
	if o, err := s.Parse([]string{"--top", "a"}); err != nil || !o.Has("topic") {
		t.Error(err)
	}
}

func TestHelpNamesEveryOption(t *testing.T) {
	var b bytes.Buffer
	testSpec().WriteHelp(&b)
	for _, f := range testSpec().Flags {
		if !strings.Contains(b.String(), "--"+f.Name) {
			t.Errorf("no %s in\n%s", f.Name, &b)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("--topic\x00a\x00-c=b\x00--state\x00-1\x00--\x00x")
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, "\x00")
		o, err := testSpec().Parse(words)
		if err == nil && len(o.Rest) > len(words) {
			t.Errorf("%q: %q", words, o.Rest)
		}
	})
}
