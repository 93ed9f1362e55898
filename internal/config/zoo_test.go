package config

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestZooTable(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range zooTables {
		if !sort.SliceIsSorted(*table, func(i, j int) bool { return (*table)[i].Name < (*table)[j].Name }) {
			t.Errorf("not sorted by name: %s ...", (*table)[0].Name)
		}
		for i := range *table {
			k := &(*table)[i]
			if seen[k.Name] {
				t.Errorf("%s: twice", k.Name)
			}
			seen[k.Name] = true
			if k.Doc == "" || !strings.HasSuffix(k.Doc, ".") {
				t.Errorf("%s: the text is no sentence", k.Name)
			}
			if k.Default != Null && k.Default != Required {
				if err := k.check(k.Default); err != nil {
					t.Errorf("default: %v", err)
				}
			}
			if zooName(k.Name) != k.Name || ZooKey(k.Name) != k {
				t.Errorf("%s isn't found", k.Name)
			}
		}
	}
}

func TestZooMarkdownIsFresh(t *testing.T) {
	compareFile(t, "../../docs/zoo-configuration.md", ZooMarkdown())
}

func loadZoo(t *testing.T, text, flags string) (*ZooKeeper, Warnings, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "zoo.cfg")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	z, w, err := LoadZooKeeper(path, flags)
	for i := range w {
		w[i] = strings.TrimPrefix(w[i], filepath.Dir(path)+"/")
	}
	return z, w, err
}

const zooSeed = `# the seed deployment's keys
tickTime=2000
initLimit=10
syncLimit=5
dataDir=/var/lib/zookeeper
dataLogDir = /var/log/zookeeper
clientPort=2181
maxClientCnxns=100
autopurge.snapRetainCount=5
autopurge.purgeInterval=24
`

func TestZoo_Seed(t *testing.T) {
	z, w, err := loadZoo(t, zooSeed+"server.1=zk1:2888:3888\n", "-Xmx1g -Dzookeeper.snapCount=7 -Djute.maxbuffer=99")
	if err != nil || len(w) > 0 {
		t.Fatal(w, err)
	}
	if z.DataDir != "/var/lib/zookeeper" || z.DataLogDir != "/var/log/zookeeper" || z.ClientAddr != ":2181" || !z.Standalone ||
		z.MinSessionTimeout != 4000 || z.MaxSessionTimeout != 40000 || z.Int("autopurge.purgeInterval") != 24 {
		t.Errorf("%+v", z)
	}
	if z.Int("snapCount") != 7 || z.Int("jute.maxbuffer") != 99 || z.Int("maxClientCnxns") != 100 || z.Bool("enforceQuota") {
		t.Errorf("%v", z.values)
	}
}

func TestZoo_Ensemble(t *testing.T) {
	z, w, err := loadZoo(t, zooSeed+`server.2=[::1]:2888:3888:participant;127.0.0.1:2182
server.1=zk1:2888:3888;2181
server.3=zk3:2888:3888|zk3b:2889:3889:observer;;2281
server.4=zk4:2888:3888
group.1=1:2
weight.2=3
`, "")
	if err != nil || len(w) > 0 {
		t.Fatal(w, err)
	}
	want := []ZooServer{
		{ID: 1, Addrs: []ZooAddr{{"zk1", 2888, 3888}}, ClientAddr: "0.0.0.0:2181"},
		{ID: 2, Addrs: []ZooAddr{{"::1", 2888, 3888}}, ClientAddr: "127.0.0.1:2182"},
		{ID: 3, Addrs: []ZooAddr{{"zk3", 2888, 3888}, {"zk3b", 2889, 3889}}, Observer: true, SecureAddr: "0.0.0.0:2281"},
		{ID: 4, Addrs: []ZooAddr{{"zk4", 2888, 3888}}},
	}
	if diff := cmp.Diff(want, z.Servers); diff != "" || z.Standalone || z.Weights[2] != 3 || len(z.Groups[1]) != 2 {
		t.Error(diff, z)
	}
}

