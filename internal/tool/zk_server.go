package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kalda/kalda/internal/config"
	"github.com/kalda/kalda/internal/obs"
)

const zkServerActions = "{start|start-foreground|stop|version|restart|status|print-cmd}"

// How long zkServer waits: for a new process to be through its start, for an old one to end, for an answer.
const (
	zkStartPatience  = time.Second
	zkStopPatience   = 30 * time.Second
	zkStatusPatience = 10 * time.Second
)

// zkServerRun is one run of zkServer.
type zkServerRun struct {
	env  *Env
	file string // zoo.cfg
}

// zkServer starts and stops a ZooKeeper server in the background, as Apache's script does: the process id
// is in the data directory, the output in ZOO_LOG_DIR.
func zkServer(env *Env, args []string) int {
	dir := env.Getenv("ZOOCFGDIR")
	if len(args) > 1 && args[0] == "--config" {
		dir, args = args[1], args[2:]
	}
	action, file := "", ""
	if len(args) > 0 {
		action = args[0]
	}
	if len(args) > 1 {
		file = args[1]
	}
	z := &zkServerRun{env: env, file: zkServerFile(env, dir, file)}
	fmt.Fprintln(env.Err, "ZooKeeper JMX enabled by default")
	if action != "version" && action != "" {
		fmt.Fprintf(env.Err, "Using config: %s\n", z.file)
	}
	switch action {
	case "start":
		return z.start()
	case "start-foreground":
		return serveZooKeeper(env, []string{z.file})
	case "stop":
		return z.stop()
	case "restart":
		z.stop()
		return z.start()
	case "status":
		return z.status()
	case "version":
		commit, date := obs.Build()
		fmt.Fprintf(env.Out, "Apache ZooKeeper, version %s-%s %s\n", obs.ZooKeeperRelease, commit, date)
		return 0
	case "upgrade":
		fmt.Fprintln(env.Out, "Nothing to upgrade: a data directory of any 3.x release is read as it is.")
		return 0
	case "print-cmd":
		fmt.Fprintf(env.Out, "%q zookeeper %q > %q 2>&1 < /dev/null\n", self(), z.file, z.outFile())
		return 0
	}
	fmt.Fprintf(env.Err, "Usage: %s [--config <conf-dir>] %s\n", env.Name, zkServerActions)
	return 1
}

// zkServerFile is where zoo.cfg is: a bare name is in the folder of configurations, a path is what it says.
func zkServerFile(env *Env, dir, file string) string {
	if dir == "" {
		dir = "conf"
		if exe, err := os.Executable(); err == nil {
			if beside := filepath.Join(filepath.Dir(filepath.Dir(exe)), "conf"); isDir(beside) {
				dir = beside
			}
		}
	}
	if file == "" {
		file = env.Getenv("ZOOCFG")
	}
	if file == "" {
		file = "zoo.cfg"
	}
	if filepath.Base(file) == file {
		return filepath.Join(dir, file)
	}
	return file
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func self() string {
	exe, err := os.Executable()
	if err != nil {
		return "kalda"
	}
	return exe
}

func (z *zkServerRun) load() (*config.ZooKeeper, error) {
	flags := z.env.Getenv("SERVER_JVMFLAGS") + " " + z.env.Getenv("JVMFLAGS")
	zoo, _, err := config.LoadZooKeeper(z.file, strings.TrimSpace(flags))
	return zoo, err
}

// outFile is where the server's output goes.
func (z *zkServerRun) outFile() string {
	dir := z.env.Getenv("ZOO_LOG_DIR")
	if dir == "" {
		dir = filepath.Join(filepath.Dir(filepath.Dir(self())), "logs")
	}
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	return filepath.Join(dir, "zookeeper-"+name+"-server-"+host+".out")
}

// pidFile is ZOOPIDFILE, or in the data directory.
func (z *zkServerRun) pidFile() (string, error) {
	if file := z.env.Getenv("ZOOPIDFILE"); file != "" {
		return file, nil
	}
	zoo, err := z.load()
	if err != nil {
		return "", err
	}
	return filepath.Join(zoo.DataDir, "zookeeper_server.pid"), nil
}

// running reads the process id of a file; alive says whether there is such a process.
func running(file string) (pid int, alive bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return 0, false
	}
	return pid, syscall.Kill(pid, 0) == nil
}

