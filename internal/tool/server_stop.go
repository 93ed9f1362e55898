package tool

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/kalda/kalda/internal/tool/opt"
)

func serverStopSpec() *opt.Spec {
	return &opt.Spec{
		About: "Stops the Kalda nodes on this machine: all, or those of a role or an id.",
		Flags: []opt.Flag{
			{
				Name: "process-role", Arity: opt.Required, Arg: "role",
				Help: "Only nodes with this role: broker or controller.",
			},
			{
				Name: "node-id", Arity: opt.Required, Arg: "id",
				Help: "Only the node with this id; wins over --process-role.",
			},
		},
	}
}

// process is a running node.
type process struct {
	pid       int
	file      string // its server.properties; empty for the built-in configuration
	overrides []string
}

// serverStop is kafka-server-stop: it signals nodes and does not wait for them. SIGNAL names another signal.
func serverStop(env *Env, args []string) int {
	spec := serverStopSpec()
	o, err := spec.Parse(args)
	if err == nil && len(o.Rest) > 0 {
		err = fmt.Errorf("Unknown argument: %s", o.Rest[0])
	}
	if err != nil {
		return env.usage(spec, err.Error())
	}
	if o.Has("help") {
		return env.usage(spec, spec.About)
	}
	if o.Has("version") {
		fmt.Fprintln(env.Out, KafkaVersion)
		return 0
	}
	sig, err := signalOf(env.Getenv("SIGNAL"))
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	all, err := nodes("/proc", os.Getpid())
	if err != nil {
		fmt.Fprintln(env.Err, err)
		return 1
	}
	role, id := o.Or("process-role", ""), o.Or("node-id", "")
	chosen := choose(all, role, id)
	if len(chosen) == 0 {
		fmt.Fprintln(env.Out, nothingToStop(role, id))
		return 1
	}
	code := 0
	for _, p := range chosen {
		if err := syscall.Kill(p.pid, sig); err != nil {
			fmt.Fprintf(env.Err, "Cannot signal process %d: %v\n", p.pid, err)
			code = 1
		}
	}
	return code
}

func nothingToStop(role, id string) string {
	switch {
	case id != "":
		return fmt.Sprintf("No kafka server to stop with node ID: %s", id)
	case role != "":
		return fmt.Sprintf("No kafka server to stop with process role: %s", role)
	}
	return "No kafka server to stop"
}

func signalOf(name string) (syscall.Signal, error) {
	switch strings.TrimPrefix(strings.ToUpper(name), "SIG") {
	case "", "TERM", "15":
		return syscall.SIGTERM, nil
	case "INT", "2":
		return syscall.SIGINT, nil
	case "KILL", "9":
		return syscall.SIGKILL, nil
	case "HUP", "1":
		return syscall.SIGHUP, nil
	case "QUIT", "3":
		return syscall.SIGQUIT, nil
	}
	return 0, fmt.Errorf("SIGNAL=%s is not a signal that this tool sends", name)
}

// nodes finds the node processes of this user's Kalda: same owner, a binary called kalda, and a command line
// that starts a node. Everything else is left alone.
func nodes(proc string, self int) ([]process, error) {
	dirs, err := os.ReadDir(proc)
	if err != nil {
		return nil, err
	}
	var found []process
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == self {
			continue
		}
		if p, ok := nodeAt(filepath.Join(proc, d.Name())); ok {
			p.pid = pid
			found = append(found, p)
		}
	}
	return found, nil
}

// nodeAt reads one process. A binary that was replaced while it runs has " (deleted)" after its name.
func nodeAt(dir string) (process, bool) {
	exe, err := os.Readlink(filepath.Join(dir, "exe"))
	if err != nil || filepath.Base(strings.TrimSuffix(exe, " (deleted)")) != "kalda" {
		return process{}, false
	}
	line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(line) == 0 {
		return process{}, false
	}
	var words []string
	for w := range bytes.SplitSeq(bytes.TrimSuffix(line, []byte{0}), []byte{0}) {
		words = append(words, string(w))
	}
	args, ok := serverArgs(words)
	if !ok {
		return process{}, false
	}
	s, err := parseStart(args)
	if err != nil || s.help || s.version || s.daemon {
		return process{}, false
	}
	cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
	if s.file != "" && !filepath.IsAbs(s.file) {
		s.file = filepath.Join(cwd, s.file)
	}
	return process{file: s.file, overrides: s.overrides}, true
}

// serverArgs returns the arguments of a command line that starts a node.
func serverArgs(words []string) ([]string, bool) {
	starts := func(word string) bool {
		t := find(word)
		return t != nil && (t.Name == "server" || t.Name == "kafka-server-start")
	}
	switch name := filepath.Base(words[0]); {
	case name != "kalda" && starts(name):
		return words[1:], true
	case len(words) == 1:
		return nil, name == "kalda"
	case starts(words[1]):
		return words[2:], true
	}
	return nil, false
}

// choose keeps the nodes of a role or an id.
func choose(all []process, role, id string) []process {
	if role == "" && id == "" {
		return all
	}
	var chosen []process
	for _, p := range all {
		settings := p.settings()
		if id != "" {
			if settings.get("node.id", settings.get("broker.id", "")) == id {
				chosen = append(chosen, p)
			}
			continue
		}
		for r := range strings.SplitSeq(settings["process.roles"], ",") {
			if strings.TrimSpace(r) == role {
				chosen = append(chosen, p)
				break
			}
		}
	}
	return chosen
}

// settings are the node's properties as it read them, as far as they still can be read.
func (p process) settings() props {
	settings := props{"process.roles": "broker,controller", "node.id": "1"}
	if p.file != "" {
		loaded, err := loadProps(p.file)
		if err != nil {
			loaded = make(props)
		}
		settings = loaded
	}
	settings.addPairs(p.overrides)
	return settings
}
