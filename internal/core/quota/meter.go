package quota

import (
	"math"
	"time"
)

// Window is how use is measured: Samples of Each, the newest of them running.
type Window struct {
	Samples int           // quota.window.num; at least 2
	Each    time.Duration // quota.window.size.seconds
}

func (w Window) whole() time.Duration { return time.Duration(w.Samples) * w.Each }

// account is what one client used.
type account struct {
	start []time.Time // of each sample
	sum   []float64
	at    int // the running one
	last  time.Time
}

func newAccount(w Window, now time.Time) *account {
	a := &account{start: make([]time.Time, w.Samples), sum: make([]float64, w.Samples)}
	for i := range a.start {
		a.start[i] = now
	}
	return a
}

// add records use at a time. Samples that are due are begun first.
func (a *account) add(w Window, now time.Time, n float64) {
	if now.Sub(a.start[a.at]) >= w.Each {
		a.at = (a.at + 1) % len(a.sum)
		a.start[a.at], a.sum[a.at] = now, 0
	}
	a.sum[a.at] += n
	if now.After(a.last) {
		a.last = now
	}
}

// rate is the use a second and the time it is measured over.
func (a *account) rate(w Window, now time.Time) (float64, time.Duration) {
	oldest, total := now, 0.0
	for i := range a.sum {
		if now.Sub(a.start[i]) >= w.whole() {
			a.start[i], a.sum[i] = now, 0
		}
		total += a.sum[i]
		if a.start[i].Before(oldest) {
			oldest = a.start[i]
		}
	}
	// At least all samples but one: who begins gets no less than who has been there for long.
	elapsed := now.Sub(oldest)
	if missing := w.Samples - 1 - int(elapsed/w.Each); missing > 0 {
		elapsed += time.Duration(missing) * w.Each
	}
	return total / elapsed.Seconds(), elapsed
}

// Meter adds up the use of one Kind. The zero value isn't ready: see NewMeter.
type Meter struct {
	w    Window
	most time.Duration
	max  int

	accounts map[Who]*account
	sweep    time.Time // when idle accounts were last looked for
}

// NewMeter makes a Meter that remembers at most clients accounts. Delays are at most most; zero: without an
// end, as quotas on bytes are. Clients that aren't remembered any more because there are too many share one
// account.
func NewMeter(w Window, most time.Duration, clients int) *Meter {
	w.Samples = max(w.Samples, 2)
	if w.Each <= 0 {
		w.Each = time.Second
	}
	return &Meter{w: w, most: most, max: max(clients, 1), accounts: map[Who]*account{}}
}

// Window is what the meter measures in.
func (m *Meter) Window() Window { return m.w }

// Record adds n to an account and returns how long its client has to wait to come down to limit.
func (m *Meter) Record(who Who, n, limit float64, now time.Time) time.Duration {
	a := m.account(who, now)
	a.add(m.w, now, n)
	rate, over := a.rate(m.w, now)
	if rate <= limit {
		return 0
	}
	delay := time.Duration(math.MaxInt32) * time.Millisecond // what throttle_time_ms can say
	if ms := math.Round((rate - limit) / limit * float64(over.Milliseconds())); limit > 0 && ms < math.MaxInt32 {
		delay = time.Duration(ms) * time.Millisecond
	}
	if m.most > 0 {
		delay = min(delay, m.most)
	}
	return delay
}

// Take takes n back that Record added: what was measured is not sent after all.
func (m *Meter) Take(who Who, n float64, now time.Time) {
	a := m.account(who, now)
	a.add(m.w, now, -n)
}

// Len is how many accounts are remembered.
func (m *Meter) Len() int {
	return len(m.accounts)
}

// account finds or opens an account. One that was idle for a window is as good as none, so it is forgotten
// when room is needed.
func (m *Meter) account(who Who, now time.Time) *account {
	if a := m.accounts[who]; a != nil {
		return a
	}
	if len(m.accounts) >= m.max && now.Sub(m.sweep) >= m.w.Each {
		m.sweep = now
		for k, a := range m.accounts {
			if now.Sub(a.last) >= m.w.whole() {
				delete(m.accounts, k)
			}
		}
	}
	if len(m.accounts) >= m.max {
		who = Who{}
		if a := m.accounts[who]; a != nil {
			return a
		}
	}
	a := newAccount(m.w, now)
	m.accounts[who] = a
	return a
}
