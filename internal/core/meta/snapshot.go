package meta

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/format/record"
)

// quotaKey names one quota of one entity, whatever the order of the entity's parts.
func quotaKey(r *record.ClientQuota) string {
	parts := make([]string, len(r.Entity))
	for i, e := range r.Entity {
		parts[i] = e.Type + "\x00\x01"
		if e.Name != nil {
			parts[i] = e.Type + "\x00\x02" + *e.Name
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, "\x00\x00") + "\x00\x00" + r.Name
}

// Snapshot is the records that build this image, in the order of Apache's snapshots: metadata.version is
// the first, for a reader decides from it whether it can read the rest (kraft.md 3.6). Inside a metadata
// transaction it is the image before it.
func (i *Image) Snapshot() iter.Seq[[]byte] {
	if i.tx != nil {
		i = i.tx.base
	}
	return func(yield func([]byte) bool) {
		mv := i.MetadataVersion()
		put := func(m record.Metadata, version int16) bool { return yield(record.AppendMetadata(nil, m, version)) }
		_ = i.snapshotFeatures(put) && i.snapshotNodes(mv, put) && i.snapshotTopics(mv, put) &&
			i.snapshotConfigs(put) && i.snapshotRest(put)
	}
}

type putRecord func(m record.Metadata, version int16) bool

func (i *Image) snapshotFeatures(put putRecord) bool {
	level := i.features[FeatureMetadata]
	if level > 0 && !put(&record.FeatureLevel{Name: FeatureMetadata, Level: level}, 0) {
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(i.features)) {
		if name != FeatureMetadata && !put(&record.FeatureLevel{Name: name, Level: i.features[name]}, 0) {
			return false
		}
	}
	if i.zkState != 0 {
		return put(&record.ZkMigrationState{State: i.zkState}, 0)
	}
	return true
}

func (i *Image) snapshotNodes(mv int16, put putRecord) bool {
	for b := range i.Brokers() {
		if !put(b.record(), registerBrokerVersion(mv)) {
			return false
		}
	}
	for c := range i.Controllers() {
		r := &record.RegisterController{
			ControllerID: c.ID, IncarnationID: c.Incarnation, ZkMigrationReady: c.ZkReady,
			EndPoints: endpointRecords(c.Endpoints), Features: featureRecords(c.Features),
		}
		if !put(r, 0) {
			return false
		}
	}
	return true
}

func (b *Broker) record() *record.RegisterBroker {
	r := &record.RegisterBroker{
		BrokerID: b.ID, IncarnationID: b.Incarnation, BrokerEpoch: b.Epoch,
		EndPoints: endpointRecords(b.Endpoints), Features: featureRecords(b.Features),
		Fenced: b.Fenced, InControlledShutdown: b.InControlledShutdown,
		LogDirs: b.LogDirs, CordonedLogDirs: b.CordonedLogDirs,
	}
	if b.Rack != "" {
		r.Rack = &b.Rack
	}
	return r
}

func (i *Image) snapshotTopics(mv int16, put putRecord) bool {
	version := partitionVersion(mv)
	for t := range i.Topics() {
		if !put(&record.Topic{Name: t.Name, TopicID: t.ID}, 0) {
			return false
		}
		for n, p := range t.Partitions {
			if !put(p.record(t.ID, int32(n)), version) {
				return false
			}
		}
	}
	return true
}

func (p *Partition) record(topic UUID, index int32) *record.Partition {
	r := &record.Partition{
		PartitionID: index, TopicID: topic,
		Replicas: p.Replicas, ISR: p.ISR, Adding: p.Adding, Removing: p.Removing,
		Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch, Directories: p.Dirs,
	}
	if p.Recovering {
		r.RecoveryState = recovering
	}
	if len(p.ELR) > 0 {
		r.ELR = p.ELR
	}
	if len(p.LastELR) > 0 {
		r.LastKnownELR = p.LastELR
	}
	return r
}

func (i *Image) snapshotConfigs(put putRecord) bool {
	for res, values := range i.Configs() {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if !put(configRecord(res, name, new(values[name])), 0) {
				return false
			}
		}
	}
	return true
}

func (i *Image) snapshotRest(put putRecord) bool {
	for q := range i.Quotas() {
		if !put(q, 0) {
			return false
		}
	}
	ids := &record.ProducerIDs{BrokerID: NoNode, BrokerEpoch: -1, NextProducerID: i.nextProducerID}
	if i.nextProducerID > 0 && !put(ids, 0) {
		return false
	}
	for a := range i.ACLs() {
		if !put(a, 0) {
			return false
		}
	}
	for s := range i.Scrams() {
		if !put(s, 0) {
			return false
		}
	}
	for t := range i.Tokens() {
		if !put(t, 0) {
			return false
		}
	}
	return true
}

func configRecord(res ConfigResource, name string, value *string) *record.Config {
	return &record.Config{ResourceType: int8(res.Kind), ResourceName: res.Name, Name: name, Value: value}
}

func endpointRecords(in []Endpoint) []record.EndPoint {
	out := make([]record.EndPoint, len(in))
	for i, e := range in {
		out[i] = record.EndPoint{Name: e.Name, Host: e.Host, Port: e.Port, Protocol: e.Protocol}
	}
	return out
}

func featureRecords(in map[string]FeatureRange) []record.Feature {
	out := make([]record.Feature, 0, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		out = append(out, record.Feature{Name: name, Min: in[name].Min, Max: in[name].Max})
	}
	return out
}
