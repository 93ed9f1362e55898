package seglog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/disk/vfs"
)

// Properties is meta.properties: whose a log directory is.
type Properties struct {
	Version     int // 1 in KRaft, 0 before
	ClusterID   string
	NodeID      int32  // -1 for none
	DirectoryID string // base64 UUID, empty for none
}

// LoadProperties reads dir's meta.properties; fs.ErrNotExist if there is none.
func LoadProperties(fsys vfs.FS, dir string) (*Properties, error) {
	name := filepath.Join(dir, fileMeta)
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	p, err := decodeProperties(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// SaveProperties writes dir's meta.properties durably.
func SaveProperties(fsys vfs.FS, dir string, p *Properties) error {
	return vfs.WriteFile(fsys, filepath.Join(dir, fileMeta), p.encode())
}

// HasProperties says whether dir was formatted.
func HasProperties(fsys vfs.FS, dir string) (bool, error) {
	_, err := fsys.Stat(filepath.Join(dir, fileMeta))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (p *Properties) encode() []byte {
	b := []byte("#\n")
	if p.NodeID >= 0 {
		key := "node.id"
		if p.Version == 0 {
			key = "broker.id"
		}
		b = fmt.Appendf(b, "%s=%d\n", key, p.NodeID)
	}
	if p.DirectoryID != "" {
		b = fmt.Appendf(b, "directory.id=%s\n", p.DirectoryID)
	}
	b = fmt.Appendf(b, "version=%d\n", p.Version)
	if p.ClusterID != "" {
		b = fmt.Appendf(b, "cluster.id=%s\n", p.ClusterID)
	}
	return b
}

// decodeProperties reads the plain part of Java's properties format, which is all that Kafka writes there.
func decodeProperties(b []byte) (*Properties, error) {
	p := &Properties{NodeID: -1}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		i := strings.IndexAny(line, "=:")
		if i < 0 {
			return nil, fmt.Errorf("%w: line %q", ErrCorrupt, line)
		}
		key, value := strings.TrimSpace(line[:i]), strings.ReplaceAll(strings.TrimSpace(line[i+1:]), `\`, "")
		var err error
		switch key {
		case "version":
			p.Version, err = strconv.Atoi(value)
		case "node.id", "broker.id":
			var n int64
			n, err = strconv.ParseInt(value, 10, 32)
			p.NodeID = int32(n)
		case "cluster.id":
			p.ClusterID = value
		case "directory.id":
			p.DirectoryID = value
		}
		if err != nil || p.Version < 0 || p.Version > 1 {
			return nil, fmt.Errorf("%w: line %q", ErrCorrupt, line)
		}
	}
	return p, nil
}