func (z *zkServerRun) start() int {
	fmt.Fprint(z.env.Out, "Starting zookeeper ... ")
	file, err := z.pidFile()
	if err != nil {
		fmt.Fprintf(z.env.Out, "FAILED TO START\n")
		fmt.Fprintln(z.env.Err, err)
		return 1
	}
	if pid, alive := running(file); alive {
		fmt.Fprintf(z.env.Out, "already running as process %d.\n", pid)
		return 1
	}
	cmd, err := z.spawn()
	if err != nil {
		fmt.Fprintln(z.env.Out, "SERVER DID NOT START")
		fmt.Fprintln(z.env.Err, err)
		return 1
	}
	if err := writePid(file, cmd.Process.Pid); err != nil {
		fmt.Fprintln(z.env.Out, "FAILED TO WRITE PID")
		fmt.Fprintln(z.env.Err, err)
		return 1
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		fmt.Fprintln(z.env.Out, "FAILED TO START")
		fmt.Fprintf(z.env.Err, "The server's output is in %s\n", z.outFile())
		return 1
	case <-time.After(zkStartPatience):
		fmt.Fprintln(z.env.Out, "STARTED")
		return 0
	}
}

// spawn starts the server in a session of its own.
func (z *zkServerRun) spawn() (*exec.Cmd, error) {
	if err := os.MkdirAll(filepath.Dir(z.outFile()), 0o755); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(z.outFile(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(self(), "zookeeper", z.file) //nolint:noctx // it outlives this process
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}

func writePid(file string, pid int) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strconv.Itoa(pid)), 0o644)
}

// stop ends the server and waits for it, so that its ports and its directory are free for the next one.
func (z *zkServerRun) stop() int {
	fmt.Fprint(z.env.Out, "Stopping zookeeper ... ")
	file, err := z.pidFile()
	if err != nil {
		fmt.Fprintln(z.env.Out, "FAILED")
		fmt.Fprintln(z.env.Err, err)
		return 1
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(z.env.Out, "no zookeeper to stop (could not find file %s)\n", file)
		return 0
	}
	pid, alive := running(file)
	if alive {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			fmt.Fprintf(z.env.Out, "FAILED: %v\n", err)
			return 1
		}
	}
	for deadline := time.Now().Add(zkStopPatience); alive && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
		_, alive = running(file)
	}
	if alive {
		fmt.Fprintf(z.env.Out, "process %d is still there\n", pid)
		return 1
	}
	if err := os.Remove(file); err != nil {
		fmt.Fprintln(z.env.Err, err)
	}
	fmt.Fprintln(z.env.Out, "STOPPED")
	return 0
}

// status asks the server for its mode, on the client port.
func (z *zkServerRun) status() int {
	zoo, err := z.load()
	if err != nil {
		fmt.Fprintln(z.env.Err, err)
		return 1
	}
	host, port, err := net.SplitHostPort(zoo.ClientAddr)
	if err != nil {
		fmt.Fprintln(z.env.Out, "Client port not found. Terminating")
		return 1
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	fmt.Fprintf(z.env.Out, "Client port found: %s. Client address: %s. Client SSL: false.\n", port, host)
	answer, err := fourLetters(net.JoinHostPort(host, port), "srvr")
	for line := range strings.Lines(answer) {
		if err == nil && strings.HasPrefix(line, "Mode: ") {
			fmt.Fprintln(z.env.Out, strings.TrimSpace(line))
			return 0
		}
	}
	fmt.Fprintln(z.env.Out, "Error contacting service. It is probably not running.")
	return 1
}

// fourLetters asks a server with one of the words that it answers outside of sessions.
func fourLetters(addr, word string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), zkStatusPatience)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(zkStatusPatience))
	if _, err := conn.Write([]byte(word)); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, 1<<20))
	return string(answer), err
}
