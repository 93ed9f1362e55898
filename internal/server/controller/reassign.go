package controller

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
)

func (c *Controller) reassign(r *request, q *kmsg.AlterPartitionAssignmentsRequest) {
	p := c.planner(r.w)
	resp := kmsg.NewPtrAlterPartitionAssignmentsResponse()
	resp.Version = q.Version
	var recs [][]byte
	for i := range q.Topics {
		t := kmsg.NewAlterPartitionAssignmentsResponseTopic()
		t.Topic = q.Topics[i].Topic
		for _, want := range q.Topics[i].Partitions {
			more, f := p.Reassign(&meta.Reassignment{
				Topic: t.Topic, Partition: want.Partition, Replicas: nodes(want.Replicas), Cancel: want.Replicas == nil,
				KeepSize: q.Version >= 1 && !q.AllowReplicationFactorChange,
			})
			recs = append(recs, more...)
			out := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
			out.Partition, out.ErrorCode, out.ErrorMessage = want.Partition, int16(f.Code), text(f.Message)
			t.Partitions = append(t.Partitions, out)
		}
		resp.Topics = append(resp.Topics, t)
	}
	c.write(r, recs, resp)
}

func (c *Controller) listReassignments(r *request, q *kmsg.ListPartitionReassignmentsRequest) {
	resp := kmsg.NewPtrListPartitionReassignmentsResponse()
	resp.Version = q.Version
	img := c.lead.pending
	add := func(t *meta.Topic, wanted func(int32) bool) {
		out := kmsg.NewListPartitionReassignmentsResponseTopic()
		for i, part := range t.Partitions {
			if !part.Reassigning() || !wanted(int32(i)) {
				continue
			}
			p := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
			p.Partition, p.Replicas = int32(i), numbers(part.Replicas)
			p.AddingReplicas, p.RemovingReplicas = numbers(part.Adding), numbers(part.Removing)
			out.Partitions = append(out.Partitions, p)
		}
		if out.Topic = t.Name; len(out.Partitions) > 0 {
			resp.Topics = append(resp.Topics, out)
		}
	}
	if q.Topics == nil {
		for t := range img.Topics() {
			add(t, func(int32) bool { return true })
		}
	}
	for _, ask := range q.Topics {
		if t := img.Topic(ask.Topic); t != nil {
			add(t, func(n int32) bool { return slices.Contains(ask.Partitions, n) })
		}
	}
	c.lead.park(parked{req: r.req, reply: r.reply, resp: resp}) // as far as it was seen here it must hold
}

func numbers(in []meta.NodeID) []int32 {
	out := make([]int32, len(in))
	for i, n := range in {
		out[i] = int32(n)
	}
	return out
}
