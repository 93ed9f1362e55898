package quorum

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/kraft"
)

// errorResponse refuses a whole request.
func errorResponse(req kmsg.Request, code kraft.Code) kmsg.Response {
	resp := req.ResponseKind()
	switch r := resp.(type) {
	case *kmsg.VoteResponse:
		r.ErrorCode = int16(code)
	case *kmsg.BeginQuorumEpochResponse:
		r.ErrorCode = int16(code)
	case *kmsg.EndQuorumEpochResponse:
		r.ErrorCode = int16(code)
	case *kmsg.FetchResponse:
		r.ErrorCode = int16(code)
	case *kmsg.FetchSnapshotResponse:
		r.ErrorCode = int16(code)
	case *kmsg.DescribeQuorumResponse:
		r.ErrorCode = int16(code)
	}
	return resp
}

// response answers req with what the core says.
func response(req kmsg.Request, body kraft.Response) kmsg.Response {
	switch b := body.(type) {
	case *kraft.VoteResponse:
		return voteResponse(req, b)
	case *kraft.BeginResponse:
		return beginResponse(req, &b.Status)
	case *kraft.EndResponse:
		return endResponse(req, &b.Status)
	case *kraft.FetchResponse:
		return fetchResponse(req.(*kmsg.FetchRequest), b)
	case *kraft.SnapshotResponse:
		return snapshotResponse(req, b)
	case *kraft.DescribeResponse:
		return describeResponse(req, b)
	}
	return errorResponse(req, kraft.Unknown)
}

func voteResponse(req kmsg.Request, b *kraft.VoteResponse) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.VoteResponse)
	t, p := kmsg.NewVoteResponseTopic(), kmsg.NewVoteResponseTopicPartition()
	p.ErrorCode, p.LeaderID, p.LeaderEpoch, p.VoteGranted = int16(b.Error), b.Leader, int32(b.Epoch), b.Granted
	t.Topic, t.Partitions = topicName, append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	for _, at := range b.At {
		e := kmsg.NewVoteResponseNodeEndpoint()
		e.NodeID, e.Host, e.Port = b.Leader, at.Host, at.Port
		resp.NodeEndpoints = append(resp.NodeEndpoints, e)
	}
	return resp
}

func beginResponse(req kmsg.Request, b *kraft.Status) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.BeginQuorumEpochResponse)
	t, p := kmsg.NewBeginQuorumEpochResponseTopic(), kmsg.NewBeginQuorumEpochResponseTopicPartition()
	p.ErrorCode, p.LeaderID, p.LeaderEpoch = int16(b.Error), b.Leader, int32(b.Epoch)
	t.Topic, t.Partitions = topicName, append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	for _, at := range b.At {
		e := kmsg.NewBeginQuorumEpochResponseNodeEndpoint()
		e.NodeID, e.Host, e.Port = b.Leader, at.Host, at.Port
		resp.NodeEndpoints = append(resp.NodeEndpoints, e)
	}
	return resp
}

func endResponse(req kmsg.Request, b *kraft.Status) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.EndQuorumEpochResponse)
	t, p := kmsg.NewEndQuorumEpochResponseTopic(), kmsg.NewEndQuorumEpochResponseTopicPartition()
	p.ErrorCode, p.LeaderID, p.LeaderEpoch = int16(b.Error), b.Leader, int32(b.Epoch)
	t.Topic, t.Partitions = topicName, append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	for _, at := range b.At {
		e := kmsg.NewEndQuorumEpochResponseNodeEndpoint()
		e.NodeID, e.Host, e.Port = b.Leader, at.Host, at.Port
		resp.NodeEndpoints = append(resp.NodeEndpoints, e)
	}
	return resp
}

func fetchResponse(req *kmsg.FetchRequest, b *kraft.FetchResponse) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.FetchResponse)
	t, p := kmsg.NewFetchResponseTopic(), kmsg.NewFetchResponseTopicPartition()
	p.ErrorCode, p.HighWatermark, p.LogStartOffset = int16(b.Error), int64(b.HighWatermark), int64(b.LogStart)
	p.LastStableOffset = -1
	p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = b.Leader, int32(b.Epoch)
	if b.Diverging != nil {
		p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = int32(b.Diverging.Epoch), int64(b.Diverging.End)
	}
	if b.Snapshot != nil {
		p.SnapshotID.Epoch, p.SnapshotID.EndOffset = int32(b.Snapshot.Epoch), int64(b.Snapshot.Offset)
	}
	p.RecordBatches = b.Records
	if p.RecordBatches == nil {
		p.RecordBatches = []byte{} // empty, not null
	}
	t.Topic, t.TopicID, t.Partitions = topicName, topicID, append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	for _, at := range b.At {
		if req.Version < 16 {
			break
		}
		e := kmsg.NewFetchResponseBroker()
		e.NodeID, e.Host, e.Port = b.Leader, at.Host, int32(at.Port)
		resp.Brokers = append(resp.Brokers, e)
	}
	return resp
}

func snapshotResponse(req kmsg.Request, b *kraft.SnapshotResponse) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.FetchSnapshotResponse)
	t, p := kmsg.NewFetchSnapshotResponseTopic(), kmsg.NewFetchSnapshotResponseTopicPartition()
	p.ErrorCode, p.Size, p.Position, p.Bytes = int16(b.Error), b.Size, b.Position, b.Data
	if p.Bytes == nil {
		p.Bytes = []byte{}
	}
	p.SnapshotID.EndOffset, p.SnapshotID.Epoch = int64(b.ID.Offset), int32(b.ID.Epoch)
	p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = b.Leader, int32(b.Epoch)
	t.Topic, t.Partitions = topicName, append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	for _, at := range b.At {
		e := kmsg.NewFetchSnapshotResponseNodeEndpoint()
		e.NodeID, e.Host, e.Port = b.Leader, at.Host, at.Port
		resp.NodeEndpoints = append(resp.NodeEndpoints, e)
	}
	return resp
}

func describeResponse(req kmsg.Request, b *kraft.DescribeResponse) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeQuorumResponse)
	t, p := kmsg.NewDescribeQuorumResponseTopic(), kmsg.NewDescribeQuorumResponseTopicPartition()
	p.ErrorCode, p.LeaderID, p.LeaderEpoch = int16(b.Error), b.Leader, int32(b.Epoch)
	p.HighWatermark = int64(b.HighWatermark)
	p.CurrentVoters, p.Observers = replicaStates(b.Voters), replicaStates(b.Observers)
	t.Topic, t.Partitions = topicName, append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	for _, v := range b.Nodes {
		n := kmsg.NewDescribeQuorumResponseNode()
		n.NodeID = v.ID
		for _, at := range v.Endpoints {
			l := kmsg.NewDescribeQuorumResponseNodeListener()
			l.Name, l.Host, l.Port = at.Name, at.Host, at.Port
			n.Listeners = append(n.Listeners, l)
		}
		resp.Nodes = append(resp.Nodes, n)
	}
	return resp
}

func replicaStates(in []kraft.Replica) []kmsg.DescribeQuorumResponseTopicPartitionReplicaState {
	out := make([]kmsg.DescribeQuorumResponseTopicPartitionReplicaState, 0, len(in))
	for _, r := range in {
		s := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
		s.ReplicaID, s.ReplicaDirectoryID, s.LogEndOffset = r.ID, r.Dir, int64(r.End)
		s.LastFetchTimestamp, s.LastCaughtUpTimestamp = r.LastFetch, r.LastCaughtUp
		out = append(out, s)
	}
	return out
}
