package coordinator

import (
	"slices"
	"sync"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
)

// Runtime runs a core for every partition of an internal topic that this node leads. Its methods may be
// called from any goroutine.
type Runtime[In Input[Out], Out any] struct {
	cfg     Config
	newCore func() Core[In, Out]
	Metrics Metrics

	mu     sync.RWMutex
	shards map[int32]*shard[In, Out]
	wg     sync.WaitGroup // of shards' goroutines
	loads  chan struct{}  // bounds how many logs are read at the same time, and their buffers
}

// maxLoads is how many shards load at the same time.
const maxLoads = 4

// inlineLoad is how many offsets a log may span to be loaded before Lead returns. Reading that little is a
// matter of microseconds, and the first requests after a start find their groups instead of
// COORDINATOR_LOAD_IN_PROGRESS.
const inlineLoad = 2000

// New makes a Runtime that leads nothing yet.
func New[In Input[Out], Out any](cfg Config, newCore func() Core[In, Out]) *Runtime[In, Out] {
	cfg.fill()
	return &Runtime[In, Out]{
		cfg: cfg, newCore: newCore, shards: map[int32]*shard[In, Out]{},
		loads: make(chan struct{}, maxLoads),
	}
}

// Lead tells that this node leads partition n in an epoch. The shard is loaded from log and then serves. A
// newer epoch of a shard that is there already changes nothing: nobody else can have written meanwhile.
func (r *Runtime[In, Out]) Lead(n, epoch int32, log Log) {
	r.mu.Lock()
	if s := r.shards[n]; s != nil {
		s.epoch = max(s.epoch, epoch)
		r.mu.Unlock()
		return
	}
	s := &shard[In, Out]{
		rt:      r,
		n:       n,
		epoch:   epoch,
		log:     log,
		running: true,
		state:   loading,
		refs:    map[uint64]call[In, Out]{},
	}
	s.lost.Store(int32(kerr.None))
	r.shards[n] = s
	r.wg.Add(1) // s is running: it loads
	r.mu.Unlock()
	r.Metrics.Loading.Add(1)
	if log.LEO()-log.LogStart() <= inlineLoad {
		s.load()
		return
	}
	go func() {
		r.loads <- struct{}{}
		defer func() { <-r.loads }()
		s.load()
	}()
}

// Resign tells that this node doesn't lead partition n any more since an epoch. Everything that waits is
// answered with NOT_COORDINATOR. Late news about an older epoch is ignored.
func (r *Runtime[In, Out]) Resign(n, epoch int32) {
	r.mu.Lock()
	s := r.shards[n]
	if s == nil || s.epoch > epoch {
		r.mu.Unlock()
		return
	}
	delete(r.shards, n)
	r.mu.Unlock()
	s.close()
}

// Submit gives in to partition n's shard. done gets the reply, perhaps before Submit returns, on any
// goroutine; it must not block.
func (r *Runtime[In, Out]) Submit(n int32, in In, done func(Out)) {
	r.mu.RLock()
	s := r.shards[n]
	r.mu.RUnlock()
	code := kerr.NotCoordinator
	if s != nil {
		code = s.submit(in, false, done)
	}
	if code != kerr.None {
		r.Metrics.Rejected.Inc()
		done(in.Reject(code))
		return
	}
	r.Metrics.Requests.Inc()
}

// Each gives in to every shard that may hold something, and tells all replies, by partition. Shards whose log
// was always empty aren't asked. patient waits for those that are loading.
func (r *Runtime[In, Out]) Each(in In, patient bool, done func([]Out)) {
	r.mu.RLock()
	shards := make([]*shard[In, Out], 0, len(r.shards))
	for _, s := range r.shards {
		if s.used() {
			shards = append(shards, s)
		}
	}
	r.mu.RUnlock()
	slices.SortFunc(shards, func(a, b *shard[In, Out]) int { return int(a.n) - int(b.n) })
	if len(shards) == 0 {
		done(nil)
		return
	}
	var mu sync.Mutex
	outs, left := make([]Out, len(shards)), len(shards)
	for i, s := range shards {
		take := func(out Out) {
			mu.Lock()
			outs[i] = out
			left--
			last := left == 0
			mu.Unlock()
			if last {
				done(outs)
			}
		}
		if code := s.submit(in, patient, take); code != kerr.None {
			take(in.Reject(code))
		}
	}
}

// Close resigns from everything and waits until nothing runs.
func (r *Runtime[In, Out]) Close() {
	r.mu.Lock()
	shards := make([]*shard[In, Out], 0, len(r.shards))
	for _, s := range r.shards {
		shards = append(shards, s)
	}
	clear(r.shards)
	r.mu.Unlock()
	for _, s := range shards {
		s.close()
	}
	r.wg.Wait()
}

// outcome is what a failed append means to whoever asked for it (broker.md 6.1).
func outcome(code kerr.Code) kerr.Code {
	switch code {
	case kerr.None:
		return kerr.None
	case kerr.UnknownTopicOrPartition, kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend,
		kerr.RequestTimedOut:
		return kerr.CoordinatorNotAvailable
	case kerr.NotLeaderOrFollower, kerr.KafkaStorageError:
		return kerr.NotCoordinator
	case kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidFetchSize:
		return kerr.MessageTooLarge
	case kerr.InvalidProducerEpoch, kerr.InvalidTxnState, kerr.TransactionCoordinatorFenced:
		return code // of a producer, as it is
	}
	return kerr.UnknownServerError
}

// recordSize bounds the bytes of a record in a batch.
func recordSize(r *batch.Record) int { return 24 + len(r.Key) + len(r.Value) }
