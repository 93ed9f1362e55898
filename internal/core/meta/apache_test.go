package meta_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/record"
)

// apache replays Apache's own log: each step plans what Apache was asked for at that offset, on the image
// up to there, and must give the very records that Apache wrote.
type apache struct {
	t    *testing.T
	img  *meta.Image
	todo []goldenBatch
}

// single makes each record a batch: Apache's periodic records share batches with others.
func single(in []goldenBatch) (out []goldenBatch) {
	for _, b := range in {
		for i, r := range b.recs {
			out = append(out, goldenBatch{b.base + int64(i), [][]byte{r}})
		}
	}
	return out
}

// upTo applies Apache's batches before the one at offset base, and gives that one.
func (a *apache) upTo(base int64) goldenBatch {
	a.t.Helper()
	for len(a.todo) > 0 && a.todo[0].base < base {
		a.apply()
	}
	if len(a.todo) == 0 || a.todo[0].base != base {
		a.t.Fatalf("no batch at %d", base)
	}
	return a.todo[0]
}

func (a *apache) apply() {
	a.t.Helper()
	next, _, err := a.img.Apply(a.todo[0].base, 1, 0, a.todo[0].recs)
	if err != nil {
		a.t.Fatal(err)
	}
	a.img, a.todo = next, a.todo[1:]
}

func (a *apache) planner(next int64) *meta.Planner {
	return &meta.Planner{
		Image: a.img, Next: next, Rand: rand.New(rand.NewPCG(1, 1)),
		Rules: &meta.Rules{ClusterID: "MkU3OEVBNTcwNTJENDM2Qg", Partitions: 1, ReplicationFactor: 1, MinISR: 1},
	}
}

// step compares. Topic ids are random, so ours are replaced by Apache's first.
func (a *apache) step(base int64, plan func(p *meta.Planner) [][]byte) {
	a.t.Helper()
	a.upTo(base)
	got := plan(a.planner(base))
	var want goldenBatch
	for i := range got {
		want.recs = append(want.recs, a.todo[i].recs[0])
	}
	ids := map[meta.UUID]meta.UUID{}
	for i := range got {
		mine, version := decode(a.t, got[i])
		theirs, _ := decode(a.t, want.recs[i])
		if m, ok := mine.(*record.Topic); ok {
			if w, ok := theirs.(*record.Topic); ok {
				ids[m.TopicID] = w.TopicID
			}
		}
		switch m := mine.(type) {
		case *record.Topic:
			m.TopicID = ids[m.TopicID]
		case *record.Partition:
			if id, ok := ids[m.TopicID]; ok {
				m.TopicID = id
			}
		}
		if b := record.AppendMetadata(nil, mine, version); !bytes.Equal(b, want.recs[i]) {
			a.t.Errorf("offset %d:\n got %s\nwant %s", base+int64(i),
				dump(a.t, [][]byte{b}), dump(a.t, want.recs[i:i+1]))
		}
	}
}

func decode(t *testing.T, raw []byte) (record.Metadata, int16) {
	t.Helper()
	m, version, err := record.DecodeMetadata(raw)
	if err != nil {
		t.Fatal(err)
	}
	return m, version
}

func dump(t *testing.T, recs [][]byte) (out string) {
	t.Helper()
	for _, raw := range recs {
		m, version := decode(t, raw)
		out += fmt.Sprintf("%T v%d %+v\n", m, version, m)
	}
	return out
}

func TestPlansWriteApachesRecords(t *testing.T) {
	a := &apache{t: t, img: meta.Empty(), todo: single(readGolden(t, "00000000000000000000.log.bin"))}
	a.step(1, func(p *meta.Planner) [][]byte {
		recs, err := p.Bootstrap(nil)
		if err != nil {
			t.Error(err)
		}
		return recs
	})
	a.clusterSteps()
	a.topicSteps()
	a.configSteps()
	a.step(175, func(p *meta.Planner) [][]byte {
		recs, _ := p.DeleteTopics([]meta.TopicRef{{Name: "gone"}})
		return recs
	})
	a.step(186, func(p *meta.Planner) [][]byte {
		recs, start, _ := p.AllocateProducerIDs(1, 16)
		if start != 0 {
			t.Error(start)
		}
		return recs
	})
	a.step(232, func(p *meta.Planner) [][]byte {
		recs, res := p.Heartbeat(&meta.Heartbeat{
			Broker: 1, Epoch: 16, Offset: 231, WantShutDown: true, ShutdownOffset: -1,
		})
		if !res.Moved || res.ShouldShutDown {
			t.Errorf("%+v", res)
		}
		return recs
	})
	a.step(239, func(p *meta.Planner) [][]byte {
		recs, res := p.Heartbeat(&meta.Heartbeat{
			Broker: 1, Epoch: 16, Offset: 238, WantShutDown: true, ShutdownOffset: 237, LowestActive: math.MaxInt64,
		})
		if !res.ShouldShutDown {
			t.Errorf("%+v", res)
		}
		return recs
	})
}

