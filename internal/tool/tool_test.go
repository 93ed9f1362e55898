package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// try runs one command line and returns what it wrote and its exit code.
func try(t *testing.T, stdin string, argv ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	env := &Env{
		In: strings.NewReader(stdin), Out: &o, Err: &e, Getenv: func(string) string { return "" },
		Hooks: Hooks{Server: func(file string, overrides []string) int {
			o.WriteString("server " + file + " " + strings.Join(overrides, ",") + "\n")
			return 7
		}},
	}
	code = Dispatch(env, argv)
	return o.String(), e.String(), code
}

func TestDispatch(t *testing.T) {
	for _, c := range []struct {
		argv []string
		out  string
		code int
	}{
		{[]string{"kalda"}, "server  \n", 7},
		{
			[]string{"kalda", "server", "a.properties", "--override", "x=1", "--override=y=2"},
			"server a.properties x=1,y=2\n", 7,
		},
		{[]string{"/opt/bin/kafka-server-start.sh", "a.properties"}, "server a.properties \n", 7},
		{[]string{"kalda", "kafka-run-class", "kafka.Kafka", "a.properties"}, "server a.properties \n", 7},
		{[]string{"kafka-topics.sh", "--version"}, KafkaVersion + "\n", 0},
		{[]string{"kalda", "topics", "--version"}, KafkaVersion + "\n", 0},
		{[]string{"kalda", "kafka-topics", "--version"}, KafkaVersion + "\n", 0},
		{[]string{"kalda", "version", "--short"}, Version + "\n", 0},
	} {
		out, errs, code := try(t, "", c.argv...)
		if out != c.out || code != c.code {
			t.Errorf("%q: %q, %d, want %q, %d; stderr %q", c.argv, out, code, c.out, c.code, errs)
		}
	}
	if _, errs, code := try(t, "", "kalda", "topicz"); code != 1 || !strings.Contains(errs, "kafka-topics") {
		t.Errorf("no suggestion: %d %s", code, errs)
	}
}

// Every tool answers --help without doing anything.
func TestHelp(t *testing.T) {
	for _, tool := range Tools() {
		if strings.HasPrefix(tool.Name, "kafka-") && tool.Name != "kafka-run-class" {
			out, errs, code := try(t, "", "kalda", tool.Name, "--help")
			if len(out)+len(errs) < 40 || code > 1 || strings.HasPrefix(out, "server ") {
				t.Errorf("%s --help: %d %q %q", tool.Name, code, out, errs)
			}
		}
	}
}

// The first lines and exit codes are those of Apache Kafka 4.4.0's tools.
func TestRefusals(t *testing.T) {
	const b = " --bootstrap-server localhost:1"
	for line, want := range map[string]string{
		"kafka-topics --list": "--bootstrap-server must be specified",
		"kafka-topics --list --create" + b: "Command must include exactly one action: " +
			"--list, --describe, --create, --alter or --delete",
		"kafka-topics --create" + b: `Missing required argument "[topic]"`,
		"kafka-topics --list " +
			"--if-exists" + b: `Option "[if-exists]" can't be used with option "[list]"`,
		"kafka-topics --alter --topic a" + b:            `Missing required argument "[partitions]"`,
		"kafka-topics --list --bootstrap-server nohost": "Failed to create new KafkaAdminClient",
		"kafka-console-producer" + b:                    `Missing required argument "[topic]"`,
		"kafka-console-consumer" + b: "Exactly one of the following arguments is " +
			"required: [topic], [include]",
		"kafka-console-consumer --topic a": `Missing required argument "[bootstrap-server]"`,
		"kafka-console-consumer --topic a --offset 2" + b: "The partition is required when offset is " +
			"specified.",
		"kafka-console-consumer --topic a --formatter bogus" + b: "bogus",
		"kafka-consumer-groups --list":                           `Missing required argument "[bootstrap-server]"`,
		"kafka-consumer-groups --delete --group a --topic b" + b: "The consumer does not support topic-specific " +
			"offset deletion from a consumer group.",
		"kafka-configs --describe" + b: "At least one entity type must be specified",
		"kafka-configs --describe --topic a --broker 1" + b: "Only 'users' and 'clients' entity types may " +
			"be specified together",
		"kafka-configs --alter --broker x --delete-config a" + b: "The entity name for brokers must be a valid " +
			"integer broker id, but it is: x",
		"kafka-get-offsets --time bogus" + b: "Error occurred: Malformed time argument bogus. Please use -1 or " +
			"latest / -2 or earliest / " +
			"-3 or max-timestamp / -4 or earliest-local / -5 or latest-tiered / -6 or earliest-pending-upload, or " +
			"a specified long format timestamp",
		"kafka-storage version-mapping -r bogus": "Unknown metadata.version 'bogus'.",
	} {
		_, errs, code := try(t, "", append([]string{"kalda"}, strings.Fields(line)...)...)
		if first, _, _ := strings.Cut(errs, "\n"); code != 1 || !strings.HasPrefix(first, want) {
			t.Errorf("%s: %d %q, want 1 %q", line, code, first, want)
		}
	}
}

