package broker

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
)

// logDirs asks and checks what every answer has.
func logDirsOf(t *testing.T, f *fixture, cl *kgo.Client, topics ...string) map[string]string {
	t.Helper()
	req := kmsg.NewPtrDescribeLogDirsRequest()
	for _, name := range topics {
		k := kmsg.NewDescribeLogDirsRequestTopic()
		k.Topic, k.Partitions = name, []int32{0, 9}
		req.Topics = append(req.Topics, k)
	}
	resp, err := req.RequestWith(f.ctx(), cl.Broker(1))
	if err != nil || resp.ErrorCode != 0 || len(resp.Dirs) != len(f.dirs) {
		t.Fatalf("%+v %v", resp, err)
	}
	found := make(map[string]string)
	for _, d := range resp.Dirs {
		if d.ErrorCode != 0 {
			found[d.Dir] = kerr.Code(d.ErrorCode).String()
			continue
		}
		if d.TotalBytes <= 0 || d.UsableBytes < 0 || d.UsableBytes > d.TotalBytes {
			t.Errorf("%s: %d of %d bytes usable", d.Dir, d.UsableBytes, d.TotalBytes)
		}
		for _, topic := range d.Topics {
			for _, p := range topic.Partitions {
				if p.Size == 0 || p.OffsetLag != 0 || p.IsFuture {
					t.Errorf("%s: %+v", topic.Topic, p)
				}
				found[topic.Topic] = d.Dir
			}
		}
	}
	return found
}

func TestDescribeLogDirs(t *testing.T) {
	f := &fixture{t: t, logs: new(logBuffer), ctl: &fakeController{next: 4000}, dirs: []string{
		t.TempDir(),
		t.TempDir(),
	}}
	f.run()
	t.Cleanup(f.stop)
	for _, name := range []string{"a", "b"} {
		f.topic(name, 1)
	}
	cl := f.client(kgo.DefaultProduceTopic("a"))
	for _, name := range []string{"a", "b"} {
		rec := &kgo.Record{Topic: name, Value: []byte(strings.Repeat("v", 100))}
		if err := cl.ProduceSync(f.ctx(), rec).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	all := logDirsOf(t, f, cl)
	if len(all) != 2 || all["a"] == all["b"] {
		t.Fatalf("two topics in two directories: %v", all)
	}
	if one := logDirsOf(t, f, cl, "b", "nothing"); len(one) != 1 || one["b"] != all["b"] {
		t.Errorf("one topic: %v", one)
	}
	for _, d := range f.Broker.logs.dirs {
		if d.path == all["a"] {
			d.failed.Store(true)
		}
	}
	if left := logDirsOf(t, f, cl); left["b"] != all["b"] || left["a"] != "" ||
		left[all["a"]] != "KAFKA_STORAGE_ERROR" {
		t.Errorf("after a directory failed: %v", left)
	}
}
