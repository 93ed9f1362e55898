package broker

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
)

func TestOffsetForLeaderEpoch(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	c := f.raw()
	c.produce("t", records(6), 9)
	for _, k := range []struct {
		topic          string
		current, epoch int32
		code           kerr.Code
		found          int32
		end            int64
	}{
		{"t", -1, 0, 0, 0, 6},
		{"t", 0, 0, 0, 0, 6},
		{"t", -1, 7, 0, -1, -1}, // nobody led in it
		{"t", -1, -1, 0, -1, -1},
		{"t", 7, 0, kerr.UnknownLeaderEpoch, -1, -1},
		{"other", -1, 0, kerr.UnknownTopicOrPartition, -1, -1},
	} {
		for v := int16(2); v <= 4; v++ {
			req := kmsg.NewPtrOffsetForLeaderEpochRequest()
			tp := kmsg.NewOffsetForLeaderEpochRequestTopic()
			tp.Topic = k.topic
			p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
			p.CurrentLeaderEpoch, p.LeaderEpoch = k.current, k.epoch
			tp.Partitions = append(tp.Partitions, p)
			req.Topics = append(req.Topics, tp)
			got := do[*kmsg.OffsetForLeaderEpochResponse](c, req, v).Topics[0].Partitions[0]
			if kerr.Code(got.ErrorCode) != k.code || got.LeaderEpoch != k.found || got.EndOffset != k.end {
				t.Errorf("%+v at version %d: %+v", k, v, got)
			}
		}
	}
}
