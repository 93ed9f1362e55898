package quorum

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kalda/kalda/internal/core/kraft"
)

// MemStore is a Store in memory that can lose what a crash would lose, for the simulation and for tests.
type MemStore struct {
	election  *kraft.Election
	voted     *kraft.Election // the durable one
	start     kraft.Offset
	batches   []kraft.Batch
	synced    int // batches in front that are durable
	snapshots map[kraft.SnapshotID][]byte
	parts     map[kraft.SnapshotID][]byte
}

// NewMemStore is an empty disk.
func NewMemStore() *MemStore {
	return &MemStore{snapshots: map[kraft.SnapshotID][]byte{}, parts: map[kraft.SnapshotID][]byte{}}
}

// Crash returns the disk as it is after a power failure: of the batches that were never synced, the first
// keep survive; of two elections the newer one if keep is odd.
func (s *MemStore) Crash(keep int) *MemStore {
	n := min(len(s.batches), s.synced+keep)
	c := NewMemStore()
	c.voted, c.start, c.batches, c.synced = s.voted, s.start, slices.Clone(s.batches[:n]), n
	if keep%2 == 1 {
		c.voted = s.election
	}
	c.election = c.voted
	c.snapshots = maps.Clone(s.snapshots)
	return c
}

// Unsynced is how much a crash may lose: batches, and an election.
func (s *MemStore) Unsynced() int {
	n := len(s.batches) - s.synced
	if s.election != s.voted {
		n++
	}
	return n
}

// Batches is the log. Shared: not to be changed.
func (s *MemStore) Batches() []kraft.Batch { return s.batches }

// Election is the durable election, nil if none was ever saved.
func (s *MemStore) Election() *kraft.Election { return s.voted }

// Put places a snapshot file, such as the 0-0 one that formatting makes.
func (s *MemStore) Put(id kraft.SnapshotID, data []byte) { s.snapshots[id] = data }

func (s *MemStore) end() kraft.Offset {
	if n := len(s.batches); n > 0 {
		return s.batches[n-1].Last + 1
	}
	return s.start
}

// Load implements Store.
func (s *MemStore) Load() (kraft.Loaded, error) {
	if ids := sortedIDs(s.snapshots); len(ids) > 0 && ids[len(ids)-1].Offset > s.end() {
		// Power failed between a snapshot and the log's sync, or while one was being installed.
		s.start, s.batches = ids[len(ids)-1].Offset, nil
		s.dropBelow(s.start)
	}
	s.synced = min(s.synced, len(s.batches))
	out := kraft.Loaded{Election: kraft.Election{Leader: kraft.NoID, Voted: kraft.Key{ID: kraft.NoID}}}
	if s.election != nil {
		out.Election = *s.election
	}
	out.Log = kraft.Log{Start: s.start, End: s.end(), Snapshots: sortedIDs(s.snapshots)}
	if err := loadHead(s, &out); err != nil {
		return out, err
	}
	for _, b := range s.batches {
		if n := len(out.Log.Epochs); n == 0 || out.Log.Epochs[n-1].Epoch < b.Epoch {
			out.Log.Epochs = append(out.Log.Epochs, kraft.EpochStart{Epoch: b.Epoch, Start: b.Base})
		}
		out.Control = append(out.Control, b.Control...)
	}
	return out, nil
}

// loadHead adds what the newest snapshot, else the one at 0-0, says of voters and kraft.version.
func loadHead(s Store, out *kraft.Loaded) error {
	id := newest(out.Log.Snapshots)
	f, err := s.Open(id)
	if errors.Is(err, errNoSnapshot) && id == (kraft.SnapshotID{}) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	h, err := readSnapshot(f, id, anything)
	out.Control = append(h.controls(), out.Control...)
	return err
}

// newest is the last of the snapshots; without any, the one at 0-0.
func newest(ids []kraft.SnapshotID) (id kraft.SnapshotID) {
	if n := len(ids); n > 0 {
		id = ids[n-1]
	}
	return id
}

func sortedIDs[V any](m map[kraft.SnapshotID]V) []kraft.SnapshotID {
	var ids []kraft.SnapshotID
	for id := range m {
		if id != (kraft.SnapshotID{}) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, compareIDs)
	return ids
}

