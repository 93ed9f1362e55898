package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseProperties(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []property
	}{
		"separators": {"a=1\nb:2\nc 3\nd = 4\ne\t:\t5\nf  6 7", []property{
			{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}, {"d", "4", 4}, {"e", "5", 5}, {"f", "6 7", 6},
		}},
		"comments":       {"# a=1\n  ! b=2\nc=#3\n#d=4\\\ne=5", []property{{"c", "#3", 3}, {"e", "5", 5}}},
		"continued":      {"a=1,\\\n   2,\\\n\t3\nb=4", []property{{"a", "1,2,3", 1}, {"b", "4", 4}}},
		"not continued":  {"a=1\\\\\nb=2", []property{{"a", `1\`, 1}, {"b", "2", 2}}},
		"continued to #": {"a=1\\\n#2", []property{{"a", "1#2", 1}}},
		"ends continued": {"a=1\\", []property{{"a", "1", 1}}},
		"line " +
			"ends": {"a=1\r\nb=2\rc=3\n\n\nd=4", []property{{"a", "1", 1}, {"b", "2", 2}, {"c", "3", 3}, {
			"d", "4",
			6,
		}}},
		"escapes":         {`a\ b\=c\:=\t\n\r\f\q\\`, []property{{"a b=c:", "\t\n\r\fq\\", 1}}},
		"unicode":         {`a=\u00e9\uD83D\uDE00é`, []property{{"a", "é😀é", 1}}},
		"half surrogate":  {`a=\uD83Dx`, []property{{"a", "\uFFFDx", 1}}},
		"empty value":     {"a=\nb", []property{{"a", "", 1}, {"b", "", 2}}},
		"empty key":       {"=x", []property{{"", "x", 1}}},
		"trailing spaces": {"a= 1  ", []property{{"a", "1  ", 1}}},
		"twice":           {"a=1\na=2", []property{{"a", "1", 1}, {"a", "2", 2}}},
		"two separators":  {"a==1\nb=:2", []property{{"a", "=1", 1}, {"b", ":2", 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseProperties(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(property{})); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, bad := range []string{`a=\u12`, `a=\u12g4`, "\n" + `\u=1`} {
		if got, err := parseProperties(bad); err == nil {
			t.Errorf("%q gave %v", bad, got)
		}
	}
}

func FuzzParseProperties(f *testing.F) {
	f.Add("a=1\\\n b:2\r\n#c\n\\u0041 = \\uD83D\\uDE00")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseProperties(text)
		if err != nil {
			return
		}
		line := 0
		for _, p := range list {
			if p.line <= line {
				t.Fatalf("line %d after %d", p.line, line)
			}
			line = p.line
		}
	})
}
