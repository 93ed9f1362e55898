package storage

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
)

const (
	metadataDir       = "__cluster_metadata-0"
	bootstrapSnapshot = "00000000000000000000-0000000000.checkpoint"
)

// bootstrapBytes is the 0-0 snapshot: a header, the records, a footer. A dynamic quorum has its version in
// the header's batch, and its voters if they are known.
func (p *plan) bootstrapBytes(ms int64) ([]byte, error) {
	head := []batch.Record{control(record.ControlSnapshotHeader, record.EncodeSnapshotHeader(ms))}
	if p.dynamic {
		head = append(head, control(record.ControlKRaftVersion, record.EncodeKRaftVersion(1)))
	}
	if len(p.voters) > 0 {
		head = append(head, control(record.ControlKRaftVoters, record.EncodeKRaftVoters(p.voters)))
	}
	data := make([]batch.Record, len(p.records))
	for i, r := range p.records {
		data[i].Value = r
	}
	foot := []batch.Record{control(record.ControlSnapshotFooter, record.EncodeSnapshotFooter())}
	var out []byte
	next := batch.Offset(0)
	for _, part := range [][]batch.Record{head, data, foot} {
		if len(part) == 0 {
			continue
		}
		m := batch.NoProducer(next, 0, ms)
		m.Control = part[0].Key != nil
		for i := range part {
			part[i].OffsetDelta = int32(i)
		}
		var err error
		if out, err = batch.Build(out, m, part); err != nil {
			return nil, err
		}
		next += batch.Offset(len(part))
	}
	return out, nil
}

func control(t record.ControlType, value []byte) batch.Record {
	return batch.Record{Key: record.ControlKey(t), Value: value}
}

// writeBootstrap puts the 0-0 snapshot into a metadata directory, whole or not at all.
func writeBootstrap(fsys vfs.FS, dir string, content []byte) error {
	dir = filepath.Join(dir, metadataDir)
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := filepath.Join(dir, bootstrapSnapshot)
	part := name + ".part"
	if err := writeSynced(fsys, part, content); err != nil {
		return fmt.Errorf("write %s: %w", part, err)
	}
	if err := fsys.Chmod(part, 0o400); err != nil {
		return err
	}
	if err := fsys.Rename(part, name); err != nil {
		return err
	}
	return fsys.SyncDir(dir)
}

func writeSynced(fsys vfs.FS, name string, content []byte) (err error) {
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	if _, err = f.WriteAt(content, 0); err != nil {
		return err
	}
	return f.Sync()
}
