package controller_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/server/controller"
)

func (f *fixture) setQuota(kind, name, key string, value float64) kmsg.AlterClientQuotasResponseEntry {
	f.t.Helper()
	req := kmsg.NewPtrAlterClientQuotasRequest()
	e := kmsg.NewAlterClientQuotasRequestEntry()
	e.Entity = []kmsg.AlterClientQuotasRequestEntryEntity{{Type: kind, Name: &name}}
	e.Ops = []kmsg.AlterClientQuotasRequestEntryOp{{Key: key, Value: value}}
	req.Entries = append(req.Entries, e)
	req.SetVersion(1)
	got := make(chan kmsg.Response, 1)
	f.c.Handle(req, controller.Origin{}, func(r kmsg.Response) { got <- r })
	var answer kmsg.Response
	for answer == nil {
		f.commit()
		select {
		case answer = <-got:
		case <-time.After(time.Millisecond):
		}
	}
	return answer.(*kmsg.AlterClientQuotasResponse).Entries[0]
}

// A client whose bucket is overdrawn creates nothing until it has filled up again, and is told so; old versions
// are only slowed down.
func TestMutationQuota(t *testing.T) {
	f := newFixture(t)
	epoch := f.register(1, 1)
	f.beat(1, epoch, false)
	if e := f.setQuota("user", "u", "controller_mutation_rate", 2); e.ErrorCode != 0 {
		t.Fatal(e)
	}
	create := func(name string, version int16, user string) (kerr.Code, int32) {
		req := kmsg.NewPtrCreateTopicsRequest()
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, 30, 1
		req.Topics = append(req.Topics, topic)
		req.SetVersion(version)
		var got *kmsg.CreateTopicsResponse
		from := controller.Origin{Principal: "User:" + user, ClientID: "c"}
		f.c.Handle(req, from, func(r kmsg.Response) { got = r.(*kmsg.CreateTopicsResponse) })
		f.commit()
		return kerr.Code(got.Topics[0].ErrorCode), got.ThrottleMillis
	}
	for i, c := range []struct {
		version  int16
		user     string
		after    time.Duration
		code     kerr.Code
		throttle int32
	}{
		{7, "u", 0, kerr.None, 4000}, // 22 in the bucket, 30 taken
		{7, "u", time.Second, kerr.ThrottlingQuotaExceeded, 3000},
		{7, "other", 0, kerr.None, 0},
		{5, "u", 0, kerr.None, 18000},
		{7, "u", 18 * time.Second, kerr.None, 15000},
	} {
		f.now = f.now.Add(c.after)
		code, throttle := create(string(rune('a'+i)), c.version, c.user)
		if code != c.code || throttle != c.throttle {
			t.Errorf("step %d: %v after %d ms, want %v %d", i, code, throttle, c.code, c.throttle)
		}
	}
	req := kmsg.NewPtrDeleteTopicsRequest()
	a := "a"
	req.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: &a}}
	req.SetVersion(6)
	f.c.Handle(req, controller.Origin{Principal: "User:u"}, func(r kmsg.Response) {
		resp := r.(*kmsg.DeleteTopicsResponse)
		if resp.Topics[0].ErrorCode != int16(kerr.ThrottlingQuotaExceeded) || resp.ThrottleMillis != 15000 {
			t.Errorf("delete: %+v", resp)
		}
	})
	if f.c.Image().Topic("a") == nil {
		t.Error("deleted all the same")
	}
}

func TestQuotaOfAnUnknownHost(t *testing.T) {
	f := newFixture(t)
	e := f.setQuota("ip", "no.such.host.invalid", "connection_creation_rate", 2)
	if e.ErrorCode != int16(kerr.InvalidRequest) || e.ErrorMessage == nil ||
		*e.ErrorMessage != "no.such.host.invalid is not a valid IP or resolvable host." {
		t.Errorf("%+v", e)
	}
	if e := f.setQuota("ip", "10.0.0.1", "connection_creation_rate", 2); e.ErrorCode != 0 {
		t.Errorf("%+v", e)
	}
}
