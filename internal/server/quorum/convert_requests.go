package quorum

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/kraft"
)

// Error codes of whole requests that never reach the core.
const (
	codeBrokerNotAvailable    kraft.Code = 8
	codeUnknownTopic          kraft.Code = 3
	codeInvalidRequest        kraft.Code = 42
	codeInconsistentClusterID kraft.Code = 104
)

// decoder turns requests from the wire into the core's, and refuses those for another cluster or partition.
type decoder struct {
	clusterID string
	err       kraft.Code
}

func (d *decoder) cluster(id *string) {
	if id != nil && *id != d.clusterID && d.err == kraft.None {
		d.err = codeInconsistentClusterID
	}
}

// partition checks that exactly partition 0 of the metadata topic is meant.
func (d *decoder) partition(topics, partitions int, name string, partition int32) {
	if (topics != 1 || partitions != 1 || name != topicName || partition != 0) && d.err == kraft.None {
		d.err = codeInvalidRequest
	}
}

// request converts, or sets d.err. Nothing of req is kept.
func (d *decoder) request(req kmsg.Request) kraft.Request {
	switch r := req.(type) {
	case *kmsg.VoteRequest:
		return d.vote(r)
	case *kmsg.BeginQuorumEpochRequest:
		return d.begin(r)
	case *kmsg.EndQuorumEpochRequest:
		return d.end(r)
	case *kmsg.FetchRequest:
		return d.fetch(r)
	case *kmsg.FetchSnapshotRequest:
		return d.fetchSnapshot(r)
	case *kmsg.DescribeQuorumRequest:
		if len(r.Topics) == 1 && len(r.Topics[0].Partitions) == 1 && r.Topics[0].Topic == topicName &&
			r.Topics[0].Partitions[0].Partition == 0 {
			return kraft.DescribeRequest{}
		}
		d.err = codeUnknownTopic
	default:
		d.err = codeInvalidRequest
	}
	return nil
}

func (d *decoder) vote(r *kmsg.VoteRequest) kraft.Request {
	d.cluster(r.ClusterID)
	if len(r.Topics) == 0 || len(r.Topics[0].Partitions) == 0 {
		d.partition(0, 0, "", 0)
		return nil
	}
	p := &r.Topics[0].Partitions[0]
	d.partition(len(r.Topics), len(r.Topics[0].Partitions), r.Topics[0].Topic, p.Partition)
	out := &kraft.VoteRequest{
		Candidate: kraft.Key{ID: p.CandidateID}, Voter: kraft.Key{ID: kraft.NoID},
		Epoch: kraft.Epoch(p.CandidateEpoch), LastEpoch: kraft.Epoch(p.LastOffsetEpoch),
		End: kraft.Offset(p.LastOffset), Pre: r.Version >= 2 && p.PreVote,
	}
	if r.Version >= 1 {
		out.Candidate.Dir = p.CandidateDirectoryID
		out.Voter = kraft.Key{ID: r.VoterID, Dir: p.VoterDirectoryID}
	}
	return out
}

func (d *decoder) begin(r *kmsg.BeginQuorumEpochRequest) kraft.Request {
	d.cluster(r.ClusterID)
	if len(r.Topics) == 0 || len(r.Topics[0].Partitions) == 0 {
		d.partition(0, 0, "", 0)
		return nil
	}
	p := &r.Topics[0].Partitions[0]
	d.partition(len(r.Topics), len(r.Topics[0].Partitions), r.Topics[0].Topic, p.Partition)
	out := &kraft.BeginRequest{
		Voter: kraft.Key{ID: kraft.NoID}, Leader: p.LeaderID, Epoch: kraft.Epoch(p.LeaderEpoch),
	}
	if r.Version >= 1 {
		out.Voter = kraft.Key{ID: r.VoterID, Dir: p.VoterDirectoryID}
		for _, e := range r.LeaderEndpoints {
			out.At = append(out.At, kraft.Endpoint{Name: e.Name, Host: e.Host, Port: e.Port})
		}
	}
	return out
}

