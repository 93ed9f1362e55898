package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp/syntax"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/tool/opt"
)

func groupsSpec() *opt.Spec {
	const resets = "With --reset-offsets: "
	return &opt.Spec{
		About: "This tool helps to list, describe, delete and manage the offsets of consumer groups.",
		Flags: []opt.Flag{
			{
				Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...",
				Help: "REQUIRED: the brokers to ask.",
			},
			{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Properties for the admin client."},
			{Name: "timeout", Arity: opt.Required, Arg: "ms", Help: "How long the command may take (default 30000)."},
			{Name: "list", Help: "List the consumer groups."},
			{Name: "describe", Help: "Show offsets and lag, members or state of groups."},
			{Name: "delete", Help: "Delete groups without members."},
			{Name: "delete-offsets", Help: "Delete a group's offsets of topics."},
			{Name: "reset-offsets", Help: "Move offsets; a dry run unless --execute is given."},
			{Name: "validate-regex", Arity: opt.Required, Arg: "regex", Help: "Check an RE2 expression."},
			{Name: "group", Arity: opt.Required, Arg: "id", Help: "A consumer group; repeatable."},
			{Name: "all-groups", Help: "Every consumer group."},
			{
				Name: "topic", Arity: opt.Required, Arg: "topic[:p,p]",
				Help: "A topic or some of its partitions; repeatable.",
			},
			{Name: "all-topics", Help: resets + "every topic that the group has offsets for."},
			{Name: "offsets", Help: "With --describe: offsets and lag (the default)."},
			{Name: "members", Help: "With --describe: the members."},
			{
				Name: "state", Arity: opt.Optional, Arg: "states",
				Help: "With --describe: the group's state. With --list: show states, only these if any are named.",
			},
			{
				Name: "type", Arity: opt.Optional, Arg: "types",
				Help: "With --list: show types, only these if any are named.",
			},
			{Name: "verbose", Help: "With --describe: more columns."},
			{Name: "dry-run", Help: resets + "only show what would change."},
			{Name: "execute", Help: resets + "do it."},
			{Name: "export", Help: resets + "print the plan as CSV."},
			{Name: "to-offset", Arity: opt.Required, Arg: "offset", Help: resets + "to this offset."},
			{
				Name: "to-datetime", Arity: opt.Required, Arg: "datetime",
				Help: resets + "to the first record since YYYY-MM-DDThh:mm:ss.sss, with or without a zone.",
			},
			{Name: "by-duration", Arity: opt.Required, Arg: "PnDTnHnMnS", Help: resets + "to the first record " +
				"since so long ago."},
			{Name: "to-earliest", Help: resets + "to the oldest record."},
			{Name: "to-latest", Help: resets + "to the end."},
			{Name: "to-current", Help: resets + "to the committed offset."},
			{Name: "shift-by", Arity: opt.Required, Arg: "number", Help: resets + "by so many records, back if " +
				"negative."},
			{Name: "from-file", Arity: opt.Required, Arg: "file", Help: resets + "as a CSV file says."},
		},
	}
}

// groupsRun is one run of kafka-consumer-groups.
type groupsRun struct {
	*Env
	*opt.Options
	client *kgo.Client
	admin  *kadm.Client
}

func consumerGroups(env *Env, args []string) int {
	spec := groupsSpec()
	o, err := spec.Parse(args)
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	if code := env.preamble(spec, o, args); code >= 0 {
		return code
	}
	var bad *usageError
	if err := env.checkGroups(o); errors.As(err, &bad) {
		return env.usage(spec, bad.text)
	} else if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	if o.Has("validate-regex") {
		env.validateRegex(o.Or("validate-regex", ""))
		return 0
	}
	_, client, err := env.adminFor(o)
	if err != nil {
		env.groupError("Executing consumer group command failed due to %v", err)
		return 0
	}
	defer client.Close()
	g := &groupsRun{env, o, client, kadm.NewClient(client)}
	limit, err := o.Int64("timeout", 30000)
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(limit)*time.Millisecond)
	defer cancel()
	call := ""
	if err == nil {
		call, err = g.run(ctx)
	}
	if err != nil {
		// Apache's tool answers 0 here: scripts tell failure from the line that begins with Error.
		env.groupError("Executing consumer group command failed due to %s", classOf(err, call))
		fmt.Fprintln(env.Err, classOf(err, call))
	}
	return 0
}

