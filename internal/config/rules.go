package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// derive fills the typed fields and checks what concerns several keys. The texts are close to Apache's:
// people look for them. It stops at the first part that fails, because the next ones build on it.
func (l *loader) derive() {
	for _, step := range []func(){
		l.roles, l.quorum, l.protocols, l.listeners, l.interBroker, l.dirs, l.http, l.retention, l.limits, l.bounds,
	} {
		if step(); len(l.errs) > 0 {
			return
		}
	}
}

func (l *loader) roles() {
	if !l.IsSet("process.roles") {
		l.fail("process.roles", `Missing required configuration "process.roles" which has no default value.`)
		return
	}
	roles := l.List("process.roles")
	l.Broker, l.Controller = slices.Contains(roles, "broker"), slices.Contains(roles, "controller")
	switch {
	case l.IsSet("node.id") && l.IsSet("broker.id") && l.Int("node.id") != l.Int("broker.id"):
		l.fail("broker.id", "`node.id` and `broker.id` must be set to the same value. "+
			"`broker.id` is deprecated, please use `node.id` instead.")
	case l.IsSet("node.id"):
		l.NodeID = int32(l.Int("node.id"))
		l.values["broker.id"] = l.values["node.id"] // DescribeConfigs shows both
	case l.IsSet("broker.id") && l.Int("broker.id") >= 0:
		l.NodeID = int32(l.Int("broker.id"))
		l.values["node.id"] = l.values["broker.id"]
	default:
		l.fail("node.id", `Missing required configuration "node.id" which has no default value.`)
	}
}

func (l *loader) quorum() {
	for _, e := range l.List("controller.quorum.voters") {
		id, addr, _ := strings.Cut(e, "@")
		host, port, ok := splitHostPort(addr)
		n, err := strconv.ParseInt(id, 10, 32)
		if !ok || err != nil || n < 0 {
			l.fail("controller.quorum.voters", "Invalid configuration value for controller.quorum.voters. "+
				"Each entry should be in the form `{id}@{host}:{port}`: "+e)
			return
		}
		if slices.ContainsFunc(l.Voters, func(v Voter) bool { return v.ID == int32(n) }) {
			l.fail("controller.quorum.voters", "voter "+id+" is there twice")
			return
		}
		l.Voters = append(l.Voters, Voter{int32(n), host, port})
	}
	for _, e := range l.List("controller.quorum.bootstrap.servers") {
		host, port, ok := splitHostPort(e)
		if !ok {
			l.fail("controller.quorum.bootstrap.servers", "Failed to parse host name from entry "+e+
				" for the configuration controller.quorum.bootstrap.servers. "+
				`Each entry should be in the form "{host}:{port}"`)
			return
		}
		l.BootstrapServers = append(l.BootstrapServers, HostPort{host, port})
	}
	if len(l.Voters) == 0 {
		if len(l.BootstrapServers) == 0 {
			l.fail("controller.quorum.voters", "If using process.roles, either controller.quorum.bootstrap.servers "+
				"must "+
				"contain the set of bootstrap controllers or controller.quorum.voters must contain a parseable set of "+
				"controllers.")
		}
		return
	}
	voter := slices.ContainsFunc(l.Voters, func(v Voter) bool { return v.ID == l.NodeID })
	switch {
	case l.Controller && !voter:
		l.fail("controller.quorum.voters", fmt.Sprintf("If process.roles contains the 'controller' role, the "+
			"node id %d "+
			"must be included in the set of voters controller.quorum.voters=%s", l.NodeID, l.voterIDs()))
	case !l.Controller && voter:
		l.fail("controller.quorum.voters", fmt.Sprintf("If process.roles contains just the 'broker' role, the "+
			"node id %d "+
			"must not be included in the set of voters controller.quorum.voters=%s", l.NodeID, l.voterIDs()))
	}
}

func (l *loader) voterIDs() string {
	ids := make([]string, len(l.Voters))
	for i, v := range l.Voters {
		ids[i] = strconv.Itoa(int(v.ID))
	}
	return "[" + strings.Join(ids, ", ") + "]"
}

// protocolNames are the security protocols by number.
var protocolNames = [...]string{"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"}

func (l *loader) protocols() {
	const key = "listener.security.protocol.map"
	for _, e := range parseList(l.String(key)) {
		at := strings.LastIndexByte(e, ':')
		if at < 0 {
			l.fail(key, "each entry should be in the form NAME:PROTOCOL: "+e)
			return
		}
		name, protocol := strings.TrimSpace(e[:at]), strings.TrimSpace(e[at+1:])
		n := slices.Index(protocolNames[:], strings.ToUpper(protocol))
		if n < 0 {
			l.fail(key, "Invalid security protocol `"+protocol+"` defined in "+key)
			return
		}
		l.Protocols = append(l.Protocols, Protocol{strings.ToUpper(name), int16(n)})
	}
	for _, name := range l.List("controller.listener.names") {
		name = strings.ToUpper(name)
		l.ControllerListenerNames = append(l.ControllerListenerNames, name)
		if _, known := l.protocolOf(name); !known && !l.IsSet(key) && !l.secured() {
			l.Protocols = append(l.Protocols, Protocol{name, Plaintext})
		}
	}
}

// secured reports whether listeners name anything but PLAINTEXT: then a controller's listener has to be
// mapped by hand, rather than stay open by default.
func (l *loader) secured() bool {
	for _, key := range []string{"listeners", "advertised.listeners"} {
		for _, e := range l.List(key) {
			name, _, _ := strings.Cut(strings.ToUpper(e), "://")
			if name == "SSL" || strings.HasPrefix(name, "SASL_") {
				return true
			}
		}
	}
	return false
}

func (l *loader) protocolOf(listener string) (int16, bool) {
	for _, v := range slices.Backward(l.Protocols) { // the last one counts, as in Apache's map
		if v.Listener == listener {
			return v.Protocol, true
		}
	}
	return 0, false
}

func (l *loader) dirs() {
	key, dirs := "log.dirs", l.List("log.dirs")
	if len(dirs) == 0 {
		key, dirs = "log.dir", l.List("log.dir")
	}
	if len(dirs) == 0 {
		l.fail(key, "At least one log directory must be defined via log.dirs or log.dir.")
		return
	}
	for _, d := range dirs {
		if d = absolute(d); !slices.Contains(l.LogDirs, d) {
			l.LogDirs = append(l.LogDirs, d)
		}
	}
	l.MetadataLogDir = l.LogDirs[0]
	if m := l.String("metadata.log.dir"); m != "" {
		l.MetadataLogDir = absolute(m)
	}
}

func (l *loader) http() {
	const key = "kalda.http.listener"
	if l.HTTPListener = l.String(key); l.HTTPListener == "" {
		return
	}
	if _, _, ok := splitHostPort(l.HTTPListener); !ok {
		l.fail(key, "host:port is expected")
	}
}

// splitHostPort splits host:port or [v6]:port. The host may be empty.
func splitHostPort(s string) (host string, port int, ok bool) {
	at := strings.LastIndexByte(s, ':')
	if at < 0 {
		return "", 0, false
	}
	host = s[:at]
	n, err := strconv.ParseUint(s[at+1:], 10, 16)
	if err != nil {
		return "", 0, false
	}
	if v6, found := strings.CutPrefix(host, "["); found {
		if host, found = strings.CutSuffix(v6, "]"); !found || host == "" {
			return "", 0, false
		}
		return host, int(n), strings.Trim(host, "0123456789abcdefABCDEF:.%") == "" || strings.Contains(host, "%")
	}
	return host, int(n), !strings.ContainsAny(host, "[]:/@ ")
}