func (d *decoder) end(r *kmsg.EndQuorumEpochRequest) kraft.Request {
	d.cluster(r.ClusterID)
	if len(r.Topics) == 0 || len(r.Topics[0].Partitions) == 0 {
		d.partition(0, 0, "", 0)
		return nil
	}
	p := &r.Topics[0].Partitions[0]
	d.partition(len(r.Topics), len(r.Topics[0].Partitions), r.Topics[0].Topic, p.Partition)
	out := &kraft.EndRequest{Leader: p.LeaderID, Epoch: kraft.Epoch(p.LeaderEpoch)}
	if r.Version == 0 {
		for _, id := range p.PreferredSuccessors {
			out.Successors = append(out.Successors, kraft.Key{ID: id})
		}
		return out
	}
	for _, c := range p.PreferredCandidates {
		out.Successors = append(out.Successors, kraft.Key{ID: c.CandidateID, Dir: c.CandidateDirectoryID})
	}
	for _, e := range r.LeaderEndpoints {
		out.At = append(out.At, kraft.Endpoint{Name: e.Name, Host: e.Host, Port: e.Port})
	}
	return out
}

func (d *decoder) fetch(r *kmsg.FetchRequest) kraft.Request {
	d.cluster(r.ClusterID)
	if len(r.Topics) == 0 || len(r.Topics[0].Partitions) == 0 {
		d.partition(0, 0, "", 0)
		return nil
	}
	p := &r.Topics[0].Partitions[0]
	name := r.Topics[0].Topic
	if r.Version >= 13 && r.Topics[0].TopicID == topicID {
		name = topicName
	}
	d.partition(len(r.Topics), len(r.Topics[0].Partitions), name, p.Partition)
	out := &kraft.FetchRequest{
		From: kraft.Key{ID: r.ReplicaID, Dir: p.ReplicaDirectoryID}, Epoch: kraft.Epoch(p.CurrentLeaderEpoch),
		Offset: kraft.Offset(p.FetchOffset), LastEpoch: kraft.Epoch(p.LastFetchedEpoch),
		HighWatermark: kraft.NoHighWatermark, MaxWait: time.Duration(r.MaxWaitMillis) * time.Millisecond,
		MaxBytes: r.MaxBytes,
	}
	if r.Version >= 15 {
		out.From.ID = r.ReplicaState.ID
	}
	if r.Version >= 18 {
		out.HighWatermark = kraft.Offset(p.HighWatermark)
	}
	return out
}

func (d *decoder) fetchSnapshot(r *kmsg.FetchSnapshotRequest) kraft.Request {
	d.cluster(r.ClusterID)
	if len(r.Topics) != 1 || len(r.Topics[0].Partitions) != 1 || r.Topics[0].Topic != topicName ||
		r.Topics[0].Partitions[0].Partition != 0 {
		if d.err == kraft.None {
			d.err = codeUnknownTopic
		}
		return nil
	}
	p := &r.Topics[0].Partitions[0]
	id := kraft.SnapshotID{Offset: kraft.Offset(p.SnapshotID.EndOffset), Epoch: kraft.Epoch(p.SnapshotID.Epoch)}
	return &kraft.SnapshotRequest{
		From: kraft.Key{ID: r.ReplicaID, Dir: p.ReplicaDirectoryID}, Epoch: kraft.Epoch(p.CurrentLeaderEpoch),
		ID: id, Position: p.Position, MaxBytes: r.MaxBytes,
	}
}

// encoder turns the core's requests into the wire's.
type encoder struct{ clusterID *string }

func (e encoder) request(body kraft.Request) kmsg.Request {
	switch r := body.(type) {
	case *kraft.VoteRequest:
		return e.vote(r)
	case *kraft.BeginRequest:
		return e.begin(r)
	case *kraft.EndRequest:
		return e.end(r)
	case *kraft.FetchRequest:
		return e.fetch(r)
	case *kraft.SnapshotRequest:
		return e.fetchSnapshot(r)
	}
	return nil
}

