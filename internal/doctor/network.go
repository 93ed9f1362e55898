package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/kalda/kalda/internal/config"
)

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// names resolves every host that the configuration names.
func (x *examination) names(ctx context.Context) {
	for _, v := range x.cfg.Voters {
		x.resolve(ctx, "controller.quorum.voters", v.Host)
	}
	for _, b := range x.cfg.BootstrapServers {
		x.resolve(ctx, "controller.quorum.bootstrap.servers", b.Host)
	}
	for _, list := range [][]config.Listener{x.cfg.BrokerListeners, x.cfg.ControllerListeners} {
		for _, l := range list {
			x.resolve(ctx, "listeners", l.Host)
		}
	}
	advertised := slices.Concat(x.cfg.Advertised, x.cfg.AdvertisedControllers)
	for _, l := range advertised {
		if l.Host != "" {
			x.advertised(ctx, l)
		}
	}
	if slices.ContainsFunc(advertised, func(l config.Listener) bool { return l.Host == "" }) {
		x.ownName(ctx)
	}
	x.checked("names of hosts")
}

// resolve returns a host's addresses, or tells that it has none.
func (x *examination) resolve(ctx context.Context, key, host string) []string {
	if host == "" {
		return nil
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return []string{host}
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	addrs, err := x.host.Lookup(ctx, host)
	if err != nil || len(addrs) == 0 {
		x.once(Error, "names", x.file(key), fmt.Sprintf("%s doesn't resolve: %v", host, reason(err)),
			"Correct the name, or make it known to DNS or /etc/hosts of this and every other machine.")
	}
	return addrs
}

// reason is an error's last part: what the system said.
func reason(err error) error {
	var dns *net.DNSError
	var no syscall.Errno
	switch {
	case errors.As(err, &dns):
		return errors.New(dns.Err)
	case errors.As(err, &no):
		return no
	}
	return err
}

// once adds a finding that isn't there yet.
func (x *examination) once(s Severity, check, where, what, do string) {
	if f := (Finding{s, check, what, where, do}); !slices.Contains(x.Findings, f) {
		x.Findings = append(x.Findings, f)
	}
}

func (x *examination) advertised(ctx context.Context, l config.Listener) {
	addrs := x.resolve(ctx, "advertised.listeners", l.Host)
	if len(addrs) > 0 && !x.alone() && !slices.ContainsFunc(addrs, remote) {
		x.once(Warning, "names", x.file("advertised.listeners"), fmt.Sprintf("%s advertises %s, which is %s: "+
			"other "+
			"machines that dial it reach themselves", l.Name, l.Host, strings.Join(addrs, ", ")),
			"Advertise a name that other machines reach this one by.")
	}
}

func remote(addr string) bool {
	a, err := netip.ParseAddr(addr)
	return err == nil && !a.IsLoopback()
}

// ownName checks what is registered when the operator named no host.
func (x *examination) ownName(ctx context.Context) {
	name, err := x.host.Hostname()
	if err != nil {
		x.add(Warning, "names", "hostname", "this machine's name can't be told: "+err.Error(), "Set "+
			"advertised.listeners.")
		return
	}
	addrs, err := x.host.Lookup(ctx, name)
	if err != nil || len(addrs) == 0 {
		x.once(x.unlessAlone(Error), "names", "hostname", fmt.Sprintf("advertised.listeners names no host, so "+
			"this "+
			"machine's name is registered, and %s doesn't resolve", name),
			"Set advertised.listeners to what clients and other nodes reach this one by.")
	} else if !slices.ContainsFunc(addrs, remote) && !x.alone() {
		x.once(Warning, "names", "hostname", fmt.Sprintf("advertised.listeners names no host, so this "+
			"machine's name "+
			"is registered, and %s is %s here", name, strings.Join(addrs, ", ")),
			"Set advertised.listeners to what clients and other nodes reach this one by.")
	}
}

// unlessAlone is s, or a mere remark on a single node: it tells clients the address that they dialled.
func (x *examination) unlessAlone(s Severity) Severity {
	if x.alone() {
		return Info
	}
	return s
}

// ports tries to bind what the node will bind.
func (x *examination) ports() {
	for _, list := range [][]config.Listener{x.cfg.BrokerListeners, x.cfg.ControllerListeners} {
		for _, l := range list {
			if l.Port != 0 {
				x.bind("listeners", l.Name, hostPort(l.Host, l.Port))
			}
		}
	}
	if h := x.cfg.HTTPListener; h != "" && !strings.HasSuffix(h, ":0") {
		x.bind("kalda.http.listener", "HTTP", h)
	}
	x.checked("ports of listeners")
}

func (x *examination) bind(key, name, addr string) {
	err := x.host.Listen(addr)
	switch {
	case err == nil:
	case errors.Is(err, syscall.EADDRINUSE) && len(x.busy) > 0:
		// by the node that runs on this data, which locks has told already
	case errors.Is(err, syscall.EADDRINUSE):
		x.add(Error, "ports", x.file(key), fmt.Sprintf("%s can't listen on %s: the port is taken", name, addr),
			"Find who has it (ss -ltnp), stop it, or choose another port.")
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		x.add(Error, "ports", x.file(key), fmt.Sprintf("%s can't listen on %s: no interface of this machine "+
			"has that "+
			"address", name, addr), "Listen on 0.0.0.0 or on an address of this machine; tell clients another "+
			"one with "+
			"advertised.listeners.")
	case errors.Is(err, syscall.EACCES):
		x.add(Error, "ports", x.file(key), fmt.Sprintf("%s can't listen on %s: not allowed", name, addr),
			"Choose a port from 1024 up, or grant CAP_NET_BIND_SERVICE.")
	default:
		if _, dns := errors.AsType[*net.DNSError](err); !dns { // names tells that
			x.add(Error, "ports", x.file(key), fmt.Sprintf("%s can't listen on %s: %v", name, addr, reason(err)),
				"Correct the listener.")
		}
	}
}
