package seglog

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// scene is one log in a memory file system, driven by a text file.
type scene struct {
	t    *testing.T
	fsys *vfs.Mem
	d    *Dir
	l    *Log
	cfg  Config
	now  int64
}

func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := &scene{t: t, fsys: vfs.NewMem(), cfg: DefaultConfig(), now: 1000}
		s.cfg.IndexIntervalBytes = 150
		s.open()
		datadriven.RunTest(t, path, func(t *testing.T, c *datadriven.TestData) string {
			out, err := s.run(c)
			if err != nil {
				out += "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

func (s *scene) open() {
	d, err := OpenDir(s.fsys, "/data", DirOptions{Logger: quiet.Logger, Now: func() int64 { return s.now }})
	if err != nil {
		s.t.Fatal(err)
	}
	s.d = d
	if s.l, err = d.Open(Spec{Topic: "t", ID: testID, Config: s.cfg}); err != nil {
		s.t.Fatal(err)
	}
}

func arg(c *datadriven.TestData, name string, value int64) int64 {
	for _, a := range c.CmdArgs {
		if a.Key == name {
			n, err := strconv.ParseInt(a.Vals[0], 10, 64)
			if err != nil {
				panic(err)
			}
			return n
		}
	}
	return value
}

func (s *scene) run(c *datadriven.TestData) (string, error) {
	s.now = arg(c, "now", s.now)
	switch c.Cmd {
	case "config":
		s.cfg.SegmentBytes = arg(c, "segment.bytes", s.cfg.SegmentBytes)
		s.cfg.SegmentMs = arg(c, "segment.ms", s.cfg.SegmentMs)
		s.cfg.IndexBytes = arg(c, "segment.index.bytes", s.cfg.IndexBytes)
		s.cfg.RetentionBytes = arg(c, "retention.bytes", s.cfg.RetentionBytes)
		s.cfg.RetentionMs = arg(c, "retention.ms", s.cfg.RetentionMs)
		s.cfg.FileDeleteDelayMs = arg(c, "file.delete.delay.ms", s.cfg.FileDeleteDelayMs)
		s.l.SetConfig(s.cfg)
		return "", nil
	case "append":
		return s.append(c)
	case "log":
		return s.show(), nil
	case "ls":
		return s.ls(), nil
	case "read":
		return s.read(c)
	case "time":
		o, ok, err := s.l.OffsetForTime(arg(c, "ts", 0), nil)
		return fmt.Sprintf("%v offset=%d timestamp=%d epoch=%d\n", ok, o.Offset, o.Timestamp, o.Epoch), err
	case "max-timestamp":
		o, ok, err := s.l.MaxTimestamp(nil)
		return fmt.Sprintf("%v offset=%d timestamp=%d epoch=%d\n", ok, o.Offset, o.Timestamp, o.Epoch), err
	case "epoch-end":
		e, o, err := s.l.EndOffsetForEpoch(batch.Epoch(arg(c, "epoch", 0)))
		return fmt.Sprintf("epoch=%d end=%d\n", e, o), err
	case "assign":
		s.l.AssignEpoch(batch.Epoch(arg(c, "epoch", 0)), batch.Offset(arg(c, "start", 0)))
		return "", nil
	}
	return s.change(c)
}

// change runs the commands that change the log without an answer.
func (s *scene) change(c *datadriven.TestData) (string, error) {
	o := batch.Offset(arg(c, "offset", int64(s.l.EndOffset())))
	var err error
	switch c.Cmd {
	case "truncate":
		err = s.l.TruncateTo(o)
	case "truncate-fully":
		err = s.l.TruncateFully(o)
	case "start":
		err = s.l.SetStart(o)
	case "flush":
		err = s.l.Flush()
	case "checkpoint":
		err = s.d.Checkpoint(s.now)
	case "roll":
		err = s.l.Roll(s.now)
	case "retain":
		var n int
		n, err = s.l.Retain(s.now, batch.Offset(arg(c, "hw", int64(s.l.EndOffset()))))
		return fmt.Sprintf("deleted %d\n", n), err
	case "close":
		err = s.d.Close(1)
		s.open()
	case "kill":
		err = s.d.Abandon()
		s.open()
	case "delete":
		if err = s.l.Delete(); err == nil {
			s.l, err = s.d.Open(Spec{Topic: "t", ID: testID, Config: s.cfg})
		}
	default:
		err = fmt.Errorf("no command %s", c.Cmd)
	}
	return "", err
}

func (s *scene) append(c *datadriven.TestData) (string, error) {
	base := batch.Offset(arg(c, "base", int64(s.l.EndOffset())))
	for range arg(c, "batches", 1) {
		b := oneBatch(s.t, base, int(arg(c, "records", 1)), arg(c, "ts", s.now), batch.Epoch(arg(c, "epoch", 0)))
		if err := s.l.Append(s.now, b); err != nil {
			return "", err
		}
		base = s.l.EndOffset()
	}
	return fmt.Sprintf("end=%d\n", s.l.EndOffset()), nil
}

func (s *scene) read(c *datadriven.TestData) (string, error) {
	from := batch.Offset(arg(c, "from", 0))
	bound := batch.Offset(arg(c, "bound", int64(s.l.EndOffset())))
	sl, err := s.l.Read(from, bound, int(arg(c, "max", 1<<20)), !c.HasArg("strict"))
	if err != nil {
		return "", err
	}
	defer sl.Release()
	b, err := sl.AppendTo(nil)
	var out strings.Builder
	for len(b) > 0 {
		v, rest, err := batch.Next(b)
		if err != nil {
			fmt.Fprintf(&out, "%d bytes of another\n", len(b))
			break
		}
		fmt.Fprintf(&out, "%d..%d\n", v.BaseOffset(), v.LastOffset())
		b = rest
	}
	return out.String(), err
}

// show is the state of the log in memory.
func (s *scene) show() string {
	var out strings.Builder
	epochs, _ := s.l.Epochs()
	fmt.Fprintf(&out, "start=%d end=%d recovery=%d epochs=%v\n",
		s.l.StartOffset(), s.l.EndOffset(), s.l.RecoveryPoint(), epochs)
	for _, g := range s.l.segments() {
		top, at, _ := g.largest()
		fmt.Fprintf(&out, "segment %d: %d bytes, %d+%d index entries, newest %d at %d\n",
			g.base, g.size.Load(), g.offsets.count(), g.times.count(), top, at)
	}
	return out.String()
}

// ls lists the files.
func (s *scene) ls() string {
	var out strings.Builder
	ents, _ := s.fsys.ReadDir("/data")
	for _, e := range ents {
		name := e.Name()
		if i := strings.Index(name, "."); e.IsDir() && i > 0 {
			name = name[:i] + ".*" + name[strings.LastIndex(name, "-"):]
		}
		if !e.IsDir() {
			continue
		}
		fmt.Fprintln(&out, name)
		files, _ := s.fsys.ReadDir("/data/" + e.Name())
		for _, f := range files {
			info, _ := f.Info()
			fmt.Fprintf(&out, "  %s %d\n", f.Name(), info.Size())
		}
	}
	return out.String()
}
