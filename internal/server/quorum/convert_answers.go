package quorum

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/kraft"
)

// answer turns a peer's response into the core's. An error: the response isn't one to what was asked.
func (e encoder) answer(resp kmsg.Response, listener string) (kraft.Response, error) {
	a := answerer{listener: listener}
	out := a.answer(resp)
	if out == nil {
		return nil, fmt.Errorf("a response without the metadata partition: %T", resp)
	}
	return out, nil
}

type answerer struct{ listener string }

// status is nil when the partition is missing though nothing is wrong with the request.
func (a answerer) status(top int16, partitions int, code int16, leader, epoch int32) (kraft.Status, bool) {
	s := kraft.Status{
		Top: kraft.Code(top), Error: kraft.Code(code), Leader: leader, Epoch: kraft.Epoch(epoch),
	}
	return s, top != 0 || partitions == 1
}

func (a answerer) at(s *kraft.Status, id int32, host string, port int32) {
	if id == s.Leader && id >= 0 && port > 0 && port <= 0xffff && len(s.At) == 0 {
		s.At = []kraft.Endpoint{{Name: a.listener, Host: host, Port: uint16(port)}}
	}
}

func (a answerer) answer(resp kmsg.Response) kraft.Response {
	switch r := resp.(type) {
	case *kmsg.VoteResponse:
		p, n := kmsg.NewVoteResponseTopicPartition(), 0
		for _, t := range r.Topics {
			for _, p = range t.Partitions {
				n++
			}
		}
		s, ok := a.status(r.ErrorCode, n, p.ErrorCode, p.LeaderID, p.LeaderEpoch)
		for _, e := range r.NodeEndpoints {
			a.at(&s, e.NodeID, e.Host, int32(e.Port))
		}
		if ok {
			return &kraft.VoteResponse{Status: s, Granted: p.VoteGranted}
		}
	case *kmsg.BeginQuorumEpochResponse:
		p, n := kmsg.NewBeginQuorumEpochResponseTopicPartition(), 0
		for _, t := range r.Topics {
			for _, p = range t.Partitions {
				n++
			}
		}
		s, ok := a.status(r.ErrorCode, n, p.ErrorCode, p.LeaderID, p.LeaderEpoch)
		for _, e := range r.NodeEndpoints {
			a.at(&s, e.NodeID, e.Host, int32(e.Port))
		}
		if ok {
			return &kraft.BeginResponse{Status: s}
		}
	case *kmsg.EndQuorumEpochResponse:
		p, n := kmsg.NewEndQuorumEpochResponseTopicPartition(), 0
		for _, t := range r.Topics {
			for _, p = range t.Partitions {
				n++
			}
		}
		s, ok := a.status(r.ErrorCode, n, p.ErrorCode, p.LeaderID, p.LeaderEpoch)
		for _, e := range r.NodeEndpoints {
			a.at(&s, e.NodeID, e.Host, int32(e.Port))
		}
		if ok {
			return &kraft.EndResponse{Status: s}
		}
	case *kmsg.FetchResponse:
		return a.fetch(r)
	case *kmsg.FetchSnapshotResponse:
		return a.snapshot(r)
	}
	return nil
}

func (a answerer) fetch(r *kmsg.FetchResponse) kraft.Response {
	p, n := kmsg.NewFetchResponseTopicPartition(), 0
	for _, t := range r.Topics {
		for _, p = range t.Partitions {
			n++
		}
	}
	s, ok := a.status(r.ErrorCode, n, p.ErrorCode, p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch)
	if !ok {
		return nil
	}
	for _, e := range r.Brokers {
		a.at(&s, e.NodeID, e.Host, e.Port)
	}
	out := &kraft.FetchResponse{
		Status: s, HighWatermark: kraft.Offset(p.HighWatermark), LogStart: kraft.Offset(p.LogStartOffset),
	}
	if p.DivergingEpoch.Epoch >= 0 {
		out.Diverging = &kraft.EpochEnd{
			Epoch: kraft.Epoch(p.DivergingEpoch.Epoch), End: kraft.Offset(p.DivergingEpoch.EndOffset),
		}
	}
	if p.SnapshotID.Epoch >= 0 || p.SnapshotID.EndOffset >= 0 {
		out.Snapshot = &kraft.SnapshotID{
			Offset: kraft.Offset(p.SnapshotID.EndOffset), Epoch: kraft.Epoch(p.SnapshotID.Epoch),
		}
	}
	var err error
	out.Batches, err = kraft.Split(p.RecordBatches)
	out.Bad = err != nil
	return out
}

func (a answerer) snapshot(r *kmsg.FetchSnapshotResponse) kraft.Response {
	p, n := kmsg.NewFetchSnapshotResponseTopicPartition(), 0
	for _, t := range r.Topics {
		for _, p = range t.Partitions {
			n++
		}
	}
	s, ok := a.status(r.ErrorCode, n, p.ErrorCode, p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch)
	if !ok {
		return nil
	}
	for _, e := range r.NodeEndpoints {
		a.at(&s, e.NodeID, e.Host, int32(e.Port))
	}
	id := kraft.SnapshotID{Offset: kraft.Offset(p.SnapshotID.EndOffset), Epoch: kraft.Epoch(p.SnapshotID.Epoch)}
	return &kraft.SnapshotResponse{
		Status: s, ID: id, Size: p.Size, Position: p.Position, Data: p.Bytes,
	}
}
