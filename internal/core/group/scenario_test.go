package group

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/kalda/kalda/internal/core/meta"
	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// Scenarios are text: each line of a `run` block is a request or a passage of time, and what the core does
// about it is printed below. -rewrite writes what it does now.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		w := newWorld(Defaults())
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.out.Reset()
			switch d.Cmd {
			case "new":
				cfg := Defaults()
				for _, a := range d.CmdArgs {
					configure(t, &cfg, a.Key, a.Vals[0])
				}
				w = newWorld(cfg)
			case "run":
				for line := range strings.SplitSeq(d.Input, "\n") {
					w.line(t, line)
				}
			case "matrix":
				matrix(t, &w.out)
			default:
				t.Fatalf("unknown command %s", d.Cmd)
			}
			return w.out.String()
		})
	})
}

func configure(t *testing.T, cfg *Config, key, value string) {
	d, _ := time.ParseDuration(value)
	n, _ := strconv.Atoi(value)
	switch key {
	case "delay":
		cfg.InitialRebalanceDelay = d
	case "max":
		cfg.MaxSize, cfg.ConsumerMaxSize = n, n
	case "interval":
		cfg.AssignmentInterval.Default = d
	case "policy":
		cfg.Upgrade = value == "upgrade" || value == "bidirectional"
		cfg.Downgrade = value == "downgrade" || value == "bidirectional"
	case "retention":
		cfg.OffsetsRetention = d
	case "check":
		cfg.RetentionCheckInterval = d
	case "metadata":
		cfg.MaxMetadata = n
	default:
		t.Fatalf("unknown setting %s", key)
	}
}

// world is a core with its log.
type world struct {
	cfg    Config
	core   *Core
	now    time.Time
	log    []batch.Record
	labels []string          // by ref
	ids    map[string]string // member id <-> alias, both ways
	out    strings.Builder

	have     map[string]int32 // topics
	settings map[string]string
	image    *meta.Image
	offset   int64
	epochs   map[string]int32 // that members of the consumer protocol heard of
}

func newWorld(cfg Config) *world {
	w := &world{cfg: cfg, now: time.UnixMilli(1_000_000), ids: map[string]string{}, labels: []string{""}}
	w.core = New(cfg, [32]byte{7})
	w.have, w.settings, w.epochs = map[string]int32{}, map[string]string{}, map[string]int32{}
	return w
}

func (w *world) printf(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }

// alias is a short name for a member id: its prefix and a number.
func (w *world) alias(id string) string {
	if id == "" || len(id) < 37 {
		return id
	}
	if a, ok := w.ids[id]; ok {
		return a
	}
	for i := 1; ; i++ {
		a := fmt.Sprintf("%s#%d", id[:len(id)-37], i)
		if _, taken := w.ids[a]; !taken {
			w.ids[a], w.ids[id] = id, a
			return a
		}
	}
}

func (w *world) id(alias string) string {
	if id, ok := w.ids[alias]; ok {
		return id
	}
	return alias
}

// words are a line's parts: those with = by key, the others in order.
type words struct {
	args []string
	keys map[string]string
}

func parse(line string) words {
	p := words{keys: map[string]string{}}
	for f := range strings.FieldsSeq(line) {
		if k, v, ok := strings.Cut(f, "="); ok {
			p.keys[k] = v
		} else {
			p.args = append(p.args, f)
		}
	}
	return p
}

func (p *words) duration(key string, def time.Duration) time.Duration {
	if d, err := time.ParseDuration(p.keys[key]); err == nil {
		return d
	}
	return def
}

func (p *words) int(key string, def int) int {
	if n, err := strconv.Atoi(p.keys[key]); err == nil {
		return n
	}
	return def
}

func (p *words) instance() *string {
	if i, ok := p.keys["instance"]; ok {
		return &i
	}
	return nil
}

