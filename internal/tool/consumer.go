package tool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kalda/kalda/internal/tool/opt"
)

func consumerSpec() *opt.Spec {
	return &opt.Spec{
		About: "This tool helps to read data from Kafka topics and outputs it to standard output.",
		Flags: []opt.Flag{
			{Name: "topic", Arity: opt.Required, Arg: "topic", Help: "The topic to read."},
			{Name: "include", Arity: opt.Required, Arg: "regex", Help: "The topics to read, as a regular expression."},
			{
				Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...",
				Help: "REQUIRED: the brokers to ask.",
			},
			{Name: "partition", Arity: opt.Required, Arg: "number", Help: "The partition to read, without a group."},
			{
				Name: "offset", Arity: opt.Required, Arg: "offset",
				Help: "Where to start in that partition: a number, earliest or latest (default latest).",
			},
			{Name: "from-beginning", Help: "Start with the oldest record unless the group has offsets."},
			{Name: "max-messages", Arity: opt.Required, Arg: "number", Help: "End after so many records."},
			{Name: "timeout-ms", Arity: opt.Required, Arg: "ms", Help: "End when no record came for so long."},
			{Name: "group", Arity: opt.Required, Arg: "id", Help: "The consumer group (default: one of its own)."},
			{
				Name: "isolation-level", Arity: opt.Required, Arg: "level",
				Help: "read_committed or read_uncommitted (the default).",
			},
			{Name: "skip-message-on-error", Help: "Go on after a record that cannot be printed."},
			{Name: "enable-systest-events", Help: "Accepted; Apache's own tests use it."},
			{
				Name: "key-deserializer", Arity: opt.Required, Arg: "class",
				Help: "How keys are read; Apache's class names.",
			},
			{Name: "value-deserializer", Arity: opt.Required, Arg: "class", Help: "How values are read."},
			{
				Name: "formatter", Arity: opt.Required, Arg: "class",
				Help: "What prints records: Apache's class names for Default, Logging, NoOp, Offsets and GroupMetadata.",
			},
			{
				Name: "formatter-property", Arity: opt.Required, Arg: "name=value",
				Help: "print.timestamp, print.key, print.value, print.offset, print.partition, print.headers, " +
					"print.epoch, " +
					"print.delivery, key.separator, line.separator, headers.separator, null.literal and deserializers.",
			},
			{Name: "property", Arity: opt.Required, Arg: "name=value", Help: "The old name of --formatter-property."},
			{Name: "formatter-config", Arity: opt.Required, Arg: "file", Help: "Formatter properties in a file."},
			{Name: "command-property", Arity: opt.Required, Arg: "name=value", Help: "A property of the consumer."},
			{
				Name: "consumer-property", Arity: opt.Required, Arg: "name=value",
				Help: "The old name of --command-property.",
			},
			{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Consumer properties in a file."},
			{Name: "consumer.config", Arity: opt.Required, Arg: "file", Help: "The old name of --command-config."},
		},
	}
}

func consoleConsumer(env *Env, args []string) int {
	spec := consumerSpec()
	o, err := spec.Parse(args)
	if err != nil {
		return env.usage(spec, err.Error())
	}
	if code := env.preamble(spec, o, args); code >= 0 {
		return code
	}
	code, err := env.consumeLines(o)
	var bad *usageError
	switch {
	case err == nil:
		return code
	case errors.As(err, &bad):
		return env.usage(spec, bad.text)
	}
	fmt.Fprintln(env.Err, err)
	return 1
}

// consumption is one run of the console consumer.
type consumption struct {
	*Env
	client    *kgo.Client
	out       *bufio.Writer
	formatter formatter
	lenient   bool
	limit     int           // records; -1 without limit
	most      int           // records a poll: max.poll.records
	timeout   time.Duration // 0 without
	quit      <-chan os.Signal
	count     int
}

func (env *Env) consumeLines(o *opt.Options) (int, error) {
	p, group, err := env.checkConsumer(o)
	if err != nil {
		return 1, err
	}
	f, err := formatterOf(o)
	if err != nil {
		return 1, err
	}
	limit, err := o.Int("max-messages", -1)
	if err != nil {
		return 1, err
	}
	timeout, err := o.Int64("timeout-ms", 0)
	if err != nil {
		return 1, err
	}
	own, err := whereFrom(o, p, group)
	if err != nil {
		return 1, err
	}
	most, err := p.number("max.poll.records", 500)
	if err != nil {
		return 1, err
	}
	client, err := env.connect(consumerClient, strings.Join(o.All("bootstrap-server"), ","), p, own...)
	if err != nil {
		return 1, fmt.Errorf("Failed to create new KafkaConsumer\n%w", err)
	}
	c := &consumption{
		Env: env, client: client, out: bufio.NewWriterSize(env.Out, 64<<10), formatter: f,
		lenient: o.Has("skip-message-on-error"), limit: limit, most: int(max(most, 1)),
		timeout: time.Duration(timeout) * time.Millisecond,
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	c.quit = signals
	return c.run(), nil
}

// checkConsumer checks the options in Apache's order and gathers the consumer's settings and group.
func (env *Env) checkConsumer(o *opt.Options) (p props, group string, err error) {
	if o.Count("topic", "include") != 1 {
		return nil, "", usagef("Exactly one of the following arguments is required: [topic], [include]")
	}
	err = env.deprecated(o, "Option --%s is deprecated and will be removed in a future version. Use --%s "+
		"instead.",
		"consumer-property", "command-property", "property", "formatter-property", "consumer.config",
		"command-config")
	if err != nil {
		return nil, "", err
	}
	if err := o.Need("bootstrap-server"); err != nil {
		return nil, "", asUsage(err)
	}
	if o.Has("partition") && !o.Has("topic") {
		return nil, "", usagef("The topic is required when partition is specified.")
	}
	if o.Has("offset") {
		if !o.Has("partition") {
			return nil, "", usagef("The partition is required when offset is specified.")
		}
		if o.Has("from-beginning") {
			return nil, "", usagef("Options from-beginning and offset cannot be specified together.")
		}
	}
	return consumerProps(o)
}

func consumerProps(o *opt.Options) (p props, group string, err error) {
	p = make(props)
	for _, file := range either(o, "command-config", "consumer.config") {
		if p, err = loadProps(file); err != nil {
			return nil, "", errors.New(textOf(err, ""))
		}
	}
	delete(p, "bootstrap.servers")
	extra := make(props)
	extra.addPairs(either(o, "command-property", "consumer-property"))
	group, err = groupOf(o.All("group"), extra, p)
	if err != nil {
		return nil, "", err
	}
	maps.Copy(p, extra)
	if group != "" {
		if o.Has("partition") {
			return nil, "", usagef("Options group and partition cannot be specified together.")
		}
		p["group.id"] = group
	}
	if level := o.Or("isolation-level", ""); level != "" {
		if oneOf("", level, "read_committed", "read_uncommitted") != nil {
			return nil, "", fmt.Errorf("java.lang.IllegalArgumentException: Unexpected isolation level: %s", level)
		}
		p["isolation.level"] = level
	}
	if o.Has("from-beginning") {
		if v, set := p["auto.offset.reset"]; set && v != "earliest" {
			return nil, "", usagef("Can't simultaneously specify --from-beginning and 'auto.offset.reset=%s', "+
				"please remove one option", v)
		}
		p["auto.offset.reset"] = "earliest"
	}
	if _, set := p["client.id"]; !set {
		p["client.id"] = "console-consumer"
	}
	return p, group, nil
}

// groupOf reconciles the places where a group can be given.
func groupOf(flags []string, property, file props) (string, error) {
	var ids []string
	add := func(id string) {
		if slices.Contains(ids, id) {
			return
		}
		ids = append(ids, id)
	}
	for _, g := range flags {
		add(g)
	}
	if g, ok := property["group.id"]; ok {
		add(g)
	}
	if g, ok := file["group.id"]; ok {
		add(g)
	}
	if len(ids) > 1 {
		return "", usagef("The group ids provided in different places (directly using '--group', via "+
			"'--consumer-property', or via '--consumer.config') do not match. Detected group ids: '%s'",
			strings.Join(ids, "', '"))
	}
	if len(ids) == 0 {
		return "", nil
	}
	return ids[0], nil
}

// whereFrom decides what the client consumes: a partition of its own choice, or topics through a group.
func whereFrom(o *opt.Options, p props, group string) ([]kgo.Opt, error) {
	reset := kgo.NewOffset().AtEnd()
	switch v := p.get("auto.offset.reset", "latest"); v {
	case "earliest":
		reset = kgo.NewOffset().AtStart()
	case "latest":
	case "none":
		reset = kgo.NoResetOffset()
	default:
		return nil, oneOf("auto.offset.reset", v, "latest", "earliest", "none")
	}
	opts := []kgo.Opt{kgo.ConsumeResetOffset(reset)}
	if o.Has("partition") {
		partition, err := o.Int("partition", 0)
		if err != nil {
			return nil, asUsage(err)
		}
		at, err := startOffset(o, p)
		if err != nil {
			return nil, err
		}
		topic := o.Or("topic", "")
		return append(opts, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {int32(partition): at}})),
			nil
	}
	named := group != ""
	if !named {
		group = "console-consumer-" + strconv.Itoa(rand.IntN(100000))
	}
	grouped, err := p.groupOpts(group)
	if err != nil {
		return nil, err
	}
	opts = append(opts, grouped...)
	commit, err := p.truth("enable.auto.commit", named)
	if err != nil {
		return nil, err
	}
	if commit {
		opts = append(opts, kgo.AutoCommitMarks())
	} else {
		opts = append(opts, kgo.DisableAutoCommit())
	}
	if o.Has("include") {
		pattern := strings.TrimSpace(o.Or("include", ""))
		if _, err := regexp.Compile(pattern); err != nil {
			return nil, fmt.Errorf("java.util.regex.PatternSyntaxException: %w", err)
		}
		return append(opts, kgo.ConsumeRegex(), kgo.ConsumeTopics("^(?:"+pattern+")$")), nil
	}
	topic, err := o.One("topic")
	if create, wrong := p.truth("allow.auto.create.topics", true); wrong != nil {
		return nil, wrong
	} else if create {
		opts = append(opts, kgo.AllowAutoTopicCreation())
	}
	return append(opts, kgo.ConsumeTopics(topic)), err
}

