package tool

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// sender gives records to a client as Apache's producer takes them: a record that is larger than
// max.request.size is refused, and one that finds buffer.memory full waits at most max.block.ms.
type sender struct {
	client   *kgo.Client
	largest  int64         // max.request.size
	memory   int64         // buffer.memory
	maxBlock time.Duration // max.block.ms
	buffered atomic.Int64
}

// newSender reads its limits from the producer's settings.
func newSender(p props) (*sender, error) {
	largest, err1 := p.number("max.request.size", 1<<20)
	memory, err2 := p.number("buffer.memory", 32<<20)
	block, err3 := p.millis("max.block.ms", time.Minute)
	return &sender{largest: largest, memory: memory, maxBlock: block}, firstOf(err1, err2, err3)
}

// options are the client's, for a sender. The client cuts batches at batch.size, but takes no record that is
// larger: where records of the given size must pass (0: any that max.request.size allows), batches may be as
// large.
func (s *sender) options(p props, size int64) ([]kgo.Opt, error) {
	batch, err := p.number("batch.size", 16384)
	if err != nil {
		return nil, err
	}
	linger, err := p.millis("linger.ms", 5*time.Millisecond)
	if err != nil {
		return nil, err
	}
	if size <= 0 || size > s.largest {
		size = s.largest
	}
	limit := min(max(batch, size, 1024), 1<<30)
	opts := []kgo.Opt{
		kgo.ProducerBatchMaxBytes(int32(limit)),
		kgo.BrokerMaxWriteBytes(int32(max(limit+1<<20, 100<<20))),
		kgo.ProducerLinger(linger),
		kgo.MaxBufferedBytes(int(s.memory)),
		kgo.MaxBufferedRecords(1 << 30),
		kgo.RecordPartitioner(kgo.UniformBytesPartitioner(int(max(batch, 1)), true, true, nil)),
	}
	if _, set := p["delivery.timeout.ms"]; !set {
		opts = append(opts, kgo.RecordDeliveryTimeout(2*time.Minute))
	}
	return opts, nil
}

// send hands a record over; done is called once.
func (s *sender) send(rec *kgo.Record, done func(*kgo.Record, error)) {
	size := sizeOf(rec)
	if bound := recordBound(rec); bound > s.largest {
		done(rec, tooLarge(bound, s.largest))
		return
	}
	finish := func(r *kgo.Record, err error) {
		s.buffered.Add(-size)
		done(r, err)
	}
	if s.buffered.Add(size) <= s.memory {
		s.client.Produce(context.Background(), rec, finish)
		return
	}
	// The client may block: its context bounds that, and must live on when it doesn't.
	ctx, cancel := context.WithCancelCause(context.Background())
	timer := time.AfterFunc(s.maxBlock, func() { cancel(errBlocked) })
	s.client.Produce(ctx, rec, func(r *kgo.Record, err error) {
		if errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errBlocked) {
			err = fmt.Errorf("org.apache.kafka.clients.producer.BufferExhaustedException: Failed to allocate %d "+
				"bytes within the configured max blocking time %d ms.", size, s.maxBlock.Milliseconds())
		}
		cancel(nil)
		finish(r, err)
	})
	timer.Stop()
}

var errBlocked = errors.New("blocked for max.block.ms")

// sizeOf is what the client counts against its memory.
func sizeOf(r *kgo.Record) int64 {
	n := len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return int64(n)
}

// recordBound is the most that a record takes as the only one of a batch, as Apache's producer reckons it:
// the batch's head, the longest head of a record, and its fields with their lengths.
func recordBound(r *kgo.Record) int64 {
	const batchHead, recordHead = 61, 21
	n := int64(batchHead + recordHead)
	field := func(b []byte, null bool) {
		if null {
			n++
			return
		}
		n += varintSize(len(b)) + int64(len(b))
	}
	field(r.Key, r.Key == nil)
	field(r.Value, r.Value == nil)
	n += varintSize(len(r.Headers))
	for i := range r.Headers {
		n += varintSize(len(r.Headers[i].Key)) + int64(len(r.Headers[i].Key))
		field(r.Headers[i].Value, r.Headers[i].Value == nil)
	}
	return n
}

// varintSize is the length of a zigzag varint.
func varintSize(v int) int64 {
	n := int64(1)
	for u := uint64(v) << 1; u >= 0x80; u >>= 7 {
		n++
	}
	return n
}

func tooLarge(size, limit int64) error {
	return fmt.Errorf("org.apache.kafka.common.errors.RecordTooLargeException: The message is %d bytes when "+
		"serialized which is larger than %d, which is the value of the max.request.size configuration.", size,
		limit)
}
