package quorum

import (
	"io"

	"github.com/kalda/kalda/internal/core/kraft"
)

// Store is the disk of one replica: its log, its snapshots and its quorum-state file. One goroutine uses it,
// except that Create and what it returns belong to the goroutine that writes a snapshot.
type Store interface {
	// Load reads everything that the core must know, after making sure that it is whole. A process that died may
	// have left it in the page cache: it is durable after the first Sync.
	Load() (kraft.Loaded, error)
	// SaveElection replaces the election: after a crash it is this one or the one before, until Sync.
	SaveElection(e kraft.Election) error
	// Append writes batches at the log's end, in one write if it can.
	Append(batches []kraft.Batch) error
	// Sync makes everything durable that was loaded, saved and appended.
	Sync() error
	// Truncate removes what is at or after to.
	Truncate(to kraft.Offset) error
	// Read returns whole batches from the one at offset from up to bound, about max bytes, but at least one
	// batch.
	Read(from, bound kraft.Offset, max int) ([]byte, error)
	// Trim removes snapshots below start, and what it can of the log.
	Trim(start kraft.Offset) error
	// Usage is the log's size in bytes.
	Usage() int64

	// WritePart, Discard and Install are the core's effects of the same names. Install verifies first, and
	// leaves the log empty at the snapshot's end.
	WritePart(id kraft.SnapshotID, position int64, data []byte) error
	Discard(id kraft.SnapshotID) error
	Install(id kraft.SnapshotID) error
	// Open reads a finished snapshot. errNoSnapshot when there is none.
	Open(id kraft.SnapshotID) (SnapshotFile, error)
	// Create begins one that this node writes itself.
	Create(id kraft.SnapshotID) (SnapshotWriter, error)

	Close() error
}

// SnapshotFile is a finished snapshot's bytes.
type SnapshotFile interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// SnapshotWriter is an unfinished snapshot; Commit makes it durable under its name.
type SnapshotWriter interface {
	io.Writer
	Commit() error
	Abort()
}
