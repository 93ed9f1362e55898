package controller

import (
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/kerr"
)

// session is what is known of a broker beside the log: when it was last heard of, and how far it has read.
type session struct {
	epoch    int64
	heard    time.Time
	offset   int64 // newest offset it has published to itself, -1 unknown
	shutdown int64 // offset of the records that moved its leaders away, -1 if none did
}

// touch notes a sign of life.
func (l *leadership) touch(id meta.NodeID, epoch int64, now time.Time) *session {
	s := l.sessions[id]
	if s == nil || s.epoch != epoch {
		s = &session{epoch: epoch, offset: -1, shutdown: -1}
		l.sessions[id] = s
	}
	s.heard = now
	return s
}

// valid says that a broker's registration is in use.
func (c *Controller) valid(b *meta.Broker, now time.Time) bool {
	s := c.lead.sessions[b.ID]
	return s != nil && s.epoch == b.Epoch && now.Sub(s.heard) < c.cfg.SessionTimeout
}

func (c *Controller) registerBroker(r *request, q *kmsg.BrokerRegistrationRequest) {
	in := &meta.Registration{
		Broker: meta.Broker{
			ID: meta.NodeID(q.BrokerID), Incarnation: q.IncarnationID, Features: map[string]meta.FeatureRange{},
		},
		ClusterID: q.ClusterID, Migrating: q.IsMigratingZkBroker, PreviousEpoch: q.PreviousBrokerEpoch,
	}
	if q.Version < 3 {
		in.PreviousEpoch = -1
	}
	b := &in.Broker
	if q.Rack != nil {
		b.Rack = *q.Rack
	}
	for _, e := range q.Listeners {
		b.Endpoints = append(b.Endpoints,
			meta.Endpoint{Name: e.Name, Host: e.Host, Port: e.Port, Protocol: e.SecurityProtocol})
	}
	for _, f := range q.Features {
		b.Features[f.Name] = meta.FeatureRange{Min: f.MinSupportedVersion, Max: f.MaxSupportedVersion}
	}
	for _, d := range q.LogDirs {
		b.LogDirs = append(b.LogDirs, d)
	}
	p := c.planner(r.w)
	old := p.Image.Broker(b.ID)
	in.Fresh = old == nil || !c.valid(old, r.w.Now()) || c.successor(old)
	recs, epoch, f := p.RegisterBroker(in)
	if !f.OK() {
		c.cfg.Logger.Warn("refused to register a broker", "broker", b.ID, "code", f.Code, "why", f.Message)
		r.reply(Refuse(q, f.Code, f.Message))
		return
	}
	resp := kmsg.NewPtrBrokerRegistrationResponse()
	resp.Version, resp.BrokerEpoch = q.Version, epoch
	c.lead.registered(b.ID, epoch)
	c.writeInternal(r, recs, resp) // all its partitions may change
}

// successor says that a registered incarnation is one of this very process's predecessors, which are all
// dead: the only voter holds the log, registered nobody by this id since it started to lead, and is asked
// to do so now. Apache would wait for the session to run out.
func (c *Controller) successor(old *meta.Broker) bool {
	return c.cfg.Alone && c.cfg.Broker && old.ID == c.cfg.NodeID && old.Epoch < c.lead.start
}

func (l *leadership) registered(id meta.NodeID, epoch int64) {
	if s := l.sessions[id]; s != nil && s.epoch != epoch {
		delete(l.sessions, id) // tracked again from its first heartbeat
	}
}