func startOffset(o *opt.Options, p props) (kgo.Offset, error) {
	text := o.Or("offset", "")
	if !o.Has("offset") {
		text = p.get("auto.offset.reset", "latest")
	}
	switch strings.ToLower(text) {
	case "earliest":
		return kgo.NewOffset().AtStart(), nil
	case "latest":
		return kgo.NewOffset().AtEnd(), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return kgo.NewOffset(), usagef("The provided offset value '%s' is incorrect. Valid values are 'earliest', "+
			"'latest', or a non-negative long.", text)
	}
	return kgo.NewOffset().At(n), nil
}

// run prints until the limit, the timeout, a signal or a fault.
func (c *consumption) run() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var stop sync.Once
	go func() {
		if _, ok := <-c.quit; ok {
			stop.Do(cancel)
		}
	}()
	code := 0
	if c.limit != 0 {
		code = c.loop(ctx)
	}
	if err := c.out.Flush(); err != nil {
		fmt.Fprintln(c.Err, "Unable to write to standard out, closing consumer.")
	}
	fmt.Fprintf(c.Err, "Processed a total of %d messages\n", c.count)
	c.leave()
	return code
}

// leave commits what was printed and leaves the group. It is given little time: the records have been
// printed.
func (c *consumption) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if group, _ := c.client.GroupMetadata(); group != "" {
		_ = c.client.CommitMarkedOffsets(ctx)
		_ = c.client.LeaveGroupContext(ctx)
	}
	c.client.CloseAllowingRebalance()
}

