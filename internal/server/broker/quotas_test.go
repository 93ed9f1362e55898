package broker

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

func (f *fixture) quota(kind, name, key string, value float64) {
	f.t.Helper()
	f.apply(&record.ClientQuota{
		Entity: []record.QuotaEntity{{Type: kind, Name: &name}}, Name: key, Value: value, Remove: value == 0,
	})
}

func shortWindow(c *Config) { c.QuotaSamples, c.QuotaWindow = 2, 100*time.Millisecond }

// Whoever produces too fast is told to wait, and isn't read before (KIP-219).
func TestProduceQuota(t *testing.T) {
	f := start(t, shortWindow)
	f.topic("t", 1)
	f.quota("user", "ANONYMOUS", "producer_byte_rate", 1000)
	c := f.raw()
	req := produceTo("t", 0, 1, records(5))
	var throttle time.Duration
	began := time.Now()
	for range 3 {
		resp := do[*kmsg.ProduceResponse](c, req, 9)
		if resp.Topics[0].Partitions[0].ErrorCode != 0 {
			t.Fatalf("%+v", resp)
		}
		throttle += time.Duration(resp.ThrottleMillis) * time.Millisecond
		if throttle > 0 {
			break
		}
	}
	if throttle == 0 {
		t.Fatal("never told to wait")
	}
	do[*kmsg.FetchResponse](c, fetchFrom("t", 0, 0), 11)
	if waited := time.Since(began); waited < throttle {
		t.Errorf("read again after %v, told to wait %v", waited, throttle)
	}
	f.quota("user", "ANONYMOUS", "producer_byte_rate", 0)
	if resp := do[*kmsg.ProduceResponse](c, req, 9); resp.ThrottleMillis != 0 {
		t.Errorf("without a quota: %d", resp.ThrottleMillis)
	}
}

// A reply of acks=0 doesn't exist: the client is only not read.
func TestProduceQuotaWithoutAcks(t *testing.T) {
	f := start(t, shortWindow)
	f.topic("t", 1)
	f.quota("user", "ANONYMOUS", "producer_byte_rate", 1000)
	c := f.raw()
	began := time.Now()
	c.send(produceTo("t", 0, 0, records(40)), 9)
	do[*kmsg.MetadataResponse](c, kmsg.NewPtrMetadataRequest(), 9)
	if waited := time.Since(began); waited < 100*time.Millisecond {
		t.Errorf("read again after %v", waited)
	}
}

// A fetch that would exceed the quota gets nothing, its session doesn't move, and it gets all later.
func TestFetchQuota(t *testing.T) {
	f := start(t, shortWindow)
	f.topic("t", 1)
	c := f.raw()
	for range 4 {
		c.produce("t", records(40), 9)
	}
	f.quota("user", "ANONYMOUS", "consumer_byte_rate", 20_000)
	offset, throttled := int64(0), 0
	for offset < 160 && throttled < 50 {
		resp := do[*kmsg.FetchResponse](c, fetchFrom("t", 0, offset), 11)
		if resp.ErrorCode != 0 {
			t.Fatal(kerr.Code(resp.ErrorCode))
		}
		if resp.ThrottleMillis > 0 {
			throttled++
			if len(resp.Topics) != 0 {
				t.Fatalf("told to wait and given records: %+v", resp)
			}
			continue
		}
		b := resp.Topics[0].Partitions[0].RecordBatches
		if len(b) > 2000 { // one window's worth
			t.Errorf("%d bytes at once", len(b))
		}
		offset += int64(countBatches(b)) * 40
	}
	if offset != 160 || throttled == 0 {
		t.Errorf("read up to %d, throttled %d times", offset, throttled)
	}
}

func TestRequestQuota(t *testing.T) {
	f := start(t, shortWindow)
	f.topic("t", 1)
	f.quota("user", "ANONYMOUS", "request_percentage", 0.0001)
	c := f.raw()
	resp := do[*kmsg.MetadataResponse](c, kmsg.NewPtrMetadataRequest(), 9)
	if resp.ThrottleMillis <= 0 || resp.ThrottleMillis > 100 {
		t.Errorf("told to wait %d ms, the window is 100", resp.ThrottleMillis)
	}
	if resp := do[*kmsg.ProduceResponse](c, produceTo("t", 0, 1, records(1)), 9); resp.ThrottleMillis <= 0 {
		t.Error("Produce isn't charged for its time")
	}
	if resp := do[*kmsg.FetchResponse](c, fetchFrom("t", 0, 0), 11); resp.ThrottleMillis <= 0 {
		t.Error("Fetch isn't charged for its time")
	}
}

