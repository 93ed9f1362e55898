package sim

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/kalda/kalda/internal/core/kraft"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/record"
	"github.com/kalda/kalda/internal/server/quorum"
)

// KRaft is one simulated metadata quorum.
type KRaft struct {
	Seed      uint64
	Voters    int
	Observers int
	Dynamic   bool          // kraft.version 1, voters from the 0-0 snapshot
	Faults    bool          // crashes, partitions, loss, duplicates
	Time      time.Duration // how long there are faults; then the cluster must heal
	Canary    kraft.Canary

	*world
	nodes   []*kraftNode
	blocked map[[2]kraft.ID]bool
	written uint64
	check   checker
	failure error
}

// Run plays the whole scenario and returns the first violation.
func (k *KRaft) Run() error {
	k.world = newWorld(k.Seed)
	k.blocked = map[[2]kraft.ID]bool{}
	k.check = newChecker(k)
	k.build()
	for _, n := range k.nodes {
		n.boot()
	}
	k.after(50*time.Millisecond, k.work)
	if k.Faults {
		k.after(k.between(0, time.Second), k.trouble)
	}
	end := k.now.Add(k.Time)
	if err := k.until(end, func() bool { return false }); err != nil {
		return err
	}
	return k.heal()
}

// until runs events up to the time or until done, and checks after each.
func (k *KRaft) until(end time.Time, done func() bool) error {
	for k.now.Before(end) && k.failure == nil && !done() && k.step() {
		k.check.all()
	}
	return k.failure
}

// heal ends all faults: everybody must then agree on everything, and a new write must commit everywhere.
func (k *KRaft) heal() error {
	k.Faults = false
	clear(k.blocked)
	for _, n := range k.nodes {
		if n.engine == nil {
			n.boot()
		}
	}
	target := k.check.committedEnd() + 3
	caughtUp := func() bool {
		for _, n := range k.nodes {
			if n.engine == nil || n.engine.Applied() < target {
				return false
			}
		}
		return true
	}
	if err := k.until(k.now.Add(time.Minute), caughtUp); err != nil {
		return err
	}
	if !caughtUp() {
		return fmt.Errorf("a minute after all faults, not all have reached offset %d:%s", target, k.describe())
	}
	return nil
}

func (k *KRaft) describe() string {
	var b bytes.Buffer
	for _, n := range k.nodes {
		if n.engine == nil {
			fmt.Fprintf(&b, "\n  %d down", n.id)
			continue
		}
		s := n.engine.Core().State()
		fmt.Fprintf(&b, "\n  %d %v epoch %d leader %d log %d-%d hw %d applied %d", n.id, s.Role, s.Epoch, s.Leader,
			s.Log.Start, s.Log.End, s.HighWatermark, n.engine.Applied())
	}
	return b.String()
}

func (k *KRaft) fail(format string, args ...any) {
	if k.failure == nil {
		k.failure = fmt.Errorf(format+"%s", append(args, k.describe())...)
	}
}

func (k *KRaft) build() {
	var voters []kraft.Voter
	for i := range k.Voters {
		id := kraft.ID(i + 1)
		voters = append(voters, kraft.Voter{
			ReplicaKey: kraft.Key{ID: id}, Endpoints: []kraft.Endpoint{endpoint(id)}, MaxVersion: 1,
		})
		if k.Dynamic {
			voters[i].Dir = [16]byte{15: byte(id + 100)}
		}
	}
	for i := range k.Voters + k.Observers {
		n := &kraftNode{k: k, id: kraft.ID(i + 1), store: quorum.NewMemStore()}
		n.cfg = k.coreConfig(n.id, voters)
		if k.Dynamic && n.cfg.CanVote {
			n.store.Put(kraft.SnapshotID{}, bootstrapSnapshot(voters))
		}
		k.nodes = append(k.nodes, n)
	}
}

