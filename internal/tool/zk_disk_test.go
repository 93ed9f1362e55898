package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const zkGolden = "../disk/zklog/testdata/golden/version-2/"

func runZK(t *testing.T, in string, run func(*Env, []string) int, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	env := &Env{In: strings.NewReader(in), Out: &o, Err: &e, Getenv: func(string) string { return "" }}
	code = run(env, args)
	return o.String(), e.String(), code
}

// TestZKDiskTools_AsApache compares with what Apache's tools print of the same files.
func TestZKDiskTools_AsApache(t *testing.T) {
	stamp := regexp.MustCompile(`"timestamp":\d+`)
	for _, c := range []struct {
		want string
		run  func(*Env, []string) int
		args []string
	}{
		{"txnlog_1.txt", zkTxnLog, []string{zkGolden + "log.1"}},
		{"snapshot_26.txt", zkSnapshot, []string{zkGolden + "snapshot.26.gz"}},
		{"snapshot_26.json", zkSnapshot, []string{"-json", zkGolden + "snapshot.26.gz"}},
	} {
		want, err := os.ReadFile("testdata/zk/" + c.want)
		if err != nil {
			t.Fatal(err)
		}
		got, errs, code := runZK(t, "", c.run, c.args...)
		got, w := stamp.ReplaceAllString(got, ""), stamp.ReplaceAllString(string(want), "")
		if got != w || code != 0 {
			gl, wl := strings.Split(got, "\n"), strings.Split(w, "\n")
			for i := range min(len(gl), len(wl)) {
				if gl[i] != wl[i] {
					t.Errorf("%s:%d:\n%.200q\n%.200q", c.want, i+1, gl[i], wl[i])
					break
				}
			}
			t.Errorf("%s: %d lines instead of %d, code %d %s", c.want, len(gl), len(wl), code, errs)
		}
	}
}

func TestZKTxnLog_RecoverAndChop(t *testing.T) {
	b, err := os.ReadFile(zkGolden + "log.24")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "log.24")
	whole := bytes.Clone(b)
	b[150] ^= 1
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code := runZK(t, "", zkTxnLog, file)
	if code != 0 || strings.Count(out, "CRC ERROR - ") != 1 || !strings.Contains(out, "EOF reached after 3 txns.") {
		t.Errorf("%d %s", code, out)
	}
	if _, errs, code := runZK(t, "n\n", zkTxnLog, "-r", file); code != 1 || errs == "" {
		t.Errorf("%d %s", code, errs)
	}
	out, errs, code := runZK(t, "", zkTxnLog, "-r", "-y", file)
	if code != 0 || !strings.Contains(out, "CRC FIXED - ") || !strings.Contains(out, "written with 1 fixed CRC error(s)") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := runZK(t, "", zkTxnLog, "-c", file, "-z", "0x25"); code != 0 {
		t.Errorf("%d %s", code, errs)
	}
	if out, _, _ := runZK(t, "", zkTxnLog, file); !strings.Contains(out, "EOF reached after 2 txns.") {
		t.Error(out)
	}
	if _, errs, code := runZK(t, "", zkTxnLog, file+"x"); code != 1 || !strings.HasPrefix(errs, "File doesn't exist") {
		t.Errorf("%d %s", code, errs)
	}
}

func TestZKCleanup(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "version-2"), os.DirFS(zkGolden)); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := runZK(t, "", zkCleanup, dir, "-n", "2"); code != 1 || !strings.Contains(errs, "greater than or equal") {
		t.Errorf("%d %s", code, errs)
	}
	out, errs, code := runZK(t, "", zkCleanup, dir, "-n", "3")
	if code != 0 || errs != "" || strings.Count(out, "Removing file: ") != 1 || !strings.HasSuffix(out, "snapshot.0\n") {
		t.Errorf("%d %s %s", code, out, errs)
	}
}
