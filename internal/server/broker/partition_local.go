package broker

import (
	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// AppendLocal appends one batch that a coordinator built: it stamps offsets and leader epoch, checks what
// acks=all checks before it writes, and doesn't keep the slice. See Await for when it is committed.
func (p *Partition) AppendLocal(b []byte) (base batch.Offset, code kerr.Code) {
	return p.AppendTxn(b, 0)
}

// AppendTxn is AppendLocal for a batch of a transaction; guard is verify's.
func (p *Partition) AppendTxn(b []byte, guard replica.Guard) (base batch.Offset, code kerr.Code) {
	if len(b) > p.rules.Load().batch.MaxBytes {
		return -1, kerr.MessageTooLarge
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	from := source{all: true, now: p.b.cfg.Now().UnixMilli(), own: true, guard: guard}
	a := p.appendLocked(batch.View(b), from)
	wake(a.reader)
	return a.base, a.code
}

// AppendMarker appends the marker that ends a producer's transaction; version is its transaction.version.
func (p *Partition) AppendMarker(b []byte, version int8) (base batch.Offset, code kerr.Code) {
	v := batch.View(b)
	_, coordinator, ok := replica.Marker(v)
	if !ok {
		return -1, kerr.CorruptMessage
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if code := p.writable(true); code != kerr.None {
		return -1, code
	}
	if err := p.loadProducers(); err != nil {
		return -1, p.failed("loading producers", err).code
	}
	code = p.producers.CheckMarker(v.ProducerID(), v.ProducerEpoch(), coordinator, version)
	if code != kerr.None {
		return -1, code
	}
	a := p.write(v, p.b.cfg.Now().UnixMilli())
	wake(a.reader)
	return a.base, a.code
}

// verify says whether the coordinator must be asked before something is appended that may open the producer's
// transaction here, and the guard to append it with. v is the batch, if there is one already: sent again
// after its transaction ended, it needs no more than the answer that it got.
func (p *Partition) verify(producer int64, epoch int16, v batch.View) (
	g replica.Guard, needed bool, code kerr.Code,
) {
	if code := p.writable(true); code != kerr.None {
		return 0, false, code
	}
	if !p.b.cfg.VerifyTransactions() {
		return replica.Trusted, false, kerr.None
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.loadProducers(); err != nil {
		return 0, false, p.failed("loading producers", err).code
	}
	if v != nil && p.producers.Check(v, 0).Duplicate {
		return 0, false, kerr.None
	}
	g, needed = p.producers.Verify(producer, epoch, p.b.cfg.Now().UnixMilli())
	return g, needed, kerr.None
}

// unverified ends a verification that failed.
func (p *Partition) unverified(producer int64, g replica.Guard) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known.Load() {
		p.producers.Unverified(producer, g)
	}
}

// marker is what ends a producer's transaction on one partition after another.
type marker struct {
	producer    int64
	epoch       int16
	commit      bool
	coordinator int32 // its epoch
	version     int8  // transaction.version
}

// build makes the marker's batch.
func (m *marker) build(now int64) ([]byte, error) {
	meta := batch.NoProducer(0, 0, now)
	meta.ProducerID, meta.ProducerEpoch, meta.Transactional, meta.Control = m.producer, m.epoch, true, true
	return batch.Build(nil, meta, []batch.Record{record.TxnMarker(m.commit, m.coordinator)})
}
