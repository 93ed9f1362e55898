package seglog

import (
	"encoding/binary"
	"math"
	"os"
	"sync"

	"github.com/kalda/kalda/internal/disk/vfs"
)

// Widths of index entries.
const (
	offsetWidth = 8  // i32 last offset of a batch relative to the segment's base, i32 its position
	timeWidth   = 12 // i64 largest timestamp so far, i32 its relative offset

	indexTail = 4096 // bytes of entries that collect in memory before they are written
)

// index is a segment's sorted file of fixed-size entries. The newest entries may be in memory only.
// One writer at a time (under the log's mutex); readers take mu for what is in memory.
type index struct {
	slot   slot
	seg    *segment
	suffix string
	width  int

	mu     sync.Mutex
	loaded bool
	disk   int    // entries in the file
	tail   []byte // entries after them
	dirty  bool   // the file changed since the last sync

	near   []byte // entries read last, for readers that go on from there; from entry nearAt on
	nearAt int
	cuts   int // how often the file was made shorter
}

// entry is one entry of either index: (relative offset, position) or (timestamp, relative offset).
type entry struct{ key, val int64 }

func (x *index) decode(b []byte) entry {
	if x.width == offsetWidth {
		return entry{int64(int32(binary.BigEndian.Uint32(b))), int64(int32(binary.BigEndian.Uint32(b[4:])))}
	}
	return entry{int64(binary.BigEndian.Uint64(b)), int64(int32(binary.BigEndian.Uint32(b[8:])))}
}

func (x *index) encode(b []byte, e entry) []byte {
	if x.width == offsetWidth {
		b = binary.BigEndian.AppendUint32(b, uint32(e.key))
	} else {
		b = binary.BigEndian.AppendUint64(b, uint64(e.key))
	}
	return binary.BigEndian.AppendUint32(b, uint32(e.val))
}

// load learns the file's length. A missing file is an empty index.
func (x *index) load() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.loaded {
		return nil
	}
	info, err := x.seg.fs().Stat(x.seg.name(x.suffix))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	x.disk, x.loaded = 0, true
	if err == nil {
		x.disk = int(info.Size()) / x.width
	}
	return nil
}

func (x *index) open() (*handle, error) {
	return x.slot.acquire(func() (vfs.File, error) {
		return x.seg.fs().OpenFile(x.seg.name(x.suffix), os.O_RDWR|os.O_CREATE, 0o644)
	})
}

// count is the number of entries.
func (x *index) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.disk + len(x.tail)/x.width
}

// append adds an entry in memory.
func (x *index) append(e entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.tail = x.encode(x.tail, e)
}

// write moves the entries in memory to the file. Only the writer calls it.
func (x *index) write() error {
	if len(x.tail) == 0 {
		return nil
	}
	h, err := x.open()
	if err != nil {
		return err
	}
	defer h.release()
	if _, err := h.WriteAt(x.tail, int64(x.disk)*int64(x.width)); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.disk += len(x.tail) / x.width
	x.tail = x.tail[:0]
	if cap(x.tail) > 2*indexTail {
		x.tail = nil
	}
	x.dirty = true
	return nil
}

// floor is the last entry with a key of at most key; zero and not ok if all are above.
func (x *index) floor(key int64) (e entry, ok bool, err error) {
	x.mu.Lock()
	n, cuts := x.disk, x.cuts
	if i := x.search(x.tail, key); i > 0 {
		e = x.decode(x.tail[(i-1)*x.width:])
		x.mu.Unlock()
		return e, true, nil
	}
	// Between two entries that are at hand, or after the last of the file.
	if i := x.search(x.near, key); i > 0 && (i < len(x.near)/x.width || x.nearAt+i == n) {
		e = x.decode(x.near[(i-1)*x.width:])
		x.mu.Unlock()
		return e, true, nil
	}
	x.mu.Unlock()
	if n == 0 {
		return e, false, nil
	}
	h, err := x.open()
	if err != nil {
		return e, false, err
	}
	defer h.release()
	return x.floorInFile(h, n, cuts, key)
}

// keepNear remembers what was read of the file from entry at on, unless the file was cut since. Whoever reads
// on finds it there.
func (x *index) keepNear(at, cuts int, b []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if cuts == x.cuts {
		x.near, x.nearAt = append(x.near[:0], b...), at
	}
}

// idle lets go of what nobody used for a while.
func (x *index) idle() {
	if x.slot.idle() {
		x.mu.Lock()
		x.near = nil
		x.mu.Unlock()
	}
}

