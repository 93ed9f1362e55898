package meta

import (
	"maps"
	"slices"
	"strings"
)

// The features that can be finalized in the log; kraft.version is a control record instead.
const (
	FeatureMetadata    = "metadata.version"
	FeatureKRaft       = "kraft.version"
	FeatureTransaction = "transaction.version"
	FeatureGroup       = "group.version"
	FeatureELR         = "eligible.leader.replicas.version"
	FeatureShare       = "share.version"
	FeatureStreams     = "streams.version"
)

// Levels of metadata.version that change what this code does (kraft.md 3.7).
const (
	MinMetadataVersion    int16 = 7  // 3.3-IV3, the oldest that Kafka 4 accepts
	LatestMetadataVersion int16 = 33 // 4.4-IV2, latest production of 4.4

	mvScram        int16 = 11 // 3.5-IV2
	mvNoEpochBump  int16 = 12 // 3.6-IV0: an ISR that shrinks doesn't bump the leader epoch
	mvTransactions int16 = 13 // 3.6-IV1
	mvTokens       int16 = 14 // 3.6-IV2
	mvControllers  int16 = 15 // 3.7-IV0
	mvDirectories  int16 = 17 // 3.7-IV2
	mvELR          int16 = 23 // 4.0-IV1
	mvCordoned     int16 = 30 // 4.3-IV0
	mvUnregister   int16 = 33 // 4.4-IV2: controllers can be unregistered
)

func registerBrokerVersion(mv int16) int16 {
	switch {
	case mv >= mvCordoned:
		return 4
	case mv >= mvDirectories:
		return 3
	case mv >= 8: // 3.4-IV0
		return 2
	default:
		return 1
	}
}

func partitionVersion(mv int16) int16 {
	switch {
	case mv >= mvELR:
		return 2
	case mv >= mvDirectories:
		return 1
	default:
		return 0
	}
}

// Supported are the levels of every feature that this software knows, as Kafka 4.4 does.
func Supported() map[string]FeatureRange {
	return map[string]FeatureRange{
		FeatureMetadata:    {MinMetadataVersion, LatestMetadataVersion},
		FeatureKRaft:       {0, 1},
		FeatureTransaction: {0, 2},
		FeatureGroup:       {0, 1},
		FeatureELR:         {0, 1},
		FeatureShare:       {0, 2},
		FeatureStreams:     {0, 1},
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// metadataVersions are the names of the levels of metadata.version, from MinMetadataVersion on.
const metadataVersions = "3.3-IV3 3.4-IV0 3.5-IV0 3.5-IV1 3.5-IV2 3.6-IV0 3.6-IV1 3.6-IV2 3.7-IV0 3.7-IV1 " +
	"3.7-IV2 3.7-IV3 3.7-IV4 3.8-IV0 3.9-IV0 4.0-IV0 4.0-IV1 4.0-IV2 4.0-IV3 4.1-IV0 4.1-IV1 4.2-IV0 4.2-IV1 " +
	"4.3-IV0 4.4-IV0 4.4-IV1 4.4-IV2"

// MetadataVersionNames are the names of all levels, oldest first; the first is MinMetadataVersion's.
func MetadataVersionNames() []string { return strings.Fields(metadataVersions) }

// MetadataVersionName is the name of a level of metadata.version, such as 4.4-IV2.
func MetadataVersionName(level int16) string {
	names := MetadataVersionNames()
	if i := int(level - MinMetadataVersion); i >= 0 && i < len(names) {
		return names[i]
	}
	return "unknown"
}

// ParseMetadataVersion gives the level of a name such as 4.4-IV2, or of a release such as 4.4 or 4.4.0: its
// last level.
func ParseMetadataVersion(name string) (level int16, ok bool) {
	for i, n := range MetadataVersionNames() {
		release, _, _ := strings.Cut(n, "-")
		if name == n || name == release || strings.HasPrefix(name, release+".") && !strings.Contains(name, "-") {
			level, ok = MinMetadataVersion+int16(i), true
		}
	}
	return level, ok
}

// FeatureNeeds is the lowest metadata.version that a level of another feature depends on, 0 if none.
func FeatureNeeds(name string, level int16) int16 {
	if name == FeatureELR && level >= 1 {
		return mvELR
	}
	return 0
}
