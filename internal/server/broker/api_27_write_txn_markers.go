package broker

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// serveWriteTxnMarkers is for coordinators on other nodes, and for administrators who abort what hangs.
func (b *Broker) serveWriteTxnMarkers(r *wire.Request) {
	req := kmsg.NewPtrWriteTxnMarkersRequest()
	if !r.Decode(req) {
		return
	}
	resp := kmsg.NewPtrWriteTxnMarkersResponse()
	resp.Markers = make([]kmsg.WriteTxnMarkersResponseMarker, len(req.Markers))
	n := 1
	for i := range req.Markers {
		for _, t := range req.Markers[i].Topics {
			n += len(t.Partitions)
		}
	}
	part := gather(n, func() { r.Reply(resp) })
	for i := range req.Markers {
		b.writeMarkers(&req.Markers[i], &resp.Markers[i], part)
	}
	part()
}

func (b *Broker) writeMarkers(
	in *kmsg.WriteTxnMarkersRequestMarker, out *kmsg.WriteTxnMarkersResponseMarker, part func(),
) {
	m := &marker{
		producer: in.ProducerID, epoch: in.ProducerEpoch, commit: in.Committed,
		coordinator: in.CoordinatorEpoch, version: in.TransactionVersion,
	}
	out.ProducerID = in.ProducerID
	out.Topics = make([]kmsg.WriteTxnMarkersResponseMarkerTopic, len(in.Topics))
	for i := range in.Topics {
		t := &in.Topics[i]
		out.Topics[i].Topic = t.Topic
		out.Topics[i].Partitions = make([]kmsg.WriteTxnMarkersResponseMarkerTopicPartition, len(t.Partitions))
		for j, p := range t.Partitions {
			x := &out.Topics[i].Partitions[j]
			x.Partition = p
			b.writeMarker(m, t.Topic, p, func(code kerr.Code) {
				x.ErrorCode = int16(code)
				part()
			})
		}
	}
}
