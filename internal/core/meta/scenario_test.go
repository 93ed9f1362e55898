package meta_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/record"
)

// TestScenarios runs testdata/scenarios: each command plans on the image so far, prints the records and the
// result, and applies the records. Topic ids are drawn from a fixed seed and printed as the topic's name.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := &scenario{img: meta.Empty(), next: 1, rand: rand.New(rand.NewPCG(7, 7)), names: map[meta.UUID]string{}}
		s.rules = meta.Rules{ClusterID: "c", Partitions: 1, ReplicationFactor: 1, MinISR: 1}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

type scenario struct {
	img   *meta.Image
	next  int64
	rand  *rand.Rand
	rules meta.Rules
	names map[meta.UUID]string
}

func (s *scenario) planner() *meta.Planner {
	return &meta.Planner{Image: s.img, Rules: &s.rules, Next: s.next, Rand: s.rand}
}

func (s *scenario) run(t *testing.T, d *datadriven.TestData) string {
	a := args{d}
	p := s.planner()
	switch d.Cmd {
	case "bootstrap":
		levels := meta.DefaultFeatures(int16(a.int("mv", int(meta.LatestMetadataVersion))))
		if a.has("no-elr") {
			delete(levels, meta.FeatureELR)
		}
		recs, err := p.Bootstrap(meta.BootstrapRecords(levels))
		return s.apply(t, recs, err)
	case "register":
		return s.register(t, a)
	case "heartbeat":
		return s.heartbeat(t, a)
	case "fence":
		return s.apply(t, p.Fence(a.node("id")), "")
	case "unregister":
		recs, f := p.UnregisterBroker(a.node("id"))
		return s.apply(t, recs, say(f))
	case "create":
		recs, res := p.CreateTopics([]meta.NewTopic{newTopic(a)})
		return s.apply(t, recs, say(res[0].Failure))
	case "create-many":
		return s.createMany(t, d)
	case "delete":
		recs, res := p.DeleteTopics([]meta.TopicRef{{Name: a.text("name", "")}})
		return s.apply(t, recs, say(res[0].Failure))
	case "partitions":
		in := meta.MorePartitions{Name: a.text("name", ""), Count: int32(a.int("count", 0))}
		recs, res := p.CreatePartitions([]meta.MorePartitions{in})
		return s.apply(t, recs, say(res[0].Failure))
	case "alter":
		return s.alter(t, a)
	case "elect":
		recs, f := p.ElectLeader(a.text("name", ""), int32(a.int("partition", 0)), a.has("unclean"))
		return s.apply(t, recs, say(f))
	case "reassign", "cancel":
		recs, f := p.Reassign(&meta.Reassignment{
			Topic: a.text("name", ""), Partition: int32(a.int("partition", 0)), Replicas: a.nodes("replicas"),
			Cancel: d.Cmd == "cancel", KeepSize: a.has("keep-size"),
		})
		return s.apply(t, recs, say(f))
	case "features":
		return s.features(t, a)
	case "config":
		return s.config(t, a)
	case "topic":
		return s.topic(a.text("name", ""))
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

func (s *scenario) features(t *testing.T, a args) string {
	var in []meta.FeatureUpdate
	for word := range strings.SplitSeq(a.text("set", ""), ",") {
		name, level, _ := strings.Cut(word, ":")
		n, _ := strconv.Atoi(level)
		in = append(in, meta.FeatureUpdate{Name: name, Level: int16(n), Kind: int8(a.int("kind", 1))})
	}
	recs, fault, f := s.planner().UpdateFeatures(in)
	if fault != "" {
		return s.apply(t, recs, fault+": "+say(f))
	}
	return s.apply(t, recs, say(f))
}

func (s *scenario) register(t *testing.T, a args) string {
	id := a.node("id")
	in := &meta.Registration{
		ClusterID: a.text("cluster", "c"), Fresh: !a.has("alive"), PreviousEpoch: int64(a.int("previous", -1)),
		Broker: meta.Broker{
			ID: id, Incarnation: meta.UUID{1: byte(a.int("incarnation", 1))}, Rack: a.text("rack", ""),
			LogDirs: []meta.UUID{{1, 15: byte(id)}}, Features: meta.Supported(),
		},
	}
	if a.has("old") {
		in.Broker.Features[meta.FeatureMetadata] = meta.FeatureRange{Min: 7, Max: 25}
	}
	recs, epoch, f := s.planner().RegisterBroker(in)
	if f.OK() {
		return s.apply(t, recs, fmt.Sprintf("epoch %d", epoch))
	}
	return s.apply(t, recs, say(f))
}

func (s *scenario) heartbeat(t *testing.T, a args) string {
	in := &meta.Heartbeat{
		Broker: a.node("id"), Offset: int64(a.int("offset", int(s.next)-1)), WantFence: a.has("fence"),
		WantShutDown: a.has("shutdown"), ShutdownOffset: int64(a.int("moved", -1)),
		LowestActive: int64(a.int("lowest", math.MaxInt32)),
	}
	if b := s.img.Broker(in.Broker); b != nil {
		in.Epoch = b.Epoch
	}
	in.Epoch = int64(a.int("epoch", int(in.Epoch)))
	recs, res := s.planner().Heartbeat(in)
	if !res.OK() {
		return s.apply(t, recs, say(res.Failure))
	}
	return s.apply(t, recs, fmt.Sprintf("caught up %v, fenced %v, should shut down %v",
		res.CaughtUp, res.Fenced, res.ShouldShutDown))
}

func (s *scenario) alter(t *testing.T, a args) string {
	topic := s.img.Topic(a.text("name", ""))
	in := &meta.ISRChange{
		Partition: int32(a.int("partition", 0)), ISR: a.nodes("isr"), Recovering: a.has("recovering"),
	}
	if topic != nil {
		in.Topic = topic.ID
		if p := topic.Partition(in.Partition); p != nil {
			in.LeaderEpoch, in.PartitionEpoch = p.LeaderEpoch, p.PartitionEpoch
		}
	}
	in.LeaderEpoch += int32(a.int("leader-epoch", 0))
	in.PartitionEpoch += int32(a.int("partition-epoch", 0))
	for range in.ISR {
		in.Epochs = append(in.Epochs, int64(a.int("epoch", -1)))
	}
	recs, res := s.planner().AlterPartition(a.node("from"), in)
	out := res.Code.String()
	if res.Partition != nil {
		out += ": " + partition(res.Partition)
	}
	return s.apply(t, recs, out)
}

func (s *scenario) config(t *testing.T, a args) string {
	kind := meta.ConfigTopic
	if a.has("broker") {
		kind = meta.ConfigBroker
	}
	ops := map[string]meta.ConfigOp{
		"append": meta.OpAppend, "subtract": meta.OpSubtract, "delete": meta.OpDelete,
	}
	c := meta.ConfigChange{Name: a.text("key", ""), Op: ops[a.text("op", "")]}
	if a.has("value") {
		v := a.text("value", "")
		c.Value = &v
	}
	s.rules.ListKeys = func(_ meta.ConfigKind, name string) (string, bool) {
		return "delete", name == "cleanup.policy"
	}
	recs, res := s.planner().AlterConfigs([]meta.ResourceChange{{
		Resource: meta.ConfigResource{Kind: kind, Name: a.text("name", "")}, Changes: []meta.ConfigChange{c},
	}})
	return s.apply(t, recs, say(res[0]))
}

// createMany makes one topic per input line in one request.
func (s *scenario) createMany(t *testing.T, d *datadriven.TestData) string {
	var in []meta.NewTopic
	for line := range strings.Lines(d.Input) {
		in = append(in, meta.NewTopic{Name: strings.TrimSpace(line), Partitions: 1, ReplicationFactor: 1})
	}
	recs, res := s.planner().CreateTopics(in)
	var out []string
	for _, r := range res {
		out = append(out, fmt.Sprintf("%s: %s", r.Name, say(r.Failure)))
	}
	return s.apply(t, recs, strings.Join(out, "\n"))
}

func newTopic(a args) meta.NewTopic {
	n := meta.NewTopic{
		Name:       a.text("name", ""),
		Partitions: int32(a.int("partitions", 1)), ReplicationFactor: int16(a.int("rf", 1)),
	}
	for i, part := range strings.Fields(strings.ReplaceAll(a.text("assign", ""), "/", " ")) {
		n.Partitions, n.ReplicationFactor = -1, -1
		n.Assignments = append(n.Assignments, meta.Assignment{Partition: int32(i), Replicas: parseNodes(part)})
	}
	return n
}

func say(f meta.Failure) string {
	if f.Message == "" {
		return f.Code.String()
	}
	return f.Code.String() + ": " + f.Message
}

// apply prints and applies records, then what came out.
func (s *scenario) apply(t *testing.T, recs [][]byte, result any) string {
	t.Helper()
	var out strings.Builder
	for _, raw := range recs {
		m, version := decode(t, raw)
		if topic, ok := m.(*record.Topic); ok {
			s.names[topic.TopicID] = topic.Name
		}
		fmt.Fprintf(&out, "%s v%d%s\n", strings.TrimPrefix(fmt.Sprintf("%T", m), "*record."), version, s.brief(m))
	}
	if len(recs) > 0 {
		next, _, err := s.img.Apply(s.next, 1, 0, recs)
		if err != nil {
			t.Fatal(err)
		}
		s.img = next
		s.next += int64(len(recs))
	}
	if result != nil && result != "" {
		fmt.Fprintln(&out, result)
	}
	return out.String()
}

// brief prints the fields of a record that aren't zero.
func (s *scenario) brief(m record.Metadata) (out string) {
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		name := v.Type().Field(i).Name
		if f.IsZero() || hidden(m, name, f) {
			continue
		}
		switch x := f.Interface().(type) {
		case meta.UUID:
			out += fmt.Sprintf(" %s=%s", name, s.names[x])
		case []meta.UUID:
			out += fmt.Sprintf(" %s=%d", name, len(x))
		case *string:
			out += fmt.Sprintf(" %s=%q", name, *x)
		default:
			out += fmt.Sprintf(" %s=%v", name, x)
		}
	}
	return out
}

// hidden are fields that say nothing here.
func hidden(m record.Metadata, name string, f reflect.Value) bool {
	_, isChange := m.(*record.PartitionChange)
	return name == "Features" || name == "IncarnationID" || name == "EndPoints" ||
		isChange && name == "Leader" && f.Int() == int64(record.NoLeaderChange) ||
		isChange && name == "RecoveryState" && f.Int() == int64(record.NoRecoveryChange)
}

func (s *scenario) topic(name string) string {
	t := s.img.Topic(name)
	if t == nil {
		return "none\n"
	}
	var out strings.Builder
	for n, p := range t.Partitions {
		fmt.Fprintf(&out, "%d: %s\n", n, partition(p))
	}
	return out.String()
}

func partition(p *meta.Partition) string {
	out := fmt.Sprintf("replicas %v leader %d isr %v epochs %d/%d",
		p.Replicas, p.Leader, p.ISR, p.LeaderEpoch, p.PartitionEpoch)
	if len(p.ELR) > 0 {
		out += fmt.Sprintf(" elr %v", p.ELR)
	}
	if len(p.LastELR) > 0 {
		out += fmt.Sprintf(" last %v", p.LastELR)
	}
	if p.Recovering {
		out += " recovering"
	}
	return out
}

type args struct{ d *datadriven.TestData }

func (a args) has(key string) bool { return a.d.HasArg(key) }

func (a args) text(key, def string) string {
	for _, arg := range a.d.CmdArgs {
		if arg.Key == key && len(arg.Vals) > 0 {
			return strings.Join(arg.Vals, ",")
		}
	}
	return def
}

func (a args) int(key string, def int) int {
	if n, err := strconv.Atoi(a.text(key, "")); err == nil {
		return n
	}
	return def
}

func (a args) node(key string) meta.NodeID { return meta.NodeID(a.int(key, -1)) }

func (a args) nodes(key string) []meta.NodeID { return parseNodes(a.text(key, "")) }

func parseNodes(text string) (out []meta.NodeID) {
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '+' }) {
		n, _ := strconv.Atoi(f)
		out = append(out, meta.NodeID(n))
	}
	return out
}
