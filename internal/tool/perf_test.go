package tool

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/tool/opt"
)

func TestLatencies(t *testing.T) {
	var l latencies
	for ms := int64(1); ms <= 1000; ms++ {
		l.add(ms)
	}
	l.add(longestLatency * 2)
	for share, want := range map[float64]int64{0.5: 501, 0.95: 951, 0.99: 991, 0.999: 1000, 1: longestLatency} {
		if got := l.percentile(share); got != want {
			t.Errorf("percentile %v: %d, want %d", share, got, want)
		}
	}
	if l.max != 2*longestLatency || l.n != 1001 {
		t.Error(l.max, l.n)
	}
}

// The lines are those of Apache's tool: windows, the note that the warm-up is over, and both summaries.
func TestProduceStats(t *testing.T) {
	var out bytes.Buffer
	s := newProduceStats(&out, time.Second, 2)
	start := time.Now()
	s.total.start, s.window.start = start, start
	for i := range 6 {
		s.add(int64(10*i), 100, start.Add(time.Duration(i)*400*time.Millisecond))
	}
	s.printTotal(false)
	s.printTotal(true)
	lines := strings.Split(out.String(), "\n")
	if want := "4 records sent, 3.3 records/sec (0.00 MB/sec), 15.0 ms avg latency, 30.0 ms max " +
		"latency."; lines[0] != want {
		t.Errorf("window: %q, want %q", lines[0], want)
	}
	for i, want := range map[int]string{
		1: " ms avg latency, 50.00 ms max latency, 30 ms 50th, 50 ms 95th, 50 ms 99th, 50 ms 99.9th.",
		2: " ms avg latency, 50.00 ms max latency, 40 ms 50th, 50 ms 95th, 50 ms 99th, 50 ms 99.9th.",
	} {
		if !strings.HasSuffix(lines[i], want) {
			t.Errorf("line %d: %q, want …%q", i, lines[i], want)
		}
	}
	if !strings.HasPrefix(lines[1], "6 records sent, ") || !strings.HasPrefix(lines[2],
		"4 steady state records sent, ") {
		t.Errorf("summaries: %q", lines[1:])
	}
}

