package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDoctor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.properties")
	if err := os.WriteFile(file, []byte("node.id=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]struct {
		text string
		code int
	}{
		"--help":                       {"--bootstrap-server", 0},
		"--version":                    {KafkaVersion, 0},
		"--bogus":                      {"bogus is not a recognized option", 2},
		"a b":                          {"One file is expected", 2},
		"-b nohost":                    {"Invalid url", 2},
		"-b 127.0.0.1:1":               {"can't be dialled", 2},
		file:                           {"ERROR    config: Invalid value x", 2},
		file + " --json":               {`"errors": 1`, 2},
		file + " --override node.id=y": {"Invalid value y", 2},
	} {
		out, errs, code := try(t, "", append([]string{"kalda", "doctor"}, strings.Fields(line)...)...)
		if code != want.code || !strings.Contains(out+errs, want.text) {
			t.Errorf("doctor %s: %d\n%s%s", line, code, out, errs)
		}
	}
}
