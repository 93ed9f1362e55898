package tool

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// coordinatorFormatter prints records of __consumer_offsets as JSON, one object after another without a
// break, as Apache's formatters do. Records of other kinds are passed over.
type coordinatorFormatter struct {
	keys []int16 // key versions that are printed
}

// typedJSON is a key or a value with its version, which Apache calls type in keys.
type typedJSON struct {
	Type    *int16 `json:"type,omitempty"`
	Version *int16 `json:"version,omitempty"`
	Data    any    `json:"data"`
}

type offsetKeyJSON struct {
	Group     string `json:"group"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
}

type offsetValueJSON struct {
	Offset          int64   `json:"offset"`
	LeaderEpoch     *int32  `json:"leaderEpoch,omitempty"`
	Metadata        string  `json:"metadata"`
	CommitTimestamp int64   `json:"commitTimestamp"`
	ExpireTimestamp *int64  `json:"expireTimestamp,omitempty"`
	TopicID         *string `json:"topicId,omitempty"`
}

type groupKeyJSON struct {
	Group string `json:"group"`
}

type groupValueJSON struct {
	ProtocolType          string            `json:"protocolType"`
	Generation            int32             `json:"generation"`
	Protocol              *string           `json:"protocol"`
	Leader                *string           `json:"leader"`
	CurrentStateTimestamp *int64            `json:"currentStateTimestamp,omitempty"`
	Members               []groupMemberJSON `json:"members"`
}

type groupMemberJSON struct {
	MemberID         string  `json:"memberId"`
	GroupInstanceID  *string `json:"groupInstanceId"`
	ClientID         string  `json:"clientId"`
	ClientHost       string  `json:"clientHost"`
	RebalanceTimeout int32   `json:"rebalanceTimeout"`
	SessionTimeout   int32   `json:"sessionTimeout"`
	Subscription     []byte  `json:"subscription"`
	Assignment       []byte  `json:"assignment"`
}

func (f coordinatorFormatter) write(w io.Writer, r *kgo.Record) error {
	if len(r.Key) < 2 {
		return nil
	}
	version := int16(binary.BigEndian.Uint16(r.Key))
	if !slices.Contains(f.keys, version) {
		return nil
	}
	var key, value any
	var err error
	if version == 2 {
		key, value, err = groupJSON(r)
	} else {
		key, value, err = offsetJSON(r)
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(struct {
		Key   typedJSON `json:"key"`
		Value any       `json:"value"`
	}{typedJSON{Type: &version, Data: key}, value})
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

func offsetJSON(r *kgo.Record) (key, value any, err error) {
	k := kmsg.NewOffsetCommitKey()
	if err := k.ReadFrom(r.Key); err != nil {
		return nil, nil, err
	}
	key = offsetKeyJSON{k.Group, k.Topic, k.Partition}
	if r.Value == nil {
		return key, nil, nil
	}
	v := kmsg.NewOffsetCommitValue()
	if err := v.ReadFrom(r.Value); err != nil {
		return nil, nil, err
	}
	data := offsetValueJSON{Offset: v.Offset, Metadata: v.Metadata, CommitTimestamp: v.CommitTimestamp}
	if v.Version >= 3 {
		data.LeaderEpoch = &v.LeaderEpoch
	}
	if v.Version == 1 {
		data.ExpireTimestamp = &v.ExpireTimestamp
	}
	if v.TopicID != [16]byte{} {
		id := uuidText(v.TopicID)
		data.TopicID = &id
	}
	return key, typedJSON{Version: &v.Version, Data: data}, nil
}

func groupJSON(r *kgo.Record) (key, value any, err error) {
	k := kmsg.NewGroupMetadataKey()
	if err := k.ReadFrom(r.Key); err != nil {
		return nil, nil, err
	}
	key = groupKeyJSON{k.Group}
	if r.Value == nil {
		return key, nil, nil
	}
	v := kmsg.NewGroupMetadataValue()
	if err := v.ReadFrom(r.Value); err != nil {
		return nil, nil, err
	}
	data := groupValueJSON{
		ProtocolType: v.ProtocolType, Generation: v.Generation, Protocol: v.Protocol,
		Leader: v.Leader, Members: []groupMemberJSON{},
	}
	if v.Version >= 2 {
		data.CurrentStateTimestamp = &v.CurrentStateTimestamp
	}
	for i := range v.Members {
		m := &v.Members[i]
		data.Members = append(data.Members, groupMemberJSON{
			m.MemberID, m.InstanceID, m.ClientID, m.ClientHost,
			m.RebalanceTimeoutMillis, m.SessionTimeoutMillis, m.Subscription, m.Assignment,
		})
	}
	return key, typedJSON{Version: &v.Version, Data: data}, nil
}
