package layout

import (
	"encoding/json"
	"math"
	"testing"
)

// Every record type can be read in every version from zeros: all strings and arrays are then null or empty.
func TestEveryLayout(t *testing.T) {
	if n := len(Names()); n < 80 {
		t.Fatalf("%d record types", n)
	}
	for _, name := range Names() {
		l := Find(name)
		for v := l.Low; v <= l.High; v++ {
			text, _, err := l.JSON(nil, make([]byte, 4096), v, nil)
			if err != nil || !json.Valid(text) {
				t.Errorf("%s version %d: %v %s", name, v, err, text)
			}
			if text, _, err := l.JSON(nil, nil, v, nil); err == nil && string(text) != "{}" {
				t.Errorf("%s version %d is read from nothing: %s", name, v, text)
			}
		}
	}
	if Find("Nothing") != nil {
		t.Error("an unknown type was found")
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"A", "A x-1", "A 0-y", "A 0-1\n b what", "A 0-1\n   b int8",
		"A 0-1\n b int8 x+",
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestStrings(t *testing.T) {
	got := string(appendString(nil, "a\"\\\n\t\x01é/<"))
	if want := `"a\"\\\n\t\u0001é/<"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDouble(t *testing.T) {
	for v, want := range map[float64]string{
		1: "1.0", 0.001: "0.001", 1e7: "1.0E7", 1.5e-5: "1.5E-5",
		math.Inf(-1): "-Infinity", 123456.75: "123456.75", 0: "0.0",
	} {
		if got := Double(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add("RegisterBrokerRecord", []byte{1, 2, 3}, int16(4))
	f.Add("GroupMetadataValue", make([]byte, 64), int16(3))
	f.Fuzz(func(t *testing.T, name string, b []byte, version int16) {
		l := Find(name)
		if l == nil || version < l.Low || version > l.High {
			return
		}
		text, rest, err := l.JSON(nil, b, version, nil)
		if err == nil && (len(rest) > len(b) || len(text) < 2) {
			t.Fatalf("%s: %q of %d bytes, %d left", name, text, len(b), len(rest))
		}
	})
}
