package config

import (
	"slices"
	"strings"
)

// zooTables are the keys of zoo.cfg, in the order of the documentation.
var zooTables = [...]*[]Key{
	&zooBasicKeys, &zooDataKeys, &zooClientKeys, &zooAdminKeys, &zooEnsembleKeys, &zooSecurityKeys, &zooTLSKeys,
}

// ZooKey returns the row of a key of zoo.cfg, or nil. superUser.1 and the like have the row of superUser.
func ZooKey(name string) *Key {
	for _, t := range zooTables {
		if k := find(*t, name); k != nil {
			return k
		}
	}
	if strings.HasPrefix(name, "superUser.") {
		return ZooKey("superUser")
	}
	return nil
}

// zooName is the name in the table of what a file or a property calls a key.
func zooName(name string) string {
	name = strings.TrimPrefix(name, "zookeeper.")
	switch name {
	case "serializeLastProcessedZxid.enabled":
		return "serializeLastProcessedZxidEnabled"
	case "requestThrottleLimit":
		return "request_throttle_max_requests"
	case "requestThrottleStallTime":
		return "request_throttle_stall_time"
	case "requestThrottleDropStale":
		return "request_throttle_drop_stale"
	case "requestStaleLatencyCheck":
		return "request_stale_latency_check"
	case "requestStaleConnectionCheck":
		return "request_stale_connection_check"
	case "connectionMaxTokens":
		return "connection_throttle_tokens"
	case "connectionTokenFillTime":
		return "connection_throttle_fill_time"
	case "connectionTokenFillCount":
		return "connection_throttle_fill_count"
	case "connectionFreezeTime":
		return "connection_throttle_freeze_time"
	case "connectionDropIncrease":
		return "connection_throttle_drop_increase"
	case "connectionDropDecrease":
		return "connection_throttle_drop_decrease"
	case "connectionDecreaseRatio":
		return "connection_throttle_decrease_ratio"
	}
	return name
}

// zooBare reports whether a key's Java property has no "zookeeper." before it, so that Apache's servers
// ignore it in the file.
func zooBare(name string) bool {
	switch name {
	case "jute.maxbuffer", "readonlymode.enabled", "znode.container.checkIntervalMs",
		"znode.container.maxNeverUsedIntervalMs", "znode.container.maxPerMinute":
		return true
	}
	return false
}

// zooForJava are properties that are about Java's logging and the like: not worth a word.
func zooForJava(name string) bool {
	for _, p := range []string{
		"log.", "root.logger", "console.", "tracelog.", "auditlog.", "jmx.", "client.",
		"sasl.client", "server.principal", "disableAutoWatchReset", "clientCnxnSocket",
	} {
		if strings.HasPrefix(name, p) && ZooKey(name) == nil {
			return true
		}
	}
	return false
}

// zooParsed reports whether Apache's parser knows a key itself. What a wrong value of such a key gets is an
// error; the others are properties, whose wrong values Java takes for the default.
func zooParsed(name string) bool {
	if find(zooBasicKeys, name) != nil || name == "sslQuorum" || name == "portUnification" {
		return true
	}
	for _, p := range []string{"autopurge.", "quorum.", "multiAddress.", "jvm.pause."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// zooNearest returns the known key that a misspelt one most likely means, or "".
func zooNearest(name string) string {
	best, bestDist := "", len(name)/4+2
	for _, t := range zooTables {
		for i := range *t {
			if d := distance(name, (*t)[i].Name, bestDist); d < bestDist {
				best, bestDist = (*t)[i].Name, d
			}
		}
	}
	return best
}

func (z *ZooKeeper) get(name string, types ...Type) (string, bool) {
	k := ZooKey(name)
	if k == nil || !slices.Contains(types, k.Type) {
		panic("config: zoo.cfg has no key " + name + " of that type")
	}
	if v, ok := z.values[name]; ok {
		return v, true
	}
	if k.Default == Null || k.Default == Required {
		return "", false
	}
	return k.Default, true
}

// IsSet reports whether the file or a -D sets a key.
func (z *ZooKeeper) IsSet(name string) bool {
	_, ok := z.values[name]
	return ok
}

// Int returns the value of an int, 0 where it has none. Like the other getters it panics on a key that the
// table doesn't have.
func (z *ZooKeeper) Int(name string) int {
	v, _ := z.get(name, Int)
	n, _ := parseInt(Int, v)
	return int(n)
}

// Long returns the value of a long.
func (z *ZooKeeper) Long(name string) int64 {
	v, _ := z.get(name, Long)
	n, _ := parseInt(Long, v)
	return n
}

// Float returns the value of a double.
func (z *ZooKeeper) Float(name string) float64 {
	v, _ := z.get(name, Double)
	f, _ := parseFloat(v)
	return f
}

// Bool returns the value of a boolean.
func (z *ZooKeeper) Bool(name string) bool {
	v, _ := z.get(name, Boolean)
	b, _ := parseBool(v)
	return b
}

// String returns the value of a string or a password, and whether there is one.
func (z *ZooKeeper) String(name string) (string, bool) { return z.get(name, Str, Password) }

// Text is String without telling "" from nothing.
func (z *ZooKeeper) Text(name string) string {
	v, _ := z.get(name, Str, Password)
	return v
}

// List returns the elements of a list.
func (z *ZooKeeper) List(name string) []string {
	v, _ := z.get(name, List)
	return parseList(v)
}

// Indexed returns the values of prefix, prefix.1 and so on, by name: superUser, authProvider.
func (z *ZooKeeper) Indexed(prefix string) (out []string) {
	var names []string
	for name := range z.values {
		if name == prefix || strings.HasPrefix(name, prefix+".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, z.values[name])
	}
	return out
}

// Setting is one value that was set.
type Setting struct{ Name, Value string }

// Settings are all that were set, by name, but for passwords.
func (z *ZooKeeper) Settings() []Setting {
	out := make([]Setting, 0, len(z.values))
	for name, value := range z.values {
		if k := ZooKey(name); k == nil || k.Type != Password {
			out = append(out, Setting{name, value})
		}
	}
	slices.SortFunc(out, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return out
}
