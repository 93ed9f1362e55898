package broker

import (
	"slices"
	"sync"

	"github.com/kalda/kalda/internal/core/replica"
	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/wire"
)

// copyLimit is the largest range that is copied into the reply. Above, sendfile's own calls cost less than
// the copy.
const copyLimit = 32 << 10

// copyTotal is how much of a reply is copied, however many small ranges it has: a reader that takes its time
// holds that much memory.
const copyTotal = 256 << 10

// refuse answers with an error of the whole request.
func (q *fetch) refuse(r *wire.Request, code kerr.Code) {
	o := r.Begin()
	b := append32(o.B, 0)
	b = append16(b, int16(code))
	b = append32(b, 0)
	b = appendCount(b, 0, q.version >= 12)
	o.B = appendTags(b, q.version >= 12)
	r.End(o)
}

// answer writes the reply. Big ranges stay in their files: the connection sends them from there.
func (q *fetch) answer(r *wire.Request) {
	if q.replica < 0 {
		if wait := q.b.quotas.throttleFetch(r, q.total+q.overhead()); wait > 0 {
			q.release()
			q.answerEmpty(r, int32(wait.Milliseconds()))
			return
		}
	}
	q.choose()
	flex := q.version >= 12
	o := r.Begin()
	q.start = len(o.B)
	b := q.appendHead(o.B, 0)
	o.B = appendCount(b, q.topics(), flex)
	var moved []int32
	for i := 0; i < len(q.list); {
		i = q.appendTopic(o, i, &moved)
	}
	if q.version >= 16 && len(moved) > 0 {
		o.B = q.b.appendEndpoints(o.B, r, moved)
	} else {
		o.B = appendTags(o.B, flex)
	}
	r.End(o)
	if q.replica < 0 {
		q.b.m.BytesOut.Add(int64(q.total))
	}
}

func (q *fetch) appendHead(b []byte, throttle int32) []byte {
	b = append32(b, throttle)
	if q.version < 7 {
		return b
	}
	b = append16(b, 0)
	id := int32(0)
	if q.session != nil && q.session.Len() > 0 {
		id = q.session.ID()
	}
	return append32(b, id)
}

// answerEmpty tells a client to wait. Its session doesn't notice: what it was due, it is due next time.
func (q *fetch) answerEmpty(r *wire.Request, throttle int32) {
	flex := q.version >= 12
	o := r.Begin()
	b := q.appendHead(o.B, throttle)
	b = appendCount(b, 0, flex)
	o.B = appendTags(b, flex)
	r.End(o)
}

// overhead is about what a reply has around the records.
func (q *fetch) overhead() int { return 32 + 40*len(q.list) }

// choose decides which partitions the reply tells.
func (q *fetch) choose() {
	for i := range q.list {
		f := &q.list[i]
		f.tell = true
		if f.part == nil {
			continue
		}
		changed := q.session.Tell(f.part, replica.Answer{
			HighWatermark: f.got.hw, LogStart: f.got.start, Data: f.got.slice.Len() > 0,
			Failed: f.got.code != kerr.None, Always: f.got.diverging,
		})
		f.tell = changed || q.full
	}
}

// topics counts the runs of told partitions of one topic.
func (q *fetch) topics() int {
	n := 0
	var last *fetchPart
	for i := range q.list {
		if f := &q.list[i]; f.tell {
			if last == nil || !f.sameTopic(last) {
				n++
			}
			last = f
		}
	}
	return n
}

func (f *fetchPart) sameTopic(o *fetchPart) bool { return f.id == o.id && f.topic == o.topic }

// appendTopic appends the run of told partitions that begins at i or later, and returns where to go on.
func (q *fetch) appendTopic(o *wire.Out, i int, moved *[]int32) int {
	for i < len(q.list) && !q.list[i].tell {
		i++
	}
	if i == len(q.list) {
		return i
	}
	first, end, n := &q.list[i], i, 0
	for ; end < len(q.list) && (!q.list[end].tell || q.list[end].sameTopic(first)); end++ {
		if q.list[end].tell {
			n++
		}
	}
	flex := q.version >= 12
	if q.version >= 13 {
		o.B = append(o.B, first.id[:]...)
	} else {
		o.B = appendString(o.B, first.topic, flex)
	}
	o.B = appendCount(o.B, n, flex)
	for ; i < end; i++ {
		if f := &q.list[i]; f.tell {
			q.appendPart(o, f)
			q.appendPartTags(o, f, moved)
		}
	}
	o.B = appendTags(o.B, flex)
	return end
}

