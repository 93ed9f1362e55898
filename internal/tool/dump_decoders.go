package tool

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/tool/layout"
)

// recordDecoder turns a record's key and value into text; nil: nothing is printed.
type recordDecoder func(rec *batch.Record, offset int64) (key, payload []byte, err error)

// plainDecoder decodes by classes of Apache's, the package left out.
func plainDecoder(keyClass, valueClass string) (recordDecoder, error) {
	key, err := decoderClass(keyClass)
	if err != nil {
		return nil, err
	}
	value, err := decoderClass(valueClass)
	if err != nil {
		return nil, err
	}
	return func(rec *batch.Record, _ int64) (k, v []byte, err error) {
		if rec.Value == nil && rec.Key == nil {
			return nil, nil, nil
		}
		if rec.Key != nil {
			if k, err = key(rec.Key); err != nil {
				return nil, nil, err
			}
		}
		if rec.Value != nil {
			v, err = value(rec.Value)
		}
		return k, v, err
	}, nil
}

func decoderClass(class string) (func([]byte) ([]byte, error), error) {
	number := func(width int) func([]byte) ([]byte, error) {
		return func(b []byte) ([]byte, error) {
			if len(b) < width {
				return nil, fmt.Errorf("java.nio.BufferUnderflowException")
			}
			n := int64(int32(binary.BigEndian.Uint32(b)))
			if width == 8 {
				n = int64(binary.BigEndian.Uint64(b))
			}
			return strconv.AppendInt(nil, n, 10), nil
		}
	}
	switch class[strings.LastIndex(class, ".")+1:] {
	case "", "StringDecoder", "DefaultDecoder":
		return func(b []byte) ([]byte, error) {
				return append([]byte{}, strings.ToValidUTF8(string(b), "\uFFFD")...), nil
			},
			nil
	case "LongDecoder":
		return number(8), nil
	case "IntegerDecoder":
		return number(4), nil
	}
	return nil, fmt.Errorf("java.lang.RuntimeException: Failed to load decoder class\nCaused by: "+
		"java.lang.ClassNotFoundException: %s", class)
}

// offsetTypes are the record types of __consumer_offsets by their keys' versions.
func offsetTypes() []string {
	return []string{
		"LegacyOffsetCommit", "OffsetCommit", "GroupMetadata", "ConsumerGroupMetadata",
		"ConsumerGroupPartitionMetadata", "ConsumerGroupMemberMetadata", "ConsumerGroupTargetAssignmentMetadata",
		"ConsumerGroupTargetAssignmentMember", "ConsumerGroupCurrentMemberAssignment", "",
		"ShareGroupMemberMetadata", "ShareGroupMetadata", "ShareGroupTargetAssignmentMetadata",
		"ShareGroupTargetAssignmentMember", "ShareGroupCurrentMemberAssignment", "ShareGroupStatePartitionMetadata",
		"ConsumerGroupRegularExpression", "StreamsGroupMetadata", "", "StreamsGroupMemberMetadata",
		"StreamsGroupTargetAssignmentMetadata", "StreamsGroupTargetAssignmentMember",
		"StreamsGroupCurrentMemberAssignment", "StreamsGroupTopology",
	}
}

func decodeOffsets(rec *batch.Record, offset int64) (key, payload []byte, err error) {
	var special layout.Values
	if len(rec.Key) > 1 && binary.BigEndian.Uint16(rec.Key) == 2 {
		special = groupSpecial(rec.Value)
	}
	return decodeTyped(rec, offset, offsetTypes(), special)
}

// groupSpecial shows what members of a consumer group subscribe to and are assigned.
func groupSpecial(value []byte) layout.Values {
	l := layout.Find("GroupMetadataValue")
	isConsumer := false
	if len(value) > 2 {
		_, _, _ = l.JSON(nil, value[2:], int16(binary.BigEndian.Uint16(value)), layout.Values{
			"/protocolType": func(raw []byte) ([]byte, bool) {
				isConsumer = string(raw) == "consumer"
				return nil, false
			},
		})
	}
	if !isConsumer {
		return nil
	}
	protocol := func(name string) func([]byte) ([]byte, bool) {
		return func(raw []byte) ([]byte, bool) {
			if len(raw) < 2 {
				return nil, false
			}
			l := layout.Find(name)
			version := min(int16(binary.BigEndian.Uint16(raw)), l.High)
			json, _, err := l.JSON(nil, raw[2:], version, nil)
			return json, err == nil
		}
	}
	return layout.Values{
		"/members/subscription": protocol("ConsumerProtocolSubscription"),
		"/members/assignment":   protocol("ConsumerProtocolAssignment"),
	}
}

func decodeTransaction(rec *batch.Record, offset int64) (key, payload []byte, err error) {
	states := []string{
		"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort",
		"Dead", "PrepareEpochFence",
	}
	return decodeTyped(rec, offset, []string{"TransactionLog"}, layout.Values{
		"/transactionStatus": func(raw []byte) ([]byte, bool) {
			if int(raw[0]) >= len(states) {
				return nil, false
			}
			return strconv.AppendQuote(nil, states[raw[0]]), true
		},
	})
}

