package zkcli

import (
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for line, want := range map[string]string{
		`create /a hello`:      "create|/a|hello",
		"  ls\t/b  ":           "ls|/b",
		`set /a "two words"`:   "set|/a|two words",
		`set /a 'it is' "a'b"`: "set|/a|it is|a'b",
		`get '/b`:              "get|/b",
		`create '/z' 'it''s'`:  "create|/z|it|s",
		`create /z a"b c"d`:    `create|/z|a"b|c"d`,
		`set /a ""`:            "set|/a|",
	} {
		if got := strings.Join(words(line), "|"); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestOptions(t *testing.T) {
	s := spec{flags: []string{"s", "w", "add"}, values: []string{"v", "n", "b"}, one: []string{"n", "b"}}
	for line, want := range map[string]string{
		"get -s /a":          "get /a; s=",
		"get /a -sw":         "get /a; s= w=",
		"set -v 3 /a x":      "set /a x; v=3",
		"set -v3 /a x":       "set /a x; v=3",
		"set -v=3 /a x":      "set /a x; v=3",
		"set -sv3 /a x":      "set /a x; s= v=3",
		"set -v -1 /a":       "set /a; v=-1",
		"set -- -s":          "set -s;",
		"set - x":            "set - x;",
		"set -add x":         "set x; add=",
		"set -v -s":          "MissingArgumentException: Missing argument for option: v",
		"set -v":             "MissingArgumentException: Missing argument for option: v",
		"ls -Z /":            "UnrecognizedOptionException: Unrecognized option: -Z",
		"ls -sZ /":           "UnrecognizedOptionException: Unrecognized option: -sZ",
		"ls --help":          "UnrecognizedOptionException: Unrecognized option: --help",
		"set -5":             "UnrecognizedOptionException: Unrecognized option: -5",
		"setquota -n 1 -n 2": "setquota; n=2",
		"setquota -n 1 -b 2": "AlreadySelectedException: The option 'b' was specified but an option from this " +
			"group has already been selected: 'n'",
	} {
		p, err := s.parse(words(line))
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "org.apache.commons.cli.")
		} else {
			var opts []string
			for name, value := range p.opts {
				opts = append(opts, name+"="+value)
			}
			slices.Sort(opts)
			got = strings.TrimRight(strings.Join(p.args, " ")+"; "+strings.Join(opts, " "), " ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestCheckPath(t *testing.T) {
	for path, want := range map[string]string{
		"/":        "",
		"/a/b.c":   "",
		"/a/..b":   "",
		"":         "Path length must be > 0",
		"a":        "Path must start with / character",
		"/a/":      "Path must not end with / character",
		"//b":      `Invalid path string "//b" caused by empty node name specified @1`,
		"/b/../c":  `Invalid path string "/b/../c" caused by relative paths not allowed @4`,
		"/b/./c":   `Invalid path string "/b/./c" caused by relative paths not allowed @3`,
		"/b/..":    `Invalid path string "/b/.." caused by relative paths not allowed @4`,
		"/b\x00":   "Invalid path string \"/b\x00\" caused by null character not allowed @2",
		"/b\u0085": "Invalid path string \"/b\u0085\" caused by invalid character @2",
	} {
		got := ""
		if err := checkPath(path); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

func TestDump(t *testing.T) {
	var b strings.Builder
	writeDump(&b, []byte("0123456789abcdef\n|\xff"))
	want := `         +-------------------------------------------------+
         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |
+--------+-------------------------------------------------+----------------+
|00000000| 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66 |0123456789abcdef|
|00000010| 0a 7c ff                                        |.|.             |
+--------+-------------------------------------------------+----------------+
`
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}

func TestParseQuota(t *testing.T) {
	for text, want := range map[string]quota{
		"count=3,bytes=-1": {3, -1, -1, -1},
		"count=3,bytes=7=;byteHardLimit=9;countHardLimit=-1": {3, 7, -1, 9},
		"": noQuota,
	} {
		if got := parseQuota(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestParseFlags(t *testing.T) {
	f, err := parseFlags([]string{"-server", "h:1/x", "-timeout", "500", "-r", "-other", "ls", "-s", "/"})
	if err != nil || f.server != "h:1/x" || f.timeout.Milliseconds() != 500 || !f.readOnly ||
		!slices.Equal(f.command, []string{"ls", "-s", "/"}) {
		t.Errorf("%+v, %v", f, err)
	}
	for _, args := range [][]string{{"-server"}, {"-timeout", "x"}} {
		if _, err := parseFlags(args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}

func TestClientConfig(t *testing.T) {
	const text = "server.1=a:2888:3888:participant;0.0.0.0:2181\nserver.2=b:1:2;2182\nversion=100000000"
	if got := clientConfig(text); got != "100000000 0.0.0.0:2181,0.0.0.0:2182" {
		t.Error(got)
	}
}
