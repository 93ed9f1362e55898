package storage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/record"
)

// describe prints the bootstrap records as Apache's tool does: scripts have been seen to look for the
// version in it.
func (p *plan) describe() string {
	var out []string
	add := func(text string) { out = append(out, "ApiMessageAndVersion("+text+" at version 0)") }
	level := func(name string) {
		add(fmt.Sprintf("FeatureLevelRecord(name='%s', featureLevel=%d)", name, p.levels[name]))
	}
	level(meta.FeatureMetadata)
	for _, name := range slices.Sorted(maps.Keys(p.levels)) {
		if name != meta.FeatureMetadata && p.levels[name] > 0 {
			level(name)
		}
	}
	for _, s := range p.scram {
		add(s)
	}
	return fmt.Sprintf("BootstrapMetadata(records=[%s], metadataVersionLevel=%d, source=format command)",
		strings.Join(out, ", "), p.levels[meta.FeatureMetadata])
}

// describeScram leaves the keys out: they are as good as the password.
func describeScram(c *record.UserScramCredential) string {
	return fmt.Sprintf("UserScramCredentialRecord(name='%s', mechanism=%d, iterations=%d)",
		c.Name, c.Mechanism, c.Iterations)
}
