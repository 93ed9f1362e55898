package config

import (
	"net/netip"
	"slices"
	"strings"
)

// listeners reads listeners and advertised.listeners and divides them by role.
func (l *loader) listeners() {
	if len(l.ControllerListenerNames) == 0 {
		l.fail("controller.listener.names",
			`Missing required configuration "controller.listener.names" which has no default value.`)
		return
	}
	bound, ok := l.endpoints("listeners", l.List("listeners"), true)
	if !ok {
		return
	}
	for _, e := range bound {
		if l.isController(e.Name) {
			l.ControllerListeners = append(l.ControllerListeners, e)
		} else {
			l.BrokerListeners = append(l.BrokerListeners, e)
		}
	}
	if !l.roleListeners() {
		return
	}
	l.Advertised, l.AdvertisedControllers = slices.Clone(l.BrokerListeners), slices.Clone(l.ControllerListeners)
	for i := range l.Advertised {
		if isUnspecified(l.Advertised[i].Host) {
			l.Advertised[i].Host = ""
		}
	}
	if l.IsSet("advertised.listeners") {
		l.advertised()
	}
}

func (l *loader) isController(name string) bool {
	return slices.Contains(l.ControllerListenerNames, name)
}

// roleListeners checks that listeners fit process.roles.
func (l *loader) roleListeners() bool {
	n := len(l.errs)
	switch {
	case !l.Controller && len(l.ControllerListeners) > 0:
		l.fail("listeners", "controller.listener.names must not contain a value appearing in the 'listeners' "+
			"configuration when running KRaft with just the broker role")
	case l.Controller && len(l.ControllerListeners) == 0:
		l.fail("listeners", "controller.listener.names must contain at least one value appearing in the "+
			"'listeners' "+
			"configuration when running the KRaft controller role")
	case l.Controller && !l.Broker && len(l.BrokerListeners) > 0:
		l.fail("listeners", "The listeners config must only contain KRaft controller listeners from "+
			"controller.listener.names when process.roles=controller")
	case l.Controller && len(l.ControllerListeners) < len(l.ControllerListenerNames):
		l.fail("controller.listener.names", "controller.listener.names must only contain values appearing in the "+
			"'listeners' configuration when running the KRaft controller role")
	case l.Broker && len(l.BrokerListeners) == 0:
		l.fail("listeners", "There must be at least one broker listener. "+
			"Perhaps all listeners appear in controller.listener.names?")
	}
	return len(l.errs) == n
}

func (l *loader) advertised() {
	const key = "advertised.listeners"
	all, ok := l.endpoints(key, l.List(key), false)
	if !ok {
		return
	}
	l.Advertised = nil
	for _, e := range all {
		if isUnspecified(e.Host) {
			l.fail(key, key+" cannot use the nonroutable meta-address "+e.Host+". Use a routable IP address.")
			return
		}
		if !l.isController(e.Name) {
			l.Advertised = append(l.Advertised, e)
			continue
		}
		for i := range l.AdvertisedControllers {
			if l.AdvertisedControllers[i].Name == e.Name {
				l.AdvertisedControllers[i] = e
			}
		}
	}
	if !l.Broker {
		l.Advertised = nil
		return
	}
	if len(l.Advertised) == 0 {
		l.fail(key, "There must be at least one broker advertised listener. "+
			"Perhaps all listeners appear in controller.listener.names?")
		return
	}
	for _, e := range l.Advertised {
		if !slices.ContainsFunc(l.BrokerListeners, func(b Listener) bool { return b.Name == e.Name }) {
			l.fail(key, "advertised.listeners may only name listeners that are in listeners, and "+e.Name+" is not. "+
				"The valid options based on currently configured listeners are "+names(l.BrokerListeners))
			return
		}
	}
}

// endpoints reads NAME://host:port entries. Bound ones must not share a port, unless one is IPv4 and the
// other IPv6.
func (l *loader) endpoints(key string, entries []string, bound bool) ([]Listener, bool) {
	var list []Listener
	for _, e := range entries {
		name, addr, _ := strings.Cut(e, "://")
		host, port, ok := splitHostPort(addr)
		if name == "" || !ok {
			l.fail(key, "Unable to parse "+e+" to a broker endpoint")
			return nil, false
		}
		name = strings.ToUpper(name)
		protocol, ok := l.protocolOf(name)
		if !ok {
			l.fail(key, "No security protocol defined for listener "+name)
			return nil, false
		}
		if protocol != Plaintext {
			l.fail(key, "listener "+name+" is "+protocolNames[protocol]+", and this release only speaks PLAINTEXT")
			return nil, false
		}
		for _, o := range list {
			switch {
			case o.Name == name:
				l.fail(key, "Each listener must have a different name, listeners: "+strings.Join(entries, ","))
				return nil, false
			case bound && o.Port == port && port != 0 && !differentFamilies(o.Host, host):
				l.fail(key, "Each listener must have a different port, listeners: "+strings.Join(entries, ","))
				return nil, false
			}
		}
		list = append(list, Listener{name, host, port, protocol})
	}
	return list, true
}

func differentFamilies(a, b string) bool {
	x, err1 := netip.ParseAddr(a)
	y, err2 := netip.ParseAddr(b)
	return err1 == nil && err2 == nil && x.Is4() != y.Is4()
}

func isUnspecified(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsUnspecified()
}

func (l *loader) interBroker() {
	const byName, byProtocol = "inter.broker.listener.name", "security.inter.broker.protocol"
	if l.IsSet(byName) && l.IsSet(byProtocol) {
		l.fail(byName, "Only one of inter.broker.listener.name and security.inter.broker.protocol should be set.")
		return
	}
	key := byProtocol
	l.InterBrokerListener = l.String(byProtocol)
	if l.IsSet(byName) {
		key = byName
		l.InterBrokerListener = strings.ToUpper(l.String(byName))
		if _, ok := l.protocolOf(l.InterBrokerListener); !ok {
			l.fail(byName, "Listener with name "+l.InterBrokerListener+" defined in inter.broker.listener.name not "+
				"found "+
				"in listener.security.protocol.map.")
			return
		}
	}
	if !l.Broker {
		return
	}
	if !slices.ContainsFunc(l.Advertised, func(e Listener) bool { return e.Name == l.InterBrokerListener }) {
		if !l.IsSet(key) && len(l.Advertised) == 1 {
			l.InterBrokerListener = l.Advertised[0].Name // nothing else can be meant
			return
		}
		l.fail(key, "inter.broker.listener.name must be a listener name defined in advertised.listeners. The "+
			"valid options "+
			"based on currently configured listeners are "+names(l.Advertised))
	}
}

func names(list []Listener) string {
	all := make([]string, len(list))
	for i, e := range list {
		all[i] = e.Name
	}
	return strings.Join(all, ",")
}
