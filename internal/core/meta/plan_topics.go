package meta

import (
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// NewTopic is one topic to make. -1 partitions or replication factor is the default's.
type NewTopic struct {
	Name              string
	Partitions        int32
	ReplicationFactor int16
	Assignments       []Assignment
	Configs           []ConfigEntry
}

// Assignment places one partition by hand.
type Assignment struct {
	Partition int32
	Replicas  []NodeID
}

// ConfigEntry is a key and its value, nil if absent.
type ConfigEntry struct {
	Name  string
	Value *string
}

// TopicResult is what became of one topic.
type TopicResult struct {
	Failure
	Name              string
	ID                UUID
	Partitions        int32
	ReplicationFactor int16
	Configs           map[string]string
}

// maxPartitions is how many partitions one request may make.
const maxPartitions = 10000

// CreateTopics plans new topics; results are in the order of the request. Nothing but the results is of use
// when the request only validates.
func (p *Planner) CreateTopics(topics []NewTopic) (recs [][]byte, results []TopicResult) {
	o := p.output()
	results = make([]TopicResult, len(topics))
	count, made, total := map[string]int{}, map[string]string{}, 0
	for i := range topics {
		count[topics[i].Name]++
		total += p.partitionsOf(&topics[i])
	}
	placer := p.placer()
	for i := range topics {
		t := &topics[i]
		r := &results[i]
		r.Name = t.Name
		switch {
		case count[t.Name] > 1:
			r.Failure = failf(kerr.InvalidRequest, "Duplicate topic name.")
		case t.Name == "__cluster_metadata":
			r.Failure = failf(kerr.InvalidRequest, "Creation of internal topic __cluster_metadata is prohibited.")
		case total > maxPartitions:
			r.Failure = failf(kerr.PolicyViolation, "Excessively large number of partitions per request.")
		default:
			if r.Failure = p.checkName(t.Name, made); r.OK() {
				p.createTopic(o, t, placer, r)
			}
		}
		if r.OK() {
			made[flatName(t.Name)] = t.Name
		}
	}
	return o.recs, results
}

func (p *Planner) partitionsOf(t *NewTopic) int {
	switch {
	case len(t.Assignments) > 0:
		return len(t.Assignments)
	case t.Partitions == -1:
		return int(p.Rules.Partitions)
	default:
		return int(max(t.Partitions, 0))
	}
}

func (p *Planner) createTopic(o *output, t *NewTopic, place *placer, r *TopicResult) {
	values := map[string]string{}
	for _, c := range t.Configs {
		if c.Value == nil {
			r.Failure = failf(kerr.InvalidConfig, "Null value not supported for topic configs: %s", c.Name)
			return
		}
		values[c.Name] = *c.Value
	}
	if p.Rules.Validate != nil {
		if err := p.Rules.Validate(ConfigResource{ConfigTopic, t.Name}, values); err != nil {
			r.Failure = refused(err)
			return
		}
	}
	placement, f := p.placement(t, place)
	if !f.OK() {
		r.Failure = f
		return
	}
	if r.Failure = p.mutate(len(placement)); !r.OK() {
		return
	}
	r.ID, r.Configs = p.newTopicID(), values
	r.Partitions, r.ReplicationFactor = int32(len(placement)), int16(len(placement[0]))
	o.put(&record.Topic{Name: t.Name, TopicID: r.ID})
	for _, name := range sortedKeys(values) {
		v := values[name]
		o.put(configRecord(ConfigResource{ConfigTopic, t.Name}, name, &v))
	}
	for n, replicas := range placement {
		o.put(p.newPartition(replicas).record(r.ID, int32(n)))
	}
}

func (p *Planner) newTopicID() UUID {
	for {
		if id := NewUUID(p.Rand); p.Image.TopicByID(id) == nil {
			return id
		}
	}
}

// newPartition starts with the replicas that can serve in sync, led by the first of them.
func (p *Planner) newPartition(replicas []NodeID) *Partition {
	part := &Partition{Replicas: replicas, Leader: NoNode}
	for _, n := range replicas {
		part.Dirs = append(part.Dirs, p.defaultDir(n))
		if p.active(n) {
			part.ISR = append(part.ISR, n)
		}
	}
	if len(part.ISR) > 0 {
		part.Leader = part.ISR[0]
	}
	return part
}

// placement gives each partition's replicas, at least one partition with at least one active replica.
func (p *Planner) placement(t *NewTopic, place *placer) ([][]NodeID, Failure) {
	if len(t.Assignments) > 0 {
		switch {
		case t.ReplicationFactor != -1:
			return nil, failf(kerr.InvalidRequest,
				"A manual partition assignment was specified, but replication factor was not set to -1.")
		case t.Partitions != -1:
			return nil, failf(kerr.InvalidRequest,
				"A manual partition assignment was specified, but numPartitions was not set to -1.")
		}
		return p.manual(t.Assignments)
	}
	switch {
	case t.ReplicationFactor < -1 || t.ReplicationFactor == 0:
		return nil, failf(kerr.InvalidReplicationFactor,
			"Replication factor must be larger than 0, or -1 to use the default value.")
	case t.Partitions < -1 || t.Partitions == 0:
		return nil, failf(kerr.InvalidPartitions, "Number of partitions was set to an invalid non-positive value.")
	}
	rf := t.ReplicationFactor
	if rf == -1 {
		rf = p.Rules.ReplicationFactor
	}
	return place.place(p.partitionsOf(t), int(rf))
}

func badAssignment(format string, args ...any) Failure {
	return failf(kerr.InvalidReplicaAssignment, format, args...)
}

func (p *Planner) manual(in []Assignment) ([][]NodeID, Failure) {
	out := make([][]NodeID, len(in))
	for _, a := range in {
		if f := p.checkAssignment(a.Replicas); !f.OK() {
			return nil, f
		}
		if len(a.Replicas) != len(in[0].Replicas) {
			return nil, badAssignment("The manual partition assignment includes a partition with %d "+
				"replica(s), but this is not consistent with previous partitions, which have %d replica(s).",
				len(a.Replicas), len(in[0].Replicas))
		}
		if !slices.ContainsFunc(a.Replicas, p.active) {
			return nil, badAssignment("All brokers specified in the manual partition assignment for "+
				"partition %d are fenced or in controlled shutdown.", a.Partition)
		}
		if a.Partition < 0 || int(a.Partition) >= len(in) {
			return nil, badAssignment("partitions should be a consecutive 0-based integer sequence")
		}
		if out[a.Partition] != nil {
			return nil, badAssignment("Found multiple manual partition assignments for partition %d", a.Partition)
		}
		out[a.Partition] = a.Replicas
	}
	return out, Failure{}
}

func (p *Planner) checkAssignment(replicas []NodeID) Failure {
	if len(replicas) == 0 {
		return badAssignment("The manual partition assignment includes an empty replica list.")
	}
	for i, n := range replicas {
		if p.Image.Broker(n) == nil {
			return badAssignment("The manual partition assignment includes broker %d, "+
				"but no such broker is registered.", n)
		}
		if slices.Contains(replicas[:i], n) {
			return badAssignment("The manual partition assignment includes the broker %d more than once.", n)
		}
	}
	return Failure{}
}

// flatName is a topic's name as metrics show it: they can't tell dots and underscores apart.
func flatName(name string) string { return strings.ReplaceAll(name, ".", "_") }

func hasFlatName(name string) bool { return strings.ContainsAny(name, "._") }

// checkName looks at the topics that exist and at those made before it in the same request.
func (p *Planner) checkName(name string, made map[string]string) Failure {
	if why := TopicNameError(name); why != "" {
		return failf(kerr.InvalidTopicException, "Topic name is invalid: %s", why)
	}
	if p.Image.Topic(name) != nil {
		return failf(kerr.TopicAlreadyExists, "Topic '%s' already exists.", name)
	}
	if !hasFlatName(name) {
		return Failure{}
	}
	other, ok := p.Image.flatNames.Get(flatName(name))
	if !ok {
		other, ok = made[flatName(name)]
	}
	if ok {
		return failf(kerr.InvalidTopicException, "Topic '%s' collides with existing topic: %s", name, other)
	}
	return Failure{}
}

// TopicNameError says what is wrong with a topic's name, "" if nothing is.
func TopicNameError(name string) string {
	switch {
	case name == "":
		return "the empty string is not allowed"
	case name == ".", name == "..":
		return "'" + name + "' is not allowed"
	case len(name) > 249:
		return "the length of '" + name + "' is longer than the max allowed length 249"
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return "'" + name + "' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
		}
	}
	return ""
}

