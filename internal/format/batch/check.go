package batch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Error codes of the protocol that a Reject carries.
const (
	CodeCorruptMessage         int16 = 2
	CodeMessageTooLarge        int16 = 10
	CodeInvalidTimestamp       int16 = 32
	CodeUnsupportedCompression int16 = 76
	CodeInvalidRecord          int16 = 87
)

// Rules are what a topic asks of a client's batch.
type Rules struct {
	MaxBytes      int    // max.message.bytes, of the batch as stored
	Compacted     bool   // cleanup.policy has compact: keys are mandatory
	LogAppendTime bool   // message.timestamp.type
	BeforeMaxMs   int64  // message.timestamp.before.max.ms
	AfterMaxMs    int64  // message.timestamp.after.max.ms
	Target        *Codec // compression.type; nil keeps the producer's
	Level         int    // of Target; DefaultLevel
}

// Checked is a batch fit to be stamped and appended.
type Checked struct {
	Batch        View // what was given, its times and checksum set; or a new one if it had to be rebuilt
	MaxTimestamp int64
	Rebuilt      bool
}

// Reject is why a client's batch is refused.
type Reject struct {
	Code    int16
	Message string
	Records []RecordError // the records at fault, if single ones are
}

// RecordError is the fault of one record.
type RecordError struct {
	Index   int32
	Message string
}

// Error makes a Reject an error.
func (r *Reject) Error() string { return r.Message }

