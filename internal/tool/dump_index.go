package tool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/kalda/kalda/internal/format/batch"
)

// indexFile is an index with the segment it belongs to.
type indexFile struct {
	path string // as Apache's tool names it in complaints
	base int64
	data []byte
	seg  *segmentFile
}

func (d *dump) openIndex(file string) (*indexFile, error) {
	base, err := baseOffset(file)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, missingFile(err)
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	x := &indexFile{path: path, base: base, data: data}
	if d.sanity {
		return x, nil
	}
	x.seg, err = openSegment(strings.TrimSuffix(file, filepath.Ext(file))+".log", d.maxMessage)
	return x, err
}

// sane prints that an index is what a broker takes without making it again.
func (d *dump) sane(file string, data []byte, width int, base int64) error {
	whole := len(data)/width*width == len(data)
	last := base
	if n := len(data) / width; n > 0 {
		entry := data[(n-1)*width:]
		last = base + int64(int32(binary.BigEndian.Uint32(entry[width-8:])))
		if width == 12 {
			last = base + int64(int32(binary.BigEndian.Uint32(entry[8:])))
		}
	}
	if !whole || last < base {
		return fmt.Errorf("org.apache.kafka.storage.internals.log.CorruptIndexException: Index file %s is "+
			"corrupt, "+
			"found %d bytes which is neither positive nor a multiple of %d.", file, len(data), width)
	}
	fmt.Fprintf(d.out, "%s passed sanity check.\n", file)
	return nil
}

// offsetIndex dumps offsets and positions, and checks that each leads to the batch that ends with the offset.
func (d *dump) offsetIndex(file string) error {
	x, err := d.openIndex(file)
	if err != nil {
		return err
	}
	if len(x.data) == 0 {
		fmt.Fprintf(d.out, "%s is empty.\n", file)
		return nil
	}
	if d.sanity {
		return d.sane(file, x.data, 8, x.base)
	}
	defer x.seg.Close()
	for i := 0; i+8 <= len(x.data); i += 8 {
		offset := x.base + int64(binary.BigEndian.Uint32(x.data[i:]))
		pos := int64(binary.BigEndian.Uint32(x.data[i+4:]))
		if offset == x.base && i > 0 {
			return nil // not written yet: files are made at their full length
		}
		if pos > x.seg.size {
			return fmt.Errorf("java.lang.IllegalArgumentException: Slice from position %d exceeds end position of "+
				"FileRecords(size=%d, file=%s, start=0, end=2147483647)", pos, x.seg.size,
				strings.TrimSuffix(x.path, ".index")+".log")
		}
		v, err := x.seg.at(pos)
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("java.util.NoSuchElementException")
		case err != nil:
			return err
		case int64(v.LastOffset()) != offset:
			d.mismatches.add(x.path, "  Index offset: %d, log offset: %d", offset, int64(v.LastOffset()))
		}
		if !d.verify {
			fmt.Fprintf(d.out, "offset: %d position: %d\n", offset, pos)
		}
	}
	return nil
}

// timeIndex dumps timestamps and offsets, and checks that the batch of the offset holds the timestamp.
func (d *dump) timeIndex(file string) error {
	x, err := d.openIndex(file)
	if err != nil {
		return err
	}
	if d.sanity {
		return d.sane(file, x.data, 12, x.base)
	}
	defer x.seg.Close()
	positions, err := os.ReadFile(strings.TrimSuffix(file, ".timeindex") + ".index")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	before := int64(-1)
	for i := 0; i+12 <= len(x.data); i += 12 {
		stamp := int64(binary.BigEndian.Uint64(x.data[i:]))
		offset := x.base + int64(binary.BigEndian.Uint32(x.data[i+8:]))
		if stamp == 0 && i > 0 {
			return nil
		}
		if err := d.checkTime(x, lookup(positions, x.base, offset), stamp, offset, before); err != nil {
			return err
		}
		if !d.verify {
			fmt.Fprintf(d.out, "timestamp: %d offset: %d\n", stamp, offset)
		}
		before = stamp
	}
	return nil
}

