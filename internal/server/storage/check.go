package storage

import (
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/record"
)

// ErrNotFormatted says that no directory has a meta.properties.
var ErrNotFormatted = errors.New("not formatted")

// Directory is one log directory that is this node's.
type Directory struct {
	Path string
	ID   record.UUID
}

// Checked is what Check found.
type Checked struct {
	ClusterID string
	Dirs      []Directory // in the order of log.dirs, then the metadata directory if it is another one
	Metadata  Directory
	Failed    map[string]error // directories that can't be read, by path; never the metadata directory
}

// Check reads every directory's meta.properties and makes sure that they're all of this node and of one
// cluster. A directory that was added later, or formatted before directories had ids, gets what it lacks.
// clusterID, if not empty, must be theirs.
func Check(fsys vfs.FS, n *Node, clusterID string) (*Checked, error) {
	c := &Checked{ClusterID: clusterID, Failed: map[string]error{}}
	var missing []string
	byID := map[string]string{}
	for _, dir := range n.ordered() {
		p, err := seglog.LoadProperties(fsys, dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, dir)
			continue
		case err != nil && dir == filepath.Clean(n.metadataDir()):
			return nil, refuse("Encountered I/O error in metadata log directory %s. Cannot continue: %v", dir, err)
		case err != nil:
			c.Failed[dir] = err
			continue
		}
		if err := c.add(fsys, n, dir, p); err != nil {
			return nil, err
		}
		if other, ok := byID[p.DirectoryID]; ok {
			return nil, refuse("Duplicate directory ID %s found. It was the ID of %s, but also of %s",
				p.DirectoryID, other, dir)
		}
		byID[p.DirectoryID] = dir
	}
	return c, c.complete(fsys, n, missing)
}

// ordered are the directories in the order of the configuration.
func (n *Node) ordered() (out []string) {
	seen := map[string]bool{}
	for _, dir := range append(append([]string(nil), n.LogDirs...), n.metadataDir()) {
		if dir = filepath.Clean(dir); !seen[dir] {
			seen[dir] = true
			out = append(out, dir)
		}
	}
	return out
}

func (c *Checked) add(fsys vfs.FS, n *Node, dir string, p *seglog.Properties) error {
	file := filepath.Join(dir, "meta.properties")
	switch {
	case p.Version == 0:
		return refuse("Found unexpected version in %s: it was formatted for ZooKeeper mode", file)
	case p.ClusterID == "":
		return fmt.Errorf("cluster.id was not specified in the v1 file: %s", file)
	case p.NodeID < 0:
		return fmt.Errorf("node.id was not specified in %s", file)
	case c.ClusterID != "" && p.ClusterID != c.ClusterID:
		return refuse("Invalid cluster.id in: %s. Expected %s, but read %s", file, c.ClusterID, p.ClusterID)
	case p.NodeID != n.ID:
		return refuse("Stored node id %d doesn't match previous node id %d in %s. If you moved your data, make "+
			"sure your configured node id matches. If you intend to create a new node, you should remove all data "+
			"in your data directories.", p.NodeID, n.ID, file)
	}
	c.ClusterID = p.ClusterID
	if p.DirectoryID == "" {
		p.DirectoryID = NewID().String()
		if err := seglog.SaveProperties(fsys, dir, p); err != nil {
			return err
		}
	}
	id, err := record.ParseUUID(p.DirectoryID)
	if err != nil || id.Reserved() {
		return refuse("Invalid reserved directory ID %s found in %s", p.DirectoryID, file)
	}
	c.keep(n, Directory{dir, id})
	return nil
}

func (c *Checked) keep(n *Node, d Directory) {
	c.Dirs = append(c.Dirs, d)
	if d.Path == filepath.Clean(n.metadataDir()) {
		c.Metadata = d
	}
}

// complete makes directories that were added to the configuration after the node was formatted.
func (c *Checked) complete(fsys vfs.FS, n *Node, missing []string) error {
	if len(c.Dirs) == 0 || c.Metadata.Path == "" {
		if len(c.Dirs) == 0 && len(c.Failed) == 0 {
			return fmt.Errorf("%w: No readable meta.properties files found. Format %s with kafka-storage format first",
				ErrNotFormatted, missing[0])
		}
		return fmt.Errorf("%w: No `meta.properties` found in %s "+
			"(have you run `kafka-storage.sh` to format the directory?)", ErrNotFormatted, n.metadataDir())
	}
	for _, dir := range missing {
		id := NewID()
		if err := fsys.MkdirAll(dir, 0o755); err != nil {
			c.Failed[dir] = err
			continue
		}
		p := &seglog.Properties{Version: 1, ClusterID: c.ClusterID, NodeID: n.ID, DirectoryID: id.String()}
		if err := seglog.SaveProperties(fsys, dir, p); err != nil {
			c.Failed[dir] = err
			continue
		}
		c.keep(n, Directory{dir, id})
	}
	return nil
}

// Ready is Check, after formatting a node that was never formatted and needs no decision for it: a combined
// node with the built-in configuration. It says whether it formatted.
func Ready(fsys vfs.FS, n *Node) (c *Checked, formatted bool, err error) {
	c, err = Check(fsys, n, "")
	if !errors.Is(err, ErrNotFormatted) {
		return c, false, err
	}
	o := &Options{Node: *n, ClusterID: RandomUUID(), Ignore: true, NoInitial: false}
	if !n.StaticVoters {
		o.Standalone = true
	}
	if err := Format(fsys, o, io.Discard); err != nil {
		return nil, false, err
	}
	c, err = Check(fsys, n, o.ClusterID)
	return c, true, err
}

func seeded() *rand.Rand {
	var b [16]byte
	crand.Read(b[:])
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])))
}

// RandomUUID is what kafka-storage random-uuid prints.
func RandomUUID() string { return NewID().String() }

// NewID is a random id for a directory or an incarnation.
func NewID() record.UUID { return meta.NewUUID(seeded()) }