func (c *Controller) heartbeat(r *request, q *kmsg.BrokerHeartbeatRequest) {
	in := &meta.Heartbeat{
		Broker: meta.NodeID(q.BrokerID), Epoch: q.BrokerEpoch, Offset: q.CurrentMetadataOffset,
		WantFence: q.WantFence, WantShutDown: q.WantShutdown,
		Offline: uuids(q.OfflineLogDirs), Cordoned: uuids(q.CordonedLogDirs), ShutdownOffset: -1,
	}
	p := c.planner(r.w)
	var s *session
	if b := p.Image.Broker(in.Broker); b != nil && b.Epoch == in.Epoch {
		s = c.lead.touch(in.Broker, in.Epoch, r.w.Now())
		s.offset = in.Offset
		in.ShutdownOffset, in.LowestActive = s.shutdown, c.lowestActive(p.Image)
	}
	recs, res := p.Heartbeat(in)
	if !res.OK() {
		r.reply(Refuse(q, res.Code, res.Message))
		return
	}
	resp := kmsg.NewPtrBrokerHeartbeatResponse()
	resp.Version = q.Version
	resp.IsCaughtUp, resp.IsFenced, resp.ShouldShutdown = res.CaughtUp, res.Fenced, res.ShouldShutDown
	c.writeInternal(r, recs, resp)
	if res.Moved && c.lead != nil && len(c.lead.steps) > 0 {
		s.shutdown = c.lead.pending.Offset
	}
}

func uuids(in [][16]byte) []meta.UUID {
	if in == nil {
		return nil
	}
	out := make([]meta.UUID, len(in))
	for i, u := range in {
		out[i] = u
	}
	return out
}

// lowestActive is the smallest offset that the active brokers have read up to.
func (c *Controller) lowestActive(img *meta.Image) int64 {
	low := int64(math.MaxInt64)
	for b := range img.Brokers() {
		if s := c.lead.sessions[b.ID]; b.Active() && s != nil {
			low = min(low, s.offset)
		}
	}
	return low
}

func (c *Controller) unregisterBroker(r *request, q *kmsg.UnregisterBrokerRequest) {
	recs, f := c.planner(r.w).UnregisterBroker(meta.NodeID(q.BrokerID))
	if !f.OK() {
		r.reply(Refuse(q, f.Code, f.Message))
		return
	}
	resp := kmsg.NewPtrUnregisterBrokerResponse()
	resp.Version = q.Version
	c.writeInternal(r, recs, resp)
}

func (c *Controller) allocateProducerIDs(r *request, q *kmsg.AllocateProducerIDsRequest) {
	recs, start, f := c.planner(r.w).AllocateProducerIDs(meta.NodeID(q.BrokerID), q.BrokerEpoch)
	if !f.OK() {
		r.reply(Refuse(q, f.Code, f.Message))
		return
	}
	resp := kmsg.NewPtrAllocateProducerIDsResponse()
	resp.Version, resp.ProducerIDStart, resp.ProducerIDLen = q.Version, start, meta.ProducerBlock
	c.write(r, recs, resp)
}

func (c *Controller) registerController(r *request, q *kmsg.ControllerRegistrationRequest) {
	in := &meta.Controller{
		ID: meta.NodeID(q.ControllerID), Incarnation: q.IncarnationID, ZkReady: q.ZkMigrationReady,
		Features: map[string]meta.FeatureRange{},
	}
	for _, e := range q.Listeners {
		in.Endpoints = append(in.Endpoints,
			meta.Endpoint{Name: e.Name, Host: e.Host, Port: e.Port, Protocol: e.SecurityProtocol})
	}
	for _, f := range q.Features {
		in.Features[f.Name] = meta.FeatureRange{Min: f.MinSupportedVersion, Max: f.MaxSupportedVersion}
	}
	recs, f := c.planner(r.w).RegisterController(in)
	if !f.OK() {
		r.reply(Refuse(q, f.Code, f.Message))
		return
	}
	resp := kmsg.NewPtrControllerRegistrationResponse()
	resp.Version = q.Version
	c.write(r, recs, resp)
}

func (c *Controller) unregisterController(r *request, q *kmsg.UnregisterControllerRequest) {
	id := meta.NodeID(q.ControllerID)
	if id == c.cfg.NodeID {
		r.reply(Refuse(q, kerr.InvalidRequest, "Controller cannot unregister itself while it is active."))
		return
	}
	recs, f := c.planner(r.w).UnregisterController(id)
	if !f.OK() {
		r.reply(Refuse(q, f.Code, f.Message))
		return
	}
	resp := kmsg.NewPtrUnregisterControllerResponse()
	resp.Version = q.Version
	c.write(r, recs, resp)
}
