package seglog

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// survivors reads a whole log as a client would that goes on behind what it can't have: good batches by their
// base offsets, and what of the others the log or the checksum refused.
func survivors(l *Log) (good map[batch.Offset][]byte, bad int, err error) {
	good = map[batch.Offset][]byte{}
	for at := l.StartOffset(); at < l.EndOffset(); {
		s, err := l.Read(at, l.EndOffset(), 1<<20, true)
		if hole, ok := errors.AsType[*HoleError](err); ok {
			if hole.First > at || hole.Next <= at {
				return good, bad, fmt.Errorf("reading at %d: %w", at, err)
			}
			bad, at = bad+1, hole.Next
			continue
		}
		if err != nil {
			return good, bad, err
		}
		b, err := s.AppendTo(nil)
		s.Release()
		if err != nil || len(b) == 0 {
			return good, bad, fmt.Errorf("%d bytes at %d: %w", len(b), at, err)
		}
		for rest := b; len(rest) > 0; {
			var v batch.View
			if v, rest, err = batch.Next(rest); err != nil { // a client goes on where it was
				at++
				break
			}
			if batch.Verify(v) != nil {
				bad++
				at++
				break
			}
			good[v.BaseOffset()] = v
			at = v.LastOffset() + 1
		}
	}
	return good, bad, nil
}

// undamaged says that the log has all batches of want, in their places, but for the one at offset damaged, and
// that it ends where it did.
func undamaged(l *Log, want []byte, damaged batch.Offset) error {
	good, _, err := survivors(l)
	if err != nil {
		return err
	}
	n := 0
	for rest := want; len(rest) > 0; {
		var v batch.View
		v, rest, _ = batch.Next(rest)
		got := good[v.BaseOffset()]
		if got == nil && v.BaseOffset() != damaged {
			return fmt.Errorf("the batch at offset %d is lost", v.BaseOffset())
		}
		if got != nil && !bytes.Equal(got, v) {
			return fmt.Errorf("another batch at offset %d", v.BaseOffset())
		}
		if got != nil {
			n++
		}
		if len(rest) == 0 && l.EndOffset() != v.LastOffset()+1 {
			return fmt.Errorf("it ends at %d, not %d", l.EndOffset(), v.LastOffset()+1)
		}
	}
	if n != len(good) {
		return fmt.Errorf("%d batches too many", len(good)-n)
	}
	return nil
}

// images are the states of a disk with a log of 40 batches that the machine didn't stop on.
func images(t *testing.T) (all map[string]*vfs.Mem, want []byte) {
	t.Helper()
	clean, want := filled(t, true)
	never, _ := filled(t, false)
	all = map[string]*vfs.Mem{"stopped": clean, "killed before a checkpoint": never}
	for name, at := range map[string]int{"killed at a checkpoint": 40, "killed after a checkpoint": 25} {
		m := vfs.NewMem()
		d := openDir(t, m)
		l := openLog(t, d)
		fill(t, l, at)
		if err := d.Checkpoint(1); err != nil {
			t.Fatal(err)
		}
		fill(t, l, 40-at)
		all[name] = m.Kill()
	}
	return all, want
}

// One flipped bit in any batch of a log that the machine didn't stop on costs at most that batch, whatever
// bytes it hits but the leader epoch, which nothing covers: all others are there, at their offsets, and the
// log goes on. No checksum covers a base offset either: it is held against its neighbours, where a start
// reads the whole log.
func TestFlippedBitCostsOneBatch(t *testing.T) {
	all, want := images(t)
	for how, image := range all {
		bs := bases(t, image)
		for k, base := range bs {
			name := "/data/t-0/" + segmentName(base) + suffixLog
			raw, err := vfs.ReadFile(image, name)
			if err != nil {
				t.Fatal(err)
			}
			at := batchesAt(t, raw)
			for i, pos := range at {
				last := k == len(bs)-1 && i == len(at)-1
				for _, in := range []int{0, 3, 6, 7, 8, 9, 11, 16, 17, 21, 23, 26, 30, 40, 45, 60, 61, 70} {
					if in < 8 && (last || how != "killed before a checkpoint") {
						continue
					}
					m := image.Kill()
					b := bytes.Clone(raw)
					b[pos+in] ^= 1 << (pos % 8)
					if err := vfs.WriteNew(m, name, b, true); err != nil {
						t.Fatal(err)
					}
					if err := survives(t, m, want, batch.View(raw[pos:]).BaseOffset()); err != nil {
						t.Fatalf("%s: byte %d of the batch at %d of %s: %v", how, in, pos, name, err)
					}
				}
			}
		}
	}
}

