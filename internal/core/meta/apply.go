package meta

import (
	"errors"
	"fmt"
	"iter"
	"maps"

	"github.com/tidwall/btree"

	"github.com/kalda/kalda/internal/format/record"
)

// ErrReplay says that a record doesn't fit the image that it is applied to: the log and the code disagree.
var ErrReplay = errors.New("metadata record can't be applied")

// builder is an image under construction. own* say which parts it has already copied and may write to.
type builder struct {
	img    Image
	delta  *Delta
	offset int64 // of the record being applied

	owned       map[any]struct{}
	ownTopics   map[UUID]struct{}
	ownConfigs  map[ConfigResource]struct{}
	ownFeatures bool
}

func (i *Image) builder() *builder {
	b := &builder{img: *i, delta: newDelta()}
	b.reset()
	if i.tx != nil {
		b.delta = i.tx.pending.clone()
	}
	return b
}

// reset forgets what may be written in place: everything built so far is frozen in an image.
func (b *builder) reset() {
	b.owned = map[any]struct{}{}
	b.ownTopics = map[UUID]struct{}{}
	b.ownConfigs = map[ConfigResource]struct{}{}
	b.ownFeatures = false
}

// Apply gives the image after one batch of records, the first of which is at offset base, and what it
// changed. Inside a metadata transaction the delta collects everything since the last image that was out of
// one.
func (i *Image) Apply(base int64, epoch int32, ms int64, recs [][]byte) (*Image, *Delta, error) {
	b := i.builder()
	for n, rec := range recs {
		b.offset = base + int64(n)
		if err := b.apply(rec); err != nil {
			return nil, nil, fmt.Errorf("offset %d: %w", b.offset, err)
		}
	}
	return b.finish(base+int64(len(recs))-1, epoch, ms)
}

// FromSnapshot gives the image that a snapshot's records describe, as it is after offset last, and what
// changed from i.
func (i *Image) FromSnapshot(
	last int64, epoch int32, ms int64, recs iter.Seq[[]byte],
) (*Image, *Delta, error) {
	b := Empty().builder()
	b.offset = last
	for rec := range recs {
		if err := b.apply(rec); err != nil {
			return nil, nil, fmt.Errorf("snapshot at %d: %w", last, err)
		}
	}
	for t := range i.Topics() {
		if b.img.TopicByID(t.ID) == nil {
			b.delta.Deleted = append(b.delta.Deleted, t)
		}
	}
	for broker := range i.Brokers() {
		b.delta.Brokers[broker.ID] = struct{}{}
	}
	for r := range i.Configs() {
		b.delta.Configs[r] = struct{}{}
	}
	d := b.delta
	d.Features, d.Controllers, d.ProducerIDs, d.Quotas, d.ACLs = true, true, true, true, true
	d.Scram, d.Tokens, d.Snapshot = true, true, true
	return b.finish(last, epoch, ms)
}

func (b *builder) finish(last int64, epoch int32, ms int64) (*Image, *Delta, error) {
	img := b.img
	img.Offset, img.Epoch, img.Timestamp = last, epoch, ms
	if img.tx != nil {
		tx := *img.tx
		tx.pending = b.delta
		img.tx = &tx
	}
	return &img, b.delta, nil
}

func (b *builder) apply(raw []byte) error {
	m, version, err := record.DecodeMetadata(raw)
	if err != nil {
		return err
	}
	switch r := m.(type) {
	case *record.NoOp:
		return nil
	case *record.PartitionChange:
		return b.applyPartitionChange(r)
	case *record.Partition:
		return b.applyPartition(r)
	case *record.Topic:
		return b.applyTopic(r)
	case *record.RemoveTopic:
		return b.applyRemoveTopic(r)
	case *record.ClearELR:
		return b.applyClearELR(r)
	case *record.Config:
		return b.applyConfig(r)
	case *record.Unknown:
		return fmt.Errorf("%w: type %d version %d is newer than this software", ErrReplay, r.Type, version)
	}
	return b.applyNode(m)
}