func TestDateFormat(t *testing.T) {
	at := time.Date(2026, 3, 7, 15, 4, 5, 67e6, time.UTC)
	for pattern, want := range map[string]string{
		"yyyy-MM-dd HH:mm:ss:SSS":           "2026-03-07 15:04:05:067",
		"yy/M/d h:m a k K":                  "26/3/7 3:4 PM 15 3",
		"EEE EEEE MMM MMMM u D X z":         "Sat Saturday Mar March 6 66 Z UTC",
		"HH:mm:ss.SSSZ":                     "15:04:05.067+0000",
		"'it is' yyyy":                      "it is 2026",
		"yyyy'T'HH":                         "2026T15",
		"dd.MM.yyyy, HH 'Uhr' mm 'Minuten'": "07.03.2026, 15 Uhr 04 Minuten",
	} {
		f, err := dateFormatOf(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
		} else if got := f.format(at); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
	if _, err := dateFormatOf("x"); err == nil || err.Error() != "Illegal pattern character 'x'" {
		t.Error(err)
	}
}

// Apache's producer reckons 2,000,088 bytes for a value of 2,000,000.
func TestRecordBound(t *testing.T) {
	if n := recordBound(&kgo.Record{Value: make([]byte, 2000000)}); n != 2000088 {
		t.Error(n)
	}
	s := &sender{largest: 1 << 20, memory: 1 << 20}
	var got error
	s.send(&kgo.Record{Value: make([]byte, 2000000)}, func(_ *kgo.Record, err error) { got = err })
	if got == nil || !strings.Contains(got.Error(), "which is larger than 1048576") {
		t.Error(got)
	}
}

func TestPayloads(t *testing.T) {
	make := func(line string) *payloads {
		o, err := producePerfSpec().Parse(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		g, err := (&Env{Out: &bytes.Buffer{}}).payloadsOf(o)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	g, again := make("--record-size 100 --key-distribution range --record-key-range 3"),
		make("--record-size 100")
	for i := range int64(1000) {
		key, value := g.next(i)
		if len(value) != 100 || len(key) != 1 || key[0] != byte('0'+i%3) {
			t.Fatalf("record %d: %q %q", i, key, value)
		}
		if key, same := again.next(i); key != nil || !bytes.Equal(value, same) {
			t.Fatalf("record %d is another from the same seed", i)
		}
	}
	if _, value := make("--payload-monotonic").next(42); string(value) != "42" {
		t.Error(string(value))
	}
	for line, want := range map[string]string{
		"--record-size 0":                         "--record-size should be greater than zero.",
		"--record-size 1 --record-key-range 3":    "--key-distribution must be 'range' or 'random' when",
		"--record-size 1 --key-distribution foo":  "argument --key-distribution: invalid choice: 'foo'",
		"--record-size 1 --key-distribution none": "",
		"--payload-file /nonexistent":             "java.lang.IllegalArgumentException: File does not exist",
	} {
		o, err := producePerfSpec().Parse(strings.Fields(line))
		if err == nil {
			_, err = (&Env{Out: &bytes.Buffer{}}).payloadsOf(o)
		}
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestManyValues(t *testing.T) {
	spec := &opt.Spec{Flags: []opt.Flag{{Name: "p", Arity: opt.Many}, {Name: "x"}}}
	o, err := spec.Parse([]string{"--p", "a=1", "b=2", "--x"})
	if err != nil || len(o.All("p")) != 2 || !o.Has("x") {
		t.Error(o, err)
	}
	if _, err := spec.Parse([]string{"--p", "--x"}); err == nil {
		t.Error("no value was taken for one")
	}
}

// The refusals of the load tools are Apache's.
func TestPerfRefusals(t *testing.T) {
	const produce = "kafka-producer-perf-test --bootstrap-server localhost:1 --topic a --throughput -1 "
	const consume = "kafka-consumer-perf-test --bootstrap-server localhost:1 "
	const e2e = "kafka-e2e-latency --bootstrap-server localhost:1 --topic a "
	for line, want := range map[string]string{
		produce + "--record-size 1": "error: argument --num-records is required",
		produce + "--num-records 1": "error: one of the arguments --record-size --payload-file",
		produce + "--num-records x --record-size 1": "error: argument --num-records: could not convert 'x' " +
			"to Long",
		produce + "--num-records 0 --record-size 1":   "error: --num-records should be greater than zero.",
		produce + "--num-records 1 --record-size 1 z": "error: unrecognized arguments: 'z'",
		produce + "--num-records 1 --record-size 1 --warmup-records 1": "error: The value for --warmup-records " +
			"must " +
			"be strictly fewer",
		produce + "--num-records 1 --record-size 1 --transaction-duration-ms 0": "error: " +
			"--transaction-duration-ms " +
			"should be greater than zero.",
		produce + "--num-records 1 --record-size 1 --producer-props a=1 --command-property b=2": "error: " +
			"--command-property and --producer-props cannot be specified together.",
		consume + "--topic a": "Exactly one of the following arguments is " +
			"required: [messages]",
		consume + "--num-records 1": "Exactly one of the following arguments is " +
			"required: [topic], [include]",
		"kafka-e2e-latency localhost:1 a 1 1": "Invalid number of arguments. Expected 5 or " +
			"6 positional",
		e2e + "--num-records 1 --producer-acks 2 --record-size 1": "Invalid value for --producer-acks. Latency",
		e2e + "--num-records 0 --producer-acks 1 --record-size 1": "Value for --num-records must be a positive",
		e2e + "--num-records 1 --producer-acks 1":                 `Missing required argument "[record-size]"`,
	} {
		_, errs, code := try(t, "", append([]string{"kalda"}, strings.Fields(line)...)...)
		if code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: %d %q, want %q", line, code, errs, want)
		}
	}
}

// Settings that cannot act are named, once; those that act are not.
func TestIdleSettings(t *testing.T) {
	var errs bytes.Buffer
	env := &Env{Err: &errs}
	for _, c := range []struct {
		k    kind
		p    props
		want string
	}{
		{
			consumerClient,
			props{
				"group.protocol": "consumer", "max.poll.records": "10", "check.crcs": "false",
				"receive.buffer.bytes": "65536", "exclude.internal.topics": "false",
			},
			"WARN These configurations do nothing here: exclude.internal.topics, group.protocol\n",
		},
		{consumerClient, props{
			"group.protocol": "classic", "allow.auto.create.topics": "false",
			"key.deserializer": "org.apache.kafka.common.serialization.StringDeserializer",
		}, ""},
		{
			producerClient,
			props{
				"max.block.ms": "1", "max.request.size": "2", "retry.backoff.ms": "3",
				"send.buffer.bytes": "4", "value.serializer": "a.b.AvroSerializer",
			},
			"WARN These configurations do nothing here: value.serializer\n",
		},
		{adminClient, props{"linger.ms": "1"}, "WARN These configurations do nothing here: linger.ms\n"},
	} {
		errs.Reset()
		if _, err := env.mapProps(c.k, c.p); err != nil || errs.String() != c.want {
			t.Errorf("%v: %v %q, want %q", c.p, err, errs.String(), c.want)
		}
	}
	wait, err := backoffOf(props{"retry.backoff.ms": "10", "retry.backoff.max.ms": "35"})
	if err != nil || wait(1) != 10*time.Millisecond || wait(2) != 20*time.Millisecond ||
		wait(9) != 35*time.Millisecond {
		t.Error(err, wait(1), wait(2), wait(9))
	}
}

func TestWriteLogDir(t *testing.T) {
	part := func(n int32) kmsg.DescribeLogDirsResponseDirTopicPartition {
		return kmsg.DescribeLogDirsResponseDirTopicPartition{Partition: n, Size: 5}
	}
	topics := []kmsg.DescribeLogDirsResponseDirTopic{
		{Topic: "a", Partitions: []kmsg.DescribeLogDirsResponseDirTopicPartition{part(0), part(1)}},
		{Topic: "b", Partitions: []kmsg.DescribeLogDirsResponseDirTopicPartition{part(0)}},
	}
	var b strings.Builder
	writeLogDir(&b, &kmsg.DescribeLogDirsResponseDir{Dir: "/d", Topics: topics}, []string{"a"})
	writeLogDir(&b, &kmsg.DescribeLogDirsResponseDir{Dir: "/e", ErrorCode: 56}, nil)
	want := `{"partitions":[{"partition":"a-0","size":5,"offsetLag":0,"isFuture":false},` +
		`{"partition":"a-1","size":5,"offsetLag":0,"isFuture":false}],"error":null,"logDir":"/d"}` +
		`{"partitions":[],"error":"org.apache.kafka.common.errors.KafkaStorageException","logDir":"/e"}`
	if b.String() != want {
		t.Error(b.String())
	}
}
