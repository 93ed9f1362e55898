package tool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/tool/layout"
)

// segmentFile reads batches out of a segment, one at a time, at any position.
type segmentFile struct {
	f    *os.File
	size int64
	most int64 // the largest batch
	head [batch.HeaderSize]byte
	buf  []byte
}

func openSegment(path string, most int64) (*segmentFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, missingFile(err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &segmentFile{f: f, size: info.Size(), most: most}, nil
}

func (s *segmentFile) Close() { _ = s.f.Close() }

// at returns the batch at a position, valid until the next call; io.EOF where the file ends before it does.
func (s *segmentFile) at(pos int64) (batch.View, error) {
	if s.size-pos < batch.LogOverhead+5 {
		return nil, io.EOF
	}
	n := min(s.size-pos, int64(len(s.head)))
	if _, err := s.f.ReadAt(s.head[:n], pos); err != nil {
		return nil, err
	}
	size := int64(int32(binary.BigEndian.Uint32(s.head[8:]))) + batch.LogOverhead
	if size < 14+batch.LogOverhead {
		return nil, fmt.Errorf("org.apache.kafka.common.errors.CorruptRecordException: Found record size %d "+
			"smaller "+
			"than minimum record overhead (14) in file %s.", size-batch.LogOverhead, s.f.Name())
	}
	if size > s.size-pos {
		return nil, io.EOF
	}
	if magic := s.head[16]; magic != 2 || size < batch.HeaderSize {
		return nil, fmt.Errorf("the batch at position %d of %s has the format %d of before Kafka 0.11, which "+
			"is not "+
			"shown", pos, s.f.Name(), int8(magic))
	}
	if int64(cap(s.buf)) < size {
		s.buf = make([]byte, size)
	}
	s.buf = s.buf[:size]
	if _, err := s.f.ReadAt(s.buf, pos); err != nil {
		return nil, err
	}
	return batch.View(s.buf), nil
}

// segment dumps a segment of a log, or a snapshot.
func (d *dump) segment(file, suffix string) error {
	if err := d.head(file, suffix); err != nil {
		return err
	}
	s, err := openSegment(file, d.maxMessage)
	if err != nil {
		return err
	}
	defer s.Close()
	limit := min(s.size, d.maxBytes)
	pos, last := int64(0), int64(-1)
	for pos < limit {
		v, err := s.at(pos)
		if errors.Is(err, io.EOF) || err == nil && pos+int64(v.Size()) > limit {
			break
		}
		if err != nil {
			return err
		}
		d.batch(v, pos)
		if d.deep {
			if last, err = d.records(v, file, last); err != nil {
				return err
			}
		}
		pos += int64(v.Size())
	}
	if pos < s.size && d.maxBytes == noLimit {
		fmt.Fprintf(d.out, "Found %d invalid bytes at the end of %s\n", s.size-pos, filepath.Base(file))
	}
	return nil
}

func timestampName(v batch.View) string {
	if v.LogAppendTime() {
		return "LogAppendTime"
	}
	return "CreateTime"
}

// batch prints the line of one batch.
func (d *dump) batch(v batch.View, pos int64) {
	horizon := "OptionalLong.empty"
	if v.HasDeleteHorizon() {
		horizon = fmt.Sprintf("OptionalLong[%d]", v.BaseTimestamp())
	}
	last := int32(-1)
	if v.BaseSequence() >= 0 {
		last = sequence(v.BaseSequence(), v.LastOffsetDelta())
	}
	codecs := []string{"none", "gzip", "snappy", "lz4", "zstd"}
	codec := fmt.Sprint(v.Codec())
	if int(v.Codec()) < len(codecs) {
		codec = codecs[v.Codec()]
	}
	fmt.Fprintf(d.out, "baseOffset: %d lastOffset: %d count: %d baseSequence: %d lastSequence: %d "+
		"producerId: %d "+
		"producerEpoch: %d partitionLeaderEpoch: %d isTransactional: %t isControl: %t deleteHorizonMs: %s "+
		"position: %d %s: %d size: %d magic: %d compresscodec: %s crc: %d isvalid: %t\n",
		v.BaseOffset(), v.LastOffset(), v.Count(), v.BaseSequence(), last, v.ProducerID(), v.ProducerEpoch(),
		v.LeaderEpoch(), v.Transactional(), v.Control(), horizon, pos, timestampName(v), v.MaxTimestamp(), v.Size(),
		v.Magic(), codec, v.CRC(), v.CRC() == v.Checksum())
}

// sequence adds to a sequence number, which wraps.
func sequence(base, delta int32) int32 {
	return int32((int64(base) + int64(delta)) & (1<<31 - 1))
}

// records prints the records of a batch and returns the last offset seen.
func (d *dump) records(v batch.View, file string, last int64) (int64, error) {
	r, err := v.Records(nil)
	if err != nil {
		return last, err
	}
	defer r.Close()
	var rec batch.Record
	for r.Next(&rec) {
		offset := int64(v.BaseOffset()) + int64(rec.OffsetDelta)
		if offset != last+1 {
			path, err := filepath.Abs(file)
			if err != nil {
				return last, err
			}
			d.gaps.add(path, "  %d is followed by %d", last, offset)
		}
		last = offset
		if err := d.record(v, &rec, offset); err != nil {
			return last, err
		}
	}
	return last, r.Err()
}

func length(b []byte) int {
	if b == nil {
		return -1
	}
	return len(b)
}

func (d *dump) record(v batch.View, rec *batch.Record, offset int64) error {
	prefix := "| "
	if !d.skip {
		when, seq := v.BaseTimestamp()+rec.TimestampDelta, v.BaseSequence()
		if v.LogAppendTime() {
			when = v.MaxTimestamp()
		}
		if seq >= 0 {
			seq = sequence(seq, rec.OffsetDelta)
		}
		var names []string
		for _, h := range rec.Headers {
			names = append(names, h.Key)
		}
		fmt.Fprintf(d.out, "%soffset: %d %s: %d keySize: %d valueSize: %d sequence: %d headerKeys: [%s]", prefix,
			offset,
			timestampName(v), when, length(rec.Key), length(rec.Value), seq, strings.Join(names, ","))
		prefix = " "
		if v.Control() {
			if err := d.control(rec); err != nil {
				return err
			}
		}
	}
	if d.print && !v.Control() {
		key, payload, err := d.decode(rec, offset)
		if err != nil {
			return err
		}
		if key != nil {
			fmt.Fprintf(d.out, "%skey: %s", prefix, key)
			prefix = " "
		}
		if payload != nil {
			fmt.Fprintf(d.out, "%spayload: %s", prefix, payload)
		}
	}
	return d.out.WriteByte('\n')
}

// control prints what a control record says.
func (d *dump) control(rec *batch.Record) error {
	if len(rec.Key) < 4 {
		return fmt.Errorf("org.apache.kafka.common.InvalidRecordException: Invalid value size found for control "+
			"record key. Must have at least 4 bytes, but found only %d", len(rec.Key))
	}
	typ := int16(binary.BigEndian.Uint16(rec.Key[2:]))
	switch typ {
	case 0, 1:
		if len(rec.Value) < 6 {
			return fmt.Errorf("org.apache.kafka.common.InvalidRecordException: the end marker has %d bytes",
				len(rec.Value))
		}
		fmt.Fprintf(d.out, " endTxnMarker: %s coordinatorEpoch: %d", []string{"ABORT", "COMMIT"}[typ],
			int32(binary.BigEndian.Uint32(rec.Value[2:])))
	case 2, 3, 4, 5, 6:
		kinds := []struct{ label, name string }{
			{"LeaderChange:", "LeaderChangeMessage"},
			{"SnapshotHeader", "SnapshotHeaderRecord"},
			{"SnapshotFooter", "SnapshotFooterRecord"},
			{"KRaftVersion", "KRaftVersionRecord"},
			{"KRaftVoters", "VotersRecord"},
		}
		k := kinds[typ-2]
		if len(rec.Value) < 2 {
			return layout.ErrShort
		}
		version := int16(binary.BigEndian.Uint16(rec.Value))
		json, _, err := layout.Find(k.name).JSON(nil, rec.Value, version, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		fmt.Fprintf(d.out, " %s %s", k.label, json)
	default:
		fmt.Fprintf(d.out, " controlType: UNKNOWN(%d)", typ)
	}
	return nil
}