func rejectf(code int16, format string, args ...any) *Reject {
	return &Reject{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Check is everything that a leader asks of one batch of a client before it goes into the log (broker.md
// 3.3, 3.4): structure, size, checksum, every record, timestamps, and the topic's codec. It may write the
// batch's maximum timestamp, timestamp type and checksum in place. A good uncompressed batch costs one pass
// for the checksum, one over the records, and no allocation.
func Check(v View, now int64, r *Rules, d *Decompressor) (Checked, *Reject) {
	if rej := checkHeader(v, r); rej != nil {
		return Checked{}, rej
	}
	raw := v.RecordBytes()
	codec := v.Codec()
	if codec != None {
		buf, err := d.decompress(codec, raw)
		if err != nil {
			return Checked{}, rejectDecoding(err)
		}
		defer putBuffer(buf)
		raw = *buf
	}
	lim := limitsOf(v, now, r)
	t, ok := lim.scan(raw, v.Count())
	if !ok {
		return Checked{}, explainStructure(raw, v.Count())
	}
	if t.faults || v.LogAppendTime() {
		return Checked{}, lim.explainRecords(v, raw, r, now)
	}
	c := Checked{Batch: v, MaxTimestamp: t.maxTimestamp}
	if r.LogAppendTime {
		c.MaxTimestamp = now
	}
	if !t.consecutive || r.Target != nil && *r.Target != codec {
		return rebuild(v, raw, c.MaxTimestamp, t.consecutive, r)
	}
	v.SetMaxTimestamp(c.MaxTimestamp, r.LogAppendTime)
	return c, nil
}

// checkHeader is what can be told without the records; the checksum comes after the cheap tests.
func checkHeader(v View, r *Rules) *Reject {
	if len(v) < HeaderSize || v.Size() != len(v) {
		return rejectf(CodeCorruptMessage, "Record batch of %d bytes is smaller than its header or than it says",
			len(v))
	}
	if v.Magic() != 2 {
		return rejectf(CodeInvalidRecord, "Record batches of magic %d can't be written, only of magic 2", v.Magic())
	}
	if v.BaseOffset() != 0 {
		return rejectf(CodeInvalidRecord,
			"The baseOffset of the record batch in the append should be 0, but it is %d", v.BaseOffset())
	}
	if len(v) > r.MaxBytes {
		return rejectTooLarge(len(v), r)
	}
	if sum := v.Checksum(); sum != v.CRC() {
		return rejectf(CodeCorruptMessage, "Record is corrupt (stored crc = %d, computed crc = %d)", v.CRC(), sum)
	}
	count, last := v.Count(), v.LastOffsetDelta()
	switch {
	case last < 0 || last == math.MaxInt32:
		return rejectf(CodeInvalidRecord, "Batch has an invalid offset range: [0, %d]", last)
	case count <= 0:
		return rejectf(CodeInvalidRecord, "Invalid reported count for record batch: %d", count)
	case count != last+1:
		return rejectf(CodeInvalidRecord, "Inconsistent batch offset range [0, %d] and count of records %d",
			last, count)
	case v.Control():
		return rejectf(CodeInvalidRecord, "Clients are not allowed to write control records")
	case v.ProducerID() >= 0 && v.BaseSequence() < 0:
		return rejectf(CodeInvalidRecord, "Invalid sequence number %d in record batch with producerId %d",
			v.BaseSequence(), v.ProducerID())
	case v.Codec() > Zstd:
		return rejectf(CodeUnsupportedCompression, "Unknown compression type id: %d", v.Codec())
	}
	return nil
}

func rejectTooLarge(n int, r *Rules) *Reject {
	return rejectf(CodeMessageTooLarge,
		"The record batch size in the append is %d bytes which exceeds the maximum configured value of %d",
		n, r.MaxBytes)
}

func rejectDecoding(err error) *Reject {
	if errors.Is(err, ErrTooBig) {
		return rejectf(CodeMessageTooLarge, "The record batch decompresses to more than the broker allows")
	}
	return rejectf(CodeCorruptMessage, "Failed to decompress record batch: %v", err)
}

// limits are Rules turned into comparisons on a batch's timestamp deltas.
type limits struct {
	base      int64
	low, high int64
	keys      bool
}

func limitsOf(v View, now int64, r *Rules) limits {
	l := limits{base: v.BaseTimestamp(), low: math.MinInt64, high: math.MaxInt64, keys: r.Compacted}
	if r.LogAppendTime {
		return l
	}
	l.low = now - r.BeforeMaxMs
	if r.AfterMaxMs < math.MaxInt64-now {
		l.high = now + r.AfterMaxMs
	}
	return l
}

// tally is what one pass over the records finds.
type tally struct {
	maxTimestamp int64
	consecutive  bool // offset deltas are 0, 1, 2, ...
	faults       bool // a record breaks a rule: explainRecords tells which
}

// scan walks count records that must fill b exactly. Not ok: their structure is broken.
func (l *limits) scan(b []byte, count int32) (t tally, ok bool) {
	t = tally{maxTimestamp: math.MinInt64, consecutive: true}
	p := 0
	for i := range int64(count) {
		n, q := varint(b, p)
		if q < 0 || n < 6 || n > int64(len(b)-q) {
			return t, false
		}
		end := q + int(n)
		delta, q := varint(b[:end], q+1)
		offset, q := varint(b[:end], q)
		key, q := varint(b[:end], q)
		if q < 0 || key < -1 || key > n {
			return t, false
		}
		if key > 0 {
			q += int(key)
		}
		value, q := varint(b[:end], q)
		if q < 0 || value < -1 || value > n {
			return t, false
		}
		if value > 0 {
			q += int(value)
		}
		headers, q := varint(b[:end], q)
		if headers != 0 {
			q = skipHeaders(b[:end], q, headers)
		}
		if q != end {
			return t, false
		}
		ts := l.base + delta
		t.maxTimestamp = max(t.maxTimestamp, ts)
		t.consecutive = t.consecutive && offset == i
		if (ts < l.low || ts > l.high) && ts != -1 || key < 0 && l.keys {
			t.faults = true
		}
		p = end
	}
	return t, p == len(b)
}

// skipHeaders is the position after n record headers, -1 if there aren't as many.
func skipHeaders(b []byte, p int, n int64) int {
	if p < 0 || n < 0 || n > int64(len(b)) {
		return -1
	}
	for range n {
		k, q := varint(b, p)
		if q < 0 || k < 0 || k > int64(len(b)-q) {
			return -1
		}
		v, q := varint(b, q+int(k))
		if q < 0 || v < -1 || v > int64(len(b)-q) {
			return -1
		}
		p = q + int(max(v, 0))
	}
	return p
}

// explainStructure says what scan met, in a second pass that good batches don't pay for.
func explainStructure(raw []byte, count int32) *Reject {
	r := Reader{b: raw, left: count}
	var rec Record
	for r.Next(&rec) {
	}
	if r.Err() != nil {
		return rejectf(CodeInvalidRecord, "Found invalid record structure in record batch: %v", r.Err())
	}
	return rejectf(CodeInvalidRecord, "Found invalid record structure in record batch")
}

// explainRecords lists the records that break a rule.
func (l *limits) explainRecords(v View, raw []byte, r *Rules, now int64) *Reject {
	rej := &Reject{Code: CodeInvalidRecord}
	rd := Reader{b: raw, left: v.Count()}
	var rec Record
	for i := int32(0); rd.Next(&rec); i++ {
		ts := l.base + rec.TimestampDelta
		switch {
		case l.keys && rec.Key == nil:
			rej.add(i, "Compacted topic cannot accept message without key.")
		case v.LogAppendTime():
			rej.Code = CodeInvalidTimestamp
			rej.add(i, "Invalid timestamp type in message. Producer should not set timestamp type to LogAppendTime.")
		case ts != -1 && (ts < l.low || ts > l.high):
			rej.Code = CodeInvalidTimestamp
			rej.add(i, fmt.Sprintf("Timestamp %d of message with offset %d is out of range. "+
				"The timestamp should be within [%d, %d]", ts, rec.OffsetDelta, l.low, l.high))
		}
	}
	if rej.Code == CodeInvalidTimestamp {
		rej.Message = "One or more records have been rejected due to invalid timestamp"
	} else {
		rej.Message = fmt.Sprintf("One or more records have been rejected due to %d record errors in total",
			len(rej.Records))
	}
	return rej
}

func (r *Reject) add(i int32, message string) {
	r.Records = append(r.Records, RecordError{Index: i, Message: message})
}

// rebuild makes a new batch of v's records in the topic's codec, with consecutive offsets.
func rebuild(v View, raw []byte, maxTimestamp int64, consecutive bool, r *Rules) (Checked, *Reject) {
	if !consecutive {
		raw = renumber(raw, v.Count())
	}
	m := v.Meta()
	m.LogAppendTime = r.LogAppendTime
	level := DefaultLevel
	if r.Target != nil {
		m.Codec, level = *r.Target, r.Level
	}
	out := make([]byte, HeaderSize, HeaderSize+len(v))
	out, err := Compress(out, m.Codec, level, raw)
	if err != nil {
		return Checked{}, rejectf(CodeUnsupportedCompression, "%v", err)
	}
	if len(out) > r.MaxBytes {
		return Checked{}, rejectTooLarge(len(out), r)
	}
	n := View(out)
	n.putHeader(&m)
	n.putCounts(v.Count()-1, v.Count())
	binary.BigEndian.PutUint64(n[posMaxTimestamp:], uint64(maxTimestamp))
	n.SetCRC()
	return Checked{Batch: n, MaxTimestamp: maxTimestamp, Rebuilt: true}, nil
}

// renumber encodes the records again with offset deltas 0, 1, 2, ... Their structure is known to be good.
func renumber(raw []byte, count int32) []byte {
	out := make([]byte, 0, len(raw)+8)
	rd := Reader{b: raw, left: count}
	var rec Record
	for i := int32(0); rd.Next(&rec); i++ {
		rec.OffsetDelta = i
		out = AppendRecord(out, &rec)
	}
	return out
}

// Stamp gives a checked batch its place in the log. The checksum covers neither field.
func Stamp(v View, base Offset, e Epoch) {
	v.SetBaseOffset(base)
	v.SetLeaderEpoch(e)
}

// Verify is what a follower and a recovering log ask of a batch: the format's magic and the checksum.
func Verify(v View) error {
	if len(v) < HeaderSize || v.Size() != len(v) {
		return fmt.Errorf("%w: %d bytes", ErrCorrupt, len(v))
	}
	if v.Magic() != 2 {
		return fmt.Errorf("%w: magic %d at offset %d", ErrCorrupt, v.Magic(), v.BaseOffset())
	}
	if sum := v.Checksum(); sum != v.CRC() {
		return fmt.Errorf("%w: checksum %08x at offset %d, computed %08x", ErrCorrupt, v.CRC(), v.BaseOffset(), sum)
	}
	if v.LastOffsetDelta() < 0 || v.Count() < 0 {
		return fmt.Errorf("%w: %d records up to +%d at offset %d", ErrCorrupt,
			v.Count(), v.LastOffsetDelta(), v.BaseOffset())
	}
	return nil
}
