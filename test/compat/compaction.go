package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Apache fills a folder with topics to compact, without compacting. Then a copy of it goes to each kind of node, and what
// they leave must be the same: record by record, with the same offsets, times and producers, in the same batches and the
// same segments, and compacted up to the same offset.

const cleanerRests = "log.cleaner.backoff.ms=%d\n"

// twin is the same folder under another kind of node.
func (n *node) twin(kind, dir string) (*node, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	t := &node{e: n.e, kind: kind, dir: dir, port: ports[0]}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.CopyFS(t.data(), os.DirFS(n.data())); err != nil {
		return nil, err
	}
	text := fmt.Sprintf(properties, ports[0], ports[1], t.data())
	return t, os.WriteFile(t.properties(), []byte(text), 0o644)
}

// configure adds a line to the node's properties.
func (n *node) configure(line string) error {
	f, err := os.OpenFile(n.properties(), os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line)
	return err
}

func (e *env) compaction(out io.Writer) error {
	t := &checks{out: out}
	tool, err := e.goTool("compaction")
	if err != nil {
		return err
	}
	source, err := e.newNode("apache", filepath.Join(e.work, "compaction"))
	if err == nil {
		err = source.configure(fmt.Sprintf(cleanerRests, 86_400_000))
	}
	if err != nil {
		return err
	}
	if !t.check("apache starts", source.start) {
		return t.finish()
	}
	var topics strings.Builder
	t.check("it is filled", func() error {
		return start(e.ctx, e.work, []string{"BOOTSTRAP=" + source.address()}, &topics, tool).Run()
	})
	t.check("apache ends", func() error { return source.stop(syscall.SIGTERM) })
	twins := map[string]*node{}
	for _, kind := range []string{"apache", "kalda"} {
		t.check(kind+" compacts it", func() error {
			n, err := source.twin(kind, filepath.Join(e.work, "compaction-"+kind))
			if err != nil {
				return err
			}
			twins[kind] = n
			return n.compact(strings.Fields(topics.String()))
		})
	}
	if t.failed > 0 {
		return t.finish()
	}
	for topic := range strings.FieldsSeq(topics.String()) {
		t.check("topic "+topic, func() error { return e.sameLogs(twins["apache"], twins["kalda"], topic+"-0") })
	}
	for kind, other := range map[string]string{"apache": "kalda", "kalda": "apache"} {
		t.check(kind+" is killed at it, and "+other+" ends it", func() error {
			n, err := source.twin(kind, filepath.Join(e.work, "compaction-killed-"+kind))
			if err == nil {
				err = n.dieCompacting()
			}
			if err != nil {
				return err
			}
			n.kind = other
			if err := n.compact(strings.Fields(topics.String())); err != nil {
				return err
			}
			return e.sameRecords(twins["apache"], n, strings.Fields(topics.String()))
		})
	}
	t.check("what one left, the other goes on with", func() error {
		twins["apache"].kind, twins["kalda"].kind = "kalda", "apache"
		for _, n := range twins {
			if err := n.start(); err != nil {
				return err
			}
			// It answers when it leads.
			fault := e.sh(n.dir, nil, e.kalda, "kafka-get-offsets", "--bootstrap-server", n.address(), "--topic", "transactions")
			if err := errors.Join(fault, n.stop(syscall.SIGTERM)); err != nil {
				return err
			}
		}
		return nil
	})
	return t.finish()
}

// compact runs the node until the topics are compacted as far as they can be.
func (n *node) compact(topics []string) error {
	if err := n.configure(fmt.Sprintf(cleanerRests, 200)); err != nil {
		return err
	}
	if err := n.start(); err != nil {
		return err
	}
	var left []string
	for range 600 {
		if left = n.dirty(topics); len(left) == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err := n.stop(syscall.SIGTERM); err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("not compacted: %v\n%s", left, n.lastLog())
	}
	return nil
}

