package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/tool/opt"
)

func getOffsetsSpec() *opt.Spec {
	return &opt.Spec{About: "An interactive shell for getting topic-partition offsets.", Flags: []opt.Flag{
		{
			Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...",
			Help: "REQUIRED: the brokers to ask.",
		},
		{
			Name: "broker-list", Arity: opt.Required, Arg: "host:port,...",
			Help: "The old name of --bootstrap-server.",
		},
		{
			Name: "topic-partitions", Arity: opt.Required, Arg: "pattern[:range],...",
			Help: "Topics by regular expression, with the partitions wanted: 0, 0-2, 1- or -2.",
		},
		{Name: "topic", Arity: opt.Required, Arg: "regex", Help: "Topics by regular expression."},
		{Name: "partitions", Arity: opt.Required, Arg: "p,p,...", Help: "Partitions, with or without --topic."},
		{
			Name: "time", Arity: opt.Required, Arg: "time",
			Help: "A timestamp in ms, or -1 latest (default), -2 earliest, -3 max-timestamp, -4 earliest-local, " +
				"-5 latest-tiered, -6 earliest-pending-upload.",
		},
		{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Properties for the admin client."},
		{Name: "exclude-internal-topics", Help: "Leave internal topics out."},
	}}
}

func getOffsets(env *Env, args []string) int {
	spec := getOffsetsSpec()
	o, err := spec.Parse(args)
	if err == nil {
		if code := env.preamble(spec, o, args); code >= 0 {
			return code
		}
		err = env.printOffsets(o)
	}
	var bad *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &bad):
		return env.usage(spec, bad.text)
	}
	fmt.Fprintf(env.Err, "Error occurred: %s\n", textOf(err, "listOffsets"))
	return 1
}

func (env *Env) printOffsets(o *opt.Options) error {
	if !o.Has("bootstrap-server", "broker-list") {
		return asUsage(o.Need("bootstrap-server"))
	}
	at, err := timeSpec(o.Or("time", "latest"))
	if err != nil {
		return err
	}
	wanted, err := offsetsFilter(o)
	if err != nil {
		return err
	}
	p := make(props)
	if file := o.Or("command-config", ""); file != "" {
		if p, err = loadProps(file); err != nil {
			return err
		}
	}
	client, err := env.connect(adminClient, bootstrapOf(o), p)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := apiContext(p)
	defer cancel()
	parts, err := matchingPartitions(ctx, client, wanted, o.Has("exclude-internal-topics"))
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return errors.New("Could not match any topic-partitions with the specified filters")
	}
	return env.writeOffsets(ctx, client, parts, at)
}

// timeSpec reads --time.
func timeSpec(text string) (int64, error) {
	switch text {
	case "latest":
		return -1, nil
	case "earliest":
		return -2, nil
	case "max-timestamp":
		return -3, nil
	case "earliest-local":
		return -4, nil
	case "latest-tiered":
		return -5, nil
	case "earliest-pending-upload":
		return -6, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("Malformed time argument %s. Please use -1 or latest / -2 or earliest / -3 or "+
			"max-timestamp "+
			"/ -4 or earliest-local / -5 or latest-tiered / -6 or earliest-pending-upload, or a specified long "+
			"format "+
			"timestamp", text)
	}
	return n, nil
}

// offsetsFilter tells which partitions are wanted.
func offsetsFilter(o *opt.Options) (func(topic string, partition int32) bool, error) {
	if rules := o.Or("topic-partitions", ""); rules != "" {
		if o.Has("topic", "partitions") {
			return nil, errors.New("--topic-partitions cannot be used with --topic or --partitions")
		}
		return rulesFilter(rules)
	}
	topics, err := includeList(o.Or("topic", ".*"))
	if err != nil {
		return nil, err
	}
	list := o.Or("partitions", "")
	if list == "" {
		return func(topic string, _ int32) bool { return topics.MatchString(topic) }, nil
	}
	ids := make(map[int32]bool)
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("--partitions expects a comma separated list of numeric partition ids, but "+
				"received: %s",
				list)
		}
		ids[int32(n)] = true
	}
	return func(topic string, p int32) bool { return ids[p] && topics.MatchString(topic) }, nil
}

