package config

import (
	"sort"
	"strings"
)

// brokerTables are the keys of server.properties, in the order of the documentation.
var brokerTables = [...]*[]Key{
	&kraftKeys, &networkKeys, &logKeys, &replicationKeys, &coordinatorKeys, &transactionKeys,
	&securityKeys, &metricsKeys, &remoteKeys, &authorizerKeys, &kaldaKeys,
}

// find looks a name up in a table that is sorted by name.
func find(table []Key, name string) *Key {
	i := sort.Search(len(table), func(i int) bool { return table[i].Name >= name })
	if i < len(table) && table[i].Name == name {
		return &table[i]
	}
	return nil
}

// BrokerKey returns the row of a key of server.properties, or nil. A per-listener name such as
// listener.name.internal.ssl.keystore.location gives the row of what it overrides.
func BrokerKey(name string) *Key {
	if k := plainKey(name); k != nil {
		return k
	}
	_, rest := cutListener(name)
	if rest == "" {
		return nil
	}
	if k := plainKey(rest); k != nil {
		return k
	}
	// SASL keys may have the mechanism in between.
	if _, key, ok := strings.Cut(rest, "."); ok {
		switch key {
		case "sasl.jaas.config", "sasl.login.class", "sasl.login.callback.handler.class",
			"sasl.server.callback.handler.class", "connections.max.reauth.ms":
			return plainKey(key)
		}
	}
	return nil
}

func plainKey(name string) *Key {
	for _, t := range brokerTables {
		if k := find(*t, name); k != nil {
			return k
		}
	}
	return nil
}

// cutListener splits listener.name.<listener>.<rest>; both are empty for other names.
func cutListener(name string) (listener, rest string) {
	after, ok := strings.CutPrefix(name, "listener.name.")
	if !ok {
		return "", ""
	}
	listener, rest, _ = strings.Cut(after, ".")
	return listener, rest
}

// TopicKey returns the row of a key of topics, or nil.
func TopicKey(name string) *Key { return find(topicKeys, name) }

// GroupKey returns the row of a key of groups, or nil.
func GroupKey(name string) *Key { return find(groupKeys, name) }

// ClientMetricsKey returns the row of a key of client metrics subscriptions, or nil.
func ClientMetricsKey(name string) *Key { return find(clientMetricsKeys, name) }

// resourceKey returns the row of a key of a kind of resource, or nil.
func resourceKey(r Resource, name string) *Key {
	switch r {
	case ResourceTopic:
		return TopicKey(name)
	case ResourceBroker:
		return BrokerKey(name)
	case ResourceGroup:
		return GroupKey(name)
	case ResourceClientMetrics:
		return ClientMetricsKey(name)
	}
	return nil
}

// ListDefault is what APPEND and SUBTRACT start from when a key isn't set on a resource: the value that is
// in force then. ok is false for a key that holds no list.
func (s *Server) ListDefault(r Resource, name string, dyn Dynamic) (value string, ok bool) {
	k := resourceKey(r, name)
	if k == nil || k.Type != List {
		return "", false
	}
	if r == ResourceBroker {
		value, _ = s.With(dyn).raw(k, name)
		return value, true
	}
	if _, value = s.synonym(s.With(dyn), k); value == Null {
		value = ""
	}
	return value, true
}

// nearest returns the known broker key that a misspelt one most likely means, or "".
func nearest(name string) string {
	best, bestDist := "", len(name)/4+2 // a quarter of the name may be wrong
	for _, t := range brokerTables {
		for i := range *t {
			if d := distance(name, (*t)[i].Name, bestDist); d < bestDist {
				best, bestDist = (*t)[i].Name, d
			}
		}
	}
	return best
}

// distance is the edit distance of two names, or anything from limit up once it can't be less.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least >= limit {
			return limit
		}
	}
	return row[len(b)]
}

// Idle reports whether a key that is set at run time has no effect in this release: it has none at all, or
// a broker's key is only read at the start. What a broker key gives to topics changes at once.
func Idle(r Resource, name string) bool {
	k := resourceKey(r, name)
	if k == nil {
		return r != ResourceBroker // a broker's custom keys are nobody's business
	}
	if k.Status != Acts {
		return true
	}
	if r != ResourceBroker {
		return false
	}
	if strings.HasPrefix(name, "log.cleaner.") { // read again before each cleaning
		return k.Mode == ReadOnly
	}
	for i := range topicKeys {
		for _, s := range topicKeys[i].Synonyms {
			if s.Name == name {
				return false
			}
		}
	}
	return true
}
