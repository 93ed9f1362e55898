package quorum

import (
	"context"
	"errors"
)

// Quorum is this node's part of the metadata quorum: a voter or an observer.
type Quorum struct {
	cfg Config
	m   Machine
}

var errUnfinished = errors.New("quorum: not built yet")

// Open reads and validates what is on disk. Nothing runs yet, and the Machine hasn't been called.
func Open(cfg Config, m Machine) (*Quorum, error) {
	cfg.setDefaults()
	return &Quorum{cfg: cfg, m: m}, nil
}

// Start runs the quorum. A sole voter leads when Start returns, and its Machine's Lead has been called.
func (q *Quorum) Start() error { return errUnfinished }

// Submit runs fn on the quorum's goroutine, soon. ErrBusy when too many wait, ErrClosed after Close.
func (q *Quorum) Submit(fn func(w Writer)) error { return errUnfinished }

// Handle takes a request of a peer or a client; see RaftRequest.
func (q *Quorum) Handle(r RaftRequest) {}

// Leader is the leader known now, -1 if none, and the epoch. Safe from any goroutine.
func (q *Quorum) Leader() (id NodeID, epoch int32) { return -1, 0 }

// LeaderEndpoint is where the leader's controller listener is, if known. Safe from any goroutine.
func (q *Quorum) LeaderEndpoint() (Endpoint, bool) { return Endpoint{}, false }

// Bootstrap is the data records of the 0-0 snapshot or, without one, of bootstrap.checkpoint: what the first leader of an
// empty log must write. Empty when there is neither.
func (q *Quorum) Bootstrap() [][]byte { return nil }

// HighWatermark is the first offset not known to be committed, -1 when unknown. Safe from any goroutine.
func (q *Quorum) HighWatermark() int64 { return -1 }

// Close resigns if leading, stops, and closes the files. ctx bounds how long it waits for another leader.
func (q *Quorum) Close(ctx context.Context) error { return nil }
