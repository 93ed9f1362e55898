package broker

import (
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveConsumerGroupHeartbeat(r *wire.Request) {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	if !r.Decode(req) {
		return
	}
	img := b.Image()
	resp := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	if img.Feature(meta.FeatureGroup) < 1 {
		resp.ErrorCode = int16(kerr.UnsupportedVersion)
		r.Reply(resp)
		return
	}
	in := planConsumerHeartbeat(req)
	in.ClientID, in.ClientHost, in.Image = r.ClientID, clientHost(r), img
	coordinate(b, in.Group, in, func(out *group.ConsumerBeat) {
		resp.ErrorCode, resp.MemberEpoch = int16(out.Code), out.Epoch
		resp.HeartbeatIntervalMillis = int32(out.Interval.Milliseconds())
		if out.Message != "" {
			resp.ErrorMessage = &out.Message
		}
		if out.Code == kerr.None {
			resp.MemberID = &out.Member
		}
		if out.Assignment != nil {
			resp.Assignment = &kmsg.ConsumerGroupHeartbeatResponseAssignment{}
			for id, ns := range byTopic(out.Assignment) {
				resp.Assignment.Topics = append(resp.Assignment.Topics,
					kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic{TopicID: id, Partitions: ns})
			}
		}
		r.Reply(resp)
	})
}

func planConsumerHeartbeat(req *kmsg.ConsumerGroupHeartbeatRequest) *group.ConsumerHeartbeat {
	in := &group.ConsumerHeartbeat{
		Group: req.Group, Member: req.MemberID, Epoch: req.MemberEpoch,
		Instance: req.InstanceID, Rack: req.RackID, RebalanceTimeout: -1,
		Topics: req.SubscribedTopicNames, Regex: req.SubscribedTopicRegex, Assignor: req.ServerAssignor,
	}
	if req.RebalanceTimeoutMillis >= 0 {
		in.RebalanceTimeout = time.Duration(req.RebalanceTimeoutMillis) * time.Millisecond
	}
	if req.Version == 0 && in.Member == "" && in.Epoch == 0 {
		in.Member = newMemberID()
	}
	if req.Topics != nil {
		in.Owned = []group.Partition{}
	}
	for i := range req.Topics {
		for _, n := range req.Topics[i].Partitions {
			in.Owned = append(in.Owned, group.NewPartition(req.Topics[i].TopicID, n))
		}
	}
	return in
}

// newMemberID is a member's id as Apache's coordinator makes it for the first version, whose clients don't.
func newMemberID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// byTopic gathers partitions, which come in the order of their topics.
func byTopic(ps []group.Partition) func(func([16]byte, []int32) bool) {
	return func(yield func([16]byte, []int32) bool) {
		for i := 0; i < len(ps); {
			id := ps[i].Topic()
			var ns []int32
			for ; i < len(ps) && ps[i].Topic() == id; i++ {
				ns = append(ns, ps[i].Number())
			}
			if !yield(id, ns) {
				return
			}
		}
	}
}
