package broker

import (
	"math"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/obs"
)

func (f *fixture) subscribe(name string, kv ...string) {
	f.t.Helper()
	for i := 0; i < len(kv); i += 2 {
		f.apply(&record.Config{ResourceType: 16, ResourceName: name, Name: kv[i], Value: &kv[i+1]})
	}
}

// gaugeOf is a MetricsData of one gauge.
func gaugeOf(name string, value float64) []byte {
	field := func(n protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b)
	}
	point := protowire.AppendFixed64(protowire.AppendTag(nil, 4, protowire.Fixed64Type), math.Float64bits(value))
	metric := append(field(1, []byte(name)), field(5, field(1, point))...)
	return field(1, field(2, field(2, metric)))
}

func TestTelemetry(t *testing.T) {
	f := start(t, func(c *Config) { c.TelemetryMaxBytes, c.TelemetryMetrics = 2000, 3 })
	f.subscribe("s", "metrics", "org.apache.kafka.", "interval.ms", "100")
	c := f.raw()
	ask := kmsg.NewPtrGetTelemetrySubscriptionsRequest()
	told := do[*kmsg.GetTelemetrySubscriptionsResponse](c, ask, 0)
	if told.ErrorCode != 0 || told.ClientInstanceID == ([16]byte{}) || told.PushIntervalMillis != 100 ||
		told.TelemetryMaxBytes != 2000 || len(told.RequestedMetrics) != 1 || len(told.AcceptedCompressionTypes) != 4 {
		t.Fatalf("%+v", told)
	}
	push := func(id [16]byte, sub int32, codec int8, metrics []byte) kerr.Code {
		req := kmsg.NewPtrPushTelemetryRequest()
		req.ClientInstanceID, req.SubscriptionID, req.CompressionType, req.Metrics = id, sub, codec, metrics
		req.Terminating = false
		return kerr.Code(do[*kmsg.PushTelemetryResponse](c, req, 0).ErrorCode)
	}
	zipped, err := batch.Compress(nil, batch.Zstd, 3, gaugeOf("org.apache.kafka.lag.max", 7.5))
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() ([16]byte, int32) {
		r := do[*kmsg.GetTelemetrySubscriptionsResponse](c, kmsg.NewPtrGetTelemetrySubscriptionsRequest(), 0)
		return r.ClientInstanceID, r.SubscriptionID
	}
	if code := push(told.ClientInstanceID, told.SubscriptionID, int8(batch.Zstd), zipped); code != kerr.None {
		t.Fatal(code)
	}
	var got []obs.Sample
	f.ClientMetrics(func(s obs.Sample) { got = append(got, s) })
	if len(got) != 1 || got[0].Value != 7.5 || got[0].Desc.Name != "org_apache_kafka_lag_max" {
		t.Errorf("%+v", got)
	}
	many := gaugeOf("a", 1)
	for range 3 {
		many = append(many, gaugeOf("a", 1)...)
	}
	for _, bad := range []struct {
		name    string
		codec   int8
		metrics []byte
		want    kerr.Code
	}{
		{"too large", 0, make([]byte, 2001), kerr.TelemetryTooLarge},
		{"unknown codec", 9, []byte("x"), kerr.UnsupportedCompressionType},
		{"not what it says", int8(batch.Zstd), []byte("not zstd"), kerr.InvalidRecord},
		{"no message", 0, []byte{0xff}, kerr.InvalidRecord},
		{"too many metrics", 0, many, kerr.InvalidRecord},
	} {
		id, sub := fresh()
		if code := push(id, sub, bad.codec, bad.metrics); code != bad.want {
			t.Errorf("%s: %v, want %v", bad.name, code, bad.want)
		}
	}
	if code := push([16]byte{}, told.SubscriptionID, 0, nil); code != kerr.InvalidRequest {
		t.Errorf("no id: %v", code)
	}
	id, sub := fresh()
	if code := push(id, sub+1, 0, nil); code != kerr.UnknownSubscriptionID {
		t.Errorf("another plan: %v", code)
	}
}

// Nobody is asked for what nobody could see.
func TestTelemetryIsNotAdvertisedInVain(t *testing.T) {
	f := start(t, func(c *Config) { c.TelemetryClients = -1 })
	resp := do[*kmsg.ApiVersionsResponse](f.raw(), kmsg.NewPtrApiVersionsRequest(), 0)
	for _, k := range resp.ApiKeys {
		if k.ApiKey == 71 || k.ApiKey == 72 {
			t.Errorf("API %d is advertised", k.ApiKey)
		}
	}
}
