package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kalda/kalda/internal/tool/opt"
)

func deleteRecordsSpec() *opt.Spec {
	return &opt.Spec{
		About: "This tool helps to delete records of the given partitions down to the specified offset.",
		Flags: []opt.Flag{
			{
				Name: "bootstrap-server", Arity: opt.Required, Arg: "server(s) to use for bootstrapping",
				Help: "REQUIRED: The server to connect to.",
			},
			{
				Name: "offset-json-file", Arity: opt.Required, Arg: "Offset json file path",
				Help: "REQUIRED: The JSON file with offset per partition. The format to use is:\n" +
					"{\"partitions\":\n  [{\"topic\": \"foo\", \"partition\": 1, \"offset\": 1}],\n \"version\":1\n}",
			},
			{
				Name: "command-config", Arity: opt.Required, Arg: "command config property file path",
				Help: "A property file containing configs to be passed to Admin Client.",
			},
		},
	}
}

// deleteRecords is kafka-delete-records.
func deleteRecords(env *Env, args []string) int {
	return env.adminTool(args, deleteRecordsSpec(), []string{"bootstrap-server", "offset-json-file"},
		env.runDeleteRecords)
}

func (env *Env) runDeleteRecords(ctx context.Context, client *kgo.Client, o *opt.Options) error {
	text, err := readPlanFile(o.Or("offset-json-file", ""))
	if err != nil {
		return err
	}
	offsets, err := deletionPlan(text)
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "Executing records delete operation")
	results, err := kadm.NewClient(client).DeleteRecords(ctx, offsets)
	if err != nil && len(results) == 0 {
		return err
	}
	fmt.Fprintln(env.Out, "Records delete operation completed:")
	for _, r := range results.Sorted() {
		if r.Err != nil {
			fault := classOf(r.Err, "deleteRecords")
			fmt.Fprintf(env.Out, "partition: %s-%d\terror: %s\n", r.Topic, r.Partition, fault)
		} else {
			fmt.Fprintf(env.Out, "partition: %s-%d\tlow_watermark: %d\n", r.Topic, r.Partition, r.LowWatermark)
		}
	}
	return nil
}

// deletionPlan reads the offsets before which records are to go.
func deletionPlan(text []byte) (kadm.Offsets, error) {
	plan, err := parsePlan(text)
	if err != nil {
		return nil, err
	}
	offsets := make(kadm.Offsets)
	var twice []string
	for _, e := range plan {
		topic, n, err := e.partition()
		if err != nil {
			return nil, err
		}
		at, err := e.long("offset")
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("%s-%d", topic, n)
		if _, ok := offsets.Lookup(topic, n); ok && !slices.Contains(twice, name) {
			twice = append(twice, name)
		}
		offsets.AddOffset(topic, n, at, -1)
	}
	if len(twice) > 0 {
		return nil, fmt.Errorf("Offset json file contains duplicate topic partitions: %s", strings.Join(twice, ","))
	}
	return offsets, nil
}
