package zklog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/jute"
)

// appender writes the newest log file.
//
// A batch is one write. What follows it in the file are zeros, and in their midst a note of how far the file
// was synced when the batch was written (see note), which the next batch overwrites. The zeros are real for
// a stretch ahead, then a hole up to the preallocated size: overwriting them is all that a sync has to make
// durable.
type appender struct {
	store *Store
	f     vfs.File // nil: the next append starts a file
	name  string
	fresh bool // the file's name isn't durable yet

	end    int64 // of the records
	synced int64 // up to here they are durable
	zeroed int64 // up to here the file has been written
	size   int64

	closing []vfs.File // rolled, to be synced and closed by the next Sync
	failed  error
	last    atomic.Int64
	buf     []byte

	mu     sync.Mutex // of what readers look at
	active string
	bound  int64
}

const (
	zeroStep  = 256 << 10 // real zeros are written in steps of this
	allocNear = 4096      // the file grows when its end is as near as this, as Apache's does

	// A note is 16 bytes of zeros, which end the file for any reader, then this many bytes.
	noteZeros = 16
	noteSize  = 16
	noteMagic = 0x4b5a4c4e // "KZLN"
)

// ErrFailed is what an append or a sync gets after one failed: what is on the disk is not known any more,
// and only a restart, which reads it, can tell.
var ErrFailed = errors.New("the transaction log failed before")

// Append writes transactions, each one's bytes, in one go. They are durable after the next Sync. Zxids
// ascend.
func (s *Store) Append(batch ...[]byte) error {
	a := &s.log
	if a.failed != nil {
		return a.failed
	}
	if len(batch) == 0 {
		return nil
	}
	last := a.last.Load()
	for _, data := range batch {
		if len(data) < txnHeader {
			return fmt.Errorf("a transaction of %d bytes can't be logged", len(data))
		}
		zxid := int64(EntryZxid(data))
		if zxid <= last {
			return fmt.Errorf("transaction %v can't be logged after %v", jute.Zxid(zxid), jute.Zxid(last))
		}
		last = zxid
	}
	if err := a.write(batch); err != nil {
		return a.fail("write", err)
	}
	a.last.Store(last)
	return nil
}

func (a *appender) fail(what string, err error) error {
	a.failed = fmt.Errorf("%w: %s: %w", ErrFailed, what, err)
	return fmt.Errorf("transaction log: %s: %w", what, err)
}

func (a *appender) write(batch [][]byte) error {
	if a.f == nil {
		if err := a.create(EntryZxid(batch[0])); err != nil {
			return err
		}
	}
	b, at := a.buf[:0], a.end
	if at == 0 {
		b = appendHeader(b)
	}
	for _, data := range batch {
		b = appendFrame(b, data)
	}
	end := at + int64(len(b))
	b = appendNote(b, a.synced)
	if err := a.extend(at + int64(len(b))); err != nil {
		return err
	}
	if _, err := a.f.WriteAt(b, at); err != nil {
		return err
	}
	a.zeroed = max(a.zeroed, at+int64(len(b)))
	a.end = end
	if cap(b) <= 4*windowSize {
		a.buf = b
	}
	a.publish()
	return nil
}

// create starts the file that is named by its first transaction. One of that name holds nothing: Recover has
// cut whatever it held.
func (a *appender) create(zxid jute.Zxid) error {
	path := filepath.Join(a.store.logDir, logName(zxid))
	f, err := a.store.fs.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	a.f, a.name, a.fresh = f, path, true
	a.end, a.synced, a.zeroed, a.size = 0, 0, 0, 0
	return nil
}

