package tool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kalda/kalda/internal/tool/opt"
)

func consumePerfSpec() *opt.Spec {
	return &opt.Spec{About: "This tool is used to verify the consumer performance.", Flags: []opt.Flag{
		{
			Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...",
			Help: "REQUIRED: the brokers to ask.",
		},
		{Name: "topic", Arity: opt.Required, Arg: "topic", Help: "The topic to consume."},
		{Name: "include", Arity: opt.Required, Arg: "regex", Help: "The topics to consume, by a pattern."},
		{Name: "num-records", Arity: opt.Required, Arg: "count", Help: "REQUIRED: how many records to consume."},
		{Name: "messages", Arity: opt.Required, Arg: "count", Help: "The old name of --num-records."},
		{Name: "group", Arity: opt.Required, Arg: "id", Help: "The group (default: perf-consumer- and a number)."},
		{
			Name: "fetch-size", Arity: opt.Required, Arg: "bytes",
			Help: "Bytes fetched of a partition at once (default 1048576).",
		},
		{Name: "from-latest", Help: "Start at the end of the log where the group has no offset."},
		{Name: "socket-buffer-size", Arity: opt.Required, Arg: "bytes", Help: "The socket's buffer (default " +
			"2097152)."},
		{Name: "timeout", Arity: opt.Optional, Arg: "ms", Help: "The longest wait for a record (default 10000)."},
		{Name: "print-metrics", Help: "Print the client's metrics at the end."},
		{Name: "show-detailed-stats", Help: "Report once an interval."},
		{Name: "reporting-interval", Arity: opt.Required, Arg: "ms", Help: "The interval (default 5000)."},
		{
			Name: "date-format", Arity: opt.Required, Arg: "format",
			Help: "How times are shown, in Java's SimpleDateFormat (default yyyy-MM-dd HH:mm:ss:SSS).",
		},
		{Name: "hide-header", Help: "Leave the line of column names out."},
		{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Consumer properties in a file."},
		{Name: "consumer.config", Arity: opt.Required, Arg: "file", Help: "The old name of --command-config."},
		{Name: "command-property", Arity: opt.Required, Arg: "name=value", Help: "A property of the consumer."},
	}}
}

// consumePerf is kafka-consumer-perf-test.
func consumePerf(env *Env, args []string) int {
	spec := consumePerfSpec()
	o, err := spec.Parse(args)
	if err == nil {
		if code := env.preamble(spec, o, args); code >= 0 {
			return code
		}
		err = env.checkConsumePerf(o)
	}
	var bad *opt.Error
	var mistake *usageError
	if errors.As(err, &bad) || errors.As(err, &mistake) {
		return env.usage(spec, err.Error())
	}
	t := &consumeTest{Env: env}
	if err == nil {
		err = t.run(o)
	}
	if err != nil {
		fmt.Fprintln(env.Err, textOf(err, "consume"))
		return 1
	}
	return 0
}

func (env *Env) checkConsumePerf(o *opt.Options) error {
	if err := env.deprecated(o, "Warning: --%s is deprecated. Use --%s instead.", "consumer.config",
		"command-config"); err != nil {
		return err
	}
	for _, pair := range [][2]string{{"messages", "num-records"}, {"topic", "include"}} {
		if o.Count(pair[0], pair[1]) != 1 {
			return usagef("Exactly one of the following arguments is required: [%s], [%s]", pair[0], pair[1])
		}
	}
	if o.Has("messages") {
		fmt.Fprintln(env.Out, "Warning: --messages is deprecated. Use --num-records instead.")
	}
	return o.Need("bootstrap-server")
}

// consumeTest is one run of the consumer's load test.
type consumeTest struct {
	*Env
	client   *kgo.Client
	limit    int64
	timeout  time.Duration
	interval time.Duration
	most     int // records a poll: max.poll.records
	date     dateFormat
	detailed bool
	metrics  clientMetrics

	mu      sync.Mutex // guards the two below, which the client's callbacks change
	joining time.Time  // since when there is no assignment; zero: there is one
	joined  time.Duration

	start          time.Time
	records, bytes int64
}

func (t *consumeTest) run(o *opt.Options) error {
	p, own, err := t.settings(o)
	if err != nil {
		return err
	}
	t.detailed = o.Has("show-detailed-stats")
	if !o.Has("hide-header") {
		head := "start.time, end.time, "
		if t.detailed {
			head = "time, threadId, "
		}
		fmt.Fprintln(t.Out, head+"data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, "+
			"rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec")
	}
	if err := t.numbers(o, p); err != nil {
		return err
	}
	own = append(own, kgo.WithHooks(&t.metrics),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { t.turn(false) }),
		kgo.OnPartitionsRevoked(func(context.Context, *kgo.Client, map[string][]int32) { t.turn(true) }))
	t.start = time.Now()
	t.joining = t.start
	t.client, err = t.connect(consumerClient, strings.Join(o.All("bootstrap-server"), ","), p, own...)
	if err != nil {
		return err
	}
	t.loop()
	end := time.Now()
	if !t.detailed {
		t.total(end)
	}
	if o.Has("print-metrics") {
		t.metrics.print(t.Out, "consumer", p["client.id"])
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if p["enable.auto.commit"] != "false" {
		_ = t.client.CommitMarkedOffsets(ctx)
	}
	_ = t.client.LeaveGroupContext(ctx)
	t.client.CloseAllowingRebalance()
	return nil
}

// settings gathers the consumer's settings and what follows from them for the client.
func (t *consumeTest) settings(o *opt.Options) (props, []kgo.Opt, error) {
	p := make(props)
	for _, file := range either(o, "command-config", "consumer.config") {
		var err error
		if p, err = loadProps(file); err != nil {
			return nil, nil, err
		}
	}
	p.addPairs(o.All("command-property"))
	delete(p, "bootstrap.servers")
	p["group.id"] = o.Or("group", "perf-consumer-"+strconv.Itoa(rand.IntN(100000)))
	p["receive.buffer.bytes"] = o.Or("socket-buffer-size", "2097152")
	p["max.partition.fetch.bytes"] = o.Or("fetch-size", "1048576")
	reset := kgo.NewOffset().AtStart()
	if o.Has("from-latest") {
		reset = kgo.NewOffset().AtEnd()
	}
	delete(p, "auto.offset.reset")
	if p["client.id"] == "" {
		p["client.id"] = "perf-consumer-client"
	}
	own, err := p.groupOpts(p["group.id"])
	if err != nil {
		return nil, nil, err
	}
	own = append(own, kgo.ConsumeResetOffset(reset), kgo.AutoCommitMarks())
	if p["enable.auto.commit"] == "false" {
		own = append(own[:len(own)-1], kgo.DisableAutoCommit())
	}
	if o.Has("include") {
		pattern := o.Or("include", "")
		if _, err := regexp.Compile(pattern); err != nil {
			return nil, nil, err
		}
		return p, append(own, kgo.ConsumeRegex(), kgo.ConsumeTopics("^(?:"+pattern+")$")), nil
	}
	return p, append(own, kgo.AllowAutoTopicCreation(), kgo.ConsumeTopics(o.Or("topic", ""))), nil
}

// numbers reads what Apache's tool reads after its first line.
func (t *consumeTest) numbers(o *opt.Options, p props) error {
	limit, err := o.Int64("num-records", 0)
	if err == nil && o.Has("messages") {
		limit, err = o.Int64("messages", 0)
	}
	timeout, err2 := o.Int64("timeout", 10000)
	interval, err3 := o.Int64("reporting-interval", 5000)
	most, err4 := p.number("max.poll.records", 500)
	if err := firstOf(err, err2, err3, err4); err != nil {
		return err
	}
	if interval <= 0 {
		return errors.New("Reporting interval must be greater than 0.")
	}
	t.limit, t.most = limit, int(max(most, 1))
	t.timeout, t.interval = time.Duration(timeout)*time.Millisecond, time.Duration(interval)*time.Millisecond
	t.date, err = dateFormatOf(o.Or("date-format", "yyyy-MM-dd HH:mm:ss:SSS"))
	return err
}

// turn notes that an assignment is gone, or has come.
func (t *consumeTest) turn(gone bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch now := time.Now(); {
	case gone:
		t.joining = now
	case !t.joining.IsZero():
		t.joined += now.Sub(t.joining)
		t.joining = time.Time{}
	}
}

// rebalanced is the time without an assignment so far.
func (t *consumeTest) rebalanced() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.joined
}

