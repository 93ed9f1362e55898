package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Apache's kafka-dump-log reads every file of the folder. It has no exit code for what it finds: it says so.

// complaints are what it says of files that are wrong.
var complaints = regexp.MustCompile(`(?i)mismatch|exception|corrupt|invalid|isvalid: false|^ *\d+ is followed by|` +
	`out of order|skipp|could not|unable|error|fail|unexpected|unknown|not found`)

// dumped is one call of the tool: files of one kind, and the flags for them.
type dumped struct {
	name  string
	flags []string
	match func(dir, file string) bool
}

func dumps() []dumped {
	ext := func(e string) func(dir, file string) bool {
		return func(_, file string) bool { return filepath.Ext(file) == e }
	}
	in := func(prefix, e string) func(dir, file string) bool {
		return func(dir, file string) bool { return strings.HasPrefix(dir, prefix) && filepath.Ext(file) == e }
	}
	return []dumped{
		{"segments", []string{"--deep-iteration"}, func(dir, file string) bool {
			return filepath.Ext(file) == ".log" && !strings.HasPrefix(dir, "__")
		}},
		{"offset indexes", []string{"--index-sanity-check"}, ext(".index")},
		{"offset indexes against segments", []string{"--verify-index-only"}, ext(".index")},
		{"time indexes", nil, ext(".timeindex")},
		{"transaction indexes", nil, ext(".txnindex")},
		{"producer snapshots", nil, ext(".snapshot")},
		{"group offsets", []string{"--offsets-decoder"}, in("__consumer_offsets-", ".log")},
		{"metadata log", []string{"--cluster-metadata-decoder"}, in("__cluster_metadata-", ".log")},
		{"metadata snapshots", []string{"--cluster-metadata-decoder"}, in("__cluster_metadata-", ".checkpoint")},
	}
}

// dump has the tool read everything that the stopped node left.
func (t *trip) dump() {
	for _, d := range dumps() {
		files, err := filesOf(t.n.data(), d.match)
		if err != nil {
			t.check("kafka-dump-log: "+d.name, func() error { return err })
			continue
		}
		if len(files) == 0 {
			continue // no transactions, say
		}
		t.check(fmt.Sprintf("kafka-dump-log: %d %s", len(files), d.name), func() error { return t.dumpFiles(files, d.flags) })
	}
}

func (t *trip) dumpFiles(files, flags []string) error {
	libs, err := t.e.apache()
	if err != nil {
		return err
	}
	args := append([]string{t.e.here("java", "tool"), "kafka-dump-log"}, flags...)
	args = append(args, "--files", strings.Join(files, ","))
	var b strings.Builder
	if err := start(t.e.ctx, t.n.dir, []string{"LIBS=" + libs}, &b, args...).Run(); err != nil {
		return fmt.Errorf("%w\n%s", err, b.String())
	}
	text := b.String()
	if n := strings.Count(text, "Dumping "); n < len(files) {
		return fmt.Errorf("%d of %d files were dumped:\n%.2000s", n, len(files), text)
	}
	for line := range strings.Lines(text) {
		if complaints.MatchString(line) && !harmless(line) {
			return fmt.Errorf("it complains: %.400s", line)
		}
	}
	return nil
}

// harmless lines hold a complaint's word without being one: names and records' contents.
//
// Two remarks are no complaints at all, for Apache's own folders get them too: "…index is empty" of a segment too small
// for an entry, and "Non-consecutive offsets in …" with "-1 is followed by N" of every segment that doesn't start at 0.
func harmless(line string) bool {
	return strings.HasPrefix(line, "Dumping ") || strings.HasPrefix(line, "| offset: ")
}

func filesOf(root string, match func(dir, file string) bool) (files []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasSuffix(d.Name(), "-delete") {
			return fs.SkipDir // on its way out: its indexes may be cut already
		}
		if !d.IsDir() && match(filepath.Base(filepath.Dir(path)), d.Name()) {
			files = append(files, path)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}
