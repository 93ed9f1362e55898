// Command compaction fills topics that are to be compacted with everything that a cleaner has to tell apart: versions of
// keys, tombstones, records with times of their own, every codec, idempotent producers, and transactions that were
// committed and aborted, side by side and across segments.
//
// BOOTSTRAP is the broker. It prints the topics, one a line.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "compaction:", err)
		os.Exit(1)
	}
}

// topic is one to fill.
type topic struct {
	name    string
	configs map[string]string
	opts    []kgo.Opt
	txns    bool
}

func topics() []topic {
	plain := func(c kgo.CompressionCodec) []kgo.Opt {
		return []kgo.Opt{kgo.ProducerBatchCompression(c), kgo.DisableIdempotentWrite()}
	}
	return []topic{
		{name: "none", opts: plain(kgo.NoCompression())},
		{name: "gzip", opts: plain(kgo.GzipCompression())},
		{name: "snappy", opts: plain(kgo.SnappyCompression())},
		{name: "lz4", opts: plain(kgo.Lz4Compression())},
		{name: "zstd", opts: plain(kgo.ZstdCompression())},
		{name: "idempotent", opts: []kgo.Opt{kgo.ProducerBatchCompression(kgo.NoCompression())}},
		{name: "append-time", configs: map[string]string{"message.timestamp.type": "LogAppendTime"}, opts: plain(kgo.NoCompression())},
		{name: "transactions", txns: true},
		{name: "both", configs: map[string]string{"cleanup.policy": "compact,delete"}, txns: true},
	}
}

func run(ctx context.Context) error {
	seeds := kgo.SeedBrokers(os.Getenv("BOOTSTRAP"))
	cl, err := kgo.NewClient(seeds)
	if err != nil {
		return err
	}
	defer cl.Close()
	for i, t := range topics() {
		configs := map[string]*string{}
		for k, v := range map[string]string{
			"cleanup.policy": "compact", "segment.bytes": "1048576", "min.cleanable.dirty.ratio": "0.01",
		} {
			configs[k] = &v
		}
		for k, v := range t.configs {
			configs[k] = &v
		}
		if _, err := kadm.NewClient(cl).CreateTopic(ctx, 1, 1, configs, t.name); err != nil {
			return err
		}
		f := filler{ctx: ctx, topic: t.name, chance: rand.New(rand.NewPCG(1, uint64(i))), seeds: seeds}
		if t.txns {
			err = f.transactions()
		} else {
			err = f.records(t.opts, 9000)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		fmt.Println(t.name)
	}
	return nil
}

type filler struct {
	ctx    context.Context
	topic  string
	chance *rand.Rand
	seeds  kgo.Opt
}

func (f *filler) record() *kgo.Record {
	r := &kgo.Record{Topic: f.topic, Partition: 0}
	// A few keys that change often, many that seldom do.
	n := f.chance.IntN(50)
	if f.chance.IntN(3) == 0 {
		n = f.chance.IntN(5000)
	}
	r.Key = fmt.Appendf(nil, "key-%d", n)
	if f.chance.IntN(9) > 0 {
		r.Value = []byte(strings.Repeat(string(rune('a'+f.chance.IntN(26))), f.chance.IntN(700)))
	}
	r.Timestamp = time.Now().Add(-time.Duration(f.chance.IntN(3_000_000)) * time.Millisecond)
	if f.chance.IntN(5) == 0 {
		r.Headers = []kgo.RecordHeader{{Key: "h", Value: []byte("1")}, {Key: "h"}}
	}
	return r
}

func (f *filler) client(opts ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append(opts, f.seeds, kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
}

// records writes n records in batches of many sizes.
func (f *filler) records(opts []kgo.Opt, n int) error {
	cl, err := f.client(opts...)
	if err != nil {
		return err
	}
	defer cl.Close()
	for n > 0 {
		var rs []*kgo.Record
		for range min(1+f.chance.IntN(200), n) {
			rs = append(rs, f.record())
		}
		n -= len(rs)
		if err := cl.ProduceSync(f.ctx, rs...).FirstErr(); err != nil {
			return err
		}
	}
	return nil
}

// transactions lets three producers write in turns. Some transactions are short, some span segments; a third is aborted.
func (f *filler) transactions() error {
	var cls []*kgo.Client
	for i := range 3 {
		cl, err := f.client(kgo.TransactionalID(fmt.Sprintf("%s-%d", f.topic, i)),
			kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.TransactionTimeout(2*time.Minute))
		if err != nil {
			return err
		}
		defer cl.Close()
		cls = append(cls, cl)
	}
	open := make([]bool, len(cls))
	end := func(i int) error {
		open[i] = false
		return cls[i].EndTransaction(f.ctx, kgo.TransactionEndTry(f.chance.IntN(3) > 0))
	}
	for range 250 {
		i := f.chance.IntN(len(cls))
		if !open[i] {
			if err := cls[i].BeginTransaction(); err != nil {
				return err
			}
			open[i] = true
		}
		var rs []*kgo.Record
		for range 1 + f.chance.IntN(60) {
			rs = append(rs, f.record())
		}
		if err := cls[i].ProduceSync(f.ctx, rs...).FirstErr(); err != nil {
			return err
		}
		if f.chance.IntN(4) == 0 {
			if err := end(i); err != nil {
				return err
			}
		}
	}
	var fault error
	for i := range cls {
		if open[i] {
			fault = errors.Join(fault, end(i))
		}
	}
	return errors.Join(fault, f.records([]kgo.Opt{kgo.DisableIdempotentWrite()}, 3000)) // past the active segment
}
