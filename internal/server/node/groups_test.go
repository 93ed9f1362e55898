package node

import (
	"bytes"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/disk/vfs"
)

func (r *rig) beat(member string, epoch int32, owned []kmsg.ConsumerGroupHeartbeatRequestTopic) (
	*kmsg.ConsumerGroupHeartbeatResponse, error,
) {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.MemberEpoch = 1, "c", member, epoch
	req.RebalanceTimeoutMillis, req.SubscribedTopicNames, req.Topics = 30_000, []string{"sync"}, owned
	if owned == nil {
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	}
	return ask[*kmsg.ConsumerGroupHeartbeatResponse](r, req)
}

// A group of the consumer protocol is after a restart what it was before, and its members go on in it.
func TestConsumerGroupOverRestart(t *testing.T) {
	fsys := vfs.NewMem()
	more := []string{"group.consumer.assignment.interval.ms=0"}
	r := mustBoot(t, fsys, more...)
	if err := r.create("sync", 4); err != nil {
		t.Fatal(err)
	}
	_ = r.commit(1) // makes __consumer_offsets
	epochs := map[string]int32{}
	has := map[string][]kmsg.ConsumerGroupHeartbeatRequestTopic{}
	round := func() {
		for _, m := range []string{"a", "b"} {
			resp, err := r.beat(m, epochs[m], has[m])
			if err != nil || resp.ErrorCode != 0 {
				t.Fatalf("%s: %+v, %v", m, resp, err)
			}
			epochs[m], has[m] = resp.MemberEpoch, nil
			for _, x := range resp.Assignment.Topics {
				has[m] = append(has[m], kmsg.ConsumerGroupHeartbeatRequestTopic{
					TopicID: x.TopicID, Partitions: x.Partitions,
				})
			}
		}
	}
	for range 3 {
		round()
	}
	if len(has["a"]) != 1 || len(has["a"][0].Partitions) != 2 || len(has["b"][0].Partitions) != 2 {
		t.Fatalf("%v", has)
	}
	before := epochs["a"]
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	r = mustBoot(t, fsys, more...)
	defer func() { _ = r.end() }()
	await(t, "the coordinator", func() bool {
		resp, err := r.beat("a", epochs["a"], has["a"])
		return err != nil || resp.ErrorCode == 0
	})
	round()
	if epochs["a"] != before || epochs["b"] != before {
		t.Errorf("epochs %v after the restart, %d before", epochs, before)
	}
	r.n.register() // as it does where it listens for HTTP
	var text bytes.Buffer
	if err := r.n.reg.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`kafka_server_group_coordinator_metrics_group_count{protocol="consumer"} 1`,
		`kafka_server_group_coordinator_metrics_group_count{protocol="classic"} 1`,
		`kafka_server_group_coordinator_metrics_consumer_group_count{state="stable"} 1`,
		`kafka_server_group_coordinator_metrics_partition_count{state="active"} 1`,
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %s in\n%s", want, lines(text.String(), "group_coordinator"))
		}
	}
}

func lines(text, with string) (out string) {
	for l := range strings.Lines(text) {
		if strings.Contains(l, with) {
			out += l
		}
	}
	return out
}