func (w *world) line(t *testing.T, line string) {
	failing := false
	if rest, ok := strings.CutPrefix(line, "fail "); ok {
		line, failing = rest, true
	}
	p := parse(line)
	switch p.args[0] {
	case "wait":
		d, err := time.ParseDuration(p.args[1])
		if err != nil {
			t.Fatal(err)
		}
		w.wait(d, failing)
		return
	case "reload":
		w.reload(t)
		return
	case "state":
		w.state(p.args[1])
		return
	case "topics":
		w.topics(&p)
		return
	case "setting":
		w.setting(&p)
		return
	case "txn":
		w.transaction(t, &p)
		return
	}
	in := w.input(t, &p)
	w.labels = append(w.labels, p.args[1])
	mark := w.core.Mark()
	w.core.Step(w.now, Ref(len(w.labels)-1), in)
	w.drain(failing, mark)
}

func (w *world) wait(d time.Duration, failing bool) {
	end := w.now.Add(d)
	for {
		at := w.core.Deadline()
		if at.IsZero() || at.After(end) {
			break
		}
		w.now = at
		mark := w.core.Mark()
		w.core.Tick(w.now)
		if e := w.core.effects; len(e.Append) > 0 || len(e.Replies) > 0 {
			w.printf("after %v:", w.now.Sub(end.Add(-d)))
			w.drain(failing, mark)
		}
	}
	w.now = end
}

// drain prints the effects; failing says that they can't be appended.
func (w *world) drain(failing bool, mark int) {
	e := w.core.Drain()
	for _, r := range e.Append {
		w.printf("  write %s", w.record(&r))
	}
	if failing && len(e.Append) > 0 {
		for _, r := range e.Replies {
			w.printf("  %s: withheld, rejected", w.labels[r.Ref])
		}
		w.core.Rollback(w.now, mark)
		w.drain(false, w.core.Mark())
		return
	}
	w.log = append(w.log, e.Append...)
	w.core.Forget()
	for _, r := range e.Replies {
		w.printf("  %s: %s", w.labels[r.Ref], w.output(r.Out))
	}
}

func (w *world) reload(t *testing.T) {
	w.core = New(w.cfg, [32]byte{8})
	for i, r := range w.log {
		if err := w.core.Replay(int64(i), -1, r.Key, r.Value); err != nil {
			t.Fatal(err)
		}
	}
	w.core.Loaded(w.now)
	w.drain(false, 0)
}