// search is the number of entries in b with a key of at most key.
func (x *index) search(b []byte, key int64) int {
	lo, hi := 0, len(b)/x.width
	for lo < hi {
		mid := (lo + hi) / 2
		if x.decode(b[mid*x.width:]).key <= key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// floorInFile narrows the search with single entries until what is left fits one read, which goes on behind
// it as far as it can: most readers go forward.
func (x *index) floorInFile(h *handle, n, cuts int, key int64) (e entry, ok bool, err error) {
	buf := chunks.Get().(*[]byte)
	defer chunks.Put(buf)
	lo, hi := 0, n // the answer is at lo-1 .. hi-1
	for per := len(*buf) / x.width; hi-lo > per-1; {
		mid := (lo + hi) / 2
		if err := readFull(h, (*buf)[:x.width], int64(mid*x.width)); err != nil {
			return e, false, err
		}
		if x.decode(*buf).key <= key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	from := max(lo-1, 0)
	b := (*buf)[:min(n-from, len(*buf)/x.width)*x.width]
	if err := readFull(h, b, int64(from*x.width)); err != nil {
		return e, false, err
	}
	x.keepNear(from, cuts, b)
	i := x.search(b, key)
	if i == 0 {
		return e, false, nil
	}
	return x.decode(b[(i-1)*x.width:]), true, nil
}

// last is the newest entry.
func (x *index) last() (e entry, ok bool, err error) {
	x.mu.Lock()
	n := x.disk
	if len(x.tail) > 0 {
		e = x.decode(x.tail[len(x.tail)-x.width:])
		x.mu.Unlock()
		return e, true, nil
	}
	x.mu.Unlock()
	if n == 0 {
		return e, false, nil
	}
	h, err := x.open()
	if err != nil {
		return e, false, err
	}
	defer h.release()
	var b [timeWidth]byte
	if err := readFull(h, b[:x.width], int64((n-1)*x.width)); err != nil {
		return e, false, err
	}
	return x.decode(b[:]), true, nil
}

// keep cuts the index to the entries before the first that good refuses, and the file with it. It looks at
// the last entries of the file only, as many as fit in last bytes, and those after them; the others are good.
// Only the writer calls it.
func (x *index) keep(last int, good func(prev, e entry) bool) error {
	b, from, size, err := x.readLast(last)
	if err != nil {
		return err
	}
	x.mu.Lock()
	disk := size / x.width
	if x.loaded {
		disk = min(x.disk, disk)
	}
	from = min(from, disk)
	all := append(b[:(disk-from)*x.width:(disk-from)*x.width], x.tail...)
	x.mu.Unlock()
	prev, n := entry{-1, -1}, 0
	for ; n < len(all)/x.width; n++ {
		e := x.decode(all[n*x.width:])
		if !good(prev, e) {
			break
		}
		prev = e
	}
	if n == 0 && from > 0 { // the good ones end further up, as in a file made large beforehand
		return x.keep(math.MaxInt, good)
	}
	return x.truncate(from, all[:n*x.width], size)
}

// readLast reads the entries at the end of the file that fit in last bytes: the first of them is entry from.
// A missing file is an empty one.
func (x *index) readLast(last int) (b []byte, from, size int, err error) {
	f, err := x.seg.fs().OpenFile(x.seg.name(x.suffix), os.O_RDONLY, 0)
	if os.IsNotExist(err) {
		return nil, 0, 0, nil
	}
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, 0, err
	}
	size = int(info.Size())
	from = max(size/x.width-last/x.width, 0)
	b = make([]byte, size/x.width*x.width-from*x.width)
	return b, from, size, readFull(f, b, int64(from*x.width))
}

// truncate makes the file's entries up to from and all, whose beginning the file holds, the index. size is
// the file's length now.
func (x *index) truncate(from int, all []byte, size int) error {
	x.mu.Lock()
	x.loaded = true
	x.near = nil
	x.cuts++
	x.disk = min(from*x.width+len(all), size) / x.width
	x.tail = append(x.tail[:0], all[(x.disk-from)*x.width:]...)
	end := x.disk * x.width
	x.mu.Unlock()
	if size == end {
		return nil
	}
	h, err := x.open()
	if err != nil {
		return err
	}
	defer h.release()
	x.dirty = true
	return h.Truncate(int64(end))
}

// sync makes what was written durable.
func (x *index) sync() error {
	x.mu.Lock()
	dirty := x.dirty
	x.dirty = false
	x.mu.Unlock()
	if !dirty {
		return nil
	}
	h, err := x.open()
	if err != nil {
		return err
	}
	defer h.release()
	return h.Datasync()
}

// missing says that a file isn't there.
func missing(fsys vfs.FS, name string) (bool, error) {
	_, err := fsys.Stat(name)
	if err == nil {
		return false, nil
	}
	if os.IsNotExist(err) {
		return true, nil
	}
	return false, err
}

func (x *index) isDirty() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.dirty
}
