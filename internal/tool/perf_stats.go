package tool

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// latencies counts sends by their whole milliseconds, which makes percentiles exact at a few bytes a
// millisecond; what takes longer than ten minutes counts as ten minutes.
type latencies struct {
	counts []int64
	n, sum int64
	max    int64
}

const longestLatency = 10 * 60 * 1000

func (l *latencies) add(ms int64) {
	at := min(max(ms, 0), longestLatency)
	if at >= int64(len(l.counts)) {
		l.counts = append(l.counts, make([]int64, max(at+1, int64(2*len(l.counts)), 128)-int64(len(l.counts)))...)
	}
	l.counts[at]++
	l.n++
	l.sum += ms
	l.max = max(l.max, ms)
}

// percentile is the latency at that share of the sorted list.
func (l *latencies) percentile(share float64) int64 {
	rank := int64(share * float64(l.n))
	rank = min(rank, l.n-1)
	for ms, count := range l.counts {
		if rank -= count; rank < 0 {
			return int64(ms)
		}
	}
	return 0
}

func (l *latencies) mean() float64 { return float64(l.sum) / float64(l.n) }

// span is a stretch of a test: all of it, its steady part, or one reporting window.
type span struct {
	latencies
	bytes int64
	start time.Time
}

func (s *span) add(ms, bytes int64) {
	s.latencies.add(ms)
	s.bytes += bytes
}

// rates are records and MB a second.
func (s *span) rates(now time.Time) (records, mb float64) {
	seconds := float64(max(now.Sub(s.start).Milliseconds(), 1)) / 1000
	return float64(s.n) / seconds, float64(s.bytes) / seconds / (1 << 20)
}

// produceStats gathers what producer-perf-test reports. Callbacks of the client add to it.
type produceStats struct {
	mu       sync.Mutex
	out      io.Writer
	interval time.Duration
	warmup   int64 // records that the steady part leaves out
	total    span
	steady   span
	window   span
	began    bool // the steady part has
}

func newProduceStats(out io.Writer, interval time.Duration, warmup int64) *produceStats {
	now := time.Now()
	s := &produceStats{out: out, interval: interval, warmup: warmup}
	s.total.start, s.window.start = now, now
	return s
}

// add counts one record that was acknowledged.
func (s *produceStats) add(ms, bytes int64, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total.add(ms, bytes)
	s.window.add(ms, bytes)
	if s.warmup > 0 && s.total.n > s.warmup {
		if !s.began {
			s.began, s.steady.start = true, now
		}
		s.steady.add(ms, bytes)
	}
	if now.Sub(s.window.start) >= s.interval {
		s.printWindow(now)
	}
}

func (s *produceStats) printWindow(now time.Time) {
	if s.began && s.steady.n == s.window.n {
		fmt.Fprintln(s.out, "In steady state.")
	}
	records, mb := s.window.rates(now)
	fmt.Fprintf(s.out, "%d records sent, %.1f records/sec (%.2f MB/sec), %.1f ms avg latency, %.1f ms max "+
		"latency.\n", s.window.n, records, mb, s.window.mean(), float64(s.window.max))
	counts := s.window.counts
	clear(counts)
	s.window = span{start: now, latencies: latencies{counts: counts}}
}

// printTotal prints a summary line: of everything, or of the steady part.
func (s *produceStats) printTotal(steady bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, what := &s.total, ""
	if steady {
		t, what = &s.steady, "steady state "
	}
	records, mb := t.rates(time.Now())
	avg := "NaN"
	if t.n > 0 {
		avg = fmt.Sprintf("%.2f", t.mean())
	}
	fmt.Fprintf(s.out, "%d %srecords sent, %f records/sec (%.2f MB/sec), %s ms avg latency, %.2f ms max "+
		"latency, "+
		"%d ms 50th, %d ms 95th, %d ms 99th, %d ms 99.9th.\n", t.n, what, records, mb, avg, float64(t.max),
		t.percentile(0.5), t.percentile(0.95), t.percentile(0.99), t.percentile(0.999))
}
