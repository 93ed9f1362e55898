package tool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kalda/kalda/internal/server/storage"
	"github.com/kalda/kalda/internal/tool/opt"
)

func producePerfSpec() *opt.Spec {
	return &opt.Spec{About: "This tool is used to verify the producer performance.", Flags: []opt.Flag{
		{Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...", Help: "The brokers to ask."},
		{Name: "topic", Arity: opt.Required, Arg: "topic", Help: "Produce records to this topic."},
		{Name: "num-records", Arity: opt.Required, Arg: "number", Help: "How many records to produce."},
		{
			Name: "payload-delimiter", Arity: opt.Required, Arg: "text",
			Help: `What separates the payloads of --payload-file (default \n).`,
		},
		{
			Name: "throughput", Arity: opt.Required, Arg: "records/s",
			Help: "About how many records to send a second; -1 for no limit.",
		},
		{Name: "producer-props", Arity: opt.Many, Arg: "name=value ...", Help: "The old name of " +
			"--command-property."},
		{Name: "command-property", Arity: opt.Many, Arg: "name=value ...", Help: "Properties of the producer."},
		{Name: "producer.config", Arity: opt.Required, Arg: "file", Help: "The old name of --command-config."},
		{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Producer properties in a file."},
		{Name: "print-metrics", Help: "Print the client's metrics at the end."},
		{Name: "transactional-id", Arity: opt.Required, Arg: "id", Help: "Send in transactions under this id."},
		{
			Name: "transaction-duration-ms", Arity: opt.Required, Arg: "ms",
			Help: "The length of a transaction (default 3000 where there are transactions).",
		},
		{
			Name: "warmup-records", Arity: opt.Required, Arg: "number",
			Help: "The first records, which a second summary leaves out (default 0).",
		},
		{Name: "reporting-interval", Arity: opt.Required, Arg: "ms", Help: "How often to report (default 5000)."},
		{Name: "record-key-range", Arity: opt.Required, Arg: "number", Help: "Keys are whole numbers below this."},
		{
			Name: "key-distribution", Arity: opt.Required, Arg: "none|range|random",
			Help: "No keys (the default), one after the other, or at random.",
		},
		{Name: "random-seed", Arity: opt.Required, Arg: "number", Help: "What keys and payloads are drawn from."},
		{Name: "record-size", Arity: opt.Required, Arg: "bytes", Help: "Size of a payload: one of this, " +
			"--payload-file and --payload-monotonic is needed."},
		{Name: "payload-file", Arity: opt.Required, Arg: "file", Help: "A file of payloads, one of which is " +
			"drawn " +
			"for each record."},
		{Name: "payload-monotonic", Help: "The payload is the record's number."},
	}}
}

// producePerf is kafka-producer-perf-test.
func producePerf(env *Env, args []string) int {
	required := []string{"topic", "num-records", "throughput"}
	return env.lone(args, producePerfSpec(), required, func(o *opt.Options) error {
		t, p, err := env.producePerfOf(o)
		if err != nil {
			return err
		}
		return t.run(p)
	})
}

// produceTest is one run.
type produceTest struct {
	*Env
	*sender
	topic       string
	records     int64
	throughput  int64
	source      *payloads
	warmup      int64
	interval    time.Duration
	transaction time.Duration // 0: none
	metrics     *clientMetrics
	print       bool
	stats       *produceStats
}

func (env *Env) producePerfOf(o *opt.Options) (*produceTest, props, error) {
	t := &produceTest{
		Env: env, topic: o.Or("topic", ""), print: o.Has("print-metrics"),
		metrics: &clientMetrics{},
	}
	interval := int64(0)
	for _, n := range []struct {
		flag string
		def  int64
		to   *int64
	}{
		{"num-records", 0, &t.records},
		{"throughput", -1, &t.throughput},
		{"warmup-records", 0, &t.warmup},
		{"reporting-interval", 5000, &interval},
	} {
		var err error
		if *n.to, err = argInt(o, n.flag, n.def); err != nil {
			return nil, nil, err
		}
	}
	t.interval = time.Duration(interval) * time.Millisecond
	if err := t.check(o); err != nil {
		return nil, nil, err
	}
	p, err := env.producePerfProps(o)
	if err != nil {
		return nil, nil, err
	}
	if t.transaction, err = transactionOf(o, p); err != nil {
		return nil, nil, err
	}
	t.source, err = env.payloadsOf(o)
	return t, p, err
}

// argInt reads a whole number in the words of Apache's parser of this kind.
func argInt(o *opt.Options, name string, def int64) (int64, error) {
	n, err := o.Int64(name, def)
	if err != nil {
		v := o.Or(name, "")
		return 0, usagef("argument --%s: could not convert '%s' to Long (For input string: \"%s\")", name, v, v)
	}
	return n, nil
}

// check refuses what makes no sense, in Apache's order and words.
func (t *produceTest) check(o *opt.Options) error {
	const one = "--record-size --payload-file --payload-monotonic"
	switch {
	case o.Count("record-size", "payload-file", "payload-monotonic") == 0:
		return usagef("one of the arguments %s is required", one)
	case o.Has("record-size") && o.Has("payload-file"):
		return usagef("argument --payload-file: not allowed with argument --record-size")
	case o.Count("record-size", "payload-file", "payload-monotonic") > 1:
		first := "record-size"
		if o.Has("payload-file") {
			first = "payload-file"
		}
		return usagef("argument --payload-monotonic: not allowed with argument --%s", first)
	case !o.Has("bootstrap-server", "command-property", "producer-props", "producer.config", "command-config"):
		return usagef("At least one of --bootstrap-server, --command-property, --producer-props, " +
			"--producer.config or --command-config must be specified.")
	case o.Has("command-property") && o.Has("producer-props"):
		return usagef("--command-property and --producer-props cannot be specified together.")
	case o.Has("command-config") && o.Has("producer.config"):
		return usagef("--command-config and --producer.config cannot be specified together.")
	case t.records <= 0:
		return usagef("--num-records should be greater than zero.")
	case t.warmup >= t.records:
		return usagef("The value for --warmup-records must be strictly fewer than the number of records in the " +
			"test, --num-records.")
	case t.interval <= 0:
		return usagef("--reporting-interval should be greater than zero.")
	}
	return nil
}

// producePerfProps gathers the producer's settings: file, properties, flags.
func (env *Env) producePerfProps(o *opt.Options) (props, error) {
	for _, old := range [][2]string{{"producer-props", "command-property"}, {
		"producer.config",
		"command-config",
	}} {
		if o.Has(old[0]) {
			fmt.Fprintf(env.Out, "Option --%s has been deprecated and will be removed in a future version. Use --%s "+
				"instead.\n", old[0], old[1])
		}
	}
	p := make(props)
	for _, file := range either(o, "command-config", "producer.config") {
		var err error
		if p, err = loadProps(file); err != nil {
			return nil, err
		}
	}
	p.addPairs(either(o, "command-property", "producer-props"))
	if at := o.Or("bootstrap-server", ""); at != "" {
		p["bootstrap.servers"] = at
	}
	if p.get("client.id", "") == "" {
		p["client.id"] = "perf-producer-client"
	}
	return p, nil
}

// transactionOf says how long transactions are; 0 without. It sets the id where there is none.
func transactionOf(o *opt.Options, p props) (time.Duration, error) {
	ms, err := argInt(o, "transaction-duration-ms", 3000)
	if err != nil {
		return 0, err
	}
	if ms <= 0 {
		return 0, usagef("--transaction-duration-ms should be greater than zero.")
	}
	if id := o.Or("transactional-id", ""); id != "" {
		p["transactional.id"] = id
	}
	if p["transactional.id"] == "" {
		if !o.Has("transaction-duration-ms") {
			return 0, nil
		}
		p["transactional.id"] = "performance-producer-" + storage.RandomUUID()
	}
	return time.Duration(ms) * time.Millisecond, nil
}

func (t *produceTest) run(p props) error {
	var err error
	if t.sender, err = newSender(p); err != nil {
		return err
	}
	own, err := t.options(p, recordBound(&kgo.Record{Value: make([]byte, t.source.largest), Key: make([]byte,
		20)}))
	if err != nil {
		return err
	}
	own = append(own, kgo.AllowAutoTopicCreation(), kgo.UnknownTopicRetries(60), kgo.WithHooks(t.metrics))
	if t.client, err = t.connect(producerClient, p["bootstrap.servers"], p, own...); err != nil {
		return err
	}
	defer t.client.Close()
	if t.warmup > 0 {
		fmt.Fprintf(t.Out, "Warmup first %d records. Steady state results will print after the complete test "+
			"summary.\n", t.warmup)
	}
	t.stats = newProduceStats(t.Out, t.interval, t.warmup)
	if err := t.loop(); err != nil {
		return err
	}
	t.stats.printTotal(false)
	if t.warmup > 0 {
		t.stats.printTotal(true)
	}
	if t.print {
		t.metrics.print(t.Out, "producer", p["client.id"])
	}
	return nil
}

// loop sends all records, at the wished pace and in transactions if wished, and waits for them.
func (t *produceTest) loop() error {
	start := time.Now()
	var begun time.Time
	for i := int64(0); i < t.records; i++ {
		now := time.Now()
		if t.transaction > 0 && begun.IsZero() {
			if err := t.client.BeginTransaction(); err != nil {
				return err
			}
			begun = now
		}
		t.sendOne(i, now)
		if t.transaction > 0 && now.Sub(begun) >= t.transaction {
			if err := t.commit(); err != nil {
				return err
			}
			begun = time.Time{}
		}
		t.pace(start, i+1)
	}
	if !begun.IsZero() {
		return t.commit()
	}
	return t.client.Flush(context.Background())
}

// sendOne sends a record, its latency counted from now on, the waiting for memory included.
func (t *produceTest) sendOne(i int64, now time.Time) {
	rec := &kgo.Record{Topic: t.topic, Timestamp: now}
	rec.Key, rec.Value = t.source.next(i)
	t.send(rec, func(rec *kgo.Record, err error) {
		if err != nil {
			fmt.Fprintln(t.Err, classOf(err, "produce"))
			return
		}
		end := time.Now()
		t.stats.add(end.Sub(now).Milliseconds(), int64(len(rec.Value)), end)
	})
}

func (t *produceTest) commit() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := t.client.Flush(ctx); err != nil {
		return err
	}
	return t.client.EndTransaction(ctx, kgo.TryCommit)
}

// pace sleeps while the test is ahead of its throughput.
func (t *produceTest) pace(start time.Time, sent int64) {
	switch {
	case t.throughput < 0:
	case t.throughput == 0:
		select {} // Apache's tool too waits for good
	default:
		due := start.Add(time.Duration(float64(sent) / float64(t.throughput) * float64(time.Second)))
		if ahead := time.Until(due); ahead > 2*time.Millisecond {
			time.Sleep(ahead)
		}
	}
}

// delimiterOf reads a delimiter in which backslash escapes stand for what can't be typed.
func delimiterOf(text string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(text)
}
