package broker

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

func setConfig(kind meta.ConfigKind, name, key, value string) record.Metadata {
	return &record.Config{ResourceType: int8(kind), ResourceName: name, Name: key, Value: &value}
}

func describeConfigs(n *adminNode, kind config.Resource, name string,
	keys ...string,
) *kmsg.DescribeConfigsResponseResource {
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.IncludeSynonyms, req.IncludeDocumentation = true, true
	q := kmsg.NewDescribeConfigsRequestResource()
	q.ResourceType, q.ResourceName, q.ConfigNames = kmsg.ConfigResourceType(kind), name, keys
	req.Resources = append(req.Resources, q)
	return &ask[*kmsg.DescribeConfigsResponse](n, req).Resources[0]
}

func TestDescribeConfigs(t *testing.T) {
	n := newAdminNode(t, nil)
	n.apply(registered(1, "PLAINTEXT")...)
	n.apply(topicOf("t", 1, 1, 1)...)
	n.apply(setConfig(meta.ConfigTopic, "t", "retention.ms", "5"), setConfig(meta.ConfigBroker, "",
		"retention.ms", "1"),
		setConfig(meta.ConfigBroker, "", "message.max.bytes", "7"), setConfig(meta.ConfigBroker, "1",
			"message.max.bytes", "8"))
	r := describeConfigs(n, config.ResourceTopic, "t", "retention.ms", "max.message.bytes", "nope")
	if r.ErrorCode != 0 || len(r.Configs) != 2 {
		t.Fatalf("%+v", r)
	}
	for _, c := range r.Configs {
		want, source := "5", kmsg.ConfigSource(config.SourceTopic)
		if c.Name == "max.message.bytes" {
			want, source = "8", kmsg.ConfigSource(config.SourceDynamicBroker)
		}
		if *c.Value != want || c.Source != source || c.ReadOnly || c.Documentation == nil ||
			len(c.ConfigSynonyms) == 0 {
			t.Errorf("%+v", c)
		}
	}
	if r = describeConfigs(n, config.ResourceBroker, "1", "node.id"); len(r.Configs) != 1 ||
		*r.Configs[0].Value != "1" ||
		!r.Configs[0].ReadOnly {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		kind config.Resource
		name string
		want kerr.Code
		text string
	}{
		{config.ResourceTopic, "nope", kerr.UnknownTopicOrPartition, ""},
		{config.ResourceTopic, "", kerr.InvalidTopicException, "Topic name is invalid: the empty string is not " +
			"allowed"},
		{config.ResourceBroker, "x", kerr.InvalidRequest, "Broker id must be an integer, but it is: x"},
		{
			config.ResourceBroker, "2", kerr.InvalidRequest,
			"Unexpected broker id, expected 1 or empty string, but received 2",
		},
		{config.ResourceBrokerLogger, "", kerr.InvalidRequest, "Broker id must not be empty"},
		{config.ResourceGroup, "", kerr.InvalidRequest, "Group name must not be empty"},
		{config.ResourceClientMetrics, "", kerr.InvalidRequest, "Client metrics subscription name must not be " +
			"empty"},
		{99, "x", kerr.InvalidRequest, "Unsupported resource type: 99"},
		{config.ResourceGroup, "g", kerr.None, ""},
	} {
		if r := describeConfigs(n, c.kind, c.name); kerr.Code(r.ErrorCode) != c.want || *r.ErrorMessage != c.text {
			t.Errorf("%+v: %d %s", c, r.ErrorCode, *r.ErrorMessage)
		}
	}
}

type alteration struct {
	kind       config.Resource
	name, key  string
	op         kmsg.IncrementalAlterConfigOp
	value      *string
	want       kerr.Code
	text       string
	controller bool // reaches it
}

func alterConfigs(n *adminNode, list ...alteration) []kmsg.IncrementalAlterConfigsResponseResource {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	for _, a := range list {
		q := kmsg.NewIncrementalAlterConfigsRequestResource()
		q.ResourceType, q.ResourceName = kmsg.ConfigResourceType(a.kind), a.name
		k := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		k.Name, k.Op, k.Value = a.key, a.op, a.value
		q.Configs = append(q.Configs, k)
		req.Resources = append(req.Resources, q)
	}
	return ask[*kmsg.IncrementalAlterConfigsResponse](n, req).Resources
}

