package node

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
)

// identity is whose directories these are, as their meta.properties say.
type identity struct {
	cluster     string
	dirs        []meta.UUID // of the log dirs, by position
	metadataDir meta.UUID
}

// directories are the log dirs and the metadata log dir, each once.
func directories(c *config.Server) []string {
	dirs := slices.Clone(c.LogDirs)
	if !slices.Contains(dirs, c.MetadataLogDir) {
		dirs = append(dirs, c.MetadataLogDir)
	}
	return dirs
}

// identify reads and compares the meta.properties of all directories (kraft.md 2.8). A directory without one is given one
// if another has it and it isn't the metadata log's.
func identify(fsys vfs.FS, c *config.Server) (identity, error) {
	var id identity
	byDir := map[string]*seglog.Properties{}
	first := ""
	for _, dir := range directories(c) {
		p, err := seglog.LoadProperties(fsys, dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return id, err
		}
		if err := id.check(c, dir, first, p); err != nil {
			return id, err
		}
		id.cluster = p.ClusterID
		byDir[dir] = p
		if first == "" {
			first = dir
		}
	}
	if byDir[c.MetadataLogDir] == nil {
		return id, fmt.Errorf("no readable meta.properties in %s: format it first, with `kalda storage format -t %s -c %s`",
			c.MetadataLogDir, "ID", orText(c.Path, "server.properties"))
	}
	for _, dir := range directories(c) {
		u, err := directoryID(fsys, c, dir, byDir[dir], id.cluster)
		if err != nil {
			return id, err
		}
		if dir == c.MetadataLogDir {
			id.metadataDir = u
		}
		if slices.Contains(c.LogDirs, dir) {
			id.dirs = append(id.dirs, u)
		}
	}
	return id, nil
}

func (id *identity) check(c *config.Server, dir, first string, p *seglog.Properties) error {
	file := filepath.Join(dir, "meta.properties")
	if p.NodeID != c.NodeID {
		return fmt.Errorf("%s says node.id=%d, but the configuration%s says node.id=%d: this directory is another node's",
			file, p.NodeID, in(c.Path), c.NodeID)
	}
	if first != "" && p.ClusterID != id.cluster {
		return fmt.Errorf("%s says cluster.id=%s, but %s says cluster.id=%s: directories of two clusters",
			file, p.ClusterID, filepath.Join(first, "meta.properties"), id.cluster)
	}
	return nil
}

// directoryID is a directory's id; one without (older than 3.7, or a dir added to log.dirs) gets a random one.
func directoryID(fsys vfs.FS, c *config.Server, dir string, p *seglog.Properties, cluster string) (meta.UUID, error) {
	if p != nil && p.DirectoryID != "" {
		b, err := base64.RawURLEncoding.DecodeString(p.DirectoryID)
		if err != nil || len(b) != 16 {
			return meta.UUID{}, fmt.Errorf("%s: directory.id %q is no id", filepath.Join(dir, "meta.properties"), p.DirectoryID)
		}
		return meta.UUID(b), nil
	}
	u := randomID()
	if p == nil {
		if err := fsys.MkdirAll(dir, 0o755); err != nil {
			return u, err
		}
		p = &seglog.Properties{Version: 1, NodeID: c.NodeID, ClusterID: cluster}
	}
	p.DirectoryID = base64.RawURLEncoding.EncodeToString(u[:])
	return u, seglog.SaveProperties(fsys, dir, p)
}

func in(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

func orText(s, def string) string {
	if s == "" {
		return def
	}
	return s
}
