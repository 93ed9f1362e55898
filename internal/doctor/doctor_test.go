package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kalda/kalda/internal/disk/seglog"
	"github.com/kalda/kalda/internal/disk/vfs"
	"github.com/kalda/kalda/internal/format/batch"
)

// patient is a node to examine: healthy until a test makes it ill.
type patient struct {
	t    *testing.T
	dir  string
	conf map[string]string
	host Host
	o    Options
}

func healthy(t *testing.T) *patient {
	t.Helper()
	p := &patient{t: t, dir: t.TempDir(), host: *ThisHost()}
	p.conf = map[string]string{
		"process.roles": "broker,controller", "node.id": "1", "controller.listener.names": "CONTROLLER",
		"listeners":                "PLAINTEXT://127.0.0.1:40011,CONTROLLER://127.0.0.1:40012",
		"controller.quorum.voters": "1@localhost:40012", "log.dirs": p.data(0),
	}
	p.host.Getenv = func(string) string { return "" }
	p.host.Process = func(int) string { return "" }
	p.host.Lookup = func(_ context.Context, name string) ([]string, error) {
		if name == "nowhere" {
			return nil, &net.DNSError{Err: "no such host", Name: name}
		}
		return []string{"10.0.0.1"}, nil
	}
	p.host.Listen = func(string) error { return nil }
	p.host.Dial = func(context.Context, string) error { return nil }
	p.host.Date = func(context.Context, string) (time.Time, error) { return time.Time{}, errors.ErrUnsupported }
	p.host.Descriptors = func() (uint64, error) { return 100_000, nil }
	p.host.Synced = func() (bool, error) { return true, nil }
	p.host.Volume = func(string) (Volume, error) {
		return Volume{Kind: "ext4", Free: 1 << 40, Total: 1 << 41, Files: 1000, FreeFiles: 900}, nil
	}
	p.host.Writable = func(string) error { return nil }
	p.host.Holder = func(string) (int, bool, error) { return 0, false, fs.ErrNotExist }
	p.format(0, "c", 1, "AAAAAAAAAAAAAAAAAAAAAQ")
	for name, b := range data() {
		p.write(p.path(name), string(b))
	}
	return p
}

func (p *patient) data(i int) string { return filepath.Join(p.dir, fmt.Sprint("data", i)) }

func (p *patient) path(elem ...string) string {
	return filepath.Join(append([]string{p.data(0)}, elem...)...)
}

func (p *patient) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *patient) format(i int, cluster string, node int32, id string) {
	p.t.Helper()
	p.write(filepath.Join(p.data(i), "meta.properties"),
		fmt.Sprintf("version=1\ncluster.id=%s\nnode.id=%d\ndirectory.id=%s\n", cluster, node, id))
}

// data is a log directory with a log of several segments, cleanly closed: made once, in memory, without
// syncs.
var data = sync.OnceValue(func() map[string][]byte {
	m := vfs.NewMem()
	d, err := seglog.OpenDir(m, "/d", seglog.DirOptions{Logger: slog.New(slog.DiscardHandler)})
	check(err)
	c := seglog.DefaultConfig()
	c.SegmentBytes = 200
	l, err := d.Open(seglog.Spec{Topic: "t", ID: [16]byte{1}, Config: c})
	check(err)
	for i := range 4 {
		b, err := batch.Build(nil, batch.NoProducer(batch.Offset(i), 0, 1000),
			[]batch.Record{{Value: make([]byte, 50)}})
		check(err)
		check(l.Append(1000, b))
	}
	check(d.Close(1))
	files := map[string][]byte{}
	for _, dir := range []string{"", "t-0"} {
		ents, err := m.ReadDir(filepath.Join("/d", dir))
		check(err)
		for _, e := range ents {
			if !e.IsDir() {
				files[filepath.Join(dir, e.Name())], err = vfs.ReadFile(m, filepath.Join("/d", dir, e.Name()))
				check(err)
			}
		}
	}
	return files
})

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func (p *patient) write(name, text string) {
	p.t.Helper()
	p.must(os.MkdirAll(filepath.Dir(name), 0o755))
	p.must(os.WriteFile(name, []byte(text), 0o600))
}

