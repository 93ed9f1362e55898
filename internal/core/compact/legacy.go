package compact

import (
	"encoding/binary"

	"github.com/kalda/kalda/internal/format/batch"
)

// Messages of magic 0 and 1, which logs have that are older than Kafka 0.11: each is an entry of its own
// with a key and a value, or a wrapper whose value is a compressed set of messages. A wrapper is kept
// whole as long as any message in it is to be kept, or if it can't be read.

const (
	posMagic       = 16
	posAttributes  = 17
	legacyOverhead = batch.LogOverhead + 6 // offset, size, checksum, magic, attributes
)

func magic(b []byte) int8 { return int8(b[posMagic]) }

// message is one message of magic 0 or 1.
type message struct {
	offset     batch.Offset
	codec      batch.Codec
	key, value []byte // nil is null
}

// parseMessage reads the message at the start of b. Not ok: there is none.
func parseMessage(b []byte) (m message, rest []byte, ok bool) {
	if len(b) < legacyOverhead {
		return m, nil, false
	}
	be := binary.BigEndian
	end := int64(int32(be.Uint32(b[8:]))) + batch.LogOverhead
	if end < legacyOverhead || end > int64(len(b)) {
		return m, nil, false
	}
	m.offset, m.codec = batch.Offset(be.Uint64(b)), batch.Codec(b[posAttributes]&7)
	at := legacyOverhead
	switch magic(b) {
	case 0:
	case 1:
		at += 8 // timestamp
	default:
		return m, nil, false
	}
	body := b[:end]
	if m.key, at, ok = legacyField(body, at); !ok {
		return m, nil, false
	}
	m.value, at, ok = legacyField(body, at)
	return m, b[end:], ok && at == len(body)
}

func legacyField(b []byte, at int) (v []byte, next int, ok bool) {
	if len(b) < at+4 {
		return nil, at, false
	}
	n := int64(int32(binary.BigEndian.Uint32(b[at:])))
	at += 4
	switch {
	case n == -1:
		return nil, at, true
	case n < 0 || n > int64(len(b)-at):
		return nil, at, false
	}
	end := at + int(n)
	return b[at:end:end], end, true
}

// messages are those that an entry of the log holds, with their offsets. Not ok: it can't be read.
func messages(b []byte, d *batch.Decompressor) (list []message, ok bool) {
	outer, _, ok := parseMessage(b)
	if !ok || outer.codec == batch.None {
		return []message{outer}, ok
	}
	raw, err := d.Decompress(nil, outer.codec, outer.value)
	for err == nil && len(raw) > 0 {
		var m message
		if m, raw, ok = parseMessage(raw); !ok {
			return nil, false
		}
		list = append(list, m)
	}
	if err != nil || len(list) == 0 {
		return nil, false
	}
	if magic(b) == 1 { // they count from the first one, and the wrapper has the offset of the last
		first := outer.offset - list[len(list)-1].offset
		for i := range list {
			list[i].offset += first
		}
	}
	return list, true
}

func (m *Mapper) addLegacy(b []byte) (full bool, err error) {
	list, ok := messages(b, m.Codec)
	if !ok {
		list = nil
	}
	for i := range list {
		if e := &list[i]; e.key != nil && e.offset >= m.From && !m.Keys.Put(e.key, e.offset) {
			return true, nil
		}
	}
	if o := batch.Offset(binary.BigEndian.Uint64(b)); o >= m.From {
		m.Keys.Cover(o)
	}
	return false, nil
}

func (f *Filter) appendLegacy(dst, b []byte) ([]byte, error) {
	list, ok := messages(b, f.Codec)
	keep := !ok
	for i := range list {
		keep = keep || f.keepsLegacy(&list[i])
	}
	f.Stats.RecordsRead += int64(len(list))
	// There are no empty entries of these magics: to keep the offset of the last one, it must stay.
	if keep || batch.Offset(binary.BigEndian.Uint64(b))+1 == f.End {
		f.Stats.RecordsKept += int64(len(list))
		dst = append(dst, b...)
	}
	return dst, nil
}

func (f *Filter) keepsLegacy(m *message) bool {
	switch {
	case m.offset > f.Keys.Latest():
		return true
	case m.key == nil:
		f.Stats.Keyless++
		return false
	}
	return m.offset >= f.Keys.Get(m.key) && (m.value != nil || f.KeepLegacyDeletes)
}
