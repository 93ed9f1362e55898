package zkcli

import (
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/kalda/kalda/internal/format/jute"
)

func doConfig(s *shell, p *parsed) error {
	data, stat, err := s.session.Config(p.has("w"))
	if err != nil {
		return err
	}
	if p.has("c") {
		fmt.Fprintln(s.out, clientConfig(string(data)))
	} else {
		fmt.Fprintln(s.out, string(data))
	}
	s.showStat(p, stat)
	return nil
}

// clientConfig is the version of a configuration and where its clients connect to.
func clientConfig(text string) string {
	version := ""
	var servers []string
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch {
		case key == "version":
			version = value
		case strings.HasPrefix(key, "server."):
			if _, client, ok := strings.Cut(value, ";"); ok {
				servers = append(servers, clientAddress(client))
			}
		}
	}
	return version + " " + strings.Join(servers, ",")
}

func clientAddress(text string) string {
	if _, _, err := net.SplitHostPort(text); err != nil {
		return "0.0.0.0:" + text
	}
	return text
}

func doReconfig(s *shell, p *parsed) error {
	version, err := int64(anyVersion), error(nil)
	if p.has("v") {
		if version, err = number[int64](p.opts["v"]); err != nil {
			return problem("-v must be followed by a long (configuration version)")
		}
	}
	members, whole, err := newMembers(p)
	if err != nil {
		return err
	}
	change := p.has("add") || p.has("remove")
	if whole == change { // both or none
		return errUsage
	}
	joined := func(name string) jute.Text {
		if !p.has(name) {
			return jute.Text{}
		}
		return jute.TextOf(strings.Join(p.multi[name], ","))
	}
	data, stat, err := s.session.Reconfig(joined("add"), joined("remove"), members, version)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "Committed new configuration:\n%s\n", data)
	s.showStat(p, stat)
	return nil
}

// newMembers is the whole of a new ensemble, if one was given.
func newMembers(p *parsed) (members jute.Text, whole bool, err error) {
	switch file, list := p.has("file"), p.has("members"); {
	case file && list:
		return members, false, errUsage
	case list:
		return jute.TextOf(p.opts["members"]), true, nil
	case file:
		text, err := os.ReadFile(p.opts["file"])
		if err != nil {
			name := p.opts["file"] // Apache's words have it twice
			return members, false, problem("Error processing " + name + name + " (" + reason(err) + ")")
		}
		var lines []string
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "server.") {
				lines = append(lines, line)
			}
		}
		return jute.TextOf(strings.Join(lines, ",")), true, nil
	}
	return members, false, nil
}

// reason is why a file cannot be read, as Java says it.
func reason(err error) string {
	if os.IsNotExist(err) {
		return "No such file or directory"
	}
	return err.Error()
}