func compareIDs(a, b kraft.SnapshotID) int {
	if a.Epoch != b.Epoch {
		return int(a.Epoch) - int(b.Epoch)
	}
	return int(a.Offset - b.Offset)
}

// SaveElection implements Store.
func (s *MemStore) SaveElection(e kraft.Election) error { s.election = &e; return nil }

// Append implements Store.
func (s *MemStore) Append(batches []kraft.Batch) error {
	for _, b := range batches {
		if b.Base != s.end() {
			return fmt.Errorf("append at %d to a log that ends at %d", b.Base, s.end())
		}
		s.batches = append(s.batches, b)
	}
	return nil
}

// Sync implements Store.
func (s *MemStore) Sync() error {
	s.synced, s.voted = len(s.batches), s.election
	return nil
}

// Truncate implements Store.
func (s *MemStore) Truncate(to kraft.Offset) error {
	for n := len(s.batches); n > 0 && s.batches[n-1].Last >= to; n-- {
		s.batches = s.batches[:n-1]
	}
	s.batches = slices.Clip(s.batches)
	s.synced = min(s.synced, len(s.batches))
	return nil
}

// Read implements Store.
func (s *MemStore) Read(from, bound kraft.Offset, limit int) ([]byte, error) {
	i, ok := slices.BinarySearchFunc(s.batches, from, func(b kraft.Batch, o kraft.Offset) int {
		return int(b.Base - o)
	})
	if !ok {
		return nil, fmt.Errorf("no batch starts at offset %d", from)
	}
	var out []byte
	for ; i < len(s.batches) && s.batches[i].Last < bound; i++ {
		if len(out) > 0 && len(out)+len(s.batches[i].Data) > limit {
			break
		}
		out = append(out, s.batches[i].Data...)
	}
	return out, nil
}

// Trim implements Store.
func (s *MemStore) Trim(start kraft.Offset) error {
	n := 0
	for n < len(s.batches) && s.batches[n].Last < start {
		n++
	}
	s.batches, s.synced, s.start = s.batches[n:], max(0, s.synced-n), max(s.start, start)
	s.dropBelow(start)
	return nil
}

func (s *MemStore) dropBelow(start kraft.Offset) {
	maps.DeleteFunc(s.snapshots, func(id kraft.SnapshotID, _ []byte) bool { return id.Offset < start })
}

// Usage implements Store.
func (s *MemStore) Usage() (n int64) {
	for _, b := range s.batches {
		n += int64(len(b.Data))
	}
	return n
}

// WritePart implements Store.
func (s *MemStore) WritePart(id kraft.SnapshotID, position int64, data []byte) error {
	s.parts[id] = append(slices.Clip(s.parts[id][:min(position, int64(len(s.parts[id])))]), data...)
	return nil
}

// Discard implements Store.
func (s *MemStore) Discard(id kraft.SnapshotID) error { delete(s.parts, id); return nil }

// Install implements Store.
func (s *MemStore) Install(id kraft.SnapshotID) error {
	data := s.parts[id]
	delete(s.parts, id)
	if _, err := readSnapshot(memFile{bytes.NewReader(data)}, id, anything); err != nil {
		return err
	}
	s.snapshots[id] = data
	s.batches, s.synced, s.start = nil, 0, id.Offset
	s.dropBelow(id.Offset)
	return nil
}

// Open implements Store.
func (s *MemStore) Open(id kraft.SnapshotID) (SnapshotFile, error) {
	data, ok := s.snapshots[id]
	if !ok {
		return nil, errNoSnapshot
	}
	return memFile{bytes.NewReader(data)}, nil
}

// Create implements Store.
func (s *MemStore) Create(id kraft.SnapshotID) (SnapshotWriter, error) {
	return &memSnapshot{store: s, id: id}, nil
}

// Close implements Store.
func (s *MemStore) Close() error { return nil }

type memFile struct{ *bytes.Reader }

func (memFile) Close() error { return nil }

type memSnapshot struct {
	bytes.Buffer
	store *MemStore
	id    kraft.SnapshotID
}

func (w *memSnapshot) Commit() error { w.store.snapshots[w.id] = w.Bytes(); return nil }
func (w *memSnapshot) Abort()        {}

// DurableEnd is where the log would end after a power failure.
func (s *MemStore) DurableEnd() kraft.Offset {
	if s.synced > 0 {
		return s.batches[s.synced-1].Last + 1
	}
	return s.start
}
