package kraft

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestScenarios plays testdata/*.txt: a few cores, whose messages wait until the scenario delivers them.
// Rewrite the expected output with -rewrite, and review it as a diff.
//
//	new voters=(1,2,3) observers=(4)   a fresh cluster
//	expire N                           let node N's timers run until its state changes
//	tick D                             let the time D pass for everybody
//	pass A B D                         let the time D pass for A and B alone, who hear each other
//	deliver [A B]                      deliver what A has for B, or everything, until nothing is left
//	drop [A B]                         lose it instead
//	append N words...                  node N, as leader, appends a batch for each word
//	snapshot N, trim N                 node N snapshots at its high watermark; and cuts its log there
//	resign N, restart N                a restart keeps the disk alone
//	state
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".txt") {
			return
		}
		s := &scenario{t: t, now: time.Unix(1000, 0)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			s.run(d)
			return s.out.String()
		})
	})
}

type scenario struct {
	t     *testing.T
	now   time.Time
	nodes []*scNode
	wires []wire
	out   strings.Builder
}

type scNode struct {
	core *Core
	cfg  Config
	disk Loaded
	logs []Batch
	tag  uint64
	held map[uint64]wire
	snap map[SnapshotID][]byte
	part []byte
}

// wire is a message under way.
type wire struct {
	from, to ID
	req      *Send
	resp     Response
	tag      uint64
}

// between is the messages from one node to another, or all.
func between(ids []ID) func(wire) bool {
	return func(w wire) bool { return len(ids) == 0 || w.from == ids[0] && w.to == ids[1] }
}

func (s *scenario) node(id ID) *scNode {
	for _, n := range s.nodes {
		if n.cfg.Self.ID == id {
			return n
		}
	}
	s.t.Fatalf("no node %d", id)
	return nil
}

func (s *scenario) run(d *datadriven.TestData) {
	var ids []ID
	var words []string
	for _, a := range d.CmdArgs {
		if n, err := strconv.Atoi(a.Key); err == nil {
			ids = append(ids, ID(n))
		} else {
			words = append(words, a.Key)
		}
	}
	switch d.Cmd {
	case "new":
		s.create(d)
	case "expire":
		s.expire(s.node(ids[0]))
	case "tick":
		by, err := time.ParseDuration(words[0])
		if err != nil {
			s.t.Fatal(err)
		}
		s.now = s.now.Add(by)
		for _, n := range s.nodes {
			s.step(n, nil)
		}
	case "deliver":
		s.deliver(ids)
	case "pass":
		s.pass(ids, words[0])
	case "drop":
		s.wires = slices.DeleteFunc(s.wires, between(ids))
	case "append":
		n := s.node(ids[0])
		for _, w := range words {
			if _, ok := n.core.Append(s.now, [][]byte{[]byte(w)}); !ok {
				fmt.Fprintln(&s.out, "not the leader")
			}
		}
		s.flush(n)
	case "snapshot":
		n := s.node(ids[0])
		st := n.core.State()
		id := SnapshotID{st.HighWatermark, st.Log.endOf(st.Epoch).Epoch}
		n.snap[id] = []byte("snapshot " + id.String())
		s.step(n, Taken{id})
	case "trim":
		n := s.node(ids[0])
		at, _ := n.core.log.latest()
		n.logs = slices.DeleteFunc(n.logs, func(b Batch) bool { return b.Last < at.Offset })
		s.step(n, Trimmed{at.Offset})
	case "resign":
		n := s.node(ids[0])
		s.step(n, Resign{n.core.epoch})
	case "restart":
		s.restart(s.node(ids[0]))
	case "state":
	default:
		d.Fatalf(s.t, "unknown command")
	}
	if d.Cmd == "state" {
		s.state()
	}
}

func (s *scenario) create(d *datadriven.TestData) {
	var voters, observers []int
	d.ScanArgs(s.t, "voters", &voters)
	if d.HasArg("observers") {
		d.ScanArgs(s.t, "observers", &observers)
	}
	var set []Voter
	at := func(id int) Endpoint { return Endpoint{Name: "CONTROLLER", Host: fmt.Sprint("host", id), Port: 9093} }
	for _, id := range voters {
		set = append(set, Voter{ReplicaKey: Key{ID: ID(id)}, Endpoints: []Endpoint{at(id)}})
	}
	s.nodes, s.wires = nil, nil
	for _, id := range append(voters, observers...) {
		n := &scNode{snap: map[SnapshotID][]byte{}}
		n.cfg = Config{
			Self: Key{ID: ID(id), Dir: [16]byte{byte(id)}}, CanVote: slices.Contains(voters, id),
			Listener:  "CONTROLLER",
			Endpoints: []Endpoint{at(id)}, Static: set, ElectionTimeout: time.Second, BackoffMax: time.Second,
			FetchTimeout: 2 * time.Second, FetchWait: 500 * time.Millisecond, RequestTimeout: 2 * time.Second,
			RetryBackoff: 20 * time.Millisecond, FetchMaxBytes: 1 << 20, SnapshotMaxBytes: 8, Seed: 1,
		}
		n.disk.Election = Election{Leader: NoID, Voted: Key{ID: NoID}}
		s.nodes = append(s.nodes, n)
		s.restart(n)
	}
}

func (s *scenario) restart(n *scNode) {
	n.held, n.disk.Control = map[uint64]wire{}, nil
	if n.core != nil {
		n.disk.Log = n.core.log
	}
	var err error
	if n.core, err = New(n.cfg, n.disk, s.now); err != nil {
		s.t.Fatal(err)
	}
	s.step(n, nil)
}

// expire jumps from deadline to deadline, for this node alone.
func (s *scenario) expire(n *scNode) {
	role := n.core.role
	for range 100 {
		if at := n.core.Deadline(); at.After(s.now) {
			s.now = at
		}
		s.step(n, nil)
		if n.core.role != role {
			return
		}
	}
	fmt.Fprintln(&s.out, "nothing expires")
}

func (s *scenario) pass(ids []ID, d string) {
	by, err := time.ParseDuration(d)
	if err != nil {
		s.t.Fatal(err)
	}
	quiet := s.out.String()
	for end := s.now.Add(by); s.now.Before(end); s.now = s.now.Add(100 * time.Millisecond) {
		for i, id := range ids {
			s.step(s.node(id), nil)
			s.deliver([]ID{id, ids[1-i]})
			s.deliver([]ID{ids[1-i], id})
		}
	}
	lines := strings.Count(s.out.String(), "\n") - strings.Count(quiet, "\n")
	s.out.Reset()
	s.out.WriteString(quiet)
	fmt.Fprintf(&s.out, "(%d lines)\n", lines)
}

// deliver is until the fetches that wait for news are all there is.
func (s *scenario) deliver(ids []ID) {
	for range 300 {
		i := slices.IndexFunc(s.wires, between(ids))
		if i < 0 {
			return
		}
		w := s.wires[i]
		s.wires = slices.Delete(s.wires, i, i+1)
		n := s.node(w.to)
		if w.req != nil {
			n.tag++
			n.held[n.tag] = w
			s.step(n, Received{Tag: n.tag, Body: w.req.Body})
		} else {
			s.step(n, Answered{Tag: w.tag, Body: w.resp})
		}
	}
	fmt.Fprintln(&s.out, "there is no end to it")
}

func (s *scenario) step(n *scNode, in Input) {
	n.core.Step(s.now, in)
	s.flush(n)
}

func (s *scenario) say(n *scNode, format string, args ...any) {
	fmt.Fprintf(&s.out, "%d: "+format+"\n", append([]any{n.cfg.Self.ID}, args...)...)
}

func (s *scenario) flush(n *scNode) {
	for {
		e := n.core.Drain()
		if e.Fatal != nil {
			s.say(n, "FATAL %v", e.Fatal)
			return
		}
		if e.Empty() {
			return
		}
		for _, note := range e.Notes {
			s.say(n, "%s", note)
		}
		if e.Election != nil {
			n.disk.Election = *e.Election
			s.say(n, "  saves epoch %d leader %d voted %d", e.Election.Epoch, e.Election.Leader, e.Election.Voted.ID)
		}
		for _, op := range e.Disk {
			s.disk(n, op)
		}
		for _, r := range e.Replies {
			s.reply(n, r)
		}
		for _, m := range e.Sends {
			to := m.To
			if to < 0 {
				to = ID(m.At.Port)
			}
			s.say(n, "  -> %d %s", to, show(m.Body))
			s.wires = append(s.wires, wire{from: n.cfg.Self.ID, to: to, req: &m, tag: m.Tag})
		}
		if len(e.Disk) > 0 {
			n.core.Step(s.now, Synced{n.core.log.End})
		}
	}
}

func (s *scenario) disk(n *scNode, op DiskOp) {
	switch op := op.(type) {
	case Append:
		s.say(n, "  appends %d-%d of epoch %d", op.Batch.Base, op.Batch.Last, op.Batch.Epoch)
		n.logs = append(n.logs, op.Batch)
	case Truncate:
		s.say(n, "  truncates to %d", op.To)
		n.logs = slices.DeleteFunc(n.logs, func(b Batch) bool { return b.Last >= op.To })
	case WritePart:
		s.say(n, "  writes %d bytes at %d of snapshot %v", len(op.Data), op.Position, op.ID)
		n.part = append(n.part[:op.Position], op.Data...)
	case Discard:
		s.say(n, "  discards snapshot %v", op.ID)
	case Install:
		s.say(n, "  installs snapshot %v: %q", op.ID, n.part)
		n.snap[op.ID], n.logs = n.part, nil
		n.core.Step(s.now, Installed{ID: op.ID})
	}
}

// reply does what a driver does: read what the core named.
func (s *scenario) reply(n *scNode, r Reply) {
	w := n.held[r.Tag]
	delete(n.held, r.Tag)
	switch b := r.Body.(type) {
	case *FetchResponse:
		for _, l := range n.logs {
			if b.Read && l.Base >= b.ReadFrom {
				b.Batches = append(b.Batches, l)
			}
		}
	case *SnapshotResponse:
		if data, ok := n.snap[b.ID]; ok && b.Error == None {
			b.Size = int64(len(data))
			b.Data = data[b.Position:min(b.Size, b.Position+int64(b.MaxBytes))]
		} else if b.Error == None {
			b.Error = SnapshotNotFound
		}
	}
	s.say(n, "  => %d %s", w.from, show(r.Body))
	s.wires = append(s.wires, wire{from: n.cfg.Self.ID, to: w.from, resp: r.Body, tag: w.tag})
}

func (s *scenario) state() {
	for _, n := range s.nodes {
		st := n.core.State()
		role := st.Role.String()
		if st.Observer {
			role = "observing " + role
		}
		fmt.Fprintf(&s.out, "%d: %s epoch %d leader %d voted %d log %d-%d epochs %v snapshots %v hw %d\n",
			n.cfg.Self.ID, role, st.Epoch, st.Leader, st.Voted.ID, st.Log.Start, st.Log.End, st.Log.Epochs,
			st.Log.Snapshots, st.HighWatermark)
	}
}

func show(body any) string {
	switch m := body.(type) {
	case *VoteRequest:
		kind := "vote"
		if m.Pre {
			kind = "pre-vote"
		}
		return fmt.Sprintf("%s? epoch %d, log ends at %d of epoch %d", kind, m.Epoch, m.End, m.LastEpoch)
	case *VoteResponse:
		return fmt.Sprintf("granted %t%s", m.Granted, m.Status.show())
	case *BeginRequest:
		return fmt.Sprintf("begin: %d leads epoch %d", m.Leader, m.Epoch)
	case *BeginResponse:
		return "begun" + m.Status.show()
	case *EndRequest:
		return fmt.Sprintf("end of %d's epoch %d, next of %v", m.Leader, m.Epoch, keyIDs(m.Successors))
	case *EndResponse:
		return "ended" + m.Status.show()
	case *FetchRequest:
		return fmt.Sprintf("fetch? epoch %d, from %d after epoch %d, hw %d", m.Epoch, m.Offset, m.LastEpoch,
			m.HighWatermark)
	case *FetchResponse:
		return showFetch(m)
	case *SnapshotRequest:
		return fmt.Sprintf("snapshot %v? from %d", m.ID, m.Position)
	case *SnapshotResponse:
		return fmt.Sprintf("snapshot %v, %d of %d bytes at %d%s", m.ID, len(m.Data), m.Size, m.Position,
			m.Status.show())
	}
	return fmt.Sprintf("%+v", body)
}

func showFetch(m *FetchResponse) string {
	out := fmt.Sprintf("%d batches, hw %d", len(m.Batches), m.HighWatermark)
	if m.Diverging != nil {
		out = fmt.Sprintf("diverging: epoch %d ends at %d", m.Diverging.Epoch, m.Diverging.End)
	}
	if m.Snapshot != nil {
		out = fmt.Sprintf("fetch snapshot %v", *m.Snapshot)
	}
	return out + m.Status.show()
}

func (s *Status) show() string {
	out := fmt.Sprintf(" (epoch %d, leader %d)", s.Epoch, s.Leader)
	if s.Error != None {
		out = fmt.Sprintf(" error %d%s", s.Error, out)
	}
	return out
}

func keyIDs(keys []Key) (ids []ID) {
	for _, k := range keys {
		ids = append(ids, k.ID)
	}
	return ids
}
