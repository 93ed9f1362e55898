package seglog

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// segment is a file of batches with its indexes. Its content only grows; a truncated one is replaced by a
// new value.
type segment struct {
	log  *Log
	base batch.Offset

	size atomic.Int64 // of what readers may see; -1: not looked up yet
	data slot
	tail atomic.Pointer[ring]

	offsets, times index
	txn            txnIndex
	bad            atomic.Bool            // an index was caught lying: Read makes it again
	torn           atomic.Bool            // something else than a batch was met: Read steps over it
	stepped        atomic.Bool            // which worked
	hopeless       atomic.Bool            // which didn't work
	suffix         atomic.Pointer[string] // what its files' names end in, too: .deleted, .cleaned; nil: nothing
	hasIndex       uint8                  // which index files the listing had: 1 offsets, 2 times

	// The largest timestamp, and the last offset of the batch that has it; under top.
	top       sync.Mutex
	topLoaded bool
	maxTime   int64
	maxOffset batch.Offset

	// The writer's own, under the log's mutex; of the active segment only.
	sinceIndex int64 // bytes since the last index entry
	firstTime  int64 // the first batch's max timestamp, -1 unknown
	lastTime   int64 // of the last time index entry
	created    int64
	jitter     int64
	synced     int64 // bytes of data known to be durable
}

func newSegment(l *Log, base batch.Offset) *segment {
	s := &segment{log: l, base: base, maxTime: -1, maxOffset: NoOffset, firstTime: -1, lastTime: -1}
	s.offsets.seg, s.offsets.suffix, s.offsets.width = s, suffixIndex, offsetWidth
	s.times.seg, s.times.suffix, s.times.width = s, suffixTime, timeWidth
	s.size.Store(-1)
	return s
}

// name is the path of one of the segment's files.
func (s *segment) name(suffix string) string {
	if more := s.suffix.Load(); more != nil {
		suffix += *more
	}
	return s.log.file(segmentName(s.base) + suffix)
}

// rename notes that the segment's files have other names now.
func (s *segment) rename(suffix string) {
	if suffix == "" {
		s.suffix.Store(nil)
	} else {
		s.suffix.Store(&suffix)
	}
}

func (s *segment) fs() vfs.FS { return s.log.dir.fs }

// open returns the batches' file, for the caller to release.
func (s *segment) open() (*handle, error) {
	return s.data.acquire(func() (vfs.File, error) { return s.fs().OpenFile(s.name(suffixLog), os.O_RDWR, 0) })
}

// stat learns the sizes of a segment that isn't the active one.
func (s *segment) stat() error {
	if s.size.Load() < 0 {
		info, err := s.fs().Stat(s.name(suffixLog))
		if err != nil {
			return err
		}
		s.size.Store(info.Size())
		s.synced = info.Size()
	}
	if err := s.offsets.load(); err != nil {
		return err
	}
	return s.times.load()
}

// begin makes s the active segment.
func (s *segment) begin(now int64, cfg *Config, end batch.Offset) {
	s.created = now
	if j := min(cfg.SegmentJitterMs, cfg.segmentMs()); j > 0 {
		s.jitter = rand.Int64N(j)
	}
	r := new(ring)
	r.push(end, s.size.Load())
	s.tail.Store(r)
}

// full says whether n bytes up to offset last, the newest of time maxTime, must go to another segment
// (broker.md 3.6).
func (s *segment) full(now, n int64, last batch.Offset, maxTime int64, cfg *Config) bool {
	size := s.size.Load()
	if size > cfg.SegmentBytes-n || int64(last-s.base) > math.MaxInt32 {
		return true
	}
	waited := now - s.created
	if s.firstTime >= 0 {
		waited = maxTime - s.firstTime
	}
	if size > 0 && waited > cfg.segmentMs()-s.jitter {
		return true
	}
	// One entry of the time index is kept for the end.
	return int64(s.offsets.count()) >= cfg.IndexBytes/offsetWidth ||
		int64(s.times.count()) >= cfg.IndexBytes/timeWidth-1
}

