package meta_test

import (
	"math"
	"testing"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// part is one part of an entity; "" is the default.
func part(kind, name string) record.QuotaEntity {
	if name == "" {
		return record.QuotaEntity{Type: kind}
	}
	return record.QuotaEntity{Type: kind, Name: &name}
}

// The messages are what Apache 4.4 answers to the same requests.
func TestAlterQuotasRefuses(t *testing.T) {
	p := &meta.Planner{Image: meta.Empty(), Rules: &meta.Rules{}}
	user, ip := part("user", "u"), part("ip", "127.0.0.1")
	empty := ""
	const rate, cpu, connect = "producer_byte_rate", "request_percentage", "connection_creation_rate"
	for _, c := range []struct {
		entity  []record.QuotaEntity
		key     string
		value   float64
		message string // "": accepted
	}{
		{nil, rate, 1, "Invalid empty client quota entity"},
		{[]record.QuotaEntity{part("group", "g")}, rate, 1, "Unhandled client quota entity type: group"},
		{[]record.QuotaEntity{{Type: "user", Name: &empty}}, rate, 1, "Empty user not supported"},
		{
			[]record.QuotaEntity{ip, user},
			rate, 1,
			"Invalid quota entity combination, IP entity shouldnt be combined with User or ClientId",
		},
		{[]record.QuotaEntity{user}, "foo", 1, "Invalid configuration key foo"},
		{[]record.QuotaEntity{ip}, rate, 1, "Invalid configuration key producer_byte_rate"},
		{[]record.QuotaEntity{user}, connect, 1, "Invalid configuration key connection_creation_rate"},
		{[]record.QuotaEntity{user}, rate, 0, "Quota producer_byte_rate must be greater than 0"},
		{[]record.QuotaEntity{user}, cpu, -1, "Quota request_percentage must be greater than 0"},
		{[]record.QuotaEntity{user}, cpu, math.NaN(), "Quota request_percentage must be a finite number"},
		{[]record.QuotaEntity{user}, rate, math.Inf(1), "Quota producer_byte_rate must be a finite number"},
		{[]record.QuotaEntity{user}, rate, 1.5, "producer_byte_rate cannot be a fractional value."},
		{[]record.QuotaEntity{user}, rate, 1e30, "Proposed value for producer_byte_rate is too large for a LONG."},
		{[]record.QuotaEntity{ip}, connect, 3e9, "Proposed value for connection_creation_rate is too large for an INT."},
		{[]record.QuotaEntity{user}, rate, 1.0000001, ""},
		{[]record.QuotaEntity{user}, cpu, 1e30, ""},
		{[]record.QuotaEntity{ip}, connect, 10, ""},
		{[]record.QuotaEntity{part("client-id", ""), part("user", "")}, "controller_mutation_rate", 0.5, ""},
	} {
		recs, results := p.AlterQuotas([]meta.QuotaChange{
			{Entity: c.entity, Ops: []meta.QuotaOp{{Key: c.key, Value: c.value}}},
		})
		want := kerr.InvalidRequest
		if c.message == "" {
			want = kerr.None
		}
		if len(results) != 1 || results[0].Code != want || results[0].Message != c.message {
			t.Errorf("%v %s=%v: %+v, want %q", c.entity, c.key, c.value, results, c.message)
		}
		if len(recs) != 0 && c.message != "" || len(recs) != 1 && c.message == "" {
			t.Errorf("%v %s=%v: %d records", c.entity, c.key, c.value, len(recs))
		}
	}
}

func TestAlterQuotasOfOneEntity(t *testing.T) {
	img := meta.Empty()
	plan := func(in ...meta.QuotaChange) []meta.QuotaResult {
		t.Helper()
		p := &meta.Planner{Image: img, Rules: &meta.Rules{}}
		recs, results := p.AlterQuotas(in)
		next, _, err := img.Apply(img.Offset+1, 1, 0, recs)
		if err != nil {
			t.Fatal(err)
		}
		img = next
		return results
	}
	quotas := func() map[string]float64 {
		out := map[string]float64{}
		for q := range img.Quotas() {
			out[*q.Entity[0].Name+" "+q.Name] = q.Value
		}
		return out
	}
	u := []record.QuotaEntity{part("user", "u")}
	v := []record.QuotaEntity{part("user", "u"), part("user", "v")} // the last part of a type counts
	set := func(key string, value float64) meta.QuotaOp { return meta.QuotaOp{Key: key, Value: value} }
	rate := "producer_byte_rate"

	r := plan(meta.QuotaChange{Entity: u, Ops: []meta.QuotaOp{set(rate, 10)}},
		meta.QuotaChange{Entity: v, Ops: []meta.QuotaOp{set(rate, 20)}},
		meta.QuotaChange{Entity: u, Ops: []meta.QuotaOp{set(rate, 30)}})
	const twice = "Ignoring duplicate entity ClientQuotaEntity(entries={user=u})"
	if len(r) != 2 || r[0].Message != twice || !r[1].OK() {
		t.Errorf("an entity twice: %+v", r)
	}
	if got := quotas(); len(got) != 2 || got["u "+rate] != 10 || got["v "+rate] != 20 {
		t.Errorf("quotas %v", got)
	}
	r = plan(meta.QuotaChange{Entity: u, Ops: []meta.QuotaOp{set("consumer_byte_rate", 1), set("foo", 2)}})
	if r[0].Message != "Invalid configuration key foo" || len(quotas()) != 2 {
		t.Errorf("half bad: %+v %v", r, quotas())
	}
	before := img.Offset
	plan(meta.QuotaChange{Entity: u, Ops: []meta.QuotaOp{set(rate, 10), {Key: "consumer_byte_rate", Remove: true}}})
	if img.Offset != before {
		t.Error("records for what was so already")
	}
	plan(meta.QuotaChange{Entity: u, Ops: []meta.QuotaOp{{Key: rate, Remove: true}}})
	if got := quotas(); len(got) != 1 {
		t.Errorf("after the removal: %v", got)
	}
}