func TestZoo_Complaints(t *testing.T) {
	base := "dataDir=/d\nclientPort=2181\n"
	for _, c := range []struct{ text, flags, warn, err string }{
		{"clientPort=2181", "", "", "zoo.cfg: dataDir is not set"},
		{base + "tickTime=x", "", "", "zoo.cfg:3: Invalid value x for configuration tickTime: Not a number"},
		{base + "tickTime=0", "", "", "tickTime: Value must be at least 1"},
		{base + "standaloneEnabled=yes", "", "", "Expected value to be either true or false"},
		{base + "digest.enabled=yes", "", "zoo.cfg:3: Invalid value yes for configuration digest.enabled", ""},
		{base + "snapCont=5", "", "zoo.cfg:3: unknown key snapCont; did you mean snapCount?", ""},
		{base, "-Dzookeeper.snapCont=5", "zoo.cfg: unknown key snapCont", ""},
		{base, "-Dzookeeper.log.dir=/x -Dcom.sun=1 '-Dzookeeper.snapCount=9'", "", ""},
		{base + "snapCount=5", "-Dzookeeper.snapCount=9", "", ""},
		{base + "jute.maxbuffer=5", "", "Apache ZooKeeper takes it from -Djute.maxbuffer alone", ""},
		{base + "sslQuorum=true", "", "not supported in this release, no effect: sslQuorum", ""},
		{base + "nio.numWorkerThreads=3", "", "nothing to tune here", ""},
		{base + "tickTime=2\ntickTime=3", "", "zoo.cfg:4: tickTime is set again; line 3 is ignored", ""},
		{"dataDir=/d\nclientPortAddress=::1", "", "", "clientPort is not set"},
		{"dataDir=/d", "", "no client can connect", ""},
		{base + "minSessionTimeout=9\nmaxSessionTimeout=8", "", "", "must not be longer"},
		{base + "server.1=a:1:2\nserver.2=b:1:2", "", "", "initLimit is not set"},
		{base + "initLimit=1\nsyncLimit=1\nserver.1=a:1:2\nserver.2=b:1:2", "", "2 voters", ""},
		{base + "server.1=a:1:1", "", "", "must be different"},
		{base + "server.1=a:1", "", "", "is expected"},
		{base + "server.1=a:1:2:chief", "", "", "is no role"},
		{base + "server.1=a:1:2\nserver.2=b:1:2:observer", "", "", "one voter only"},
		{base + "a=\\uzz", "", "", "malformed"},
	} {
		z, w, err := loadZoo(t, c.text, c.flags)
		all := strings.Join(w, "\n")
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)), c.err == "" && err != nil:
			t.Errorf("%q: %v", c.text, err)
		case !strings.Contains(all, c.warn), c.warn == "" && all != "":
			t.Errorf("%q: %s", c.text, all)
		case strings.HasSuffix(c.text, "snapCount=5") && z.Int("snapCount") != 5:
			t.Errorf("a flag beats the file")
		}
	}
}

func TestZoo_OtherForms(t *testing.T) {
	z, _, err := ZooKeeperArgs([]string{"2185", "/d", "500"}, "")
	if err != nil || z.ClientAddr != ":2185" || z.TickTime != 500 || z.DataDir != "/d" {
		t.Error(z, err)
	}
	if _, _, err := ZooKeeperArgs([]string{"2185"}, ""); err == nil {
		t.Error("one argument is enough")
	}
	if z, w, err := EmbeddedZooKeeper("/x", ""); err != nil || len(w) > 0 || z.ClientAddr != ":2181" || !z.Standalone {
		t.Error(z, w, err)
	}
}

func FuzzZooCfg(f *testing.F) {
	f.Add(zooSeed, "-Dzookeeper.snapCount=7 '-Da=b c'")
	f.Add("server.1=[::1]:1:2:observer;;5\ngroup.1=1\nweight.1=x", "")
	f.Fuzz(func(_ *testing.T, text, flags string) {
		if strings.Contains(text, "dynamicConfigFile") {
			return
		}
		_, _, _ = parseZooKeeper("zoo.cfg", text, flags)
	})
}
