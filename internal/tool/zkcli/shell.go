package zkcli

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/tool/zk"
)

// Exit codes of a single command.
const (
	exitOK       = 0
	exitFailed   = 1
	exitNotFound = 127
)

// shell is one run of zkCli.
type shell struct {
	out, err io.Writer
	version  string // what the command of that name prints
	cfg      zk.Config
	host     string // as it was given: the prompt shows it
	session  *zk.Session
	watches  bool // print them
	history  []string
	quit     bool
	code     int
}

// lockedWriter lets watches and answers share a stream.
type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// onEvent prints an event.
func (s *shell) onEvent(e zk.Event) {
	if s.watches {
		fmt.Fprintf(s.out, "\nWATCHER::\n\n%s\n", e)
	}
}

// connect begins a session, after the end of the one before.
func (s *shell) connect(host string) {
	if s.session != nil {
		s.session.Close()
	}
	s.host = host
	s.cfg.Servers, s.cfg.Chroot = zk.Servers(host)
	s.session = zk.Open(s.cfg)
}

// line runs a line of the interactive shell.
func (s *shell) line(text string) {
	if text == "" {
		return
	}
	s.history = append(s.history, text)
	w := words(text)
	if len(w) == 0 {
		w = []string{" "}
	}
	s.run(w)
}

// run runs one command, and leaves its exit code in code.
func (s *shell) run(w []string) {
	err := s.dispatch(w)
	if s.quit {
		return // with the code of the command before
	}
	s.code = exitOK
	if err == nil {
		return
	}
	s.code = exitFailed
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintln(s.err, find(w[0]).usage())
	case errors.Is(err, errNotFound):
		s.code = exitNotFound
		s.usage()
		fmt.Fprintf(s.err, "Command not found: Command not found %s\n", w[0])
	default:
		fmt.Fprintln(s.err, wrapped(err))
	}
}

var errNotFound = errors.New("command not found")

func (s *shell) dispatch(w []string) error {
	c := find(w[0])
	if c == nil {
		return errNotFound
	}
	if c.always != nil {
		if err := c.always(s, w); err != nil || s.quit {
			return err
		}
	}
	if s.session == nil || !s.session.State().Alive() {
		fmt.Fprintln(s.out, "Not connected")
		return nil
	}
	if c.run == nil {
		return nil
	}
	p, err := c.spec.parse(w)
	if err != nil {
		return err
	}
	if len(p.args) < c.least {
		return errUsage
	}
	return c.run(s, p)
}

func (s *shell) usage() {
	var b strings.Builder
	b.WriteString("ZooKeeper -server host:port -client-configuration properties-file cmd args\n")
	all := commands()
	for i := range all {
		b.WriteString("\t" + all[i].line() + "\n")
	}
	fmt.Fprint(s.err, b.String())
}

func (s *shell) prompt() string {
	return fmt.Sprintf("[zk: %s(%s) %d] ", s.host, s.session.State().Prompt(), len(s.history))
}

func doQuit(s *shell, _ []string) error {
	s.session.Close()
	s.quit = true
	return nil
}

func doConnect(s *shell, w []string) error {
	host := s.host
	if len(w) > 1 {
		host = w[1]
	}
	s.connect(host)
	s.session.WaitConnected(time.Second) // a prompt that says CONNECTED, when the server is near
	return nil
}

// historyShown is how many lines before the last the command of that name shows.
const historyShown = 10

func doHistory(s *shell, _ []string) error {
	last := len(s.history) - 1
	if last < 0 {
		fmt.Fprintln(s.out, "0 - null")
	}
	for i := max(last-historyShown, 0); i <= last; i++ {
		fmt.Fprintf(s.out, "%d - %s\n", i, s.history[i])
	}
	return nil
}

func doRedo(s *shell, w []string) error {
	if len(w) < 2 {
		return nil
	}
	i, err := number[int](w[1])
	if err != nil {
		return err
	}
	last := len(s.history) - 1
	if i < 0 || i >= last {
		return problem("Command index out of range")
	}
	again := words(s.history[i])
	if len(again) > 0 && again[0] == "redo" {
		return problem("No redoing redos")
	}
	s.history[last] = s.history[i]
	s.run(again)
	return nil
}

func doPrintWatches(s *shell, w []string) error {
	if len(w) == 1 {
		state := "off"
		if s.watches {
			state = "on"
		}
		fmt.Fprintf(s.out, "printwatches is %s\n", state)
		return nil
	}
	s.watches = w[1] == "on"
	return nil
}

// number reads a Java int or long.
func number[T int | int32 | int64](text string) (T, error) {
	bits := 64
	if _, ok := any(T(0)).(int64); !ok {
		bits = 32
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0, problem("For input string: \"" + text + "\"")
	}
	return T(n), nil
}

// anyVersion is no condition on a version.
const anyVersion = -1

func versionOf(p *parsed) (int32, error) {
	if !p.has("v") {
		return anyVersion, nil
	}
	return number[int32](p.opts["v"])
}

func (s *shell) showStat(p *parsed, stat *jute.Stat) {
	if p.has("s") {
		var b strings.Builder
		writeStat(&b, stat)
		fmt.Fprint(s.out, b.String())
	}
}
