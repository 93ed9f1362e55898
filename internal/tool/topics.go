package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/tool/opt"
)

func topicsSpec() *opt.Spec {
	const describes = "With --describe: "
	return &opt.Spec{About: "Create, delete, describe, or change a topic.", Flags: []opt.Flag{
		{
			Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...",
			Help: "REQUIRED: the brokers to ask.",
		},
		{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Properties for the admin client."},
		{Name: "list", Help: "List the topics."},
		{Name: "create", Help: "Create a topic."},
		{Name: "delete", Help: "Delete topics."},
		{Name: "alter", Help: "Add partitions to topics; kafka-configs changes their configuration."},
		{Name: "describe", Help: "Show partitions, replicas and configuration."},
		{
			Name: "topic", Arity: opt.Required, Arg: "topic",
			Help: "The topic; except with --create a regular expression.",
		},
		{Name: "topic-id", Arity: opt.Required, Arg: "id", Help: describes + "the topic of this id."},
		{
			Name: "config", Arity: opt.Required, Arg: "name=value",
			Help: "With --create: a topic configuration; repeatable.",
		},
		{Name: "delete-config", Arity: opt.Required, Arg: "name", Help: "Has no effect any more."},
		{
			Name: "partitions", Arity: opt.Required, Arg: "number",
			Help: "Partitions of the new topic, or how many an altered one shall have in all.",
		},
		{Name: "replication-factor", Arity: opt.Required, Arg: "number", Help: "Replicas of each partition."},
		{
			Name: "replica-assignment", Arity: opt.Required, Arg: "id:id,id:id,...",
			Help: "Brokers of each partition, partitions apart by commas, brokers by colons.",
		},
		{Name: "under-replicated-partitions", Help: describes + "only partitions short of replicas in sync."},
		{Name: "unavailable-partitions", Help: describes + "only partitions without a live leader."},
		{
			Name: "under-min-isr-partitions",
			Help: describes + "only partitions with fewer in sync than min.insync.replicas.",
		},
		{
			Name: "at-min-isr-partitions",
			Help: describes + "only partitions with just min.insync.replicas in sync.",
		},
		{Name: "topics-with-overrides", Help: describes + "only topics with a configuration of their own."},
		{Name: "if-exists", Help: "With --alter, --delete, --describe: no error when the topic is missing."},
		{Name: "if-not-exists", Help: "With --create: no error when the topic is there."},
		{Name: "exclude-internal", Help: "With --list or --describe: leave internal topics out."},
		{
			Name: "partition-size-limit-per-response", Arity: opt.Required, Arg: "number",
			Help: describes + "partitions to ask for at a time (default 2000).",
		},
	}}
}

// topicsRun is one run of kafka-topics.
type topicsRun struct {
	*Env
	*opt.Options
	client *kgo.Client
}

func topics(env *Env, args []string) int {
	spec := topicsSpec()
	o, err := spec.Parse(args)
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	if code := env.preamble(spec, o, args); code >= 0 {
		return code
	}
	var bad *usageError
	if err := checkTopics(o); errors.As(err, &bad) {
		return env.usage(spec, bad.text)
	} else if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	p, client, err := env.adminFor(o)
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	defer client.Close()
	ctx, cancel := apiContext(p)
	defer cancel()
	run := &topicsRun{env, o, client}
	call, err := run.run(ctx)
	if err != nil {
		fmt.Fprintf(env.Out, "Error while executing topic command : %s\n", textOf(err, call))
		return 1
	}
	return 0
}

// adminFor makes an admin client from --bootstrap-server and --command-config.
func (env *Env) adminFor(o *opt.Options) (props, *kgo.Client, error) {
	bootstrap, err := o.One("bootstrap-server")
	if err != nil {
		return nil, nil, err
	}
	p := make(props)
	if file := o.Or("command-config", ""); file != "" {
		if p, err = loadProps(file); err != nil {
			return nil, nil, errors.New(textOf(err, ""))
		}
	}
	if bootstrap == "" {
		bootstrap = p["bootstrap.servers"]
	}
	client, err := env.connect(adminClient, bootstrap, p)
	if err != nil {
		return nil, nil, fmt.Errorf("Failed to create new KafkaAdminClient\n%w", err)
	}
	return p, client, nil
}

// checkTopics refuses combinations of options that make no sense, in Apache's order.
func checkTopics(o *opt.Options) error {
	actions := []string{"list", "describe", "create", "alter", "delete"}
	if o.Count(actions...) != 1 {
		return usagef("Command must include exactly one action: --list, --describe, --create, --alter or --delete")
	}
	if !o.Has("bootstrap-server") {
		return opt.Errorf("--bootstrap-server must be specified")
	}
	if o.Has("describe") && o.Has("if-exists") && !o.Has("topic-id") {
		if err := o.Need("topic"); err != nil {
			return asUsage(err)
		}
	}
	if o.Has("create", "delete", "alter") {
		if err := o.Need("topic"); err != nil {
			return asUsage(err)
		}
	}
	if o.Has("alter") {
		if o.Has("config") {
			return usagef("Option combination \"[[bootstrap-server], [config]]\" can't be used with option " +
				"\"[alter]\"" +
				" (To alter topic configurations, the kafka-configs tool can be used.)")
		}
		if err := o.Need("partitions"); err != nil {
			return asUsage(err)
		}
	}
	return asUsage(excludeTopics(o))
}

func excludeTopics(o *opt.Options) error {
	filters := []string{
		"under-replicated-partitions", "unavailable-partitions", "under-min-isr-partitions",
		"at-min-isr-partitions", "topics-with-overrides",
	}
	var errs []error
	not := func(name string, others ...string) { errs = append(errs, o.Exclude(name, others...)) }
	not("config", "list", "describe", "delete", "alter")
	not("delete-config", "list", "describe", "delete", "create")
	not("partitions", "describe", "list", "delete")
	not("replication-factor", "alter", "describe", "list", "delete")
	not("replica-assignment", "list", "describe", "delete")
	if o.Has("create") {
		not("replica-assignment", "partitions", "replication-factor")
	}
	for _, f := range filters {
		not(f, "list", "create", "alter", "delete", "config", "partitions", "replication-factor",
			"replica-assignment")
	}
	not("topics-with-overrides", filters[:4]...)
	not("if-exists", "create", "list")
	not("if-not-exists", "alter", "describe", "delete", "list")
	not("exclude-internal", "create", "alter", "delete")
	return firstOf(errs...)
}

// run does the action and names the request that it waits for.
func (t *topicsRun) run(ctx context.Context) (call string, err error) {
	switch {
	case t.Has("create"):
		return "createTopics", t.create(ctx)
	case t.Has("alter"):
		return "listTopics", t.alter(ctx)
	case t.Has("list"):
		return "listTopics", t.list(ctx)
	case t.Has("delete"):
		return "listTopics", t.delete(ctx)
	}
	return "describeTopicPartitions", t.describe(ctx)
}

const collisionWarning = "WARNING: Due to limitations in metric names, topics with a period ('.') or " +
	"underscore " +
	"('_') could collide. To avoid issues it is best to use either, but not both."

func (t *topicsRun) create(ctx context.Context) error {
	name, err := t.One("topic")
	if err != nil {
		return err
	}
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1
	if err := t.sizes(&topic); err != nil {
		return err
	}
	for _, c := range t.All("config") {
		k, v, ok := strings.Cut(c, "=")
		if !ok {
			return errors.New("requirement failed: Invalid topic config: " +
				"all configs to be added must be in the format \"key=val\".")
		}
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = strings.TrimSpace(k), new(strings.TrimSpace(v))
		topic.Configs = append(topic.Configs, config)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 30000
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(ctx, t.client)
	if err != nil {
		return err
	}
	for _, r := range resp.Topics {
		if r.ErrorCode == codeTopicExists && t.Has("if-not-exists") {
			return nil
		}
		if err := answer(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.Out, "Created topic %s.\n", name)
	return nil
}

const codeTopicExists = 36

// sizes reads how many partitions and replicas the new topic gets, and where.
func (t *topicsRun) sizes(topic *kmsg.CreateTopicsRequestTopic) error {
	partitions, err := t.Int("partitions", -1)
	if err != nil {
		return err
	}
	replicas, err := t.Int("replication-factor", -1)
	if err != nil {
		return err
	}
	assignment, err := parseAssignment(t.Or("replica-assignment", ""))
	if err != nil {
		return err
	}
	if strings.ContainsAny(topic.Topic, "._") {
		fmt.Fprintln(t.Out, collisionWarning)
	}
	if t.Has("replication-factor") && (replicas < 1 || replicas > 32767) {
		return errors.New("The replication factor must be between 1 and 32767 inclusive")
	}
	if t.Has("partitions") && partitions < 1 {
		return errors.New("The partitions must be greater than 0")
	}
	topic.NumPartitions, topic.ReplicationFactor = int32(partitions), int16(replicas)
	for i, brokers := range assignment {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(i), brokers
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, a)
	}
	return nil
}

// parseAssignment reads 1:2,2:3: a list of brokers for each partition.
func parseAssignment(text string) ([][]int32, error) {
	if text == "" {
		return nil, nil
	}
	var all [][]int32
	for i, part := range strings.Split(text, ",") {
		var ids []int32
		seen := make(map[int32]bool)
		var twice []string
		for word := range strings.SplitSeq(part, ":") {
			word = strings.TrimSpace(word)
			id, err := strconv.ParseInt(word, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("For input string: \"%s\"", word)
			}
			if seen[int32(id)] {
				twice = append(twice, word)
			}
			seen[int32(id)] = true
			ids = append(ids, int32(id))
		}
		if len(twice) > 0 {
			return nil, fmt.Errorf("Partition replica lists may not contain duplicate entries: %s",
				strings.Join(twice, ","))
		}
		if len(all) > 0 && len(ids) != len(all[0]) {
			return nil, fmt.Errorf("Partition %d has different replication factor: [%s]", i, commas(ids))
		}
		all = append(all, ids)
	}
	return all, nil
}

func commas(ids []int32) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(int(id))
	}
	return strings.Join(words, ",")
}