// crashed makes the last stop one that wasn't clean, after a checkpoint at offset.
func (p *patient) crashed(offset int) {
	p.t.Helper()
	p.must(os.Remove(p.path(".kafka_cleanshutdown")))
	p.write(p.path("recovery-point-offset-checkpoint"), fmt.Sprintf("0\n1\nt 0 %d\n", offset))
}

// flip changes a byte near the end of the segment that starts at base.
func (p *patient) flip(base int) {
	p.t.Helper()
	name := p.path("t-0", fmt.Sprintf("%020d.log", base))
	b, err := os.ReadFile(name)
	p.must(err)
	b[len(b)-3] ^= 1
	p.must(os.WriteFile(name, b, 0o600))
}

// save writes the configuration.
func (p *patient) save() {
	p.t.Helper()
	var b strings.Builder
	for k, v := range p.conf {
		fmt.Fprintf(&b, "%s=%s\n", k, v)
	}
	p.o.File = filepath.Join(p.dir, "server.properties")
	p.write(p.o.File, b.String())
	p.o.Offline, p.o.Host = true, &p.host
}

func (p *patient) examine() *Report {
	p.t.Helper()
	p.save()
	return Run(p.t.Context(), &p.o)
}

func TestAHealthyNodeHasNoFindings(t *testing.T) {
	p := healthy(t)
	p.o.Deep = true
	r := p.examine()
	if len(r.Findings) > 0 || r.ExitCode() != 0 {
		t.Fatalf("%+v", r.Findings)
	}
	if len(r.Checked) < 6 {
		t.Errorf("checked only %q", r.Checked)
	}
}

// illness is what a test does to a node, and the finding that this must give.
type illness struct {
	make  func(p *patient)
	s     Severity
	check string
	what  string
	where string
}

func conf(key, value string) func(*patient) {
	return func(p *patient) { p.conf[key] = value }
}

func (p *patient) listenFails(errno syscall.Errno) {
	p.host.Listen = func(string) error { return &net.OpError{Err: os.NewSyscallError("bind", errno)} }
}

func (p *patient) volume(change func(v *Volume)) {
	v, _ := p.host.Volume("")
	change(&v)
	p.host.Volume = func(string) (Volume, error) { return v, nil }
}

func (p *patient) locked(pid int, cmd string) {
	p.host.Holder = func(string) (int, bool, error) { return pid, true, nil }
	p.host.Process = func(int) string { return cmd }
}

func (p *patient) voters() {
	p.conf["controller.quorum.voters"] = "1@10.0.0.1:40012,2@10.0.0.2:40012"
}

func lookups(addrs ...string) func(context.Context, string) ([]string, error) {
	return func(context.Context, string) ([]string, error) {
		if len(addrs) == 0 {
			return nil, &net.DNSError{Err: "no such host"}
		}
		return addrs, nil
	}
}

var configIllnesses = map[string]illness{
	"a bad value": {conf("num.partitions", "many"), Error, "config", "Not a number", "server.properties:"},
	"no file":     {func(p *patient) { p.conf = nil }, Error, "config", "process.roles", "server.properties"},
	"an unknown key": {
		conf("num.partition", "1"), Warning, "config", "unknown key num.partition",
		"server.properties:",
	},
	"a removed key": {
		conf("log.message.format.version", "3.0"), Warning, "config", "was removed",
		"server.properties:",
	},
	"a key without effect": {conf("num.io.threads", "99"), Info, "config", "nothing to tune", "num.io.threads"},
	"a key of later": {conf("super.users", "User:a"), Warning, "config", "no effect in this " +
		"release", "super.users"},
	"a Java class": {conf("metric.reporters", "org.x.Y"), Warning, "jvm", "Java", "metric.reporters"},
	"the JVM's heap": {func(p *patient) {
		p.host.Getenv = func(k string) string { return map[string]string{"KAFKA_HEAP_OPTS": "-Xmx1g"}[k] }
	}, Info, "jvm", "KAFKA_HEAP_OPTS", "environment"},
	"min.isr over the factor": {conf("min.insync.replicas", "2"), Error, "replication", "more " +
		"than", "min.insync"},
	"a factor for one node": {
		conf("default.replication.factor", "3"), Warning, "replication", "own only " +
			"controller",
		"default.replication.factor",
	},
}

