package compact

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kalda/kalda/internal/format/batch"
)

func TestKeys(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{2, 30, 5000} {
		k := NewKeys(int64(size*slotBytes), 0.9, math.MaxInt32, [2]uint64{rnd.Uint64(), rnd.Uint64()})
		want := map[string]batch.Offset{}
		for o := batch.Offset(0); ; o++ {
			key := fmt.Appendf(nil, "%0*d", rnd.IntN(40), rnd.IntN(size))
			if !k.Put(key, o) {
				if len(want) != max(size*9/10, 1) {
					t.Errorf("%d slots are full with %d keys", size, len(want))
				}
				if k.Latest() != o-1 {
					t.Errorf("latest %d, want %d", k.Latest(), o-1)
				}
				break
			}
			want[string(key)] = o
		}
		for key, o := range want {
			if got := k.Get([]byte(key)); got != o {
				t.Errorf("%q at %d, want %d", key, got, o)
			}
		}
		if got := k.Get([]byte("another")); got != -1 || k.Len() != len(want) {
			t.Errorf("a key that isn't there is at %d of %d", got, k.Len())
		}
	}
	small := NewKeys(1<<30, 0.9, 100, [2]uint64{1, 2})
	for i := range batch.Offset(100) {
		if !small.Put(binary.BigEndian.AppendUint64(nil, uint64(i)), i) {
			t.Fatal("no room for what was announced")
		}
	}
	if len(small.slots) > 1000 {
		t.Errorf("%d slots for 100 keys", len(small.slots))
	}
}