// groupError prints to standard output, where Apache's tool prints its errors.
func (env *Env) groupError(format string, args ...any) {
	fmt.Fprintf(env.Out, "\nError: "+format+"\n", args...)
}

func (g *groupsRun) run(ctx context.Context) (call string, err error) {
	switch {
	case g.Has("list"):
		return "listGroups", g.list(ctx)
	case g.Has("describe"):
		return "describeGroups", g.describe(ctx)
	case g.Has("delete"):
		return "deleteConsumerGroups", g.delete(ctx)
	case g.Has("reset-offsets"):
		return "describeGroups", g.reset(ctx)
	}
	return "deleteConsumerGroupOffsets", g.deleteOffsets(ctx)
}

const executeWarning = "WARN: No action will be performed as the --execute option is missing. In version " +
	"5.0, this " +
	"command will require either --dry-run or --execute to be specified. You should add the --dry-run option " +
	"explicitly if you are scripting this command and want to keep the current default behavior without " +
	"prompting."

// scenarios are the ways to reset; Apache names them in this order.
func scenarios() []string {
	return []string{
		"to-latest", "by-duration", "to-datetime", "from-file", "shift-by", "to-offset",
		"to-earliest",
		"to-current",
	}
}

func (env *Env) checkGroups(o *opt.Options) error {
	for _, name := range []string{"verbose", "members", "offsets"} {
		if o.Has(name) && !o.Has("describe") {
			return opt.Errorf("Option(s) [%s] are unavailable given other options on the command line", name)
		}
	}
	if o.Has("state") && !o.Has("describe") && !o.Has("list") {
		return opt.Errorf("Option(s) [state] are unavailable given other options on the command line")
	}
	if o.Count("list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex") == 0 {
		return usagef("Command must include exactly one action: --list, --describe, --delete, --reset-offsets, " +
			"--delete-offsets, --validate-regex")
	}
	if !o.Has("validate-regex") {
		if err := o.Need("bootstrap-server"); err != nil {
			return asUsage(err)
		}
	}
	if err := checkScopes(o); err != nil {
		return err
	}
	if o.Has("reset-offsets") {
		if err := env.checkReset(o); err != nil {
			return err
		}
	}
	if o.Has("list") {
		if _, err := statesOf(o); err != nil {
			return err
		}
		if _, err := typesOf(o); err != nil {
			return err
		}
	}
	return asUsage(firstOf(
		o.Exclude("group", "all-groups"),
		o.Exclude("topic", "all-topics"),
	))
}

// checkScopes checks that an action knows its groups and topics.
func checkScopes(o *opt.Options) error {
	scoped := o.Has("group", "all-groups")
	switch {
	case o.Has("describe"):
		if !scoped {
			return usagef("Option [describe] takes one of these options: [all-groups], [group]")
		}
		if o.Count("members", "offsets", "state") > 1 {
			return usagef("Option [describe] takes at most one of these options: [members], [offsets], [state]")
		}
		if len(o.All("state")) > 0 {
			return usagef("Option [describe] does not take a value for [state]")
		}
	case o.Has("delete"):
		if !scoped {
			return usagef("Option [delete] takes one of these options: [all-groups], [group]")
		}
		if o.Has("topic") {
			return usagef("The consumer does not support topic-specific offset deletion from a consumer group.")
		}
	case o.Has("delete-offsets"):
		if !o.Has("group") || !o.Has("topic") {
			return usagef("Option [delete-offsets] takes the following options: [topic], [group]")
		}
	}
	return nil
}

