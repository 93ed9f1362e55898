package broker

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The clock jumps an hour back, and forth again, between appends, checkpoints, retention and the expiry of
// producers: every record is taken and kept, once, and times are what the clock said.
func TestClockJumps(t *testing.T) {
	var shift atomic.Int64
	f := start(t, func(c *Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
	})
	f.topic("t", 1, "segment.ms=600000", "retention.ms=7200000", "message.timestamp.type=LogAppendTime")
	p := f.client(kgo.RecordPartitioner(kgo.ManualPartitioner())) // idempotent
	n := 0
	for _, to := range []time.Duration{0, -time.Hour, 0, time.Hour, -time.Hour} {
		shift.Store(int64(to))
		for range 3 {
			r := &kgo.Record{Topic: "t", Value: fmt.Appendf(nil, "%d", n)}
			if err := p.ProduceSync(f.ctx(), r).FirstErr(); err != nil {
				t.Fatalf("at %v: %v", to, err)
			}
			n++
			now := f.Config().Now()
			f.CheckpointNow()
			f.retain(now)
			f.expireProducers(now)
			f.saveHighWatermarks()
		}
	}
	c := f.client(kgo.ConsumeTopics("t"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	for seen := 0; seen < n; {
		fs := c.PollFetches(f.ctx())
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		fs.EachRecord(func(r *kgo.Record) {
			if int(r.Offset) != seen || string(r.Value) != fmt.Sprint(seen) {
				t.Errorf("record %d is %q at %d", seen, r.Value, r.Offset)
			}
			seen++
		})
	}
	if start := f.Partition("t", 0).LogStart(); start != 0 {
		t.Errorf("it starts at %d", start)
	}
}
