package coordinator

import (
	"errors"
	"fmt"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
)

// load rebuilds the core from the log, and then lets requests in. It runs as the shard's goroutine.
func (s *shard[In, Out]) load() {
	defer s.rt.wg.Done()
	clock, m := s.rt.cfg.Clock, &s.rt.Metrics
	start := clock.Now()
	end := s.log.LEO()
	core, err := s.replay(s.log.LogStart(), end)
	now := clock.Now()
	s.committed.Store(int64(end)) // what was there before us is no reply's condition
	s.end = end
	if core != nil && err == nil {
		core.Loaded(now)
		s.core = core
	}
	m.LoadTime.ObserveDuration(now.Sub(start))
	if err != nil {
		s.rt.cfg.Log.Error("partition not loaded", "topic", s.rt.cfg.Name, "partition", s.n, "error", err)
	}
	s.mu.Lock()
	s.busy = core != nil
	if s.state == loading {
		s.count(-1)
		if s.state = active; err != nil {
			s.state = failed
		}
		s.count(1)
	}
	s.wake = s.wake || s.core != nil
	if s.running = false; s.wake || len(s.queue) > 0 {
		s.running = true
		s.rt.wg.Add(1)
		go s.run()
	}
	s.mu.Unlock()
}

// replay reads [from, end) into a new core; none if there is nothing.
func (s *shard[In, Out]) replay(from, end batch.Offset) (Core[In, Out], error) {
	if from >= end {
		return nil, nil
	}
	core := s.rt.newCore()
	var buf []byte
	for from < end && !s.isClosed() {
		var err error
		// The buffer grows to what the log really holds, up to the configured chunk.
		var damage damaged
		if buf, err = s.log.ReadLocal(from, s.rt.cfg.LoadBuffer, buf[:0]); errors.As(err, &damage) {
			s.skip(from, damage)
			from = max(from+1, damage.Behind())
			continue
		} else if err != nil {
			return nil, err
		}
		next, err := s.replayChunk(core, buf, from)
		if err != nil {
			return nil, err
		}
		if next == from {
			return nil, fmt.Errorf("log ends at offset %d, not %d", from, end)
		}
		from = next
	}
	return core, nil
}

// damaged is an error of ReadLocal: what is at the offset can't be read, and what is at Behind can.
type damaged interface {
	error
	Behind() batch.Offset
}

// skip tells of records that are lost. What a group is then taken for is older than what it was: it consumes
// again what it had committed last. Refusing the partition would stop all groups on it instead.
func (s *shard[In, Out]) skip(at batch.Offset, err error) {
	s.rt.Metrics.Skipped.Inc()
	s.rt.cfg.Log.Error("damaged records: what they changed is lost, and older state stands", "partition",
		fmt.Sprintf("%s-%d", s.rt.cfg.Name, s.n), "offset", at, "error", err)
}

func (s *shard[In, Out]) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == closed
}

// replayChunk applies whole batches and returns the offset after them.
func (s *shard[In, Out]) replayChunk(core Core[In, Out], b []byte, from batch.Offset) (batch.Offset, error) {
	for len(b) > 0 {
		v, rest, err := batch.Next(b)
		if errors.Is(err, batch.ErrShort) {
			break
		}
		if err != nil {
			return from, err
		}
		b = rest
		if err := batch.Verify(v); err != nil {
			s.skip(from, err)
			if len(rest) == 0 { // else the next batch tells where to go on: this one's header may lie
				from += batch.Offset(max(min(v.LastOffsetDelta()+1, v.Count()), 1))
			}
			continue
		}
		if v.LastOffset() < from {
			continue
		}
		if err := s.replayBatch(core, v, from); err != nil {
			return from, fmt.Errorf("batch at offset %d: %w", v.BaseOffset(), err)
		}
		from = v.LastOffset() + 1
	}
	return from, nil
}

func (s *shard[In, Out]) replayBatch(core Core[In, Out], v batch.View, from batch.Offset) error {
	r, err := v.Records(nil)
	if err != nil {
		return err
	}
	defer r.Close()
	producer := int64(-1)
	if v.Transactional() {
		producer = v.ProducerID()
	}
	var rec batch.Record
	for r.Next(&rec) {
		at := v.BaseOffset() + batch.Offset(rec.OffsetDelta)
		if at < from {
			continue
		}
		s.rt.Metrics.LoadedRecords.Inc()
		if v.Control() {
			replayMarker(core, producer, rec.Key)
		} else if err := core.Replay(int64(at), producer, rec.Key, rec.Value); err != nil {
			// One bad record mustn't take everything else of the partition away.
			s.rt.Metrics.Skipped.Inc()
			s.rt.cfg.Log.Warn("record skipped", "topic", s.rt.cfg.Name, "partition", s.n, "error", err)
		}
	}
	return r.Err()
}

// replayMarker ends a transaction. Control records of other types aren't for us.
func replayMarker[In Input[Out], Out any](core Core[In, Out], producer int64, key []byte) {
	t, err := record.DecodeControlKey(key)
	if err == nil && t <= 1 {
		core.ReplayEnd(producer, t == 1)
	}
}
