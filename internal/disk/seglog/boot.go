package seglog

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// A process that is killed leaves everything that it wrote; only a machine that stops loses any of it. A
// directory remembers in a file of its own, which Apache's broker ignores, on which boot of the machine all
// of it was known to be good. A start after an unclean stop on the same boot believes the logs and looks at
// their tails only, however much was appended since the last checkpoint.

// believed is the offset up to which an adopted log's indexes are: all, save what makes no sense.
const believed batch.Offset = math.MaxInt64 - 1

// believedTail is how many bytes at the end of such an index are looked at: more than one write.
const believedTail = 4 * indexTail

// adoptVerify is how much at the end of an adopted log is checked all the same.
const adoptVerify = 4 << 20

// loadBoot says whether this is the boot that the last run knew the directory to be good on.
func (d *Dir) loadBoot() error {
	boot := d.fs.Boot()
	b, err := vfs.ReadFile(d.fs, filepath.Join(d.path, fileBoot))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.sameBoot = boot != "" && string(b) == boot+"\n"
	d.bootSaved = d.sameBoot
	return d.saveBoot()
}

// saveBoot notes the boot once nothing is left whose last stop wasn't clean and that nobody looked at yet.
func (d *Dir) saveBoot() error {
	boot := d.fs.Boot()
	if d.bootSaved || boot == "" || d.unknown() {
		return nil
	}
	if err := vfs.WriteFile(d.fs, filepath.Join(d.path, fileBoot), []byte(boot+"\n")); err != nil {
		return err
	}
	d.bootSaved = true
	return nil
}

// unknown says that there are logs whose last stop wasn't clean and that nobody looked at yet.
func (d *Dir) unknown() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.found) > 0 && !d.clean
}

// adoptSegment is scanSegment for what a killed process left: indexes and batches are believed, but for the
// batches at the end, of which the last may be cut short.
func (l *Log) adoptSegment(s *segment, next batch.Offset) (batch.Offset, bool, error) {
	h, err := s.open()
	if err != nil {
		return 0, false, err
	}
	defer h.release()
	info, err := h.Stat()
	if err != nil {
		return 0, false, err
	}
	size := info.Size()
	s.size.Store(size)
	pos, err := s.trustIndexes(h, believed)
	if err != nil {
		return 0, false, err
	}
	if pos > 0 {
		if err := l.adoptEpochs(s, h); err != nil {
			return 0, false, err
		}
	}
	end, whole, err := l.scanFrom(h, s, next, pos, scanRules{
		believe: func(b *header) bool { return b.pos < size-adoptVerify }, verify: true,
	})
	if err == nil && whole && end <= l.verifyFrom && end > 0 { // nothing since the last checkpoint
		s.synced = size
	}
	return end, whole, err
}

// adoptEpochs finds the epochs that began in a segment since they were last written down. The batches that
// the index knows tell where to look.
func (l *Log) adoptEpochs(s *segment, h *handle) error {
	e, ok, err := s.offsets.last()
	if err != nil || !ok {
		return err
	}
	hd, ok, err := headerAt(h, e.val, s.size.Load())
	if err != nil || !ok || hd.epoch <= l.epochs.latest() {
		return err
	}
	b, err := vfs.ReadFile(s.fs(), s.name(suffixIndex))
	if err != nil {
		return err
	}
	at := []int64{0}
	for n := 0; n < min(s.offsets.disk, len(b)/offsetWidth); n++ {
		at = append(at, s.offsets.decode(b[n*offsetWidth:]).val)
	}
	return l.searchEpochs(h, at, s.size.Load())
}

// searchEpochs halves the batches at at until it has every one that begins an epoch: epochs never decrease.
func (l *Log) searchEpochs(h *handle, at []int64, size int64) error {
	last := at[len(at)-1]
	hd, ok, err := headerAt(h, last, size)
	if err != nil || !ok || hd.epoch <= l.epochs.latest() {
		return err
	}
	if len(at) <= 2 {
		_, err = walk(h, at[0], size, func(b *header) bool {
			if b.epoch > l.epochs.latest() {
				l.epochs.assign(b.epoch, b.base)
			}
			return b.pos < last
		})
		return err
	}
	mid := len(at) / 2
	if err := l.searchEpochs(h, at[:mid+1], size); err != nil {
		return err
	}
	return l.searchEpochs(h, at[mid:], size)
}