func TestIncrementalAlterConfigs(t *testing.T) {
	n := newAdminNode(t, nil)
	n.b.cfg.Logs.Named("log")
	n.controller.answer = func(req kmsg.Request) kmsg.Response {
		resp := req.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
		in := req.(*kmsg.IncrementalAlterConfigsRequest).Resources
		for i := range in { // in another order
			q := in[len(in)-1-i]
			row := kmsg.NewIncrementalAlterConfigsResponseResource()
			row.ResourceType, row.ResourceName = q.ResourceType, q.ResourceName
			if q.ResourceName == "refused" {
				row.ErrorCode, row.ErrorMessage = int16(kerr.InvalidConfig), new("no")
			}
			resp.Resources = append(resp.Resources, row)
		}
		return resp
	}
	set, del, app := kmsg.IncrementalAlterConfigOp(0), kmsg.IncrementalAlterConfigOp(1),
		kmsg.IncrementalAlterConfigOp(2)
	cases := []alteration{
		{config.ResourceTopic, "a", "retention.ms", set, new("5"), kerr.None, "", true},
		{config.ResourceTopic, "refused", "retention.ms", set, new("x"), kerr.InvalidConfig, "no", true},
		{
			config.ResourceTopic, "b", "retention.ms", set, nil, kerr.InvalidRequest,
			"Null value not supported for : retention.ms", false,
		},
		{config.ResourceTopic, "bad/name", "retention.ms", set, new("5"), kerr.InvalidTopicException, "Topic " +
			"name is " +
			"invalid: 'bad/name' contains one or more characters other than ASCII alphanumerics, '.', '_' and " +
			"'-'", false},
		{config.ResourceTopic, "c", "retention.ms", del, nil, kerr.None, "", true},
		{config.ResourceBroker, "", "log.retention.ms", set, new("5"), kerr.None, "", true},
		{config.ResourceBroker, "1", "log.retention.ms", set, new("5"), kerr.None, "", true},
		{
			config.ResourceBroker, "2", "log.retention.ms", set, new("5"), kerr.InvalidRequest,
			"Unexpected broker id, expected 1, but received 2", false,
		},
		{
			config.ResourceBroker, "x", "log.retention.ms", set, new("5"), kerr.InvalidRequest,
			"Node id must be an integer, but it is: x", false,
		},
		{config.ResourceBrokerLogger, "1", "log", set, new("DEBUG"), kerr.None, "", false},
		{
			config.ResourceBrokerLogger, "", "log", set, new("DEBUG"), kerr.InvalidRequest,
			"Node id must be an integer, but it is: ", false,
		},
	}
	reached := 0
	for i, got := range alterConfigs(n, cases...) {
		c := cases[i]
		text := ""
		if got.ErrorMessage != nil {
			text = *got.ErrorMessage
		}
		if got.ResourceName != c.name || kerr.Code(got.ErrorCode) != c.want || text != c.text {
			t.Errorf("%+v: %d %q", c, got.ErrorCode, text)
		}
		if c.controller {
			reached++
		}
	}
	if in := n.controller.requests()[0].(*kmsg.IncrementalAlterConfigsRequest).Resources; len(in) != reached {
		t.Errorf("%d resources reached the controller, not %d", len(in), reached)
	}
	if n.b.cfg.Logs.Levels()["log"] != slog.LevelDebug {
		t.Error("the level did not change")
	}
	for _, c := range []alteration{
		{config.ResourceBrokerLogger, "1", "log", set, new("foo"), kerr.InvalidConfig, "Cannot set the log " +
			"level of log to " +
			"foo as it is not a supported log level. Valid log levels are DEBUG, ERROR, FATAL, INFO, TRACE, " +
			"WARN", false},
		{config.ResourceBrokerLogger, "1", "nope", set, new("INFO"), kerr.InvalidConfig, "Logger nope does not " +
			"exist!", false},
		{
			config.ResourceBrokerLogger, "1", "root", del, nil, kerr.InvalidRequest,
			"Removing the log level of the root logger is not allowed", false,
		},
		{
			config.ResourceBrokerLogger, "1", "root", app, new("INFO"), kerr.InvalidRequest,
			"APPEND operation is not allowed for the BROKER_LOGGER resource", false,
		},
	} {
		if got := alterConfigs(n, c)[0]; kerr.Code(got.ErrorCode) != c.want || *got.ErrorMessage != c.text {
			t.Errorf("%+v: %d %s", c, got.ErrorCode, *got.ErrorMessage)
		}
	}
	twice := alteration{config.ResourceTopic, "t", "retention.ms", set, new("5"), 0, "", false}
	for _, got := range alterConfigs(n, twice, twice) {
		if kerr.Code(got.ErrorCode) != kerr.InvalidRequest || *got.ErrorMessage != "Each resource must appear "+
			"at most once." {
			t.Errorf("%+v", got)
		}
	}
}