var networkIllnesses = map[string]illness{
	"a voter's name": {
		func(p *patient) { p.voters(); p.conf["controller.quorum.voters"] += ",3@nowhere:1" },
		Error,
		"names", "nowhere doesn't resolve", "controller.quorum.voters",
	},
	"an advertised name": {
		conf("advertised.listeners", "PLAINTEXT://nowhere:1"), Error, "names", "nowhere",
		"advertised.listeners",
	},
	"advertised loopback": {func(p *patient) {
		p.voters()
		p.conf["advertised.listeners"] = "PLAINTEXT://127.0.0.1:1"
	}, Warning, "names", "reach themselves", "advertised.listeners"},
	"a hostname that doesn't resolve": {func(p *patient) {
		p.voters()
		p.conf["listeners"] = "PLAINTEXT://:40011,CONTROLLER://:40012"
		p.host.Lookup = lookups()
	}, Error, "names", "advertised.listeners names no host", "hostname"},
	"a hostname that is loopback": {func(p *patient) {
		p.voters()
		p.conf["listeners"] = "PLAINTEXT://:40011,CONTROLLER://:40012"
		p.host.Lookup = lookups("127.0.1.1")
	}, Warning, "names", "127.0.1.1 here", "hostname"},
	"a port that is taken": {func(p *patient) { p.listenFails(syscall.EADDRINUSE) }, Error, "ports", "is " +
		"taken", "listeners"},
	"an address of others": {
		func(p *patient) { p.listenFails(syscall.EADDRNOTAVAIL) }, Error, "ports",
		"no interface",
		"listeners",
	},
	"a port of root's": {func(p *patient) { p.listenFails(syscall.EACCES) }, Error, "ports", "not " +
		"allowed", "listeners"},
}

var machineIllnesses = map[string]illness{
	"few descriptors": {
		func(p *patient) { p.host.Descriptors = func() (uint64, error) { return 1024, nil } },
		Warning,
		"limits", "1024 open files", "RLIMIT_NOFILE",
	},
	"too few descriptors": {
		func(p *patient) {
			p.host.Descriptors = func() (uint64, error) {
				return 10,
					nil
			}
		}, Error,
		"limits", "10 open files", "RLIMIT_NOFILE",
	},
	"requests larger than memory": {
		conf("kalda.memory.limit", "100000000"), Warning, "limits", "are refused",
		"socket.request.max.bytes",
	},
	"a queue larger than memory": {func(p *patient) {
		p.conf["kalda.memory.limit"], p.conf["queued.max.request.bytes"] = "300000000", "200000000"
	}, Warning, "limits", "isn't room", "queued.max.request.bytes"},
	"no time service": {
		func(p *patient) { p.host.Synced = func() (bool, error) { return false, nil } }, Info,
		"clock",
		"no time service", "system clock",
	},
	"files from the future": {func(p *patient) {
		p.host.Now = func() time.Time { return time.Now().Add(-time.Hour) }
	}, Warning, "clock", "from now", "data0"},
	"a clock at its start": {
		func(p *patient) { p.host.Now = func() time.Time { return time.Unix(1000, 0) } },
		Error,
		"clock", "can't be", "system clock",
	},
	"little room": {
		func(p *patient) { p.volume(func(v *Volume) { v.Free = 500 << 20 }) }, Warning, "disk",
		"are free", "data0",
	},
	"no room": {
		func(p *patient) { p.volume(func(v *Volume) { v.Free = 0 }) }, Error, "disk", "full",
		"data0",
	},
	"no inodes": {
		func(p *patient) { p.volume(func(v *Volume) { v.FreeFiles = 1 }) }, Warning, "disk",
		"inodes", "data0",
	},
	"read-only": {
		func(p *patient) { p.volume(func(v *Volume) { v.ReadOnly = true }) }, Error, "disk",
		"read-only", "data0",
	},
	"nfs": {
		func(p *patient) { p.volume(func(v *Volume) { v.Kind = "nfs" }) }, Warning, "disk",
		"network", "data0",
	},
	"tmpfs": {
		func(p *patient) { p.volume(func(v *Volume) { v.Kind = "tmpfs" }) }, Warning, "disk",
		"in memory", "data0",
	},
	"overlay": {
		func(p *patient) { p.volume(func(v *Volume) { v.Kind = "overlay" }) }, Warning, "disk",
		"container", "data0",
	},
}

