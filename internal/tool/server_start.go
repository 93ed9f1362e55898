package tool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

const serverUsage = `USAGE: kalda server [server.properties] [--override property=value]*
Without a file: one combined node, clients on 9092, controller on 9093, data in ./data.
  --override property=value   replaces one property of the file; repeatable
  --help                      this text
  --version                   print the version
`

const serverStartUsage = `USAGE: kafka-server-start [-daemon] server.properties [--override property=value]*
  -daemon                     run in the background, output to logs/kafkaServer.out
                              (LOG_DIR names another folder)
  --override property=value   replaces one property of the file; repeatable
  --version                   print the version
`

// startArgs is a parsed `kalda server` or kafka-server-start command line.
type startArgs struct {
	daemon, help, version bool
	file                  string
	overrides             []string
}

// parseStart reads the arguments of the two commands that start a node. The file comes first in Apache's
// script; here its place does not matter.
func parseStart(args []string) (startArgs, error) {
	var s startArgs
	for i := 0; i < len(args); i++ {
		arg := args[i]
		value, hasValue := strings.CutPrefix(arg, "--override=")
		switch {
		case hasValue:
			s.overrides = append(s.overrides, value)
		case arg == "--override" || arg == "-override":
			if i++; i == len(args) {
				return s, fmt.Errorf("Option override requires an argument")
			}
			s.overrides = append(s.overrides, args[i])
		case arg == "-daemon" || arg == "--daemon":
			s.daemon = true
		case arg == "--help" || arg == "-help" || arg == "-h":
			s.help = true
		case arg == "--version" || arg == "-version":
			s.version = true
		case strings.HasPrefix(arg, "-"):
			return s, fmt.Errorf("%s is not a recognized option", strings.TrimLeft(arg, "-"))
		case s.file != "":
			return s, fmt.Errorf("Found non argument parameters: %s", arg)
		default:
			s.file = arg
		}
	}
	for _, o := range s.overrides {
		if !strings.Contains(o, "=") {
			return s, fmt.Errorf("Invalid command line properties: %s", o)
		}
	}
	return s, nil
}

// serve is `kalda server`: the file may be left out.
func serve(env *Env, args []string) int {
	s, code := startOptions(env, args, serverUsage)
	if code >= 0 {
		return code
	}
	if s.daemon {
		return daemon(env, s)
	}
	return startHere(env, s)
}

// serverStart is kafka-server-start: the file is required, as it is in Apache's.
func serverStart(env *Env, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(env.Err, serverStartUsage)
		return 1
	}
	s, code := startOptions(env, args, serverStartUsage)
	if code >= 0 {
		return code
	}
	if s.file == "" {
		fmt.Fprint(env.Err, serverStartUsage)
		return 1
	}
	if s.daemon {
		return daemon(env, s)
	}
	return startHere(env, s)
}

// startOptions parses; the code is -1 when the node shall start.
func startOptions(env *Env, args []string, usage string) (startArgs, int) {
	s, err := parseStart(args)
	switch {
	case err != nil:
		fmt.Fprintf(env.Err, "%v\n%s", err, usage)
		return s, 1
	case s.help:
		fmt.Fprint(env.Out, usage)
		return s, 0
	case s.version:
		fmt.Fprintln(env.Out, versionLine())
		return s, 0
	}
	return s, -1
}

func startHere(env *Env, s startArgs) int {
	if env.Hooks.Server == nil {
		fmt.Fprintln(env.Err, "kalda: this build has no server")
		return 1
	}
	return env.Hooks.Server(s.file, s.overrides)
}

// daemon starts this binary again in a session of its own, without a terminal, and returns at once.
func daemon(env *Env, s startArgs) int {
	if s.file != "" {
		if _, err := os.Stat(s.file); err != nil {
			fmt.Fprintln(env.Err, err)
			return 1
		}
	}
	pid, out, err := spawn(env, s)
	if err != nil {
		fmt.Fprintf(env.Err, "kalda: cannot start in the background: %v\n", err)
		return 1
	}
	fmt.Fprintf(env.Err, "Started with process id %d, output in %s\n", pid, out)
	return 0
}

func spawn(env *Env, s startArgs) (pid int, out string, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, "", err
	}
	dir := env.Getenv("LOG_DIR")
	if dir == "" {
		dir = filepath.Join(filepath.Dir(filepath.Dir(self)), "logs")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, "", err
	}
	out = filepath.Join(dir, "kafkaServer.out")
	file, err := os.OpenFile(out, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return 0, "", err
	}
	defer file.Close()
	args := []string{"server"}
	if s.file != "" {
		args = append(args, s.file)
	}
	for _, o := range s.overrides {
		args = append(args, "--override", o)
	}
	cmd := exec.Command(self, args...) //nolint:noctx // it outlives this process
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, "", err
	}
	pid = cmd.Process.Pid
	return pid, out, cmd.Process.Release()
}
