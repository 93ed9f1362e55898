package controller

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
)

func (c *Controller) createTopics(r *request, q *kmsg.CreateTopicsRequest) {
	in := make([]meta.NewTopic, len(q.Topics))
	for i := range q.Topics {
		in[i] = newTopic(&q.Topics[i])
	}
	p, wait := c.limited(r, q.Version >= 6)
	recs, results := p.CreateTopics(in)
	resp := kmsg.NewPtrCreateTopicsResponse()
	resp.Version, resp.ThrottleMillis = q.Version, wait()
	for i := range results {
		resp.Topics = append(resp.Topics, c.createdTopic(&results[i]))
	}
	if q.ValidateOnly {
		recs = nil
		for i := range resp.Topics {
			resp.Topics[i].TopicID = [16]byte{}
		}
	}
	c.write(r, recs, resp)
}

func newTopic(t *kmsg.CreateTopicsRequestTopic) meta.NewTopic {
	n := meta.NewTopic{Name: t.Topic, Partitions: t.NumPartitions, ReplicationFactor: t.ReplicationFactor}
	for _, a := range t.ReplicaAssignment {
		n.Assignments = append(n.Assignments, meta.Assignment{Partition: a.Partition, Replicas: nodes(a.Replicas)})
	}
	for _, e := range t.Configs {
		n.Configs = append(n.Configs, meta.ConfigEntry{Name: e.Name, Value: e.Value})
	}
	return n
}

func nodes(in []int32) []meta.NodeID {
	out := make([]meta.NodeID, len(in))
	for i, n := range in {
		out[i] = meta.NodeID(n)
	}
	return out
}

func (c *Controller) createdTopic(res *meta.TopicResult) kmsg.CreateTopicsResponseTopic {
	t := kmsg.NewCreateTopicsResponseTopic()
	t.Topic, t.ErrorCode, t.ErrorMessage = res.Name, int16(res.Code), text(res.Message)
	t.Configs = []kmsg.CreateTopicsResponseTopicConfig{}
	if !res.OK() {
		return t
	}
	t.TopicID, t.NumPartitions, t.ReplicationFactor = res.ID, res.Partitions, res.ReplicationFactor
	if c.cfg.DescribeTopic != nil {
		t.Configs = c.cfg.DescribeTopic(res.Configs)
	}
	return t
}

func failedTopics(q *kmsg.CreateTopicsRequest, f meta.Failure) kmsg.Response {
	resp := kmsg.NewPtrCreateTopicsResponse()
	resp.Version = q.Version
	for i := range q.Topics {
		t := kmsg.NewCreateTopicsResponseTopic()
		t.Topic, t.ErrorCode, t.ErrorMessage = q.Topics[i].Topic, int16(f.Code), text(f.Message)
		t.Configs = []kmsg.CreateTopicsResponseTopicConfig{}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

func deletions(q *kmsg.DeleteTopicsRequest) (out []meta.TopicRef) {
	for _, name := range q.TopicNames {
		out = append(out, meta.TopicRef{Name: name})
	}
	for _, t := range q.Topics {
		ref := meta.TopicRef{ID: t.TopicID}
		if t.Topic != nil {
			ref.Name = *t.Topic
		}
		out = append(out, ref)
	}
	return out
}

func (c *Controller) deleteTopics(r *request, q *kmsg.DeleteTopicsRequest) {
	refs := deletions(q)
	p, wait := c.limited(r, q.Version >= 5)
	recs, results := p.DeleteTopics(refs)
	resp := deleteTopicsResponse(q, refs, func(i int) meta.TopicResult { return results[i] })
	resp.ThrottleMillis = wait()
	c.write(r, recs, resp)
}

func deleteTopicsResponse(
	q *kmsg.DeleteTopicsRequest, refs []meta.TopicRef, result func(int) meta.TopicResult,
) *kmsg.DeleteTopicsResponse {
	resp := kmsg.NewPtrDeleteTopicsResponse()
	resp.Version = q.Version
	for i, ref := range refs {
		res := result(i)
		t := kmsg.NewDeleteTopicsResponseTopic()
		t.TopicID, t.ErrorCode, t.ErrorMessage = ref.ID, int16(res.Code), text(res.Message)
		t.Topic = text(ref.Name)
		if res.OK() {
			t.Topic, t.TopicID = text(res.Name), res.ID
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

func (c *Controller) createPartitions(r *request, q *kmsg.CreatePartitionsRequest) {
	in := make([]meta.MorePartitions, len(q.Topics))
	for i := range q.Topics {
		t := &q.Topics[i]
		in[i] = meta.MorePartitions{Name: t.Topic, Count: t.Count, Assigned: t.Assignment != nil}
		for _, a := range t.Assignment {
			in[i].Assignments = append(in[i].Assignments, nodes(a.Replicas))
		}
	}
	p, wait := c.limited(r, q.Version >= 3)
	recs, results := p.CreatePartitions(in)
	if q.ValidateOnly {
		recs = nil
	}
	resp := createPartitionsResponse(q, func(i int) meta.Failure { return results[i].Failure })
	resp.ThrottleMillis = wait()
	c.write(r, recs, resp)
}

func createPartitionsResponse(
	q *kmsg.CreatePartitionsRequest, result func(int) meta.Failure,
) *kmsg.CreatePartitionsResponse {
	resp := kmsg.NewPtrCreatePartitionsResponse()
	resp.Version = q.Version
	for i := range q.Topics {
		f := result(i)
		t := kmsg.NewCreatePartitionsResponseTopic()
		t.Topic, t.ErrorCode, t.ErrorMessage = q.Topics[i].Topic, int16(f.Code), text(f.Message)
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}
