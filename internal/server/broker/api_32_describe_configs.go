package broker

import (
	"log/slog"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// serveDescribeConfigs tells effective values and where they come from.
func (b *Broker) serveDescribeConfigs(r *wire.Request) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	if !r.Decode(req) {
		return
	}
	img := b.Image()
	resp := kmsg.NewPtrDescribeConfigsResponse()
	for i := range req.Resources {
		q := &req.Resources[i]
		out := kmsg.NewDescribeConfigsResponseResource()
		out.ResourceType, out.ResourceName = q.ResourceType, q.ResourceName
		entries, code, text := b.describe(img, q)
		out.ErrorCode = int16(code)
		out.ErrorMessage = &text // empty, not null, when there is nothing to say: as Apache
		if code == kerr.None {
			out.Configs = configRows(entries, q.ConfigNames, req)
		}
		resp.Resources = append(resp.Resources, out)
	}
	r.Reply(resp)
}

// describe lists the values of one resource, or says why not.
func (b *Broker) describe(
	img *meta.Image, q *kmsg.DescribeConfigsRequestResource,
) ([]config.Entry, kerr.Code, string) {
	node, name := b.cfg.Node, q.ResourceName
	if node == nil {
		return nil, kerr.UnknownServerError, "this broker was made without a configuration"
	}
	dyn := b.dynamic(img)
	switch config.Resource(q.ResourceType) {
	case config.ResourceTopic:
		if text := badName(name); text != "" {
			return nil, kerr.InvalidTopicException, text
		}
		if img.Topic(name) == nil {
			return nil, kerr.UnknownTopicOrPartition, ""
		}
		return node.DescribeTopic(img.Config(meta.ConfigTopic, name), dyn), kerr.None, ""
	case config.ResourceBroker:
		if name == "" {
			return node.DescribeDefaultBroker(dyn), kerr.None, ""
		}
		if text := b.notMe(name, "or empty string, "); text != "" {
			return nil, kerr.InvalidRequest, text
		}
		return node.DescribeBroker(dyn), kerr.None, ""
	case config.ResourceBrokerLogger:
		if name == "" {
			return nil, kerr.InvalidRequest, "Broker id must not be empty"
		}
		if text := b.notMe(name, ""); text != "" {
			return nil, kerr.InvalidRequest, text
		}
		return b.describeLoggers(), kerr.None, ""
	case config.ResourceClientMetrics:
		if name == "" {
			return nil, kerr.InvalidRequest, "Client metrics subscription name must not be empty"
		}
		return node.DescribeClientMetrics(img.Config(meta.ConfigClientMetrics, name)), kerr.None, ""
	case config.ResourceGroup:
		if name == "" {
			return nil, kerr.InvalidRequest, "Group name must not be empty"
		}
		return node.DescribeGroup(img.Config(meta.ConfigGroup, name), dyn), kerr.None, ""
	}
	return nil, kerr.InvalidRequest, "Unsupported resource type: " + strconv.Itoa(int(q.ResourceType))
}

// notMe says what is wrong with a broker's id that should be this node's, "" if nothing is.
func (b *Broker) notMe(name, or string) string {
	id, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return "Broker id must be an integer, but it is: " + name
	}
	if meta.NodeID(id) != b.cfg.NodeID {
		return "Unexpected broker id, expected " + strconv.Itoa(int(b.cfg.NodeID)) + " " + or + "but received " +
			"" + name
	}
	return ""
}

// loggerKey is the row of every logger's level.
var loggerKey = config.Key{Type: config.Str, Doc: "Least level of what this part of the broker logs."}

func (b *Broker) describeLoggers() []config.Entry {
	if b.cfg.Logs == nil {
		return nil
	}
	levels := b.cfg.Logs.Levels()
	list := make([]config.Entry, 0, len(levels))
	for _, name := range sortedNames(levels) {
		k := loggerKey
		k.Name = name
		level := levelName(levels[name])
		list = append(list, config.Entry{Key: &k, Value: &level, Source: config.SourceLogger})
	}
	return list
}

// The names of levels, as Apache's loggers have them.
var levelNames = [...]struct {
	name  string
	level slog.Level
}{
	{"TRACE", slog.LevelDebug - 4},
	{"DEBUG", slog.LevelDebug},
	{"INFO", slog.LevelInfo},
	{"WARN", slog.LevelWarn},
	{"ERROR", slog.LevelError},
	{"FATAL", slog.LevelError + 4},
}

func levelName(l slog.Level) string {
	for _, n := range levelNames {
		if l <= n.level {
			return n.name
		}
	}
	return "FATAL"
}

func configRows(
	entries []config.Entry, names []string, req *kmsg.DescribeConfigsRequest,
) []kmsg.DescribeConfigsResponseResourceConfig {
	rows := make([]kmsg.DescribeConfigsResponseResourceConfig, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		if len(names) > 0 && !slices.Contains(names, e.Key.Name) {
			continue
		}
		row := kmsg.NewDescribeConfigsResponseResourceConfig()
		row.Name, row.Value, row.ReadOnly = e.Key.Name, e.Value, e.ReadOnly
		row.Source, row.IsDefault = kmsg.ConfigSource(e.Source), e.Source == config.SourceDefault
		row.IsSensitive = e.Key.Sensitive()
		row.ConfigType = kmsg.ConfigType(e.Key.Type)
		if e.Source == config.SourceLogger {
			row.ConfigType = 0
		}
		if req.IncludeDocumentation && e.Key.Doc != "" {
			row.Documentation = &e.Key.Doc
		}
		if req.IncludeSynonyms {
			for _, o := range e.Synonyms {
				s := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
				s.Name, s.Value, s.Source = o.Name, o.Value, kmsg.ConfigSource(o.Source)
				row.ConfigSynonyms = append(row.ConfigSynonyms, s)
			}
		}
		rows = append(rows, row)
	}
	return rows
}
