package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
)

// Info prints what is in the directories, as kafka-storage info does, and says whether it found no problem.
func Info(fsys vfs.FS, n *Node, out io.Writer) bool {
	var found, problems []string
	var last, first *seglog.Properties
	for _, dir := range n.dirs() {
		p, problem := inspect(fsys, dir)
		if problem != "" {
			problems = append(problems, problem)
		}
		if p == nil {
			if problem == dir+" is not formatted." {
				found = append(found, dir)
			}
			continue
		}
		found = append(found, dir)
		if first == nil {
			first = p
		} else if p.ClusterID != first.ClusterID {
			problems = append(problems, "Mismatched cluster IDs between storage directories.")
		} else if p.NodeID != first.NodeID {
			problems = append(problems, "Mismatched node IDs between storage directories.")
		}
		if p.Version == 0 {
			problems = append(problems, "The kafka configuration file appears to be for a cluster in KRaft mode, but "+
				"the directories are formatted for legacy mode.")
		}
		last = p
	}
	if len(n.dirs()) == 0 {
		fmt.Fprintln(out, "No directories specified.")
		return true
	}
	printList(out, found, "Found log directory:", "Found log directories:")
	if last != nil {
		fmt.Fprintf(out, "Found metadata: %s\n\n", describeProperties(first))
	}
	printList(out, slices.Compact(problems), "Found problem:", "Found problems:")
	return len(problems) == 0
}

func printList(out io.Writer, lines []string, one, several string) {
	switch len(lines) {
	case 0:
		return
	case 1:
		fmt.Fprintln(out, one)
	default:
		fmt.Fprintln(out, several)
	}
	for _, l := range lines {
		fmt.Fprintf(out, "  %s\n", l)
	}
	fmt.Fprintln(out)
}

func inspect(fsys vfs.FS, dir string) (p *seglog.Properties, problem string) {
	st, err := fsys.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, dir + " does not exist"
	case err != nil:
		return nil, fmt.Sprintf("Error loading %s: %v", dir, err)
	case !st.IsDir():
		return nil, dir + " is not a directory"
	}
	p, err = seglog.LoadProperties(fsys, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, dir + " is not formatted."
	case err != nil:
		return nil, fmt.Sprintf("Error loading %s: %v", filepath.Join(dir, "meta.properties"), err)
	}
	return p, ""
}

func describeProperties(p *seglog.Properties) string {
	var parts []string
	if p.ClusterID != "" {
		parts = append(parts, "cluster.id="+p.ClusterID)
	}
	if p.DirectoryID != "" {
		parts = append(parts, "directory.id="+p.DirectoryID)
	}
	key := "node.id"
	if p.Version == 0 {
		key = "broker.id"
	}
	parts = append(parts, fmt.Sprintf("%s=%d", key, p.NodeID))
	slices.Sort(parts)
	return fmt.Sprintf("{%s, version=%d}", strings.Join(parts, ", "), p.Version)
}
