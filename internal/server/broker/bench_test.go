package broker

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// BenchmarkProduce and BenchmarkFetch go over a loopback connection with five requests outstanding.
func BenchmarkProduce(b *testing.B) {
	for _, k := range []struct {
		name string
		n    int
	}{{"1 record", 1}, {"64 KiB", 4000}} {
		b.Run(k.name, func(b *testing.B) {
			f := start(b)
			f.topic("t", 1, "retention.bytes=100000000", "segment.bytes=100000000")
			batch := records(k.n)
			pipeline(b, f, produceTo("t", 0, -1, batch), 9, len(batch))
		})
	}
}

func BenchmarkFetch(b *testing.B) {
	f := start(b)
	f.topic("t", 1)
	c := f.raw()
	for range 20 {
		c.produce("t", records(4000), 9)
	}
	for name, max := range map[string]int32{"64 KiB": 64 << 10, "1 MiB": 1 << 20, "16 KiB": 16 << 10} {
		b.Run(name, func(b *testing.B) {
			req := fetchFrom("t", 0, 0)
			req.Topics[0].Partitions[0].PartitionMaxBytes = max
			pipeline(b, f, req, 12, int(max))
		})
	}
}

func pipeline(b *testing.B, f *fixture, req kmsg.Request, version int16, bytes int) {
	r := f.raw().replay(req, version)
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	window := make(chan struct{}, 5)
	done := make(chan struct{})
	b.ResetTimer()
	go func() {
		defer close(done)
		for range b.N {
			r.read()
			<-window
		}
	}()
	for range b.N {
		window <- struct{}{}
		if _, err := r.Write(r.req); err != nil {
			b.Fatal(err)
		}
	}
	<-done
}
