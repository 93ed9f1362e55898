package storage

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/record"
)

// Node is the part of a node's configuration that formatting and checking need.
type Node struct {
	ID          int32
	Controller  bool     // process.roles has "controller"
	LogDirs     []string // log.dirs
	MetadataDir string   // metadata.log.dir; empty: the first of LogDirs

	StaticVoters bool   // controller.quorum.voters is set
	Listener     string // first of controller.listener.names
	Host         string // where that listener is reached; empty: localhost
	Port         uint16
}

func (n *Node) metadataDir() string {
	if n.MetadataDir != "" {
		return n.MetadataDir
	}
	return n.LogDirs[0]
}

// dirs are all directories, each once, sorted.
func (n *Node) dirs() []string {
	all := append([]string(nil), n.LogDirs...)
	if n.MetadataDir != "" {
		all = append(all, n.MetadataDir)
	}
	for i := range all {
		all[i] = filepath.Clean(all[i])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Options are kafka-storage format's. Errors of Format are one line for a person, as Apache's tool prints
// them.
type Options struct {
	Node
	ClusterID string   // -t
	Ignore    bool     // -g
	Release   string   // -r
	Features  []string // -f, name=level each
	Scram     []string // -S

	Standalone bool   // -s
	NoInitial  bool   // -N
	Initial    string // -I

	Unstable bool // unstable.feature.versions.enable
}

// Format formats the directories that aren't yet and says so to out.
func Format(fsys vfs.FS, o *Options, out io.Writer) error {
	p, err := o.plan()
	if err != nil {
		return err
	}
	todo, err := unformatted(fsys, o, out)
	if err != nil {
		return err
	}
	if len(todo) == 0 {
		fmt.Fprintln(out, "All of the log directories are already formatted.")
		return nil
	}
	fmt.Fprintf(out, "Bootstrap metadata: %s\n", p.describe())
	// Data directories come first: without the metadata directory the node isn't formatted.
	meta0 := filepath.Clean(o.metadataDir())
	slices.SortStableFunc(todo, func(a, b string) int { return rank(a == meta0) - rank(b == meta0) })
	for _, dir := range todo {
		if err := formatDir(fsys, o, p, dir, out); err != nil {
			return err
		}
	}
	return nil
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// unformatted are the directories without meta.properties.
func unformatted(fsys vfs.FS, o *Options, out io.Writer) (todo []string, err error) {
	bad := 0
	dirs := o.dirs()
	for _, dir := range dirs {
		switch has, err := seglog.HasProperties(fsys, dir); {
		case err != nil:
			fmt.Fprintf(out, "I/O error trying to read log directory %s. Ignoring...\n", dir)
			bad++
		case has && !o.Ignore:
			return nil, refuse("Log directory %s is already formatted. Use --ignore-formatted to ignore "+
				"this directory and format the others.", dir)
		case !has:
			todo = append(todo, dir)
		}
	}
	if bad == len(dirs) {
		return nil, refuse("No available log directories to format.")
	}
	return todo, nil
}

func formatDir(fsys vfs.FS, o *Options, p *plan, dir string, out io.Writer) error {
	kind, id := "data directory", NewID()
	isMeta := dir == filepath.Clean(o.metadataDir())
	if isMeta {
		kind = "metadata directory"
		if len(p.voters) > 0 {
			kind = "dynamic metadata voter directory"
			for _, v := range p.voters {
				if v.ID == o.ID {
					id = v.Dir
				}
			}
		}
	}
	fmt.Fprintf(out, "Formatting %s %s with metadata.version %s.\n", kind, dir,
		meta.MetadataVersionName(p.levels[meta.FeatureMetadata]))
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		return refuse("Error while creating %s: %v", dir, err)
	}
	if isMeta && o.Controller {
		content, err := p.bootstrapBytes(time.Now().UnixMilli())
		if err != nil {
			return err
		}
		if err := writeBootstrap(fsys, dir, content); err != nil {
			return err
		}
	}
	props := &seglog.Properties{Version: 1, ClusterID: o.ClusterID, NodeID: o.ID, DirectoryID: id.String()}
	if err := seglog.SaveProperties(fsys, dir, props); err != nil {
		return refuse("Error while writing meta.properties file %s: %v", dir, err)
	}
	return nil
}

// plan is what a format writes.
type plan struct {
	levels  map[string]int16
	dynamic bool // kraft.version 1
	voters  []record.Voter
	records [][]byte
	scram   []string // described
}

func (o *Options) plan() (*plan, error) {
	if o.ID < 0 {
		return nil, refuse("You must specify a valid non-negative node ID.")
	}
	if o.ClusterID == "" {
		return nil, refuse("You must specify the cluster id.")
	}
	dynamic, err := o.checkQuorum()
	if err != nil {
		return nil, err
	}
	p := &plan{dynamic: dynamic}
	if p.levels, err = o.features(dynamic); err != nil {
		return nil, err
	}
	if p.voters, err = o.voters(); err != nil {
		return nil, err
	}
	p.records = meta.BootstrapRecords(p.levels)
	for _, arg := range o.Scram {
		cred, err := parseScram(arg)
		if err != nil {
			return nil, err
		}
		if mv := p.levels[meta.FeatureMetadata]; mv < 11 {
			return nil, refuse("SCRAM is only supported in metadata.version 3.5-IV2 or later.")
		}
		p.records = append(p.records, record.AppendMetadata(nil, cred, 0))
		p.scram = append(p.scram, describeScram(cred))
	}
	return p, nil
}

// checkQuorum says whether the voters are to be found in the log instead of the configuration.
func (o *Options) checkQuorum() (dynamic bool, err error) {
	count := 0
	for _, set := range []bool{o.Standalone, o.NoInitial, o.Initial != ""} {
		count += rank(set)
	}
	switch {
	case count > 1:
		return false, refuse("argument -s/--standalone: not allowed with argument -N/--no-initial-controllers or " +
			"-I/--initial-controllers")
	case o.StaticVoters && (o.Standalone || o.Initial != ""):
		return false, refuse("You cannot specify controller.quorum.voters and format the node with " +
			"--initial-controllers or --standalone. If you want to use dynamic quorum, please remove " +
			"controller.quorum.voters and specify controller.quorum.bootstrap.servers instead.")
	case o.Standalone && !o.Controller:
		return false, refuse("You can only use --standalone on a controller.")
	case o.Controller && !o.StaticVoters && count == 0:
		return false, refuse("Because controller.quorum.voters is not set on this controller, you must specify " +
			"one of the following: --standalone, --initial-controllers, or --no-initial-controllers.")
	}
	return !o.StaticVoters && count > 0, nil
}

func (o *Options) features(dynamic bool) (map[string]int16, error) {
	mv, err := o.metadataVersion()
	if err != nil {
		return nil, err
	}
	levels := meta.DefaultFeatures(mv)
	delete(levels, meta.FeatureKRaft)
	kraft := int16(rank(dynamic))
	for _, arg := range o.Features {
		name, level, err := parseFeature(arg)
		if err != nil {
			return nil, err
		}
		if name == meta.FeatureMetadata {
			continue
		}
		if err := checkFeature(name, level, mv); err != nil {
			return nil, err
		}
		if name == meta.FeatureKRaft {
			kraft = level
		} else {
			levels[name] = level
		}
	}
	switch {
	case dynamic && kraft == 0:
		return nil, refuse("Cannot set kraft.version to 0 if controller.quorum.voters is empty and one of the " +
			"flags --standalone, --initial-controllers, or --no-initial-controllers is used. For dynamic " +
			"controllers support, try removing the --feature flag for kraft.version.")
	case !dynamic && kraft > 0:
		return nil, refuse("Cannot set kraft.version to %d unless controller.quorum.voters is empty and one of "+
			"the flags --standalone, --initial-controllers, or --no-initial-controllers is used. For dynamic "+
			"controllers support, try using one of --standalone, --initial-controllers, or --no-initial-controllers.",
			kraft)
	}
	return levels, nil
}

// metadataVersion is what --release-version says or, without one, --feature metadata.version=N.
func (o *Options) metadataVersion() (int16, error) {
	mv := meta.LatestMetadataVersion
	if o.Release != "" {
		var ok bool
		if mv, ok = meta.ParseMetadataVersion(o.Release); !ok {
			return 0, refuse("Unknown metadata.version '%s'. Supported metadata.version are: %s",
				o.Release, strings.Join(meta.MetadataVersionNames(), ", "))
		}
	}
	for _, arg := range o.Features {
		name, level, err := parseFeature(arg)
		switch {
		case err != nil || name != meta.FeatureMetadata:
		case o.Release != "":
			return 0, refuse("Use --release-version instead of --feature metadata.version=X to avoid ambiguity.")
		case level < meta.MinMetadataVersion || level > meta.LatestMetadataVersion:
			return 0, refuse("No MetadataVersion with feature level %d. Valid feature levels are from %d to %d.",
				level, meta.MinMetadataVersion, meta.LatestMetadataVersion)
		default:
			mv = level
		}
	}
	return mv, nil
}

func parseFeature(arg string) (name string, level int16, err error) {
	name, text, ok := strings.Cut(arg, "=")
	if !ok {
		return "", 0, refuse("Can't parse feature=level string %s: equals sign not found.", arg)
	}
	name, text = strings.TrimSpace(name), strings.TrimSpace(text)
	n, err := strconv.ParseInt(text, 10, 16)
	if err != nil {
		return "", 0, refuse("Can't parse feature=level string %s: unable to parse %s as a short.", arg, text)
	}
	return name, int16(n), nil
}

func checkFeature(name string, level, mv int16) error {
	known := meta.Supported()
	r, ok := known[name]
	if !ok {
		var names []string
		for n := range known {
			if n != meta.FeatureMetadata {
				names = append(names, n)
			}
		}
		slices.Sort(names)
		return refuse("Unsupported feature: %s. Supported features are: %s", name, strings.Join(names, ", "))
	}
	if level < r.Min || level > r.Max {
		return refuse("No feature:%s with feature level %d", name, level)
	}
	if dep := meta.FeatureNeeds(name, level); mv < dep {
		return refuse("%s could not be set to %d because it depends on metadata.version level %d",
			name, level, dep)
	}
	return nil
}
