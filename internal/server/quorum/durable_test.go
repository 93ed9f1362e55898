package quorum

import (
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/core/kraft"
	"github.com/kalda/kalda/internal/disk/vfs"
)

// diary is a disk and a network that write down in which order they were used.
type diary struct {
	*MemStore
	lines []string
}

func (d *diary) add(s string) { d.lines = append(d.lines, s) }

func (d *diary) SaveElection(e kraft.Election) error {
	d.add(fmt.Sprintf("save epoch %d voted %d", e.Epoch, e.Voted.ID))
	return d.MemStore.SaveElection(e)
}

func (d *diary) Append(b []kraft.Batch) error { d.add("append"); return d.MemStore.Append(b) }
func (d *diary) Sync() error                  { d.add("sync"); return d.MemStore.Sync() }
func (d *diary) Reply(r kraft.Reply)          { d.add(fmt.Sprintf("reply %T", r.Body)) }
func (d *diary) Send(s kraft.Send)            { d.add(fmt.Sprintf("send %T", s.Body)) }

// voter is an engine of node 1 of the voters.
func voter(t *testing.T, d *diary, voters ...kraft.ID) *Engine {
	t.Helper()
	cfg := kraft.Config{
		Self: kraft.Key{ID: 1}, CanVote: true, Listener: "C", ElectionTimeout: time.Second,
		BackoffMax: time.Second, FetchTimeout: 2 * time.Second, FetchWait: time.Second,
		RequestTimeout: time.Second, RetryBackoff: time.Millisecond, FetchMaxBytes: 1 << 20,
		SnapshotMaxBytes: 1 << 20, Seed: 1,
	}
	for _, id := range voters {
		cfg.Static = append(cfg.Static, kraft.Voter{
			ReplicaKey: kraft.Key{ID: id}, Endpoints: []kraft.Endpoint{{Name: "C", Host: "h", Port: uint16(id)}},
		})
	}
	e, err := NewEngine(EngineConfig{
		Core: cfg, RetentionBytes: -1, Retention: -1, Logger: slog.New(slog.DiscardHandler),
	}, d, newList(), d, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestVoteIsDurableBeforeItIsSent: a vote that a crash could take back might be given again, to another
// (Ongaro, Raft, section 3.8).
func TestVoteIsDurableBeforeItIsSent(t *testing.T) {
	d := &diary{MemStore: NewMemStore()}
	e := voter(t, d, 1, 2, 3)
	now := time.Unix(0, 0)
	flush := func() {
		t.Helper()
		if err := e.Flush(now); err != nil {
			t.Fatal(err)
		}
	}
	flush()
	d.lines = nil
	e.Step(now, kraft.Received{Tag: 7, Body: &kraft.VoteRequest{
		Epoch: 5, Candidate: kraft.Key{ID: 2}, Voter: kraft.Key{ID: 1}, LastEpoch: 4, End: 10,
	}})
	flush()
	want := []string{"save epoch 5 voted 2", "sync", "reply *kraft.VoteResponse"}
	if len(d.lines) < 3 || !slices.Equal(d.lines[:3], want) {
		t.Errorf("a vote for another: %q", d.lines)
	}
	if c := d.MemStore.Crash(0).Election(); c == nil || c.Voted.ID != 2 {
		t.Errorf("after a crash the vote is %+v", c)
	}
}

// TestFoundLogIsDurableBeforeItCounts: what a killed process left may be in the page cache alone. A voter
// doesn't tell a leader how far its log goes before that is durable.
func TestFoundLogIsDurableBeforeItCounts(t *testing.T) {
	d := &diary{MemStore: NewMemStore()}
	e := voter(t, d, 1, 2, 3)
	if err := e.Flush(time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	i, j := slices.Index(d.lines, "sync"), slices.IndexFunc(d.lines, func(s string) bool {
		return strings.HasPrefix(s, "send")
	})
	if i < 0 || j >= 0 && j < i {
		t.Errorf("%q", d.lines)
	}
}

// TestStartSyncsOnce: a sole voter's election and the record of its leadership need the disk once, and a
// second time for what ends in a name: each sync waits for all that a load has left in the page cache.
func TestStartSyncsOnce(t *testing.T) {
	mem := vfs.NewMem()
	n := single(t, mem)
	n.start()
	write(t, n.q, "a", "b")
	n.kill()
	faults := vfs.NewFaults(mem)
	var ops []string
	faults.Watch(func(_ int, op vfs.Op, name string) {
		if op == vfs.OpSync || op == vfs.OpSyncDir {
			ops = append(ops, string(op)+" "+path.Base(name))
		}
	})
	n = single(t, faults)
	n.start()
	faults.Watch(nil)
	defer n.stop()
	if !n.m.leads() {
		t.Fatal("doesn't lead")
	}
	want := []string{"sync quorum-state.tmp", "sync 00000000000000000000.log", "syncdir __cluster_metadata-0"}
	if !slices.Equal(ops, want) {
		t.Errorf("%q", ops)
	}
}
