package tool

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/tool/layout"
)

// remoteRecord holds the fields of all record types of __remote_log_metadata.
type remoteRecord struct {
	RemoteLogSegmentID struct {
		TopicIDPartition remotePartition `json:"topicIdPartition"`
		ID               string          `json:"id"`
	} `json:"remoteLogSegmentId"`
	TopicIDPartition     remotePartition `json:"topicIdPartition"`
	SegmentID            string          `json:"segmentId"`
	StartOffset          int64           `json:"startOffset"`
	EndOffset            int64           `json:"endOffset"`
	BrokerID             int32           `json:"brokerId"`
	MaxTimestampMs       int64           `json:"maxTimestampMs"`
	EventTimestampMs     int64           `json:"eventTimestampMs"`
	SegmentLeaderEpochs  []remoteEpoch   `json:"segmentLeaderEpochs"`
	SegmentSizeInBytes   int32           `json:"segmentSizeInBytes"`
	CustomMetadata       *[]byte         `json:"customMetadata"`
	SegmentState         int             `json:"remoteLogSegmentState"`
	TxnIndexEmpty        bool            `json:"txnIndexEmpty"`
	PartitionDeleteState int             `json:"remotePartitionDeleteState"`
}

type remotePartition struct {
	Name      string `json:"name"`
	ID        string `json:"id"`
	Partition int32  `json:"partition"`
}

// String is the partition as Apache's tools show it with its topic's id.
func (p remotePartition) String() string { return fmt.Sprintf("%s:%s-%d", p.ID, p.Name, p.Partition) }

type remoteEpoch struct {
	LeaderEpoch int32 `json:"leaderEpoch"`
	Offset      int64 `json:"offset"`
}

// decodeRemote shows records of __remote_log_metadata as Apache's objects show themselves: not as JSON.
func decodeRemote(rec *batch.Record, offset int64) (key, payload []byte, err error) {
	types := []string{
		"RemoteLogSegmentMetadata", "RemoteLogSegmentMetadataUpdate",
		"RemotePartitionDeleteMetadata",
		"RemoteLogSegmentMetadataSnapshot",
	}
	typ, version, rest, err := framed(rec.Value)
	if err == nil && typ >= len(types) {
		err = fmt.Errorf("ApiKey: %d does not have a respective type", typ)
	}
	var text []byte
	if err == nil {
		text, _, err = layout.Find(types[typ]+"Record").JSON(nil, rest, int16(version), nil)
	}
	var r remoteRecord
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return nil, fmt.Appendf(nil, "Error at offset %d, skipping. %v", offset, err), nil
	}
	return nil, []byte(types[typ] + r.show(typ)), nil
}

func (r *remoteRecord) show(typ int) string {
	custom := "Optional.empty"
	if r.CustomMetadata != nil {
		custom = fmt.Sprintf("Optional[CustomMetadata{%d bytes}]", len(*r.CustomMetadata))
	}
	state := stateName(r.SegmentState, "COPY_SEGMENT_STARTED", "COPY_SEGMENT_FINISHED", "DELETE_SEGMENT_STARTED",
		"DELETE_SEGMENT_FINISHED")
	id := fmt.Sprintf("remoteLogSegmentId=RemoteLogSegmentId{topicIdPartition=%s, id=%s}",
		r.RemoteLogSegmentID.TopicIDPartition, r.RemoteLogSegmentID.ID)
	switch typ {
	case 1:
		return fmt.Sprintf("{%s, customMetadata=%s, state=%s, eventTimestampMs=%d, brokerId=%d}", id, custom, state,
			r.EventTimestampMs, r.BrokerID)
	case 2:
		return fmt.Sprintf("{topicPartition=%s, state=%s, eventTimestampMs=%d, brokerId=%d}", r.TopicIDPartition,
			stateName(r.PartitionDeleteState, "DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED",
				"DELETE_PARTITION_FINISHED"), r.EventTimestampMs, r.BrokerID)
	case 3:
		id = "segmentId=" + r.SegmentID
	}
	var epochs []string
	for _, e := range r.SegmentLeaderEpochs {
		epochs = append(epochs, fmt.Sprintf("%d=%d", e.LeaderEpoch, e.Offset))
	}
	return fmt.Sprintf("{%s, startOffset=%d, endOffset=%d, brokerId=%d, maxTimestampMs=%d, "+
		"eventTimestampMs=%d, "+
		"segmentLeaderEpochs={%s}, segmentSizeInBytes=%d, customMetadata=%s, state=%s, txnIdxEmpty=%t}", id,
		r.StartOffset, r.EndOffset, r.BrokerID, r.MaxTimestampMs, r.EventTimestampMs, strings.Join(epochs, ", "),
		r.SegmentSizeInBytes, custom, state, r.TxnIndexEmpty)
}

func stateName(n int, names ...string) string {
	if n < 0 || n >= len(names) {
		return fmt.Sprint(n)
	}
	return names[n]
}