func (c *consumption) loop(ctx context.Context) int {
	for {
		poll, cancel := ctx, context.CancelFunc(func() {})
		if c.timeout > 0 {
			poll, cancel = context.WithTimeout(ctx, c.timeout)
		}
		most := c.most
		if c.limit > 0 {
			most = min(most, c.limit-c.count)
		}
		fetches := c.client.PollRecords(poll, most)
		cancel()
		if ctx.Err() != nil {
			return 0
		}
		code, end := c.handle(fetches)
		if end {
			return code
		}
		if err := c.out.Flush(); err != nil {
			return 0
		}
	}
}

// handle prints one poll's records and says whether to end.
func (c *consumption) handle(fetches kgo.Fetches) (code int, end bool) {
	var fault error
	fetches.EachError(func(_ string, _ int32, err error) {
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) && fault == nil {
			fault = err
		}
	})
	for iter := fetches.RecordIter(); !iter.Done(); {
		rec := iter.Next()
		if err := c.formatter.write(c.out, rec); err != nil {
			if !c.lenient {
				c.count++
				fmt.Fprintf(c.Err, "ERROR Error processing message, terminating consumer process: %v\n", err)
				return 1, true
			}
			fmt.Fprintf(c.Err, "ERROR Error processing message, skipping this message: %v\n", err)
		}
		c.count++
		c.client.MarkCommitRecords(rec)
		if c.count == c.limit {
			return 0, true
		}
	}
	if fault != nil {
		fmt.Fprintf(c.Err, "ERROR Error processing message, terminating consumer process: %s\n", classOf(fault,
			"fetch"))
		return 1, true
	}
	return 0, fetches.NumRecords() == 0 && c.timeout > 0
}