func TestStorage(t *testing.T) {
	out, _, code := try(t, "", "kalda", "storage", "version-mapping", "-r", "4.2-IV0")
	want := "metadata.version=28 (4.2-IV0)\nkraft.version=1\ntransaction.version=2\ngroup.version=1\n" +
		"eligible.leader.replicas.version=1\nshare.version=1\nstreams.version=0\n"
	if diff := cmp.Diff(want, out); diff != "" || code != 0 {
		t.Error(code, diff)
	}
	if out, _, code := try(t, "", "kalda", "storage", "random-uuid"); code != 0 || len(out) != 23 {
		t.Error(code, out)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "server.properties")
	text := "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@localhost:9093\n" +
		"listeners=PLAINTEXT://:9092,CONTROLLER://:9093\ncontroller.listener.names=CONTROLLER\nlog.dirs=" + dir + "/logs\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	format := []string{"kalda", "storage", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", file}
	if out, errs, code := try(t, "", format...); code != 0 || !strings.Contains(out,
		"with metadata.version 4.4-IV2.") {
		t.Error(code, out, errs)
	}
	if _, errs, code := try(t, "", format...); code != 1 || !strings.Contains(errs, "is already formatted") {
		t.Error(code, errs)
	}
	if out, _, code := try(t, "", append(format, "-g")...); code != 0 || out != "All of the log directories "+
		"are already formatted.\n" {
		t.Error(code, out)
	}
	out, _, code = try(t, "", "kalda", "storage", "info", "--config", file)
	if code != 0 || !strings.HasPrefix(out, "Found log directory:\n  "+dir+"/logs\n\nFound metadata: "+
		"{cluster.id=MkU3OEVBNTcwNTJENDM2Qg") {
		t.Error(code, out)
	}
}

