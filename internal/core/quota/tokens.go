package quota

import (
	"math"
	"time"
)

// Tokens are buckets of tokens, one a client: limit a second flow in, up to what a whole window brings. A
// client may go on while its bucket isn't overdrawn (KIP-599).
type Tokens struct {
	w   Window
	max int

	buckets map[Who]*bucket
	sweep   time.Time
}

type bucket struct {
	limit float64
	have  float64
	last  time.Time
}

// NewTokens makes Tokens that remember at most clients buckets. Further clients share one.
func NewTokens(w Window, clients int) *Tokens {
	w.Samples = max(w.Samples, 2)
	if w.Each <= 0 {
		w.Each = time.Second
	}
	return &Tokens{w: w, max: max(clients, 1), buckets: map[Who]*bucket{}}
}

// Take takes n tokens of a client. With strict, an overdrawn bucket gives none: ok is false and nothing is
// taken. wait is how long the client has to wait until the bucket isn't overdrawn.
func (t *Tokens) Take(who Who, n, limit float64, strict bool, now time.Time) (wait time.Duration, ok bool) {
	b := t.bucket(who, limit, now)
	if strict && b.have < 0 {
		return b.wait(), false
	}
	b.have = min(b.have-n, t.burst(limit))
	return b.wait(), true
}

func (t *Tokens) burst(limit float64) float64 { return limit * t.w.whole().Seconds() }

func (b *bucket) wait() time.Duration {
	if b.have >= 0 {
		return 0
	}
	ms := math.Ceil(-b.have / b.limit * 1000)
	if !(ms < math.MaxInt32) { // also when limit is zero
		ms = math.MaxInt32
	}
	return time.Duration(ms) * time.Millisecond
}

func (t *Tokens) bucket(who Who, limit float64, now time.Time) *bucket {
	b := t.buckets[who]
	if b == nil {
		if len(t.buckets) >= t.max && now.Sub(t.sweep) >= t.w.Each {
			t.sweep = now
			for k, b := range t.buckets {
				if now.Sub(b.last) >= t.w.whole() && b.have+b.limit*now.Sub(b.last).Seconds() >= t.burst(b.limit) {
					delete(t.buckets, k) // full again: as good as a new one
				}
			}
		}
		if len(t.buckets) >= t.max {
			who = Who{}
			b = t.buckets[who]
		}
	}
	if b == nil {
		b = &bucket{limit: limit, have: t.burst(limit), last: now}
		t.buckets[who] = b
		return b
	}
	if dt := now.Sub(b.last).Seconds(); dt > 0 {
		b.have += limit * dt
		b.last = now
	}
	b.limit = limit
	b.have = min(b.have, t.burst(limit))
	return b
}
