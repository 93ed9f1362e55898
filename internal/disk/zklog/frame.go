package zklog

import (
	"encoding/binary"
	"errors"
	"hash/adler32"
	"io"
	"os"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
)

const (
	logMagic    = 0x5a4b4c47 // "ZKLG"
	fileVersion = 2
	headerSize  = 16

	frameHead = 12 // checksum, length
	frameEnd  = 1
	endMark   = 'B'
	txnHeader = 32 // long clientId, int cxid, long zxid, long time, int type
	zxidAt    = 12
)

// Entry is one transaction of a log: TxnHeader, body, and a digest if its writer had one.
type Entry struct {
	Zxid jute.Zxid
	Data []byte
}

// EntryZxid reads the zxid out of a transaction's bytes.
func EntryZxid(data []byte) jute.Zxid { return jute.Zxid(binary.BigEndian.Uint64(data[zxidAt:])) }

func appendHeader(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, logMagic)
	dst = binary.BigEndian.AppendUint32(dst, fileVersion)
	return binary.BigEndian.AppendUint64(dst, 0) // dbid, never used
}

func appendFrame(dst, data []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(adler32.Checksum(data)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)))
	dst = append(dst, data...)
	return append(dst, endMark)
}

// window reads a file through a buffer that only ever grows to what the file holds.
type window struct {
	f    vfs.File
	size int64 // reads end here
	buf  []byte
	base int64 // of buf in the file
}

const windowSize = 128 << 10

func openWindow(fsys vfs.FS, path string) (*window, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &window{f: f, size: info.Size()}, nil
}

// at gives n bytes from pos on, valid until the next call; fewer where the file ends.
func (w *window) at(pos int64, n int) ([]byte, error) {
	n = int(min(int64(n), max(0, w.size-pos)))
	if n == 0 {
		return nil, nil
	}
	if pos < w.base || pos+int64(n) > w.base+int64(len(w.buf)) {
		if err := w.fill(pos, n); err != nil {
			return nil, err
		}
	}
	from := int(pos - w.base)
	return w.buf[from:min(from+n, len(w.buf))], nil
}

func (w *window) fill(pos int64, n int) error {
	want := int(min(int64(max(n, windowSize)), w.size-pos))
	if cap(w.buf) < want {
		w.buf = make([]byte, want)
	}
	got, err := w.f.ReadAt(w.buf[:want], pos)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	w.buf, w.base = w.buf[:got], pos
	return err
}

// damage is a record that can't be read.
type damage struct {
	at     int64
	reason string
}

func (d *damage) Error() string { return d.reason }

// frame reads the record at pos: its data, valid until the next call, or nothing where the file's records
// end, which the zeros written ahead look like too. What is neither is *damage.
func (w *window) frame(pos int64) ([]byte, error) {
	head, err := w.at(pos, frameHead)
	if err != nil {
		return nil, err
	}
	if allZero(head) {
		return nil, nil
	}
	if len(head) < frameHead {
		return nil, &damage{pos, "the file ends within a record's header"}
	}
	sum, n := binary.BigEndian.Uint64(head), int64(int32(binary.BigEndian.Uint32(head[8:])))
	switch {
	case n < txnHeader:
		return nil, &damage{pos, "a record too short for a transaction"}
	case n > w.size-pos-frameHead-frameEnd:
		return nil, &damage{pos, "a record longer than the file"}
	}
	all, err := w.at(pos, frameHead+int(n)+frameEnd)
	if err != nil {
		return nil, err
	}
	if len(all) < frameHead+int(n)+frameEnd {
		return nil, &damage{pos, "the file ends within a record"}
	}
	data := all[frameHead : frameHead+n]
	switch {
	case all[frameHead+n] != endMark:
		return nil, &damage{pos, "a record without its end mark"}
	case uint64(adler32.Checksum(data)) != sum:
		return nil, &damage{pos, "a record's checksum doesn't match"}
	}
	return data, nil
}

// header verifies a log file's first bytes. Less than a header is *damage at 0.
func (w *window) header() error {
	b, err := w.at(0, headerSize)
	switch {
	case err != nil:
		return err
	case len(b) < headerSize || allZero(b):
		return &damage{0, "a file without its header"}
	case binary.BigEndian.Uint32(b) != logMagic:
		return &damage{0, "no transaction log: its magic number is wrong"}
	}
	return nil
}

// frameSize is what a transaction takes in a file.
func frameSize(data []byte) int64 { return frameHead + int64(len(data)) + frameEnd }

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
