package obs

import (
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"
)

// Handler serves the metrics in Prometheus' format. Nothing is set up before the first request.
func (r *Registry) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.once.Do(r.setup)
		r.handler.ServeHTTP(w, q)
	})
}

// Write renders the metrics as Prometheus text.
func (r *Registry) Write(w io.Writer) error {
	r.once.Do(r.setup)
	return r.gather(w)
}

func (r *Registry) setup() {
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&bridge{reg: r},
	)
	r.handler = promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4,
	})
	r.gather = func(w io.Writer) error {
		families, err := reg.Gather()
		if err != nil {
			return fmt.Errorf("gathering metrics: %w", err)
		}
		enc := expfmt.NewEncoder(w, expfmt.NewFormat(expfmt.TypeTextPlain))
		for _, f := range families {
			if err := enc.Encode(f); err != nil {
				return fmt.Errorf("writing metrics: %w", err)
			}
		}
		return nil
	}
}

// bridge turns a scrape of the Registry into Prometheus' metrics. It describes nothing, which makes it an
// unchecked collector: which metrics exist is only known at the scrape.
type bridge struct{ reg *Registry }

// Describe implements prometheus.Collector.
func (*bridge) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (b *bridge) Collect(out chan<- prometheus.Metric) {
	descs := map[*Desc]*prometheus.Desc{}
	b.reg.collect(func(s Sample) {
		d := descs[s.Desc]
		if d == nil {
			d = prometheus.NewDesc(s.Desc.Name, s.Desc.Help, s.Desc.Labels, nil)
			descs[s.Desc] = d
		}
		m, err := s.metric(d)
		if err != nil {
			m = prometheus.NewInvalidMetric(d, err)
		}
		out <- m
	})
}

func (s *Sample) metric(d *prometheus.Desc) (prometheus.Metric, error) {
	switch s.Desc.Kind {
	case KindCounter:
		return prometheus.NewConstMetric(d, prometheus.CounterValue, s.Value, s.Values...)
	case KindGauge:
		return prometheus.NewConstMetric(d, prometheus.GaugeValue, s.Value, s.Values...)
	}
	scale := 1.0
	if s.Desc.Kind == KindTimer {
		scale = 1e-3 // microseconds to milliseconds
	}
	var total uint64
	bounds := make(map[float64]uint64, buckets)
	for i := range s.Hist.counts {
		total += uint64(s.Hist.counts[i].Load())
		if i < buckets {
			bounds[math.Ldexp(scale, i)] = total
		}
	}
	return prometheus.NewConstHistogram(d, total, float64(s.Hist.Sum())*scale, bounds, s.Values...)
}
