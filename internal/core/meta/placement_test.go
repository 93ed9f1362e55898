package meta_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/record"
)

// cluster is an image with brokers in racks, some of them fenced.
func cluster(t *rapid.T, racks, fenced []bool) *meta.Image {
	var recs [][]byte
	put := func(m record.Metadata, v int16) { recs = append(recs, record.AppendMetadata(nil, m, v)) }
	put(&record.FeatureLevel{Name: meta.FeatureMetadata, Level: 33}, 0)
	for i := range racks {
		rack := fmt.Sprint(racks[i])
		put(&record.RegisterBroker{BrokerID: meta.NodeID(i), Rack: &rack, Fenced: fenced[i]}, 4)
	}
	img, _, err := meta.Empty().Apply(0, 1, 0, recs)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestPlacement: replicas are distinct, led by an unfenced broker, spread over both racks if there are
// enough, and leaders differ by little between brokers of equally large racks.
func TestPlacement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "per rack")
		racks, fenced := make([]bool, 2*n), make([]bool, 2*n)
		for i := range racks {
			racks[i] = i%2 == 1
		}
		some := rapid.Bool().Draw(t, "fence some")
		for i := range fenced {
			fenced[i] = some && i > 0 && rapid.Bool().Draw(t, "fenced")
		}
		rf := rapid.IntRange(1, 2*n).Draw(t, "rf")
		seed := rapid.Uint64().Draw(t, "seed")
		p := &meta.Planner{
			Image: cluster(t, racks, fenced), Rules: &meta.Rules{}, Rand: rand.New(rand.NewPCG(seed, 1)),
		}
		partitions := 2 * n * 10
		recs, res := p.CreateTopics([]meta.NewTopic{{
			Name: "t", Partitions: int32(partitions), ReplicationFactor: int16(rf),
		}})
		if !res[0].OK() {
			t.Fatal(res[0])
		}
		img, _, err := p.Image.Apply(100, 1, 0, recs)
		if err != nil {
			t.Fatal(err)
		}
		leaders := make([]int, 2*n)
		for _, part := range img.Topic("t").Partitions {
			checkReplicas(t, part, racks, fenced)
			leaders[part.Leader]++
		}
		if !some && (slices.Max(leaders) > 10 || slices.Min(leaders) < 10) {
			t.Fatal("leaders", leaders)
		}
	})
}

func checkReplicas(t *rapid.T, p *meta.Partition, racks, fenced []bool) {
	seen, inRack := map[meta.NodeID]bool{}, map[bool]int{}
	for _, r := range p.Replicas {
		if seen[r] {
			t.Fatal("twice", p.Replicas)
		}
		seen[r] = true
		inRack[racks[r]]++
		if slices.Contains(p.ISR, r) == fenced[r] {
			t.Fatal("isr", p)
		}
	}
	if fenced[p.Leader] || p.Leader != p.Replicas[0] {
		t.Fatal("leader", p)
	}
	if d := inRack[true] - inRack[false]; len(p.Replicas) > 1 && (d < -1 || d > 1) {
		t.Fatal("racks", p.Replicas)
	}
}

// TestTransactionAborts: what an open metadata transaction did is gone after its abort, in the image and in
// the delta.
func TestTransactionAborts(t *testing.T) {
	enc := func(ms ...record.Metadata) (out [][]byte) {
		for _, m := range ms {
			out = append(out, record.AppendMetadata(nil, m, 0))
		}
		return out
	}
	a, b := meta.UUID{1}, meta.UUID{2}
	img, d, err := meta.Empty().Apply(0, 1, 0, enc(
		&record.Topic{Name: "a", TopicID: a}, &record.BeginTransaction{}, &record.Topic{Name: "b", TopicID: b}))
	if err != nil || !img.InTransaction() || len(d.Topics) != 2 {
		t.Fatal(err, d)
	}
	if got := slices.Collect(img.Snapshot()); len(got) != 1 || !bytes.Contains(got[0], a[:]) {
		t.Error("a snapshot must not see an open transaction", got)
	}
	aborted, d, err := img.Apply(3, 1, 0, enc(&record.RemoveTopic{TopicID: a}, &record.AbortTransaction{}))
	if err != nil || len(d.Topics) != 1 || len(d.Deleted) != 0 {
		t.Error(err, d)
	}
	if aborted.Topic("a") == nil || aborted.Topic("b") != nil {
		t.Error("not as before the transaction")
	}
	ended, d, err := img.Apply(3, 1, 0, enc(&record.EndTransaction{}))
	if err != nil || ended.InTransaction() || ended.Topic("b") == nil || len(d.Topics) != 2 {
		t.Error(err, d)
	}
	if img.Topic("a") == nil || !img.InTransaction() {
		t.Error("an image changed")
	}
}