// note adds a batch that was written at h.pos to the indexes, in memory.
func (s *segment) note(h *header, interval int64) {
	s.top.Lock()
	if h.maxTimestamp > s.maxTime {
		s.maxTime, s.maxOffset = h.maxTimestamp, h.last
	}
	maxTime, maxOffset := s.maxTime, s.maxOffset
	s.top.Unlock()
	if s.firstTime < 0 && h.pos == 0 {
		s.firstTime = h.maxTimestamp
	}
	if s.sinceIndex > interval {
		s.offsets.append(entry{int64(h.last - s.base), h.pos})
		s.noteTime(maxTime, maxOffset)
		s.sinceIndex = 0
	}
	s.sinceIndex += h.size
}

// noteTime appends to the time index, which holds increasing times only.
func (s *segment) noteTime(maxTime int64, maxOffset batch.Offset) {
	if maxTime > s.lastTime {
		s.times.append(entry{maxTime, int64(maxOffset - s.base)})
		s.lastTime = maxTime
	}
}

// writeIndexes writes index entries out once there are enough of them in either index: of both, the times
// first, so that wherever a killed process stops, no time is missing before the last offset.
func (s *segment) writeIndexes(atLeast int) error {
	if max(len(s.offsets.tail), len(s.times.tail)) < max(atLeast, 1) {
		return nil
	}
	if err := s.times.write(); err != nil {
		return err
	}
	return s.offsets.write()
}

// seal ends the writing: the last time entry is the segment's largest, and all entries are in the files.
func (s *segment) seal() error {
	s.top.Lock()
	maxTime, maxOffset := s.maxTime, s.maxOffset
	s.top.Unlock()
	s.noteTime(maxTime, maxOffset)
	if err := s.createIndexes(); err != nil {
		return err
	}
	return s.writeIndexes(0)
}

// createIndexes makes sure that both files exist, as Apache wants them, even if they are empty.
func (s *segment) createIndexes() error {
	for _, x := range []*index{&s.offsets, &s.times} {
		if x.disk > 0 || len(x.tail) > 0 {
			continue
		}
		h, err := x.open()
		if err != nil {
			return err
		}
		h.release()
	}
	return nil
}

// sync makes the batches durable, and of a sealed segment the indexes too.
func (s *segment) sync(sealed bool) error {
	h, err := s.open()
	if err != nil {
		return err
	}
	defer h.release()
	if err := h.Datasync(); err != nil {
		return err
	}
	if err := s.txn.sync(s); err != nil || !sealed {
		return err
	}
	if err := s.offsets.sync(); err != nil {
		return err
	}
	return s.times.sync()
}

// largest is the segment's largest timestamp and the last offset of the batch that has it; -1 if none is
// known. A sealed segment's time index ends with them; that is believed only if the batch agrees.
func (s *segment) largest() (int64, batch.Offset, error) {
	s.top.Lock()
	defer s.top.Unlock()
	if s.topLoaded {
		return s.maxTime, s.maxOffset, nil
	}
	if err := s.stat(); err != nil {
		return 0, 0, err
	}
	e, ok, err := s.times.last()
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, 0, err
	}
	h, err := s.open()
	if err != nil {
		return 0, 0, err
	}
	defer h.release()
	if ok {
		if _, ok, err = s.timed(h, e); err != nil {
			return 0, 0, err
		}
	}
	if ok {
		s.maxTime, s.maxOffset = e.key, s.base+batch.Offset(e.val)
	} else if _, err := walk(h, 0, s.size.Load(), func(b *header) bool {
		if b.maxTimestamp > s.maxTime {
			s.maxTime, s.maxOffset = b.maxTimestamp, b.last
		}
		return true
	}); err != nil {
		return 0, 0, err
	}
	s.topLoaded = true
	return s.maxTime, s.maxOffset, nil
}

