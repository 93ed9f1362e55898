// Command tools runs lists of tool commands through Apache Kafka's own tools and through Kalda's, and shows
// where the outputs and exit codes differ.
//
//	go run ./test/compat/tools -jars DIR -kalda BINARY -broker HOST:PORT [-ours HOST:PORT] scripts/*.txt
//
// A script holds commands, each a line that begins with "$ ", followed by lines for its standard input that
// begin with "< ". {B} stands for the broker. Both sides may run against one broker: every script then runs
// twice, and all topics and groups are deleted before each run. Ids and times are masked before the
// comparison, and of what Apache's tools write to standard error, stack traces and help texts are left out.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

type step struct {
	line  string
	words []string
	stdin []string
}

type result struct {
	out, err []string
	code     string
}

func main() {
	jars := flag.String("jars", "", "folder of Apache Kafka's jars")
	kalda := flag.String("kalda", "", "Kalda's binary")
	broker := flag.String("broker", "127.0.0.1:9092", "the broker that Apache's tools talk to")
	ours := flag.String("ours", "", "the broker that Kalda's tools talk to (the same)")
	oracle := flag.String("oracle", "test/compat/tools/Oracle.java", "the runner of Apache's tools")
	flag.Parse()
	if *ours == "" {
		*ours = *broker
	}
	bad := 0
	for _, file := range flag.Args() {
		n, err := compare(file, *jars, *oracle, *kalda, *broker, *ours)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		bad += n
	}
	fmt.Printf("%d differences\n", bad)
	if bad > 0 {
		os.Exit(1)
	}
}

func compare(file, jars, oracle, kalda, broker, ours string) (int, error) {
	steps, err := load(file)
	if err != nil {
		return 0, err
	}
	if err := wipe(broker); err != nil {
		return 0, err
	}
	want, err := runApache(steps, jars, oracle, broker)
	if err != nil {
		return 0, err
	}
	if err := wipe(ours); err != nil {
		return 0, err
	}
	got := runKalda(steps, kalda, ours)
	bad := 0
	for i, s := range steps {
		w, g := want[i], got[i]
		w.mask(broker)
		g.mask(ours)
		if d := difference(w, g); d != "" {
			bad++
			fmt.Printf("%s: $ %s\n%s\n", filepath.Base(file), s.line, d)
		}
	}
	fmt.Printf("%s: %d commands, %d differ\n", filepath.Base(file), len(steps), bad)
	return bad, nil
}

func load(file string) ([]step, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var steps []step
	for line := range strings.SplitSeq(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, "$ "); ok {
			steps = append(steps, step{line: rest, words: split(rest)})
		} else if rest, ok := strings.CutPrefix(line, "<"); ok && len(steps) > 0 {
			s := &steps[len(steps)-1]
			s.stdin = append(s.stdin, strings.ReplaceAll(strings.TrimPrefix(rest, " "), `\t`, "\t"))
		}
	}
	return steps, nil
}

// split cuts a line into words; quotes keep spaces.
func split(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	inWord := false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inWord = c, true
		case quote == 0 && c == ' ':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// wipe deletes every topic and group.
func wipe(broker string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(broker))
	if err != nil {
		return err
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if groups, err := admin.ListGroups(ctx); err == nil {
		for _, g := range groups.Groups() {
			_, _ = admin.DeleteGroup(ctx, g)
		}
	}
	topics, err := admin.ListTopics(ctx)
	if err != nil {
		return err
	}
	_, err = admin.DeleteTopics(ctx, topics.Names()...)
	return err
}

// classes are the main classes of Apache's tools.
var classes = map[string]string{
	"kafka-topics":              "TopicCommand",
	"kafka-configs":             "ConfigCommand",
	"kafka-consumer-groups":     "consumer.group.ConsumerGroupCommand",
	"kafka-groups":              "GroupsCommand",
	"kafka-console-producer":    "ConsoleProducer",
	"kafka-console-consumer":    "consumer.ConsoleConsumer",
	"kafka-get-offsets":         "GetOffsetShell",
	"kafka-delete-records":      "DeleteRecordsCommand",
	"kafka-log-dirs":            "LogDirsCommand",
	"kafka-cluster":             "ClusterTool",
	"kafka-features":            "FeatureCommand",
	"kafka-leader-election":     "LeaderElectionCommand",
	"kafka-metadata-quorum":     "MetadataQuorumCommand",
	"kafka-broker-api-versions": "BrokerApiVersionsCommand",
	"kafka-producer-perf-test":  "ProducerPerformance",
	"kafka-consumer-perf-test":  "ConsumerPerformance",
	"kafka-dump-log":            "DumpLogSegments",
	"kafka-storage":             "kafka.tools.StorageTool",
}

func className(tool string) string {
	c := classes[tool]
	if strings.HasPrefix(c, "kafka.") {
		return c
	}
	return "org.apache.kafka.tools." + c
}

func runApache(steps []step, jars, oracle, broker string) ([]result, error) {
	var in bytes.Buffer
	for _, s := range steps {
		words := append([]string{className(s.words[0])}, s.words[1:]...)
		in.WriteString(strings.ReplaceAll(strings.Join(words, "\x1f"), "{B}", broker) + "\n")
		for _, l := range s.stdin {
			in.WriteString("<" + l + "\n")
		}
	}
	cmd := exec.Command("java", "-Xmx256m", "-XX:TieredStopAtLevel=1",
		"-Dlog4j2.configurationFile="+filepath.Join(filepath.Dir(filepath.Clean(jars)), "log4j2.properties"),
		"-cp", filepath.Join(jars, "*"), oracle)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("Apache's tools: %w", err)
	}
	var results []result
	var r result
	for line := range strings.SplitSeq(string(out), "\n") {
		tag, text, _ := strings.Cut(line, "|")
		switch tag {
		case "1":
			r.out = append(r.out, text)
		case "2":
			r.err = append(r.err, text)
		case "=":
			r.code = text
			results = append(results, r)
			r = result{}
		}
	}
	if len(results) != len(steps) {
		return nil, fmt.Errorf("Apache's tools answered %d of %d commands", len(results), len(steps))
	}
	return results, nil
}

