package meta

import (
	"slices"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// MorePartitions asks for a topic to have Count partitions. Assignments, if given, place the new ones in
// order.
type MorePartitions struct {
	Name        string
	Count       int32
	Assignments [][]NodeID
	Assigned    bool // Assignments was in the request, perhaps empty
}

// CreatePartitions plans more partitions; results are in the order of the request.
func (p *Planner) CreatePartitions(in []MorePartitions) (recs [][]byte, results []TopicResult) {
	o := p.output()
	count, total := map[string]int{}, 0
	for i := range in {
		count[in[i].Name]++
		if t := p.Image.Topic(in[i].Name); t != nil {
			total += max(int(in[i].Count)-len(t.Partitions), 0)
		}
	}
	place := p.placer()
	for i := range in {
		r := TopicResult{Name: in[i].Name}
		switch {
		case count[in[i].Name] > 1:
			r.Failure = failf(kerr.InvalidRequest, "Duplicate topic name.")
		case total > maxPartitions:
			r.Failure = failf(kerr.PolicyViolation, "Excessively large number of additional partitions per request.")
		default:
			r.Failure = p.addPartitions(o, &in[i], place)
		}
		results = append(results, r)
	}
	return o.recs, results
}

func (p *Planner) addPartitions(o *output, in *MorePartitions, place *placer) Failure {
	t := p.Image.Topic(in.Name)
	if t == nil || len(t.Partitions) == 0 {
		return failf(kerr.UnknownTopicOrPartition, "This server does not host this topic-partition.")
	}
	have := len(t.Partitions)
	switch {
	case int(in.Count) == have:
		return failf(kerr.InvalidPartitions, "Topic already has %d partition(s).", have)
	case int(in.Count) < have:
		return failf(kerr.InvalidPartitions,
			"The topic %s currently has %d partition(s); %d would not be an increase.", in.Name, have, in.Count)
	case in.Assigned && len(in.Assignments) != int(in.Count)-have:
		return badAssignment(
			"Attempted to add %d additional partition(s), but only %d assignment(s) were specified.",
			int(in.Count)-have, len(in.Assignments))
	}
	rf := len(t.Partitions[0].Replicas)
	placement, f := in.Assignments, Failure{}
	if in.Assigned {
		f = p.checkAssignments(in.Assignments, rf, have)
	} else {
		placement, f = place.place(int(in.Count)-have, rf)
	}
	if f.OK() {
		f = p.mutate(len(placement))
	}
	if !f.OK() {
		return f
	}
	for n, replicas := range placement {
		o.put(p.newPartition(replicas).record(t.ID, int32(have+n)))
	}
	return Failure{}
}

func (p *Planner) checkAssignments(in [][]NodeID, rf, first int) Failure {
	for i, replicas := range in {
		if f := p.checkAssignment(replicas); !f.OK() {
			return f
		}
		if len(replicas) != rf {
			return badAssignment("The manual partition assignment includes a partition with %d "+
				"replica(s), but this is not consistent with previous partitions, which have %d replica(s).",
				len(replicas), rf)
		}
		if !slices.ContainsFunc(replicas, p.active) {
			return badAssignment("All brokers specified in the manual partition assignment for "+
				"partition %d are fenced or in controlled shutdown.", first+i)
		}
	}
	return Failure{}
}

// ISRChange is what a partition's leader proposes (AlterPartition).
type ISRChange struct {
	Topic          UUID
	Partition      int32
	LeaderEpoch    int32
	PartitionEpoch int32
	ISR            []NodeID
	Epochs         []int64 // broker epochs of ISR, -1 where not told
	Recovering     bool
}

// ISRResult is the partition after the change.
type ISRResult struct {
	Code      kerr.Code
	Partition *Partition
}

// AlterPartition plans one ISR change proposed by a broker (kraft.md 4.8).
func (p *Planner) AlterPartition(broker NodeID, in *ISRChange) (recs [][]byte, res ISRResult) {
	t := p.Image.TopicByID(in.Topic)
	if t == nil {
		return nil, ISRResult{Code: kerr.UnknownTopicID}
	}
	part := t.Partition(in.Partition)
	if part == nil {
		return nil, ISRResult{Code: kerr.UnknownTopicOrPartition}
	}
	if code := p.checkISR(broker, part, in); code != kerr.None {
		return nil, ISRResult{Code: code}
	}
	c := p.change(t, in.Partition)
	c.isr, c.recovering = in.ISR, in.Recovering
	r := c.build()
	if r == nil {
		return nil, ISRResult{Partition: part}
	}
	after, err := part.merge(r)
	if err != nil {
		return nil, ISRResult{Code: kerr.UnknownServerError}
	}
	o := p.output()
	o.put(r)
	if after.Leader != part.Leader {
		return o.recs, ISRResult{Code: kerr.NewLeaderElected}
	}
	return o.recs, ISRResult{Partition: after}
}

func (p *Planner) checkISR(broker NodeID, part *Partition, in *ISRChange) kerr.Code {
	switch {
	case in.LeaderEpoch > part.LeaderEpoch, in.PartitionEpoch > part.PartitionEpoch:
		return kerr.NotController // the sender has seen more than we have
	case in.LeaderEpoch < part.LeaderEpoch:
		return kerr.FencedLeaderEpoch
	case broker != part.Leader:
		return kerr.InvalidRequest
	case in.PartitionEpoch < part.PartitionEpoch:
		return kerr.InvalidUpdateVersion
	case !slices.Contains(in.ISR, broker):
		return kerr.InvalidRequest
	case in.Recovering && (len(in.ISR) > 1 || !part.Recovering):
		return kerr.InvalidRequest
	}
	for i, n := range in.ISR {
		if !slices.Contains(part.Replicas, n) || slices.Contains(in.ISR[:i], n) {
			return kerr.InvalidRequest
		}
	}
	for i, n := range in.ISR {
		b := p.Image.Broker(n)
		if !b.Active() || in.Epochs[i] != -1 && in.Epochs[i] != b.Epoch {
			return kerr.IneligibleReplica
		}
	}
	return kerr.None
}

// ElectLeader plans an election of one partition, preferred or unclean (kraft.md 4.9).
func (p *Planner) ElectLeader(name string, index int32, unclean bool) (recs [][]byte, f Failure) {
	t := p.Image.Topic(name)
	if t == nil {
		return nil, failf(kerr.UnknownTopicOrPartition, "No such topic as %s", name)
	}
	part := t.Partition(index)
	if part == nil {
		return nil, failf(kerr.UnknownTopicOrPartition, "No such partition as %s-%d", name, index)
	}
	if unclean && part.Leader != NoNode || !unclean && part.Leader == part.Replicas[0] {
		return nil, Failure{Code: kerr.ElectionNotNeeded}
	}
	c := p.change(t, index)
	c.election = electPreferred
	if unclean {
		c.election = electUnclean
	}
	r := c.build()
	if r == nil && unclean {
		return nil, Failure{Code: kerr.EligibleLeadersNotAvailable}
	}
	if r == nil {
		return nil, Failure{Code: kerr.PreferredLeaderNotAvailable}
	}
	o := p.output()
	o.put(r)
	return o.recs, Failure{}
}

// AssignDirectory plans that a replica is in a directory, as its broker found.
func (p *Planner) AssignDirectory(
	broker NodeID, topic UUID, index int32, dir UUID,
) (recs [][]byte, code kerr.Code) {
	t := p.Image.TopicByID(topic)
	if t == nil {
		return nil, kerr.UnknownTopicID
	}
	part := t.Partition(index)
	if part == nil {
		return nil, kerr.UnknownTopicOrPartition
	}
	if !slices.Contains(part.Replicas, broker) {
		return nil, kerr.NotLeaderOrFollower
	}
	c := p.change(t, index)
	c.dirs[broker] = dir
	if !p.Image.Broker(broker).dirOnline(dir) {
		c.isr = without(part.ISR, broker)
		acceptable := c.acceptable
		c.acceptable = func(n NodeID) bool { return n != broker && acceptable(n) }
	}
	o := p.output()
	var r *record.PartitionChange
	if r = c.build(); r != nil {
		o.put(r)
	}
	return o.recs, kerr.None
}
