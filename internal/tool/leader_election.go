package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/tool/opt"
)

func leaderElectionSpec() *opt.Spec {
	return &opt.Spec{
		About: "This tool attempts to elect a new leader for a set of topic partitions. The type of elections " +
			"supported are preferred replicas and unclean replicas.",
		Flags: []opt.Flag{
			{
				Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port",
				Help: "A hostname and port for the broker to connect to. REQUIRED.",
			},
			{
				Name: "command-config", Arity: opt.Required, Arg: "Config file",
				Help: "Properties for the admin client.",
			},
			{Name: "admin.config", Arity: opt.Required, Arg: "config file", Help: "Deprecated: --command-config."},
			{
				Name: "election-type", Arity: opt.Required, Arg: "election type",
				Help: "\"preferred\": where the first replica doesn't lead; \"unclean\": where nobody leads. REQUIRED.",
			},
			{Name: "all-topic-partitions", Help: "All partitions for which such an election makes sense."},
			{Name: "topic", Arity: opt.Required, Arg: "topic name", Help: "The topic; needs --partition."},
			{Name: "partition", Arity: opt.Required, Arg: "partition id", Help: "The partition of --topic."},
			{
				Name: "path-to-json-file", Arity: opt.Required, Arg: "Path to JSON file",
				Help: "The partitions: {\"partitions\": [{\"topic\": \"foo\", \"partition\": 1}]}",
			},
		},
	}
}

// leaderElection is kafka-leader-election. Its mistakes are told without the help text.
func leaderElection(env *Env, args []string) int {
	elect := func(ctx context.Context, c *kgo.Client, o *opt.Options) error {
		err := env.elect(ctx, c, o)
		if mistake, ok := errors.AsType[*usageError](err); ok {
			return errors.New(mistake.text)
		}
		return err
	}
	return env.adminTool(args, leaderElectionSpec(), nil, elect)
}

// wantedElection is the request that the command line asks for.
func wantedElection(o *opt.Options) (*kmsg.ElectLeadersRequest, error) {
	var missing []string
	for _, name := range []string{"bootstrap-server", "election-type"} {
		if !o.Has(name) {
			missing = append(missing, name)
		}
	}
	if o.Has("topic") && !o.Has("partition") {
		missing = append(missing, "partition")
	}
	if len(missing) > 0 {
		return nil, usagef("Missing required option(s): %s", strings.Join(missing, ", "))
	}
	if o.Count("topic", "all-topic-partitions", "path-to-json-file") != 1 {
		return nil, usagef("One and only one of the following options is required: topic, all-topic-partitions, " +
			"path-to-json-file")
	}
	req := kmsg.NewPtrElectLeadersRequest()
	switch kind := o.Or("election-type", ""); strings.ToLower(kind) {
	case "preferred":
	case "unclean":
		req.ElectionType = 1
	default:
		return nil, usagef("Cannot parse argument '%s' of option election-type", kind)
	}
	var parts planFile
	switch {
	case o.Has("path-to-json-file"):
		text, err := readPlanFile(o.Or("path-to-json-file", ""))
		if err != nil {
			return nil, fmt.Errorf("java.io.IOException: %w", err)
		}
		if parts, err = electionPlan(text); err != nil {
			return nil, err
		}
	case o.Has("topic"):
		n, err := o.Int("partition", 0)
		if err != nil {
			return nil, err
		}
		return req, addElection(req, o.Or("topic", ""), int32(n))
	default:
		return req, nil
	}
	req.Topics = []kmsg.ElectLeadersRequestTopic{}
	for _, e := range parts {
		topic, n, err := e.partition()
		if err == nil {
			err = addElection(req, topic, n)
		}
		if err != nil {
			return nil, err
		}
	}
	return req, nil
}

// electionPlan reads the partitions of a plan without a version.
func electionPlan(text []byte) (planFile, error) {
	var all planEntry
	if json.Unmarshal(text, &all) != nil || all == nil {
		return nil, errors.New("Replica election data is empty")
	}
	if _, ok := all["partitions"]; !ok {
		return nil, errors.New("Replica election data is missing \"partitions\" field")
	}
	delete(all, "version")
	return parsePlanEntry(all)
}

func addElection(req *kmsg.ElectLeadersRequest, topic string, n int32) error {
	for i := range req.Topics {
		if t := &req.Topics[i]; t.Topic == topic {
			if slices.Contains(t.Partitions, n) {
				return fmt.Errorf("Replica election data contains duplicate partitions: %s-%d", topic, n)
			}
			t.Partitions = append(t.Partitions, n)
			return nil
		}
	}
	t := kmsg.NewElectLeadersRequestTopic()
	t.Topic, t.Partitions = topic, []int32{n}
	req.Topics = append(req.Topics, t)
	return nil
}

func (env *Env) elect(ctx context.Context, client *kgo.Client, o *opt.Options) error {
	req, err := wantedElection(o)
	if err != nil {
		return err
	}
	resp, err := req.RequestWith(ctx, client)
	if err == nil {
		err = answer(resp.ErrorCode, nil)
	}
	if err != nil {
		return err
	}
	var elected, needless, failed []string
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			name := fmt.Sprintf("%s-%d", t.Topic, p.Partition)
			switch err := answer(p.ErrorCode, p.ErrorMessage); {
			case err == nil:
				elected = append(elected, name)
			case p.ErrorCode == int16(kerr.ElectionNotNeeded):
				needless = append(needless, name)
			default:
				failed = append(failed, fmt.Sprintf("%s: %s", name, classOf(err, "electLeaders")))
			}
		}
	}
	kind := []string{"PREFERRED", "UNCLEAN"}[req.ElectionType]
	if len(elected) > 0 {
		fmt.Fprintf(env.Out, "Successfully completed leader election (%s) for partitions %s\n", kind,
			strings.Join(elected, ", "))
	}
	if len(needless) > 0 {
		fmt.Fprintf(env.Out, "Valid replica already elected for partitions %s\n", strings.Join(needless, ", "))
	}
	for _, f := range failed {
		fmt.Fprintf(env.Out, "Error completing leader election (%s) for partition: %s\n", kind, f)
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d replica(s) could not be elected", len(failed))
	}
	return nil
}