func endpoint(id kraft.ID) kraft.Endpoint {
	return kraft.Endpoint{Name: "CONTROLLER", Host: "sim", Port: uint16(id)}
}

func (k *KRaft) coreConfig(id kraft.ID, voters []kraft.Voter) kraft.Config {
	c := kraft.Config{
		Self: kraft.Key{ID: id, Dir: [16]byte{15: byte(id + 100)}}, CanVote: int(id) <= k.Voters,
		Listener:        "CONTROLLER",
		Endpoints:       []kraft.Endpoint{endpoint(id)},
		ElectionTimeout: time.Second, BackoffMax: time.Second, FetchTimeout: 2 * time.Second,
		FetchWait: 500 * time.Millisecond, RequestTimeout: 2 * time.Second, RetryBackoff: 20 * time.Millisecond,
		FetchMaxBytes: 4096, SnapshotMaxBytes: 300, Seed: k.Seed, Canary: k.Canary,
	}
	if !k.Dynamic {
		c.Static = voters
		return c
	}
	for _, v := range voters {
		c.Bootstrap = append(c.Bootstrap, v.Endpoints[0])
	}
	return c
}

// bootstrapSnapshot is what formatting with a list of controllers leaves.
func bootstrapSnapshot(voters []kraft.Voter) []byte {
	recs := []batch.Record{
		{Key: record.ControlKey(record.ControlSnapshotHeader), Value: record.EncodeSnapshotHeader(0)},
		{Key: record.ControlKey(record.ControlKRaftVersion), Value: record.EncodeKRaftVersion(1), OffsetDelta: 1},
		{
			Key: record.ControlKey(record.ControlKRaftVoters), Value: record.EncodeKRaftVoters(voters),
			OffsetDelta: 2,
		},
	}
	m := batch.NoProducer(0, 0, 0)
	m.Control = true
	b, err := batch.Build(nil, m, recs)
	if err != nil {
		panic(err)
	}
	m.BaseOffset = 3
	b, err = batch.Build(b, m, []batch.Record{
		{Key: record.ControlKey(record.ControlSnapshotFooter), Value: record.EncodeSnapshotFooter()},
	})
	if err != nil {
		panic(err)
	}
	return b
}

// work writes something through whoever thinks that it leads.
func (k *KRaft) work() {
	for _, n := range k.nodes {
		if n.engine == nil || !n.m.leading {
			continue
		}
		n.engine.Do(k.now, func(w quorum.Writer) {
			for range 1 + k.rng.IntN(3) {
				k.written++
				rec := fmt.Appendf(nil, "%d from %d in epoch %d", k.written, n.id, w.Epoch())
				_, err := w.Append([][]byte{rec, []byte("and more")})
				if err != nil && !errors.Is(err, quorum.ErrNotLeader) {
					k.fail("append: %v", err)
				}
			}
		})
		n.flush()
	}
	k.after(k.between(20*time.Millisecond, 200*time.Millisecond), k.work)
}

// trouble breaks something, or mends it.
func (k *KRaft) trouble() {
	if !k.Faults {
		return
	}
	n := k.nodes[k.rng.IntN(len(k.nodes))]
	switch k.rng.IntN(6) {
	case 0:
		n.crash()
		k.after(k.between(0, 4*time.Second), n.boot)
	case 1:
		n.doomed = 1 + k.rng.IntN(6)
	case 2: // cut one node off, in one direction or both
		for _, o := range k.nodes {
			k.blocked[[2]kraft.ID{n.id, o.id}] = true
			if k.chance(70) {
				k.blocked[[2]kraft.ID{o.id, n.id}] = true
			}
		}
	case 3: // two sides
		for _, a := range k.nodes {
			for _, b := range k.nodes {
				if k.chance(30) {
					k.blocked[[2]kraft.ID{a.id, b.id}] = true
				}
			}
		}
	default:
		clear(k.blocked)
	}
	k.after(k.between(100*time.Millisecond, 4*time.Second), k.trouble)
}
