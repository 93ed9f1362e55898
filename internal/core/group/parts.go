package group

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/kalda/kalda/internal/format/record"
)

// part is a partition by its topic's id.
type part struct {
	topic UUID
	n     int32
}

func compareParts(a, b part) int {
	return cmp.Or(bytes.Compare(a.topic[:], b.topic[:]), cmp.Compare(a.n, b.n))
}

// parts are partitions in order, none twice. They are never changed once they stand in a group.
type parts []part

func (ps parts) has(p part) bool {
	_, ok := slices.BinarySearchFunc(ps, p, compareParts)
	return ok
}

// held is a partition that a member has, and the epoch in which it got it (KIP-1251).
type held struct {
	part
	epoch int32
}

// holding is what a member has, in order.
type holding []held

func (h holding) find(p part) (held, bool) {
	i, ok := slices.BinarySearchFunc(h, p, func(x held, p part) int { return compareParts(x.part, p) })
	if !ok {
		return held{}, false
	}
	return h[i], true
}

// split parts h into what keep wants and the rest.
func (h holding) split(keep func(part) bool) (kept, rest holding) {
	for _, x := range h {
		if keep(x.part) {
			kept = append(kept, x)
		} else {
			rest = append(rest, x)
		}
	}
	return kept, rest
}

func (h holding) parts() parts {
	ps := make(parts, len(h))
	for i := range h {
		ps[i] = h[i].part
	}
	return ps
}

// merge is both together, in order.
func (h holding) merge(other holding) holding {
	out := append(slices.Clone(h), other...)
	slices.SortFunc(out, func(a, b held) int { return compareParts(a.part, b.part) })
	return slices.CompactFunc(out, func(a, b held) bool { return a.part == b.part })
}

// asTopics gathers by topic, for a record.
func (h holding) asTopics() (out []record.TopicPartitions) {
	for _, x := range h {
		if n := len(out); n == 0 || out[n-1].TopicID != record.UUID(x.topic) {
			out = append(out, record.TopicPartitions{TopicID: record.UUID(x.topic)})
		}
		t := &out[len(out)-1]
		t.Partitions, t.Epochs = append(t.Partitions, x.n), append(t.Epochs, x.epoch)
	}
	return out
}

func (ps parts) asTopics() (out []record.TopicPartitions) {
	for _, p := range ps {
		if n := len(out); n == 0 || out[n-1].TopicID != record.UUID(p.topic) {
			out = append(out, record.TopicPartitions{TopicID: record.UUID(p.topic)})
		}
		t := &out[len(out)-1]
		t.Partitions = append(t.Partitions, p.n)
	}
	return out
}

// holdingOf reads a record's topics. Where the record tells no epochs (older nodes wrote none) it's epoch.
func holdingOf(ts []record.TopicPartitions, epoch int32) (h holding) {
	for _, t := range ts {
		for i, n := range t.Partitions {
			x := held{part{UUID(t.TopicID), n}, epoch}
			if i < len(t.Epochs) {
				x.epoch = t.Epochs[i]
			}
			h = append(h, x)
		}
	}
	return h.merge(nil)
}

func partsOf(ts []record.TopicPartitions) parts { return holdingOf(ts, 0).parts() }
