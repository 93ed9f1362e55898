package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The window: a broker remembers the last five batches of an idempotent producer, and that memory is on disk too. Fill
// sends seven batches of three records by hand; check sends the seventh again, which must be answered with its first
// offset and not stored, and then one that skips a sequence number, which must be refused.

const (
	windowBatches = 7
	perBatch      = 3
)

// openWindow writes the batches, and the producer's id as a committed offset's note, where check finds it.
func (d *disk) openWindow() error {
	req := kmsg.NewPtrInitProducerIDRequest()
	resp, err := req.RequestWith(d.ctx, d.cl)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return err
	}
	for i := range windowBatches {
		if base, err := d.send(resp.ProducerID, resp.ProducerEpoch, int32(i*perBatch)); err != nil || base != int64(i*perBatch) {
			return fmt.Errorf("batch %d at %d: %w", i, base, err)
		}
	}
	var o kadm.Offsets
	o.Add(kadm.Offset{
		Topic: d.topic("producer-window"), At: windowBatches * perBatch, LeaderEpoch: -1,
		Metadata: fmt.Sprintf("%d %d", resp.ProducerID, resp.ProducerEpoch),
	})
	return d.adm.CommitAllOffsets(d.ctx, d.topic("window"), o)
}

func (d *disk) window() error {
	o, err := d.adm.FetchOffsets(d.ctx, d.topic("window"))
	if err != nil {
		return err
	}
	c, _ := o.Lookup(d.topic("producer-window"), 0)
	id, epoch, _ := strings.Cut(c.Metadata, " ")
	pid, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return err
	}
	e, err := strconv.ParseInt(epoch, 10, 16)
	if err != nil {
		return err
	}
	last := (windowBatches - 1) * perBatch
	if base, err := d.send(pid, int16(e), int32(last)); err != nil || base != int64(last) {
		return fmt.Errorf("the last batch again: offset %d, %w", base, err)
	}
	if base, err := d.send(pid, int16(e), int32(last+2*perBatch)); !errors.Is(err, kerr.OutOfOrderSequenceNumber) {
		return fmt.Errorf("a batch that skips: offset %d, %w", base, err)
	}
	return nil
}

// send produces one batch of a producer, made by hand.
func (d *disk) send(pid int64, epoch int16, sequence int32) (base int64, err error) {
	topics, err := d.adm.ListTopics(d.ctx, d.topic("producer-window"))
	if err != nil {
		return 0, err
	}
	t := topics[d.topic("producer-window")]
	req := kmsg.NewPtrProduceRequest()
	req.Acks = -1
	req.TimeoutMillis = 10000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic, rt.TopicID = t.Topic, t.ID
	rp := kmsg.NewProduceRequestTopicPartition()
	rp.Records = batch(pid, epoch, sequence)
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := d.cl.Broker(int(t.Partitions[0].Leader)).Request(d.ctx, req)
	if err != nil {
		return 0, err
	}
	p := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	return p.BaseOffset, kerr.ErrorForCode(p.ErrorCode)
}

func batch(pid int64, epoch int16, sequence int32) []byte {
	var records []byte
	for i := range perBatch {
		r := kmsg.Record{OffsetDelta: int32(i), Value: fmt.Appendf(nil, "sequence %d", int(sequence)+i)}
		body := r.AppendTo(nil)[1:] // without the length, which is zero yet: one byte
		r.Length = int32(len(body))
		records = r.AppendTo(records)
	}
	now := time.Now().UnixMilli()
	b := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: 2, LastOffsetDelta: perBatch - 1, FirstTimestamp: now, MaxTimestamp: now,
		ProducerID: pid, ProducerEpoch: epoch, FirstSequence: sequence, NumRecords: perBatch, Records: records,
	}
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}
