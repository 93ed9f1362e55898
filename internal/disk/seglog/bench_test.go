package seglog

import (
	"fmt"
	"testing"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

func osLog(b testing.TB, cfg Config) (*Dir, *Log) {
	d, err := OpenDir(vfs.OS(), b.TempDir(), quiet)
	if err != nil {
		b.Fatal(err)
	}
	l, err := d.Open(Spec{Topic: "bench", ID: testID, Config: cfg})
	if err != nil {
		b.Fatal(err)
	}
	return d, l
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{100, 16 << 10, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			cfg := DefaultConfig()
			cfg.SegmentBytes = 256 << 20
			cfg.RetentionBytes = 256 << 20
			_, l := osLog(b, cfg)
			raw, _ := batch.Build(nil, batch.NoProducer(0, 0, 1000), []batch.Record{{Value: make([]byte, size)}})
			v := batch.View(raw)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				batch.Stamp(v, l.EndOffset(), 0)
				if err := l.Append(1000, raw); err != nil {
					b.Fatal(err)
				}
				if l.Segments() > 2 {
					_, _ = l.Retain(1000, l.EndOffset())
					_ = l.dir.Sweep(1 << 60)
				}
			}
		})
	}
}

func BenchmarkReadTail(b *testing.B) {
	_, l := osLog(b, DefaultConfig())
	raw, _ := batch.Build(nil, batch.NoProducer(0, 0, 1000), []batch.Record{{Value: make([]byte, 1000)}})
	v := batch.View(raw)
	b.ReportAllocs()
	for b.Loop() {
		o := l.EndOffset()
		batch.Stamp(v, o, 0)
		if err := l.Append(1000, raw); err != nil {
			b.Fatal(err)
		}
		s, err := l.Read(o, o+1, 1<<20, true)
		if err != nil || s.Len() != len(raw) {
			b.Fatal(err, s.Len())
		}
		s.Release()
	}
}

func BenchmarkReadOld(b *testing.B) {
	_, l := osLog(b, DefaultConfig())
	raw, _ := batch.Build(nil, batch.NoProducer(0, 0, 1000), []batch.Record{{Value: make([]byte, 1000)}})
	for range 100_000 {
		batch.Stamp(raw, l.EndOffset(), 0)
		if err := l.Append(1000, raw); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	i := batch.Offset(0)
	for b.Loop() {
		i = (i*7 + 13) % 100_000
		s, err := l.Read(i, l.EndOffset(), 1<<16, true)
		if err != nil || s.Len() == 0 {
			b.Fatal(err, s.Len())
		}
		s.Release()
	}
}

// Opening many partitions after a clean stop, and after a crash.
func BenchmarkOpen(b *testing.B) {
	const n = 2_000
	path := b.TempDir()
	d, err := OpenDir(vfs.OS(), path, quiet)
	if err != nil {
		b.Fatal(err)
	}
	specs := make([]Spec, n)
	for i := range specs {
		specs[i] = Spec{Topic: "bench", Partition: int32(i), ID: testID, Config: DefaultConfig()}
		l, err := d.Open(specs[i])
		if err != nil {
			b.Fatal(err)
		}
		l.mu.Lock()
		l.made = true
		_ = d.fs.MkdirAll(l.Path(), 0o755)
		_ = vfs.WriteNew(d.fs, l.file(filePartition), encodePartition(testID), false)
		_ = l.addSegment(1, 0)
		l.mu.Unlock()
		raw, _ := batch.Build(nil, batch.NoProducer(0, 0, 1000), []batch.Record{{Value: make([]byte, 1000)}})
		if err := l.Append(1, raw); err != nil {
			b.Fatal(err)
		}
		_ = l.active().seal()
		l.active().close()
		l.recovery.Store(1)
	}
	_ = d.saveCheckpoints()
	for _, clean := range []bool{true, false} {
		b.Run(fmt.Sprintf("clean=%v", clean), func(b *testing.B) {
			_ = d.lock.Close()
			for b.Loop() {
				if clean {
					_ = vfs.WriteNew(d.fs, path+"/"+fileClean, encodeClean(1), false)
				}
				if d, err = OpenDir(vfs.OS(), path, quiet); err != nil {
					b.Fatal(err)
				}
				for _, l := range d.OpenAll(specs, 2, nil) {
					if l.EndOffset() != 1 {
						b.Fatal(l)
					}
				}
				_ = d.Abandon()
			}
		})
	}
}

// BenchmarkReadOn is a consumer that goes through the log in pieces, small batches each.
func BenchmarkReadOn(b *testing.B) {
	_, l := osLog(b, DefaultConfig())
	raw, _ := batch.Build(nil, batch.NoProducer(0, 0, 1000), []batch.Record{{Value: make([]byte, 100)}})
	const count = 100_000
	for range count {
		batch.Stamp(batch.View(raw), l.EndOffset(), 0)
		if err := l.Append(1000, raw); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Roll(1000); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	o := batch.Offset(0)
	for b.Loop() {
		s, err := l.Read(o, l.EndOffset(), 64<<10, true)
		if err != nil || s.Len() == 0 {
			b.Fatal(o, s.Len(), err)
		}
		if o += batch.Offset(s.Len() / len(raw)); o >= count {
			o = 0
		}
		s.Release()
	}
}
