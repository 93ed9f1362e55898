package tool

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/server/storage"
	"github.com/kalda/kalda/internal/tool/opt"
)

// storageTool is kafka-storage.
func storageTool(env *Env, args []string) int {
	config := opt.Flag{
		Name: "config", Short: "c", Arity: opt.Required, Arg: "file",
		Help: "The node's properties file.",
	}
	release := opt.Flag{
		Name: "release-version", Short: "r", Arity: opt.Required, Arg: "version",
		Help: "The release whose features are meant, such as 4.4 or 4.0-IV3; default: the newest.",
	}
	feature := opt.Flag{
		Name: "feature", Short: "f", Arity: opt.Required, Arg: "name=level",
		Help: "A feature's level; repeatable.",
	}
	return env.commands(args, &opt.Spec{About: "The Kafka storage tool."}, []command{
		{
			"info", &opt.Spec{
				About: "Get information about the Kafka log directories on this node.",
				Flags: []opt.Flag{config},
			},
			[]string{"config"},
			env.storageInfo,
		},
		{"format", &opt.Spec{About: "Format the Kafka log directories on this node.", Flags: []opt.Flag{
			config,
			{
				Name: "cluster-id", Short: "t", Arity: opt.Required, Arg: "id",
				Help: "The cluster's id: see random-uuid.",
			},
			{
				Name: "add-scram", Short: "S", Arity: opt.Required, Arg: "credential",
				Help: "A first user, such as 'SCRAM-SHA-256=[name=alice,password=secret]'; repeatable.",
			},
			{Name: "ignore-formatted", Short: "g", Help: "Pass over directories that are formatted already."},
			release, feature,
			{Name: "standalone", Short: "s", Help: "This controller is the only voter of a quorum that can grow."},
			{Name: "no-initial-controllers", Short: "N", Help: "This controller joins a quorum that exists."},
			{
				Name: "initial-controllers", Short: "I", Arity: opt.Required, Arg: "id@host:port:dir,...",
				Help: "The first voters; the same list on each of them.",
			},
		}}, []string{"cluster-id", "config"}, env.storageFormat},
		{
			"version-mapping", &opt.Spec{
				About: "Show the features that belong to a release.",
				Flags: []opt.Flag{release},
			},
			nil, env.versionMapping,
		},
		{
			"feature-dependencies", &opt.Spec{
				About: "Show what feature levels depend on.",
				Flags: []opt.Flag{feature},
			},
			[]string{"feature"},
			env.featureDependencies,
		},
		{"random-uuid", &opt.Spec{About: "Print a random UUID."}, nil, func(*opt.Options) int {
			fmt.Fprintln(env.Out, storage.RandomUUID())
			return 0
		}},
	})
}

// storageNode reads the properties file as far as formatting needs it.
func storageNode(o *opt.Options, action string) (*config.Server, storage.Node, error) {
	var none storage.Node
	path, err := o.One("config")
	if err != nil {
		return nil, none, err
	}
	raw, err := loadProps(path)
	if err != nil {
		return nil, none, fmt.Errorf("%s", classOf(err, ""))
	}
	if strings.TrimSpace(raw["process.roles"]) == "" && action == "format" {
		return nil, none, fmt.Errorf("The kafka configuration file appears to be for a legacy cluster. " +
			"Formatting is only supported for clusters in KRaft mode.")
	}
	c, _, err := config.Load(path, nil)
	if err != nil {
		return nil, none, err
	}
	n := storage.Node{
		ID: c.NodeID, Controller: c.Controller, LogDirs: c.LogDirs, MetadataDir: c.MetadataLogDir,
		StaticVoters: len(c.Voters) > 0,
	}
	if len(c.AdvertisedControllers) > 0 {
		l := c.AdvertisedControllers[0]
		n.Listener, n.Host, n.Port = l.Name, l.Host, uint16(l.Port)
	}
	return c, n, nil
}

func (env *Env) storageInfo(o *opt.Options) int {
	_, n, err := storageNode(o, "info")
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	if !storage.Info(vfs.OS(), &n, env.Out) {
		return 1
	}
	return 0
}