func (q *fetch) appendPart(o *wire.Out, f *fetchPart) {
	flex := q.version >= 12
	code := f.got.code
	if code == kerr.KafkaStorageError && q.version <= 5 {
		code = kerr.NotLeaderOrFollower
	}
	b := append32(o.B, f.n)
	b = append16(b, int16(code))
	b = append64(b, int64(f.got.hw))
	b = append64(b, int64(f.got.lso))
	if q.version >= 5 {
		b = append64(b, int64(f.got.start))
	}
	b = q.appendAborted(b, f)
	if q.version >= 11 {
		b = append32(b, -1) // preferred read replica
	}
	n := f.got.slice.Len()
	b = appendCount(b, n, flex)
	switch {
	case n == 0:
	case n <= copyLimit && len(b)-q.start <= copyTotal || f.got.slice.File() == nil:
		at := len(b)
		var err error
		if b, err = f.got.slice.AppendTo(b); err != nil {
			q.b.log.Error("reading the log failed", "partition", f.p.String(), "error", err)
			b = append(b[:at], make([]byte, n)...) // zeros are no batch: the client sees that they are broken
		}
		f.got.slice.Release()
	default:
		o.B = b
		o.File(newFileRange(f.got.slice))
		f.got.slice = seglog.Slice{}
		return
	}
	o.B = b
}

func (q *fetch) appendAborted(b []byte, f *fetchPart) []byte {
	flex := q.version >= 12
	if f.p == nil {
		return appendCount(b, 0, flex)
	}
	if !q.committed || f.got.code != kerr.None {
		return appendCount(b, -1, flex)
	}
	b = appendCount(b, len(f.got.aborted), flex)
	for _, t := range f.got.aborted {
		b = append64(b, t.ProducerID)
		b = append64(b, int64(t.First))
		b = appendTags(b, flex)
	}
	return b
}

func (q *fetch) appendPartTags(o *wire.Out, f *fetchPart, moved *[]int32) {
	if q.version < 12 {
		return
	}
	leader, epoch := int32(-1), int32(-1)
	if f.got.code == kerr.NotLeaderOrFollower || f.got.code == kerr.FencedLeaderEpoch {
		leader, epoch = q.b.leaderOf(f.topic, f.id, f.n)
	}
	n := 0
	if f.got.diverging {
		n++
	}
	if leader >= 0 {
		n++
		if !slices.Contains(*moved, leader) {
			*moved = append(*moved, leader)
		}
	}
	b := append(o.B, byte(n))
	if f.got.diverging {
		b = append(b, 0, 13)
		b = append32(b, f.got.divEpoch)
		b = append64(b, int64(f.got.divEnd))
		b = append(b, 0)
	}
	if leader >= 0 {
		b = appendLeaderTag(b, 1, leader, epoch)
	}
	o.B = b
}

// fileRange is a slice of a log on its way to a socket.
type fileRange struct{ s seglog.Slice }

var fileRanges = sync.Pool{New: func() any { return new(fileRange) }}

func newFileRange(s seglog.Slice) *fileRange {
	f := fileRanges.Get().(*fileRange)
	f.s = s
	return f
}

// Len is the number of bytes.
func (f *fileRange) Len() int { return f.s.Len() }

// ReadAt reads inside the range.
func (f *fileRange) ReadAt(p []byte, off int64) (int, error) { return f.s.ReadAt(p, off) }

// Descriptor is the file to send from.
func (f *fileRange) Descriptor() (fd uintptr, pos int64, ok bool) {
	file := f.s.File()
	if file == nil {
		return 0, 0, false
	}
	return file.Fd(), f.s.Pos(), true
}

// Release gives the file back.
func (f *fileRange) Release() {
	f.s.Release()
	fileRanges.Put(f)
}