func (e encoder) vote(r *kraft.VoteRequest) kmsg.Request {
	req, t, p := kmsg.NewPtrVoteRequest(), kmsg.NewVoteRequestTopic(), kmsg.NewVoteRequestTopicPartition()
	req.Version, req.ClusterID, req.VoterID = 2, e.clusterID, r.Voter.ID
	p.CandidateEpoch, p.CandidateID, p.CandidateDirectoryID = int32(r.Epoch), r.Candidate.ID, r.Candidate.Dir
	p.VoterDirectoryID, p.LastOffsetEpoch, p.LastOffset = r.Voter.Dir, int32(r.LastEpoch), int64(r.End)
	p.PreVote = r.Pre
	t.Topic, t.Partitions = topicName, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func (e encoder) begin(r *kraft.BeginRequest) kmsg.Request {
	req := kmsg.NewPtrBeginQuorumEpochRequest()
	t, p := kmsg.NewBeginQuorumEpochRequestTopic(), kmsg.NewBeginQuorumEpochRequestTopicPartition()
	req.Version, req.ClusterID, req.VoterID = 1, e.clusterID, r.Voter.ID
	p.VoterDirectoryID, p.LeaderID, p.LeaderEpoch = r.Voter.Dir, r.Leader, int32(r.Epoch)
	t.Topic, t.Partitions = topicName, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	for _, at := range r.At {
		le := kmsg.NewBeginQuorumEpochRequestLeaderEndpoint()
		le.Name, le.Host, le.Port = at.Name, at.Host, at.Port
		req.LeaderEndpoints = append(req.LeaderEndpoints, le)
	}
	return req
}

func (e encoder) end(r *kraft.EndRequest) kmsg.Request {
	req := kmsg.NewPtrEndQuorumEpochRequest()
	t, p := kmsg.NewEndQuorumEpochRequestTopic(), kmsg.NewEndQuorumEpochRequestTopicPartition()
	req.Version, req.ClusterID = 1, e.clusterID
	p.LeaderID, p.LeaderEpoch = r.Leader, int32(r.Epoch)
	for _, k := range r.Successors {
		c := kmsg.NewEndQuorumEpochRequestTopicPartitionPreferredCandidate()
		c.CandidateID, c.CandidateDirectoryID = k.ID, k.Dir
		p.PreferredCandidates = append(p.PreferredCandidates, c)
	}
	t.Topic, t.Partitions = topicName, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	for _, at := range r.At {
		le := kmsg.NewEndQuorumEpochRequestLeaderEndpoint()
		le.Name, le.Host, le.Port = at.Name, at.Host, at.Port
		req.LeaderEndpoints = append(req.LeaderEndpoints, le)
	}
	return req
}

func (e encoder) fetch(r *kraft.FetchRequest) kmsg.Request {
	req, t, p := kmsg.NewPtrFetchRequest(), kmsg.NewFetchRequestTopic(), kmsg.NewFetchRequestTopicPartition()
	req.Version, req.ClusterID = 18, e.clusterID
	req.ReplicaState.ID, req.ReplicaState.Epoch = r.From.ID, -1
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = int32(r.MaxWait.Milliseconds()), 0, r.MaxBytes
	req.SessionID, req.SessionEpoch = 0, -1
	p.CurrentLeaderEpoch, p.FetchOffset, p.LastFetchedEpoch = int32(r.Epoch), int64(r.Offset), int32(r.LastEpoch)
	p.PartitionMaxBytes, p.ReplicaDirectoryID, p.HighWatermark = 0, r.From.Dir, int64(r.HighWatermark)
	t.TopicID, t.Partitions = topicID, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func (e encoder) fetchSnapshot(r *kraft.SnapshotRequest) kmsg.Request {
	req := kmsg.NewPtrFetchSnapshotRequest()
	t, p := kmsg.NewFetchSnapshotRequestTopic(), kmsg.NewFetchSnapshotRequestTopicPartition()
	req.Version, req.ClusterID, req.ReplicaID, req.MaxBytes = 1, e.clusterID, r.From.ID, r.MaxBytes
	p.CurrentLeaderEpoch, p.Position, p.ReplicaDirectoryID = int32(r.Epoch), r.Position, r.From.Dir
	p.SnapshotID.EndOffset, p.SnapshotID.Epoch = int64(r.ID.Offset), int32(r.ID.Epoch)
	t.Topic, t.Partitions = topicName, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}