// timed says whether the batch that time index entry e means has e's timestamp, and where that batch is.
func (s *segment) timed(h *handle, e entry) (pos int64, ok bool, err error) {
	o := s.base + batch.Offset(e.val)
	if pos, err = s.position(o); errors.Is(err, ErrCorrupt) {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	hd, ok, err := headerAt(h, pos, s.size.Load())
	return pos, ok && hd.base <= o && hd.maxTimestamp == e.key, err
}

// position is where the first batch starts whose last offset is o or later; the segment's size if there is
// none.
func (s *segment) position(o batch.Offset) (int64, error) {
	pos, _, err := s.locate(o)
	return pos, err
}

// locate is position, and tells the size of the batch there if it met its header; else 0.
func (s *segment) locate(o batch.Offset) (pos, first int64, err error) {
	size := s.size.Load()
	var from int64
	found := false
	if r := s.tail.Load(); r != nil {
		at, pos, ok := r.floor(o)
		if ok && at == o {
			return pos, 0, nil
		}
		from, found = pos, ok
	}
	if o <= s.base && size == 0 {
		return 0, 0, nil
	}
	h, err := s.open()
	if err != nil {
		return 0, 0, err
	}
	defer h.release()
	if o <= s.base {
		hd, ok, err := headerAt(h, 0, size)
		if err != nil {
			return 0, 0, err
		}
		if !ok {
			hd.size = 0
		}
		return s.met(0, hd.size, size)
	}
	seen := order{even: !s.stepped.Load() && !s.log.cfg.Load().Compact}
	stop := func(b *header) bool {
		if !seen.next(b) {
			return false
		}
		if b.last < o {
			return true
		}
		first = b.size
		return false
	}
	if !found {
		var ok bool
		if pos, ok, err = s.walkFromIndex(h, o, size, stop); err != nil {
			return 0, 0, err
		} else if ok {
			return s.met(pos, first, size)
		}
	}
	if pos, err = walk(h, from, size, stop); err != nil {
		return 0, 0, err
	}
	return s.met(pos, first, size)
}

// order tells batches from what only looks like them, where a damaged length leads a walk astray.
type order struct {
	last   batch.Offset
	modern bool
	even   bool // each batch has as many records as offsets
}

// next says whether b can be the next batch.
func (x *order) next(b *header) bool {
	if b.odd && x.even || b.base < x.last || x.modern && b.magic < 2 {
		return false
	}
	x.last, x.modern = b.last, b.magic == 2
	return true
}

// met says what a walk found: a batch, the end, or something else.
func (s *segment) met(pos, first, size int64) (int64, int64, error) {
	if first == 0 && pos < size {
		s.torn.Store(true)
		return 0, 0, fmt.Errorf("%s: %w: no batch at position %d", s.name(suffixLog), ErrCorrupt, pos)
	}
	return pos, first, nil
}

// walkFromIndex asks the offset index where to start looking for o, and walks from there until stop. It
// believes the index only if a batch is there; that is seen in the read that the walk makes anyway. Not ok:
// the index doesn't help.
func (s *segment) walkFromIndex(h *handle, o batch.Offset, size int64, stop func(*header) bool) (
	pos int64, ok bool, err error,
) {
	e, found, err := s.offsets.floor(int64(o - s.base))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || err == nil && !found {
		return 0, false, err
	}
	seen, lies := false, err != nil || e.val < 0 // an index shorter than it should be lies, too
	if !lies {
		pos, err = walk(h, e.val, size, func(b *header) bool {
			if !seen {
				seen, lies = true, !s.agrees(b, e)
			}
			return !lies && stop(b)
		})
		if err != nil || seen && !lies {
			return pos, err == nil, err
		}
	}
	if !s.bad.Swap(true) {
		s.log.dir.warn("offset index points to no batch of its offset: making it again",
			"file", s.name(suffixIndex), "offset", s.base+batch.Offset(e.key), "position", e.val)
	}
	return 0, false, nil
}

// indexed says whether what e points to may be: a batch that ends at its offset or, in logs of older
// versions, whose indexes know whole appends, before it.
func (s *segment) indexed(h *handle, e entry) (bool, error) {
	hd, ok, err := headerAt(h, e.val, s.size.Load())
	return ok && s.agrees(&hd, e), err
}

func (s *segment) agrees(hd *header, e entry) bool {
	return hd.base >= s.base && hd.last <= s.base+batch.Offset(e.key)
}

// close drops the files.
func (s *segment) close() {
	s.data.drop()
	s.offsets.slot.drop()
	s.times.slot.drop()
}

// idle closes files that nobody used for a while.
func (s *segment) idle() {
	s.data.idle()
	s.offsets.idle()
	s.times.idle()
}

// indexesDirty says whether an index file has entries that weren't synced.
func (s *segment) indexesDirty() bool { return s.offsets.isDirty() || s.times.isDirty() }