// dieCompacting runs the node until it is in the middle of a segment, and kills it there.
func (n *node) dieCompacting() error {
	if err := n.configure("log.cleaner.io.max.bytes.per.second=300000\n"); err != nil {
		return err
	}
	if err := n.start(); err != nil {
		return err
	}
	making := func() bool {
		found, _ := filepath.Glob(filepath.Join(n.data(), "*", "*.log.cleaned"))
		return len(found) > 0
	}
	for range 1200 {
		if making() {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := n.stop(syscall.SIGKILL); err != nil {
		return err
	}
	if !making() {
		return fmt.Errorf("no segment was being written\n%s", n.lastLog())
	}
	return n.configure("log.cleaner.io.max.bytes.per.second=1000000000\n") // the last line counts
}

// sameRecords looks at records alone: who begins twice may put them into other segments.
func (e *env) sameRecords(a, b *node, topics []string) error {
	for _, topic := range topics {
		var both [2][]string
		for i, n := range []*node{a, b} {
			lines, err := e.dumpLog(n, topic+"-0", ".log")
			if err != nil {
				return err
			}
			both[i] = slices.DeleteFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "| offset:") })
		}
		if x, y := both[0], both[1]; !slices.Equal(x, y) || len(x) < 100 {
			return fmt.Errorf("topic %s: %d records and %d, or others", topic, len(x), len(y))
		}
	}
	return nil
}

// cleaned is the checkpoint's offset for each partition.
func (n *node) cleaned() map[string]int64 {
	text, _ := os.ReadFile(filepath.Join(n.data(), "cleaner-offset-checkpoint")) // none: nothing was compacted yet
	out := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 {
			out[f[0]+"-"+f[1]], _ = strconv.ParseInt(f[2], 10, 64)
		}
	}
	return out
}

// dirty are the topics that aren't compacted up to their last segment.
func (n *node) dirty(topics []string) (left []string) {
	cleaned := n.cleaned()
	for _, topic := range topics {
		logs := n.files(topic+"-0", ".log")
		if len(logs) == 0 {
			return topics
		}
		active, _ := strconv.ParseInt(strings.TrimSuffix(filepath.Base(logs[len(logs)-1]), ".log"), 10, 64)
		if cleaned[topic+"-0"] < active {
			left = append(left, topic)
		}
	}
	return left
}

func (n *node) files(log, ext string) []string {
	list, _ := filepath.Glob(filepath.Join(n.data(), log, "*"+ext)) // the pattern is good
	slices.Sort(list)
	return list
}

// differing is what may differ: when the horizon is, and how well a batch was compressed.
var (
	horizon    = regexp.MustCompile(`deleteHorizonMs: \S+|baseTimestamp: \S+`)
	compressed = regexp.MustCompile(`(position|size|crc): \d+`)
)

func (e *env) sameLogs(a, b *node, log string) error {
	if x, y := a.cleaned()[log], b.cleaned()[log]; x != y {
		return fmt.Errorf("compacted up to %d and up to %d", x, y)
	}
	for _, ext := range []string{".log", ".txnindex"} {
		x, err := e.dumpLog(a, log, ext)
		if err != nil {
			return err
		}
		y, err := e.dumpLog(b, log, ext)
		if err != nil {
			return err
		}
		if ext == ".log" && len(x) < 100 {
			return fmt.Errorf("only %d lines: %q", len(x), x)
		}
		for i := range max(len(x), len(y)) {
			if i >= len(x) || i >= len(y) || x[i] != y[i] {
				return fmt.Errorf("%s, line %d of %d and %d:\n    %s    %s", ext, i, len(x), len(y), at(x, i), at(y, i))
			}
		}
	}
	return nil
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)\n"
}

// dumpLog is what kafka-dump-log says of a log's files of one kind.
func (e *env) dumpLog(n *node, log, ext string) (lines []string, err error) {
	files := n.files(log, ext)
	if len(files) == 0 {
		return nil, nil
	}
	libs, err := e.apache()
	if err != nil {
		return nil, err
	}
	args := []string{e.here("java", "tool"), "kafka-dump-log"}
	if ext == ".log" {
		args = append(args, "--deep-iteration", "--print-data-log")
	}
	var b strings.Builder
	err = start(e.ctx, n.dir, []string{"LIBS=" + libs}, &b, append(args, "--files", strings.Join(files, ","))...).Run()
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "Non-consecutive offsets in ") { // from here on in the order of a hash table
			break
		}
		line = strings.ReplaceAll(line, n.data(), "")
		if strings.Contains(line, "deleteHorizonMs: OptionalLong[") || !strings.Contains(line, "compresscodec: none") {
			line = compressed.ReplaceAllString(line, "$1: N")
		}
		lines = append(lines, horizon.ReplaceAllString(line, "horizon"))
	}
	return lines, err
}
