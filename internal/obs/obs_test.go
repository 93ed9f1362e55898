package obs

import (
	"bytes"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestRegistryRendersPrometheusText(t *testing.T) {
	var (
		r Registry
		c Counter
		g Gauge
		h Histogram
	)
	c.Add(2)
	c.Inc()
	g.Set(7)
	g.Add(-9)
	for _, d := range []time.Duration{
		0, time.Microsecond, 3 * time.Microsecond, time.Millisecond,
		48 * time.Hour, -1,
	} {
		h.ObserveDuration(d)
	}
	r.Counter(&Desc{
		"kafka_server_brokertopicmetrics_messagesin_total", "Records.", KindCounter,
		[]string{"topic"},
	}, &c, "a\"b")
	r.Gauge(&Desc{"kafka_server_replicamanager_partitioncount", "Partitions.", KindGauge, nil}, &g)
	r.Func(&Desc{"kafka_f", "F.", KindGauge, nil}, func() float64 { return 0.5 })
	r.Histogram(&Desc{"kafka_network_requestmetrics_totaltimems", "Times.", KindTimer, []string{"request"}},
		&h, "Fetch")
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`kafka_server_brokertopicmetrics_messagesin_total{topic="a\"b"} 3`,
		"# TYPE kafka_server_replicamanager_partitioncount gauge",
		"kafka_server_replicamanager_partitioncount -2",
		"kafka_f 0.5",
		`kafka_network_requestmetrics_totaltimems_bucket{request="Fetch",le="0.001"} 3`,
		`kafka_network_requestmetrics_totaltimems_bucket{request="Fetch",le="0.004"} 4`,
		`kafka_network_requestmetrics_totaltimems_bucket{request="Fetch",le="1.024"} 5`,
		`kafka_network_requestmetrics_totaltimems_bucket{request="Fetch",le="+Inf"} 6`,
		`kafka_network_requestmetrics_totaltimems_count{request="Fetch"} 6`,
		"process_resident_memory_bytes", "go_memstats_heap_alloc_bytes",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

func TestHistogramQuantiles(t *testing.T) {
	var h Histogram
	if h.Quantile(0.5) != 0 {
		t.Error("empty")
	}
	for i := range int64(1000) {
		h.Observe(i + 1)
	}
	if n, s := h.Count(), h.Sum(); n != 1000 || s != 500500 {
		t.Error(n, s)
	}
	if q := h.Quantile(0.5); q != 512 {
		t.Error(q)
	}
	if q := h.Quantile(0.99); q != 1024 {
		t.Error(q)
	}
	if q := h.Quantile(1); q != 1024 {
		t.Error(q)
	}
}

func TestCountingDoesNotAllocate(t *testing.T) {
	var (
		c Counter
		h Histogram
	)
	if n := testing.AllocsPerRun(100, func() { c.Inc(); h.ObserveDuration(time.Second) }); n > 0 {
		t.Error(n)
	}
}

func TestLogLines(t *testing.T) {
	var b bytes.Buffer
	logs := NewLogs(&b, slog.LevelInfo)
	log := logs.Named("log")
	log.Debug("not shown")
	log.Info("Rolled segment", "topic", "orders", "partition", 3, "why", "it is "+
		"full", "err", error(nil), "at", time.Second)
	log.With("a", 1).WithGroup("g").Warn("two\nlines", "x", `q"`, slog.Group("h", "y", true), "empty", "")
	logs.Root().Error("root")
	stamp := regexp.MustCompile(`(?m)^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] `)
	want := "INFO [log] Rolled segment topic=orders partition=3 why=\"it is full\" err=<nil> at=1s\n" +
		"WARN [log] two\\x0alines a=1 g.x=\"q\\\"\" g.h.y=true g.empty=\"\"\n" +
		"ERROR root\n"
	if got := stamp.ReplaceAllString(b.String(), ""); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestLevelsChangeWhileRunning(t *testing.T) {
	var b bytes.Buffer
	logs := NewLogs(&b, slog.LevelWarn)
	log := logs.Named("quorum")
	if log.Enabled(t.Context(), slog.LevelInfo) {
		t.Error("enabled")
	}
	if !logs.SetLevel("quorum", slog.LevelDebug) || !log.Enabled(t.Context(), slog.LevelDebug) {
		t.Error("not enabled")
	}
	if logs.SetLevel("nobody", slog.LevelDebug) {
		t.Error("a level was set for nobody")
	}
	other := logs.Named("other")
	logs.SetLevel("root", slog.LevelError)
	if other.Enabled(t.Context(), slog.LevelWarn) || !log.Enabled(t.Context(), slog.LevelDebug) {
		t.Error("the root's level is not followed by those without their own")
	}
	if l := logs.Levels(); l["root"] != slog.LevelError || l["quorum"] != slog.LevelDebug || len(l) != 3 {
		t.Error(l)
	}
}