// transaction replays what a producer's transaction left in the log: txn 7 GROUP t-0=5, then txn 7 commit.
func (w *world) transaction(t *testing.T, p *words) {
	producer, _ := strconv.ParseInt(p.args[1], 10, 64)
	if p.args[2] == "commit" || p.args[2] == "abort" {
		w.core.ReplayEnd(producer, p.args[2] == "commit")
		return
	}
	for tp, at := range p.keys {
		o := partition(tp)
		k := record.GroupKey{
			Kind: record.KindOffsetCommit, Group: p.args[2], Topic: o.Topic,
			Partition: o.Partition,
		}
		n, _ := strconv.ParseInt(at, 10, 64)
		v := record.OffsetValue{Version: 3, Offset: n, CommitTimestamp: w.now.UnixMilli()}
		if err := w.core.Replay(0, producer, k.Encode(), v.Encode()); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) state(id string) {
	g := w.core.group(id)
	if g == nil {
		w.printf("  no group")
		return
	}
	w.printf("  %v generation=%d leader=%s awaiting=%d pending=%d offsets=%d", g.state, g.generation,
		w.alias(g.leader), g.awaiting,
		len(g.pending), len(g.offsets))
	for _, m := range g.members {
		w.printf("    %s join=%v sync=%v session=%v assignment=%q", w.alias(m.id), m.join != 0, m.sync != 0,
			m.session.at.Sub(w.now), m.assignment)
	}
}

func partition(s string) TopicPartition {
	i := strings.LastIndexByte(s, '-')
	n, _ := strconv.Atoi(s[i+1:])
	return TopicPartition{s[:i], int32(n)}
}

func partitions(s string) (tps []TopicPartition) {
	for x := range strings.SplitSeq(s, ",") {
		tps = append(tps, partition(x))
	}
	return tps
}

func (w *world) input(t *testing.T, p *words) Input {
	group := ""
	if len(p.args) > 2 {
		group = p.args[2]
	}
	if group == "-" {
		group = ""
	}
	member := w.id(p.keys["member"])
	generation := int32(p.int("gen", -1))
	switch p.args[0] {
	case "join":
		return w.join(p, group, member)
	case "beat":
		return w.beat(p, group)
	case "consumers":
		return &DescribeConsumers{Group: group, Image: w.image}
	case "sync":
		in := &Sync{Group: group, Member: member, Instance: p.instance(), Generation: generation}
		if v, ok := p.keys["type"]; ok {
			in.ProtocolType = &v
		}
		if v, ok := p.keys["protocol"]; ok {
			in.Protocol = &v
		}
		for _, a := range strings.FieldsFunc(p.keys["assign"], func(r rune) bool { return r == ',' }) {
			m, data, _ := strings.Cut(a, ":")
			in.Assignments = append(in.Assignments, Assignment{w.id(m), []byte(data)})
		}
		return in
	case "heartbeat":
		return &Heartbeat{Group: group, Member: member, Instance: p.instance(), Generation: generation}
	case "leave":
		in := &Leave{Group: group}
		for m := range strings.SplitSeq(p.keys["members"], ",") {
			id, instance, static := strings.Cut(m, "@")
			l := LeaveMember{Member: w.id(id)}
			if static {
				l.Instance = &instance
			}
			in.Members = append(in.Members, l)
		}
		return in
	}
	return w.offsetInput(t, p, group, member, generation)
}

func (w *world) join(p *words, group, member string) *Join {
	client := p.keys["client"]
	if client == "" {
		client, _, _ = strings.Cut(p.keys["member"], "#")
	}
	in := &Join{
		Image: w.image,
		Group: group, Member: member, Instance: p.instance(), ClientID: client, ClientHost: "/h",
		SessionTimeout: p.duration("session", 10*time.Second), RebalanceTimeout: p.duration("rebalance",
			time.Minute),
		ProtocolType: "consumer", RequireMember: p.int("v", 9) >= 4, CanSkip: p.int("v", 9) >= 9,
	}
	if v, ok := p.keys["type"]; ok {
		in.ProtocolType = v
	}
	names := "range"
	if v, ok := p.keys["protocols"]; ok {
		names = v
	}
	for _, n := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' }) {
		name, topics, _ := strings.Cut(n, ":")
		in.Protocols = append(in.Protocols, Protocol{name, subscription(strings.FieldsFunc(topics,
			func(r rune) bool { return r == '+' }))})
	}
	return in
}

// subscription is a consumer's, version 0.
func subscription(topics []string) []byte {
	b := []byte{0, 0, 0, 0, 0, byte(len(topics))}
	for _, t := range topics {
		b = append(b, 0, byte(len(t)))
		b = append(b, t...)
	}
	return append(b, 0xff, 0xff, 0xff, 0xff)
}

