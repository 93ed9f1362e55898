package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/tool/opt"
)

func latencySpec() *opt.Spec {
	return &opt.Spec{About: "This tool measures end-to-end latency in Kafka by sending messages and timing " +
		"their " +
		"reception.", Flags: []opt.Flag{
		{
			Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...",
			Help: "REQUIRED: the brokers to ask.",
		},
		{Name: "topic", Arity: opt.Required, Arg: "topic", Help: "REQUIRED: the topic to use."},
		{Name: "num-records", Arity: opt.Required, Arg: "count", Help: "REQUIRED: how many records to send."},
		{Name: "producer-acks", Arity: opt.Required, Arg: "1|all", Help: "REQUIRED: acks of the producer."},
		{Name: "record-size", Arity: opt.Required, Arg: "bytes", Help: "REQUIRED: the size of each value."},
		{Name: "record-key-size", Arity: opt.Optional, Arg: "bytes", Help: "The size of the key (default 0: " +
			"none)."},
		{Name: "record-header-key-size", Arity: opt.Optional, Arg: "bytes", Help: "The size of a header's key."},
		{
			Name: "record-header-size", Arity: opt.Optional, Arg: "bytes",
			Help: "The size of a header's value; -1 for null.",
		},
		{Name: "num-headers", Arity: opt.Optional, Arg: "count", Help: "How many headers (default 0)."},
		{Name: "command-config", Arity: opt.Optional, Arg: "file", Help: "Client properties in a file."},
	}}
}

// endToEnd is kafka-e2e-latency.
func endToEnd(env *Env, args []string) int {
	spec := latencySpec()
	args, err := env.namedArguments(args)
	var o *opt.Options
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	if o, err = spec.Parse(args); err == nil {
		if code := env.preamble(spec, o, args); code >= 0 {
			return code
		}
		err = o.Need("bootstrap-server", "topic", "num-records", "producer-acks", "record-size")
	}
	t := &latencyTest{Env: env}
	if err == nil {
		err = t.read(o)
	}
	var bad *opt.Error
	var mistake *usageError
	if errors.As(err, &bad) || errors.As(err, &mistake) {
		return env.usage(spec, err.Error())
	}
	if err == nil {
		err = t.run(o)
	}
	if err != nil {
		fmt.Fprintln(env.Err, textOf(err, "listTopics"))
		return 1
	}
	return 0
}

// namedArguments turns the old form, five or six words, into options.
func (env *Env) namedArguments(args []string) ([]string, error) {
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			return args, nil
		}
	}
	const form = "bootstrap-server topic num-records producer-acks record-size"
	names := strings.Fields(form + " command-config")
	switch n := len(args); {
	case n == 0:
		return args, nil
	case n < 5 || n > 6:
		return nil, fmt.Errorf("Invalid number of arguments. Expected 5 or 6 positional arguments, but got %d. "+
			"Usage: %s [optional] command-config", n, form)
	}
	fmt.Fprintln(env.Out, "WARNING: Positional argument usage is deprecated and will be removed in Apache "+
		"Kafka "+
		"5.0. Please use named arguments instead: --bootstrap-server, --topic, --num-records, --producer-acks, "+
		"--record-size, --command-config")
	var named []string
	for i, a := range args {
		named = append(named, "--"+names[i], a)
	}
	return named, nil
}

// latencyTest is one run: one record at a time goes to the broker and comes back.
type latencyTest struct {
	*Env
	topic                          string
	records, size, key             int
	headers, headerKey, headerSize int
	acks                           string
}

func (t *latencyTest) read(o *opt.Options) error {
	t.topic, t.acks = o.Or("topic", ""), o.Or("producer-acks", "")
	for _, n := range []struct {
		flag string
		to   *int
	}{
		{"num-records", &t.records},
		{"record-size", &t.size},
		{"record-key-size", &t.key},
		{"num-headers", &t.headers},
		{"record-header-key-size", &t.headerKey},
		{"record-header-size", &t.headerSize},
	} {
		var err error
		if *n.to, err = o.Int(n.flag, 0); err != nil {
			return err
		}
	}
	switch {
	case t.records <= 0:
		return usagef("Value for --num-records must be a positive integer.")
	case t.size < 0:
		return usagef("Value for --record-size must be a non-negative integer.")
	case t.key < 0:
		return usagef("Value for --record-key-size must be a non-negative integer.")
	case t.headerKey < 0:
		return usagef("Value for --record-header-key-size must be a non-negative integer.")
	case t.headerSize < -1:
		return usagef("Value for --record-header-size must be a non-negative integer or -1 for null header value.")
	case t.headers < 0:
		return usagef("Value for --num-headers must be a non-negative integer.")
	case t.acks != "1" && t.acks != "all":
		return usagef("Invalid value for --producer-acks. Latency testing requires synchronous acknowledgement. " +
			"Please use '1' or 'all'.")
	}
	return nil
}

func (t *latencyTest) run(o *opt.Options) error {
	p := make(props)
	if file := o.Or("command-config", ""); file != "" {
		var err error
		if p, err = loadProps(file); err != nil {
			return err
		}
	}
	delete(p, "bootstrap.servers")
	at := o.Or("bootstrap-server", "")
	starts, err := t.ends(at, p)
	if err != nil {
		return err
	}
	consumer, err := t.connect(consumerClient, at, p, kgo.ConsumePartitions(starts),
		kgo.FetchMaxWait(time.Second))
	if err != nil {
		return err
	}
	defer consumer.Close()
	sending := make(props)
	maps.Copy(sending, p)
	sending["acks"], sending["linger.ms"] = t.acks, "0"
	producer, err := t.connect(producerClient, at, sending, kgo.ProducerBatchMaxBytes(int32(max(1<<20,
		2*t.size))))
	if err != nil {
		return err
	}
	defer producer.Close()
	return t.loop(producer, consumer)
}

