package compact

import (
	"fmt"

	"github.com/kalda/kalda/internal/format/batch"
)

// Mapper is the first pass over a log: it fills a table of keys.
type Mapper struct {
	Keys  *Keys
	Txns  Txns
	From  batch.Offset // what lies before is clean
	Codec *batch.Decompressor
}

// Add takes the next batch, of any magic. Full: the table is, and the pass is over.
func (m *Mapper) Add(b []byte) (full bool, err error) {
	if magic(b) < 2 {
		return m.addLegacy(b)
	}
	v := batch.View(b)
	switch {
	case v.Control():
		m.Txns.control(v)
	case m.Txns.data(v):
	default:
		if full, err = m.addRecords(v); full || err != nil {
			return full, err
		}
	}
	if v.LastOffset() >= m.From {
		m.Keys.Cover(v.LastOffset())
	}
	return false, nil
}

func (m *Mapper) addRecords(v batch.View) (full bool, err error) {
	r, err := v.Records(m.Codec)
	if err != nil {
		return false, fmt.Errorf("records of the batch at offset %d: %w", v.BaseOffset(), err)
	}
	defer r.Close()
	var s batch.Span
	for r.NextSpan(&s) {
		o := v.BaseOffset() + batch.Offset(s.OffsetDelta)
		if s.Key != nil && o >= m.From && !m.Keys.Put(s.Key, o) {
			return true, nil
		}
	}
	return false, r.Err()
}

// EndOfSegment says that a segment is over and the next one starts at offset next: gaps between them hold
// nothing (KAFKA-8764).
func (m *Mapper) EndOfSegment(next batch.Offset) { m.Keys.Cover(next - 1) }

// LastOf is the last that a live producer wrote.
type LastOf struct {
	Data  batch.Offset // its last batch's last offset, -1 if only its marker is known
	Epoch int16
}

// Filter is the second pass over a log: of each batch it keeps what is the newest.
type Filter struct {
	Keys              *Keys
	Txns              Txns
	Codec             *batch.Decompressor
	Now               int64
	DeleteRetentionMs int64
	End               batch.Offset                        // of the round: see Range
	KeepLegacyDeletes bool                                // tombstones of magic 0 and 1 in this segment
	LastOf            func(producer int64) (LastOf, bool) // ok only for live producers
	Stats             Stats

	kept []batch.Span
}

// Stats is what a pass met.
type Stats struct {
	BytesRead, BytesKept     int64
	RecordsRead, RecordsKept int64
	Keyless                  int64 // dropped: a topic that is compacted can't have them
}

// Append appends what is kept of the next batch, of any magic, to dst.
func (f *Filter) Append(dst, b []byte) ([]byte, error) {
	start := len(dst)
	var err error
	if magic(b) < 2 {
		dst, err = f.appendLegacy(dst, b)
	} else {
		dst, err = f.append(dst, batch.View(b))
	}
	f.Stats.BytesRead += int64(len(b))
	f.Stats.BytesKept += int64(len(dst) - start)
	return dst, err
}

func (f *Filter) append(dst []byte, v batch.View) ([]byte, error) {
	control := v.Control()
	var useless bool // all records in it
	if control {
		useless = f.Txns.control(v)
	} else {
		useless = f.Txns.data(v)
	}
	horizon := v.Horizon()
	setHorizon := control && useless
	if setHorizon { // a marker waits for its horizon, for readers to see it
		useless = horizon >= 0 && horizon <= f.Now
	}
	keepEmpty := f.lastOfProducer(v) || v.LastOffset()+1 == f.End
	f.Stats.RecordsRead += int64(v.Count())
	if useless {
		if keepEmpty {
			dst = v.AppendEmpty(dst)
		}
		return dst, nil
	}
	r, err := v.Records(f.Codec)
	if err != nil {
		return dst, fmt.Errorf("records of the batch at offset %d: %w", v.BaseOffset(), err)
	}
	defer r.Close()
	tombstones := f.pick(v, &r)
	if err := r.Err(); err != nil {
		return dst, fmt.Errorf("records of the batch at offset %d: %w", v.BaseOffset(), err)
	}
	f.Stats.RecordsKept += int64(len(f.kept))
	setHorizon = (setHorizon || tombstones) && horizon < 0
	switch {
	case len(f.kept) == 0:
		if keepEmpty {
			dst = v.AppendEmpty(dst)
		}
		return dst, nil
	case len(f.kept) == int(v.Count()) && !setHorizon:
		return append(dst, v...), nil
	case setHorizon:
		horizon = f.Now + f.DeleteRetentionMs
	}
	return v.AppendRetained(dst, r.Bytes(), f.kept, horizon)
}

// pick fills kept, and says whether there are tombstones among them.
func (f *Filter) pick(v batch.View, r *batch.Reader) (tombstones bool) {
	f.kept = f.kept[:0]
	base, latest := v.BaseOffset(), f.Keys.Latest()
	control, horizon := v.Control(), v.Horizon()
	keepDeletes := horizon < 0 || f.Now < horizon
	var s batch.Span
	for r.NextSpan(&s) {
		o := base + batch.Offset(s.OffsetDelta)
		switch {
		case control || o > latest:
		case s.Key == nil:
			f.Stats.Keyless++
			continue
		case o < f.Keys.Get(s.Key) || !s.HasValue && !keepDeletes:
			continue
		}
		tombstones = tombstones || !s.HasValue
		f.kept = append(f.kept, s)
	}
	return tombstones
}

// lastOfProducer says whether the batch has what is to be known of a live producer: its last sequence or, if
// it has none, the marker with its epoch.
func (f *Filter) lastOfProducer(v batch.View) bool {
	if v.ProducerID() < 0 {
		return false
	}
	last, ok := f.LastOf(v.ProducerID())
	if !ok {
		return false
	}
	if last.Data >= 0 {
		return v.LastOffset() == last.Data
	}
	return v.Control() && v.ProducerEpoch() == last.Epoch
}
