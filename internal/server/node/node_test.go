package node

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/obs"
)

// freePort is a port that nobody listens on now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// embedded is the embedded default in dir, on free ports.
func embedded(t *testing.T, dir string, more ...string) *config.Server {
	t.Helper()
	ctl := freePort(t)
	cfg, _, err := config.Embedded(dir, append([]string{
		fmt.Sprintf("listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:%d", ctl),
		fmt.Sprintf("controller.quorum.bootstrap.servers=127.0.0.1:%d", ctl),
		"kalda.http.listener=127.0.0.1:0", "group.initial.rebalance.delay.ms=0", "offsets.topic.num.partitions=3",
	}, more...))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// started is a node that stops with the test, and its log.
func started(t *testing.T, cfg *config.Server) (*Node, *bytes.Buffer) {
	t.Helper()
	log := new(bytes.Buffer)
	n, err := Start(t.Context(), cfg, obs.NewLogs(log, -4))
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	return n, log
}

func stop(t *testing.T, n *Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

func client(t *testing.T, n *Node, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(n.Addr("PLAINTEXT").String())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func produce(t *testing.T, cl *kgo.Client, topic string, from, to int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for i := from; i < to; i++ {
		if err := cl.ProduceSync(ctx, kgo.StringRecord(fmt.Sprint(i))).FirstErr(); err != nil {
			t.Fatalf("record %d of %s: %v", i, topic, err)
		}
	}
}

func consume(t *testing.T, cl *kgo.Client, n int) (values []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for len(values) < n {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d records: %v", len(values), err)
		}
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	return values
}

func TestNode_KeepsTopicsRecordsAndOffsetsOverARestart(t *testing.T) {
	dir := t.TempDir()
	n, _ := started(t, embedded(t, dir))
	cl := client(t, n, kgo.DefaultProduceTopic("t"))
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), 1, 1, nil, "t"); err != nil {
		t.Fatal(err)
	}
	produce(t, cl, "t", 0, 10)
	group := client(t, n, kgo.ConsumeTopics("t"), kgo.ConsumerGroup("g"), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	consume(t, group, 10)
	if err := group.CommitUncommittedOffsets(t.Context()); err != nil {
		t.Fatal(err)
	}
	group.Close()
	cl.Close()
	stop(t, n)

	n, _ = started(t, embedded(t, dir))
	defer stop(t, n)
	cl = client(t, n, kgo.DefaultProduceTopic("t"))
	produce(t, cl, "t", 10, 12)
	group = client(t, n, kgo.ConsumeTopics("t"), kgo.ConsumerGroup("g"))
	if got := consume(t, group, 2); got[0] != "10" || got[1] != "11" {
		t.Errorf("the group goes on at %v, want 10 and 11", got)
	}
}

func TestNode_RefusesADirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	n, _ := started(t, embedded(t, dir))
	defer stop(t, n)
	_, err := Start(t.Context(), embedded(t, dir), obs.NewLogs(new(bytes.Buffer), 8))
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, ".lock")) {
		t.Errorf("a second node on the directory: %v, want the lock's name", err)
	}
}

// formatted is a server.properties whose directory holds a meta.properties.
func formatted(t *testing.T, meta string, lines ...string) *config.Server {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if meta != "" {
		if err := os.MkdirAll(data, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, "meta.properties"), []byte(meta), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "server.properties")
	text := fmt.Sprintf(`process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:%d
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:%[1]d
log.dirs=%s
`, freePort(t), data) + strings.Join(lines, "\n")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, _, err := config.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestNode_RefusesDirectoriesThatAreNotItsOwn(t *testing.T) {
	for _, c := range []struct {
		name, meta string
		want       []string
	}{
		{"another node's", "version=1\nnode.id=7\ncluster.id=abc\n", []string{"7", "1", "meta.properties"}},
		{"never formatted", "", []string{"format"}},
		{"garbage", "version=99\n", []string{"meta.properties"}},
	} {
		n, err := Start(t.Context(), formatted(t, c.meta), obs.NewLogs(new(bytes.Buffer), 8))
		if err == nil {
			stop(t, n)
			t.Errorf("%s: starts", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q doesn't say %q", c.name, err, w)
			}
		}
	}
}

func TestMain_NamesWhatIsWrongInTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.properties")
	text := "process.roles=broker,controller\nnode.id=one\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run(file, nil, nil, &out, &errs); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for _, w := range []string{file, "2", "node.id", "one"} {
		if !strings.Contains(errs.String(), w) {
			t.Errorf("%q doesn't say %q", errs.String(), w)
		}
	}
}

func TestNode_BrokerAndControllerApart(t *testing.T) {
	ctl := freePort(t)
	node := func(id int, roles, listeners string) *config.Server {
		dir := t.TempDir()
		meta := fmt.Sprintf("version=1\nnode.id=%d\ncluster.id=MkU3OEVBNTcwNTJENDM2Qg\n", id)
		if err := os.WriteFile(filepath.Join(dir, "meta.properties"), []byte(meta), 0o644); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "server.properties")
		text := fmt.Sprintf("process.roles=%s\nnode.id=%d\ncontroller.quorum.voters=1@127.0.0.1:%d\n"+
			"controller.listener.names=CONTROLLER\nlisteners=%s\nlog.dirs=%s\noffsets.topic.replication.factor=1\n",
			roles, id, ctl, listeners, dir)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := config.Load(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	c, _ := started(t, node(1, "controller", fmt.Sprintf("CONTROLLER://127.0.0.1:%d", ctl)))
	defer stop(t, c)
	b, _ := started(t, node(2, "broker", "PLAINTEXT://127.0.0.1:0"))
	defer stop(t, b)
	cl := client(t, b, kgo.DefaultProduceTopic("t"), kgo.ConsumeTopics("t"))
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), 1, 1, map[string]*string{"retention.ms": new("60000")}, "t"); err != nil {
		t.Fatal(err)
	}
	produce(t, cl, "t", 0, 5)
	if got := consume(t, cl, 5); got[4] != "4" {
		t.Errorf("consumed %v", got)
	}
}
