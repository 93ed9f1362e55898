package txn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/kalda/kalda/internal/format/batch"
	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

// Scenarios are text: each line of a `run` block is a request or a passage of time, and what the core does
// about it is printed below. -rewrite writes what it does now.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		w := newWorld()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.out.Reset()
			switch d.Cmd {
			case "new":
				w = newWorld()
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

// world is a core with its log.
type world struct {
	core  *Core
	level int16
	now   time.Time
	log   []batch.Record
	ids   int64 // producer ids given out
	ref   Ref
	hold  bool // producer ids don't come
	want  []string
	out   strings.Builder
}

func newWorld() *world {
	w := &world{level: 2, now: time.UnixMilli(1_000_000), ids: 100}
	w.core = New(w.config())
	return w
}

func (w *world) config() Config {
	cfg := Defaults()
	cfg.Level = func() int16 { return w.level }
	return cfg
}

func (w *world) printf(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }

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

func (p *words) int(key string, def int64) int64 {
	if n, err := strconv.ParseInt(p.keys[key], 10, 64); err == nil {
		return n
	}
	return def
}

func topicsOf(text string) (topics []record.TxnTopic) {
	for f := range strings.SplitSeq(text, ",") {
		name, n, ok := strings.Cut(f, "-")
		if !ok {
			continue
		}
		p, _ := strconv.Atoi(n)
		topics = append(topics, record.TxnTopic{Topic: name, Partitions: []int32{int32(p)}})
	}
	return topics
}

func textOf(topics []record.TxnTopic) string {
	var all []string
	for _, t := range topics {
		for _, p := range t.Partitions {
			all = append(all, fmt.Sprintf("%s-%d", t.Topic, p))
		}
	}
	return strings.Join(all, ",")
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
	case "reload":
		w.reload(t)
	case "level":
		n, _ := strconv.Atoi(p.args[1])
		w.level = int16(n)
	case "hold":
		w.hold = true
	case "ids": // those that were held back come, or don't
		w.hold = false
		want := w.want
		w.want = nil
		for _, id := range want {
			code := kerr.Code(p.int("code", 0))
			w.step(&GotID{ID: id, ProducerID: w.ids, Code: code}, false)
			w.ids++
		}
	case "put": // a record, as another coordinator may have left it
		v := record.TxnValue{
			Version: 1, ProducerID: p.int("pid", 7), ProducerEpoch: int16(p.int("epoch", 0)), Timeout: 60_000,
			LastUpdate: w.now.UnixMilli(), Start: w.now.UnixMilli(), PreviousID: p.int("previous", 7),
			NextID: p.int("next", -1), ClientVersion: int16(p.int("tv", 2)), NextEpoch: -1,
		}
		v.Status, _ = record.ParseTxnStatus(p.args[2])
		if v.Status != record.TxnEmpty {
			v.Topics = append([]record.TxnTopic{}, topicsOf(p.keys["parts"])...)
		}
		w.log = append(w.log, batch.Record{Key: record.TxnKey(p.args[1]), Value: v.Encode()})
	default:
		w.step(w.input(t, &p), failing)
	}
}

func (w *world) input(t *testing.T, p *words) Input {
	id := ""
	if len(p.args) > 1 {
		id = p.args[1]
	}
	client, epoch, pid := int16(p.int("tv", 2)), int16(p.int("epoch", 0)), p.int("pid", 100)
	switch p.args[0] {
	case "init":
		return &Init{
			ID: id, Timeout: time.Duration(p.int("timeout", 60)) * time.Second, ProducerID: p.int("pid", -1),
			Epoch: int16(p.int("epoch", -1)),
		}
	case "add", "verify":
		return &Add{
			ID: id, ProducerID: pid, Epoch: epoch, Client: client, VerifyOnly: p.args[0] == "verify",
			Topics: topicsOf(p.args[2]),
		}
	case "commit", "abort":
		return &End{ID: id, ProducerID: pid, Epoch: epoch, Client: client, Commit: p.args[0] == "commit"}
	case "marked":
		return &MarkersDone{ID: id, ProducerID: pid, ProducerEpoch: epoch}
	case "describe":
		return &Describe{ID: id}
	case "list":
		in := &List{LongerThan: time.Duration(p.int("longer", -1)) * time.Second}
		if s, ok := p.keys["state"]; ok {
			status, _ := record.ParseTxnStatus(s)
			in.States = []record.TxnStatus{status}
		}
		if p.keys["pid"] != "" {
			in.ProducerIDs = []int64{pid}
		}
		return in
	}
	t.Fatalf("unknown request %s", p.args[0])
	return nil
}

