package controller

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
)

func (c *Controller) alterPartition(r *request, q *kmsg.AlterPartitionRequest) {
	p := c.planner(r.w)
	broker := meta.NodeID(q.BrokerID)
	if f := p.CheckEpoch(broker, q.BrokerEpoch); !f.OK() {
		r.reply(Refuse(q, f.Code, f.Message))
		return
	}
	resp := kmsg.NewPtrAlterPartitionResponse()
	resp.Version = q.Version
	var recs [][]byte
	for i := range q.Topics {
		t := kmsg.NewAlterPartitionResponseTopic()
		t.TopidID = q.Topics[i].TopicID // sic: the library's spelling
		for j := range q.Topics[i].Partitions {
			in := isrChange(q, t.TopidID, &q.Topics[i].Partitions[j])
			more, res := p.AlterPartition(broker, in)
			recs = append(recs, more...)
			t.Partitions = append(t.Partitions, alteredPartition(in.Partition, &res))
		}
		resp.Topics = append(resp.Topics, t)
	}
	c.writeInternal(r, recs, resp)
}

func isrChange(
	q *kmsg.AlterPartitionRequest, topic meta.UUID, p *kmsg.AlterPartitionRequestTopicPartition,
) *meta.ISRChange {
	in := &meta.ISRChange{
		Topic: topic, Partition: p.Partition, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch,
		Recovering: p.LeaderRecoveryState == 1,
	}
	if q.Version < 3 {
		in.ISR, in.Epochs = nodes(p.NewISR), make([]int64, len(p.NewISR))
		for i := range in.Epochs {
			in.Epochs[i] = -1
		}
		return in
	}
	for _, e := range p.NewEpochISR {
		in.ISR, in.Epochs = append(in.ISR, meta.NodeID(e.BrokerID)), append(in.Epochs, e.BrokerEpoch)
	}
	return in
}

func alteredPartition(index int32, res *meta.ISRResult) kmsg.AlterPartitionResponseTopicPartition {
	out := kmsg.NewAlterPartitionResponseTopicPartition()
	out.Partition, out.ErrorCode = index, int16(res.Code)
	if res.Partition == nil {
		return out
	}
	out.LeaderID, out.LeaderEpoch = int32(res.Partition.Leader), res.Partition.LeaderEpoch
	out.PartitionEpoch = res.Partition.PartitionEpoch
	for _, n := range res.Partition.ISR {
		out.ISR = append(out.ISR, int32(n))
	}
	if res.Partition.Recovering {
		out.LeaderRecoveryState = 1
	}
	return out
}

func (c *Controller) assignDirectories(r *request, q *kmsg.AssignReplicasToDirsRequest) {
	p := c.planner(r.w)
	broker := meta.NodeID(q.BrokerID)
	if f := p.CheckEpoch(broker, q.BrokerEpoch); !f.OK() {
		r.reply(Refuse(q, f.Code, f.Message))
		return
	}
	resp := kmsg.NewPtrAssignReplicasToDirsResponse()
	resp.Version = q.Version
	var recs [][]byte
	for _, d := range q.Directories {
		dir := kmsg.NewAssignReplicasToDirsResponseDirectory()
		dir.ID = d.ID
		for _, t := range d.Topics {
			topic := kmsg.NewAssignReplicasToDirsResponseDirectoryTopic()
			topic.TopicID = t.TopicID
			for _, part := range t.Partitions {
				more, code := p.AssignDirectory(broker, t.TopicID, part.Partition, d.ID)
				recs = append(recs, more...)
				out := kmsg.NewAssignReplicasToDirsResponseDirectoryTopicPartition()
				out.Partition, out.ErrorCode = part.Partition, int16(code)
				topic.Partitions = append(topic.Partitions, out)
			}
			dir.Topics = append(dir.Topics, topic)
		}
		resp.Directories = append(resp.Directories, dir)
	}
	c.writeInternal(r, recs, resp)
}

func (c *Controller) electLeaders(r *request, q *kmsg.ElectLeadersRequest) {
	if q.ElectionType != 0 && q.ElectionType != 1 {
		r.reply(Refuse(q, kerr.InvalidRequest, "Unknown election type"))
		return
	}
	p := c.planner(r.w)
	resp := kmsg.NewPtrElectLeadersResponse()
	resp.Version = q.Version
	topics, all := q.Topics, q.Topics == nil
	if all {
		topics = everyPartition(p.Image)
	}
	var recs [][]byte
	for _, t := range topics {
		out := kmsg.NewElectLeadersResponseTopic()
		out.Topic = t.Topic
		for _, index := range t.Partitions {
			more, f := p.ElectLeader(t.Topic, index, q.ElectionType == 1)
			if all && f.Code == kerr.ElectionNotNeeded {
				continue
			}
			recs = append(recs, more...)
			part := kmsg.NewElectLeadersResponseTopicPartition()
			part.Partition, part.ErrorCode, part.ErrorMessage = index, int16(f.Code), text(f.Message)
			out.Partitions = append(out.Partitions, part)
		}
		if len(out.Partitions) > 0 {
			resp.Topics = append(resp.Topics, out)
		}
	}
	c.writeInternal(r, recs, resp)
}

func everyPartition(img *meta.Image) (out []kmsg.ElectLeadersRequestTopic) {
	for t := range img.Topics() {
		e := kmsg.NewElectLeadersRequestTopic()
		e.Topic = t.Name
		for n := range t.Partitions {
			e.Partitions = append(e.Partitions, int32(n))
		}
		out = append(out, e)
	}
	return out
}