// extend makes room up to end: the file's size by whole steps of the preallocation, and real zeros behind
// end. Zeros don't pay where batches are as large as their steps.
func (a *appender) extend(end int64) error {
	step := a.store.opts.PreAlloc
	if step <= 0 {
		return nil
	}
	if end+allocNear >= a.size {
		size := a.size + step*((end+allocNear-a.size)/step+1)
		if err := a.f.Truncate(size); err != nil {
			return err
		}
		a.size = size
	}
	if end+zeroStep/4 < a.zeroed || end-a.end > zeroStep/4 {
		return nil
	}
	from := max(a.zeroed, end)
	to := min(a.size, (from+zeroStep/4)/zeroStep*zeroStep+zeroStep)
	zeros := make([]byte, min(to-from, 64<<10))
	for from < to {
		n, err := a.f.WriteAt(zeros[:min(to-from, int64(len(zeros)))], from)
		if err != nil {
			return err
		}
		from += int64(n)
	}
	a.zeroed = to
	return nil
}

// appendNote adds the zeros that end a file and, behind them, how far it is synced.
func appendNote(dst []byte, synced int64) []byte {
	dst = append(dst, make([]byte, noteZeros)...)
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, noteMagic)
	dst = binary.BigEndian.AppendUint64(dst, uint64(synced))
	return binary.BigEndian.AppendUint32(dst, adler32.Checksum(dst[at:]))
}

// parseNote reads what appendNote wrote.
func parseNote(b []byte) (synced int64, ok bool) {
	if len(b) < noteZeros+noteSize || !allZero(b[:noteZeros]) {
		return 0, false
	}
	b = b[noteZeros : noteZeros+noteSize]
	if binary.BigEndian.Uint32(b) != noteMagic || binary.BigEndian.Uint32(b[12:]) != adler32.Checksum(b[:12]) {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(b[4:])), true
}

// Sync makes everything that was appended durable.
func (s *Store) Sync() error {
	a := &s.log
	if a.failed != nil {
		return a.failed
	}
	if err := a.sync(); err != nil {
		return a.fail("sync", err)
	}
	return nil
}

func (a *appender) sync() error {
	dir := a.fresh
	for len(a.closing) > 0 {
		if err := a.datasync(a.closing[0]); err != nil {
			return err
		}
		if err := a.closing[0].Close(); err != nil {
			return err
		}
		a.closing = a.closing[1:]
	}
	if a.f != nil && a.synced < a.end {
		if err := a.datasync(a.f); err != nil {
			return err
		}
		a.synced = a.end
	}
	if dir && !a.store.opts.NoSync {
		if err := a.store.fs.SyncDir(a.store.logDir); err != nil {
			return err
		}
	}
	a.fresh = false
	return nil
}

func (a *appender) datasync(f vfs.File) error {
	if a.store.opts.NoSync {
		return nil
	}
	return f.Datasync()
}

// Roll ends the newest file: the next Append starts one. What was appended is made durable by the next Sync.
func (s *Store) Roll() error {
	a := &s.log
	switch {
	case a.failed != nil:
		return a.failed
	case a.f == nil:
		return nil
	}
	if a.synced == a.end { // else the last batch's note stays, and is right
		if _, err := a.f.WriteAt(appendNote(nil, a.end), a.end); err != nil {
			return a.fail("write", err)
		}
	}
	a.closing, a.f, a.name = append(a.closing, a.f), nil, ""
	a.publish()
	return nil
}

// FileSize is how many bytes of records the newest file holds: txnLogSizeLimitInKb is about them.
func (s *Store) FileSize() int64 {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.bound
}

// publish tells readers how far the newest file may be read.
func (a *appender) publish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.active, a.bound = a.name, a.end
	if a.f == nil {
		a.bound = 0
	}
}

func (a *appender) close() error {
	var err error
	if a.store == nil {
		return nil
	}
	if a.failed == nil {
		if err = a.sync(); err == nil {
			err = a.store.Roll()
		}
		if err == nil {
			err = a.sync()
		}
	}
	for _, f := range append(a.closing, a.f) {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	a.f, a.closing = nil, nil
	if a.failed == nil {
		a.failed = errors.New("the data directory is closed")
	}
	return err
}
