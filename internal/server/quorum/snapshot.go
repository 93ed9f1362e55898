package quorum

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/kalda/kalda/internal/core/kraft"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
)

var (
	errNoSnapshot  = errors.New("no such snapshot")
	errBadSnapshot = errors.New("unusable snapshot")
)

const (
	maxBatchBytes      = 8 << 20 // what one batch may hold, in the log and in snapshots
	snapshotBatchBytes = 256 << 10
	maxSnapshotBatch   = 64 << 20 // what is believed of a length field
)

// header is the first batch of a snapshot.
type snapshotHead struct {
	id       kraft.SnapshotID
	appended int64 // append time of the last batch contained, ms
	version  int16 // kraft.version
	voters   []kraft.Voter
}

// writeSnapshot writes a whole snapshot: header, data, footer (kraft.md 2.5). Offsets count from 0 within it.
func writeSnapshot(w io.Writer, h snapshotHead, now int64, records iter.Seq[[]byte]) error {
	b := snapshotBatches{w: bufio.NewWriterSize(w, 64<<10), epoch: h.id.Epoch, now: now}
	b.add(batch.Record{
		Key: record.ControlKey(record.ControlSnapshotHeader), Value: record.EncodeSnapshotHeader(h.appended),
	})
	if h.version >= 1 {
		b.add(batch.Record{
			Key: record.ControlKey(record.ControlKRaftVersion), Value: record.EncodeKRaftVersion(h.version),
		})
		if len(h.voters) > 0 {
			b.add(batch.Record{
				Key: record.ControlKey(record.ControlKRaftVoters), Value: record.EncodeKRaftVoters(h.voters),
			})
		}
	}
	b.flush(true)
	for r := range records {
		if b.size+len(r) > snapshotBatchBytes {
			b.flush(false)
		}
		b.add(batch.Record{Value: r})
		if b.err != nil {
			return b.err
		}
	}
	b.flush(false)
	b.add(batch.Record{
		Key: record.ControlKey(record.ControlSnapshotFooter), Value: record.EncodeSnapshotFooter(),
	})
	b.flush(true)
	if b.err != nil {
		return b.err
	}
	return b.w.Flush()
}

type snapshotBatches struct {
	w     *bufio.Writer
	epoch kraft.Epoch
	now   int64
	next  kraft.Offset
	recs  []batch.Record
	size  int
	buf   []byte
	err   error
}

func (b *snapshotBatches) add(r batch.Record) {
	r.OffsetDelta = int32(len(b.recs))
	b.recs = append(b.recs, r)
	b.size += len(r.Value) + 16
}

func (b *snapshotBatches) flush(control bool) {
	if len(b.recs) == 0 || b.err != nil {
		return
	}
	m := batch.NoProducer(b.next, b.epoch, b.now)
	m.Control = control
	if b.buf, b.err = batch.Build(b.buf[:0], m, b.recs); b.err == nil {
		_, b.err = b.w.Write(b.buf)
	}
	b.next += kraft.Offset(len(b.recs))
	b.recs, b.size = b.recs[:0], 0
}

// readSnapshot walks a snapshot's batches and checks their order, offsets and checksums. data gets the
// records of the data batches; their bytes may be kept. It is an error when data is never asked for because
// the footer is missing.
func readSnapshot(f SnapshotFile, id kraft.SnapshotID, data func(rec []byte) bool) (snapshotHead, error) {
	r := snapshotReader{head: snapshotHead{id: id}, data: data}
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, f.Size()), 64<<10)
	for {
		v, err := nextBatch(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.batch(v)
		}
		if errors.Is(err, errStopped) {
			return r.head, nil
		}
		if err != nil {
			return r.head, fmt.Errorf("%w %v: %w", errBadSnapshot, id, err)
		}
	}
	if !r.footer {
		return r.head, fmt.Errorf("%w %v: %w: no footer", errBadSnapshot, id, batch.ErrCorrupt)
	}
	return r.head, nil
}

// anything is for a walk that only checks.
func anything([]byte) bool { return true }

var errStopped = errors.New("stopped")

// nextBatch reads one batch into memory of its own.
func nextBatch(in *bufio.Reader) (batch.View, error) {
	head, err := in.Peek(batch.LogOverhead)
	if err == io.EOF && len(head) == 0 {
		return nil, io.EOF
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", batch.ErrCorrupt, io.ErrUnexpectedEOF)
	}
	size := batch.View(head).Size()
	if size < batch.HeaderSize || size > maxSnapshotBatch {
		return nil, fmt.Errorf("%w: a batch of %d bytes", batch.ErrCorrupt, size)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, fmt.Errorf("%w: %w", batch.ErrCorrupt, err)
	}
	v := batch.View(b)
	if v.CRC() != v.Checksum() {
		return nil, fmt.Errorf("%w: checksum at offset %d", batch.ErrCorrupt, v.BaseOffset())
	}
	return v, nil
}

type snapshotReader struct {
	head   snapshotHead
	next   kraft.Offset
	footer bool
	data   func([]byte) bool
}

func (s *snapshotReader) batch(v batch.View) error {
	if v.BaseOffset() != s.next || v.LastOffsetDelta() < 0 || s.footer {
		return fmt.Errorf("%w: offset %d where %d belongs", batch.ErrCorrupt, v.BaseOffset(), s.next)
	}
	if s.next == 0 && !v.Control() {
		return fmt.Errorf("%w: no header", batch.ErrCorrupt)
	}
	s.next = v.LastOffset() + 1
	r, err := v.Records(nil)
	if err != nil {
		return err
	}
	defer r.Close()
	var rec batch.Record
	for r.Next(&rec) {
		switch {
		case v.Control():
			err = s.control(&rec, v.BaseOffset() == 0 && rec.OffsetDelta == 0)
		case !s.data(rec.Value):
			err = errStopped
		}
		if err != nil {
			return err
		}
	}
	return r.Err()
}

func (s *snapshotReader) control(rec *batch.Record, first bool) error {
	t, err := record.DecodeControlKey(rec.Key)
	if err != nil {
		return err
	}
	if first != (t == record.ControlSnapshotHeader) {
		return fmt.Errorf("%w: control record %d out of place", batch.ErrCorrupt, t)
	}
	switch t {
	case record.ControlSnapshotHeader:
		s.head.appended, err = record.DecodeSnapshotHeader(rec.Value)
	case record.ControlSnapshotFooter:
		s.footer = true
	case record.ControlKRaftVersion:
		s.head.version, err = record.DecodeKRaftVersion(rec.Value)
	case record.ControlKRaftVoters:
		s.head.voters, err = record.DecodeKRaftVoters(rec.Value)
	}
	return err
}

// controls is the header as the core takes it: as if it were the log's last record before the snapshot's end.
func (h *snapshotHead) controls() []kraft.Control {
	c := kraft.Control{Offset: h.id.Offset - 1, Voters: h.voters, Version: -1}
	if h.version > 0 {
		c.Version = h.version
	}
	if c.Voters == nil && c.Version < 0 {
		return nil
	}
	return []kraft.Control{c}
}
