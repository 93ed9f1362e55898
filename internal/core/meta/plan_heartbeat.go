package meta

import (
	"slices"

	"github.com/kalda/kalda/internal/format/record"
)

// Heartbeat is what a broker says every few seconds, and what the driver knows about the others.
type Heartbeat struct {
	Broker       NodeID
	Epoch        int64
	Offset       int64 // the newest offset of metadata that the broker has published to itself
	WantFence    bool
	WantShutDown bool
	Offline      []UUID // directories that failed
	Cordoned     []UUID // nil: not told

	ShutdownOffset int64 // offset of the records that moved its leaders away, -1 if it isn't shutting down
	LowestActive   int64 // smallest Offset of the active brokers, math.MaxInt64 if there is none
}

// HeartbeatResult is the answer to a heartbeat.
type HeartbeatResult struct {
	Failure
	CaughtUp, Fenced, ShouldShutDown bool
	Moved                            bool // the records put it into controlled shutdown: note their last offset
}

// Heartbeat plans a broker's next state (kraft.md 4.4, 4.5).
func (p *Planner) Heartbeat(in *Heartbeat) (recs [][]byte, res HeartbeatResult) {
	if res.Failure = p.CheckEpoch(in.Broker, in.Epoch); !res.OK() {
		return nil, res
	}
	b := p.Image.Broker(in.Broker)
	o := p.output()
	res.CaughtUp = in.Offset >= b.RegisterOffset
	res.Fenced = b.Fenced
	p.directories(o, b, in)
	switch {
	case b.Fenced:
		p.heartbeatFenced(o, b, in, &res)
	case b.InControlledShutdown:
		if !p.Image.Leads(b.ID) && in.ShutdownOffset <= in.LowestActive {
			p.shutDown(o, b, &res)
		}
	case in.WantFence && in.WantShutDown, in.WantShutDown && !p.Image.Leads(b.ID):
		p.shutDown(o, b, &res)
	case in.WantFence:
		p.fence(o, b)
		res.Fenced = true
	case in.WantShutDown:
		o.put(&record.BrokerRegistrationChange{BrokerID: b.ID, BrokerEpoch: b.Epoch, InControlledShutdown: 1})
		p.moveAway(o, b.ID, NoNode)
		res.Moved = true
	}
	return o.recs, res
}

func (p *Planner) heartbeatFenced(o *output, b *Broker, in *Heartbeat, res *HeartbeatResult) {
	switch {
	case in.WantShutDown:
		res.ShouldShutDown = true
	case !in.WantFence && res.CaughtUp:
		o.put(&record.BrokerRegistrationChange{BrokerID: b.ID, BrokerEpoch: b.Epoch, Fenced: -1})
		p.moveIn(o, b.ID)
		res.Fenced = false
	}
}

func (p *Planner) shutDown(o *output, b *Broker, res *HeartbeatResult) {
	p.fence(o, b)
	res.Fenced, res.ShouldShutDown = true, true
}

// directories: replicas in directories that just failed lose their place in ISRs before the directories
// leave the registration.
func (p *Planner) directories(o *output, b *Broker, in *Heartbeat) {
	var failed []UUID
	for _, d := range in.Offline {
		if slices.Contains(b.LogDirs, d) {
			failed = append(failed, d)
		}
	}
	if len(failed) > 0 {
		p.leaveDirectories(o, b, failed)
		left := slices.DeleteFunc(slices.Clone(b.LogDirs), func(d UUID) bool { return slices.Contains(failed, d) })
		o.put(&record.BrokerRegistrationChange{BrokerID: b.ID, BrokerEpoch: b.Epoch, LogDirs: left})
	}
	if in.Cordoned == nil || p.Image.MetadataVersion() < mvCordoned {
		return
	}
	if b.CordonedLogDirs == nil || !sameSet(in.Cordoned, b.CordonedLogDirs) {
		o.put(&record.BrokerRegistrationChange{BrokerID: b.ID, BrokerEpoch: b.Epoch, CordonedLogDirs: in.Cordoned})
	}
}

func (p *Planner) leaveDirectories(o *output, b *Broker, failed []UUID) {
	for t := range p.Image.Topics() {
		for n, part := range t.Partitions {
			if !slices.Contains(failed, part.dirOf(b.ID)) || !slices.Contains(part.ISR, b.ID) {
				continue
			}
			c := p.change(t, int32(n))
			c.isr = without(part.ISR, b.ID)
			acceptable := c.acceptable
			c.acceptable = func(r NodeID) bool { return r != b.ID && acceptable(r) }
			if r := c.build(); r != nil {
				o.put(r)
			}
		}
	}
}

func sameSet(a, b []UUID) bool {
	has := func(s, t []UUID) bool {
		return !slices.ContainsFunc(t, func(u UUID) bool { return !slices.Contains(s, u) })
	}
	return has(a, b) && has(b, a)
}
