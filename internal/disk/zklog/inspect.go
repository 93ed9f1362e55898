package zklog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"os"

	"github.com/kalda/kalda/internal/disk/vfs"
)

// Record is a record of a log file, as tools see it.
type Record struct {
	Entry
	At    int64 // in the file
	Valid bool  // its checksum matches
}

// Scan shows the records of one log file, also those whose checksum is wrong; what has no end mark ends the
// file. Data is valid during the call only.
func Scan(path string, visit func(Record) error) error {
	w, err := openWindow(vfs.OS(), path)
	if err != nil {
		return err
	}
	defer w.f.Close()
	if err := w.header(); err != nil {
		if d, ok := errors.AsType[*damage](err); ok {
			return corrupt(path, d.at, "%s", d.reason)
		}
		return err
	}
	for pos := int64(headerSize); ; {
		head, err := w.at(pos, frameHead)
		if err != nil || len(head) < frameHead {
			return err
		}
		sum, n := binary.BigEndian.Uint64(head), int64(int32(binary.BigEndian.Uint32(head[8:])))
		if n < txnHeader || n > w.size-pos-frameHead-frameEnd {
			return nil
		}
		b, err := w.at(pos, frameHead+int(n)+frameEnd)
		if err != nil || b[frameHead+n] != endMark {
			return err
		}
		data := b[frameHead : frameHead+n]
		r := Record{Entry{EntryZxid(data), data}, pos, uint64(adler32.Checksum(data)) == sum}
		pos += frameSize(data)
		if err := visit(r); err != nil {
			return err
		}
	}
}

// Rewrite copies a log file to a new one with right checksums and nothing after its records.
func Rewrite(path, to string) (err error) {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(appendHeader(nil)); err != nil {
		return err
	}
	var buf []byte
	err = Scan(path, func(r Record) error {
		buf = appendFrame(buf[:0], r.Data)
		_, err := f.Write(buf)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return f.Sync()
}

// End is where the next record begins.
func (r *Record) End() int64 { return r.At + frameSize(r.Data) }
