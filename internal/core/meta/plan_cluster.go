package meta

import (
	"math"
	"strconv"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// ProducerBlock is how many producer ids a broker gets at a time.
const ProducerBlock = 1000

// AllocateProducerIDs plans a block of producer ids for a broker.
func (p *Planner) AllocateProducerIDs(broker NodeID, epoch int64) (recs [][]byte, start int64, f Failure) {
	if f := p.CheckEpoch(broker, epoch); !f.OK() {
		return nil, -1, f
	}
	start = p.Image.NextProducerID()
	if start > math.MaxInt64-ProducerBlock {
		return nil, -1, failf(kerr.UnknownServerError,
			"Exhausted all producerIds as the next block's end producerId has exceeded the int64 type limit")
	}
	o := p.output()
	o.put(&record.ProducerIDs{BrokerID: broker, BrokerEpoch: epoch, NextProducerID: start + ProducerBlock})
	return o.recs, start, Failure{}
}

// CheckEpoch says whether a broker is the one that registered.
func (p *Planner) CheckEpoch(broker NodeID, epoch int64) Failure {
	b := p.Image.Broker(broker)
	switch {
	case b == nil:
		return failf(kerr.StaleBrokerEpoch, "No broker registration found for broker id %d", broker)
	case b.Epoch != epoch:
		return failf(kerr.StaleBrokerEpoch, "Expected broker epoch %d, but got broker epoch %d", b.Epoch, epoch)
	}
	return Failure{}
}

// RegisterController plans a controller's registration.
func (p *Planner) RegisterController(c *Controller) (recs [][]byte, f Failure) {
	if p.Image.MetadataVersion() < mvControllers {
		return nil, failf(kerr.UnsupportedVersion,
			"The current MetadataVersion is too old to support controller registrations.")
	}
	o := p.output()
	o.put(&record.RegisterController{
		ControllerID: c.ID, IncarnationID: c.Incarnation, ZkMigrationReady: c.ZkReady,
		EndPoints: endpointRecords(c.Endpoints), Features: featureRecords(c.Features),
	})
	return o.recs, Failure{}
}

// UnregisterController plans that a controller is forgotten. Whether it votes is for the caller to know.
func (p *Planner) UnregisterController(id NodeID) (recs [][]byte, f Failure) {
	switch {
	case p.Image.MetadataVersion() < mvUnregister:
		return nil, failf(kerr.UnsupportedVersion,
			"The current MetadataVersion is too old to support controller unregistration.")
	case p.Image.Controller(id) == nil:
		return nil, failf(kerr.ControllerIDNotRegistered, "Controller ID %d is not currently registered.", id)
	}
	o := p.output()
	o.put(&record.UnregisterController{ControllerID: id})
	return o.recs, Failure{}
}

// NoOp plans nothing but a record that keeps offsets moving.
func (p *Planner) NoOp() [][]byte {
	o := p.output()
	o.put(&record.NoOp{})
	return o.recs
}

// Abort plans the end of a metadata transaction that another leader left open.
func (p *Planner) Abort() [][]byte {
	o := p.output()
	o.put(&record.AbortTransaction{Reason: new("Controller failover")})
	return o.recs
}

// Bootstrap plans the first records of an empty log: what formatting wrote down, or the defaults of the
// newest metadata.version, made to appear at once (kraft.md 4.1).
func (p *Planner) Bootstrap(formatted [][]byte) ([][]byte, error) {
	recs := formatted
	if len(recs) == 0 {
		recs = BootstrapRecords(DefaultFeatures(LatestMetadataVersion))
	}
	img, _, err := Empty().Apply(0, 0, 0, recs)
	if err != nil {
		return nil, err
	}
	o := &output{mv: img.MetadataVersion()}
	if o.mv >= mvTransactions {
		o.put(&record.BeginTransaction{Name: new("Bootstrap records")})
	}
	o.recs = append(o.recs, recs...)
	if img.Feature(FeatureELR) > 0 && img.Config(ConfigBroker, "")[keyMinISR] == "" {
		min := strconv.Itoa(max(p.Rules.MinISR, 1))
		o.put(configRecord(ConfigResource{ConfigBroker, ""}, keyMinISR, &min))
	}
	if o.mv >= mvTransactions {
		o.put(&record.EndTransaction{})
	}
	return o.recs, nil
}

// DefaultFeatures are the levels of every feature that a new cluster of that metadata.version has (kraft.md
// 3.8).
func DefaultFeatures(mv int16) map[string]int16 {
	out := map[string]int16{FeatureMetadata: mv}
	for _, d := range []struct {
		from  int16
		name  string
		level int16
	}{
		{21, FeatureKRaft, 1},
		{22, FeatureGroup, 1},
		{24, FeatureTransaction, 2},
		{26, FeatureELR, 1},
		{28, FeatureShare, 1},
		{29, FeatureStreams, 1},
		{31, FeatureShare, 2},
	} {
		if mv >= d.from {
			out[d.name] = d.level
		}
	}
	return out
}

// BootstrapRecords are the records that finalize features: metadata.version first, kraft.version never.
func BootstrapRecords(levels map[string]int16) [][]byte {
	o := &output{mv: levels[FeatureMetadata]}
	o.put(&record.FeatureLevel{Name: FeatureMetadata, Level: levels[FeatureMetadata]})
	for _, name := range sortedKeys(levels) {
		if name != FeatureMetadata && name != FeatureKRaft && levels[name] > 0 {
			o.put(&record.FeatureLevel{Name: name, Level: levels[name]})
		}
	}
	return o.recs
}