// ends makes the topic where it is missing, and returns the ends of its partitions: what is there already
// must
// not be taken for what comes.
func (t *latencyTest) ends(at string, p props) (map[string]map[int32]kgo.Offset, error) {
	client, err := t.connect(adminClient, at, p)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx, cancel := apiContext(p)
	defer cancel()
	wanted := func(topic string, _ int32) bool { return topic == t.topic }
	parts, err := matchingPartitions(ctx, client, wanted, false)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 {
		fmt.Fprintf(t.Out, "Topic \"%s\" does not exist. Will create topic with 1 partition(s) and replication "+
			"factor = 1\n", t.topic)
		if err := createPlain(ctx, client, t.topic); err != nil {
			return nil, err
		}
		return map[string]map[int32]kgo.Offset{t.topic: {0: kgo.NewOffset().At(0)}}, nil
	}
	offsets := make(map[int32]kgo.Offset)
	for leader, mine := range byLeader(parts) {
		resp, err := listOffsetsRequest(mine, -1).RequestWith(ctx, client.Broker(int(leader)))
		if err != nil {
			return nil, err
		}
		for _, topic := range resp.Topics {
			for _, part := range topic.Partitions {
				if err := answer(part.ErrorCode, nil); err != nil {
					return nil, err
				}
				offsets[part.Partition] = kgo.NewOffset().At(part.Offset)
			}
		}
	}
	return map[string]map[int32]kgo.Offset{t.topic: offsets}, nil
}

// createPlain makes a topic of one partition and one replica.
func createPlain(ctx context.Context, client *kgo.Client, name string) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, 1, 1
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	for _, made := range resp.Topics {
		if err := answer(made.ErrorCode, made.ErrorMessage); err != nil {
			return err
		}
	}
	return nil
}

func (t *latencyTest) loop(producer, consumer *kgo.Client) error {
	random := rand.New(rand.NewPCG(0, 0))
	took := make([]int64, 0, t.records)
	total := 0.0
	for i := range t.records {
		rec := t.record(random)
		start := time.Now()
		if err := producer.ProduceSync(context.Background(), rec).FirstErr(); err != nil {
			return errors.New(classOf(err, "produce"))
		}
		got, err := nextRecord(consumer)
		elapsed := time.Since(start)
		if err == nil {
			err = same(rec, got)
		}
		if err != nil {
			return err
		}
		ms := float64(elapsed.Nanoseconds()) / 1000 / 1000
		if i%1000 == 0 {
			fmt.Fprintf(t.Out, "%d\t%s\n", i, javaDouble(ms, 64))
		}
		total += ms
		took = append(took, elapsed.Milliseconds())
	}
	fmt.Fprintf(t.Out, "Avg latency: %.4f ms\n", total/float64(t.records))
	slices.Sort(took)
	at := func(share float64) int64 { return took[int(float64(len(took))*share)] }
	fmt.Fprintf(t.Out, "Percentiles: 50th = %d, 99th = %d, 99.9th = %d\n", at(0.5), at(0.99), at(0.999))
	return nil
}

// record makes the next record: each part is one letter, repeated.
func (t *latencyTest) record(random *rand.Rand) *kgo.Record {
	letters := func(n int) []byte { return bytes.Repeat([]byte{'A' + byte(random.IntN(26))}, n) }
	rec := &kgo.Record{Topic: t.topic, Value: letters(t.size)}
	if t.key > 0 {
		rec.Key = letters(t.key)
	}
	for range t.headers {
		h := kgo.RecordHeader{Key: string(letters(t.headerKey))}
		if t.headerSize >= 0 {
			h.Value = letters(t.headerSize)
		}
		rec.Headers = append(rec.Headers, h)
	}
	return rec
}

// nextRecord waits for the record that was sent.
func nextRecord(consumer *kgo.Client) (*kgo.Record, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		fetches := consumer.PollRecords(ctx, 2)
		records := fetches.Records()
		switch {
		case len(records) == 1:
			return records[0], nil
		case len(records) > 1:
			return nil, fmt.Errorf("Only one result was expected during this test. We found [%d]", len(records))
		case ctx.Err() != nil:
			return nil, errors.New("poll() timed out before finding a result (timeout:[60000ms])")
		}
		if err := fetches.Err(); err != nil {
			return nil, errors.New(classOf(err, "fetch"))
		}
	}
}

func same(sent, got *kgo.Record) error {
	if !bytes.Equal(sent.Value, got.Value) {
		return fmt.Errorf("The message value read [%s] did not match the message value sent [%s]", got.Value,
			sent.Value)
	}
	if !bytes.Equal(sent.Key, got.Key) {
		return fmt.Errorf("The message key read [%s] did not match the message key sent [%s]", got.Key, sent.Key)
	}
	if len(sent.Headers) != len(got.Headers) {
		return fmt.Errorf("Expected %d headers, but received %d", len(sent.Headers), len(got.Headers))
	}
	return nil
}