func (env *Env) storageFormat(o *opt.Options) int {
	c, n, err := storageNode(o, "format")
	if err == nil && o.Count("standalone", "no-initial-controllers", "initial-controllers") > 1 {
		err = fmt.Errorf("Only one of --standalone, --no-initial-controllers and --initial-controllers can be " +
			"given.")
	}
	if err == nil {
		err = storage.Format(vfs.OS(), &storage.Options{
			Node: n, ClusterID: o.Or("cluster-id", ""), Ignore: o.Has("ignore-formatted"),
			Release: o.Or("release-version", ""), Features: o.All("feature"), Scram: o.All("add-scram"),
			Standalone: o.Has("standalone"), NoInitial: o.Has("no-initial-controllers"),
			Initial: o.Or("initial-controllers", ""), Unstable: c.Bool("unstable.feature.versions.enable"),
		}, env.Out)
	}
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	return 0
}

// features are the names of all features but metadata.version, in the order that Apache's tools print them.
func features() []string {
	return []string{
		meta.FeatureKRaft, meta.FeatureTransaction, meta.FeatureGroup, meta.FeatureELR,
		meta.FeatureShare,
		meta.FeatureStreams,
	}
}

// defaultLevel is the level of a feature that a metadata.version brings along.
func defaultLevel(feature string, mv int16) int16 {
	since := func(versions ...string) int16 {
		level := int16(0)
		for i, v := range versions {
			if at, ok := meta.ParseMetadataVersion(v); ok && mv >= at {
				level = int16(i + 1)
			}
		}
		return level
	}
	switch feature {
	case meta.FeatureKRaft:
		return since("3.9-IV0")
	case meta.FeatureTransaction:
		return since("4.0-IV2", "4.0-IV2")
	case meta.FeatureGroup:
		return since("4.0-IV0")
	case meta.FeatureELR:
		return since("4.1-IV0")
	case meta.FeatureShare:
		return since("4.2-IV0", "4.4-IV0")
	}
	return since("4.2-IV1")
}

func (env *Env) versionMapping(o *opt.Options) int {
	name := o.Or("release-version", meta.MetadataVersionName(meta.LatestMetadataVersion))
	mv, ok := meta.ParseMetadataVersion(name)
	if !ok {
		fmt.Fprintf(env.Err, "Unknown metadata.version '%s'. Supported metadata.version are: %s\n", name,
			strings.Join(meta.MetadataVersionNames(), ", "))
		return 1
	}
	fmt.Fprintf(env.Out, "metadata.version=%d (%s)\n", mv, name)
	for _, f := range features() {
		fmt.Fprintf(env.Out, "%s=%d\n", f, defaultLevel(f, mv))
	}
	return 0
}

func (env *Env) featureDependencies(o *opt.Options) int {
	for _, spec := range o.All("feature") {
		if err := env.dependencies(spec); err != nil {
			fmt.Fprintln(env.Err, err)
			return 1
		}
	}
	return 0
}

// dependencies prints what one name=level depends on.
func (env *Env) dependencies(spec string) error {
	name, text, ok := strings.Cut(spec, "=")
	n, err := strconv.ParseInt(text, 10, 16)
	if !ok || err != nil {
		return fmt.Errorf("Invalid feature format: %s. Expected format: 'feature=version' (e.g. "+
			"'group.version=1')", spec)
	}
	level := int16(n)
	r, known := meta.Supported()[name]
	label := fmt.Sprintf("%s=%d", name, level)
	switch {
	case !known:
		return fmt.Errorf("Unknown feature: %s", name)
	case name == meta.FeatureMetadata:
		if level < r.Min || level > r.Max {
			return fmt.Errorf("Unknown metadata.version %d", level)
		}
		label += " (" + meta.MetadataVersionName(level) + ")"
	case level < r.Min || level > r.Max:
		return fmt.Errorf("Feature level %d is not supported for feature %s", level, name)
	}
	if needs := meta.FeatureNeeds(name, level); needs > 0 {
		fmt.Fprintf(env.Out, "%s requires:\n    %s=%d (%s)\n", label, meta.FeatureMetadata, needs,
			meta.MetadataVersionName(needs))
		return nil
	}
	fmt.Fprintf(env.Out, "%s has no dependencies.\n", label)
	return nil
}
