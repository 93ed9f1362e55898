package config

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ZooServer is a server line: a member of an ensemble.
type ZooServer struct {
	ID         int64
	Addrs      []ZooAddr // more than one with multiAddress.enabled
	Observer   bool
	ClientAddr string // host:port for clients; empty: not in the line
	SecureAddr string // the same with TLS
}

// ZooAddr is where the other servers reach a member.
type ZooAddr struct {
	Host                     string
	QuorumPort, ElectionPort int
}

// zooMember reports whether a key describes the ensemble.
func zooMember(name string) bool {
	kind, id, ok := strings.Cut(name, ".")
	return ok && (kind == "server" || kind == "group" || kind == "weight") && digits(id)
}

// deriveServers reads the ensemble from the file, or from dynamicConfigFile.
func (l *zooLoader) deriveServers() {
	members := map[string]string{}
	for name, value := range l.values {
		if zooMember(name) {
			members[name] = value
		}
	}
	if path := l.Text("dynamicConfigFile"); path != "" {
		if len(members) > 0 {
			l.fail("dynamicConfigFile", "server lines are both in the file and in dynamicConfigFile")
			return
		}
		list, err := readDynamic(path)
		if err != nil {
			l.fail("dynamicConfigFile", "dynamicConfigFile: %v", err)
			return
		}
		members = list
	}
	l.Groups, l.Weights = map[int64][]int64{}, map[int64]int64{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		if err := l.member(name, value); err != nil {
			l.fail(name, "Invalid value %s for configuration %s: %v", value, name, err)
		}
	}
	slices.SortFunc(l.Servers, func(a, b ZooServer) int { return cmp.Compare(a.ID, b.ID) })
	l.decideStandalone()
}

// decideStandalone: no server lines, or one voter where that is meant to be a server alone.
func (l *zooLoader) decideStandalone() {
	voters := 0
	for _, s := range l.Servers {
		if !s.Observer {
			voters++
		}
	}
	l.Standalone = len(l.Servers) == 0 || voters == 1 && l.Bool("standaloneEnabled")
	switch {
	case l.Standalone && len(l.Servers) > 1:
		l.fail("standaloneEnabled", "observers without an ensemble are invalid: there is one voter only")
	case l.Standalone:
		if len(l.Servers) == 1 && l.ClientAddr == "" {
			l.ClientAddr = l.Servers[0].ClientAddr
		}
		return
	case !l.IsSet("initLimit"):
		l.fail("initLimit", "initLimit is not set")
	case !l.IsSet("syncLimit"):
		l.fail("syncLimit", "syncLimit is not set")
	case voters == 0:
		l.fail("server", "the ensemble has no voter")
	}
	if voters%2 == 0 && voters > 0 {
		l.warn(0, "%d voters bear no more failures than %d: an odd number is better", voters, voters-1)
	}
}

// readDynamic reads a file of server, group and weight lines.
func readDynamic(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	list, err := parseProperties(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := map[string]string{}
	for _, p := range list {
		if !zooMember(p.key) {
			return nil, fmt.Errorf("%s:%d: unrecognised parameter %s", path, p.line, p.key)
		}
		out[p.key] = strings.TrimSpace(p.value)
	}
	return out, nil
}

func (l *zooLoader) member(name, value string) error {
	kind, number, _ := strings.Cut(name, ".")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return err
	}
	switch kind {
	case "weight":
		l.Weights[id], err = strconv.ParseInt(value, 10, 64)
		return err
	case "group":
		for s := range strings.SplitSeq(value, ":") {
			sid, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
			if err != nil {
				return err
			}
			l.Groups[id] = append(l.Groups[id], sid)
		}
		return nil
	}
	s, err := parseZooServer(id, value)
	l.Servers = append(l.Servers, s)
	return err
}

// parseZooServer reads addr[|addr]...[:role][;[client host:]port[;[host:]port]].
func parseZooServer(id int64, text string) (ZooServer, error) {
	s := ZooServer{ID: id}
	parts := strings.Split(text, ";")
	if len(parts) > 3 {
		return s, fmt.Errorf("host:port:port[:role][;client port] is expected")
	}
	for i, to := range []*string{&s.ClientAddr, &s.SecureAddr} {
		if i+1 >= len(parts) || strings.TrimSpace(parts[i+1]) == "" {
			continue
		}
		fields, err := splitAddr(strings.TrimSpace(parts[i+1]))
		if err != nil || len(fields) > 2 {
			return s, fmt.Errorf("%q is no address for clients", parts[i+1])
		}
		host := "0.0.0.0"
		if len(fields) == 2 {
			host = fields[0]
		}
		if _, err := portOf(fields[len(fields)-1]); err != nil {
			return s, err
		}
		*to = net.JoinHostPort(host, fields[len(fields)-1])
	}
	for a := range strings.SplitSeq(parts[0], "|") {
		if err := s.addAddr(strings.TrimSpace(a)); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *ZooServer) addAddr(text string) error {
	fields, err := splitAddr(text)
	if err != nil || len(fields) < 3 || len(fields) > 4 || fields[0] == "" {
		return fmt.Errorf("host:port:port[:role] is expected, not %q", text)
	}
	if len(fields) == 4 {
		switch strings.ToLower(fields[3]) {
		case "observer":
			s.Observer = true
		case "participant":
		default:
			return fmt.Errorf("%q is no role: participant and observer are", fields[3])
		}
	}
	a := ZooAddr{Host: fields[0]}
	if a.QuorumPort, err = portOf(fields[1]); err != nil {
		return err
	}
	if a.ElectionPort, err = portOf(fields[2]); err != nil {
		return err
	}
	if a.QuorumPort == a.ElectionPort {
		return fmt.Errorf("client and election port must be different")
	}
	s.Addrs = append(s.Addrs, a)
	return nil
}

// splitAddr splits at colons; a host in brackets keeps its own.
func splitAddr(s string) ([]string, error) {
	if !strings.HasPrefix(s, "[") {
		return strings.Split(s, ":"), nil
	}
	host, rest, ok := strings.Cut(s[1:], "]")
	if !ok || rest != "" && rest[0] != ':' {
		return nil, fmt.Errorf("%q lacks a closing bracket", s)
	}
	return append([]string{host}, strings.Split(rest, ":")[1:]...), nil
}

func portOf(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 65535 {
		return 0, fmt.Errorf("%q is no port", s)
	}
	return n, nil
}
