package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/obs"
	"github.com/kalda/kalda/internal/server/node"
)

// running is an examination of a healthy node's cluster, of which a test says what it answers.
func running(t *testing.T) (*patient, *examination) {
	t.Helper()
	p := healthy(t)
	p.save()
	p.o.Bootstrap = "10.0.0.1:40011"
	x := &examination{o: &p.o, host: &p.host, busy: map[string]int{}, cluster: "c"}
	x.loadConfig()
	return p, x
}

func brokers(addrs ...string) (list kadm.BrokerDetails) {
	for i, a := range addrs {
		list = append(list, kadm.BrokerDetail{NodeID: int32(i + 1), Host: a, Port: 40011})
	}
	return list
}

func metadata(leader int32, isr ...int32) *kadm.Metadata {
	return &kadm.Metadata{Cluster: "c", Brokers: brokers("10.0.0.1"), Topics: kadm.TopicDetails{"t": {
		Topic: "t", Partitions: kadm.PartitionDetails{0: {
			Topic: "t", Leader: leader, Replicas: []int32{1, 2},
			ISR: isr,
		}},
	}}}
}

func configs(name, key, value string, source kmsg.ConfigSource) kadm.ResourceConfigs {
	return kadm.ResourceConfigs{{Name: name, Configs: []kadm.Config{{Key: key, Value: &value, Source: source}}}}
}

func TestEveryIllnessOfAClusterIsFound(t *testing.T) {
	ctx := t.Context()
	for name, c := range map[string]struct {
		examine func(p *patient, x *examination)
		s       Severity
		check   string
		what    string
	}{
		"nobody there": {func(p *patient, x *examination) {
			p.host.Dial = func(context.Context, string) error { return syscall.ECONNREFUSED }
			x.online(ctx)
		}, Error, "cluster", "can't be dialled: connection refused"},
		"an advertised address that is closed": {func(p *patient, x *examination) {
			p.host.Dial = func(context.Context, string) error { return syscall.ECONNREFUSED }
			x.brokers(ctx, brokers("10.0.0.1"))
		}, Error, "cluster", "can't be dialled from here"},
		"an advertised name": {
			func(_ *patient, x *examination) { x.brokers(ctx, brokers("nowhere")) }, Error,
			"cluster",
			"doesn't resolve here",
		},
		"two of one address": {
			func(_ *patient, x *examination) { x.brokers(ctx, brokers("a", "a")) }, Error,
			"cluster",
			"as broker 1 does",
		},
		"another cluster": {func(_ *patient, x *examination) {
			x.cluster = "d"
			x.sameCluster(metadata(1, 1, 2))
		}, Error, "cluster", "that of the data here is d"},
		"a node that isn't in it": {func(_ *patient, x *examination) {
			x.busy["/d"], x.cfg.NodeID = 1, 5
			x.sameCluster(metadata(1, 1, 2))
		}, Error, "cluster", "isn't among"},
		"no leader": {
			func(_ *patient, x *examination) { x.partitions(metadata(-1)) }, Error, "cluster",
			"no leader",
		},
		"lacking in sync": {
			func(_ *patient, x *examination) { x.partitions(metadata(1, 1)) }, Warning,
			"cluster", "lack",
		},
		"min.isr of a topic": {func(_ *patient, x *examination) {
			x.topicFactors(configs("t", "min.insync.replicas", "3", 0), nil, metadata(1, 1, 2))
		}, Error, "replication", "it has 2 replicas"},
		"configs that can't be read": {func(_ *patient, x *examination) {
			x.topicFactors(nil, errors.New("no"), metadata(1, 1, 2))
		}, Info, "cluster", "can't be read"},
		"a factor over the brokers": {func(p *patient, x *examination) {
			p.conf["default.replication.factor"] = "3"
			p.save()
			x.loadConfig()
			x.clusterFactors(1)
		}, Error, "replication", "1 brokers are alive"},
		"an internal factor over the brokers": {func(p *patient, x *examination) {
			p.conf["offsets.topic.replication.factor"] = "3"
			p.save()
			x.loadConfig()
			x.clusterFactors(1)
		}, Warning, "replication", "internal topic"},
		"set at run time": {func(p *patient, x *examination) {
			p.conf["log.retention.ms"] = "1000"
			p.save()
			x.loadConfig()
			x.drift(configs("1", "log.retention.ms", "2000", kmsg.ConfigSourceDynamicBrokerConfig), nil)
		}, Info, "config", "the file says 1000"},
		"a clock that differs": {func(p *patient, x *examination) {
			p.host.Date = func(context.Context, string) (time.Time, error) { return time.Now().Add(time.Hour), nil }
			x.cfg.HTTPListener = ":40013"
			x.brokerClock(ctx)
		}, Warning, "clock", "differ by 1h"},
	} {
		t.Run(name, func(t *testing.T) {
			p, x := running(t)
			c.examine(p, x)
			if !x.has(c.s, c.check, c.what, "") {
				t.Errorf("not found; found %+v", x.Findings)
			}
		})
	}
}

func TestManyNamesAreCutShort(t *testing.T) {
	if got := few(strings.Split("a b c d e f g", " ")); got != "a, b, c, d, e and 2 more" {
		t.Error(got)
	}
}

// A real node, examined while it runs on its data.
func TestARunningNode(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctl := l.Addr().(*net.TCPAddr).Port
	l.Close()
	overrides := []string{
		fmt.Sprintf("listeners=PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:%d", ctl),
		fmt.Sprintf("controller.quorum.voters=1@127.0.0.1:%d", ctl), "kalda.http.listener=127.0.0.1:0",
		"offsets.topic.num.partitions=1", "log.dirs=" + t.TempDir(),
	}
	cfg, _, err := config.Embedded("data", overrides)
	if err != nil {
		t.Fatal(err)
	}
	log := new(bytes.Buffer)
	n, err := node.Start(t.Context(), cfg, obs.NewLogs(log, 0))
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	defer func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	h := *ThisHost()
	// Locks exclude processes, and this is the node's own.
	h.Holder = func(string) (int, bool, error) { return 7, true, nil }
	h.Process = func(int) string { return "kalda server" }
	r := Run(t.Context(), &Options{
		Overrides: overrides, Offline: true,
		Bootstrap: n.Addr("PLAINTEXT").String(), Host: &h,
	})
	if r.has(Error, "", "", "") || r.has(Warning, "cluster", "", "") || !r.has(Info, "data", "a node is "+
		"running", "") {
		t.Errorf("%+v", r.Findings)
	}
	if !strings.Contains(strings.Join(r.Checked, "\n"), "1 brokers") {
		t.Errorf("%q", r.Checked)
	}
}
