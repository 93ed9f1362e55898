package tool

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kalda/kalda/internal/tool/layout"
)

// dumpFolder puts the folder together that testdata/golden/dump/dump.txt was made from, and moves into it.
func dumpFolder(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	put := func(name string, data []byte) {
		path := filepath.Join(dir, "in", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	take := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	folder := func(from, to string) {
		files, err := filepath.Glob(filepath.Join(from, "0*"))
		if err != nil || len(files) == 0 {
			t.Fatal(from, err)
		}
		for _, f := range files {
			put(filepath.Join(to, filepath.Base(f)), take(f))
		}
	}
	const logs, quorum = "../disk/seglog/testdata/golden/clean/", "../server/quorum/testdata/golden/"
	for _, name := range []string{"txn-0", "stamped-0", "plain-gzip-0"} {
		folder(logs+name, name)
	}
	for _, name := range []string{"standalone", "static"} {
		folder(quorum+name+"/__cluster_metadata-0", name)
	}
	for _, n := range []string{"7", "25", "28", "29", "37", "45"} {
		put("group/"+strings.Repeat("0", 20-len(n))+n+".log",
			take("../format/record/testdata/golden/group/consumer_offsets-"+n+".log"))
	}
	const first = "/00000000000000000000.log"
	for to, from := range map[string]string{
		"t": "transaction", "s": "share", "r": "remote", "sg": "share-group",
		"cg": "consumer-group",
	} {
		put(to+first, take("testdata/golden/dump/"+from+".log"))
	}
	for _, ext := range []string{"index", "log", "timeindex"} {
		put("txn-0/00000000000000000099."+ext, nil)
	}
	damaged(put, take(logs+"txn-0/00000000000000000005.log"), take(logs+"txn-0/00000000000000000005.index"),
		take(logs+"txn-0/00000000000000000005.timeindex"))
	t.Chdir(dir)
	return dir
}

// damaged makes a segment that is cut off, one with a wrong byte, and an index with a wrong offset.
func damaged(put func(string, []byte), log, index, times []byte) {
	put("bad/00000000000000000005.log", log[:1000])
	log[140] = 'X'
	put("bad/00000000000000000100.log", log)
	index[3] = 'X'
	put("bad/00000000000000000005.index", index)
	put("bad/00000000000000000005.timeindex", times)
}

// Every line, every complaint and every exit code is that of Apache Kafka 4.4.0's tool.
func TestDumpAsApache(t *testing.T) {
	golden, err := os.ReadFile("testdata/golden/dump/dump.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := dumpFolder(t)
	for block := range strings.SplitSeq(strings.TrimPrefix(string(golden), "$ "), "\n$ ") {
		command, rest, _ := strings.Cut(block, "\n")
		var wantOut, wantErr strings.Builder
		code := 0
		for line := range strings.SplitSeq(strings.TrimRight(rest, "\n"), "\n") {
			tag, text, _ := strings.Cut(line, "|")
			switch tag {
			case "1":
				if cut, open := strings.CutSuffix(text, `\`); open {
					wantOut.WriteString(cut)
					continue
				}
				wantOut.WriteString(text + "\n")
			case "2":
				wantErr.WriteString(strings.ReplaceAll(text, "{DIR}", dir) + "\n")
			case "=":
				code, _ = strconv.Atoi(text)
			}
		}
		out, errs, got := try(t, "", append([]string{"kalda"}, strings.Fields(command)...)...)
		if diff := cmp.Diff(wantOut.String(), out); diff != "" || got != code {
			t.Errorf("%s: exit code %d, want %d\n%s", command, got, code, diff)
		}
		if diff := cmp.Diff(wantErr.String(), errs); diff != "" {
			t.Errorf("%s: standard error\n%s", command, diff)
		}
	}
}

// Records that no decoder understands are said to be so, in their place.
func TestDecodersRefuse(t *testing.T) {
	for value, want := range map[string]string{
		"":                        "Error while reading the frame",
		"\x02":                    "unknown frame version 2(only frame version 1 is supported)",
		"\x01\x06\x00":            "Unknown metadata id 6",
		"\x01\x02\x07":            "Can't read version 7 of TopicRecord",
		"\x01\x02\x00":            layout.ErrShort.Error(),
		"\x01\x14\x00\x00garbage": "Found 7 byte(s) of garbage after NO_OP_RECORD",
	} {
		if _, err := metadataJSON([]byte(value)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", value, err, want)
		}
	}
}