var folderIllnesses = map[string]illness{
	"held by a node": {func(p *patient) { p.locked(7, "kalda server") }, Info, "data", "process " +
		"7", ".lock"},
	"held by a stranger": {func(p *patient) { p.locked(7, "rsync -a") }, Warning, "data", "look like a " +
		"node", ".lock"},
	"held from elsewhere": {func(p *patient) { p.locked(0, "") }, Warning, "data", "can't be seen", ".lock"},
	"held by the dead": {func(p *patient) { p.locked(7, "") }, Warning, "data", "isn't there any " +
		"more", ".lock"},
	"a lock of another's": {func(p *patient) {
		p.host.Holder = func(string) (int, bool, error) { return 0, false, fs.ErrPermission }
	}, Error, "data", "lock file can't be opened", ".lock"},
	"no right to write": {
		func(p *patient) { p.host.Writable = func(string) error { return syscall.EACCES } },
		Error,
		"data", "can't be written to", "data0",
	},
	"a folder that can't be made": {func(p *patient) {
		p.conf["log.dirs"] += "," + p.data(1)
		p.host.Writable = func(string) error { return syscall.EACCES }
	}, Error, "data", "can't be made", "data1"},
	"a file for a folder": {
		func(p *patient) { p.conf["log.dirs"] += "," + p.path("meta.properties") }, Error,
		"data",
		"not a folder", "meta.properties",
	},
	"not formatted": {func(p *patient) { p.must(os.RemoveAll(p.data(0))) }, Error, "data", "isn't " +
		"formatted", "data0"},
	"a new folder": {func(p *patient) { p.conf["log.dirs"] += "," + p.data(1) }, Info, "data", "others " +
		"are", "data1"},
	"meta.properties torn": {
		func(p *patient) { p.write(p.path("meta.properties"), "version") }, Error, "data",
		"can't be read", "meta.properties",
	},
	"meta.properties of ZooKeeper": {func(p *patient) {
		p.write(p.path("meta.properties"), "version=0\nbroker.id=1\n")
	}, Error, "data", "ZooKeeper", "meta.properties"},
	"no cluster": {
		func(p *patient) { p.write(p.path("meta.properties"), "version=1\nnode.id=1\n") }, Error,
		"data",
		"no cluster.id", "meta.properties",
	},
	"no directory id": {func(p *patient) { p.format(0, "c", 1, "") }, Info, "data", "no " +
		"directory.id", "meta.properties"},
	"another node": {conf("node.id", "2"), Error, "config", "2", "server.properties"},
	"another node's data": {
		func(p *patient) { p.format(0, "c", 7, "x") }, Error, "data", "node.id is 7",
		"meta.properties",
	},
	"another cluster": {func(p *patient) {
		p.conf["log.dirs"] += "," + p.data(1)
		p.format(1, "d", 1, "x")
	}, Error, "data", "cluster.id is d", "data1"},
	"a copied folder": {func(p *patient) {
		p.conf["log.dirs"] += "," + p.data(1)
		p.format(1, "c", 1, "AAAAAAAAAAAAAAAAAAAAAQ")
	}, Error, "data", "was copied", "data1"},
	"a lost vote": {
		func(p *patient) { p.write(p.path("__cluster_metadata-0", "quorum-state"), "{}") }, Error,
		"data",
		"a field is missing", "quorum-state",
	},
}