// lookup is the position that an offset index gives for an offset.
func lookup(index []byte, base, offset int64) int64 {
	pos := int64(0)
	for i := 0; i+8 <= len(index); i += 8 {
		at := base + int64(binary.BigEndian.Uint32(index[i:]))
		if at > offset || at == base && i > 0 {
			break
		}
		pos = int64(binary.BigEndian.Uint32(index[i+4:]))
	}
	return pos
}

func (d *dump) checkTime(x *indexFile, pos int64, stamp, offset, before int64) error {
	for {
		v, err := x.seg.at(pos)
		if errors.Is(err, io.EOF) {
			d.missing.add(x.path, "Indexed offset: %d, found log offset: -1", offset)
			return nil
		}
		if err != nil {
			return err
		}
		pos += int64(v.Size())
		last := int64(v.LastOffset())
		if last < offset {
			continue
		}
		if last > offset {
			d.missing.add(x.path, "Indexed offset: %d, found log offset: %d", offset, last)
			return nil
		}
		longest, err := latestOf(v)
		if err != nil {
			return err
		}
		if longest != stamp {
			d.mismatches.add(x.path, "  Index timestamp: %d, log timestamp: %d", stamp, longest)
		}
		if before >= stamp {
			d.unordered.add(x.path, "  Index timestamp: %d, Previously indexed timestamp: %d", stamp, before)
		}
		return nil
	}
}

// latestOf is the largest timestamp among a batch's records.
func latestOf(v batch.View) (int64, error) {
	if v.LogAppendTime() {
		return v.MaxTimestamp(), nil
	}
	r, err := v.Records(nil)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	latest := int64(-1)
	var rec batch.Record
	for r.Next(&rec) {
		latest = max(latest, v.BaseTimestamp()+rec.TimestampDelta)
	}
	return latest, r.Err()
}

// txnIndex dumps the aborted transactions of a segment.
func (d *dump) txnIndex(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return missingFile(err)
	}
	if _, err := baseOffset(file); err != nil {
		return err
	}
	be := binary.BigEndian
	for ; len(data) >= 34; data = data[34:] {
		fmt.Fprintf(d.out, "version: %d producerId: %d firstOffset: %d lastOffset: %d lastStableOffset: %d\n",
			int16(be.Uint16(data)), int64(be.Uint64(data[2:])), int64(be.Uint64(data[10:])),
			int64(be.Uint64(data[18:])),
			int64(be.Uint64(data[26:])))
	}
	return nil
}

// producers dumps a snapshot of the producers of a partition.
func (d *dump) producers(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return missingFile(err)
	}
	be := binary.BigEndian
	complaint := ""
	switch {
	case len(data) < batch.ProducersHeader:
		complaint = fmt.Sprintf("Snapshot failed to read: %d bytes", len(data))
	case be.Uint16(data) != 1:
		complaint = fmt.Sprintf("Snapshot contained an unknown file version %d", be.Uint16(data))
	case be.Uint32(data[2:]) != crc32.Checksum(data[6:], crc32.MakeTable(crc32.Castagnoli)):
		complaint = fmt.Sprintf("Snapshot is corrupt (CRC is no longer valid). Stored crc: %d. Computed crc: %d",
			be.Uint32(data[2:]), crc32.Checksum(data[6:], crc32.MakeTable(crc32.Castagnoli)))
	}
	if complaint != "" {
		fmt.Fprintln(d.Err, complaint)
		return nil
	}
	for data = data[batch.ProducersHeader:]; len(data) >= batch.ProducerSize; data = data[batch.ProducerSize:] {
		p := batch.DecodeProducer(data)
		first := "OptionalLong.empty"
		if p.TxnFirstOffset >= 0 {
			first = fmt.Sprintf("OptionalLong[%d]", p.TxnFirstOffset)
		}
		fmt.Fprintf(d.out, "producerId: %d producerEpoch: %d coordinatorEpoch: %d currentTxnFirstOffset: %s "+
			"lastTimestamp: %d", p.ID, p.Epoch, p.CoordinatorEpoch, first, p.Timestamp)
		if last := p.LastSequence; last >= 0 {
			fmt.Fprintf(d.out, " firstSequence: %d lastSequence: %d lastOffset: %d offsetDelta: %d timestamp: %d",
				sequence(last, -p.OffsetDelta), last, p.LastOffset, p.OffsetDelta, p.Timestamp)
		}
		fmt.Fprintln(d.out)
	}
	return nil
}
