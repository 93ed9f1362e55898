package zkcli

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kalda/kalda/internal/tool/zk"
)

// Streams is where a shell reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Version  string // what the command `version` prints
	// Configure reads the file of -client-configuration into the session's configuration; nil knows none.
	Configure func(file string, cfg *zk.Config) error
}

// defaultTimeout is the session's when none is asked for.
const defaultTimeout = 30 * time.Second

// flags are zkCli's own options.
type flags struct {
	server, configuration string
	timeout               time.Duration
	readOnly, wait        bool
	command               []string
}

// parseFlags reads options up to the first word that is none. As Apache's, it passes over options that it
// does not know.
func parseFlags(args []string) (f flags, err error) {
	f.server, f.timeout = "localhost:2181", defaultTimeout
	for i := 0; i < len(args); i++ {
		value := func() (string, error) {
			if i++; i >= len(args) {
				return "", problem("Error: no argument found for option " + args[i-1])
			}
			return args[i], nil
		}
		switch arg := args[i]; {
		case arg == "-server":
			f.server, err = value()
		case arg == "-client-configuration":
			f.configuration, err = value()
		case arg == "-timeout":
			var text string
			if text, err = value(); err == nil {
				var ms int32
				ms, err = number[int32](text)
				f.timeout = time.Duration(ms) * time.Millisecond
			}
		case arg == "-r":
			f.readOnly = true
		case arg == "-waitforconnection":
			f.wait = true
		case !strings.HasPrefix(arg, "-"):
			f.command = args[i:]
			return f, nil
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// Main runs zkCli and returns its exit code.
func Main(io Streams, args []string) int {
	f, err := parseFlags(args)
	if err != nil {
		fmt.Fprintln(io.Err, err)
		return exitFailed
	}
	var mu sync.Mutex
	s := &shell{
		out: lockedWriter{&mu, io.Out}, err: lockedWriter{&mu, io.Err}, version: io.Version, watches: true,
	}
	s.cfg = zk.Config{Timeout: f.timeout, ReadOnly: f.readOnly, OnEvent: s.onEvent}
	if f.configuration != "" && io.Configure != nil {
		if err := io.Configure(f.configuration, &s.cfg); err != nil {
			fmt.Fprintln(io.Err, err)
			return exitConfiguration
		}
	}
	tty := newTerminal(io.In, f.command)
	if tty != nil {
		defer tty.restore()
		s.out, s.err = tty, tty
	}
	fmt.Fprintf(s.out, "Connecting to %s\n", f.server)
	s.connect(f.server)
	if f.wait && !s.session.WaitConnected(f.timeout) {
		s.session.Close()
		fmt.Fprintln(s.err, "KeeperErrorCode = ConnectionLoss")
		return exitFailed
	}
	switch {
	case len(f.command) > 0:
		s.run(f.command)
	case tty != nil:
		s.interactive(tty)
	default:
		s.batch(io.In)
	}
	return s.code
}

// exitConfiguration is the exit code for a configuration that cannot be read.
const exitConfiguration = 2

// batch runs lines from a file or a pipe. As with Apache's shell the session is left to expire at the end
// of the input: only quit and close end it.
func (s *shell) batch(in io.Reader) {
	fmt.Fprint(s.out, "Welcome to ZooKeeper!\nJLine support is disabled\n")
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for !s.quit && lines.Scan() {
		s.line(lines.Text())
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(s.err, "line "+strconv.Itoa(len(s.history)+1)+": "+err.Error())
		s.code = exitFailed
	}
}