func TestAlterConfigsIsForwarded(t *testing.T) {
	n := newAdminNode(t, nil)
	n.controller.answer = func(req kmsg.Request) kmsg.Response {
		resp := req.ResponseKind().(*kmsg.AlterConfigsResponse)
		for _, q := range req.(*kmsg.AlterConfigsRequest).Resources {
			row := kmsg.NewAlterConfigsResponseResource()
			row.ResourceType, row.ResourceName = q.ResourceType, q.ResourceName
			resp.Resources = append(resp.Resources, row)
		}
		return resp
	}
	req := kmsg.NewPtrAlterConfigsRequest()
	for _, kind := range []kmsg.ConfigResourceType{2, 8} {
		q := kmsg.NewAlterConfigsRequestResource()
		q.ResourceType, q.ResourceName = kind, "1"
		req.Resources = append(req.Resources, q)
	}
	resp := ask[*kmsg.AlterConfigsResponse](n, req)
	if resp.Resources[0].ErrorCode != 0 || kerr.Code(resp.Resources[1].ErrorCode) != kerr.InvalidRequest {
		t.Errorf("%+v", resp)
	}
}

func TestEffectiveTopicConfigFollowsTheImage(t *testing.T) {
	n := newAdminNode(t, nil)
	n.apply(topicOf("t", 1, 1, 1)...)
	if c := n.b.topicConfig(n.b.Image(), "t"); c.MaxMessageBytes != 1048588 {
		t.Error(c.MaxMessageBytes)
	}
	n.apply(setConfig(meta.ConfigBroker, "", "message.max.bytes", "7"))
	n.apply(setConfig(meta.ConfigTopic, "t", "segment.ms", "9"))
	if c := n.b.topicConfig(n.b.Image(), "t"); c.MaxMessageBytes != 7 || c.SegmentMs != 9 {
		t.Errorf("%+v", c)
	}
	all := map[meta.ConfigResource]struct{}{{Kind: meta.ConfigBroker}: {}}
	if !n.b.configsChanged(&meta.Delta{Configs: all}) ||
		n.b.configsChanged(&meta.Delta{Configs: map[meta.ConfigResource]struct{}{{
			Kind: meta.ConfigTopic,
			Name: "1",
		}: {}}}) {
		t.Error("which deltas change every topic")
	}
}

func TestIdleConfigsAreWarnedAboutOnce(t *testing.T) {
	var b bytes.Buffer
	n := newAdminNode(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&b, nil)) })
	n.apply(setConfig(meta.ConfigBroker, "", "num.io.threads", "9"), setConfig(meta.ConfigBroker, "", "log.retention.ms", "9"),
		setConfig(meta.ConfigBroker, "2", "max.connections", "9"))
	n.apply(setConfig(meta.ConfigBroker, "", "num.io.threads", "10"))
	if s := b.String(); strings.Count(s, "num.io.threads") != 1 || strings.Contains(s, "retention") ||
		strings.Contains(s, "max.connections") {
		t.Error(s)
	}
}