// names returns the topics that --topic matches, sorted.
func (t *topicsRun) names(ctx context.Context) ([]string, error) {
	pattern, err := t.One("topic")
	if err != nil {
		return nil, err
	}
	all, err := topicNames(ctx, t.client)
	if err != nil {
		return nil, err
	}
	return filterTopics(all, pattern, t.Has("topic"), t.Has("exclude-internal"))
}

// topicNames lists every topic.
func topicNames(ctx context.Context, client *kgo.Client) ([]string, error) {
	req := kmsg.NewPtrMetadataRequest()
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, topic := range resp.Topics {
		if topic.Topic != nil {
			names = append(names, *topic.Topic)
		}
	}
	sort.Strings(names)
	return names, nil
}

// filterTopics keeps the names that an include list matches: regular expressions apart by commas.
func filterTopics(all []string, pattern string, matching, noInternal bool) ([]string, error) {
	re, err := includeList(pattern)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if matching && !re.MatchString(name) || noInternal && isInternal(name) {
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

// includeList compiles a list of topic patterns; it must match a whole name.
func includeList(list string) (*regexp.Regexp, error) {
	list = strings.NewReplacer(",", "|", " ", "").Replace(strings.TrimSpace(list))
	list = strings.Trim(list, `"'`)
	re, err := regexp.Compile("^(?:" + list + ")$")
	if err != nil {
		return nil, fmt.Errorf("%s is an invalid regex.", list)
	}
	return re, nil
}

func isInternal(topic string) bool {
	switch topic {
	case "__consumer_offsets", "__transaction_state", "__share_group_state":
		return true
	}
	return false
}

// existing is names, and an error when there is none and --topic asks for one.
func (t *topicsRun) existing(ctx context.Context) ([]string, error) {
	names, err := t.names(ctx)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 && t.Has("topic") && !t.Has("if-exists") {
		return nil, fmt.Errorf("Topic '%s' does not exist as expected", t.Or("topic", ""))
	}
	return names, nil
}

func (t *topicsRun) list(ctx context.Context) error {
	names, err := t.names(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(t.Out, strings.Join(names, "\n"))
	return nil
}

func (t *topicsRun) delete(ctx context.Context) error {
	names, err := t.existing(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = 30000
	req.TopicNames = names
	for _, n := range names {
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = new(n)
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, t.client)
	if err != nil {
		return err
	}
	for _, r := range resp.Topics {
		if err := answer(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
	}
	return nil
}

func (t *topicsRun) alter(ctx context.Context) error {
	names, err := t.existing(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	count, err := t.Int("partitions", -1)
	if err != nil {
		return err
	}
	assignment, err := parseAssignment(t.Or("replica-assignment", ""))
	if err != nil {
		return err
	}
	var have map[string]int
	if assignment != nil {
		if have, err = t.partitionCounts(ctx, names); err != nil {
			return err
		}
	}
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = 30000
	for _, n := range names {
		if n == "__consumer_offsets" {
			return errors.New("The number of partitions for the offsets topic cannot be changed.")
		}
		topic := kmsg.NewCreatePartitionsRequestTopic()
		topic.Topic, topic.Count = n, int32(count)
		for i := have[n]; i < len(assignment); i++ {
			a := kmsg.NewCreatePartitionsRequestTopicAssignment()
			a.Replicas = assignment[i]
			topic.Assignment = append(topic.Assignment, a)
		}
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, t.client)
	if err != nil {
		return err
	}
	for _, r := range resp.Topics {
		if err := answer(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
	}
	return nil
}

func (t *topicsRun) partitionCounts(ctx context.Context, names []string) (map[string]int, error) {
	described, err := describeTopics(ctx, t.client, names, 2000)
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int)
	for _, d := range described {
		counts[d.name] = len(d.partitions)
	}
	return counts, nil
}