// instant is a moment of the test, for the rates since then.
type instant struct {
	at             time.Time
	records, bytes int64
	joined         time.Duration
}

func (t *consumeTest) loop() {
	report := instant{at: t.start}
	last := t.start
	for t.records < t.limit {
		if now := time.Now(); now.Sub(last) > t.timeout {
			fmt.Fprintf(t.Out, "WARNING: Exiting before consuming the expected number of records: timeout (%d ms) "+
				"exceeded. You can use the --timeout option to increase the timeout.\n", t.timeout.Milliseconds())
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		fetches := t.client.PollRecords(ctx, t.most)
		cancel()
		if t.take(fetches) {
			last = time.Now()
		}
		if now := time.Now(); t.detailed && now.Sub(report.at) >= t.interval && t.records > 0 {
			report = t.progress(report, now)
		}
	}
}

// take counts a poll's records, prints its faults, and says whether there were records.
func (t *consumeTest) take(fetches kgo.Fetches) bool {
	before := t.records
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if p.Err != nil && !errors.Is(p.Err, context.DeadlineExceeded) {
			fmt.Fprintf(t.Err, "WARN %s\n", classOf(p.Err, "fetch"))
		}
		for _, r := range p.Records {
			t.bytes += int64(len(r.Key) + len(r.Value))
		}
		t.records += int64(len(p.Records))
		t.client.MarkCommitRecords(p.Records...)
	})
	return t.records > before
}

// progress prints the line of one interval and begins the next.
func (t *consumeTest) progress(since instant, now time.Time) instant {
	m := instant{now, t.records, t.bytes, t.rebalanced()}
	joined := m.joined - since.joined
	fmt.Fprintf(t.Out, "%s, 0, %.4f, %s\n", t.date.format(now), megabytes(m.bytes),
		rates(m.records, m.records-since.records, m.bytes-since.bytes, now.Sub(since.at), joined))
	return m
}

// total prints the only line of a run without details.
func (t *consumeTest) total(end time.Time) {
	fmt.Fprintf(t.Out, "%s, %s, %.4f, %s\n", t.date.format(t.start), t.date.format(end), megabytes(t.bytes),
		rates(t.records, t.records, t.bytes, end.Sub(t.start), t.rebalanced()))
}

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// rates are the columns that both kinds of line share: MB a second, all records, records a second, time
// without an assignment, the rest of the time, and both rates over that.
func rates(all, records, bytes int64, took, joined time.Duration) string {
	ms := max(took.Milliseconds(), 1)
	fetching := ms - joined.Milliseconds()
	per := func(n float64, ms int64) float64 {
		if ms == 0 {
			return n / 1e-3
		}
		return n * 1000 / float64(ms)
	}
	mb := megabytes(bytes)
	return fmt.Sprintf("%.4f, %d, %.4f, %d, %d, %.4f, %.4f", per(mb, ms), all, per(float64(records), ms),
		joined.Milliseconds(), fetching, per(mb, fetching), per(float64(records), fetching))
}