func (w *world) offsetInput(t *testing.T, p *words, group, member string, generation int32) Input {
	switch p.args[0] {
	case "commit":
		in := &Commit{
			Group: group, Member: member, Instance: p.instance(), Generation: generation,
			Epochs:    p.int("v", 9) >= 9,
			Retention: p.duration("retention", -1),
		}
		for o := range strings.SplitSeq(p.keys["offsets"], ",") {
			tp, at, _ := strings.Cut(o, ":")
			n, _ := strconv.ParseInt(at, 10, 64)
			in.Offsets = append(in.Offsets, CommitOffset{
				TopicPartition: partition(tp), TopicID: topicID(partition(tp).Topic), Offset: n, LeaderEpoch: -1,
				Metadata: p.keys["metadata"],
			})
		}
		return in
	case "fetch":
		in := &Fetch{
			Group: group, Member: p.keys["member"], MemberEpoch: int32(p.int("epoch", -1)),
			RequireStable: p.keys["stable"] != "",
		}
		if in.All = p.keys["partitions"] == ""; !in.All {
			in.Partitions = partitions(p.keys["partitions"])
		}
		return in
	case "deleteoffsets":
		return &DeleteOffsets{Group: group, Partitions: partitions(p.keys["partitions"])}
	case "delete":
		return &Delete{Group: group}
	case "describe":
		return &Describe{Group: group}
	case "list":
		in := &List{}
		if s := p.keys["states"]; s != "" {
			in.States = strings.Split(s, ",")
		}
		if s := p.keys["types"]; s != "" {
			in.Types = strings.Split(s, ",")
		}
		return in
	case "topicsdeleted":
		return &TopicsDeleted{Topics: p.args[2:]}
	}
	t.Fatalf("unknown line %v", p.args)
	return nil
}

func (w *world) record(r *batch.Record) string {
	k, err := record.DecodeGroupKey(r.Key)
	if err != nil {
		return err.Error()
	}
	switch {
	case k.Kind == record.KindOffsetCommit && r.Value == nil:
		return fmt.Sprintf("offset %s %s-%d tombstone", k.Group, k.Topic, k.Partition)
	case k.Kind == record.KindOffsetCommit:
		v, _ := record.DecodeOffsetValue(r.Value)
		s := fmt.Sprintf("offset %s %s-%d v%d at=%d", k.Group, k.Topic, k.Partition, v.Version, v.Offset)
		if v.ExpireTimestamp >= 0 {
			s += fmt.Sprintf(" expires=+%v", time.Duration(v.ExpireTimestamp-v.CommitTimestamp)*time.Millisecond)
		}
		return s
	case k.Kind >= record.KindConsumerFirst && k.Kind <= record.KindConsumerLast, k.Kind == record.KindConsumerRegex:
		return w.consumerRecord(&k, r.Value)
	case r.Value == nil:
		return fmt.Sprintf("group %s kind=%d tombstone", k.Group, k.Kind)
	}
	v, _ := record.DecodeGroupValue(r.Value)
	s := fmt.Sprintf("group %s generation=%d type=%q protocol=%s leader=%s members=[", k.Group, v.Generation,
		v.ProtocolType,
		text(v.Protocol), w.alias(text(v.Leader)))
	for i, m := range v.Members {
		if i > 0 {
			s += " "
		}
		s += fmt.Sprintf("%s:%q", w.alias(m.ID), m.Assignment)
	}
	return s + "]"
}

func text(s *string) string {
	if s == nil {
		return "nil"
	}
	return *s
}

func codes(code kerr.Code, each []kerr.Code) string {
	s := code.String()
	for _, c := range each {
		s += " " + c.String()
	}
	return s
}