func TestProperties(t *testing.T) {
	file := filepath.Join(t.TempDir(), "client.properties")
	for text, want := range map[string]props{
		"# c\na=1\n b : two words \na=2\nu=\\u00e9": {"a": "2", "b": "two words ", "u": "é"},
		"a=\\u00": nil, // as Java's own class: refused, not guessed
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := loadProps(file)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if refused := err != nil; refused != (want == nil) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLineReader(t *testing.T) {
	o, err := producerSpec().Parse(strings.Fields("--topic t --property parse.key=true --property " +
		"parse.headers=true " +
		"--property null.marker=NULL"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := readerOf(o,
		strings.NewReader("h1:v1,h2:v2\tk\tval\r\nh1:NULL\tNULL\tNULL\nNULL\tk\t\nbad\tk\tv\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []*kgo.Record{
		{
			Topic: "t", Key: []byte("k"), Value: []byte("val"),
			Headers: []kgo.RecordHeader{{Key: "h1", Value: []byte("v1")}, {Key: "h2", Value: []byte("v2")}},
		},
		{Topic: "t", Headers: []kgo.RecordHeader{{Key: "h1"}}},
		{Topic: "t", Key: []byte("k"), Value: []byte{}},
	}
	for i, w := range want {
		got, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Key) != string(w.Key) || (got.Key == nil) != (w.Key == nil) || string(got.Value) != string(w.Value) ||
			(got.Value == nil) != (w.Value == nil) || !cmp.Equal(got.Headers, w.Headers) {
			t.Errorf("line %d: %+v, want %+v", i+1, got, w)
		}
	}
	const text = "No header key separator found in pair 'bad' on line number 4"
	if _, err := r.next(); err == nil || err.Error() != text {
		t.Error(err)
	}
}

// The lines are those of Apache Kafka 4.4.0's DefaultMessageFormatter.
func TestTextFormatter(t *testing.T) {
	record := &kgo.Record{
		Partition: 1, Offset: 3, Timestamp: time.UnixMilli(1796150825621), Key: []byte("k"),
		Value: []byte("val"), Headers: []kgo.RecordHeader{{Key: "h1", Value: []byte("v1")}, {Key: "h2"}},
	}
	for line, want := range map[string]string{
		"":               "val\n",
		"print.key=true": "k\tval\n",
		"print.key=true print.value=false print.headers=true " +
			"headers.separator=|": "h1:v1|h2:null\tk\n",
		"print.key=true print.offset=true print.partition=true print.headers=true print.epoch=true " +
			"print.delivery=true": "Partition:1\tOffset:3\tDelivery:NOT_PRESENT\tEpoch:NOT_PRESENT\th1:v1,h2:null\tk\tval\n",
		"print.key=true key.separator== print.timestamp=true " +
			"line.separator=;": "CreateTime:1796150825621=k=val;",
	} {
		p := make(props)
		p.addPairs(strings.Fields(line))
		f, err := newTextFormatter(p)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.write(&b, record); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%s: %q, want %q", line, b.String(), want)
		}
	}
}

func TestDecoders(t *testing.T) {
	for _, c := range []struct {
		class string
		data  []byte
		want  string
	}{
		{"org.apache.kafka.common.serialization.LongDeserializer", []byte{0, 0, 0, 0, 0, 0, 1, 0}, "256"},
		{"IntegerDeserializer", []byte{255, 255, 255, 255}, "-1"},
		{"DoubleDeserializer", []byte{0x3f, 0xf0, 0, 0, 0, 0, 0, 0}, "1.0"},
		{"StringDeserializer", []byte{'a', 0xff}, "a\uFFFD"},
		{"BooleanDeserializer", []byte{1}, "true"},
	} {
		d, err := decoderOf(c.class)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d(c.data); err != nil || got != c.want {
			t.Errorf("%s: %q %v, want %q", c.class, got, err, c.want)
		}
	}
	if d, _ := decoderOf("LongDeserializer"); d != nil {
		if _, err := d([]byte{1}); err == nil {
			t.Error("a short long")
		}
	}
}

func TestJavaDouble(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", 1000: "1000.0", 50.5: "50.5", 1e7: "1.0E7",
		1.5e-4: "1.5E-4", -3: "-3.0",
	} {
		if got := javaDouble(v, 64); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	got, err := parseSettings("retention.ms=5000,cleanup.policy=[delete,compact],a=")
	want := []setting{{"retention.ms", "5000"}, {"cleanup.policy", "delete,compact"}, {"a", ""}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(setting{})); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := parseSettings("bogus"); err == nil {
		t.Error("bogus")
	}
}

func TestJaas(t *testing.T) {
	got := jaasOptions(`org.apache.kafka.common.security.plain.PlainLoginModule required username="al ice" password="s\"=;x";`)
	want := map[string]string{"username": "al ice", "password": `s"=;x`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAssignment(t *testing.T) {
	got, err := parseAssignment("1:2,2:3")
	if diff := cmp.Diff([][]int32{{1, 2}, {2, 3}}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for text, want := range map[string]string{
		"1:1":   "Partition replica lists may not contain duplicate entries: 1",
		"1,2:3": "Partition 1 has different replication factor: [2,3]",
		"x":     `For input string: "x"`,
	} {
		if _, err := parseAssignment(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[string]int64{
		"2020-01-01T00:00:00.000":       1577836800000,
		"2020-01-01T00:00:00.000Z":      1577836800000,
		"2020-01-01T02:00:00.000+02:00": 1577836800000,
		"2020-01-01T02:00:00.000+0200":  1577836800000,
	} {
		if got, err := parseDatetime(text); err != nil || got != want {
			t.Errorf("%s: %d %v", text, got, err)
		}
	}
	for text, want := range map[string]time.Duration{
		"PT5M": 5 * time.Minute, "P1DT2H": 26 * time.Hour,
		"PT1.5S": 1500 * time.Millisecond, "-PT1S": -time.Second,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "P", "5M", "bogus", "PT"} {
		if d, err := parseDuration(text); err == nil {
			t.Errorf("%q: %v", text, d)
		}
	}
}

func TestCSVText(t *testing.T) {
	for text, want := range map[string]string{
		"t2": "t2", "a,b": `"a,b"`, `a"b`: `"a""b"`,
		"a-topic-with-a-rather-long-name": `"a-topic-with-a-rather-long-name"`,
	} {
		if got := csvText(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestRules(t *testing.T) {
	f, err := rulesFilter("t1:0,t2:0-2,x.*:1-,y:-2")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		topic string
		p     int32
		want  bool
	}{
		{"t1", 0, true},
		{"t1", 1, false},
		{"t2", 1, true},
		{"t2", 2, false},
		{"xx", 0, false},
		{"xx", 9, true},
		{"y", 1, true},
		{"y", 2, false},
		{"t", 0, false},
	} {
		if got := f(c.topic, c.p); got != c.want {
			t.Errorf("%s-%d: %t", c.topic, c.p, got)
		}
	}
}

func TestExceptionNames(t *testing.T) {
	const prefix = "org.apache.kafka.common.errors."
	for code, want := range map[int16]string{
		3: "UnknownTopicOrPartitionException", 68: "GroupNotEmptyException",
		69: "GroupIdNotFoundException", 36: "TopicExistsException", 40: "InvalidConfigException",
		86: "GroupSubscribedToTopicException", 42: "InvalidRequestException", 17: "InvalidTopicException",
	} {
		if code == 40 {
			want = "InvalidConfigurationException"
		}
		if got := exception(code); got != prefix+want {
			t.Errorf("%d: %s, want %s", code, got, want)
		}
	}
}

// Only processes of a binary called kalda that run a node are stopped.
func TestServerArgs(t *testing.T) {
	for line, want := range map[string]string{
		"kalda":                                       "",
		"/x/kalda server a.properties":                "a.properties",
		"kalda kafka-server-start a.properties":       "a.properties",
		"kafka-server-start.sh a.properties":          "a.properties",
		"kalda topics --list":                         "no",
		"kalda kafka-console-consumer --topic server": "no",
		"kafka-topics.sh --list":                      "no",
	} {
		args, ok := serverArgs(strings.Fields(line))
		got := strings.Join(args, " ")
		if !ok {
			got = "no"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c.properties")
	if err := os.WriteFile(file, []byte("process.roles=controller\nnode.id=4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []process{{pid: 1}, {pid: 2, file: file}, {pid: 3, file: file, overrides: []string{"node.id=5"}}}
	for _, c := range []struct {
		role, id string
		want     []int
	}{
		{"", "", []int{1, 2, 3}},
		{"broker", "", []int{1}},
		{"controller", "", []int{1, 2, 3}},
		{
			"", "5",
			[]int{3},
		},
		{"broker", "4", []int{2}},
		{"", "9", nil},
	} {
		var got []int
		for _, p := range choose(all, c.role, c.id) {
			got = append(got, p.pid)
		}
		if !cmp.Equal(got, c.want) {
			t.Errorf("%q %q: %v, want %v", c.role, c.id, got, c.want)
		}
	}
}

func TestClientSettings(t *testing.T) {
	env := &Env{Err: &bytes.Buffer{}}
	p := props{
		"acks": "1", "linger.ms": "5", "compression.type": "lz4", "client.id": "x",
		"interceptor.classes": "Y",
	}
	if _, err := env.mapProps(producerClient, p); err != nil {
		t.Fatal(err)
	}
	if got := env.Err.(*bytes.Buffer).String(); got != "WARN These configurations do nothing here: "+
		"interceptor.classes\n" {
		t.Error(got)
	}
	for key, value := range map[string]string{"acks": "7", "compression.type": "rar", "linger.ms": "soon"} {
		if _, err := env.mapProps(producerClient, props{key: value}); err == nil {
			t.Errorf("%s=%s is taken", key, value)
		}
	}
}

// The tables are Apache Kafka 4.4.0's.
func TestGroupTables(t *testing.T) {
	v := groupView{
		id: "lg", state: "Stable", assignor: "range", coordinator: "127.0.0.1:37000  (1)", epoch: "-",
		targetEpoch: "-", members: []memberView{
			{
				id: "inst1-f7e7b896-02a0-4a17-9333-4dce1326e7de", instance: "inst1", host: "/127.0.0.1", client: "cB",
				epoch: "-", targetEpoch: "-", assigned: topicPartitions{"live1": {0, 1}},
			},
			{
				id: "cA-944ff64a-5636-4cc3-ac3e-789a88a78f93", host: "/127.0.0.1", client: "cA", epoch: "-",
				targetEpoch: "-", assigned: topicPartitions{"live1": {2}, "live2": {0, 1}},
			},
		},
	}
	golden, err := os.ReadFile("testdata/golden/groups.txt")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, line := range []string{"--members", "--members --verbose", "--state", "--state --verbose"} {
		o, err := groupsSpec().Parse(strings.Fields("--describe " + line))
		if err != nil {
			t.Fatal(err)
		}
		g := &groupsRun{Env: &Env{Out: &b, Err: &b}, Options: o}
		if o.Has("members") {
			g.showMembers(&v)
		} else {
			g.showState(&v)
		}
	}
	if diff := cmp.Diff(string(golden), b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTopicTable(t *testing.T) {
	var b bytes.Buffer
	v := topicView{name: "t", id: [16]byte{1}, partitions: []partitionView{
		{number: 0, leader: 1, replicas: []int32{1, 2}, isr: []int32{1}, eligible: true},
		{number: 1, leader: -1, replicas: []int32{1, 2}, isr: nil, adding: []int32{3}, removing: []int32{2}},
	}}
	writeTopic(&b, &v, "a=b")
	for i := range v.partitions {
		writePartition(&b, "t", &v.partitions[i])
	}
	want := "Topic: t\tTopicId: AQAAAAAAAAAAAAAAAAAAAA\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: " +
		"a=b\n" +
		"\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\tElr: \tLastKnownElr: \n" +
		"\tTopic: t\tPartition: 1\tLeader: none\tReplicas: 1,2\tIsr: \tAdding Replicas: 3\tRemoving Replicas: 2" +
		"\tElr: N/A\tLastKnownElr: N/A\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
