package tool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/tool/opt"
)

// featureChange is one of the ways in which kafka-features changes levels.
type featureChange struct {
	verb, done string // as in "Could not upgrade", "was upgraded"
	kind       int8
}

func (env *Env) featureChanges() []command {
	dry := opt.Flag{Name: "dry-run", Help: "Validate this, but do not perform it."}
	unsafe := opt.Flag{Name: "unsafe", Help: "Even if it may irreversibly destroy metadata."}
	feature := opt.Flag{Name: "feature", Arity: opt.Required, Arg: "feature=level", Help: "Repeatable."}
	levels := []opt.Flag{
		feature, dry,
		{Name: "metadata", Arity: opt.Required, Arg: "version", Help: "Deprecated: --release-version."},
		{Name: "release-version", Arity: opt.Required, Arg: "version", Help: "All features of that release."},
	}
	run := func(c featureChange) func(*opt.Options) int {
		return func(o *opt.Options) int {
			return env.onCluster(o, "command-config", func(ctx context.Context, at *cluster, o *opt.Options) error {
				return env.changeFeatures(ctx, at, o, c)
			})
		}
	}
	return []command{
		{
			"upgrade", &opt.Spec{About: "Upgrade one or more feature flags.", Flags: levels}, nil,
			run(featureChange{"upgrade", "upgraded", meta.UpgradeOnly}),
		},
		{
			"downgrade", &opt.Spec{About: "Downgrade one or more feature flags.", Flags: append(levels, unsafe)}, nil,
			run(featureChange{"downgrade", "downgraded", meta.SafeDowngrade}),
		},
		{
			"disable", &opt.Spec{
				About: "Disable one or more feature flags. This is the same as downgrading the version to zero.",
				Flags: []opt.Flag{
					{Name: "feature", Arity: opt.Required, Arg: "feature", Help: "Repeatable."}, unsafe, dry,
				},
			}, nil, run(featureChange{"disable", "disabled", meta.SafeDowngrade}),
		},
	}
}

// wantedLevels are the levels that the command line asks for.
func (env *Env) wantedLevels(o *opt.Options, c featureChange) (map[string]int16, error) {
	levels := map[string]int16{}
	if c.verb == "disable" {
		for _, name := range o.All("feature") {
			levels[name] = 0
		}
		return levels, nil
	}
	version := o.Or("release-version", o.Or("metadata", ""))
	if o.Has("release-version") {
		if o.Has("metadata") || o.Has("feature") {
			return nil, handledf(env, "Can not specify `release-version` with other feature flags.")
		}
	} else if o.Has("metadata") {
		fmt.Fprintln(env.Out, " `metadata` flag is deprecated and may be removed in a future release.")
	}
	if version != "" {
		mv, ok := meta.ParseMetadataVersion(version)
		if !ok {
			return nil, handledf(env, "Unknown metadata.version '%s'. Supported metadata.version are: %s", version,
				strings.Join(meta.MetadataVersionNames(), ", "))
		}
		levels[meta.FeatureMetadata] = mv
		for _, f := range features() {
			if level := defaultLevel(f, mv); o.Has("release-version") && (level > 0 || c.kind != meta.UpgradeOnly) {
				levels[f] = level
			}
		}
	}
	for _, spec := range o.All("feature") {
		name, text, ok := strings.Cut(spec, "=")
		if !ok {
			return nil, handledf(env, "Can't parse feature=level string %s: equals sign not found.", spec)
		}
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 16)
		if err != nil {
			return nil, handledf(env, "Can't parse feature=level string %s: unable to parse %s as a short.", spec,
				strings.TrimSpace(text))
		}
		if _, twice := levels[strings.TrimSpace(name)]; twice {
			return nil, handledf(env, "Feature %s was specified more than once.", strings.TrimSpace(name))
		}
		levels[strings.TrimSpace(name)] = int16(n)
	}
	return levels, nil
}

// handledf prints a complaint without the name of an exception.
func handledf(env *Env, format string, args ...any) error {
	fmt.Fprintf(env.Err, format+"\n", args...)
	return errHandled
}

func (env *Env) changeFeatures(ctx context.Context, at *cluster, o *opt.Options, c featureChange) error {
	levels, err := env.wantedLevels(o, c)
	if err != nil {
		return err
	}
	if len(levels) == 0 {
		return handledf(env, "You must specify at least one feature to %s", c.verb)
	}
	if o.Has("unsafe") {
		c.kind = meta.UnsafeDowngrade
	}
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		if levels[name] < 1 && c.kind == meta.UpgradeOnly {
			return handledf(env, "The upgradeType flag should be set to SAFE_DOWNGRADE or UNSAFE_DOWNGRADE when the "+
				"provided maxVersionLevel:%d is < 1.", levels[name])
		}
	}
	req := kmsg.NewPtrUpdateFeaturesRequest()
	req.ValidateOnly = o.Has("dry-run")
	names := slices.Sorted(maps.Keys(levels))
	for _, name := range names {
		u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
		u.Feature, u.MaxVersionLevel, u.UpgradeType = name, levels[name], c.kind
		req.FeatureUpdates = append(req.FeatureUpdates, u)
	}
	node, err := at.node(ctx)
	if err != nil {
		return err
	}
	resp, err := req.RequestWith(ctx, node)
	if err != nil {
		return err
	}
	failed := 0
	for _, name := range names {
		fault := answer(resp.ErrorCode, resp.ErrorMessage)
		for _, r := range resp.Results {
			if r.Feature == name && fault == nil {
				fault = answer(r.ErrorCode, r.ErrorMessage)
			}
		}
		if fault != nil {
			failed++
		}
		fmt.Fprintln(env.Out, c.outcome(name, levels[name], req.ValidateOnly, fault))
	}
	if failed > 0 {
		fmt.Fprintf(env.Err, "%d out of %d operation(s) failed.\n", failed, len(names))
		return errHandled
	}
	return nil
}

func (c *featureChange) outcome(name string, level int16, dry bool, fault error) string {
	to := " to " + strconv.Itoa(int(level)) + "."
	if c.verb == "disable" {
		to = "."
	}
	switch {
	case fault != nil && dry:
		return fmt.Sprintf("Can not %s %s%s %v", c.verb, name, to, fault)
	case fault != nil:
		return fmt.Sprintf("Could not %s %s%s %v", c.verb, name, to, fault)
	case dry:
		return fmt.Sprintf("%s can be %s%s", name, c.done, to)
	}
	return fmt.Sprintf("%s was %s%s", name, c.done, to)
}
