package zklog

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// The end of a log file after a crash, and how to tell it from damage.
//
// A record that can't be read is a torn tail when it was never synced, so that nobody was told of it; then
// it and all behind it go. It is damage when it was: then a server must not start, since it would lose or
// invent data.
//
//   - The file ends in a note (see appendNote): torn if the note says that the file was not synced up to the
//     record. Pages of one batch reach the disk in any order, so there may be valid records behind.
//   - No note, as Apache writes none and the page with ours may not have made it, and nothing valid behind
//     the record: torn. (A bad byte in the very last record looks the same. What is cut is reported.)
//   - No note, and something valid behind it: torn if the record has a hole in it, a sector of zeros or zeros
//     up to what is valid; else damage.
//
// Zeros where a record should begin end the file, whatever is behind them: a sync covers all that was
// written before it, so what follows was not synced either.

const (
	sector   = 512
	minZeros = 8 // at the end of a record's place, to believe that the rest of it never came
)

// torn decides about a record, or a header, that can't be read.
func (w *window) torn(d *damage) (bool, error) {
	end, err := w.lastData()
	if err != nil || end <= headerSize {
		return err == nil, err
	}
	synced, ok, err := w.note(end)
	if err != nil || ok {
		return ok && d.at >= synced, err
	}
	next, err := w.findFrame(max(d.at+1, headerSize), end)
	switch {
	case err != nil:
		return false, err
	case next < 0:
		return d.at >= headerSize, nil // else it may be no log at all
	}
	return w.hole(d.at, next)
}

// note looks for the note that the file's last data is. Its checksum may end in zeros.
func (w *window) note(end int64) (synced int64, ok bool, err error) {
	for at := max(headerSize, end-noteZeros-noteSize); at <= end-noteZeros-noteSize+3; at++ {
		b, err := w.at(at, noteZeros+noteSize)
		if err != nil {
			return 0, false, err
		}
		if synced, ok := parseNote(b); ok {
			return synced, true, nil
		}
	}
	return 0, false, nil
}

// hole reports whether zeros explain the bytes from a record to the next that is valid.
func (w *window) hole(from, to int64) (bool, error) {
	if to-from > 1<<30 {
		return false, nil
	}
	b, err := w.at(from, int(to-from))
	if err != nil {
		return false, err
	}
	if n := len(b); n >= minZeros && allZero(b[n-minZeros:]) {
		return true, nil
	}
	for at := (from+sector-1)/sector*sector - from; at+sector <= int64(len(b)); at += sector {
		if allZero(b[at : at+sector]) {
			return true, nil
		}
	}
	return false, nil
}

// findFrame looks for a valid record between pos and end, at any byte; -1 when there is none.
func (w *window) findFrame(pos, end int64) (int64, error) {
	for pos+frameHead+txnHeader < end {
		b, err := w.at(pos, windowSize)
		if err != nil {
			return 0, err
		}
		b = bytes.Clone(b) // what follows moves the window
		for i := 0; i+frameHead <= len(b); i++ {
			at := pos + int64(i)
			n := plausible(b[i:], end-at)
			if n == 0 || w.byteAt(at+frameHead+n) != endMark {
				continue
			}
			data, err := w.frame(at)
			if bad := (*damage)(nil); err != nil && !errors.As(err, &bad) {
				return 0, err
			}
			if data != nil {
				return at, nil
			}
		}
		pos += int64(max(1, len(b)-frameHead+1))
	}
	return -1, nil
}

// plausible is a quick look at a record's header: the length of its transaction, or 0.
func plausible(b []byte, left int64) int64 {
	n := int64(int32(binary.BigEndian.Uint32(b[8:])))
	if b[0]|b[1]|b[2]|b[3] != 0 || n < txnHeader || frameHead+n+frameEnd > left {
		return 0
	}
	return n
}

// byteAt reads one byte without moving the window; 0 where there is none.
func (w *window) byteAt(pos int64) byte {
	if pos >= w.base && pos < w.base+int64(len(w.buf)) {
		return w.buf[pos-w.base]
	}
	var one [1]byte
	if n, _ := w.f.ReadAt(one[:], pos); n == 0 {
		return 0
	}
	return one[0]
}

// lastData is where the zeros at the file's end begin.
func (w *window) lastData() (int64, error) {
	for end := w.size; end > 0; {
		from := max(0, end-windowSize)
		b, err := w.at(from, int(end-from))
		if err != nil {
			return 0, err
		}
		if n := len(bytes.TrimRight(b, "\x00")); n > 0 {
			return from + int64(n), nil
		}
		end = from
	}
	return 0, nil
}
