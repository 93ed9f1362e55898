package broker

import (
	"fmt"
	"maps"
	"os"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
)

// keyed is a batch with these keys and values; a value of "-" is a tombstone.
func keyed(t testing.TB, m batch.Meta, pairs ...string) batch.View {
	t.Helper()
	var recs []batch.Record
	for i := 0; i < len(pairs); i += 2 {
		r := batch.Record{OffsetDelta: int32(i / 2), Key: []byte(pairs[i])}
		if pairs[i+1] != "-" {
			r.Value = []byte(pairs[i+1])
		}
		recs = append(recs, r)
	}
	b, err := batch.Build(nil, m, recs)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (p *Partition) mustAppend(t testing.TB, v batch.View) batch.Offset {
	t.Helper()
	a := p.AppendClient(v, source{all: true, now: time.Now().UnixMilli(), guard: replica.Trusted})
	if a.code != 0 {
		t.Fatalf("append: %v %s", a.code, a.message)
	}
	return a.base
}

// fold is what a reader of the whole log knows: each key's newest value.
func (p *Partition) fold(t testing.TB) (values map[string]string, records int) {
	t.Helper()
	values = map[string]string{}
	err := p.log.Visit(p.log.StartOffset(), func(v batch.View) error {
		if v.Control() {
			return nil
		}
		r, err := v.Records(nil)
		if err != nil {
			return err
		}
		defer r.Close()
		for rec := (batch.Record{}); r.Next(&rec); records++ {
			if values[string(rec.Key)] = string(rec.Value); rec.Value == nil {
				delete(values, string(rec.Key))
			}
		}
		return r.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return values, records
}

// small makes a topic with segments as small as tests want them, which no configuration allows.
func (f *fixture) small(topic string, segmentBytes int64, configs ...string) {
	f.topic(topic, 1, configs...)
	p := f.Partition(topic, 0)
	r := p.rules.Load()
	r.log.SegmentBytes, r.compact.SegmentBytes = segmentBytes, segmentBytes
	p.log.SetConfig(r.log)
}

func (f *fixture) clean() bool {
	s := f.cleaner.settings()
	return f.cleaner.cleanOne(&s)
}

func TestCompaction(t *testing.T) {
	for _, codec := range []batch.Codec{batch.None, batch.Gzip, batch.Snappy, batch.LZ4, batch.Zstd} {
		t.Run(fmt.Sprint(codec), func(t *testing.T) {
			f := start(t)
			f.small("c", 4000, "cleanup.policy=compact", "min.cleanable.dirty.ratio=0.3")
			f.small("d", 4000)
			p := f.Partition("c", 0)
			for i := range 400 {
				m := batch.NoProducer(0, 0, time.Now().UnixMilli())
				m.Codec = codec
				k := func(n int) string { return fmt.Sprintf("key %d", n%17) }
				p.mustAppend(t, keyed(t, m, k(i), fmt.Sprint("value ", i), k(i*i), fmt.Sprint("square ", i)))
			}
			for range 100 {
				f.Partition("d", 0).mustAppend(t, keyed(t, batch.NoProducer(0, 0, 1), "k", "v"))
			}
			want, before := p.fold(t)
			if !f.clean() {
				t.Fatalf("nothing was cleaned\n%s", f.logs)
			}
			got, after := p.fold(t)
			if !maps.Equal(got, want) || after > before/4 {
				t.Errorf("%d records became %d: %v; want %v", before, after, got, want)
			}
			if f.clean() {
				t.Error("what is clean was cleaned again, or a topic that isn't compacted")
			}
			end := p.LEO()
			f.crash()
			f.run()
			p = f.Partition("c", 0)
			if got, _ := p.fold(t); !maps.Equal(got, want) || p.LEO() != end {
				t.Errorf("after a crash %v up to %d; want %v up to %d", got, p.LEO(), want, end)
			}
		})
	}
}

// A tombstone stays until delete.retention.ms after the cleaning that met it first.
func TestTombstonesGoAfterTheirHorizon(t *testing.T) {
	now := time.Now()
	f := start(t, func(c *Config) { c.Now = func() time.Time { return now } })
	f.small("c", 1000, "cleanup.policy=compact", "min.cleanable.dirty.ratio=0",
		"delete.retention.ms=60000")
	p := f.Partition("c", 0)
	add := func(n int) {
		for i := range n {
			p.mustAppend(t, keyed(t, batch.NoProducer(0, 0, now.UnixMilli()), fmt.Sprint("filler ", i%3), "value"))
		}
	}
	tombstones := func() (n int) {
		_ = p.log.Visit(0, func(v batch.View) error {
			r, err := v.Records(nil)
			for rec := (batch.Record{}); err == nil && r.Next(&rec); {
				if rec.Value == nil {
					n++
				}
			}
			r.Close()
			return err
		})
		return n
	}
	p.mustAppend(t, keyed(t, batch.NoProducer(0, 0, now.UnixMilli()), "gone", "value", "here", "value"))
	p.mustAppend(t, keyed(t, batch.NoProducer(0, 0, now.UnixMilli()), "gone", "-", "other", "value"))
	add(50)
	if !f.clean() || tombstones() != 1 {
		t.Fatalf("%d tombstones after the first cleaning", tombstones())
	}
	now = now.Add(59 * time.Second)
	add(50)
	if !f.clean() || tombstones() != 1 {
		t.Fatalf("%d tombstones before the horizon", tombstones())
	}
	now = now.Add(2 * time.Second)
	add(50)
	if !f.clean() || tombstones() != 0 {
		t.Fatalf("%d tombstones after the horizon", tombstones())
	}
	if got, _ := p.fold(t); got["here"] != "value" || got["other"] != "value" || got["gone"] != "" {
		t.Error(got)
	}
}

// What is younger than the minimum lag isn't touched; what is older than the maximum is, however clean the
// log.
func TestCompactionLags(t *testing.T) {
	now := time.Now()
	f := start(t, func(c *Config) { c.Now = func() time.Time { return now } })
	f.small("min", 1000, "cleanup.policy=compact", "min.compaction.lag.ms=60000")
	f.small("max", 1000, "cleanup.policy=compact", "min.cleanable.dirty.ratio=1",
		"max.compaction.lag.ms=600000")
	fill := func(topic string) {
		for i := range 50 {
			m := batch.NoProducer(0, 0, now.UnixMilli())
			f.Partition(topic, 0).mustAppend(t, keyed(t, m, fmt.Sprint("k", i%3), "v"))
		}
	}
	fill("min")
	fill("max")
	if f.clean() {
		t.Fatal("cleaned too early")
	}
	now = now.Add(61 * time.Second)
	if !f.clean() || f.clean() {
		t.Fatal("what is old enough wasn't cleaned, or something else was")
	}
	now = now.Add(10 * time.Minute)
	if !f.clean() || f.clean() {
		t.Fatal("what is too old wasn't cleaned, or something else was")
	}
	if _, n := f.Partition("max", 0).fold(t); n > 30 {
		t.Errorf("%d records are left", n)
	}
}

// A log that is damaged isn't compacted, and says so.
func TestUncleanable(t *testing.T) {
	f := start(t)
	f.small("c", 1000, "cleanup.policy=compact")
	p := f.Partition("c", 0)
	for i := range 50 {
		p.mustAppend(t, keyed(t, batch.NoProducer(0, 0, 1), fmt.Sprint("k", i%3), "v"))
	}
	file := p.log.Path() + "/00000000000000000000.log"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[200] ^= 1
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if f.clean() {
			t.Error("cleaned")
		}
	}
	if n := f.Uncleanable()[f.dirs[0]]; n[0] != 1 || n[1] == 0 {
		t.Errorf("uncleanable: %v", f.Uncleanable())
	}
	f.apply(&record.RemoveTopic{TopicID: topicID("c")})
	if n := f.Uncleanable()[f.dirs[0]]; n[0] != 0 {
		t.Errorf("uncleanable after the topic's end: %v", f.Uncleanable())
	}
}

func TestPace(t *testing.T) {
	var p pace
	now := time.Now()
	if rest := p.take(1<<30, 1.7976931348623157e308, now); rest != 0 {
		t.Errorf("no limit: rest %v", rest)
	}
	var rest time.Duration
	for range 10 { // ten times a tenth of what a second may have: it is over after about a second
		rest = p.take(100, 1000, now)
		now = now.Add(max(rest, 0))
	}
	if end := now.Sub(p.start); end < 900*time.Millisecond || end > 1100*time.Millisecond {
		t.Errorf("1000 bytes at 1000 a second took %v", end)
	}
}