func decodeShare(rec *batch.Record, offset int64) (key, payload []byte, err error) {
	return decodeTyped(rec, offset, []string{"ShareSnapshot", "ShareUpdate"}, nil)
}

// decodeTyped decodes records whose keys begin with their type and whose values begin with their version.
func decodeTyped(rec *batch.Record, offset int64, types []string, special layout.Values) (key, payload []byte,
	err error,
) {
	if len(rec.Key) < 2 {
		return nil, nil, fmt.Errorf("java.lang.RuntimeException: Failed to decode message at offset %d using "+
			"offset "+
			"topic decoder (message had a missing key)", offset)
	}
	typ := int(int16(binary.BigEndian.Uint16(rec.Key)))
	if typ < 0 || typ >= len(types) || types[typ] == "" {
		return fmt.Appendf(nil, "Unknown record type %d at offset %d, skipping.", typ, offset), nil, nil
	}
	key, _, err = layout.Find(types[typ]+"Key").JSON(nil, rec.Key[2:], 0, nil)
	if err != nil {
		return fmt.Appendf(nil, "Error at offset %d, skipping. %v", offset, err), nil, nil
	}
	key = fmt.Appendf(nil, `{"type":"%d","data":%s}`, typ, key)
	if rec.Value == nil {
		return key, []byte("<DELETE>"), nil
	}
	l := layout.Find(types[typ] + "Value")
	if len(rec.Value) < 2 {
		return key, fmt.Appendf(nil, "Error at offset %d, skipping. %v", offset, layout.ErrShort), nil
	}
	version := int16(binary.BigEndian.Uint16(rec.Value))
	if version < l.Low || version > l.High {
		return key, fmt.Appendf(nil, "Error at offset %d, skipping. Can't read version %d of %sValue", offset,
			version,
			types[typ]), nil
	}
	payload, _, err = l.JSON(nil, rec.Value[2:], version, special)
	if err != nil {
		return key, fmt.Appendf(nil, "Error at offset %d, skipping. %v", offset, err), nil
	}
	return key, fmt.Appendf(nil, `{"version":"%d","data":%s}`, version, payload), nil
}

// metadataTypes are the record types of the metadata log by their keys.
func metadataTypes() []string {
	return []string{
		"RegisterBroker", "UnregisterBroker", "Topic", "Partition", "Config", "PartitionChange", "",
		"FenceBroker", "UnfenceBroker", "RemoveTopic", "DelegationToken", "UserScramCredential", "FeatureLevel", "",
		"ClientQuota", "ProducerIds", "", "BrokerRegistrationChange", "AccessControlEntry",
		"RemoveAccessControlEntry", "NoOp", "ZkMigrationState", "RemoveUserScramCredential", "BeginTransaction",
		"EndTransaction", "AbortTransaction", "RemoveDelegationToken", "RegisterController", "ClearElr",
		"UnregisterController",
	}
}

// framed reads the head of a record of the metadata log: frame version, type, version.
func framed(b []byte) (typ, version int, rest []byte, err error) {
	var head [3]uint64
	for i := range head {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > 1<<15 {
			return 0, 0, nil, fmt.Errorf("Error while reading the frame: %w", layout.ErrShort)
		}
		if i == 0 && v != 1 {
			return 0, 0, nil, fmt.Errorf("Could not deserialize metadata record due to unknown frame version %d(only "+
				"frame version 1 is supported)", v)
		}
		head[i], b = v, b[n:]
	}
	return int(head[1]), int(head[2]), b, nil
}

func decodeMetadata(rec *batch.Record, offset int64) (key, payload []byte, err error) {
	json, err := metadataJSON(rec.Value)
	if err != nil {
		return nil, fmt.Appendf(nil, "Error at %d, skipping. %v", offset, err), nil
	}
	return nil, json, nil
}

func metadataJSON(value []byte) ([]byte, error) {
	typ, version, rest, err := framed(value)
	if err != nil {
		return nil, err
	}
	types := metadataTypes()
	if typ >= len(types) || types[typ] == "" {
		return nil, fmt.Errorf("Unknown metadata id %d", typ)
	}
	l := layout.Find(types[typ] + "Record")
	if version > int(l.High) {
		return nil, fmt.Errorf("Can't read version %d of %sRecord", version, types[typ])
	}
	json, left, err := l.JSON(nil, rest, int16(version), nil)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("Found %d byte(s) of garbage after %s", len(left), constant(types[typ]+"Record"))
	}
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"type":"%s","version":%d,"data":%s}`, constant(types[typ]+"Record"), version,
		json), nil
}

// constant spells a name as Java's constants are: REGISTER_BROKER_RECORD.
func constant(name string) string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(c))
	}
	return b.String()
}