func (env *Env) checkReset(o *opt.Options) error {
	if o.Has("dry-run") && o.Has("execute") {
		return usagef("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
	}
	if !o.Has("dry-run") && !o.Has("execute") {
		fmt.Fprintln(env.Err, executeWarning)
	}
	if !o.Has("group", "all-groups") {
		return usagef("Option [reset-offsets] takes one of these options: [all-groups], [group]")
	}
	if !o.Has("topic", "all-topics", "from-file") {
		return usagef("One of the reset scopes should be defined: --all-topics, --topic.")
	}
	all := scenarios()
	if o.Count(all...) == 0 {
		return usagef("Option '[reset-offsets]' requires one of the following scenarios: [[%s]]",
			strings.Join(all, "], ["))
	}
	for _, s := range []string{
		"to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest",
		"to-current",
		"shift-by", "from-file",
	} {
		if err := o.Exclude(s, all...); err != nil {
			return asUsage(err)
		}
	}
	return nil
}

// validateRegex checks an expression with the engine that Kafka's brokers use too.
func (env *Env) validateRegex(expr string) {
	_, err := syntax.Parse(expr, syntax.Perl)
	var bad *syntax.Error
	switch {
	case errors.As(err, &bad):
		fmt.Fprintf(env.Out, "The regular expression `%s` is invalid: %s.\n", expr, bad.Code)
	case err != nil:
		fmt.Fprintf(env.Out, "The regular expression `%s` is invalid: %v.\n", expr, err)
	default:
		fmt.Fprintf(env.Out, "The regular expression `%s` is valid.\n", expr)
	}
}

// pickWords matches a comma list against known words, whatever their case.
func pickWords(text string, known []string) ([]string, bool) {
	var picked []string
	for word := range strings.SplitSeq(text, ",") {
		found := false
		for _, k := range known {
			if strings.EqualFold(strings.TrimSpace(word), k) {
				picked, found = append(picked, k), true
			}
		}
		if !found {
			return nil, false
		}
	}
	return picked, true
}

func statesOf(o *opt.Options) ([]string, error) {
	known := []string{
		"CompletingRebalance", "PreparingRebalance", "Stable", "Assigning", "Dead", "Reconciling",
		"Empty",
	}
	text := o.Or("state", "")
	if text == "" {
		return nil, nil
	}
	states, ok := pickWords(text, known)
	if !ok {
		return nil, usagef("Invalid state list '%s'. Valid states are: %s", text, strings.Join(known, ", "))
	}
	return states, nil
}

func typesOf(o *opt.Options) ([]string, error) {
	known := []string{"Consumer", "Classic"}
	text := o.Or("type", "")
	if text == "" {
		return nil, nil
	}
	types, ok := pickWords(text, known)
	if !ok {
		return nil, usagef("Invalid types list '%s'. Valid types are: %s", text, strings.Join(known, ", "))
	}
	return types, nil
}

// listed returns the consumer groups, sorted.
func (g *groupsRun) listed(ctx context.Context, types, states []string) ([]kadm.ListedGroup, error) {
	all, err := g.admin.ListGroupsByType(ctx, types, states...)
	if err != nil {
		return nil, err
	}
	var groups []kadm.ListedGroup
	for _, l := range all.Sorted() {
		consumer := l.ProtocolType == "consumer" || l.ProtocolType == ""
		if consumer && !strings.EqualFold(l.GroupType, "share") && !strings.EqualFold(l.GroupType, "streams") {
			groups = append(groups, l)
		}
	}
	return groups, nil
}

func (g *groupsRun) list(ctx context.Context) error {
	states, err := statesOf(g.Options)
	if err != nil {
		return err
	}
	types, err := typesOf(g.Options)
	if err != nil {
		return err
	}
	groups, err := g.listed(ctx, types, states)
	if err != nil {
		return err
	}
	showType, showState := g.Has("type"), g.Has("state")
	if !showType && !showState {
		for _, l := range groups {
			fmt.Fprintln(g.Out, l.Group)
		}
		return nil
	}
	width := 15
	for _, l := range groups {
		width = max(width, len(l.Group))
	}
	row := func(group, kind, state string) {
		fmt.Fprintf(g.Out, "%-*s", width+10, group)
		if showType {
			fmt.Fprintf(g.Out, " %-20s", kind)
		}
		if showState {
			fmt.Fprintf(g.Out, " %-20s", state)
		}
		fmt.Fprintln(g.Out)
	}
	row("GROUP", "TYPE", "STATE")
	for _, l := range groups {
		row(l.Group, groupType(l.GroupType), l.State)
	}
	return nil
}

// groupType is a type's printed name; brokers that do not tell have classic groups only.
func groupType(name string) string {
	if name == "" {
		return "Classic"
	}
	return strings.ToUpper(name[:1]) + strings.ToLower(name[1:])
}

// ids returns the groups that the command is about, sorted.
func (g *groupsRun) ids(ctx context.Context) ([]string, error) {
	if !g.Has("all-groups") {
		var ids []string
		seen := make(map[string]bool)
		for _, id := range g.All("group") {
			if !seen[id] {
				ids = append(ids, id)
			}
			seen[id] = true
		}
		return ids, nil
	}
	groups, err := g.listed(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(groups))
	for i, l := range groups {
		ids[i] = l.Group
	}
	return ids, nil
}

func (g *groupsRun) delete(ctx context.Context) error {
	ids, err := g.ids(ctx)
	if err != nil {
		return err
	}
	var gone, kept []string
	for _, id := range ids {
		if err := g.deleteGroup(ctx, id); err != nil {
			kept = append(kept, fmt.Sprintf("* Group '%s' could not be deleted due to: %s", id, classOf(err,
				"deleteGroups")))
		} else {
			gone = append(gone, "'"+id+"'")
		}
	}
	if len(kept) == 0 {
		fmt.Fprintf(g.Out, "Deletion of requested consumer groups (%s) was successful.\n", strings.Join(gone, ", "))
		return nil
	}
	g.groupError("Deletion of some consumer groups failed:\n%s", strings.Join(kept, "\n"))
	if len(gone) > 0 {
		fmt.Fprintf(g.Out, "\nThese consumer groups were deleted successfully: %s\n", strings.Join(gone, ", "))
	}
	return nil
}

func (g *groupsRun) deleteGroup(ctx context.Context, id string) error {
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{id}
	resp, err := req.RequestWith(ctx, g.client)
	if err != nil {
		return err
	}
	for _, r := range resp.Groups {
		if err := answer(r.ErrorCode, nil); err != nil {
			return err
		}
	}
	return nil
}

// deleteOffsets deletes the offsets of topics or partitions and shows each one's outcome.
func (g *groupsRun) deleteOffsets(ctx context.Context) error {
	group, err := g.One("group")
	if err != nil {
		return err
	}
	wanted, unknown, err := g.deletable(ctx)
	if err != nil {
		return err
	}
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = group
	for _, name := range wanted.topics() {
		topic := kmsg.NewOffsetDeleteRequestTopic()
		topic.Topic = name
		for _, p := range wanted[name] {
			partition := kmsg.NewOffsetDeleteRequestTopicPartition()
			partition.Partition = p
			topic.Partitions = append(topic.Partitions, partition)
		}
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, g.client)
	if err != nil {
		return err
	}
	whole := answer(resp.ErrorCode, nil)
	outcome, first := deleteOutcome(resp)
	switch {
	case whole != nil:
		g.groupError("%s", textOf(whole, ""))
	case first != nil:
		g.groupError("Encountered some partition-level error, see the follow-up details.")
	default:
		fmt.Fprintf(g.Out, "Request succeeded for deleting offsets from group %s.\n", group)
	}
	row := func(topic, partition string, err error) {
		status := "Successful"
		if err != nil {
			status = "Error: " + classOf(err, "")
		}
		fmt.Fprintf(g.Out, "%-15s %-10s %-15s\n", topic, partition, status)
	}
	fmt.Fprintf(g.Out, "\n%-15s %-10s %-15s\n", "TOPIC", "PARTITION", "STATUS")
	for _, name := range wanted.topics() {
		for _, p := range wanted[name] {
			row(name, strconv.Itoa(int(p)), firstOf(whole, outcome[name][p]))
		}
	}
	for _, name := range unknown {
		row(name, "-", &failure{code: kerr.UnknownTopicOrPartition.Code})
	}
	return nil
}

// deletable returns the partitions that --topic names, and the topics that do not exist.
func (g *groupsRun) deletable(ctx context.Context) (wanted topicPartitions, unknown []string, err error) {
	wanted = make(topicPartitions)
	for _, word := range g.All("topic") {
		one, err := g.partitionsOf(ctx, []string{word})
		if errors.Is(err, errUnknownTopic) {
			unknown = append(unknown, word)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for t, parts := range one {
			wanted[t] = append(wanted[t], parts...)
		}
	}
	return wanted, unknown, nil
}

// deleteOutcome sorts an answer by partition and returns its first error.
func deleteOutcome(resp *kmsg.OffsetDeleteResponse) (map[string]map[int32]error, error) {
	outcome := make(map[string]map[int32]error)
	var first error
	for _, t := range resp.Topics {
		outcome[t.Topic] = make(map[int32]error)
		for _, p := range t.Partitions {
			err := answer(p.ErrorCode, nil)
			outcome[t.Topic][p.Partition] = err
			first = firstOf(first, err)
		}
	}
	return outcome, first
}

// topicPartitions are partitions by topic.
type topicPartitions map[string][]int32

func (t topicPartitions) topics() []string {
	names := make([]string, 0, len(t))
	for n := range t {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
