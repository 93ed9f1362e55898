package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/tool/layout"
	"github.com/kalda/kalda/internal/tool/opt"
)

func logDirsSpec() *opt.Spec {
	return &opt.Spec{
		About: "This tool helps to query log directory usage on the specified brokers.",
		Flags: []opt.Flag{
			{
				Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...",
				Help: "REQUIRED: the brokers to ask.",
			},
			{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Properties for the admin client."},
			{Name: "describe", Help: "REQUIRED: describe the log directories."},
			{Name: "topic-list", Arity: opt.Required, Arg: "topic,...", Help: "The topics to tell of (default: all)."},
			{Name: "broker-list", Arity: opt.Required, Arg: "id,...", Help: "The brokers to ask (default: all)."},
		},
	}
}

// logDirs is kafka-log-dirs.
func logDirs(env *Env, args []string) int {
	return env.adminTool(args, logDirsSpec(), []string{"bootstrap-server", "describe"}, env.describeLogDirs)
}

// adminTool runs a tool of one action over an admin client. Mistakes on the command line are answered with
// the
// help text.
func (env *Env) adminTool(args []string, spec *opt.Spec, required []string,
	do func(context.Context, *kgo.Client, *opt.Options) error,
) int {
	o, err := spec.Parse(args)
	if err == nil {
		if code := env.preamble(spec, o, args); code >= 0 {
			return code
		}
		err = o.Need(required...)
	}
	if err != nil {
		return env.usage(spec, err.Error())
	}
	p := make(props)
	if file := o.Or("command-config", ""); file != "" {
		if p, err = loadProps(file); err != nil {
			fmt.Fprintln(env.Err, textOf(err, ""))
			return 1
		}
	}
	client, err := env.connect(adminClient, o.Or("bootstrap-server", ""), p)
	if err == nil {
		defer client.Close()
		ctx, cancel := apiContext(p)
		defer cancel()
		err = do(ctx, client, o)
	}
	var mistake *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &mistake):
		return env.usage(spec, err.Error())
	case !errors.Is(err, errHandled):
		fmt.Fprintln(env.Err, textOf(err, env.Name))
	}
	return 1
}

func (env *Env) describeLogDirs(ctx context.Context, client *kgo.Client, o *opt.Options) error {
	var ids []int32
	for word := range strings.SplitSeq(o.Or("broker-list", ""), ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		id, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return fmt.Errorf("For input string: \"%s\"", word)
		}
		ids = append(ids, int32(id))
	}
	all, err := brokerIDs(ctx, client)
	if err != nil {
		return err
	}
	var unknown []int32
	for _, id := range ids {
		if !slices.Contains(all, id) {
			unknown = append(unknown, id)
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf("ERROR: The given brokers do not exist from --broker-list: %s. Current existent "+
			"brokers: %s",
			commas(unknown), commas(all))
	}
	if len(ids) == 0 {
		ids = all
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	fmt.Fprintln(env.Out, "Querying brokers for log directories information")
	topics := strings.FieldsFunc(o.Or("topic-list", ""), func(c rune) bool { return c == ',' })
	text, err := logDirsJSON(ctx, client, ids, topics)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "Received log directory information from brokers %s\n%s\n", commas(ids), text)
	return nil
}

// brokerIDs are the live brokers.
func brokerIDs(ctx context.Context, client *kgo.Client) ([]int32, error) {
	nodes, err := clusterNodes(ctx, client)
	if err != nil {
		return nil, err
	}
	var ids []int32
	for _, n := range nodes.Brokers {
		ids = append(ids, n.NodeID)
	}
	slices.Sort(ids)
	return ids, nil
}

func clusterNodes(ctx context.Context, client *kgo.Client) (*kmsg.MetadataResponse, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	return req.RequestWith(ctx, client)
}

// logDirsJSON asks each broker and writes what it says in the order of fields that Apache's tool has.
func logDirsJSON(ctx context.Context, client *kgo.Client, ids []int32, topics []string) (string, error) {
	var b strings.Builder
	b.WriteString(`{"brokers":[`)
	for i, id := range ids {
		resp, err := kmsg.NewPtrDescribeLogDirsRequest().RequestWith(ctx, client.Broker(int(id)))
		if err == nil {
			err = answer(resp.ErrorCode, nil)
		}
		if err != nil {
			return "", err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"broker":%d,"logDirs":[`, id)
		for j := range resp.Dirs {
			if j > 0 {
				b.WriteByte(',')
			}
			writeLogDir(&b, &resp.Dirs[j], topics)
		}
		b.WriteString(`]}`)
	}
	b.WriteString(`],"version":1}`)
	return b.String(), nil
}

func writeLogDir(b *strings.Builder, d *kmsg.DescribeLogDirsResponseDir, topics []string) {
	b.WriteString(`{"partitions":[`)
	first := true
	for _, t := range d.Topics {
		if len(topics) > 0 && !slices.Contains(topics, t.Topic) {
			continue
		}
		for _, p := range t.Partitions {
			if !first {
				b.WriteByte(',')
			}
			first = false
			fmt.Fprintf(b, `{"partition":"%s-%d","size":%d,"offsetLag":%d,"isFuture":%t}`, t.Topic, p.Partition,
				p.Size,
				p.OffsetLag, p.IsFuture)
		}
	}
	fault := "null"
	if d.ErrorCode != 0 {
		fault = `"` + exception(d.ErrorCode) + `"`
	}
	fmt.Fprintf(b, `],"error":%s,"logDir":%s}`, fault, layout.Quote(d.Dir))
}