func survives(t *testing.T, m *vfs.Mem, want []byte, damaged batch.Offset) error {
	d := openDir(t, m)
	l := openLog(t, d)
	if err := undamaged(l, want, damaged); err != nil {
		return err
	}
	end := l.EndOffset()
	more := oneBatch(t, end, 2, 9000, 9)
	if err := l.Append(1_000_000, more); err != nil {
		return err
	}
	if err := d.Close(1); err != nil {
		return err
	}
	for range 2 { // the second time after a kill
		d = openDir(t, m)
		l = openLog(t, d)
		if err := undamaged(l, append(bytes.Clone(want), more...), damaged); err != nil {
			return fmt.Errorf("opened again: %w", err)
		}
		if err := d.Abandon(); err != nil {
			return err
		}
		m = m.Kill()
	}
	return nil
}

// A reader of a log that is in use gets the file and the position of the damage that it meets, and may go on
// behind it.
func TestDamageFoundByAReader(t *testing.T) {
	m, want := filled(t, true)
	d := openDir(t, m)
	l := openLog(t, d)
	contents(t, l)
	name := l.segments()[0].name(suffixLog)
	raw, err := vfs.ReadFile(m, name)
	if err != nil {
		t.Fatal(err)
	}
	pos := batchesAt(t, raw)[2]
	f, err := m.OpenFile(name, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 70), int64(pos)); err != nil { // its header and more
		t.Fatal(err)
	}
	_, err = l.Read(7, l.EndOffset(), 1<<20, true)
	var hole *HoleError
	if !errors.As(err, &hole) || !errors.Is(err, ErrCorrupt) || hole.File != name || hole.Pos != int64(pos) ||
		hole.First != 6 || hole.Next != 9 {
		t.Fatal(err)
	}
	if s, err := l.Read(3, l.EndOffset(), 1<<20, true); err != nil || s.Len() != pos-batchesAt(t, raw)[1] {
		t.Fatalf("before it: %d bytes, %v", s.Len(), err)
	}
	if err := undamaged(l, want, 6); err != nil {
		t.Fatal(err)
	}
	if err := l.TruncateTo(3); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 3)
	if got := len(batchesAt(t, contents(t, l))); got != 4 {
		t.Fatal(got)
	}
}

// Damage that nothing explains keeps the log shut rather than guess.
func TestDamageThatIsNone(t *testing.T) {
	m, _ := filled(t, false)
	m = m.Kill()
	name := "/data/t-0/" + segmentName(0) + suffixLog
	raw, err := vfs.ReadFile(m, name)
	if err != nil {
		t.Fatal(err)
	}
	at := batchesAt(t, raw)
	var mixed []byte // good batches in another order
	for _, i := range []int{0, 3, 1, 2} {
		mixed = append(mixed, raw[at[i]:at[i+1]]...)
	}
	mixed = append(mixed, raw[at[4]:]...)
	if err := vfs.WriteNew(m, name, mixed, true); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := openDir(t, m.Kill()).Open(Spec{Topic: "t", ID: testID, Config: testConfig()})
		if !errors.Is(err, ErrCorrupt) || !bytes.Contains([]byte(err.Error()), []byte(name)) {
			t.Fatal(err)
		}
	}
}
