package meta

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// ConfigOp is what to do with one key, with the wire's numbers.
type ConfigOp int8

// The operations of IncrementalAlterConfigs.
const (
	OpSet ConfigOp = iota
	OpDelete
	OpAppend
	OpSubtract
)

// ConfigChange is one operation on one key.
type ConfigChange struct {
	Name  string
	Op    ConfigOp
	Value *string
}

// ResourceChange is what to do with one resource's configuration. Replace: keys that aren't named are
// deleted.
type ResourceChange struct {
	Resource ConfigResource
	Changes  []ConfigChange
	Replace  bool
}

const (
	keyMinISR      = "min.insync.replicas"
	keyCordoned    = "cordoned.log.dirs"
	maxConfigValue = 32767
)

// AlterConfigs plans changes of configurations; results are in the order of the request, and each resource
// stands alone.
func (p *Planner) AlterConfigs(in []ResourceChange) (recs [][]byte, results []Failure) {
	o := p.output()
	count := map[ConfigResource]int{}
	for i := range in {
		count[in[i].Resource]++
	}
	var minISR []ConfigResource
	for i := range in {
		if count[in[i].Resource] > 1 {
			results = append(results, failf(kerr.InvalidRequest, "Duplicate resource."))
			continue
		}
		n := len(o.recs)
		f, touched := p.alterConfig(o, &in[i])
		if !f.OK() {
			o.recs = o.recs[:n]
		} else if touched {
			minISR = append(minISR, in[i].Resource)
		}
		results = append(results, f)
	}
	p.clearELR(o, minISR)
	return o.recs, results
}

// clearELR: who is eligible was decided under another min.insync.replicas.
func (p *Planner) clearELR(o *output, changed []ConfigResource) {
	if !p.elr() {
		return
	}
	for _, r := range changed {
		if r.Kind == ConfigTopic || r.Kind == ConfigBroker && r.Name == "" {
			o.put(&record.ClearELR{TopicName: r.Name})
		}
	}
}

func (p *Planner) alterConfig(o *output, in *ResourceChange) (f Failure, minISR bool) {
	if f = p.checkResource(in.Resource); !f.OK() {
		return f, false
	}
	old := p.Image.Config(in.Resource.Kind, in.Resource.Name)
	values := maps.Clone(old)
	if values == nil {
		values = map[string]string{}
	}
	var names []string // in the order of the records
	for _, c := range in.Changes {
		if f = p.alterKey(in.Resource, c, values); !f.OK() {
			return f, false
		}
		names = append(names, c.Name)
	}
	if in.Replace {
		for _, name := range sortedKeys(old) {
			if !slices.Contains(names, name) {
				delete(values, name)
				names = append(names, name)
			}
		}
	}
	if p.Rules.Validate != nil {
		if err := p.Rules.Validate(in.Resource, values); err != nil {
			return refused(err), false
		}
	}
	return p.putConfigs(o, in.Resource, names, values)
}

func (p *Planner) putConfigs(
	o *output, res ConfigResource, names []string, values map[string]string,
) (f Failure, touchedMinISR bool) {
	old := p.Image.Config(res.Kind, res.Name)
	for _, name := range names {
		was, had := old[name]
		is, has := values[name]
		// A broker's record is written even without a change: it makes the broker read its key stores again
		// (KAFKA-14136).
		if had == has && was == is && (res.Kind != ConfigBroker || !has) {
			continue
		}
		if f := p.checkMinISR(res, name, has); !f.OK() {
			return f, false
		}
		r := configRecord(res, name, nil)
		if has {
			r.Value = &is
		}
		o.put(r)
		touchedMinISR = touchedMinISR || name == keyMinISR
	}
	return Failure{}, touchedMinISR
}

func (p *Planner) checkMinISR(res ConfigResource, name string, has bool) Failure {
	if name == keyCordoned && p.Image.MetadataVersion() < mvCordoned {
		return failf(kerr.InvalidConfig, "The cordoned.log.dirs configuration value cannot be set because it "+
			"requires metadata.version >= %d", mvCordoned)
	}
	if name != keyMinISR || res.Kind != ConfigBroker || !p.elr() {
		return Failure{}
	}
	if res.Name != "" {
		return failf(kerr.InvalidConfig, "Broker-level min.insync.replicas cannot be altered while ELR is enabled.")
	}
	if !has {
		return failf(kerr.InvalidConfig,
			"Cluster-level min.insync.replicas cannot be removed while ELR is enabled.")
	}
	return Failure{}
}

func (p *Planner) alterKey(res ConfigResource, c ConfigChange, values map[string]string) Failure {
	switch {
	case c.Op == OpDelete || c.Op == OpSet && c.Value == nil:
		delete(values, c.Name)
		return Failure{}
	case c.Op < OpSet || c.Op > OpSubtract:
		return failf(kerr.InvalidRequest, "Unknown alter config op code %d", c.Op)
	case c.Value != nil && len(*c.Value) > maxConfigValue:
		return failf(kerr.InvalidConfig,
			"The configuration value cannot be added because it exceeds the maximum value size of 32767 bytes.")
	case c.Op == OpSet:
		values[c.Name] = *c.Value
		return Failure{}
	}
	return p.alterList(res, c, values)
}

func (p *Planner) alterList(res ConfigResource, c ConfigChange, values map[string]string) Failure {
	var def string
	var isList bool
	if p.Rules.ListKeys != nil {
		def, isList = p.Rules.ListKeys(res.Kind, c.Name)
	}
	if !isList {
		op := "APPEND"
		if c.Op == OpSubtract {
			op = "SUBTRACT"
		}
		return failf(kerr.InvalidConfig, "Can't %s to key %s because its type is not LIST.", op, c.Name)
	}
	now, set := values[c.Name]
	if !set {
		now = def
	}
	items := splitList(now)
	for _, v := range splitList(deref(c.Value)) {
		i := slices.Index(items, v)
		switch {
		case c.Op == OpAppend && i < 0:
			items = append(items, v)
		case c.Op == OpSubtract && i >= 0:
			items = slices.Delete(items, i, i+1)
		}
	}
	values[c.Name] = strings.Join(items, ",")
	return Failure{}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func splitList(s string) (out []string) {
	for v := range strings.SplitSeq(s, ",") {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

func (p *Planner) checkResource(r ConfigResource) Failure {
	switch r.Kind {
	case ConfigTopic:
		if p.Image.Topic(r.Name) == nil {
			return failf(kerr.UnknownTopicOrPartition, "The topic '%s' does not exist.", r.Name)
		}
	case ConfigBroker:
		if r.Name == "" {
			return Failure{}
		}
		id, err := strconv.ParseInt(r.Name, 10, 32)
		if err != nil {
			return failf(kerr.InvalidRequest, "Invalid broker name %s", r.Name)
		}
		if p.Image.Broker(NodeID(id)) == nil {
			return failf(kerr.BrokerIDNotRegistered, "No broker with id %d found.", id)
		}
	case ConfigGroup, ConfigClientMetrics:
	case ConfigBrokerLogger:
		return failf(kerr.InvalidRequest, "Unexpected resource type BROKER_LOGGER.")
	default:
		return failf(kerr.InvalidRequest, "Unknown resource type %d.", r.Kind)
	}
	return Failure{}
}