// Keys that are alike are told apart, and lie apart: their probes are short.
func TestKeysThatAreAlike(t *testing.T) {
	k := NewKeys(60_000*slotBytes, 0.9, math.MaxInt32, [2]uint64{77, 78})
	sums := map[[2]uint64]string{}
	for i := range 20_000 {
		for _, key := range []string{fmt.Sprint(i), string(make([]byte, i%600)) + fmt.Sprint(i)} {
			h := k.sum([]byte(key))
			if h[0] == 0 || sums[h] != "" && sums[h] != key {
				t.Fatalf("%q and %q have one hash", key, sums[h])
			}
			sums[h] = key
			k.Put([]byte(key), batch.Offset(i))
		}
	}
	run, longest := 0, 0
	for _, s := range k.slots {
		if run++; s.hash[0] == 0 {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest > 200 {
		t.Errorf("a run of %d slots", longest)
	}
}

func TestPlan(t *testing.T) {
	segs := func(bases ...batch.Offset) (out []Segment) {
		for _, b := range bases {
			out = append(out, Segment{Base: b, Size: 100, First: int64(b), Largest: int64(b) + 99})
		}
		return out
	}
	base := Config{MaxLagMs: math.MaxInt64, MinDirty: 0.5}
	for name, c := range map[string]struct {
		state State
		cfg   func(*Config)
		want  Range
		due   bool
	}{
		"empty": {State{Cleaned: -1}, nil, Range{}, false},
		"active only": {
			State{Segments: segs(0), End: 50, Stable: 50, Cleaned: -1}, nil, Range{}, false,
		},
		"never cleaned": {
			State{Segments: segs(0, 100, 200), End: 250, Stable: 250, Cleaned: -1},
			nil,
			Range{End: 200, Dirty: 200},
			true,
		},
		"half clean isn't enough": {
			State{Segments: segs(0, 100, 200), End: 250, Stable: 250, Cleaned: 100},
			nil,
			Range{First: 100, End: 200, Clean: 100, Dirty: 100},
			false,
		},
		"a transaction is open": {
			State{Segments: segs(0, 100, 200, 300), End: 350, Stable: 120, Cleaned: -1},
			nil,
			Range{End: 100, Dirty: 100},
			true,
		},
		"inside a segment": {
			State{Segments: segs(0, 100, 200), End: 250, Stable: 250, Cleaned: 150},
			nil,
			Range{First: 150, End: 200, Clean: 200, Dirty: 100},
			false,
		},
		"all is clean": {
			State{Segments: segs(0, 100, 200), End: 250, Stable: 250, Cleaned: 200},
			nil,
			Range{First: 200, End: 200, Clean: 200},
			false,
		},
		"the start moved on": {
			State{Segments: segs(0, 100, 200), Start: 120, End: 250, Stable: 250, Cleaned: 50},
			nil,
			Range{First: 120, End: 200, Clean: 200, Dirty: 100, Reset: true},
			false,
		},
		"the end moved back": {
			State{Segments: segs(0, 100, 200), End: 250, Stable: 250, Cleaned: 900},
			nil,
			Range{End: 200, Dirty: 200, Reset: true},
			true,
		},
		"too young": {
			State{Segments: segs(0, 100, 200, 300), End: 350, Stable: 350, Cleaned: -1},
			func(c *Config) { c.MinLagMs = 800 },
			Range{End: 200, Dirty: 200},
			true,
		},
		"too old": {
			State{Segments: segs(0, 100, 200, 300), End: 350, Stable: 350, Cleaned: 200},
			func(c *Config) { c.MaxLagMs = 700 },
			Range{First: 200, End: 300, Clean: 200, Dirty: 100, Late: 100},
			true,
		},
	} {
		cfg := base
		if c.cfg != nil {
			c.cfg(&cfg)
		}
		got := Plan(&c.state, &cfg, 1000)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got.Due(&cfg) != c.due {
			t.Errorf("%s: due %t", name, got.Due(&cfg))
		}
	}
}

func TestGroups(t *testing.T) {
	seg := func(base batch.Offset, size int64) Segment { return Segment{Base: base, Size: size, Index: size / 10} }
	cfg := Config{SegmentBytes: 100, IndexBytes: 100}
	for name, c := range map[string]struct {
		segs       []Segment
		end, bound batch.Offset
		want       []int
	}{
		"by size":          {[]Segment{seg(0, 60), seg(1, 40), seg(2, 10), seg(3, 100)}, 3, 3, []int{2, 1}},
		"alone if too big": {[]Segment{seg(0, 200), seg(1, 10), seg(2, 10), seg(3, 10)}, 3, 3, []int{1, 2}},
		"by indexes": {
			[]Segment{{Index: 60}, {Base: 1, Index: 50}, {Base: 2, TimeIndex: 60}, {Base: 3, TimeIndex: 50}},
			4, 4,
			[]int{1, 2, 1},
		},
		"by offsets": {
			[]Segment{seg(0, 10), seg(10, 10), seg(1<<31-20, 10), seg(1<<31+20, 10)},
			1 << 31, 1<<31 + 20,
			[]int{2, 1},
		},
		"an empty one spans nothing": {[]Segment{seg(0, 10), seg(1<<32, 0), seg(1<<33, 10)}, 1<<32 + 1, 1 << 33, []int{2}},
	} {
		if got := Groups(c.segs, c.end, c.bound, &cfg); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// bed is a log in memory that is cleaned.
type bed struct {
	t       *testing.T
	log     []byte
	end     batch.Offset
	aborted []Aborted
	last    map[int64]LastOf
	now     int64
	codec   batch.Decompressor
}

func (b *bed) add(m batch.Meta, recs ...batch.Record) {
	b.t.Helper()
	m.BaseOffset = b.end
	for i := range recs {
		recs[i].OffsetDelta = int32(i)
	}
	var err error
	if b.log, err = batch.Build(b.log, m, recs); err != nil {
		b.t.Fatal(err)
	}
	b.end += batch.Offset(len(recs))
}

func (b *bed) txn(id int64, recs ...batch.Record) {
	m := batch.NoProducer(0, 0, 1000)
	m.ProducerID, m.ProducerEpoch, m.BaseSequence, m.Transactional = id, 1, 0, true
	b.add(m, recs...)
}

func (b *bed) marker(id int64, kind byte, first batch.Offset) {
	m := batch.NoProducer(0, 0, 1000)
	m.ProducerID, m.ProducerEpoch, m.Transactional, m.Control = id, 1, true, true
	if kind == abortMarker {
		b.aborted = append(b.aborted, Aborted{ProducerID: id, First: first, Last: b.end})
	}
	b.add(m, batch.Record{Key: []byte{0, 0, 0, kind}, Value: make([]byte, 6)})
}

// clean does one round over everything, and returns the aborted transactions that are kept.
func (b *bed) clean(memory int64) (kept []Aborted, upTo batch.Offset) {
	b.t.Helper()
	k := NewKeys(memory, 0.9, math.MaxInt32, [2]uint64{3, 4})
	m := Mapper{Keys: k, Codec: &b.codec}
	m.Txns.Add(b.aborted)
	each := func(fn func(v []byte) bool) {
		for rest := b.log; len(rest) > 0; {
			n := int(binary.BigEndian.Uint32(rest[8:])) + batch.LogOverhead
			if !fn(rest[:n:n]) {
				return
			}
			rest = rest[n:]
		}
	}
	full := false
	each(func(v []byte) bool {
		var err error
		if full, err = m.Add(v); err != nil {
			b.t.Fatal(err)
		}
		return !full
	})
	if !full {
		m.EndOfSegment(b.end)
	}
	f := Filter{Keys: k, Codec: &b.codec, Now: b.now, DeleteRetentionMs: 100, End: b.end}
	f.LastOf = func(id int64) (LastOf, bool) { l, ok := b.last[id]; return l, ok }
	f.Txns.Add(b.aborted)
	f.Txns.Keep = func(a Aborted) { kept = append(kept, a) }
	var out []byte
	each(func(v []byte) bool {
		var err error
		if out, err = f.Append(out, v); err != nil {
			b.t.Fatal(err)
		}
		return true
	})
	b.log, b.aborted = out, kept
	return kept, k.Latest() + 1
}

// show lists what is in the log.
func (b *bed) show() (lines []string) {
	b.t.Helper()
	for rest := b.log; len(rest) > 0; {
		if magic(rest) < 2 {
			list, ok := messages(rest[:int(binary.BigEndian.Uint32(rest[8:]))+batch.LogOverhead], &b.codec)
			line := fmt.Sprint("legacy ", ok)
			for _, m := range list {
				line += fmt.Sprintf(" %d:%s=%s", m.offset, m.key, m.value)
			}
			lines = append(lines, line)
			rest = rest[int(binary.BigEndian.Uint32(rest[8:]))+batch.LogOverhead:]
			continue
		}
		v, next, err := batch.Next(rest)
		if err == nil {
			err = batch.Verify(v)
		}
		if err != nil {
			b.t.Fatal(err)
		}
		rest = next
		line := fmt.Sprintf("%d-%d", v.BaseOffset(), v.LastOffset())
		if v.ProducerID() >= 0 {
			line += fmt.Sprintf(" p%d", v.ProducerID())
		}
		if v.Control() {
			line += " marker"
		}
		if v.HasDeleteHorizon() {
			line += fmt.Sprintf(" horizon %d", v.Horizon())
		}
		r, err := v.Records(nil)
		if err != nil {
			b.t.Fatal(err)
		}
		for rec := (batch.Record{}); r.Next(&rec); {
			ts := v.BaseTimestamp() + rec.TimestampDelta
			if v.Control() {
				continue
			}
			line += fmt.Sprintf(" %d:%s=%s@%d", v.BaseOffset()+batch.Offset(rec.OffsetDelta), rec.Key, rec.Value, ts)
		}
		lines = append(lines, line)
	}
	return lines
}

func (b *bed) want(what string, lines ...string) {
	b.t.Helper()
	if diff := cmp.Diff(lines, b.show()); diff != "" {
		b.t.Errorf("%s:\n%s", what, diff)
	}
}

func rec(key, value string, delta int64) batch.Record {
	r := batch.Record{Key: []byte(key), TimestampDelta: delta}
	if value != "" {
		r.Value = []byte(value)
	}
	return r
}

func newBed(t *testing.T) *bed { return &bed{t: t, now: 5000, last: map[int64]LastOf{}} }

func TestNewestStay(t *testing.T) {
	b := newBed(t)
	plain := batch.NoProducer(0, 0, 1000)
	b.add(plain, rec("a", "1", 0), rec("b", "1", 5), rec("c", "1", 9))
	b.add(plain, rec("a", "2", 10), rec("a", "3", 11))
	b.add(plain, rec("b", "", 20), batch.Record{Value: []byte("no key")})
	b.add(plain, rec("d", "1", 30))
	b.add(plain, rec("d", "2", 40))
	b.clean(1 << 20)
	// Times stay what they were, whatever they are counted from; the tombstone gets its horizon.
	b.want("first", "0-2 2:c=1@1009", "3-4 4:a=3@1011", "5-6 horizon 5100 5:b=@1020", "8-8 8:d=2@1040")
	b.now = 5099
	b.clean(1 << 20)
	b.want("before the horizon", "0-2 2:c=1@1009", "3-4 4:a=3@1011", "5-6 horizon 5100 5:b=@1020", "8-8 8:d=2@1040")
	b.now = 5100
	b.clean(1 << 20)
	b.want("at the horizon", "0-2 2:c=1@1009", "3-4 4:a=3@1011", "8-8 8:d=2@1040")
}

// The last batch of a round stays, if only as a header: it tells where the log goes on.
func TestTheEndStays(t *testing.T) {
	b := newBed(t)
	plain := batch.NoProducer(0, 0, 1000)
	b.add(plain, rec("a", "1", 0))
	b.add(plain, batch.Record{Value: []byte("no key")})
	b.clean(1 << 20)
	b.want("end", "0-0 0:a=1@1000", "1-1")
}

// A table that is too small covers less: what comes after it stays as it is.
func TestFullTable(t *testing.T) {
	b := newBed(t)
	plain := batch.NoProducer(0, 0, 1000)
	for range 3 {
		b.add(plain, rec("a", "1", 0), rec("b", "1", 0), rec("c", "1", 0), rec("d", "1", 0))
	}
	if _, upTo := b.clean(4 * slotBytes); upTo != 3 { // 0.9 of 4 slots
		t.Errorf("up to %d", upTo)
	}
	b.want("full", "0-3 0:a=1@1000 1:b=1@1000 2:c=1@1000 3:d=1@1000",
		"4-7 4:a=1@1000 5:b=1@1000 6:c=1@1000 7:d=1@1000", "8-11 8:a=1@1000 9:b=1@1000 10:c=1@1000 11:d=1@1000")
}

func TestTransactions(t *testing.T) {
	b := newBed(t)
	b.add(batch.NoProducer(0, 0, 1000), rec("a", "0", 0))
	b.txn(1, rec("a", "aborted", 0)) // 1
	b.txn(2, rec("b", "1", 0))       // 2
	b.marker(1, abortMarker, 1)      // 3
	b.marker(2, commitMarker, 2)     // 4
	b.txn(2, rec("b", "2", 0))       // 5
	b.marker(2, commitMarker, 5)     // 6
	b.add(batch.NoProducer(0, 0, 1000), rec("z", "0", 0))
	kept, _ := b.clean(1 << 20)
	// The aborted record doesn't count. Its marker stays with its index entry as long as it has just gone,
	// and so does that of a committed transaction.
	b.want("first", "0-0 0:a=0@1000", "3-3 p1 marker", "4-4 p2 marker", "5-5 p2 5:b=2@1000", "6-6 p2 marker",
		"7-7 7:z=0@1000")
	if len(kept) != 1 || kept[0].Last != 3 {
		t.Errorf("aborted transactions kept: %+v", kept)
	}
	kept, _ = b.clean(1 << 20)
	b.want("second", "0-0 0:a=0@1000", "3-3 p1 marker horizon 5100", "4-4 p2 marker horizon 5100",
		"5-5 p2 5:b=2@1000", "6-6 p2 marker", "7-7 7:z=0@1000")
	if len(kept) != 0 {
		t.Errorf("aborted transactions without data kept: %+v", kept)
	}
	b.now = 5100
	b.clean(1 << 20)
	b.want("third", "0-0 0:a=0@1000", "5-5 p2 5:b=2@1000", "6-6 p2 marker", "7-7 7:z=0@1000")
}

// What tells the last sequence of a live producer stays as an empty batch, and what tells its epoch alone
// as a marker.
func TestLiveProducersStay(t *testing.T) {
	b := newBed(t)
	b.last = map[int64]LastOf{1: {Data: 2, Epoch: 1}, 2: {Data: -1, Epoch: 1}}
	b.txn(1, rec("a", "1", 0), rec("a", "2", 0), rec("a", "3", 0))
	b.marker(1, commitMarker, 0)
	b.marker(2, commitMarker, 0)
	b.marker(3, commitMarker, 0)
	b.add(batch.NoProducer(0, 0, 1000), rec("a", "4", 0))
	for range 3 {
		b.clean(1 << 20)
		b.now += 1000
	}
	b.want("live", "0-2 p1", "3-3 p1 marker", "4-4 p2 marker", "6-6 6:a=4@1000")
	b.last = nil
	for range 3 {
		b.clean(1 << 20)
		b.now += 1000
	}
	b.want("gone", "6-6 6:a=4@1000")
}

// legacy is a message of magic 0 or 1.
func legacy(magic byte, offset batch.Offset, attributes byte, key, value []byte) []byte {
	be := binary.BigEndian
	body := []byte{magic, attributes}
	if magic == 1 {
		body = be.AppendUint64(body, 1000)
	}
	for _, f := range [][]byte{key, value} {
		if f == nil {
			body = be.AppendUint32(body, math.MaxUint32)
		} else {
			body = append(be.AppendUint32(body, uint32(len(f))), f...)
		}
	}
	b := be.AppendUint64(nil, uint64(offset))
	b = be.AppendUint32(b, uint32(len(body)+4))
	b = be.AppendUint32(b, crc32.ChecksumIEEE(body))
	return append(b, body...)
}

func TestLegacyMessages(t *testing.T) {
	b := newBed(t)
	b.log = append(b.log, legacy(0, 0, 0, []byte("a"), []byte("1"))...)
	b.log = append(b.log, legacy(1, 1, 0, []byte("b"), nil)...)
	inner := append(legacy(1, 0, 0, []byte("a"), []byte("2")), legacy(1, 1, 0, []byte("c"), []byte("2"))...)
	packed, err := batch.Compress(nil, batch.Gzip, batch.DefaultLevel, inner)
	if err != nil {
		t.Fatal(err)
	}
	b.log = append(b.log, legacy(1, 3, byte(batch.Gzip), nil, packed)...)
	b.log = append(b.log, legacy(1, 4, byte(batch.Gzip), nil, []byte("not gzip"))...)
	b.end = 5
	b.add(batch.NoProducer(0, 0, 1000), rec("a", "3", 0))
	b.clean(1 << 20)
	// The wrapper stays for the sake of one message in it; what can't be read stays as well.
	b.want("legacy", "legacy true 2:a=2 3:c=2", "legacy false", "5-5 5:a=3@1000")
	b.add(batch.NoProducer(0, 0, 1000), rec("c", "3", 0))
	b.clean(1 << 20)
	b.want("later", "legacy false", "5-5 5:a=3@1000", "6-6 6:c=3@1000")
}
