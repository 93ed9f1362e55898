package quota

import (
	"iter"

	"github.com/kalda/kalda/internal/format/record"
)

// FromRecords makes Limits of the quotas in the cluster's metadata; nil when there are none. Those that
// aren't known here are passed over.
func FromRecords(in iter.Seq[*record.ClientQuota]) *Limits {
	var l *Limits
	for r := range in {
		parts := make([]Part, len(r.Entity))
		for i, e := range r.Entity {
			parts[i] = Part{Type: e.Type, Name: e.Name}
		}
		if l == nil {
			l = new(Limits)
		}
		l.Set(parts, r.Name, r.Value)
	}
	return l
}
