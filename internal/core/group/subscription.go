package group

import (
	"encoding/binary"
	"slices"

	"github.com/kalda/kalda/internal/core/meta"
)

// consumerSubscription is what consumers of the classic protocol tell each other through the group's leader,
// and what a group of the consumer protocol has to read to have them as members.
type consumerSubscription struct {
	version int16
	topics  []string // in order
	owned   []topicParts
}

type topicParts struct {
	topic string
	parts []int32
}

// embedded reads a message of the consumer's own protocol: big endian, not flexible.
type embedded struct {
	b   []byte
	bad bool
}

func (e *embedded) take(n int) []byte {
	if n < 0 || n > len(e.b) {
		e.bad, e.b = true, nil
		return nil
	}
	b := e.b[:n]
	e.b = e.b[n:]
	return b
}

func (e *embedded) int16() int16 {
	if b := e.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (e *embedded) int32() int32 {
	if b := e.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// count is of elements with at least min bytes.
func (e *embedded) count(min int) int {
	n := int(e.int32())
	if n < 0 || n*min > len(e.b) {
		e.bad = true
		return 0
	}
	return n
}

func (e *embedded) string() string { return string(e.take(int(e.int16()))) }

func (e *embedded) skipBytes() {
	if n := e.int32(); n > 0 {
		e.take(int(n))
	}
}

func (e *embedded) topicParts() (out []topicParts) {
	for n := e.count(6); n > 0 && !e.bad; n-- {
		t := topicParts{topic: e.string()}
		for m := e.count(4); m > 0; m-- {
			t.parts = append(t.parts, e.int32())
		}
		out = append(out, t)
	}
	return out
}

func parseSubscription(b []byte) (s consumerSubscription, ok bool) {
	e := embedded{b: b}
	s.version = e.int16()
	for n := e.count(2); n > 0 && !e.bad; n-- {
		s.topics = append(s.topics, e.string())
	}
	e.skipBytes() // the assignor's user data
	if s.version >= 1 {
		s.owned = e.topicParts()
	}
	slices.Sort(s.topics)
	s.topics = slices.Compact(s.topics)
	return s, !e.bad && s.version >= 0
}

// parseAssignment reads what a leader assigned; empty is nothing.
func parseAssignment(b []byte) ([]topicParts, bool) {
	if len(b) == 0 {
		return nil, true
	}
	e := embedded{b: b}
	version := e.int16()
	out := e.topicParts()
	return out, !e.bad && version >= 0
}

// encodeAssignment is what a consumer of the classic protocol gets from SyncGroup.
func encodeAssignment(version int16, ts []topicParts) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(min(version, 3)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(ts)))
	for _, t := range ts {
		b = binary.BigEndian.AppendUint16(b, uint16(len(t.topic)))
		b = append(b, t.topic...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(t.parts)))
		for _, n := range t.parts {
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		}
	}
	return binary.BigEndian.AppendUint32(b, 0xffffffff) // no user data
}

// byID finds the topics that exist.
func byID(img *meta.Image, ts []topicParts) (ps parts) {
	for _, t := range ts {
		x := topicOf(img, t.topic)
		if x == nil {
			continue
		}
		for _, n := range t.parts {
			ps = append(ps, part{UUID(x.ID), n})
		}
	}
	slices.SortFunc(ps, compareParts)
	return slices.Compact(ps)
}

// byName is the other way; topics that are no more are left out.
func byName(img *meta.Image, ps parts) (ts []topicParts) {
	var last UUID
	known := false
	for i, p := range ps {
		if i == 0 || p.topic != last {
			last = p.topic
			var name string
			if name, known = topicName(img, p.topic); known {
				ts = append(ts, topicParts{topic: name})
			}
		}
		if known {
			t := &ts[len(ts)-1]
			t.parts = append(t.parts, p.n)
		}
	}
	return ts
}

func topicOf(img *meta.Image, name string) *meta.Topic {
	if img == nil {
		return nil
	}
	return img.Topic(name)
}

func topicName(img *meta.Image, id UUID) (string, bool) {
	if img == nil {
		return "", false
	}
	if t := img.TopicByID(meta.UUID(id)); t != nil {
		return t.Name, true
	}
	return "", false
}