func (b *builder) applyNode(m record.Metadata) error {
	switch r := m.(type) {
	case *record.RegisterBroker:
		return b.applyRegisterBroker(r)
	case *record.UnregisterBroker:
		return b.applyUnregisterBroker(r)
	case *record.BrokerRegistrationChange:
		return b.applyBrokerChange(r)
	case *record.FenceBroker:
		return b.applyFence(r.BrokerID, r.Epoch, 1)
	case *record.UnfenceBroker:
		return b.applyFence(r.BrokerID, r.Epoch, -1)
	case *record.RegisterController:
		return b.applyRegisterController(r)
	case *record.UnregisterController:
		return b.applyUnregisterController(r)
	case *record.FeatureLevel:
		return b.applyFeature(r)
	case *record.ProducerIDs:
		b.delta.ProducerIDs = true
		b.img.nextProducerID = r.NextProducerID
		return nil
	case *record.ZkMigrationState:
		b.img.zkState = r.State
		return nil
	case *record.BeginTransaction:
		return b.applyBegin()
	case *record.EndTransaction:
		return b.applyEnd()
	case *record.AbortTransaction:
		return b.applyAbort()
	}
	return b.applySecurity(m)
}

// own makes the map that p points to writable: copied once per builder, so that images made before stay as
// they are.
func own[K interface{ ~int32 | ~string }, V any](b *builder, p **btree.Map[K, V]) *btree.Map[K, V] {
	if _, ok := b.owned[p]; !ok {
		*p = (*p).Copy()
		b.owned[p] = struct{}{}
	}
	return *p
}

func (b *builder) applyBegin() error {
	if b.img.tx != nil {
		return fmt.Errorf("%w: transaction inside a transaction", ErrReplay)
	}
	base := b.img
	base.Offset = b.offset - 1
	b.img.tx = &transaction{base: &base, delta: b.delta.clone()}
	b.reset()
	return nil
}

func (b *builder) applyEnd() error {
	if b.img.tx == nil {
		return fmt.Errorf("%w: end of no transaction", ErrReplay)
	}
	b.img.tx = nil
	return nil
}

func (b *builder) applyAbort() error {
	if b.img.tx == nil {
		return fmt.Errorf("%w: abort of no transaction", ErrReplay)
	}
	tx := b.img.tx
	b.img = *tx.base
	b.delta = tx.delta
	b.reset()
	return nil
}

func (b *builder) applyFeature(r *record.FeatureLevel) error {
	if !b.ownFeatures {
		b.img.features = maps.Clone(b.img.features)
		b.ownFeatures = true
	}
	b.delta.Features = true
	if r.Level == 0 {
		delete(b.img.features, r.Name)
	} else {
		b.img.features[r.Name] = r.Level
	}
	return nil
}

func (b *builder) applyConfig(r *record.Config) error {
	res := ConfigResource{ConfigKind(r.ResourceType), r.ResourceName}
	b.delta.Configs[res] = struct{}{}
	all := own(b, &b.img.configs)
	c, found := all.Get(res.key())
	if _, ok := b.ownConfigs[res]; !ok {
		next := &configs{resource: res, values: map[string]string{}}
		if found {
			maps.Copy(next.values, c.values)
		}
		c = next
		all.Set(res.key(), c)
		b.ownConfigs[res] = struct{}{}
	}
	if r.Value != nil {
		c.values[r.Name] = *r.Value
		return nil
	}
	delete(c.values, r.Name)
	if len(c.values) == 0 {
		b.removeConfigs(res)
	}
	return nil
}

func (b *builder) removeConfigs(res ConfigResource) {
	if _, ok := own(b, &b.img.configs).Delete(res.key()); ok {
		b.delta.Configs[res] = struct{}{}
	}
	delete(b.ownConfigs, res)
}