// An address that connects too often is kept waiting and turned away; others aren't.
func TestConnectionQuota(t *testing.T) {
	f := start(t, shortWindow)
	f.quota("ip", "127.0.0.1", "connection_creation_rate", 1)
	refused := 0
	var conns []net.Conn
	for range 5 {
		nc, err := net.Dial("tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, nc)
	}
	for _, nc := range conns {
		_ = nc.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := nc.Read(make([]byte, 1)); err != nil && !isTimeout(err) {
			refused++
		}
		_ = nc.Close()
		if refused > 0 {
			break
		}
	}
	if refused == 0 {
		t.Error("nobody was turned away")
	}
	f.quota("ip", "127.0.0.1", "connection_creation_rate", 0)
	do[*kmsg.MetadataResponse](f.raw(), kmsg.NewPtrMetadataRequest(), 9)
}

func isTimeout(err error) bool {
	var n net.Error
	ok := errors.As(err, &n)
	return ok && n.Timeout()
}

func TestDescribeClientQuotas(t *testing.T) {
	f := start(t)
	f.quota("user", "u", "producer_byte_rate", 10)
	f.quota("user", "u", "consumer_byte_rate", 20)
	f.quota("user", "v", "producer_byte_rate", 30)
	c, u := "c", "u"
	f.apply(&record.ClientQuota{
		Entity: []record.QuotaEntity{{Type: "client-id", Name: &c}, {Type: "user"}}, Name: "request_percentage", Value: 0.5,
	}, &record.ClientQuota{Entity: []record.QuotaEntity{{Type: "user"}}, Name: "request_percentage", Value: 50})
	type comp = kmsg.DescribeClientQuotasRequestComponent
	for _, q := range []struct {
		name    string
		comps   []comp
		strict  bool
		code    kerr.Code
		entries int
	}{
		{"all", nil, false, 0, 4},
		{"nothing but what has no part", nil, true, 0, 0},
		{"one user", []comp{{EntityType: "user", Match: &u}}, false, 0, 1},
		{"users' default", []comp{{EntityType: "user", MatchType: 1}}, false, 0, 2},
		{"just users' default", []comp{{EntityType: "user", MatchType: 1}}, true, 0, 1},
		{"any user", []comp{{EntityType: "user", MatchType: 2}}, true, 0, 3},
		{"the pair", []comp{{EntityType: "client-id", Match: &c}, {EntityType: "user", MatchType: 2}}, true, 0, 1},
		{"no type", []comp{{MatchType: 2}}, false, kerr.InvalidRequest, 0},
		{"unknown type", []comp{{EntityType: "foo", MatchType: 2}}, false, kerr.UnsupportedVersion, 0},
		{"unknown match", []comp{{EntityType: "user", MatchType: 5}}, false, kerr.InvalidRequest, 0},
		{
			"a type twice",
			[]comp{{EntityType: "user", MatchType: 2}, {EntityType: "user", MatchType: 1}},
			false,
			kerr.InvalidRequest, 0,
		},
		{
			"ip and user",
			[]comp{{EntityType: "user", MatchType: 2}, {EntityType: "ip", MatchType: 2}},
			false,
			kerr.InvalidRequest, 0,
		},
		{"exact null", []comp{{EntityType: "user"}}, false, kerr.InvalidRequest, 0},
		{"default with a name", []comp{{EntityType: "user", MatchType: 1, Match: &u}}, false, kerr.InvalidRequest, 0},
	} {
		req := kmsg.NewPtrDescribeClientQuotasRequest()
		req.Components, req.Strict = q.comps, q.strict
		resp := do[*kmsg.DescribeClientQuotasResponse](f.raw(), req, 1)
		if kerr.Code(resp.ErrorCode) != q.code || len(resp.Entries) != q.entries {
			t.Errorf("%s: %+v", q.name, resp)
		}
	}
}

func countBatches(b []byte) (n int) {
	for len(b) > 0 {
		_, rest, err := batch.Next(b)
		if err != nil {
			break
		}
		b = rest
		n++
	}
	return n
}
