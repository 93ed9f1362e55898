package compact

import (
	"math"

	"github.com/kalda/kalda/internal/format/batch"
)

// Config is a topic's configuration, as far as compaction acts on it, named after its keys.
type Config struct {
	MinLagMs, MaxLagMs int64   // min.compaction.lag.ms, max.compaction.lag.ms
	MinDirty           float64 // min.cleanable.dirty.ratio
	DeleteRetentionMs  int64   // delete.retention.ms
	SegmentBytes       int64   // segment.bytes
	IndexBytes         int64   // segment.index.bytes
}

// Segment is what a plan needs to know of a segment.
type Segment struct {
	Base             batch.Offset
	Size             int64
	Index, TimeIndex int64 // bytes
	First            int64 // its first batch's timestamp; looked at if MaxLagMs is finite
	Largest          int64 // largest timestamp; looked at if MinLagMs isn't 0
}

// State is a log as a plan sees it.
type State struct {
	Segments   []Segment // in order; the last one is being written to
	Start, End batch.Offset
	Stable     batch.Offset // the last stable offset
	Cleaned    batch.Offset // up to where it is clean; -1: never cleaned
}

// Range is what of a log can be cleaned now.
type Range struct {
	First, End   batch.Offset // the dirty part; End is the start of a segment
	Clean, Dirty int64        // bytes before First, and from there to End
	Late         int64        // ms since the oldest dirty record should have been compacted; 0: it isn't due
	Reset        bool         // what was noted as cleaned can't be: First is to be noted instead
}

// Plan finds what can be cleaned. Nothing is that a transaction may still undo, that is in the segment being
// written, or that is younger than the minimum lag.
func Plan(s *State, c *Config, now int64) Range {
	r := Range{First: s.Cleaned}
	if s.Cleaned < 0 {
		r.First = s.Start
	} else if s.Cleaned < s.Start || s.Cleaned > s.End {
		r.First, r.Reset = s.Start, true
	}
	last := len(s.Segments) - 1
	if last < 0 {
		r.End = r.First
		return r
	}
	dirty := max(floor(s.Segments, r.First), 0)
	end := min(s.Stable, s.Segments[last].Base)
	cleanUntil := now - max(c.MaxLagMs, 0)
	for i := dirty; i < last; i++ {
		seg := &s.Segments[i]
		if c.MinLagMs > 0 && seg.Largest > now-c.MinLagMs {
			end = min(end, seg.Base)
		}
		if c.MaxLagMs < math.MaxInt64 && seg.First > 0 {
			r.Late = max(r.Late, cleanUntil-seg.First)
		}
	}
	// Whole segments are cleaned, or what the table of keys covers of them.
	stop := max(floor(s.Segments, max(end, r.First)), 0)
	r.End = max(s.Segments[stop].Base, r.First)
	for i := range s.Segments[:last] { // a segment of which a part is clean counts as both, as Apache counts it
		if s.Segments[i].Base < r.First {
			r.Clean += s.Segments[i].Size
		}
		if i >= dirty && i < stop {
			r.Dirty += s.Segments[i].Size
		}
	}
	return r
}

// Ratio is which part of the log is dirty.
func (r *Range) Ratio() float64 {
	if r.Clean+r.Dirty == 0 {
		return 0
	}
	return float64(r.Dirty) / float64(r.Clean+r.Dirty)
}

// Due says whether the log is to be cleaned.
func (r *Range) Due(c *Config) bool {
	return r.Dirty > 0 && (r.Late > 0 || r.Ratio() > c.MinDirty)
}

// Before says whether r is to be cleaned before o: what is late first, then by how dirty it is.
func (r *Range) Before(o *Range) bool {
	if (r.Late > 0) != (o.Late > 0) {
		return r.Late > 0
	}
	return r.Ratio() > o.Ratio()
}

// floor is the index of the segment that offset o belongs to, -1 if all start after it.
func floor(segs []Segment, o batch.Offset) int {
	i := len(segs) - 1
	for i >= 0 && segs[i].Base > o {
		i--
	}
	return i
}

// Groups divides the segments before offset end, all of them before offset bound, into those that become
// one: numbers of neighbours. No group can become larger than a segment, or its indexes than theirs, and
// no offset in it lies too far from its first for the indexes.
func Groups(segs []Segment, end, bound batch.Offset, c *Config) (groups []int) {
	n := 0
	for n < len(segs) && segs[n].Base < end {
		n++
	}
	for i := 0; i < n; {
		first, sum := &segs[i], segs[i]
		j := i + 1
		for ; j < n; j++ {
			s := &segs[j]
			top := bound - 1 // the worst that s may hold
			if j+1 < n {
				top = segs[j+1].Base - 1
			}
			if sum.Size+s.Size > c.SegmentBytes || sum.Index+s.Index > c.IndexBytes ||
				sum.TimeIndex+s.TimeIndex > c.IndexBytes || s.Size > 0 && top-first.Base > math.MaxInt32 {
				break
			}
			sum.Size += s.Size
			sum.Index += s.Index
			sum.TimeIndex += s.TimeIndex
		}
		groups = append(groups, j-i)
		i = j
	}
	return groups
}