// rulesFilter reads pattern:range,... where a range is n, n-m (m excluded), n- or -m.
func rulesFilter(text string) (func(string, int32) bool, error) {
	type rule struct {
		topics   *regexp.Regexp
		from, to int32
	}
	var rules []rule
	form := regexp.MustCompile(`^([^:,]*)(?::(?:([0-9]*)|(?:([0-9]*)-([0-9]*))))?$`)
	for word := range strings.SplitSeq(text, ",") {
		m := form.FindStringSubmatch(word)
		if m == nil {
			return nil, fmt.Errorf("org.apache.kafka.tools.TerseException: Invalid rule specification: %s", word)
		}
		pattern := m[1]
		if pattern == "" {
			pattern = ".*"
		}
		topics, err := includeList(pattern)
		if err != nil {
			return nil, err
		}
		number := func(s string, def int32) int32 {
			if n, err := strconv.ParseInt(s, 10, 32); err == nil {
				return int32(n)
			}
			return def
		}
		r := rule{topics, 0, 1<<31 - 1}
		if m[2] != "" {
			r.from = number(m[2], 0)
			r.to = r.from + 1
		} else {
			r.from, r.to = number(m[3], 0), number(m[4], 1<<31-1)
		}
		rules = append(rules, r)
	}
	return func(topic string, p int32) bool {
		for _, r := range rules {
			if p >= r.from && p < r.to && r.topics.MatchString(topic) {
				return true
			}
		}
		return false
	}, nil
}

// offsetPartition is a partition to ask for, with its leader.
type offsetPartition struct {
	topic     string
	partition int32
	leader    int32
}

func matchingPartitions(ctx context.Context, client *kgo.Client, wanted func(string, int32) bool,
	noInternal bool) (
	[]offsetPartition, error,
) {
	req := kmsg.NewPtrMetadataRequest()
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	var parts []offsetPartition
	for _, t := range resp.Topics {
		if t.Topic == nil || noInternal && (t.IsInternal || isInternal(*t.Topic)) {
			continue
		}
		for _, p := range t.Partitions {
			if wanted(*t.Topic, p.Partition) {
				parts = append(parts, offsetPartition{*t.Topic, p.Partition, p.Leader})
			}
		}
	}
	sort.Slice(parts, func(i, j int) bool {
		if parts[i].topic != parts[j].topic {
			return parts[i].topic < parts[j].topic
		}
		// As text, 10 before 2: Apache's tool does so.
		return strconv.Itoa(int(parts[i].partition)) < strconv.Itoa(int(parts[j].partition))
	})
	return parts, nil
}

// writeOffsets asks every leader once. Partitions without such an offset are left out, as Apache's tool does.
func (env *Env) writeOffsets(ctx context.Context, client *kgo.Client, parts []offsetPartition,
	at int64,
) error {
	type key struct {
		topic     string
		partition int32
	}
	found := make(map[key]int64)
	failed := make(map[key]int16)
	for leader, mine := range byLeader(parts) {
		if leader < 0 {
			for _, p := range mine {
				failed[key{p.topic, p.partition}] = kerr.LeaderNotAvailable.Code
			}
			continue
		}
		resp, err := listOffsetsRequest(mine, at).RequestWith(ctx, client.Broker(int(leader)))
		if err != nil {
			return err
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				switch {
				case p.ErrorCode != 0:
					failed[key{t.Topic, p.Partition}] = p.ErrorCode
				case p.Offset >= 0:
					found[key{t.Topic, p.Partition}] = p.Offset
				}
			}
		}
	}
	for _, p := range parts {
		k := key{p.topic, p.partition}
		if code, bad := failed[k]; bad {
			fmt.Fprintf(env.Err, "Skip getting offsets for topic-partition %s-%d due to error: %v\n", p.topic,
				p.partition,
				textOf(answer(code, nil), ""))
		}
	}
	for _, p := range parts {
		if offset, ok := found[key{p.topic, p.partition}]; ok {
			fmt.Fprintf(env.Out, "%s:%d:%d\n", p.topic, p.partition, offset)
		}
	}
	return nil
}

func byLeader(parts []offsetPartition) map[int32][]offsetPartition {
	m := make(map[int32][]offsetPartition)
	for _, p := range parts {
		m[p.leader] = append(m[p.leader], p)
	}
	return m
}

func listOffsetsRequest(parts []offsetPartition, at int64) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	for _, p := range parts {
		n := len(req.Topics)
		if n == 0 || req.Topics[n-1].Topic != p.topic {
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = p.topic
			req.Topics = append(req.Topics, t)
			n++
		}
		part := kmsg.NewListOffsetsRequestTopicPartition()
		part.Partition, part.Timestamp, part.CurrentLeaderEpoch = p.partition, at, -1
		req.Topics[n-1].Partitions = append(req.Topics[n-1].Partitions, part)
	}
	return req
}
