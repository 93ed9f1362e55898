package seglog

import (
	"errors"
	"io"

	"github.com/kalda/kalda/internal/format/batch"
)

// TimedOffset is the answer of a lookup by time.
type TimedOffset struct {
	Offset    batch.Offset
	Timestamp int64
	Epoch     batch.Epoch // of the record's leader
}

// OffsetForTime finds the first record, at or after the start of the log, with a timestamp of at least ts.
// Not ok: none.
func (l *Log) OffsetForTime(ts int64, d *batch.Decompressor) (t TimedOffset, ok bool, err error) {
	if err := l.wake(); err != nil {
		return t, false, err
	}
	start := l.StartOffset()
	for _, s := range l.segments() {
		top, _, err := s.largest()
		if err != nil {
			return t, false, l.fault("look up time", err)
		}
		if top < ts {
			continue
		}
		t, ok, err = s.forTime(ts, start, d)
		if ok || err != nil {
			return t, ok, l.fault("look up time", err)
		}
	}
	return t, false, nil
}

// forTime looks for a record with a timestamp of at least ts in one segment.
func (s *segment) forTime(
	ts int64, start batch.Offset, d *batch.Decompressor,
) (t TimedOffset, ok bool, err error) {
	h, err := s.open()
	if err != nil {
		return t, false, err
	}
	defer h.release()
	pos, err := s.position(start)
	if err != nil {
		return t, false, err
	}
	// Everything before the entry's batch is older than the entry, so than ts.
	e, found, err := s.times.floor(ts - 1)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return t, false, err
	}
	if found {
		at, ok, err := s.timed(h, e)
		if err != nil {
			return t, false, err
		}
		if ok {
			pos = max(pos, at)
		}
	}
	var fault error
	_, err = walk(h, pos, s.size.Load(), func(b *header) bool {
		if b.maxTimestamp < ts || b.last < start {
			return true
		}
		t, ok, fault = firstRecord(h, b, ts, start, d)
		return !ok && fault == nil
	})
	if fault != nil {
		err = fault
	}
	return t, ok, err
}

// firstRecord finds the first record of a batch with a timestamp of at least ts and an offset of at least
// start.
func firstRecord(
	h *handle, b *header, ts int64, start batch.Offset, d *batch.Decompressor,
) (t TimedOffset, ok bool, err error) {
	if b.magic < 2 {
		return TimedOffset{b.last, b.maxTimestamp, b.epoch}, true, nil
	}
	raw := make([]byte, b.size)
	if err := readFull(h.File, raw, b.pos); err != nil {
		return t, false, err
	}
	v := batch.View(raw)
	r, err := v.Records(d)
	if err != nil {
		return t, false, err
	}
	defer r.Close()
	var rec batch.Record
	for r.Next(&rec) {
		at := v.BaseTimestamp() + rec.TimestampDelta
		if v.LogAppendTime() {
			at = v.MaxTimestamp()
		}
		if o := v.BaseOffset() + batch.Offset(rec.OffsetDelta); at >= ts && o >= start {
			return TimedOffset{o, at, b.epoch}, true, nil
		}
	}
	return t, false, r.Err()
}

// MaxTimestamp finds the first record with the largest timestamp of the log. Not ok: the log has no
// timestamps.
func (l *Log) MaxTimestamp(d *batch.Decompressor) (t TimedOffset, ok bool, err error) {
	if err := l.wake(); err != nil {
		return t, false, err
	}
	var newest *segment
	top := int64(-1)
	for _, s := range l.segments() {
		ts, _, err := s.largest()
		if err != nil {
			return t, false, l.fault("look up time", err)
		}
		if ts > top {
			newest, top = s, ts
		}
	}
	if newest == nil {
		return t, false, nil
	}
	t, ok, err = newest.forTime(top, l.StartOffset(), d)
	return t, ok, l.fault("look up time", err)
}