func (w *world) step(in Input, failing bool) {
	w.ref++
	mark := w.core.Mark()
	w.core.Step(w.now, w.ref, in)
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
		if e := w.core.effects; len(e.Append) > 0 || len(e.Send) > 0 {
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
		w.printf("  write %s", recordText(&r))
	}
	if failing && len(e.Append) > 0 {
		w.printf("  not appended: rolled back")
		w.core.Rollback(w.now, mark)
		return
	}
	w.log = append(w.log, e.Append...)
	w.core.Forget()
	for _, m := range e.Send {
		outcome := "abort"
		if m.Commit {
			outcome = "commit"
		}
		w.printf("  send %s %s pid=%d epoch=%d tv=%d to %s", m.ID, outcome, m.ProducerID, m.ProducerEpoch, m.Client,
			textOf(m.Topics))
	}
	for _, r := range e.Replies {
		w.printf("  %s", replyText(r.Out))
	}
	for _, id := range e.NeedIDs {
		if w.hold {
			w.printf("  needs a producer id for %s", id)
			w.want = append(w.want, id)
			continue
		}
		w.ids++
		w.step(&GotID{ID: id, ProducerID: w.ids - 1}, failing)
	}
}

func recordText(r *batch.Record) string {
	id, _, _ := record.DecodeTxnKey(r.Key)
	if r.Value == nil {
		return id + " tombstone"
	}
	v, err := record.DecodeTxnValue(r.Value)
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("%s v%d %v pid=%d epoch=%d", id, v.Version, v.Status, v.ProducerID, v.ProducerEpoch)
	if v.Version >= 1 && v.PreviousID != v.ProducerID {
		text += fmt.Sprintf(" previous=%d", v.PreviousID)
	}
	if v.NextID >= 0 {
		text += fmt.Sprintf(" next=%d", v.NextID)
	}
	if v.Version >= 1 {
		text += fmt.Sprintf(" tv=%d", v.ClientVersion)
	}
	return text + " " + textOf(v.Topics)
}

func replyText(out Output) string {
	switch out := out.(type) {
	case *Inited:
		return fmt.Sprintf("%v pid=%d epoch=%d", out.Code, out.ProducerID, out.Epoch)
	case *Ended:
		return fmt.Sprintf("%v pid=%d epoch=%d", out.Code, out.ProducerID, out.Epoch)
	case *Added:
		if out.Missing != nil {
			return fmt.Sprintf("%v missing %s", out.Code, textOf(out.Missing))
		}
		return out.Code.Error()
	case *Described:
		return fmt.Sprintf("%v %v pid=%d epoch=%d timeout=%v start=%d %s", out.Code, out.Status, out.ProducerID, out.Epoch,
			out.Timeout, out.Start, textOf(out.Topics))
	case *Listing:
		var all []string
		for _, l := range out.IDs {
			all = append(all, fmt.Sprintf("%s:%v", l.ID, l.Status))
		}
		return fmt.Sprintf("%v %s", out.Code, strings.Join(all, " "))
	}
	return "ok"
}

// reload makes a new core of the log, as the next coordinator does, and holds its state against the old one's.
func (w *world) reload(t *testing.T) {
	old := w.core
	w.core = New(w.config())
	for i, r := range w.log {
		if err := w.core.Replay(int64(i), -1, r.Key, r.Value); err != nil {
			t.Fatal(err)
		}
	}
	w.core.Loaded(w.now)
	old.ids.Scan(func(id string, was *state) bool {
		is := w.core.get(id)
		if is == nil {
			t.Errorf("%s is lost by a reload", id)
			return true
		}
		a, b := *was, *is
		a.lastEpoch, b.lastEpoch = 0, 0 // in memory only
		if fmt.Sprint(a) != fmt.Sprint(b) && w.level > 0 {
			t.Errorf("%s is %v after a reload, was %v", id, b, a)
		}
		return true
	})
	w.wait(0, false)
}

// matrix prints what becomes of every request by every kind of producer in every state.
func matrix(t *testing.T, out *strings.Builder) {
	producers := map[string]string{
		"current": "pid=7 epoch=5", "older": "pid=7 epoch=4", "newer": "pid=7 epoch=6", "other": "pid=8 epoch=5",
	}
	for _, tv := range []string{"0", "2"} {
		for _, status := range []string{
			"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort",
		} {
			for _, who := range slices.SortedFunc(maps.Keys(producers), cmp.Compare[string]) {
				fmt.Fprintf(out, "%s tv=%s, %s:", status, tv, who)
				for _, op := range []string{"add x a-0", "add x b-0", "verify x a-0", "commit x", "abort x", "init x"} {
					w := newWorld()
					parts := " parts=a-0"
					if strings.HasPrefix(status, "Complete") || status == "Empty" {
						parts = ""
					}
					w.line(t, "put x "+status+" pid=7 epoch=5 tv="+tv+parts)
					w.reload(t)
					w.out.Reset()
					w.line(t, op+" tv="+tv+" "+producers[who])
					name := strings.Fields(op)[0]
					if op == "add x b-0" {
						name = "extend"
					}
					fmt.Fprintf(out, "\n  %-7s %s", name, strings.Join(strings.Fields(w.out.String()), " "))
				}
				out.WriteByte('\n')
			}
		}
	}
}