func runKalda(steps []step, kalda, broker string) []result {
	results := make([]result, len(steps))
	for i, s := range steps {
		args := make([]string, len(s.words))
		for j, w := range s.words {
			args[j] = strings.ReplaceAll(w, "{B}", broker)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
		cmd := exec.CommandContext(ctx, kalda, args...)
		if len(s.stdin) > 0 {
			cmd.Stdin = strings.NewReader(strings.Join(s.stdin, "\n") + "\n")
		}
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		_ = cmd.Run()
		results[i] = result{lines(out.String()), lines(errs.String()), fmt.Sprint(cmd.ProcessState.ExitCode())}
		if ctx.Err() != nil {
			results[i].code = "124"
		}
		cancel()
	}
	return results
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	all := strings.Split(text, "\n")
	if last := len(all) - 1; all[last] == "" {
		return all[:last]
	}
	all[len(all)-1] += `\`
	return all
}

// mask hides what differs from run to run, and what is not meant to be equal.
func (r *result) mask(broker string) {
	rules := []struct{ re, with string }{
		{regexp.QuoteMeta(broker), "BROKER"},
		{`TopicId: [A-Za-z0-9_-]{22}`, "TopicId: ID"},
		{`console-consumer-\d+`, "console-consumer-N"},
		{`-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "-UUID"},
		{`(CreateTime|LogAppendTime):\s?\d+`, "$1:T"},
	}
	for _, rule := range rules {
		re := regexp.MustCompile(rule.re)
		for i := range r.out {
			r.out[i] = re.ReplaceAllString(r.out[i], rule.with)
		}
		for i := range r.err {
			r.err[i] = re.ReplaceAllString(r.err[i], rule.with)
		}
	}
	r.err = trimErrors(r.err)
	for i, l := range r.err {
		r.err[i] = sortList(l)
	}
}

// sortList sorts the options that a complaint lists: Apache's tools print them in the order of a hash table.
func sortList(line string) string {
	head, list, ok := strings.Cut(line, ": ")
	if !ok || !strings.HasPrefix(line, "Option") && !strings.HasPrefix(line, "Invalid state") &&
		!strings.HasPrefix(line, "Invalid types") {
		return line
	}
	words := strings.Split(strings.NewReplacer("[[", "[", "]]", "]").Replace(list), ", ")
	sort.Strings(words)
	return head + ": " + strings.Join(words, ", ")
}

// trimErrors drops help texts, stack traces, advertisements and warnings of the client.
func trimErrors(all []string) []string {
	var kept []string
	for _, l := range all {
		if strings.HasPrefix(l, "Option ") && strings.Contains(l, "Description") {
			break
		}
		switch {
		case strings.HasPrefix(l, "usage: "), strings.HasPrefix(l, "          "),
			strings.HasPrefix(l, "\t"), strings.HasPrefix(l, "Caused by"), strings.HasPrefix(l, "WARN These"),
			strings.Contains(l, "KIP-848"), strings.HasPrefix(l, "WARN Connection"), strings.HasPrefix(l,
				"WARN New offset"):
			continue
		}
		for {
			class, text, ok := strings.Cut(l, ": ")
			if !ok || strings.Contains(class, " ") ||
				!strings.HasSuffix(class, "Exception") && !strings.HasSuffix(class, "Error") {
				break
			}
			l = text
		}
		l = strings.TrimRight(l, " ")
		if len(kept) == 0 || kept[len(kept)-1] != l {
			kept = append(kept, l)
		}
	}
	for len(kept) > 0 && kept[len(kept)-1] == "" {
		kept = kept[:len(kept)-1]
	}
	return kept
}

func difference(want, got result) string {
	var b strings.Builder
	if want.code != got.code {
		fmt.Fprintf(&b, "  exit code %s, want %s\n", got.code, want.code)
	}
	diffLines(&b, "out", want.out, got.out)
	diffLines(&b, "err", want.err, got.err)
	return b.String()
}

// diffLines shows lines that only one side has; their order does not count.
func diffLines(b *strings.Builder, what string, want, got []string) {
	w, g := strings.Join(want, "\n"), strings.Join(got, "\n")
	if w == g {
		return
	}
	ws, gs := append([]string(nil), want...), append([]string(nil), got...)
	sort.Strings(ws)
	sort.Strings(gs)
	if strings.Join(ws, "\n") == strings.Join(gs, "\n") {
		return // Apache's tools list in the order of a hash table
	}
	count := make(map[string]int)
	for _, l := range want {
		count[l]++
	}
	for _, l := range got {
		if count[l]--; count[l] < 0 {
			fmt.Fprintf(b, "  %s + %s\n", what, l)
		}
	}
	for _, l := range want {
		if count[l] > 0 {
			count[l]--
			fmt.Fprintf(b, "  %s - %s\n", what, l)
		}
	}
}