func (w *world) output(out Output) string {
	switch o := out.(type) {
	case *Joined:
		if o.Code != kerr.None {
			return fmt.Sprintf("%v member=%q", o.Code, w.alias(o.Member))
		}
		s := fmt.Sprintf("joined generation=%d protocol=%s leader=%s member=%s", o.Generation, text(o.Protocol),
			w.alias(o.Leader),
			w.alias(o.Member))
		if o.SkipAssignment {
			s += " skip"
		}
		for _, m := range o.Members {
			s += " +" + w.alias(m.Member)
		}
		return s
	case *ConsumerBeat:
		return w.beatText(o)
	case *ConsumersDescribed:
		return w.consumersText(o)
	case *Synced:
		return fmt.Sprintf("sync %v %q", o.Code, o.Assignment)
	case *Status:
		return strings.TrimSpace(o.Code.String() + " " + o.Message)
	case *Left:
		return codes(o.Code, o.Codes)
	case *Codes:
		return codes(o.Code, o.Each)
	case *Fetched:
		s := o.Code.String()
		for _, f := range o.Offsets {
			s += fmt.Sprintf(" %s-%d=%d", f.Topic, f.Partition, f.Offset)
			if f.Code != kerr.None {
				s += "(" + f.Code.String() + ")"
			}
		}
		return s
	case *Listed:
		s := o.Code.String()
		for _, g := range o.Groups {
			s += fmt.Sprintf(" %s/%s/%s/%s", g.Group, g.ProtocolType, g.State, g.Type)
		}
		return s
	case *Described:
		s := fmt.Sprintf("%v %s type=%q protocol=%q %s", o.Code, o.State, o.ProtocolType, o.Protocol, o.Message)
		for _, m := range o.Members {
			s += fmt.Sprintf(" %s:%q", w.alias(m.Member), m.Assignment)
		}
		return s
	}
	return fmt.Sprintf("%+v", out)
}

// matrix prints how every API answers in every state to a member, a stranger, a member of another generation
// and one whose instance was taken over. The group has a dynamic member d#1 and a static one s#1.
func matrix(t *testing.T, out *strings.Builder) {
	claims := []struct{ name, args string }{
		{"member", "member=d#1 gen=%d"},
		{"static member", "member=s#1 instance=s gen=%d"},
		{"unknown member", "member=nobody gen=%d"},
		{"wrong generation", "member=d#1 gen=77"},
		{"fenced instance", "member=d#1 instance=s gen=%d"},
		{"unknown instance", "member=d#1 instance=x gen=%d"},
		{"no member", ""},
	}
	apis := []string{"join", "sync", "heartbeat", "leave", "commit"}
	for _, st := range []string{"none", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable"} {
		for _, api := range apis {
			for _, c := range claims {
				w, gen := inState(t, st)
				args := c.args
				if strings.Contains(args, "%d") {
					args = fmt.Sprintf(args, gen)
				}
				line := api + " X g " + args
				switch api {
				case "commit":
					line += " offsets=t-0:1"
				case "leave":
					p := parse(args)
					line += " members=" + p.keys["member"]
					if i, ok := p.keys["instance"]; ok {
						line += "@" + i
					}
				}
				w.out.Reset()
				w.line(t, line)
				fmt.Fprintf(out, "%-20s %-10s %-17s %s\n", st, api, c.name, answer(w.out.String()))
			}
		}
	}
}

// answer is X's reply in an output.
func answer(out string) string {
	for l := range strings.SplitSeq(out, "\n") {
		if a, ok := strings.CutPrefix(l, "  X: "); ok {
			return a
		}
	}
	return "(waits)"
}

func inState(t *testing.T, name string) (*world, int) {
	w := newWorld(Defaults())
	run := func(lines ...string) {
		for _, l := range lines {
			w.line(t, l)
		}
	}
	if name == "none" {
		return w, 1
	}
	run("join D g client=d v=3", "join S g client=s instance=s", "wait 6s")
	switch name {
	case "Empty":
		run("leave L g members=d#1,s#1@s")
		return w, 2
	case "PreparingRebalance":
		run("sync D g member=d#1 gen=1 assign=d#1:a,s#1:b", "sync S g member=s#1 gen=1", "join N g client=n v=3")
	case "Stable":
		run("sync D g member=d#1 gen=1 assign=d#1:a,s#1:b", "sync S g member=s#1 gen=1")
	}
	if got := w.core.group("g").state.String(); got != name {
		t.Fatalf("state %s, want %s: %s", got, name, w.out.String())
	}
	if !slices.Contains([]string{"d#1"}, w.alias(w.core.group("g").leader)) {
		t.Fatalf("leader %s", w.alias(w.core.group("g").leader))
	}
	return w, 1
}
