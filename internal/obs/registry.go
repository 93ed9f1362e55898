package obs

import (
	"io"
	"net/http"
	"slices"
	"sync"
)

// Kind is how a metric behaves.
type Kind int8

// The kinds of metrics.
const (
	KindCounter Kind = iota
	KindGauge
	KindHistogram // plain values
	KindTimer     // a histogram of durations, rendered in milliseconds as Apache's *TimeMs are
)

// Desc names a metric. Labels are the label names, in the order in which values are given.
type Desc struct {
	Name   string
	Help   string
	Kind   Kind
	Labels []string
}

// Sample is one value given by a scrape function. Exactly one of Value and Hist is used, by the kind of Desc.
type Sample struct {
	Desc   *Desc
	Values []string // of Desc.Labels
	Value  float64
	Hist   *Histogram
}

// Registry knows the metrics of a process. The zero value is ready.
type Registry struct {
	mu      sync.Mutex
	scrapes []func(emit func(Sample))

	once    sync.Once
	handler http.Handler
	gather  func(io.Writer) error
}

// OnScrape adds a function that emits samples; it runs on every scrape, never before.
func (r *Registry) OnScrape(fn func(emit func(Sample))) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scrapes = append(r.scrapes, fn)
}

// Counter shows c under d with these label values.
func (r *Registry) Counter(d *Desc, c *Counter, values ...string) {
	r.OnScrape(func(emit func(Sample)) { emit(Sample{Desc: d, Values: values, Value: float64(c.Load())}) })
}

// Gauge shows g under d with these label values.
func (r *Registry) Gauge(d *Desc, g *Gauge, values ...string) {
	r.OnScrape(func(emit func(Sample)) { emit(Sample{Desc: d, Values: values, Value: float64(g.Load())}) })
}

// Func shows what fn returns under d with these label values.
func (r *Registry) Func(d *Desc, fn func() float64, values ...string) {
	r.OnScrape(func(emit func(Sample)) { emit(Sample{Desc: d, Values: values, Value: fn()}) })
}

// Histogram shows h under d with these label values.
func (r *Registry) Histogram(d *Desc, h *Histogram, values ...string) {
	r.OnScrape(func(emit func(Sample)) { emit(Sample{Desc: d, Values: values, Hist: h}) })
}

func (r *Registry) collect(emit func(Sample)) {
	r.mu.Lock()
	scrapes := slices.Clip(r.scrapes)
	r.mu.Unlock()
	for _, fn := range scrapes {
		fn(emit)
	}
}
