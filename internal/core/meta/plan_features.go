package meta

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// The ways in which a feature's level may change, with the wire's numbers.
const (
	UpgradeOnly     int8 = 1
	SafeDowngrade   int8 = 2
	UnsafeDowngrade int8 = 3
)

// FeatureUpdate asks for a feature's level.
type FeatureUpdate struct {
	Name  string
	Level int16 // 0 ends it
	Kind  int8
}

// reformed are the levels of metadata.version that changed what records hold: a downgrade across one of them
// would lose some of it (kraft.md 3.7).
var reformed = [...]int16{
	8, mvScram, mvTransactions, mvTokens, mvControllers, mvDirectories, mvELR, mvCordoned,
	32, // 4.4-IV1, ranges of hosts in ACLs
	mvUnregister,
}

// UpdateFeatures plans new levels, all or none of them (KIP-584). On a failure, fault is the feature at
// fault.
func (p *Planner) UpdateFeatures(in []FeatureUpdate) (recs [][]byte, fault string, f Failure) {
	levels := map[string]int16{}
	maps.Copy(levels, p.Image.Features())
	for i := range in {
		levels[in[i].Name] = in[i].Level
	}
	o := p.output()
	for i := range in {
		u := &in[i]
		reason := p.refuseFeature(u, levels)
		if reason != "" {
			reason = fmt.Sprintf("Invalid update version %d for feature %s. %s", u.Level, u.Name, reason)
		} else if u.Name == FeatureMetadata {
			reason = refuseMetadataVersion(p.Image.MetadataVersion(), u.Level, u.Kind)
		}
		if reason != "" {
			return nil, u.Name, Failure{kerr.InvalidUpdateVersion, reason}
		}
		if u.Name == FeatureELR && u.Level > 0 && !p.elr() {
			p.settleMinISR(o)
		}
		o.put(&record.FeatureLevel{Name: u.Name, Level: u.Level})
	}
	return o.recs, "", Failure{}
}

// refuseFeature says why a level can't be, "" if it can. levels are those that all features would have.
func (p *Planner) refuseFeature(u *FeatureUpdate, levels map[string]int16) string {
	now := p.Image.Feature(u.Name)
	if u.Name == FeatureMetadata {
		now = p.Image.MetadataVersion()
	}
	switch {
	case u.Kind < UpgradeOnly || u.Kind > UnsafeDowngrade:
		return "The controller does not support the given upgrade type."
	case u.Level < 0:
		return "A feature version cannot be less than 0."
	}
	if reason := p.unsupported(u.Name, u.Level); reason != "" {
		return reason
	}
	switch {
	case u.Level < now && u.Kind == UpgradeOnly:
		return "Can't downgrade the version of this feature without setting the upgrade type to either safe or " +
			"unsafe downgrade."
	case u.Level > now && u.Kind != UpgradeOnly:
		return "Can't downgrade to a newer version."
	case u.Name == FeatureKRaft: // no record of the metadata log, but one of the quorum's own
		return "The quorum's version is changed only by formatting."
	}
	if needs := FeatureNeeds(u.Name, u.Level); levels[FeatureMetadata] < needs {
		return fmt.Sprintf("%s could not be set to %d because it depends on %s level %d",
			u.Name, u.Level, FeatureMetadata, needs)
	}
	return ""
}

// refuseMetadataVersion refuses a downgrade that would lose something of what the log holds.
func refuseMetadataVersion(now, level int16, kind int8) string {
	for _, n := range reformed {
		if level >= n || n > now {
			continue
		}
		why := "Refusing to perform the requested downgrade because it might delete metadata information."
		if kind == UnsafeDowngrade {
			why = "Unsafe metadata downgrade is not supported in this version."
		}
		return fmt.Sprintf("Unsupported metadata.version downgrade from %d to %d. %s", now, level, why)
	}
	return ""
}

// unsupported says which node doesn't know a level of a feature, "" if all do.
func (p *Planner) unsupported(name string, level int16) string {
	if reason := outOf(Supported(), name, level); reason != "" {
		return "Local controller " + strconv.Itoa(int(p.Rules.Self)) + " " + reason
	}
	for b := range p.Image.Brokers() {
		if reason := outOf(b.Features, name, level); reason != "" {
			return "Broker " + strconv.Itoa(int(b.ID)) + " " + reason
		}
	}
	for c := range p.Image.Controllers() {
		if reason := outOf(c.Features, name, level); reason != "" {
			return "Controller " + strconv.Itoa(int(c.ID)) + " " + reason
		}
	}
	return ""
}

func outOf(known map[string]FeatureRange, name string, level int16) string {
	r, ok := known[name]
	switch {
	case !ok && level == 0, ok && level >= r.Min && level <= r.Max:
		return ""
	case !ok:
		return "does not support this feature."
	}
	return fmt.Sprintf("only supports versions %d-%d", r.Min, r.Max)
}

// settleMinISR makes min.insync.replicas a matter of the cluster and its topics, before eligible leaders are
// chosen by it: what single brokers say goes (KIP-966).
func (p *Planner) settleMinISR(o *output) {
	if p.Image.Config(ConfigBroker, "")[keyMinISR] == "" {
		o.put(configRecord(ConfigResource{ConfigBroker, ""}, keyMinISR, new(strconv.Itoa(max(p.Rules.MinISR, 1)))))
	}
	for res, values := range p.Image.Configs() {
		if _, ok := values[keyMinISR]; ok && res.Kind == ConfigBroker && res.Name != "" {
			o.put(configRecord(res, keyMinISR, nil))
		}
	}
}
