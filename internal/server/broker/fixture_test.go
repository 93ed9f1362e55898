package broker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/wire"
)

// logBuffer keeps what was logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// fakeController gives out producer ids and makes nothing else.
type fakeController struct {
	mu   sync.Mutex
	next int64
	fail int // how many more requests fail
}

func (c *fakeController) Forward(req kmsg.Request, _ Origin, reply func(kmsg.Response)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	resp := req.ResponseKind()
	if r, ok := resp.(*kmsg.AllocateProducerIDsResponse); ok {
		if c.fail > 0 {
			c.fail--
			r.ErrorCode = 41
		} else {
			r.ProducerIDStart, r.ProducerIDLen = c.next, 1000
			c.next += 1000
		}
	}
	go reply(resp)
}

// fixture is a broker on a loopback socket whose metadata the test writes.
type fixture struct {
	*Broker
	t    testing.TB
	srv  *wire.Server
	addr string
	logs *logBuffer
	img  *meta.Image
	ctl  *fakeController
	dirs []string
}

func start(t testing.TB, change ...func(*Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, logs: new(logBuffer), ctl: &fakeController{next: 4000}, dirs: []string{t.TempDir()}}
	f.run(change...)
	t.Cleanup(f.stop)
	return f
}

func (f *fixture) run(change ...func(*Config)) {
	f.t.Helper()
	cfg := Config{NodeID: 1, ClusterID: "c", LogDirs: f.dirs, Forward: f.ctl}
	cfg.Log = slog.New(slog.NewTextHandler(f.logs, nil))
	node, _, err := config.Embedded(f.dirs[0], nil)
	if err != nil {
		f.t.Fatal(err)
	}
	cfg.Node = node
	for _, fn := range change {
		fn(&cfg)
	}
	b, err := New(cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Broker = b
	listener := wire.Listener{Name: "PLAINTEXT", Host: "127.0.0.1"}
	f.srv, err = wire.Listen(wire.Config{
		Listeners: []wire.Listener{listener}, Log: cfg.Log, Quotas: b.Quotas(),
	})
	if err != nil {
		f.t.Fatal(err)
	}
	addr := f.srv.Addr("PLAINTEXT")
	f.addr = addr.String()
	if f.img == nil {
		f.img = meta.Empty()
		f.apply(&record.RegisterBroker{BrokerID: 1, BrokerEpoch: 7, EndPoints: []record.EndPoint{
			{Name: "PLAINTEXT", Host: "127.0.0.1", Port: uint16(addr.Port)},
		}})
	} else {
		b.ApplyImage(f.img, &meta.Delta{Snapshot: true})
	}
	b.Start()
	if err := f.srv.Serve("PLAINTEXT", f.Table()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	f.srv.Shutdown(ctx)
	if err := f.Close(ctx); err != nil {
		f.t.Error(err)
	}
}

// crash ends the broker without anything that a stop does; run starts it again.
func (f *fixture) crash() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	f.srv.Shutdown(ctx)
	close(f.Broker.logs.stop)
	f.Broker.logs.wg.Wait()
	for _, d := range f.Broker.logs.dirs {
		if err := d.Abandon(); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f *fixture) apply(records ...record.Metadata) {
	f.t.Helper()
	var raw [][]byte
	for _, m := range records {
		raw = append(raw, record.AppendMetadata(nil, m, m.Latest()))
	}
	img, d, err := f.img.Apply(f.img.Offset+1, 1, time.Now().UnixMilli(), raw)
	if err != nil {
		f.t.Fatal(err)
	}
	f.img = img
	f.ApplyImage(img, d)
}

func topicID(name string) record.UUID {
	sum := sha256.Sum256([]byte(name))
	return record.UUID(sum[:16])
}

// topic makes a topic that this node leads, with configs as "key=value".
func (f *fixture) topic(name string, partitions int, configs ...string) {
	f.t.Helper()
	records := []record.Metadata{&record.Topic{Name: name, TopicID: topicID(name)}}
	for i := range partitions {
		records = append(records, &record.Partition{
			PartitionID: int32(i), TopicID: topicID(name), Leader: 1,
			Replicas: []record.NodeID{1}, ISR: []record.NodeID{1}, Directories: []record.UUID{{}},
		})
	}
	f.apply(append(records, configRecords(name, configs)...)...)
}

func configRecords(name string, configs []string) (out []record.Metadata) {
	for _, kv := range configs {
		k, v, _ := strings.Cut(kv, "=")
		out = append(out, &record.Config{ResourceType: 2, ResourceName: name, Name: k, Value: &v})
	}
	return out
}

func (f *fixture) client(opts ...kgo.Opt) *kgo.Client {
	f.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(f.addr)}, opts...)...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(cl.Close)
	return cl
}

func (f *fixture) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	f.t.Cleanup(cancel)
	return ctx
}
