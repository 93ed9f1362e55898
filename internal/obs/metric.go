package obs

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Counter only grows. The zero value is ready; it must not be copied after use.
type Counter struct{ n atomic.Int64 }

// Inc adds one.
func (c *Counter) Inc() { c.n.Add(1) }

// Add adds n, which must not be negative.
func (c *Counter) Add(n int64) { c.n.Add(n) }

// Load returns the count.
func (c *Counter) Load() int64 { return c.n.Load() }

// Gauge goes up and down. The zero value is ready; it must not be copied after use.
type Gauge struct{ n atomic.Int64 }

// Set replaces the value.
func (g *Gauge) Set(n int64) { g.n.Store(n) }

// Add adds n, which may be negative.
func (g *Gauge) Add(n int64) { g.n.Add(n) }

// Load returns the value.
func (g *Gauge) Load() int64 { return g.n.Load() }

// buckets is how many powers of two a Histogram tells apart: 2^0 .. 2^(buckets-1).
const buckets = 36

// Histogram counts observations by the power of two they fall under. The zero value is ready; it must not
// be copied after use. Durations are kept in microseconds, so the buckets span 1 us to about 9.5 h.
type Histogram struct {
	sum    atomic.Int64
	counts [buckets + 1]atomic.Int64
}

// Observe records a plain value; negative ones count as zero.
func (h *Histogram) Observe(v int64) { h.ObserveN(v, 1) }

// ObserveN records a value n times.
func (h *Histogram) ObserveN(v, n int64) {
	if v < 0 {
		v = 0
	}
	h.sum.Add(v * n)
	i := 0
	if v > 1 {
		i = bits.Len64(uint64(v - 1)) // smallest i with v <= 2^i
	}
	h.counts[min(i, buckets)].Add(n)
}

// ObserveDuration records how long something took.
func (h *Histogram) ObserveDuration(d time.Duration) { h.Observe(int64(d / time.Microsecond)) }

// Count returns how many observations were made.
func (h *Histogram) Count() int64 {
	var n int64
	for i := range h.counts {
		n += h.counts[i].Load()
	}
	return n
}

// Sum returns the sum of all observations.
func (h *Histogram) Sum() int64 { return h.sum.Load() }

// Quantile returns an upper bound of the q-quantile (0..1), exact to a factor of two; 0 when nothing was
// observed.
func (h *Histogram) Quantile(q float64) int64 {
	want := int64(q * float64(h.Count()))
	var seen int64
	for i := range h.counts {
		if seen += h.counts[i].Load(); seen > want || (seen == want && seen > 0 && q >= 1) {
			return 1 << i
		}
	}
	return 0
}
