package controller_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/server/controller"
)

// two brokers with a topic of one partition on both.
func newPair(t *testing.T) *fixture {
	f := newFixture(t)
	for id := range int32(2) {
		f.beat(id+1, f.register(id+1, byte(id+1)), false)
	}
	if r := f.create("t", 1, 2); r.ErrorCode != 0 {
		t.Fatal(kerr.Code(r.ErrorCode))
	}
	return f
}

func reassignTo(replicas []int32) *kmsg.AlterPartitionAssignmentsRequest {
	req := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	p := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
	p.Replicas = replicas
	topic := kmsg.NewAlterPartitionAssignmentsRequestTopic()
	topic.Topic, topic.Partitions = "t", append(topic.Partitions, p)
	req.Topics = append(req.Topics, topic)
	return req
}

func TestReassignments(t *testing.T) {
	f := newPair(t)
	f.beat(3, f.register(3, 3), false)
	ask := func(replicas []int32) kerr.Code {
		resp := do[*kmsg.AlterPartitionAssignmentsResponse](f, reassignTo(replicas))
		return kerr.Code(resp.Topics[0].Partitions[0].ErrorCode)
	}
	if code := ask(nil); code != kerr.NoReassignmentInProgress {
		t.Errorf("cancel without one: %v", code)
	}
	if code := ask([]int32{9}); code != kerr.InvalidReplicaAssignment {
		t.Errorf("to a broker that isn't there: %v", code)
	}
	keep := reassignTo([]int32{1, 2, 3})
	keep.AllowReplicationFactorChange = false
	resp := do[*kmsg.AlterPartitionAssignmentsResponse](f, keep)
	if code := kerr.Code(resp.Topics[0].Partitions[0].ErrorCode); code != kerr.InvalidReplicationFactor {
		t.Errorf("with another number of replicas: %v", code)
	}
	if code := ask([]int32{2, 3}); code != kerr.None {
		t.Fatal(code)
	}
	list := kmsg.NewPtrListPartitionReassignmentsRequest()
	got := do[*kmsg.ListPartitionReassignmentsResponse](f, list)
	if len(got.Topics) != 1 || len(got.Topics[0].Partitions) != 1 {
		t.Fatalf("%+v", got)
	}
	p := got.Topics[0].Partitions[0]
	if len(p.Replicas) != 3 || p.AddingReplicas[0] != 3 || p.RemovingReplicas[0] != 1 {
		t.Errorf("%+v", p)
	}
	for _, part := range []int32{0, 1} {
		ask := kmsg.NewListPartitionReassignmentsRequestTopic()
		ask.Topic, ask.Partitions = "t", []int32{part}
		list.Topics = []kmsg.ListPartitionReassignmentsRequestTopic{ask}
		if got := do[*kmsg.ListPartitionReassignmentsResponse](f, list); len(got.Topics) != 1-int(part) {
			t.Errorf("partition %d: %+v", part, got)
		}
	}
	if code := ask(nil); code != kerr.None {
		t.Errorf("cancel: %v", code)
	}
	list.Topics = nil
	if got := do[*kmsg.ListPartitionReassignmentsResponse](f, list); len(got.Topics) != 0 {
		t.Errorf("after the end: %+v", got)
	}
}

func TestUpdateFeatures(t *testing.T) {
	f := newPair(t)
	update := func(version int16, name string, level int16, kind int8, dry bool) *kmsg.UpdateFeaturesResponse {
		req := kmsg.NewPtrUpdateFeaturesRequest()
		u := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
		u.Feature, u.MaxVersionLevel, u.UpgradeType, u.AllowDowngrade = name, level, kind, kind > 1
		req.FeatureUpdates, req.ValidateOnly = append(req.FeatureUpdates, u), dry
		req.SetVersion(version)
		var got *kmsg.UpdateFeaturesResponse
		f.c.Handle(req, controller.Origin{}, func(r kmsg.Response) { got, _ = r.(*kmsg.UpdateFeaturesResponse) })
		f.commit()
		if got == nil {
			t.Fatal("no answer")
		}
		return got
	}
	for version := range int16(3) {
		if got := update(version, "group.version", 9, 1, false); kerr.Code(got.ErrorCode) != kerr.InvalidUpdateVersion ||
			len(got.Results) != 1-int(version/2) {
			t.Errorf("version %d: %+v", version, got)
		}
	}
	if got := update(2, "group.version", 0, 2, true); got.ErrorCode != 0 || f.c.Image().Feature("group.version") != 1 {
		t.Errorf("a dry run: %+v, level %d", got, f.c.Image().Feature("group.version"))
	}
	if got := update(0, "group.version", 0, 2, false); got.ErrorCode != 0 || got.Results[0].ErrorCode != 0 ||
		f.c.Image().Feature("group.version") != 0 {
		t.Errorf("down: %+v, level %d", got, f.c.Image().Feature("group.version"))
	}
	if got := update(1, "group.version", 1, 1, false); got.ErrorCode != 0 || f.c.Image().Feature("group.version") != 1 {
		t.Errorf("up: %+v, level %d", got, f.c.Image().Feature("group.version"))
	}
	f.leading = false
	if got := update(1, "group.version", 1, 1, false); kerr.Code(got.ErrorCode) != kerr.NotController {
		t.Errorf("elsewhere: %+v", got)
	}
}
