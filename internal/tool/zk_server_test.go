package tool

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kalda/kalda/internal/server/ensemble"
)

// asServer makes the test's binary a ZooKeeper server when zkServer starts it again.
const asServer = "KALDA_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" && len(os.Args) > 2 && os.Args[1] == "zookeeper" {
		os.Exit(ensemble.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// zkServerEnv is a folder of configurations with one for a server on a free port.
func zkServerEnv(t *testing.T) (vars map[string]string, data string) {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := ln.Addr().(*net.TCPAddr).Port
	ln.Close()
	dir, data := t.TempDir(), t.TempDir()
	text := fmt.Sprintf("tickTime=2000\nclientPort=%d\nadmin.enableServer=false\ndataDir=%s\n", port, data)
	if err := os.WriteFile(filepath.Join(dir, "zoo.cfg"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"ZOOCFGDIR": dir, "ZOO_LOG_DIR": t.TempDir()}, data
}

func runZkServer(vars map[string]string, args ...string) (code int, out, errs string) {
	var o, e strings.Builder
	env := &Env{Name: "zkServer", Out: &o, Err: &e, Getenv: func(name string) string { return vars[name] }}
	code = zkServer(env, args)
	return code, o.String(), e.String()
}

func TestZkServer_StartsAsksAndStops(t *testing.T) {
	t.Setenv(asServer, "1")
	vars, data := zkServerEnv(t)
	pidFile := filepath.Join(data, "zookeeper_server.pid")
	t.Cleanup(func() { runZkServer(vars, "stop") })

	code, out, errs := runZkServer(vars, "start")
	if code != 0 || out != "Starting zookeeper ... STARTED\n" {
		t.Fatalf("start: %d %s%s", code, out, errs)
	}
	want := "ZooKeeper JMX enabled by default\nUsing config: " + vars["ZOOCFGDIR"] + "/zoo.cfg\n"
	if errs != want {
		t.Errorf("start says %q", errs)
	}
	pid, alive := running(pidFile)
	if !alive {
		t.Fatal("no process of the id in the file")
	}
	code, out, _ = runZkServer(vars, "start")
	if code != 1 || out != fmt.Sprintf("Starting zookeeper ... already running as process %d.\n", pid) {
		t.Errorf("start again: %d %s", code, out)
	}
	code, out, _ = runZkServer(vars, "status")
	if code != 0 || !strings.HasPrefix(out, "Client port found: ") ||
		!strings.HasSuffix(out, ". Client address: localhost. Client SSL: false.\nMode: standalone\n") {
		t.Errorf("status: %d %s", code, out)
	}
	code, out, _ = runZkServer(vars, "restart")
	if code != 0 || out != "Stopping zookeeper ... STOPPED\nStarting zookeeper ... STARTED\n" {
		t.Errorf("restart: %d %s", code, out)
	}
	if again, _ := running(pidFile); again == pid {
		t.Error("restart left the old process")
	}
	code, out, _ = runZkServer(vars, "stop")
	if code != 0 || out != "Stopping zookeeper ... STOPPED\n" {
		t.Errorf("stop: %d %s", code, out)
	}
	code, out, _ = runZkServer(vars, "stop")
	if code != 0 || out != "Stopping zookeeper ... no zookeeper to stop (could not find file "+pidFile+")\n" {
		t.Errorf("stop again: %d %s", code, out)
	}
	code, out, _ = runZkServer(vars, "status")
	if code != 1 || !strings.HasSuffix(out, "\nError contacting service. It is probably not running.\n") {
		t.Errorf("status without a server: %d %s", code, out)
	}
}

func TestZkServer_SaysWhatIsWrong(t *testing.T) {
	t.Setenv(asServer, "1")
	vars, data := zkServerEnv(t)
	bad := filepath.Join(vars["ZOOCFGDIR"], "bad.cfg")
	if err := os.WriteFile(bad, []byte("dataDir="+data+"\ntickTime=0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, 1, "Usage: zkServer [--config <conf-dir>] {start|"},
		{[]string{"dance"}, 1, "Usage: zkServer [--config <conf-dir>] {start|"},
		{[]string{"start", "bad.cfg"}, 1, "tickTime"},
		{[]string{"start", "none.cfg"}, 1, "none.cfg"},
		{[]string{"version"}, 0, "Apache ZooKeeper, version 3.9.5"},
		{[]string{"--config", "/somewhere", "print-cmd"}, 0, "zookeeper \"/somewhere/zoo.cfg\""},
		{[]string{"print-cmd", "./else.cfg"}, 0, "zookeeper \"./else.cfg\""},
	} {
		code, out, errs := runZkServer(vars, c.args...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%v: %d %s%s", c.args, code, out, errs)
		}
	}
}