var logIllnesses = map[string]illness{
	"an unclean stop": {func(p *patient) { p.crashed(4) }, Info, "data", "wasn't clean", "data0"},
	"a torn tail": {func(p *patient) {
		p.crashed(3)
		p.flip(3)
	}, Warning, "data", "no whole batches", "00000000000000000003.log"},
	"zeros at the end": {func(p *patient) {
		p.crashed(3)
		p.must(os.Truncate(p.path("t-0", "00000000000000000003.log"), 5000))
	}, Warning, "data", "zeros", "00000000000000000003.log"},
	"a damaged log": {func(p *patient) {
		p.o.Deep = true
		p.flip(0)
	}, Error, "data", "records that were on disk", "00000000000000000000.log"},
	"a log cut after the stop": {func(p *patient) {
		p.must(os.Truncate(p.path("t-0", "00000000000000000003.log"), 0))
	}, Error, "data", "clean shutdown said 4", "00000000000000000003.log"},
	"a bad checkpoint": {
		func(p *patient) { p.write(p.path("replication-offset-checkpoint"), "7\n") },
		Warning, "data",
		"can't be understood", "replication-offset-checkpoint",
	},
	"bad epochs": {
		func(p *patient) { p.write(p.path("t-0", "leader-epoch-checkpoint"), "7\n") }, Warning,
		"data",
		"can't be understood", "leader-epoch-checkpoint",
	},
	"a bad topic id": {
		func(p *patient) {
			p.write(p.path("t-0", "partition.metadata"), "version: "+
				"0\n")
		}, Error, "data",
		"no topic id", "partition.metadata",
	},
	"a bad index": {
		func(p *patient) { p.write(p.path("t-0", "00000000000000000000.index"), "x") }, Warning,
		"data",
		"index", "00000000000000000000.index",
	},
	"a bad snapshot": {func(p *patient) {
		p.write(p.path("__cluster_metadata-0", "00000000000000000000-0000000000.checkpoint"), "x")
	}, Error, "data", "snapshot is damaged", ".checkpoint"},
	"a stray": {func(p *patient) {
		p.must(os.Mkdir(p.path("t-1."+strings.Repeat("0a", 16)+"-stray"), 0o755))
	}, Warning, "data", "put aside", "-stray"},
	"a move": {func(p *patient) {
		p.must(os.Mkdir(p.path("t-1."+strings.Repeat("0a", 16)+"-future"), 0o755))
	}, Info, "data", "on its way", "-future"},
}

func TestEveryIllnessIsFound(t *testing.T) {
	for _, table := range []map[string]illness{
		configIllnesses, networkIllnesses, machineIllnesses, folderIllnesses, logIllnesses,
	} {
		for name, c := range table {
			t.Run(name, func(t *testing.T) {
				p := healthy(t)
				c.make(p)
				before := contents(t, p.dir)
				r := p.examine()
				if !r.has(c.s, c.check, c.what, c.where) {
					t.Errorf("not found; found %+v", r.Findings)
				}
				if after := contents(t, p.dir); after != before {
					t.Errorf("files were changed:\n%s\n%s", before, after)
				}
			})
		}
	}
}

func (r *Report) has(s Severity, check, what, where string) bool {
	for _, f := range r.Findings {
		if f.Severity == s && strings.Contains(f.Check, check) && strings.Contains(f.What,
			what) && strings.Contains(f.Where, where) &&
			f.Do != "" {
			return true
		}
	}
	return false
}

// contents are all files below dir, with what is in them.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && e.Name() != "server.properties" {
			text, _ := os.ReadFile(path)
			fmt.Fprintf(&b, "%s %q\n", path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThePortsOfARunningNodeAreNoFinding(t *testing.T) {
	p := healthy(t)
	p.locked(7, "kalda server")
	p.listenFails(syscall.EADDRINUSE)
	if r := p.examine(); r.Worst() != Info {
		t.Errorf("%+v", r.Findings)
	}
}

func TestTheEmbeddedDefaultIsFine(t *testing.T) {
	p := healthy(t)
	t.Chdir(p.dir)
	r := Run(t.Context(), &Options{Offline: true, Host: &p.host})
	if len(r.Findings) != 1 || !r.has(Info, "data", "isn't formatted", "data") {
		t.Errorf("%+v", r.Findings)
	}
}

func TestOutput(t *testing.T) {
	r := &Report{Checked: []string{"a"}, Findings: []Finding{
		{Info, "clock", "i", "x", "d"}, {Error, "data", "e<", "y", "do it"}, {Warning, "disk", "w", "z", "d"},
	}}
	var b bytes.Buffer
	r.Text(&b, true)
	want := "ok       a\nERROR    data: e<\n         at y\n         -> do it\nWARNING  disk: w\n         " +
		"at z\n         -> d\n" +
		"INFO     clock: i\n         at x\n         -> d\n1 errors, 1 warnings, 1 remarks\n"
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	if err := r.JSON(&b); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Errors   int
		Findings []map[string]string
	}
	if err := json.Unmarshal(b.Bytes(),
		&back); err != nil || back.Errors != 1 || back.Findings[0]["severity"] != "error" {
		t.Errorf("%v %+v", err, back)
	}
	for want, s := range []Severity{Info, Warning, Error} {
		if got := (&Report{Findings: []Finding{{Severity: s}}}).ExitCode(); got != want {
			t.Errorf("%v: exit code %d", s, got)
		}
	}
}
