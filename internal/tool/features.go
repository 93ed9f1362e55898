package tool

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/tool/opt"
)

// adminFlags are the options of tools that ask brokers or controllers, which may stand before the
// sub-command.
func adminFlags() []opt.Flag {
	return []opt.Flag{
		{Name: "bootstrap-server", Arity: opt.Required, Arg: "host:port,...", Help: "The brokers to ask."},
		{
			Name: "bootstrap-controller", Arity: opt.Required, Arg: "host:port,...",
			Help: "The controllers to ask, instead of brokers.",
		},
		{Name: "command-config", Arity: opt.Required, Arg: "file", Help: "Properties for the admin client."},
	}
}

// featuresTool is kafka-features.
func featuresTool(env *Env, args []string) int {
	global := &opt.Spec{About: "This tool manages feature flags in Kafka.", Flags: adminFlags()}
	return env.commands(args, global, append(env.featureChanges(), []command{
		{
			"describe", &opt.Spec{About: "Describes the current active feature flags.", Flags: []opt.Flag{
				{Name: "node-id", Arity: opt.Required, Arg: "id", Help: "The node to ask."},
			}}, nil,
			func(o *opt.Options) int { return env.onCluster(o, "command-config", env.describeFeatures) },
		},
		{
			"version-mapping", &opt.Spec{
				About: "Look up the corresponding features for a given metadata version.",
				Flags: []opt.Flag{{Name: "release-version", Arity: opt.Required, Arg: "version", Help: "The release."}},
			},
			nil,
			env.versionMapping,
		},
		{
			"feature-dependencies", &opt.Spec{
				About: "Look up dependencies for a given feature version.",
				Flags: []opt.Flag{{Name: "feature", Arity: opt.Required, Arg: "name=level", Help: "Repeatable."}},
			},
			[]string{"feature"},
			env.featureDependencies,
		},
	}...))
}

func (env *Env) describeFeatures(ctx context.Context, c *cluster, o *opt.Options) error {
	at := kmsg.Requestor(c.SeedBrokers()[0])
	if o.Has("node-id") {
		id, err := o.Int("node-id", 0)
		if err != nil {
			return err
		}
		at = c.Broker(id)
	}
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "kalda", KafkaVersion
	resp, err := req.RequestWith(ctx, at)
	if err == nil {
		err = answer(resp.ErrorCode, nil)
	}
	if err != nil {
		return err
	}
	finalized := make(map[string]int16)
	for _, f := range resp.FinalizedFeatures {
		finalized[f.Name] = f.MaxVersionLevel
	}
	features := resp.SupportedFeatures
	slices.SortFunc(features, func(a, b kmsg.ApiVersionsResponseSupportedFeature) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	epoch := "-"
	if resp.FinalizedFeaturesEpoch >= 0 {
		epoch = strconv.FormatInt(resp.FinalizedFeaturesEpoch, 10)
	}
	for _, f := range features {
		level := func(n int16) string {
			if f.Name == meta.FeatureMetadata && n > 0 {
				return meta.MetadataVersionName(n)
			}
			return strconv.Itoa(int(n))
		}
		fmt.Fprintf(env.Out, "Feature: %-40s  SupportedMinVersion: %-15s  SupportedMaxVersion: %-15s  "+
			"FinalizedVersionLevel: %-15s  Epoch: %s\n", f.Name, level(f.MinVersion), level(f.MaxVersion),
			level(finalized[f.Name]), epoch)
	}
	return nil
}