// TopicRef names a topic to delete by name or by id, the other being empty.
type TopicRef struct {
	Name string
	ID   UUID
}

// DeleteTopics plans the deletion of topics; results are in the order of the request.
func (p *Planner) DeleteTopics(refs []TopicRef) (recs [][]byte, results []TopicResult) {
	o := p.output()
	names, ids := map[string]int{}, map[UUID]int{}
	for _, r := range refs {
		names[r.Name]++
		ids[r.ID]++
	}
	named := map[UUID]bool{}
	for _, r := range refs {
		if t := p.Image.Topic(r.Name); t != nil {
			named[t.ID] = true
		}
	}
	for _, ref := range refs {
		r := TopicResult{Name: ref.Name, ID: ref.ID}
		var t *Topic
		switch {
		case ref.Name != "" && ref.ID != UUID{}:
			r.Failure = failf(kerr.InvalidRequest, "You may not specify both topic name and topic id.")
		case ref.Name == "" && ref.ID == UUID{}:
			r.Failure = failf(kerr.InvalidRequest, "Neither topic name nor id were specified.")
		case p.Rules.KeepTopics:
			r.Failure = failf(kerr.TopicDeletionDisabled, "%s", "")
		case ref.Name != "" && names[ref.Name] > 1:
			r.Failure = failf(kerr.InvalidRequest, "Duplicate topic name.")
		case ref.Name == "" && ids[ref.ID] > 1:
			r.Failure = failf(kerr.InvalidRequest, "Duplicate topic id.")
		case ref.Name == "" && named[ref.ID]:
			r.Failure = failf(kerr.InvalidRequest, "The provided topic name maps to an ID that was already supplied.")
		default:
			if t, r.Failure = p.findTopic(ref); t != nil {
				if r.Failure = p.mutate(len(t.Partitions)); !r.OK() {
					t = nil
				}
			}
		}
		if t != nil {
			r.Name, r.ID = t.Name, t.ID
			o.put(&record.RemoveTopic{TopicID: t.ID})
		}
		results = append(results, r)
	}
	return o.recs, results
}

func (p *Planner) findTopic(ref TopicRef) (*Topic, Failure) {
	if ref.Name != "" {
		if t := p.Image.Topic(ref.Name); t != nil {
			return t, Failure{}
		}
		return nil, failf(kerr.UnknownTopicOrPartition, "This server does not host this topic-partition.")
	}
	if t := p.Image.TopicByID(ref.ID); t != nil {
		return t, Failure{}
	}
	return nil, failf(kerr.UnknownTopicID, "This server does not host this topic ID.")
}
