package kraft

import (
	"testing"
	"time"
)

// FuzzStep throws arbitrary messages at a voter: it may stop (two leaders in one epoch), but never panics,
// and its epoch and high watermark never fall.
func FuzzStep(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	f.Add([]byte("\x08\x08\x08\x00\x01\x00\x01\x08\x02\x02\x01\x01\x00\x03\x09\x09\x05\x05\x01\x02\x03"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &fuzzReader{b: b}
		at := func(id ID) []Endpoint { return []Endpoint{{Name: "C", Host: "h", Port: uint16(id)}} }
		cfg := Config{
			Self: Key{ID: 1}, CanVote: true, Listener: "C", Endpoints: at(1), ElectionTimeout: time.Second,
			BackoffMax: time.Second, FetchTimeout: time.Second, FetchWait: time.Second, RequestTimeout: time.Second,
			RetryBackoff: time.Millisecond, FetchMaxBytes: 100, SnapshotMaxBytes: 100,
		}
		for id := ID(1); id <= 3; id++ {
			cfg.Static = append(cfg.Static, Voter{ReplicaKey: Key{ID: id}, Endpoints: at(id)})
		}
		now := time.Unix(1, 0)
		c, err := New(cfg, Loaded{Election: Election{Leader: NoID, Voted: Key{ID: NoID}}}, now)
		if err != nil {
			t.Fatal(err)
		}
		var tags []uint64
		for len(r.b) > 0 {
			before := c.State()
			now = now.Add(time.Duration(r.n(4)) * 300 * time.Millisecond)
			c.Step(now, r.input(tags))
			for round := 0; ; round++ {
				e := c.Drain()
				if round > 100 {
					t.Fatalf("no end of effects: %+v %+v", e, c.State())
				}
				if e.Fatal != nil {
					return
				}
				if e.Empty() {
					break
				}
				for _, s := range e.Sends {
					tags = append(tags, s.Tag)
				}
				for _, op := range e.Disk {
					if i, ok := op.(Install); ok {
						c.Step(now, Installed{ID: i.ID})
					}
				}
				if r.n(2) == 0 {
					c.Step(now, Synced{c.log.End})
				}
			}
			s := c.State()
			if s.Epoch < before.Epoch || s.HighWatermark < before.HighWatermark || s.HighWatermark > s.Log.End {
				t.Fatalf("%+v, then %+v", before, s)
			}
		}
	})
}

type fuzzReader struct{ b []byte }

func (r *fuzzReader) n(limit int) int {
	if len(r.b) == 0 {
		return 0
	}
	v := int(r.b[0]) % limit
	r.b = r.b[1:]
	return v
}

func (r *fuzzReader) status() Status {
	codes := [...]Code{None, None, None, None, NotLeader, FencedEpoch, UnknownEpoch, InvalidRequest}
	s := Status{Error: codes[r.n(len(codes))]}
	s.Leader, s.Epoch = ID(r.n(4))-1, Epoch(r.n(6))
	if s.Leader > 0 {
		s.At = []Endpoint{{Name: "C", Host: "h", Port: 7}}
	}
	return s
}

func (r *fuzzReader) input(tags []uint64) Input {
	in := Received{Tag: uint64(r.n(200))}
	k := func() Key { return Key{ID: ID(r.n(5)) - 1} }
	switch r.n(10) {
	case 0:
		in.Body = &VoteRequest{
			Candidate: k(), Voter: k(), Epoch: Epoch(r.n(6)), LastEpoch: Epoch(r.n(6)),
			End: Offset(r.n(9)), Pre: r.n(2) == 0,
		}
	case 1:
		in.Body = &BeginRequest{Voter: k(), Leader: k().ID, Epoch: Epoch(r.n(6))}
	case 2:
		in.Body = &EndRequest{Leader: k().ID, Epoch: Epoch(r.n(6)), Successors: []Key{k(), k()}}
	case 3:
		in.Body = &FetchRequest{
			From: k(), Epoch: Epoch(r.n(6)), Offset: Offset(r.n(9)), LastEpoch: Epoch(r.n(6)),
			MaxWait: time.Duration(r.n(2)) * time.Second,
		}
	case 4:
		in.Body = &SnapshotRequest{From: k(), Epoch: Epoch(r.n(6)), ID: SnapshotID{Offset(r.n(4)), Epoch(r.n(4))}}
	case 5:
		in.Body = DescribeRequest{}
	case 6:
		return Resign{Epoch(r.n(6))}
	default:
		if len(tags) == 0 {
			return nil
		}
		return Answered{Tag: tags[max(0, len(tags)-1-r.n(3))], Body: r.response()}
	}
	return in
}

func (r *fuzzReader) response() Response {
	s := r.status()
	switch r.n(6) {
	case 0, 1:
		return &VoteResponse{Status: s, Granted: r.n(3) > 0}
	case 2:
		return &BeginResponse{s}
	case 3:
		return &EndResponse{s}
	case 4:
		id := SnapshotID{Offset(r.n(9)), Epoch(r.n(4))}
		return &SnapshotResponse{
			Status: s, ID: id, Size: int64(r.n(3)), Position: int64(r.n(2)), Data: make([]byte, r.n(3)),
		}
	}
	f := &FetchResponse{Status: s, HighWatermark: Offset(r.n(9)) - 1}
	switch r.n(4) {
	case 0:
		f.Diverging = &EpochEnd{Epoch(r.n(6)), Offset(r.n(9))}
	case 1:
		f.Snapshot = &SnapshotID{Offset(r.n(9)), Epoch(r.n(4))}
	default:
		o := Offset(r.n(9))
		f.Batches = []Batch{{Base: o, Last: o + Offset(r.n(2)), Epoch: Epoch(r.n(6))}}
	}
	return f
}
