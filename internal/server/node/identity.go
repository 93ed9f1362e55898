package node

import (
	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/server/storage"
)

// identity is whose directories these are, as their meta.properties say.
type identity struct {
	cluster     string
	logDirs     []string    // those of log.dirs that can be read
	dirs        []meta.UUID // their ids, by position
	metadataDir meta.UUID
	failed      map[string]error // the others
}

// identify reads and compares the meta.properties of all directories. The embedded default is formatted if
// it is new.
func identify(fsys vfs.FS, c *config.Server) (identity, error) {
	var found *storage.Checked
	var err error
	if c.Path == "" {
		found, _, err = storage.Ready(fsys, storageNode(c))
	} else {
		found, err = storage.Check(fsys, storageNode(c), "")
	}
	if err != nil {
		return identity{}, err
	}
	id := identity{cluster: found.ClusterID, metadataDir: found.Metadata.ID, failed: found.Failed}
	for _, d := range found.Dirs {
		for _, dir := range c.LogDirs {
			if dir == d.Path {
				id.logDirs = append(id.logDirs, dir)
				id.dirs = append(id.dirs, d.ID)
			}
		}
	}
	return id, nil
}

func storageNode(c *config.Server) *storage.Node {
	n := &storage.Node{
		ID: c.NodeID, Controller: c.Controller, LogDirs: c.LogDirs, MetadataDir: c.MetadataLogDir,
		StaticVoters: len(c.Voters) > 0,
	}
	if len(c.AdvertisedControllers) > 0 {
		l := c.AdvertisedControllers[0]
		n.Listener, n.Host, n.Port = l.Name, l.Host, uint16(l.Port)
	}
	return n
}
