package broker

import (
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/group"
	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

func (b *Broker) serveConsumerGroupDescribe(r *wire.Request) {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	if !r.Decode(req) {
		return
	}
	img := b.Image()
	resp := kmsg.NewPtrConsumerGroupDescribeResponse()
	resp.Groups = make([]kmsg.ConsumerGroupDescribeResponseGroup, len(req.Groups))
	part := gather(len(req.Groups), func() { r.Reply(resp) })
	for i, id := range req.Groups {
		g := &resp.Groups[i]
		g.Default()
		g.Group, g.AuthorizedOperations = id, math.MinInt32
		if img.Feature(meta.FeatureGroup) < 1 {
			g.ErrorCode = int16(kerr.UnsupportedVersion)
			part()
			continue
		}
		coordinate(b, id, &group.DescribeConsumers{Group: id, Image: img}, func(out *group.ConsumersDescribed) {
			fillConsumers(g, out, img)
			if req.IncludeAuthorizedOperations && out.Code == kerr.None {
				g.AuthorizedOperations = groupOperations
			}
			part()
		})
	}
}

func fillConsumers(
	g *kmsg.ConsumerGroupDescribeResponseGroup, out *group.ConsumersDescribed, img *meta.Image,
) {
	g.ErrorCode, g.State, g.Epoch = int16(out.Code), out.State, out.Epoch
	g.AssignmentEpoch, g.AssignorName = out.AssignmentEpoch, out.Assignor
	if out.Message != "" {
		g.ErrorMessage = &out.Message
	}
	for i := range out.Members {
		m := &out.Members[i]
		x := kmsg.NewConsumerGroupDescribeResponseGroupMember()
		x.MemberID, x.InstanceID, x.RackID, x.MemberEpoch = m.Member, m.Instance, m.Rack, m.Epoch
		x.ClientID, x.ClientHost, x.SubscribedTopics = m.ClientID, m.ClientHost, m.Topics
		x.SubscribedTopicRegex = &m.Regex
		x.Assignment.TopicPartitions = namedPartitions(img, m.Has)
		x.TargetAssignment.TopicPartitions = namedPartitions(img, m.Target)
		if x.MemberType = 1; m.Classic {
			x.MemberType = 0
		}
		g.Members = append(g.Members, x)
	}
}

// namedPartitions leaves out topics that are no more: their names aren't known any longer.
func namedPartitions(img *meta.Image, ps []group.Partition) (out []kmsg.AssignmentTopicPartition) {
	for id, ns := range byTopic(ps) {
		if t := img.TopicByID(id); t != nil {
			out = append(out, kmsg.AssignmentTopicPartition{TopicID: id, Topic: t.Name, Partitions: ns})
		}
	}
	return out
}