func (a *apache) clusterSteps() {
	a.step(10, (*meta.Planner).NoOp)
	raw := a.upTo(12).recs[0]
	c, _ := decode(a.t, raw)
	want := c.(*record.RegisterController)
	sortFeatures(want.Features)
	a.todo[0].recs[0] = record.AppendMetadata(nil, want, 0)
	a.step(12, func(p *meta.Planner) [][]byte {
		recs, f := p.RegisterController(&meta.Controller{
			ID: 1, Incarnation: want.IncarnationID, Features: meta.Supported(),
			Endpoints: []meta.Endpoint{{Name: "CONTROLLER", Host: "127.0.0.1", Port: 33001}},
		})
		if !f.OK() {
			a.t.Error(f)
		}
		return recs
	})
	b, _ := decode(a.t, a.upTo(16).recs[0])
	broker := b.(*record.RegisterBroker)
	sortFeatures(broker.Features)
	a.todo[0].recs[0] = record.AppendMetadata(nil, broker, 4)
	a.step(16, func(p *meta.Planner) [][]byte {
		recs, epoch, f := p.RegisterBroker(&meta.Registration{
			ClusterID: "MkU3OEVBNTcwNTJENDM2Qg", PreviousEpoch: -1, Fresh: true,
			Broker: meta.Broker{
				ID: 1, Incarnation: broker.IncarnationID, Rack: "r1",
				LogDirs: broker.LogDirs, Features: meta.Supported(),
				Endpoints: []meta.Endpoint{{Name: "PLAINTEXT", Host: "127.0.0.1", Port: 33000}},
			},
		})
		if !f.OK() || epoch != 16 {
			a.t.Error(f, epoch)
		}
		return recs
	})
	a.step(18, func(p *meta.Planner) [][]byte {
		recs, _ := p.Heartbeat(&meta.Heartbeat{
			Broker: 1, Epoch: 16, Offset: 17, WantFence: true, Cordoned: []meta.UUID{},
		})
		return recs
	})
	a.step(21, func(p *meta.Planner) [][]byte {
		recs, res := p.Heartbeat(&meta.Heartbeat{Broker: 1, Epoch: 16, Offset: 20, Cordoned: []meta.UUID{}})
		if res.Fenced || !res.CaughtUp {
			a.t.Errorf("%+v", res)
		}
		return recs
	})
}

func (a *apache) topicSteps() {
	create := func(topics ...meta.NewTopic) func(p *meta.Planner) [][]byte {
		return func(p *meta.Planner) [][]byte {
			recs, res := p.CreateTopics(topics)
			if !res[0].OK() {
				a.t.Error(res[0])
			}
			return recs
		}
	}
	a.step(37, create(meta.NewTopic{Name: "t1", Partitions: 3, ReplicationFactor: 1, Configs: []meta.ConfigEntry{
		{Name: "retention.ms", Value: new("1000")}, {Name: "cleanup.policy", Value: new("compact,delete")},
	}}))
	a.step(55, create(meta.NewTopic{Name: "gone", Partitions: 1, ReplicationFactor: -1}))
	a.step(67, func(p *meta.Planner) [][]byte {
		recs, res := p.CreatePartitions([]meta.MorePartitions{{Name: "t1", Count: 5}})
		if !res[0].OK() {
			a.t.Error(res[0])
		}
		return recs
	})
}

func (a *apache) configSteps() {
	type step = func(p *meta.Planner) [][]byte
	alter := func(kind meta.ConfigKind, name string, changes ...meta.ConfigChange) step {
		return func(p *meta.Planner) [][]byte {
			recs, res := p.AlterConfigs([]meta.ResourceChange{{
				Resource: meta.ConfigResource{Kind: kind, Name: name}, Changes: changes,
			}})
			if !res[0].OK() {
				a.t.Error(res[0])
			}
			return recs
		}
	}
	set := func(name, value string) meta.ConfigChange { return meta.ConfigChange{Name: name, Value: new(value)} }
	a.step(80, alter(meta.ConfigTopic, "t1", set("max.message.bytes", "2000"),
		meta.ConfigChange{Name: "retention.ms", Op: meta.OpDelete}))
	a.step(92, alter(meta.ConfigBroker, "", set("log.cleaner.threads", "2")))
	a.step(152, alter(meta.ConfigClientMetrics, "cm", set("interval.ms", "1000")))
	a.step(162, alter(meta.ConfigGroup, "g", set("consumer.session.timeout.ms", "50000")))
}

// TestUncleanStopAsApache: what Apache wrote when its only broker was killed and registered again.
func TestUncleanStopAsApache(t *testing.T) {
	a := &apache{t: t, img: meta.Empty(), todo: single(readGolden(t, "unclean-stop.log.bin"))}
	a.upTo(55)
	raw, _ := decode(t, a.todo[2].recs[0])
	want := raw.(*record.RegisterBroker)
	sortFeatures(want.Features)
	a.todo[2].recs[0] = record.AppendMetadata(nil, want, 4)
	a.step(55, func(p *meta.Planner) [][]byte {
		recs, epoch, f := p.RegisterBroker(&meta.Registration{
			ClusterID: "MkU3OEVBNTcwNTJENDM2Qg", PreviousEpoch: -1, Fresh: true,
			Broker: meta.Broker{
				ID: 1, Incarnation: want.IncarnationID, LogDirs: want.LogDirs, Features: meta.Supported(),
				Endpoints: []meta.Endpoint{{Name: "PLAINTEXT", Host: "127.0.0.1", Port: 33010}},
			},
		})
		if !f.OK() || epoch != 55 {
			t.Error(f, epoch)
		}
		return recs
	})
	a.step(76, func(p *meta.Planner) [][]byte {
		recs, _ := p.Heartbeat(&meta.Heartbeat{Broker: 1, Epoch: 68, Offset: 75, Cordoned: []meta.UUID{}})
		return recs
	})
}
