package meta

import (
	"fmt"

	"github.com/kalda/kalda/internal/format/record"
)

func (b *builder) applyRegisterBroker(r *record.RegisterBroker) error {
	broker := &Broker{
		ID: r.BrokerID, Epoch: r.BrokerEpoch, RegisterOffset: b.offset, Incarnation: r.IncarnationID,
		Endpoints: endpoints(r.EndPoints), Features: features(r.Features),
		Fenced: r.Fenced, InControlledShutdown: r.InControlledShutdown,
		LogDirs: r.LogDirs, CordonedLogDirs: r.CordonedLogDirs,
	}
	if r.Rack != nil {
		broker.Rack = *r.Rack
	}
	b.putBroker(broker)
	return nil
}

func (b *builder) putBroker(broker *Broker) {
	own(b, &b.img.brokers).Set(broker.ID, broker)
	b.delta.Brokers[broker.ID] = struct{}{}
}

func (b *builder) registered(id NodeID, epoch int64) (*Broker, error) {
	broker := b.img.Broker(id)
	if broker == nil || broker.Epoch != epoch {
		return nil, fmt.Errorf("%w: no broker %d with epoch %d", ErrReplay, id, epoch)
	}
	return broker, nil
}

func (b *builder) applyUnregisterBroker(r *record.UnregisterBroker) error {
	if _, err := b.registered(r.BrokerID, r.BrokerEpoch); err != nil {
		return err
	}
	own(b, &b.img.brokers).Delete(r.BrokerID)
	b.delta.Brokers[r.BrokerID] = struct{}{}
	return nil
}

func (b *builder) applyBrokerChange(r *record.BrokerRegistrationChange) error {
	old, err := b.registered(r.BrokerID, r.BrokerEpoch)
	if err != nil {
		return err
	}
	broker := *old
	if r.Fenced != 0 {
		broker.Fenced = r.Fenced > 0
	}
	if r.InControlledShutdown != 0 {
		broker.InControlledShutdown = r.InControlledShutdown > 0
	}
	if len(r.LogDirs) > 0 {
		broker.LogDirs = r.LogDirs
	}
	if r.CordonedLogDirs != nil {
		broker.CordonedLogDirs = r.CordonedLogDirs
	}
	b.putBroker(&broker)
	return nil
}

// applyFence is for the records that BrokerRegistrationChange replaced.
func (b *builder) applyFence(id NodeID, epoch int64, fenced int8) error {
	r := &record.BrokerRegistrationChange{BrokerID: id, BrokerEpoch: epoch, Fenced: fenced}
	return b.applyBrokerChange(r)
}

func (b *builder) applyRegisterController(r *record.RegisterController) error {
	b.delta.Controllers = true
	own(b, &b.img.controllers).Set(r.ControllerID, &Controller{
		ID: r.ControllerID, Incarnation: r.IncarnationID, ZkReady: r.ZkMigrationReady,
		Endpoints: endpoints(r.EndPoints), Features: features(r.Features),
	})
	return nil
}

func (b *builder) applyUnregisterController(r *record.UnregisterController) error {
	if _, ok := own(b, &b.img.controllers).Delete(r.ControllerID); !ok {
		return fmt.Errorf("%w: no controller %d", ErrReplay, r.ControllerID)
	}
	b.delta.Controllers = true
	return nil
}

func endpoints(in []record.EndPoint) []Endpoint {
	out := make([]Endpoint, len(in))
	for i, e := range in {
		out[i] = Endpoint{Name: e.Name, Host: e.Host, Port: e.Port, Protocol: e.Protocol}
	}
	return out
}

func features(in []record.Feature) map[string]FeatureRange {
	out := make(map[string]FeatureRange, len(in))
	for _, f := range in {
		out[f.Name] = FeatureRange{f.Min, f.Max}
	}
	return out
}

// applySecurity is for the records that this image keeps as they came.
func (b *builder) applySecurity(m record.Metadata) error {
	switch r := m.(type) {
	case *record.ClientQuota:
		b.delta.Quotas = true
		if r.Remove {
			own(b, &b.img.quotas).Delete(quotaKey(r))
		} else {
			own(b, &b.img.quotas).Set(quotaKey(r), r)
		}
	case *record.AccessControlEntry:
		b.delta.ACLs = true
		own(b, &b.img.acls).Set(string(r.ID[:]), r)
	case *record.RemoveAccessControlEntry:
		b.delta.ACLs = true
		own(b, &b.img.acls).Delete(string(r.ID[:]))
	case *record.UserScramCredential:
		b.delta.Scram = true
		own(b, &b.img.scram).Set(scramKey(r.Name, r.Mechanism), r)
	case *record.RemoveUserScram:
		b.delta.Scram = true
		own(b, &b.img.scram).Delete(scramKey(r.Name, r.Mechanism))
	case *record.DelegationToken:
		b.delta.Tokens = true
		own(b, &b.img.tokens).Set(r.TokenID, r)
	case *record.RemoveDelegationToken:
		b.delta.Tokens = true
		own(b, &b.img.tokens).Delete(r.TokenID)
	default:
		return fmt.Errorf("%w: type %d", ErrReplay, m.Key())
	}
	return nil
}
