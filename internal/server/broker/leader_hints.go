package broker

import (
	"encoding/binary"
	"slices"

	"github.com/kalda/kalda/internal/wire"
)

// What tells a client that asked the wrong node where to go (KIP-951).

// leaderOf is who leads a partition, by name or, if id isn't zero, by id; -1 if nobody does.
func (b *Broker) leaderOf(topic string, id [16]byte, n int32) (leader, epoch int32) {
	img := b.Image()
	t := img.TopicByID(id)
	if id == [16]byte{} {
		t = img.Topic(topic)
	}
	if t == nil || n < 0 || int(n) >= len(t.Partitions) {
		return -1, -1
	}
	return int32(t.Partitions[n].Leader), t.Partitions[n].LeaderEpoch
}

// appendLeaderTag appends a tagged field with a leader and its epoch.
func appendLeaderTag(b []byte, tag byte, leader, epoch int32) []byte {
	b = append(b, tag, 9)
	b = append32(b, leader)
	b = append32(b, epoch)
	return append(b, 0)
}

// appendEndpoints appends the tagged fields of a response that tells where nodes are.
func (b *Broker) appendEndpoints(dst []byte, r *wire.Request, ids []int32) []byte {
	var body []byte
	n := 0
	for _, k := range b.nodes(b.Image(), r, false) {
		if !slices.Contains(ids, int32(k.id)) {
			continue
		}
		n++
		body = append32(body, int32(k.id))
		body = appendString(body, k.host, true)
		body = append32(body, k.port)
		rack := ""
		if k.rack != nil {
			rack = *k.rack
		}
		body = appendText(body, rack, true)
		body = append(body, 0)
	}
	if n == 0 {
		return append(dst, 0)
	}
	list := append(appendCount(nil, n, true), body...)
	dst = append(dst, 1, 0)
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	return append(dst, list...)
}
